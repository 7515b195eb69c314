"""Rebuilds the corpus: the test files of public packages, below .corpus/, which git ignores.

    python integration/corpus/fetch.py            fetch the packages of packages.tsv, check each file with manifest.tsv
    python integration/corpus/fetch.py --update   write manifest.tsv again

Packages come through the clients of their registries, as configured on this machine.
"""
import argparse
import csv
import hashlib
import pathlib
import subprocess
import sys

from kinds import format_of, siblings
from packages import archives, members, version_of

HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".corpus"
FILES = CACHE / "files"
COLUMNS = ["package", "version", "path", "sha256", "format"]  # of manifest.tsv; a file that belongs to another one has no format
MOST = 400  # files of one format of one package
FEWER = {"xlsx": 120, "topojson": 200}  # of formats of which packages have hundreds of files of one kind


def table(name):
    with open(HERE / name, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def safe(path):
    """Whether a path stays in its folder, and is valid on every system."""
    parts = path.split("/")
    return all(parts) and ".." not in parts and path.isprintable() and '"' not in path


def chosen(files):
    """The files of a package that belong to the corpus: path, format, and the paths of its siblings."""
    counts = {}
    for path in sorted(files):
        format = format_of(path, files[path])
        if format is None or counts.get(format, 0) >= FEWER.get(format, MOST):
            continue
        related = siblings(path, files)
        if format == "dbf" and path[:-4].lower() in {p[:-4].lower() for p in files if p.lower().endswith(".shp")}:
            continue  # a part of a shapefile
        counts[format] = counts.get(format, 0) + 1
        yield path, format, related


def digest(content):
    return hashlib.sha256(content).hexdigest()


def folder_of(package):
    """The folder of a package below FILES, by its name in the manifest."""
    source, _, name = package.partition(":")
    return f"{source}/{name.replace('/', '_').replace(':', '_').replace('@', '')}"


def remove_others(lines):
    """Removes files of packages that were dropped, and of earlier versions."""
    kept = {FILES / folder_of(line["package"]) / line["path"] for line in lines}
    for path in FILES.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()


def unpack(package, seen):
    """Writes the files of a package that no earlier package has, and returns their lines of the manifest."""
    written, name = {}, f"{package['source']}:{package['name']}"
    folder = FILES / folder_of(name)
    for archive in archives(CACHE, package):
        files = {p: c for p, c in members(package["source"], archive) if safe(p)}
        for path, format, related in chosen(files):
            key = tuple(digest(files[p]) for p in (path, *related))
            if key in seen:
                continue
            seen.add(key)
            for p in (path, *related):
                target = folder / p
                if not target.exists() or target.read_bytes() != files[p]:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(files[p])
                if p == path or p not in written:
                    written[p] = {"package": name, "version": version_of(package["source"], archive),
                                  "path": p, "sha256": digest(files[p]), "format": format if p == path else ""}
    return [written[p] for p in sorted(written)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--update", action="store_true", help="write manifest.tsv again")
    update = arguments.parse_args().update
    seen, lines, missing = set(), [], []
    for package in table("packages.tsv"):
        try:
            lines += unpack(package, seen)
        except (subprocess.SubprocessError, OSError) as e:
            missing.append(package["name"])
            print(f"{package['source']} {package['name']}: {e}", file=sys.stderr)
    remove_others(lines)
    print(f"{len(lines)} files, {sum(bool(line['format']) for line in lines)} of them of a format of ours")
    if update:
        with open(HERE / "manifest.tsv", "w", encoding="utf-8", newline="") as f:
            out = csv.DictWriter(f, COLUMNS, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE)
            out.writeheader()
            out.writerows(lines)
        return bool(missing)
    want = {(line["package"], line["path"], line["sha256"]) for line in table("manifest.tsv")}
    got = {(line["package"], line["path"], line["sha256"]) for line in lines}
    for package, path, _ in sorted(want - got):
        print(f"missing or changed: {package} {path}")
    for package, path, _ in sorted(got - want):
        print(f"not in the manifest: {package} {path}")
    return bool(missing or want != got)


if __name__ == "__main__":
    sys.exit(main())
