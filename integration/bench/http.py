"""Measures what a cached table costs the server by HTTP and by DoGet: http.py [--rounds N] [--features N] [--file FILE] [--json FILE]

The same server sends the same table, as an Arrow stream, to a client of HTTP that reads and drops the bytes and to a pyarrow client that drops
the batches. They take turns. CPU-seconds are user and system time of the whole server process, the kernel's copying included; the median of
the ratios of the pairs counts. GB is 10^9 bytes of batches.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import sys
import tempfile

import pyarrow.flight as flight

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from serving import Server, free_port, vibeflight  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def by_http(port, name):
    """Reads an answer to its end, and returns its bytes."""
    buffer, n = bytearray(4 << 20), 0
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(f"GET /v1/tables/{name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        while got := s.recv_into(buffer):
            if not n:
                assert buffer.startswith(b"HTTP/1.1 200"), bytes(buffer[:300])
            n += got
            end = bytes(buffer[max(0, got - 5):got])
    assert end == b"0\r\n\r\n", end
    return n


def by_flight(client, name):
    n = 0
    for chunk in client.do_get(flight.Ticket(name.encode())):
        n += chunk.data.nbytes
    return n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--features", type=int, default=6_200_000)
    p.add_argument("--repeat", type=int, default=3, help="reads of a round: the clock of /proc has ticks of 10 ms")
    p.add_argument("--file")
    p.add_argument("--json")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder) / "b.geojson"
        if args.file:
            os.symlink(args.file, at) if os.stat(args.file).st_dev != os.stat(folder).st_dev else os.link(args.file, at)
        else:
            vibeflight("gen", "buildings", "--features", args.features, "-o", at)
        port = free_port()
        with Server(folder, "--http", f"127.0.0.1:{port}", "--no-sql") as server:
            client = server.client()
            size = by_flight(client, "b.geojson")
            server.wait_until_saved(seconds=300)
            by_flight(client, "b.geojson"), by_http(port, "b.geojson")
            print(f"{size / 1e9:.2f} GB")
            runs = {"DoGet": [], "HTTP": []}
            for _ in range(args.rounds):
                for side, read in (("DoGet", lambda: by_flight(client, "b.geojson")), ("HTTP", lambda: by_http(port, "b.geojson"))):
                    before = cpu_seconds(server.process.pid)
                    for _ in range(args.repeat):
                        read()
                    runs[side].append((cpu_seconds(server.process.pid) - before) / args.repeat / size * 1e9)
                print(*(f"{side} {r[-1]:.3f}" for side, r in runs.items()), flush=True)
            ratios = [h / d for h, d in zip(runs["HTTP"], runs["DoGet"])]
            print(f"ratio: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")
            result = [{"side": side, "server_cpu_s_per_gb": round(statistics.median(r), 3), "lowest": round(min(r), 3), "highest": round(max(r), 3)}
                      for side, r in runs.items()]
            if args.json:
                pathlib.Path(args.json).write_text(json.dumps({"gigabytes": round(size / 1e9, 2), "rounds": args.rounds, "ratio": round(statistics.median(ratios), 2),
                                                               "ratio_lowest": round(min(ratios), 2), "ratio_highest": round(max(ratios), 2), "runs": result}, indent=2) + "\n")


if __name__ == "__main__":
    main()
