"""Measures the transfer of a cached table to a client: wire.py [--rounds N] [--features N] [--batch-rows N] [--over tcp,tls,unix] [--streams 1,4]

pyarrow's own C++ Flight server, which has the table in memory, and `vibeflight serve`, which has it in its cache, send the same record batches to a pyarrow
client that counts and drops them. They take turns, and the medians count. CPU-seconds are user and system time of the whole server process, the kernel's copying
included; on a machine that others use too they are the steady figure. GB is 10^9 bytes of batches.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import pyarrow.flight as flight

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from conftest import make_certificate  # noqa: E402
from serving import ROOT, Server, free_port, vibeflight  # noqa: E402

GB = 1e9
TICK = os.sysconf("SC_CLK_TCK")
FIRST_BATCHES = 50


class Peer(flight.FlightServerBase):
    """The C++ server: a ticket is a range of rows."""

    def __init__(self, location, table, **options):
        super().__init__(location, **options)
        self.table = table

    def do_get(self, context, ticket):
        start, end = map(int, ticket.ticket.split(b":"))
        return flight.RecordBatchStream(self.table.slice(start, end - start))


def serve_peer(source, name, certificate, locations):
    """Gets the table from the server of source, and serves it until stdin ends."""
    with flight.connect(source) as client:
        table = client.do_get(flight.Ticket(name)).read_all()
    cert, key = (pathlib.Path(file).read_bytes() for file in certificate)
    servers = [Peer(at, table, **({"tls_certificates": [(cert, key)]} if at.startswith("grpc+tls") else {})) for at in locations]
    print("ready", flush=True)
    sys.stdin.read()
    for server in servers:
        server.shutdown()


class Side:
    """One of the two servers: its process, its address, and tickets for the whole table, for its parts and for one row."""

    def __init__(self, pid, uri, trusted, whole, parts, row):
        self.pid, self.uri, self.whole, self.row, self.parts = pid, uri, flight.Ticket(whole), flight.Ticket(row), [flight.Ticket(part) for part in parts]
        self.options = {"tls_root_certs": trusted} if uri.startswith("grpc+tls") else {}

    def connect(self):
        return flight.connect(self.uri, **self.options)

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK


def drain(client, ticket):
    """Reads a stream to its end, and returns the bytes and rows of its batches."""
    size = rows = 0
    for chunk in client.do_get(ticket):
        size += chunk.data.nbytes
        rows += chunk.data.num_rows
    return size, rows


def pull(side, client, tickets, streams):
    """The whole table, over the given number of concurrent streams."""
    with concurrent.futures.ThreadPoolExecutor(streams) as pool:
        parts = list(pool.map(lambda ticket: drain(client, ticket), tickets))
    return [sum(part) for part in zip(*parts)]


def measure(sides, streams, rounds):
    """Runs both sides in turns, and returns (wall, server CPU, client CPU) of each round of each side, and the size of the table."""
    figures, sizes = {name: [] for name in sides}, set()
    clients = {name: side.connect() for name, side in sides.items()}
    for number in range(rounds + 1):
        for name in sorted(sides, reverse=number % 2 == 0):
            side = sides[name]
            tickets = side.parts if streams > 1 else [side.whole]
            cpu, own, start = side.cpu(), time.process_time(), time.perf_counter()
            size, rows = pull(side, clients[name], tickets, streams)
            took = time.perf_counter() - start
            sizes.add((size, rows))
            if number:  # the first round makes connections and pools
                figures[name].append((took, side.cpu() - cpu, time.process_time() - own))
    for client in clients.values():
        client.close()
    if len({rows for _, rows in sizes}) != 1:
        sys.exit(f"the servers sent different rows: {sizes}")
    return figures, max(size for size, _ in sizes)


def first_batch(side):
    """Milliseconds until a client that is connected has the first batch: the median of some. What is still on its way of a stream that was cancelled arrives before
    the one row that is read behind it."""
    with side.connect() as client:
        times = []
        for _ in range(FIRST_BATCHES + 3):
            start = time.perf_counter()
            reader = client.do_get(side.whole)
            reader.read_chunk()
            times.append(time.perf_counter() - start)
            reader.cancel()
            del reader
            drain(client, side.row)
        return statistics.median(times[3:]) * 1e3


def report(over, streams, figures, size, allocated):
    median = {name: [statistics.median(column) for column in zip(*rounds)] for name, rounds in figures.items()}
    ratio = statistics.median(a[0] / b[0] for a, b in zip(figures["vibeflight"], figures["pyarrow"]))
    for name in ("vibeflight", "pyarrow"):
        wall, _, client = median[name]
        cpu = sum(r[1] for r in figures[name]) / len(figures[name])  # ticks are coarse: the mean of all
        ratios = f"{ratio:.2f} | {allocated / size * 1e3:.2f} |" if name == "vibeflight" else "| |"
        print(f"| {over}, {streams} | {name} | {size / wall / 1e6:.0f} | {cpu / size * GB:.3f} | {client / size * GB:.3f} | {ratios}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--features", type=int, default=6_200_000, help="of a table of 1 GB")
    parser.add_argument("--batch-rows", type=int, default=65_536)
    parser.add_argument("--over", default="tcp,tls,unix")
    parser.add_argument("--streams", default="1,4")
    options = parser.parse_args()
    folder = ROOT / ".bench" / "wire"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"buildings-{options.features}.geojson"
    if not (folder / name).exists():
        vibeflight("gen", "buildings", "--features", options.features, "-o", folder / name)
    with tempfile.TemporaryDirectory(prefix="wire-") as temp:
        temp = pathlib.Path(temp)
        certificate = make_certificate(temp)
        cache = folder / f"cache-{options.batch_rows}"
        flags = ["--no-sql", "--batch-rows", str(options.batch_rows)]
        with Server(folder, *flags, cache=cache) as server:  # the next server maps the table
            server.client().get_flight_info(flight.FlightDescriptor.for_path(name))
            if not server.action("stats")["cache"]["loads"]:
                server.wait_until_saved(seconds=120)
        socket = f"unix://{temp}/ours"
        with Server(folder, *flags, "--listen", socket, cache=cache) as plain, Server(folder, *flags, cache=cache, tls=certificate) as encrypted:
            ours = {"tcp": (plain, plain.uri), "tls": (encrypted, encrypted.uri), "unix": (plain, "grpc+" + socket)}
            theirs = {"tcp": f"grpc://127.0.0.1:{free_port()}", "tls": f"grpc+tls://127.0.0.1:{free_port()}", "unix": f"grpc+unix://{temp}/theirs"}
            command = [sys.executable, __file__, "--peer", plain.uri, name, *map(str, certificate), *theirs.values()]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
                peer.stdout.readline()
                info = plain.client().get_flight_info(flight.FlightDescriptor.for_path(name))
                parts = [e.ticket.ticket for e in info.endpoints]
                ranges = ["{}:{}".format(*json.loads(part)["rows"]) for part in parts]
                print(f"{info.total_records:,} rows, {info.total_bytes / GB:.2f} GB in {len(parts)} endpoints; {options.rounds} rounds; load {os.getloadavg()[0]:.1f}\n")
                print("| over, streams | server | MB/s | server CPU s/GB | client CPU s/GB | wall, ours to theirs | MB allocated per GB |")
                print("| --- | --- | --: | --: | --: | --: | --: |")
                firsts = []
                for over in options.over.split(","):
                    server, uri = ours[over]
                    firsts += compare(options, over, server, {
                        "vibeflight": Side(server.process.pid, uri, encrypted.trusted, name, parts, json.dumps({"name": name, "limit": 1})),
                        "pyarrow": Side(peer.pid, theirs[over], encrypted.trusted, f"0:{info.total_records}", ranges, "0:1"),
                    })
                print("\nFirst batch, milliseconds: " + "; ".join(firsts))
                peer.stdin.close()


def compare(options, over, server, sides):
    """Prints the lines of one kind of connection, and returns the time until the first batch."""
    for streams in map(int, options.streams.split(",")):
        before = server.action("stats")["process"]["allocated_bytes"]
        figures, size = measure(sides, streams, options.rounds)
        allocated = (server.action("stats")["process"]["allocated_bytes"] - before) / (options.rounds + 1)
        report(over, streams, figures, size, allocated)
    return [f"{name} over {over} {first_batch(side):.1f}" for name, side in sides.items()]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        serve_peer(*sys.argv[2:4], sys.argv[4:6], sys.argv[6:])
    else:
        main()
