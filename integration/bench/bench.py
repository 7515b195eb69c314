"""Measures vibeflight and its peers: bench.py [--rounds N] [--scale S] [--files A,B] [--peers A,B] [--json OUT]

Every read is a fresh process. The readers take turns, so that a busy moment of the machine hits all of them, and the median counts. Each
round has a random order: in a fixed order, the reader after a certain other one would get memory that the host took back meanwhile, or would
not, round after round, which is worth up to a fifth. The files are in the page cache. MB is 1,000,000 bytes.

CPU seconds are user and system time of all threads while the clock runs; on a machine that others use too, MB per CPU-second is the steady
figure. --pin gives one core to the readers with one thread. Two processes with one worker each that read the same file at once say what two
cores of the machine are worth at that moment: the wall time is that of the slower one, CPU seconds and memory are those of one.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import shapely

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import shapes  # noqa: E402
from peers import ALL_CORES  # noqa: E402
from serving import BINARY, ROOT, vibeflight  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TWICE = "vibeflight twice"
OURS = ["vibeflight", "vibeflight" + ALL_CORES, TWICE]
PEERS = {  # readers of each file in addition to vibeflight; DuckDB reads one GeoJSON file with one thread
    "buildings.geojson": ["duckdb", "pyogrio"],
    "mixed.geojson": ["duckdb", "pyogrio"],
    "points.geojsonl": ["duckdb", "pyogrio"],
    "points.csv": ["duckdb", "duckdb" + ALL_CORES, "polars", "polars" + ALL_CORES, "pandas", "pyogrio"],
    "wkt.csv": ["duckdb", "duckdb" + ALL_CORES, "geoarrow", "pyogrio"],
    "polygons.wkt": ["duckdb", "duckdb" + ALL_CORES, "shapely"],
    "attributes.dbf": ["pyogrio"],
    "parcels.shp": ["pyogrio"],
    "places.kml": ["pyogrio"],
    "parcels.gml": ["pyogrio"],
    "footprints.fgb": ["pyogrio"],
    "footprints.gpkg": ["pyogrio"],
    "parcels.gpkg": ["pyogrio"],
    "footprints.gdb": ["pyogrio"],
    "parcels.gdb": ["pyogrio"],
    "city.osm.pbf#points": ["pyogrio"],
    "city.osm.pbf#lines": ["pyogrio"],
    "city.osm.pbf#multipolygons": ["pyogrio"],
    "tracks.gpx#track_points": ["pyogrio"],
    "tracks.gpx#tracks": ["pyogrio"],
    "regions.topojson": ["pyogrio"],
    "stations.json": ["pyogrio"],
    "stations.xlsx": ["pyogrio"],
}
WITHOUT_GEOMETRY = {"attributes.dbf", "stations.xlsx"}


def main():
    options = arguments()
    if options.peers is not None:
        for name in options.files:
            PEERS[name] = [peer for peer in PEERS[name] if peer.removesuffix(ALL_CORES) in options.peers]
    results = []
    for name in options.files:
        file, _, layer = name.partition("#")
        path = shapes.write(file, options.data, options.scale)
        size = sum(len(part.read_bytes()) for part in shapes.parts(path))  # and into the page cache
        path = path.with_name(f"{path.name}#{layer}") if layer else path
        if not known(path):
            print(f"\n{name}: {BINARY.name} does not read it")
            continue
        turns = [(number + 1, reader) for number in range(options.rounds) for reader in random.sample(OURS + PEERS[name], len(OURS + PEERS[name]))]
        runs = [run(reader, path, pin=options.pin) | {"round": number, "bytes": size} for number, reader in turns]
        report(name, runs)
        compare_coordinates(path, [r["peer"] for r in runs if r["round"] == 1 and r["peer"] in PEERS[name] and r["positions"] is not None])
        results += runs
    if options.json:
        pathlib.Path(options.json).write_text("".join(json.dumps(r) + "\n" for r in results))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the files; figures compare at 1.0 only")
    parser.add_argument("--files", type=lambda s: s.split(","), default=list(PEERS), help="all of them: " + ",".join(PEERS))
    parser.add_argument("--peers", type=lambda s: s.split(","), help="the peers to measure; default: all that read the file")
    parser.add_argument("--data", default=ROOT / ".bench", help="where the files lie; they are written once")
    parser.add_argument("--pin", action="store_true", help="readers with one thread have one core, and so have all of their threads")
    parser.add_argument("--json", help="write every single run to this file, a JSON object a line")
    return parser.parse_args()


def known(path):
    """Whether the binary knows the format of a file: a build may lack readers."""
    return subprocess.run([BINARY, "bench", path, "--runs", "1"], capture_output=True).returncode == 0


@contextlib.contextmanager
def one_core(wanted):
    """The processes that are started here have the first core only, where that is wanted."""
    cores = os.sched_getaffinity(0)
    if wanted:
        os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def run(reader, path, *more, pin=False):
    """One read in a fresh process, or two at the same time."""
    if pin and reader != TWICE:
        with one_core(not reader.endswith(ALL_CORES)):
            return run(reader, path, *more)
    if reader == TWICE:
        with concurrent.futures.ThreadPoolExecutor(2) as both:
            found = list(both.map(lambda one: run(one, path), [OURS[0]] * 2))
        mean = {key: statistics.mean(one[key] for one in found) for key in ["cpu_seconds", "rss_anon_peak"]}
        return max(found, key=lambda one: one["seconds"]) | mean | {"peer": TWICE, "version": "vibeflight, two processes, one core each"}
    if reader in OURS:
        workers = 1 if reader == OURS[0] else 0
        (line,) = vibeflight("bench", path, "--engine", "cpu", "--workers", workers, "--runs", 1, "--json").splitlines()
        found = json.loads(line)
        return found | {"peer": reader, "version": f"vibeflight, {found['workers']} worker{'s'[:found['workers'] - 1]}", "file": str(path)}
    done = subprocess.run([sys.executable, HERE / "peers.py", reader, path, *more], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{reader} on {path}:\n{done.stderr}")
    return json.loads(done.stdout)


def report(name, runs):
    """Prints the medians of a file, and ends the program if the readers do not agree on what they read."""
    size, readers = runs[0]["bytes"], OURS + PEERS[name]
    rows, positions = {r["rows"] for r in runs}, {r["positions"] for r in runs} - {None}
    if len(rows) > 1 or len(positions) > 1:
        sys.exit(f"{name}: the readers disagree: " + "; ".join(sorted({f"{r['peer']} {r['rows']} rows, {r['positions']} positions" for r in runs})))
    print(f"\n{name}: {size / 1e6:.1f} MB, {rows.pop():,} rows, {positions.pop():,} positions; medians of {len(runs) // len(readers)} rounds")
    print(f"  {'':<42}{'wall s':>9}{'CPU s':>9}{'MB/CPU-s':>10}{'from':>8}{'to':>8}{'peak MB':>9}   vibeflight, one core, is")
    ours, alone = None, {}  # vibeflight's MB per CPU-second, and each reader's wall time with one thread
    for reader in readers:
        of = [r for r in runs if r["peer"] == reader]
        median = lambda key: statistics.median(r[key] for r in of)
        rate = [size / 1e6 / r["cpu_seconds"] for r in of]
        speed, one = statistics.median(rate), reader.removesuffix(ALL_CORES)
        ours = ours or speed
        notes = [] if one in OURS else [f"{ours / speed:.1f}x"]
        if reader == TWICE:
            notes.append(f"{median('seconds') / alone[OURS[0]]:.2f} of one's wall time")
        elif reader != one:
            notes.append(f"{median('seconds') / alone[one]:.2f} of one thread's wall time")
        alone[reader] = median("seconds")
        if of[0]["positions"] is None and name not in WITHOUT_GEOMETRY:
            notes.append("makes no geometry")
        label = of[0]["version"] + (ALL_CORES if reader != one and one != OURS[0] else "")
        print(f"  {label:<42}{median('seconds'):>9.3f}{median('cpu_seconds'):>9.3f}{speed:>10.0f}{min(rate):>8.0f}{max(rate):>8.0f}"
              f"{median('rss_anon_peak') / 1e6:>9.0f}   {', '.join(notes)}", flush=True)


def compare_coordinates(path, peers):
    """Every ordinate of the file, bit for bit, against the peers that have geometry."""
    with tempfile.TemporaryDirectory() as folder:
        table_path = pathlib.Path(folder) / "ours.arrow"
        vibeflight("get", path, "-o", table_path)
        with pa.memory_map(str(table_path)) as file:
            table = pa.ipc.open_file(file).read_all()
            ours = coordinates(table) if peers else None
        for peer in dict.fromkeys(peer.removesuffix(ALL_CORES) for peer in peers):
            out = pathlib.Path(folder) / f"{peer}.npy"
            run(peer, path, out)
            theirs = np.load(out)
            # NaN marks a position without z, and has several bit patterns.
            same = (ours.view(np.uint64) == theirs.view(np.uint64)) | (np.isnan(ours) & np.isnan(theirs))
            if not same.all():
                row, axis = np.argwhere(~same)[0]
                sys.exit(f"{path.name}: position {row}, ordinate {axis}: {ours[row, axis]!r}, {peer} has {theirs[row, axis]!r}; "
                         f"{(~same).sum()} of {same.size} differ")
            print(f"  all {np.count_nonzero(~np.isnan(ours)):,} coordinates equal {peer}'s, bit for bit", flush=True)


def coordinates(table):
    """All positions of the geometry column, x y z, in order; NaN for a missing z."""
    field, found = table.schema.field("geometry"), []
    for chunk in table["geometry"].chunks:
        if field.metadata[b"ARROW:extension:name"] == b"geoarrow.wkb":
            found.append(shapely.get_coordinates(shapely.from_wkb(chunk.to_numpy(zero_copy_only=False)), include_z=True))
            continue
        while pa.types.is_list(chunk.type):
            chunk = chunk.flatten()
        axes = [chunk.field(i).to_numpy() for i in range(chunk.type.num_fields)]
        found.append(np.column_stack([*axes, *[np.full(len(chunk), np.nan)] * (3 - len(axes))]))
    return np.concatenate(found)


if __name__ == "__main__":
    if not BINARY.exists():
        sys.exit(f"{BINARY} is missing: make build")
    main()
