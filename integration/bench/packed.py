#!/usr/bin/env python3
"""Measures packed files: packed.py [--megabytes N] [--rounds N] [--workers N,N…] [--json OUT]

One GeoJSON file of buildings, and the same packed in several ways. Of each, the programs that only unpack (zstd, pigz, gzip, to nothing), and
vibeflight, which unpacks and parses; and vibeflight with the plain file. All take turns within a round. A reader is a fresh process, the
files are in the page cache, the median counts. `ratio` is the wall time by that of the fastest program that unpacks the same file: 1 says
that the parse costs nothing in addition.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from serving import BINARY  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FRAME = 8 << 20  # bytes of content in each of many frames
BYTES_OF_A_BUILDING = 301


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        files = make(pathlib.Path(folder), options.megabytes)
        runs = {}
        for _ in range(options.rounds):
            for name, path in files.items():
                for reader, command in readers(path, options.workers):
                    runs.setdefault((name, reader), []).append(measure(command))
        plain = files["plain"].stat().st_size
        results = [summary(name, reader, took, plain, files[name].stat().st_size) for (name, reader), took in runs.items()]
    for r in results:
        unpack = [s["seconds"] for s in results if s["file"] == r["file"] and not s["reader"].startswith("vibeflight")]
        if unpack and r["reader"].startswith("vibeflight"):
            r["ratio"] = round(r["seconds"] / min(unpack), 2)
        print(f"{r['file']:12} {r['reader']:24} {r['seconds']:7.3f} s {r['cpu_seconds']:7.3f} CPU-s {r['mb_per_second']:6} MB/s {r.get('ratio', '')}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"rounds": options.rounds, "runs": results}, indent=1) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=lambda s: [int(n) for n in s.split(",")], default=[os.cpu_count()])
    parser.add_argument("--dir", help="folder for the files; the default is $TMPDIR")
    parser.add_argument("--json", help="file for the result")
    return parser.parse_args()


def make(folder, megabytes):
    """The plain file, and those that programs make of it; what is not installed is left out."""
    generator, plain = folder / "generator", folder / "plain.geojson"
    subprocess.run(["gcc", "-O2", "-pthread", HERE / "gen_buildings.c", "-o", generator, "-lm"], check=True)
    subprocess.run([generator, str(megabytes * 1_000_000 // BYTES_OF_A_BUILDING), "1", plain], check=True)
    files = {"plain": plain}
    ways = {
        "one frame": ("one.geojson.zst", ["zstd", "-qc", plain]),
        "pzstd": ("pzstd.geojson.zst", ["pzstd", "-qc", plain]),
        "one member": ("one.geojson.gz", ["pigz" if shutil.which("pigz") else "gzip", "-c", plain]),
        "BGZF": ("blocked.geojson.gz", ["bgzip", "-c", plain]),
    }
    for name, (base, command) in ways.items():
        if shutil.which(command[0]):
            files[name] = folder / base
            with files[name].open("wb") as out:
                subprocess.run(command, stdout=out, check=True)
    pieces = {  # frames of zstd say how long their content is, those of pzstd do not
        "many frames": ("many.geojson.zst", ["zstd", "-qc", f"--stream-size={FRAME}"]),
        "many members": ("many.geojson.gz", ["gzip", "-c"]),
    }
    for name, (base, command) in pieces.items():
        files[name] = folder / base
        with plain.open("rb") as content, files[name].open("wb") as out:
            while piece := content.read(FRAME):
                sized = [part.replace(str(FRAME), str(len(piece))) for part in command]
                out.write(subprocess.run(sized, input=piece, stdout=subprocess.PIPE, check=True).stdout)
    return files


def readers(path, workers):
    """Names and commands of what reads a file."""
    programs = {".zst": [["zstd", "-dqc"], ["pzstd", "-dqc"]], ".gz": [["gzip", "-dc"], ["pigz", "-dc"]]}
    for program in programs.get(path.suffix, []):
        if shutil.which(program[0]):
            yield program[0], [*program, path]
    for n in workers:
        yield f"vibeflight, {n} workers", [BINARY, "bench", path, "--runs", "1", "--workers", str(n), "--json"]


def measure(command):
    """Wall and CPU seconds of a process; those of vibeflight are its own, without its start."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ours = command[0] == BINARY
    done = subprocess.run(command, stdout=subprocess.PIPE if ours else subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ours:
        run = json.loads(done.stdout)
        return run["seconds"], run["cpu_seconds"]
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def summary(name, reader, took, plain, packed):
    seconds = statistics.median(s for s, _ in took)
    return {
        "file": name, "reader": reader, "megabytes": round(plain / 1e6), "packed_megabytes": round(packed / 1e6), "seconds": round(seconds, 3),
        "fastest": round(min(s for s, _ in took), 3), "cpu_seconds": round(statistics.median(c for _, c in took), 3),
        "mb_per_second": round(plain / 1e6 / seconds),
    }


if __name__ == "__main__":
    main()
