"""Measures reads from an object store with 10 ms before each answer, and curl, DuckDB, GDAL and pyarrow on the same objects.

    .venv/bin/python integration/bench/stores.py [--rounds 5] [--size 500e6] [--parquet 1e9] [--folder FOLDER] [--json FILE]

A GeoJSON object is read as a whole: its bytes alone, and into a table. Of a GeoParquet object with a covering column, the rows of a box are read. Readers take
turns, each in a process of its own, and nothing is cached between them; medians count. Requests and bytes are those that the store has counted. curl fetches
the same bytes without a parse, 16 requests at a time, each of up to 8 MiB; the time in which its processes start is not counted.
"""
import argparse
import datetime
import functools
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import typing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import stores  # noqa: E402

BINARY = ROOT / "bin" / "vibeflight"
READ_FILE = ROOT / "build" / "readfile.test"  # the benchmark of readers/remote/cloud
BLOCK = 8 << 20
PARALLEL = 16
STARTS = 3  # measurements of how long curl takes to start
BOX = [-83.6, 27.3, -82.9, 27.9]  # a hundredth of the area of covering.py
FEATURES, BOXES = "buildings.geojson", "covering.parquet"
BYTES, TABLE, ROWS = "bytes of the GeoJSON object", "GeoJSON object to a table", "box of the GeoParquet object"


class Skipped(Exception):
    """What a reader needs is not on this machine."""


class Store:
    """The running store, and the log of its requests."""

    def __init__(self, server, log):
        self.server, self.log = server, log
        self.environment = {**os.environ, **server.env, "STORE_LOG": str(log)}

    def url(self, name):
        bucket, options = self.server.url.split("?")
        return f"{bucket}/{name}?{options}"

    def http(self, name):
        """For curl, without a signature: the bucket is public."""
        return f"{self.server.endpoint}/{self.server.bucket}/{name}"

    def position(self):
        return self.log.stat().st_size

    def requests(self, start):
        """The requests after a position of the log: method, path, status, range, bytes."""
        with open(self.log) as log:
            log.seek(start)
            return [line.rstrip("\n").split("\t") for line in log]


def run(store, commands, **environment):
    """Runs commands at the same time. Returns the output of the last one, and wall time, CPU time and the sum of the peaks of memory."""
    start = time.perf_counter()
    running = []
    for number, command in enumerate(commands, 1):
        output = subprocess.PIPE if number == len(commands) else subprocess.DEVNULL
        running.append(subprocess.Popen(list(map(str, command)), env={**store.environment, **environment}, stdout=output, text=True))
    with running[-1].stdout as pipe:
        text = pipe.read()
    cpu = memory = 0
    for child in running:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RuntimeError(f"{' '.join(child.args)}: status {child.returncode}")
        cpu, memory = cpu + used.ru_utime + used.ru_stime, memory + used.ru_maxrss * 1024
    return text, {"seconds": time.perf_counter() - start, "cpu_seconds": cpu, "rss_peak": memory}


def blocks(size):
    return [(at, min(at + BLOCK, size) - 1) for at in range(0, size, BLOCK)]


def curl(store, url, ranges, processes):
    """Fetches ranges, 16 at a time, by one process or by 16. The shortest time in which the processes start is left out."""
    flags = ["curl", "-q", "--no-progress-meter"]
    if processes == 1:
        flags += ["--parallel", "--parallel-immediate", "--parallel-max", PARALLEL]
    with tempfile.TemporaryDirectory() as folder:
        commands = []
        for i in range(min(processes, len(ranges))):
            config = pathlib.Path(folder) / str(i)
            config.write_text("next\n".join(f'url = "{url}"\nrange = {first}-{last}\noutput = /dev/null\nfail\n' for first, last in ranges[i::processes]))
            commands.append([*flags, "-K", config])
        empty = [["curl", "-q", "-s", "-o", "/dev/null", "file:///dev/null"]] * len(commands)
        start = min(run(store, empty)[1]["seconds"] for _ in range(STARTS))
        _, used = run(store, commands)
    used["seconds"] -= start
    return used


def our_bytes(store, url):
    """Package readers/remote reads the object from its beginning to its end."""
    if not READ_FILE.exists():
        raise Skipped(f"{READ_FILE} is missing: make bench-stores builds it")
    text, used = run(store, [[READ_FILE, "-test.run", "^$", "-test.bench", "ReadFile", "-test.benchtime", "1x"]], VIBEFLIGHT_BENCH_URL=url)
    nanoseconds, cpu = re.search(r"BenchmarkReadFile\S*\s+1\s+(\d+) ns/op.* ([\d.]+) cpu-s/op", text).groups()
    return {"seconds": int(nanoseconds) / 1e9, "cpu_seconds": float(cpu), "rss_peak": used["rss_peak"]}


def our_table(store, file):
    """`vibeflight bench`, in a process of its own: from before the object is opened to the complete table."""
    text, used = run(store, [[BINARY, "bench", "--runs", 1, "--json", file]])
    found = json.loads(text)
    return {"seconds": found["seconds"], "cpu_seconds": found["cpu_seconds"], "rss_peak": used["rss_peak"], "rss_anon_peak": found["rss_anon_peak"],
            "table_bytes": found["table_bytes"], "rows": found["rows"]}


def peer(store, reader, url, *box):
    """A reader of storepeers.py."""
    text, _ = run(store, [[sys.executable, HERE / "storepeers.py", reader, url, *map(json.dumps, box)]])
    result = json.loads(text.strip().split("\n")[-1])
    if "skipped" in result:
        raise Skipped(result["skipped"])
    return result


class Reader(typing.NamedTuple):
    task: str
    name: str
    read: typing.Callable  # gives the fields of a run
    slow: bool = False  # has fewer rounds


CURL_PROCESSES, CURL = f"curl, {PARALLEL} processes", f"curl --parallel-max {PARALLEL}"
OURS = "vibeflight"


def readers(store, folder, ranges):
    """All readers. ranges is what a read of the box by vibeflight has requested."""
    features, boxes = store.url(FEATURES), store.url(BOXES)
    whole = blocks((folder / FEATURES).stat().st_size)
    part = functools.partial
    return [
        Reader(BYTES, CURL_PROCESSES, part(curl, store, store.http(FEATURES), whole, PARALLEL)),
        Reader(BYTES, CURL, part(curl, store, store.http(FEATURES), whole, 1)),
        Reader(BYTES, OURS, part(our_bytes, store, features)),
        Reader(BYTES, "DuckDB httpfs, read_blob", part(peer, store, "duckdb-bytes", features)),
        Reader(TABLE, OURS, part(our_table, store, features)),
        Reader(TABLE, "vibeflight, the local file", part(our_table, store, folder / FEATURES)),
        Reader(TABLE, "DuckDB httpfs, ST_Read", part(peer, store, "duckdb-features", features), slow=True),
        Reader(TABLE, "GDAL /vsis3", part(peer, store, "gdal-features", features), slow=True),
        Reader(TABLE, "GDAL /vsis3, chunks of 8 MiB", part(peer, store, "gdal-features-tuned", features), slow=True),
        Reader(ROWS, CURL_PROCESSES, part(curl, store, store.http(BOXES), ranges, PARALLEL)),
        Reader(ROWS, CURL, part(curl, store, store.http(BOXES), ranges, 1)),
        Reader(ROWS, OURS, part(peer, store, "vibeflight-box", boxes, BOX)),
        Reader(ROWS, "DuckDB httpfs, read_parquet", part(peer, store, "duckdb-box", boxes, BOX)),
        Reader(ROWS, "pyarrow S3FileSystem", part(peer, store, "arrow-box", boxes, BOX)),
        Reader(ROWS, "GDAL /vsis3, Parquet", part(peer, store, "gdal-box", boxes, BOX)),
    ]


def measured(store, reader):
    """One run, with what the store has counted."""
    start = store.position()
    result = reader.read()
    asked = store.requests(result.pop("log_start", start))
    wrong = [r for r in asked if r[2] not in ("200", "206")]
    if wrong:
        print(f"{reader.name}: {len(wrong)} requests failed, the first one: {wrong[0]}", file=sys.stderr)
    return {**result, "requests": len(asked), "sent": sum(int(r[4]) for r in asked), "asked": asked}


def rounds_of(store, all_readers, options):
    """Runs all readers in turns, and returns the runs of each, or why it was left out."""
    runs, skipped = {r: [] for r in all_readers}, {}
    began = time.monotonic()
    for number in range(options.rounds):
        for reader in all_readers[::-1] if number % 2 else all_readers:
            spent = time.monotonic() - began
            late = runs[reader] and spent > options.seconds
            if reader in skipped or late or (reader.slow and number < options.rounds - options.slow_rounds):
                continue
            try:
                found = measured(store, reader)
            except Skipped as why:
                skipped[reader] = str(why)
                continue
            except RuntimeError as failed:
                skipped[reader] = f"failed: {failed}"[-600:]
                print(f"{reader.name}: {failed}", file=sys.stderr)
                continue
            found["round"] = number
            runs[reader].append(found)
            print(f"round {number}: {reader.task}, {reader.name}: {found['seconds']:.3f} s, {found['requests']} requests", file=sys.stderr, flush=True)
    return runs, skipped


def make_inputs(folder, options):
    """The two objects; those of an earlier run are used again if their sizes are about right."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, size, command in [
        (FEATURES, options.size, [BINARY, "gen", "buildings", "--size", f"{int(options.size)}", "-o"]),
        (BOXES, options.parquet, [sys.executable, HERE / "covering.py"]),
    ]:
        file = folder / name
        if file.exists() and abs(file.stat().st_size / size - 1) < 0.2:
            continue
        subprocess.run([*map(str, command), str(file), *([str(size)] if name == BOXES else [])], check=True)
    for name in (FEATURES, BOXES):  # all readers find the files in the page cache of the store
        with open(folder / name, "rb") as file:
            while file.read(1 << 24):
                pass


def summary(all_readers, runs, skipped):
    """A row of figures for each reader."""
    fastest_curl = {}  # of each task and round
    for reader in all_readers:
        if reader.name in (CURL, CURL_PROCESSES):
            for found in runs[reader]:
                key = reader.task, found["round"]
                fastest_curl[key] = min(found["seconds"], fastest_curl.get(key, found["seconds"]))
    rows = []
    for reader in all_readers:
        row = {"task": reader.task, "reader": reader.name}
        found = runs[reader]
        if not found:
            rows.append({**row, "skipped": skipped.get(reader, "no time was left")})
            continue
        seconds = [f["seconds"] for f in found]
        middle = {name: statistics.median(f[name] for f in found) for name in ("cpu_seconds", "requests", "sent")}
        row |= {
            "rounds": len(found), "seconds": round(statistics.median(seconds), 4), "fastest": round(min(seconds), 4), "slowest": round(max(seconds), 4),
            "cpu_seconds": round(middle["cpu_seconds"], 3), "requests": middle["requests"], "max_requests": max(f["requests"] for f in found),
            "megabytes": round(middle["sent"] / 1e6, 1), "rss_peak_mb": round(max(f["rss_peak"] for f in found) / 1e6, 1),
        }
        ratios = [fastest_curl[reader.task, f["round"]] / f["seconds"] for f in found if (reader.task, f["round"]) in fastest_curl]
        if ratios:
            row["throughput_of_curl"] = round(statistics.median(ratios), 3)
        for name in ("rows", "version"):
            if name in found[0]:
                row[name] = found[0][name]
        for name in ("rss_anon_peak", "table_bytes"):
            if name in found[0]:
                row[f"{name}_mb"] = round(max(f[name] for f in found) / 1e6, 1)
        rows.append(row)
    for task in (TABLE, ROWS):
        counts = {r["rows"] for r in rows if r["task"] == task and "rows" in r}
        if counts and max(counts) - min(counts) > max(counts) // 1000:  # the covering column's boxes are rounded outwards
            print(f"{task}: the readers give different numbers of rows: {counts}", file=sys.stderr)
    return rows


def table_to_curl(rows):
    """Adds the throughput of whole reads into a table, compared with curl, which fetches their bytes only."""
    curls = [r["seconds"] for r in rows if r["task"] == BYTES and r["reader"] in (CURL, CURL_PROCESSES) and "seconds" in r]
    for row in rows:
        if curls and row["task"] == TABLE and "seconds" in row:
            row["throughput_of_curl"] = round(min(curls) / row["seconds"], 3)


def show(rows):
    print("| task | reader | seconds | of curl | CPU s | requests | MB | peak MB | rows |\n| --- | --- | --: | --: | --: | --: | --: | --: | --: |")
    for row in rows:
        if "skipped" in row:
            print(f"| {row['task']} | {row['reader']} | left out: {row['skipped'].splitlines()[0][:120]} |")
            continue
        seconds = f"{row['seconds']:.3f} ({row['fastest']:.3f} to {row['slowest']:.3f})"
        print(f"| {row['task']} | {row['reader']} | {seconds} | {row.get('throughput_of_curl', '')} | "
              f"{row['cpu_seconds']:.2f} | {row['requests']:g} | {row['megabytes']:.0f} | {row['rss_peak_mb']:.0f} | {row.get('rows', '')} |")


def memory():
    lines = dict(line.split(":", 1) for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return round(int(lines["MemTotal"].split()[0]) / (1 << 20))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow-rounds", type=int, default=2, help="of GDAL and of ST_Read over GeoJSON, the last ones")
    parser.add_argument("--seconds", type=float, default=1e9, help="no further rounds after this time, except the first one of a reader")
    parser.add_argument("--size", type=float, default=500e6, help="bytes of the GeoJSON object")
    parser.add_argument("--parquet", type=float, default=1e9, help="bytes of the GeoParquet object, about")
    parser.add_argument("--latency", default="10ms")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / ".bench" / "stores", help="of the objects")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there")
    options = parser.parse_args()
    make_inputs(options.folder, options)
    with tempfile.TemporaryDirectory() as scratch:
        log = pathlib.Path(scratch) / "requests"
        with stores.S3(options.folder, "--public", "--latency", options.latency, "--log", log) as server:
            store = Store(server, log)
            # What vibeflight requests for the box is what curl fetches; a first run of each is not counted.
            (ours,) = (r for r in readers(store, options.folder, []) if r.task == ROWS and r.name == OURS)
            ranges = [tuple(map(int, r[3].removeprefix("bytes=").split("-"))) for r in measured(store, ours)["asked"] if r[0] == "GET"]
            all_readers = readers(store, options.folder, ranges)
            runs, skipped = rounds_of(store, all_readers, options)
    rows = summary(all_readers, runs, skipped)
    table_to_curl(rows)
    sizes = {name: (options.folder / name).stat().st_size for name in (FEATURES, BOXES)}
    (whole,) = (r for r in rows if r["task"] == TABLE and r["reader"] == OURS)
    allowed = len(blocks(sizes[FEATURES])) + 4
    show(rows)
    print(f"\n{FEATURES}: {sizes[FEATURES]:,} bytes, at most {allowed} requests are allowed, {whole.get('max_requests')} were made; "
          f"{BOXES}: {sizes[BOXES]:,} bytes")
    if options.json:
        versions = sorted({r["version"] for r in rows if "version" in r})
        options.json.write_text(json.dumps({
            "date": str(datetime.date.today()), "command": " ".join(["stores.py", *sys.argv[1:]]),
            "machine": f"{os.cpu_count()} cores, {memory()} GiB, Linux {platform.release()}", "versions": ", ".join(versions), "rounds": options.rounds,
            "latency": options.latency, "bytes": sizes, "allowed_requests": allowed, "box_ranges": len(ranges),
            "note": "the store, versitygw, runs on the same machine; seconds of curl are without the start of its processes", "runs": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
