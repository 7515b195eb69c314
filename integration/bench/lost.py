"""Measures the first batch of a table that the cache has lost:   lost.py vibeflight A B [--engine cuda] [--over unix] [--ask ticket] [--rounds N] [--pause SECONDS]

A and B are two files of one folder. A server reads both, so that its catalog knows them, and ends; what its cache has of their tables is removed. Then each round starts a server, and a
pyarrow client on the same host, which is connected, asks it for A and for the first batch of its first endpoint, or with a ticket that is the name of A; once that table is in the cache, for B. In
every other round B comes first. Then both are requested again, from the cache. It needs only pyarrow, so that it also runs on a machine that has just a GPU.
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import pyarrow.flight as flight

OPTIONS = flight.FlightCallOptions(timeout=120)  # kernels may have to be compiled
STARTED_WITHIN, SAVED_WITHIN = 60, 20  # seconds


class Server:
    """A server of the folder of the files, until it is killed."""

    def __init__(self, args, folder, cache):
        if args.over == "unix":
            listen, address = "unix://%s/socket" % cache, "grpc+unix://%s/socket" % cache
        else:
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                listen = "127.0.0.1:%d" % s.getsockname()[1]
            address = "grpc://" + listen
        self.ask, self.log = args.ask, cache / "log"
        command = [args.vibeflight, "serve", "--data", folder, "--cache-dir", cache / "cache", "--cache-bytes", "24GiB", "--engine", args.engine, "--listen", listen]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        give_up = time.monotonic() + STARTED_WITHIN
        while "listening on" not in self.log.read_text():
            if self.process.poll() is not None or time.monotonic() > give_up:
                self.process.kill()
                sys.exit(self.log.read_text())
            time.sleep(0.01)
        self.client = flight.connect(address)
        list(self.client.list_flights(options=OPTIONS))
        self.saved = 0

    def first_batch(self, name):
        """Milliseconds until the first batch is there. The stream is read to its end."""
        start = time.perf_counter()
        ticket = flight.Ticket(name.encode())
        if self.ask == "info":
            ticket = self.client.get_flight_info(flight.FlightDescriptor.for_path(name), OPTIONS).endpoints[0].ticket
        reader = self.client.do_get(ticket, OPTIONS)
        reader.read_chunk()
        took = time.perf_counter() - start
        for _ in reader:
            pass
        return took * 1e3

    def await_save(self):
        """Waits until one more table is in the cache."""
        self.saved += 1
        give_up = time.monotonic() + SAVED_WITHIN
        while time.monotonic() < give_up:
            (answer,) = self.client.do_action(flight.Action("stats", b""), OPTIONS)
            if json.loads(answer.body.to_pybytes())["cache"]["saves"] >= self.saved:
                return
            time.sleep(0.02)
        sys.exit("the table is not in the cache after %d s\n%s" % (SAVED_WITHIN, self.log.read_text()))

    def end(self, how):
        self.client.close()
        how(self.process)
        self.process.wait(30)


def lose(cache):
    for table in (cache / "cache" / "tables").iterdir():
        table.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("vibeflight", type=os.path.abspath)
    parser.add_argument("files", type=pathlib.Path, nargs=2)
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--over", choices=["tcp", "unix"], default="tcp")
    parser.add_argument("--ask", choices=["info", "ticket"], default="info", help="GetFlightInfo and a ticket that it gives, or a ticket that is the file's name")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--pause", type=float, default=2, help="seconds from the start of a server to the first ticket: kernels are loaded meanwhile")
    args = parser.parse_args()
    folder, names = args.files[0].resolve().parent, [file.name for file in args.files]
    cache = pathlib.Path(tempfile.mkdtemp(prefix="lost-"))
    figures, server = {}, None
    try:
        server = Server(args, folder, cache)
        for name in names:
            server.first_batch(name)
            server.await_save()
        server.end(subprocess.Popen.terminate)
        for number in range(args.rounds):
            lose(cache)
            server = Server(args, folder, cache)
            time.sleep(args.pause)
            order = names[::-1] if number % 2 else names
            for place, name in zip(("first ticket", "second ticket"), order):
                figures.setdefault((name, place), []).append(server.first_batch(name))
                server.await_save()
            for name in order:
                figures.setdefault((name, "the table is there"), []).append(server.first_batch(name))
            server.end(subprocess.Popen.kill)
            print("round %d of %d" % (number + 1, args.rounds), file=sys.stderr, flush=True)
    finally:
        if server:
            server.process.kill()
        shutil.rmtree(cache, ignore_errors=True)
    for (name, place), times in sorted(figures.items()):
        print("%-24s %-18s %6.1f ms   of %s" % (name, place, statistics.median(times), ", ".join("%.1f" % t for t in sorted(times))))


main()
