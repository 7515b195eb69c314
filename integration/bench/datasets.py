"""Many small GeoJSON files as one dataset, next to one file of the same rows.

    .venv/bin/python integration/bench/datasets.py [--files 100000] [--features 8] [--folder FOLDER]

Prints, in seconds: the plan and the read when nothing is known, both when the cache has everything, after one file has changed, and
the same for the one file. With --folder, the files stay there for the next run.
"""
import argparse
import json
import os
import pathlib
import random
import sys
import tempfile
import time

from pyarrow import flight

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import serving

PER_FOLDER = 1000


def feature(rng, n):
    x, y = rng.uniform(-180, 180), rng.uniform(-85, 85)
    ring = [[round(x + dx, 6), round(y + dy, 6)] for dx, dy in ((0, 0), (0.01, 0), (0.01, 0.01), (0, 0.01), (0, 0))]
    return {
        "type": "Feature",
        "properties": {"id": n, "name": f"building {n}", "height": round(rng.uniform(2, 90), 2), "kind": rng.choice("abcd")},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


def collection(features):
    return '{"type":"FeatureCollection","features":[\n' + ",\n".join(json.dumps(f) for f in features) + "\n]}\n"


def generate(folder, files, features):
    """Writes files of a few features each, and one file of all features."""
    done = folder / f"done-{files}-{features}"
    if done.exists():
        return
    rng = random.Random(1)
    (folder / "one").mkdir(parents=True, exist_ok=True)
    with open(folder / "one" / "all.geojson", "w") as one:
        one.write('{"type":"FeatureCollection","features":[\n')
        for i in range(files):
            if i % PER_FOLDER == 0:
                parts = folder / "parts" / f"{i // PER_FOLDER:04d}"
                parts.mkdir(parents=True, exist_ok=True)
            rows = [feature(rng, i * features + k) for k in range(features)]
            (parts / f"{i:07d}.geojson").write_text(collection(rows))
            one.write(("" if i == 0 else ",\n") + ",\n".join(json.dumps(f) for f in rows))
        one.write("\n]}\n")
    done.touch()


def timed(f):
    began = time.perf_counter()
    answer = f()
    return time.perf_counter() - began, answer


def read(client, name):
    rows = 0
    for chunk in client.do_get(flight.Ticket(name.encode())):
        rows += chunk.data.num_rows
    return rows


def measure(server, name):
    with flight.connect(server.uri) as client:
        descriptor = flight.FlightDescriptor.for_path(name)
        plan, info = timed(lambda: client.get_flight_info(descriptor))
        first, rows = timed(lambda: read(client, name))
        reads = [timed(lambda: read(client, name))[0] for _ in range(3)]
        assert rows == info.total_records, (rows, info.total_records)
    return {"plan": plan, "read": first, "read again": min(reads), "rows": rows, "endpoints": len(info.endpoints)}


def parsed(server):
    return server.action("stats")["members_parsed"]


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--files", type=int, default=100_000)
    args.add_argument("--features", type=int, default=8)
    args.add_argument("--folder", type=pathlib.Path)
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = args.folder or pathlib.Path(own)
        generate(folder, args.files, args.features)
        size = (folder / "one" / "all.geojson").stat().st_size
        print(f"{args.files} files, one file of {size / 1e6:.0f} MB")
        flags = ("--dataset", f"many={folder}/parts/**/*.geojson", "--no-sql")
        with tempfile.TemporaryDirectory() as cache:
            for state in ("cold", "warm"):
                began, server = timed(lambda: serving.Server(folder / "one", *flags, cache=cache).__enter__())
                try:
                    print(f"{state}: server is ready after {began:.2f} s")
                    for name in ("many", "all.geojson"):
                        print(f"  {name}: {show(measure(server, name))}, {parsed(server)} small files parsed")
                    if state == "warm":
                        one = folder / "parts" / "0000" / "0000007.geojson"
                        text = one.read_text()
                        one.write_text(text.replace("building", "house"))
                        os.utime(one)
                        server.action("refresh")
                        print(f"  one file changed: {show(measure(server, 'many'))}, {parsed(server)} small files parsed")
                        one.write_text(text)
                finally:
                    server.__exit__()


def show(numbers):
    return ", ".join(f"{k} {v:.3f} s" if isinstance(v, float) else f"{v} {k}" for k, v in numbers.items())


if __name__ == "__main__":
    main()
