"""A client that attacks a server, and helpers that watch the server."""
import os
import pathlib
import threading
import time

import pyarrow as pa
import pyarrow.flight as flight
import sql

DEADLINE = 2.0  # seconds, of each statement
ORDINARY = "SELECT count(*), sum(n) FROM p"


def write_points(path, rows=1000):
    """The file of the ordinary query: points with numbers from 0."""
    points = ",".join(
        f'{{"type":"Feature","properties":{{"n":{i}}},"geometry":{{"type":"Point","coordinates":[{i % 90},1]}}}}' for i in range(rows)
    )
    path.write_text(f'{{"type":"FeatureCollection","features":[{points}]}}')


def attack(client, query):
    """Runs a statement, and returns its rows or its error."""
    end = time.monotonic() + DEADLINE
    try:
        (endpoint,) = client.get_flight_info(sql.statement(query), flight.FlightCallOptions(timeout=DEADLINE)).endpoints
        left = max(0.001, end - time.monotonic())
        return client.do_get(endpoint.ticket, flight.FlightCallOptions(timeout=left)).read_all()
    except (pa.ArrowException, flight.FlightError, OSError) as error:
        return error


def workers(server):
    """The server's child processes."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue  # it has ended
            if int(fields[1]) == server.process.pid and fields[0] != "Z":
                found.append(int(entry))
    return found


def anonymous(pid):
    """Bytes of anonymous memory, 0 for a process that has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


class Memory:
    """Records the peak anonymous memory of a server, and of all its workers."""

    def __init__(self, server):
        self._of = server
        self._done = threading.Event()
        self.server = self.workers = 0
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _watch(self):
        while not self._done.wait(0.01):
            self.server = max(self.server, anonymous(self._of.process.pid))
            self.workers = max(self.workers, sum(anonymous(pid) for pid in workers(self._of)))
