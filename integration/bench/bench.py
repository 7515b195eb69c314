"""Measures vibeflight beside DuckDB and GDAL:   bench.py [--rounds N] [--scale S] [--files A,B] [--json OUT]

Every read is a fresh process. The readers take turns, A B C A B C, so that a busy moment of the machine hits all of them, and the
median counts. The files are in the page cache. MB is 1,000,000 bytes. CPU seconds are user and system time of all threads while the
clock runs; on a machine that others use too, MB per CPU-second is the steady figure.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import shapely

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import shapes  # noqa: E402
from serving import BINARY, ROOT, vibeflight  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
READERS = ["vibeflight", "vibeflight, all cores", "duckdb", "pyogrio"]
PEERS = READERS[2:]


def main():
    options = arguments()
    results = []
    for name in options.files:
        path = shapes.write(name, options.data, options.scale)
        path.read_bytes()  # into the page cache
        for number in range(options.rounds):
            for reader in READERS:
                results.append(run(reader, path) | {"round": number + 1})
        report(name, [r for r in results if r["file"] == str(path)])
        compare_coordinates(path)
    if options.json:
        pathlib.Path(options.json).write_text("".join(json.dumps(r) + "\n" for r in results))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the files; figures compare at 1.0 only")
    parser.add_argument("--files", type=lambda s: s.split(","), default=list(shapes.ROWS))
    parser.add_argument("--data", default=ROOT / ".bench", help="where the files lie; they are written once")
    parser.add_argument("--json", help="write every single run to this file, a JSON object a line")
    return parser.parse_args()


def run(reader, path, *more):
    """One read in a fresh process."""
    if reader not in PEERS:
        workers = 1 if reader == "vibeflight" else 0
        (line,) = vibeflight("bench", path, "--engine", "cpu", "--workers", workers, "--runs", 1, "--json").splitlines()
        found = json.loads(line)
        return found | {"peer": reader, "version": f"vibeflight, {found['workers']} worker{'s'[:found['workers'] - 1]}", "file": str(path)}
    done = subprocess.run([sys.executable, HERE / "peers.py", reader, path, *more], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{reader} on {path}:\n{done.stderr}")
    return json.loads(done.stdout)


def report(name, runs):
    """Prints the medians of a file, and ends the program if the readers do not agree on what they read."""
    (size,) = {r["bytes"] for r in runs}
    counts = {(r["rows"], r["positions"]) for r in runs}
    if len(counts) != 1:
        sys.exit(f"{name}: the readers disagree: " + "; ".join(sorted({f"{r['peer']} {r['rows']} rows, {r['positions']} positions" for r in runs})))
    ((rows, positions),) = counts
    print(f"\n{name}: {size / 1e6:.1f} MB, {rows:,} rows, {positions:,} positions; medians of {len(runs) // len(READERS)} rounds")
    print(f"  {'':<30}{'wall s':>9}{'CPU s':>9}{'MB/CPU-s':>10}{'from':>8}{'to':>8}{'peak MB':>9}   vibeflight is")
    ours = alone = None
    for reader in READERS:
        of = [r for r in runs if r["peer"] == reader]
        median = lambda key: statistics.median(r[key] for r in of)
        rate = [size / 1e6 / r["cpu_seconds"] for r in of]
        speed = statistics.median(rate)
        ours, alone = ours or speed, alone or median("seconds")
        note = {READERS[0]: "", READERS[1]: f"{median('seconds') / alone:.2f} of one core's wall time"}.get(reader, f"{ours / speed:.1f}x")
        print(f"  {of[0]['version']:<30}{median('seconds'):>9.3f}{median('cpu_seconds'):>9.3f}{speed:>10.0f}{min(rate):>8.0f}{max(rate):>8.0f}"
              f"{median('rss_anon_peak') / 1e6:>9.0f}   {note}", flush=True)


def compare_coordinates(path):
    """Every ordinate of the file, bit for bit, against both peers."""
    with tempfile.TemporaryDirectory() as folder:
        table_path = pathlib.Path(folder) / "ours.arrow"
        vibeflight("get", path, "-o", table_path)
        with pa.memory_map(str(table_path)) as file:
            ours = coordinates(pa.ipc.open_file(file).read_all())
        for peer in PEERS:
            out = pathlib.Path(folder) / f"{peer}.npy"
            run(peer, path, out)
            theirs = np.load(out)
            # NaN stands for a position without z, and has several bit patterns.
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
