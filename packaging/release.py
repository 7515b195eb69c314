"""Writes build/release from the programs in build/dist: archives, packages for Debian and Red Hat, a Homebrew formula, a changelog and checksums.

Everything has the time of the commit and a fixed order, so that the same commit gives the same bytes.
"""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "build" / "dist"
OUT = ROOT / "build" / "release"
SHARE = ROOT / "build" / "share"
PLATFORMS = ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"]
VERSION = re.search(r'^__version__ = "(.*)"$', (ROOT / "clients/python/src/vibeflight/__init__.py").read_text(), re.M)[1]  # type: ignore[index]
COMPLETIONS = {"bash": "vibeflight.bash", "zsh": "_vibeflight", "fish": "vibeflight.fish", "powershell": "vibeflight.ps1"}
SOURCE = "https://github.com/vibeflight/vibeflight"


def main() -> None:
    stamp = commit_time()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    write_share()
    for platform in built():
        write_archive(platform, stamp)
    for platform in built():
        if platform.startswith("linux-"):
            for packager in ("deb", "rpm"):
                write_package(platform, packager, stamp)
    (OUT / "CHANGELOG.md").write_text(changelog())
    (OUT / "vibeflight.rb").write_text(formula())
    write_sbom(stamp)
    lines = [f"{digest(path)}  {path.name}\n" for path in sorted(OUT.iterdir())]
    (OUT / "SHA256SUMS").write_text("".join(lines))


def built() -> list[str]:
    return [p for p in PLATFORMS if program(p).exists()]


def program(platform: str) -> Path:
    return DIST / platform / ("vibeflight.exe" if platform.startswith("windows") else "vibeflight")


def commit_time() -> int:
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True))


def write_share() -> None:
    """Manual pages and completions, which every platform has, from the program of this machine."""
    shutil.rmtree(SHARE, ignore_errors=True)
    (SHARE / "completions").mkdir(parents=True)
    own = program("linux-amd64" if os.uname().machine == "x86_64" else "linux-arm64")
    subprocess.run([own, "man", SHARE / "man"], check=True)
    for shell, name in COMPLETIONS.items():
        (SHARE / "completions" / name).write_bytes(subprocess.check_output([own, "completion", shell]))
    # The unit is for a program below /usr/local, a package's is below /usr.
    unit = (ROOT / "deploy/systemd/vibeflight.service").read_text().replace("/usr/local/bin/", "/usr/bin/")
    (SHARE / "vibeflight.service").write_text(unit)
    pages = SHARE / "man.gz"
    pages.mkdir()
    for page in sorted((SHARE / "man").iterdir()):
        (pages / f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))


def members(platform: str) -> dict[str, tuple[Path, int]]:
    """The files of an archive: names, sources and modes."""
    files = {program(platform).name: (program(platform), 0o755), "LICENSE": (ROOT / "LICENSE", 0o644)}
    for folder in ("man", "completions"):
        for path in (SHARE / folder).iterdir():
            files[f"{folder}/{path.name}"] = (path, 0o644)
    if platform.startswith("linux-"):
        files["vibeflight.service"] = (ROOT / "deploy/systemd/vibeflight.service", 0o644)
        files["vibeflight.toml"] = (ROOT / "packaging/vibeflight.toml", 0o644)
    return {f"vibeflight-{VERSION}/{name}": files[name] for name in sorted(files)}


def archive_name(platform: str) -> str:
    return f"vibeflight-{VERSION}-{platform}.{'zip' if platform.startswith('windows') else 'tar.gz'}"


def write_archive(platform: str, stamp: int) -> None:
    path = OUT / archive_name(platform)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, (source, mode) in members(platform).items():
                info = zipfile.ZipInfo(name, time.gmtime(stamp)[:6])
                info.external_attr, info.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
                archive.writestr(info, source.read_bytes())
        return
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=stamp) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, (source, mode) in members(platform).items():
            content = source.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), stamp, mode
            entry.uname = entry.gname = "root"
            archive.addfile(entry, io.BytesIO(content))


def write_package(platform: str, packager: str, stamp: int) -> None:
    env = {**os.environ, "VERSION": VERSION, "ARCH": platform.split("-")[1], "PLATFORM": platform, "SOURCE_DATE_EPOCH": str(stamp)}
    command = [ROOT / ".tools/nfpm", "package", "--config", "packaging/nfpm.yaml", "--packager", packager, "--target", OUT]
    subprocess.run(command, check=True, env=env, cwd=ROOT, stdout=subprocess.DEVNULL)


def changelog() -> str:
    """The notes of docs/changes, newest issue first, grouped by their first word."""
    notes: dict[str, list[tuple[int, str, str]]] = {"Added": [], "Changed": [], "Fixed": [], "Removed": []}
    for path in sorted((ROOT / "docs/changes").glob("[0-9]*.md")):
        issue = int(re.match(r"\d+", path.name)[0])  # type: ignore[index]
        for entry in re.split(r"\n(?=(?:Added|Changed|Fixed|Removed): )", path.read_text()):
            title, _, body = entry.strip().partition("\n")
            kind, _, text = title.partition(": ")
            if kind in notes:
                notes[kind].append((-issue, text, without_links(body.strip())))
    parts = [f"# vibeflight {VERSION}\n"]
    for kind, entries in notes.items():
        if entries:
            parts.append(f"## {kind}\n")
            parts += [f"**{text}**\n\n{body}\n" for _, text, body in sorted(entries, key=lambda e: e[:1])]
    return "\n".join(parts)


def without_links(text: str) -> str:
    """Links lead from docs/changes to other pages: outside of the tree, they keep their text."""
    return re.sub(r"\[([^\]]*)\]\([^)\s]*\)", r"\1", text)


def formula() -> str:
    def download(platform: str) -> str:
        archive = OUT / archive_name(platform)
        if not archive.exists():
            return f'odie "vibeflight has no archive for {platform}"'
        return f'url "{SOURCE}/releases/download/v{VERSION}/{archive.name}"\n      sha256 "{digest(archive)}"'

    text = (ROOT / "packaging/vibeflight.rb").read_text().replace("@VERSION@", VERSION)
    return re.sub(r"@([a-z]+-[a-z0-9]+)@", lambda m: download(m[1]), text)


def write_sbom(stamp: int) -> None:
    """The modules in the program, as CycloneDX, with their licences."""
    own = program("linux-amd64" if program("linux-amd64").exists() else built()[0])
    # Without a version, the licences of modules that have capitals in their path are missing.
    command = [ROOT / ".tools/cyclonedx-gomod", "bin", "-json", "-licenses", "-noserial", "-version", f"v{VERSION}", own]
    made = subprocess.check_output(command, env={**os.environ, "GOPROXY": "off"})
    sbom = json.loads(made)
    sbom["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp))
    sbom["metadata"]["component"] |= {"version": VERSION, "licenses": [{"license": {"id": "Apache-2.0"}}]}
    (OUT / f"vibeflight-{VERSION}.cdx.json").write_text(json.dumps(sbom, indent=1, sort_keys=True) + "\n")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
