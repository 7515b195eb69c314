"""Compares positions that the server moves with PROJ's, and measures one core:   reproject.py [--positions 10000000] [--json FILE]

Each pair of systems has random positions of the area of use. They are served from an Arrow file, requested with the ticket field crs, and compared with pyproj's results: how many ordinates have the same bits, how
many units in the last place (ulp) the others are away, and the largest distance. Then `go test -bench` of readers/crs/project measures millions of positions per second of CPU time, for each set of vector instructions.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)  # not this folder, whose http.py is not Python's

import numpy  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyproj  # noqa: E402
import vibeflight  # noqa: E402
from serving import ROOT, Server  # noqa: E402

PAIRS = [("EPSG:4326", "EPSG:3857"), ("EPSG:4326", "EPSG:32632"), ("EPSG:4326", "EPSG:32718")]
AREAS = {"EPSG:3857": (-180, -85.06, 180, 85.06), "EPSG:32632": (6, 0, 12, 84), "EPSG:32718": (-78, -80, -72, 0)}
ONE = 1e-9  # m
SEED = 35


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--positions", type=int, default=10_000_000, help="of each pair of systems")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    result = {"versions": f"PROJ {pyproj.proj_version_str}", "positions": options.positions, "runs": differences(options.positions), "speed": speed()}
    text = json.dumps(result, indent=1)
    if options.json:
        pathlib.Path(options.json).write_text(text + "\n", encoding="utf-8")
    print(text)


def differences(count):
    """The comparison of each pair, in both directions."""
    found = []
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server, vibeflight.connect(server.uri) as connection:
        rng = numpy.random.default_rng(SEED)
        for source, target in PAIRS:
            west, south, east, north = AREAS[target]
            x, y = rng.uniform(west, east, count), rng.uniform(south, north, count)
            found.append(compared(folder, connection, source, target, x, y))
            x, y = pyproj.Transformer.from_crs(source, target, always_xy=True).transform(x, y)
            found.append(compared(folder, connection, target, source, x, y))
    return found


def compared(folder, connection, source, target, x, y):
    """The differences between the server's positions and pyproj's."""
    path = pathlib.Path(folder) / "points.arrow"
    metadata = {"ARROW:extension:name": "geoarrow.point", "ARROW:extension:metadata": json.dumps({"crs": source, "crs_type": "authority_code"})}
    points = pa.StructArray.from_arrays([pa.array(x), pa.array(y)], fields=[pa.field("x", pa.float64(), nullable=False), pa.field("y", pa.float64(), nullable=False)])
    schema = pa.schema([pa.field("geometry", points.type, metadata=metadata)])
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        writer.write_table(pa.table([points], schema=schema), max_chunksize=1 << 16)
    connection.refresh()
    got = connection.table(path.name, crs=target).arrow()["geometry"].combine_chunks()
    got = got.storage if isinstance(got, pa.ExtensionArray) else got
    want = pyproj.Transformer.from_crs(source, target, always_xy=True).transform(x, y)
    about = {"from": source, "to": target}
    projected = target not in ("EPSG:4326",)
    for name, expected in zip("xy", want, strict=True):
        ours = got.field(name).to_numpy()
        away, apart = ulps(ours, expected), numpy.abs(ours - expected)
        about[name] = {
            "equal": float((away == 0).mean()), "one_ulp": float((away == 1).mean()), "max_ulps": int(away.max()), "max": float(apart.max()),
            "within_1e-9_m": float((apart * (1 if projected else 111319.49) <= ONE).mean()),
        }
    return about


def ulps(a, b):
    """How many doubles are between the elements of two arrays."""
    ordered = [numpy.where(bits < 0, numpy.int64(-(2**63)) - bits, bits) for bits in (numpy.ascontiguousarray(v).view(numpy.int64) for v in (a, b))]
    return numpy.abs(ordered[0] - ordered[1])


def speed():
    """Millions of positions per second of CPU time, by step and instructions."""
    command = ["go", "test", "-pgo=off", "-run", "^$", "-bench", "Apply", "-benchtime", "300x", "-count", "5", "-cpu", "1", "./readers/crs/project"]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    best = {}
    for name, rate in re.findall(r"^BenchmarkApply/(\S+)\s.*?([\d.]+) Mpositions/s", text, re.M):
        best[name] = max(best.get(name, 0.0), float(rate))
    return best


if __name__ == "__main__":
    main()
