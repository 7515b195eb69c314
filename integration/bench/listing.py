"""The list of an object store with a million keys: seconds, and peak resident memory of the server.

    .venv/bin/python integration/bench/listing.py [--keys 1000000] [--dataset] [--json FILE]

The store is versitygw with generated keys (make stores). It is another process, whose memory does not count. Each peak (VmHWM) is
the one since the former step. With --dataset, the files are also a dataset.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import serving
import stores


class Server(serving.Server):
    def _wait_until_ready(self, seconds):
        super()._wait_until_ready(600)


def peak_mib(pid):
    """The peak since the last call."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            peak = int(line.split()[1]) / 1024
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
    return round(peak)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--keys", type=int, default=1_000_000)
    args.add_argument("--dataset", action="store_true")
    args.add_argument("--json", type=pathlib.Path)
    args = args.parse_args()
    runs = []

    def step(name, pid, began):
        run = {"step": name, "keys": args.keys, "dataset": args.dataset, "seconds": round(time.monotonic() - began, 1), "rss_peak_mib": peak_mib(pid)}
        print(json.dumps(run), flush=True)
        runs.append(run)

    with stores.S3Keys(args.keys) as s3:
        os.environ.update(s3.env)
        data = s3.url.replace("gocloud:", "")
        flags = ["--no-sql"] + (["--dataset", "all=" + data.replace("?", "/**/*.geojson?", 1)] if args.dataset else [])
        began = time.monotonic()
        with Server(data, *flags, cache="") as server:
            pid = server.process.pid
            step("start", pid, began)
            for name in ("part=0000/0000123.geojson", ""):
                began = time.monotonic()
                command = [str(serving.BINARY), "ls", "--server", server.uri, "--prefix", name, "--json"]
                listed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
                assert name.encode() in listed, listed[:1000]
                step("ls of one name" if name else "ls of all", pid, began)
            for _ in range(2):
                began = time.monotonic()
                answer = server.action("refresh")
                assert answer["entries"] == args.keys + args.dataset, answer
                step("refresh", pid, began)
    if args.json:
        args.json.write_text(json.dumps({
            "date": datetime.date.today().isoformat(), "command": "integration/bench/listing.py", "machine": f"{os.cpu_count()} cores",
            "note": None, "notebook": None, "runs": runs,
        }, indent=2) + "\n")


if __name__ == "__main__":
    main()
