"""Reads every .prj of the corpus with vibeflight and with pyogrio, next to a shapefile of one point, and compares by pyproj's equality.

    python integration/corpus/projections.py [--binary bin/vibeflight]

Prints the files whose systems differ, with both, and a count.
"""
import argparse
import collections
import json
import pathlib
import sys
import tempfile

import pyarrow.flight as flight
import pyogrio
import pyproj

from fetch import FILES, folder_of, table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import serving  # noqa: E402
from esri import point, shp  # noqa: E402


def texts():
    """Different .prj texts by SHA-256, each with the first file that has it."""
    found = {}
    for line in table("manifest.tsv"):
        if line["path"].lower().endswith(".prj"):
            found.setdefault(line["sha256"], FILES / folder_of(line["package"]) / line["path"])
    return found


def system(text):
    """A reference system, None, or PROJ's error."""
    if not text:
        return None
    try:
        return pyproj.CRS(text)
    except pyproj.exceptions.CRSError as e:
        return f"error: {e}"


def ours(client, name):
    field = client.do_get(flight.Ticket(name)).read_all().schema.field("geometry")
    return json.loads((field.metadata or {}).get(b"ARROW:extension:metadata") or "{}").get("crs")


def outcome(a, b):
    if a == b:
        return "equal" if a is not None else "none"
    if a is None or b is None:
        return "no system of ours" if a is None else "no system of pyogrio's"
    return "different"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--binary", type=pathlib.Path, default=serving.BINARY)
    serving.BINARY = arguments.parse_args().binary
    counts, files = collections.Counter(), texts()
    with tempfile.TemporaryDirectory() as folder:
        main_file, index = shp(1, [point(1, 2)])
        for key, path in files.items():
            stem = pathlib.Path(folder) / key
            stem.with_suffix(".shp").write_bytes(main_file)
            stem.with_suffix(".shx").write_bytes(index)
            stem.with_suffix(".prj").write_bytes(path.read_bytes())
        with serving.Server(folder, cache="") as server:
            client = server.client()
            for key, path in files.items():
                a = system(ours(client, f"{key}.shp"))
                b = system(pyogrio.read_info(f"{folder}/{key}.shp")["crs"])
                found = outcome(a, b)
                counts[found] += 1
                if found not in ("equal", "none"):
                    print(f"{found}: {path.relative_to(FILES)}: {a if isinstance(a, str) or a is None else a.to_string()[:100]}"
                          f" | {b if isinstance(b, str) or b is None else b.to_string()[:100]}")
    print(f"{len(files)} different .prj texts: " + ", ".join(f"{n} {what}" for what, n in counts.most_common()))


if __name__ == "__main__":
    main()
