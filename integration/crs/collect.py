"""Collects the texts of .prj files and GDAL's reading of them, for tests without either.

    .venv/bin/python integration/crs/collect.py FOLDER… > readers/crs/testdata/prj.json

Folders hold unpacked packages: source distributions of PyPI, packages of npm, source packages of
Debian. Each text is kept once, with pyogrio's reference system of a shapefile that has it: a code,
the WKT that GDAL writes, or null if it reads none.
"""
import json
import shutil
import sys
import tempfile
from pathlib import Path

import pyogrio

SAMPLE = Path(__file__).parents[2] / "integration" / "crs" / "point"


def answer(folder, prj):
    for ext in (".shp", ".shx", ".dbf"):
        shutil.copy(SAMPLE.with_suffix(ext), folder / ("a" + ext))
    (folder / "a.prj").write_bytes(prj)
    return pyogrio.read_info(folder / "a.shp")["crs"]


def main():
    found = {}
    for folder in sys.argv[1:]:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix.lower() == ".prj" and path.is_file() and path.stat().st_size < 20000:
                found.setdefault(path.read_bytes().decode("utf-8", "replace").strip("\x00 \t\r\n\ufeff"), path.name)
    with tempfile.TemporaryDirectory() as folder:
        cases = [{"name": name, "text": text, "want": answer(Path(folder), text.encode())} for text, name in found.items()]
    cases.sort(key=lambda case: (case["name"], case["text"]))
    json.dump(cases, sys.stdout, ensure_ascii=False, indent=1)
    print()


if __name__ == "__main__":
    main()
