"""Measures a cached table that a client of the same host maps: share.py [--gigabytes N] [--rounds N] [--table FILE.parquet] [--json FILE]

The table has as many rows as fill the given size in the cache: 14 columns of float64 and a point in each. Its Parquet file takes almost nothing, since the values of
a row group are equal. A new client process for each round calls `connect(…).table(name).arrow()` over the unix socket, twice. Its private memory is that of the
pages which no other process has (Private_Clean and Private_Dirty in /proc/self/smaps_rollup), its Arrow memory what pyarrow has allocated. Then the server is killed
and started again: its first client waits until the checksums of all batches have been compared, with the file in the page cache.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "clients" / "python" / "src")]

GROUP_ROWS, COLUMNS = 1_000_000, 14
ROW_BYTES = 8 * (COLUMNS + 2)


def write(path, size):
    """Writes row groups of equal values, which have the given size as float64."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"]}}}
    fields = [(f"c{i:02}", pa.float64()) for i in range(COLUMNS)] + [("geometry", pa.binary())]
    schema = pa.schema(fields).with_metadata({"geo": json.dumps(geo)})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for g in range(-(-size // (GROUP_ROWS * ROW_BYTES))):
            columns = [pa.array(np.full(GROUP_ROWS, float(g * COLUMNS + i))) for i in range(COLUMNS)]
            point = pa.array([struct.pack("<BIdd", 1, 1, g % 180, g % 90)])
            columns.append(pa.DictionaryArray.from_arrays(np.zeros(GROUP_ROWS, np.int32), point).cast(pa.binary()))
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=GROUP_ROWS)


def private_bytes():
    """Memory of this process that it shares with no other."""
    lines = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))


def timed(times, step, function):
    """The function, whose milliseconds are added to a step."""
    def measured(*arguments, **named):
        started = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            times[step] = times.get(step, 0) + (time.perf_counter() - started) * 1000
    return measured


def client(uri, name):
    """A round: prints the figures of two calls as JSON."""
    import pyarrow as pa
    import vibeflight
    from vibeflight import selection, share
    times = {}
    share._take = timed(times, "take_ms", share._take)
    selection.mapped = timed(times, "mapped_ms", selection.mapped)
    pa.ipc.open_file = timed(times, "open_ms", pa.ipc.open_file)
    runs = []
    with vibeflight.connect(uri, progress=False) as server:
        server.client.wait_for_available(timeout=30)
        for _ in range(2):
            times.clear()
            memory, allocated = private_bytes(), pa.total_allocated_bytes()
            started, cpu = time.perf_counter(), time.process_time()
            table = server.table(name).arrow()
            ms, cpu_ms = (time.perf_counter() - started) * 1000, (time.process_time() - cpu) * 1000
            runs.append({
                "ms": ms, "cpu_ms": cpu_ms, "rows": table.num_rows, "bytes": table.nbytes, "batches": table.column(0).num_chunks, "mapped": "take_ms" in times, "schema_bytes":
                table.schema.serialize().size, "private_bytes": private_bytes() - memory, "arrow_bytes": pa.total_allocated_bytes() - allocated, **times})
            del table
    print(json.dumps(runs))


def ask(uri, name):
    """Starts a client and returns its figures."""
    done = subprocess.run([sys.executable, __file__, "--client", uri, name], check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    runs = json.loads(done.stdout)
    if not all(run["mapped"] for run in runs):
        raise RuntimeError(f"the table was not mapped: {runs}")
    return runs


def summary(runs):
    """Medians, and the fastest and slowest time."""
    keys = ("ms", "cpu_ms", "mapped_ms", "take_ms", "private_bytes", "arrow_bytes")
    middle = {key: round(statistics.median(run[key] for run in runs), 2) for key in keys}
    return {**middle, "fastest_ms": round(min(r["ms"] for r in runs), 2), "slowest_ms": round(max(r["ms"] for r in runs), 2)}


def measure(args, folder):
    from serving import Server
    path = pathlib.Path(args.table) if args.table else folder / "data" / "table.parquet"
    if not args.table:
        path.parent.mkdir()
        write(path, int(args.gigabytes * 1e9))
    at, flags = f"unix://{folder}/v.sock", ("--cache-bytes", "64GiB")
    runs = []
    with Server(path.parent, *flags, listen=at, cache=folder / "cache") as server:
        server.action("describe", path.name.encode())
        server.wait_until_saved(seconds=3600)
        ask(at, path.name)
        rounds = [ask(at, path.name) for _ in range(args.rounds)]
        runs.append({"case": "first call of a client", **summary([r[0] for r in rounds])})
        runs.append({"case": "second call of a client", **summary([r[1] for r in rounds])})
        table = {key: rounds[0][0][key] for key in ("rows", "bytes", "batches", "schema_bytes")}
        server.kill()
    again = []
    for _ in range(args.rounds):
        with Server(path.parent, *flags, listen=at, cache=folder / "cache") as server:
            again.append(ask(at, path.name)[0])
            server.kill()
    runs.append({"case": "first call after the server was killed and started", **summary(again),
                 "gb_per_second": round(table["bytes"] / 1e6 / statistics.median(r["ms"] for r in again), 2)})
    return {"date": str(datetime.date.today()), "command": f"integration/bench/share.py --gigabytes {args.gigabytes:g} --rounds {args.rounds}", **table, "runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--table", help="a Parquet file alone in its folder, instead of one that is written")
    parser.add_argument("--json", help="file for the results")
    parser.add_argument("--client", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.client:
        return client(*args.client)
    with tempfile.TemporaryDirectory(prefix="vibeflight-share-") as folder:
        figures = measure(args, pathlib.Path(folder))
    text = json.dumps(figures, indent=2)
    print(text)
    if args.json:
        pathlib.Path(args.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
