"""Builds the project's page, a static site, from docs/:   build.py [--out FOLDER]

The pages are copied to build/pages as a site has them: the README is the home page, links to files outside of docs/ lead to the repository, notebooks are
Markdown, and all changes are one page. The order of pages is that of docs/README.md. Zensical makes HTML of them, and check.py reads its links.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

import check
import navigation
import pages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STAGED = ROOT / "build" / "pages"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default=ROOT / "build" / "site", type=pathlib.Path, help="folder of the site, build/site by default; what is in it is removed")
    out = parser.parse_args().out.resolve()
    shutil.rmtree(STAGED, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    pages.write(ROOT, STAGED / "docs")
    settings = (HERE / "zensical.toml.in").read_text(encoding="utf-8")
    settings = settings.replace("{{ nav }}", navigation.toml(navigation.of(ROOT)))
    (STAGED / "zensical.toml").write_text(settings, encoding="utf-8")
    shutil.copytree(HERE / "theme", STAGED / "docs" / "theme")
    zensical = pathlib.Path(sys.executable).with_name("zensical")
    done = subprocess.run([zensical, "build", "--strict", "--clean"], cwd=STAGED, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    (STAGED / "site" / "404.html").unlink()  # its links are right only at the root of a host
    shutil.move(STAGED / "site", out)
    faults = check.faults(out)
    print("\n".join([*faults, f"{out.relative_to(ROOT) if out.is_relative_to(ROOT) else out}: {len(list(out.rglob('*.html')))} pages, {len(faults)} faults"]))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
