"""Clients that disconnect in the middle of a stream leak nothing; slow clients, or many of them, occupy windows but no tables."""
import json
import pathlib
import random
import subprocess
import sys
import threading
import time

import pyarrow.flight as flight
import pytest
from cached import fill
from conftest import ticket
from rawclient import RawClient
from serving import Server, vibeflight

MIB = 1 << 20


def read_one_batch_and_leave(uri):
    client = flight.connect(uri)
    try:
        reader = client.do_get(ticket("large.geojsonl", compression="none"))
        reader.read_chunk()
        reader.cancel()
    finally:
        client.close()


def drop_the_connection(uri):
    """Disconnects without cancelling: the stream is still open when its connection closes."""
    client = flight.connect(uri)
    client.do_get(ticket("large.geojsonl")).read_chunk()
    client.close()


def together(work, times, at_once):
    """Runs work the given number of times, at_once of them concurrently, and raises the first exception."""
    failed = []

    def some(n):
        try:
            for _ in range(n):
                work()
        except Exception as e:  # raised below, in the test's own thread
            failed.append(e)

    threads = [threading.Thread(target=some, args=(times // at_once,)) for _ in range(at_once)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise failed[0]


def wait_until_at_most(figure, limit, seconds=15):
    """Waits until the figure is at most limit, and returns it."""
    deadline = time.monotonic() + seconds
    while (now := figure()) > limit and time.monotonic() < deadline:
        time.sleep(0.1)
    return now


@pytest.mark.parametrize("leave", [read_one_batch_and_leave, drop_the_connection])
@pytest.mark.parametrize("times", [64, pytest.param(2000, marks=pytest.mark.long)])
def test_cancelled_streams_leave_nothing(data, leave, times):
    with Server(data) as server:
        client = server.client()
        whole = client.do_get(ticket("large.geojsonl")).read_all()
        together(lambda: leave(server.uri), times=32, at_once=16)  # buffers and pools reach their size
        time.sleep(0.5)
        files, memory = server.open_files(), server.resident_bytes()

        together(lambda: leave(server.uri), times=times, at_once=16)

        assert wait_until_at_most(server.open_files, files + 2) <= files + 2
        assert wait_until_at_most(server.resident_bytes, memory + 64 * MIB) <= memory + 64 * MIB
        for under_way in ("held_tables", "parsing"):
            assert wait_until_at_most(lambda: statistics(client)[under_way], 0) == 0, under_way
        assert client.do_get(ticket("large.geojsonl")).read_all().equals(whole)


def statistics(client):
    (result,) = client.do_action(flight.Action("stats", b""))
    return json.loads(result.body.to_pybytes())


CUTS = [RawClient.reset, RawClient.close, RawClient.half_close, RawClient.cancel]


def mappings(server):
    """The number of mappings of table files."""
    return sum(line.rstrip().endswith(".arrow") for line in pathlib.Path(f"/proc/{server.process.pid}/maps").read_text().splitlines())


@pytest.mark.parametrize("times", [200, pytest.param(10_000, marks=pytest.mark.long)])
def test_connections_that_are_cut(data, times, tmp_path):
    """The table is in a mapped file, whose frames are in flight when the connection closes."""
    fill(data, tmp_path, "large.geojsonl")
    with Server(data, "--no-sql", cache=tmp_path) as server:
        client = server.client()
        whole = client.do_get(ticket("large.geojsonl")).read_all()

        def cut():
            raw = RawClient(server.location, b"large.geojsonl").read(random.randrange(1, 60_000))
            random.choice(CUTS)(raw)

        def goroutines():
            return statistics(client)["process"]["goroutines"]

        together(cut, times=64 + times // 5, at_once=16)  # buffers and the heap reach their size
        wait_until_at_most(lambda: statistics(client)["held_tables"], 0)
        time.sleep(0.5)
        files, mapped, running, memory = server.open_files(), mappings(server), goroutines(), server.resident_bytes()

        together(cut, times=times, at_once=16)

        assert wait_until_at_most(lambda: statistics(client)["held_tables"], 0) == 0
        assert wait_until_at_most(server.open_files, files) <= files
        assert wait_until_at_most(goroutines, running + 5) <= running + 5
        assert mappings(server) == mapped == 1
        assert wait_until_at_most(server.resident_bytes, memory + 24 * MIB) <= memory + 24 * MIB
        print(f"{times:,} connections cut, RssAnon {server.resident_bytes() / MIB:.0f} MiB, {memory / MIB:.0f} before")
        assert client.do_get(ticket("large.geojsonl")).read_all().equals(whole)
        assert server.action("evict", b"large.geojsonl") == {"evicted": 1}
        assert wait_until_at_most(lambda: mappings(server), 0) == 0


KILLED = """
import sys, time, pyarrow.flight as flight
reader = flight.connect(sys.argv[1]).do_get(flight.Ticket("large.geojsonl"))
reader.read_chunk()
print("reading", flush=True)
time.sleep(60)
"""


def test_clients_that_are_killed(data):
    with Server(data, "--no-sql") as server:
        client = server.client()
        client.do_get(ticket("large.geojsonl")).read_all()
        files = server.open_files()
        clients = [subprocess.Popen([sys.executable, "-c", KILLED, server.uri], stdout=subprocess.PIPE) for _ in range(2)]
        for process in clients:
            assert process.stdout.readline() == b"reading\n"
        assert server.open_files() > files
        for process in clients:
            process.kill()
            process.communicate()
        assert wait_until_at_most(server.open_files, files) <= files
        assert wait_until_at_most(lambda: statistics(client)["held_tables"], 0) == 0


@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=pytest.mark.long)])
def test_many_clients_at_once(data, seconds):
    """64 clients read the same table repeatedly: none fails, and memory does not grow with their number or with time."""
    with Server(data, "--no-sql") as server:
        rows = server.client().do_get(ticket("large.geojsonl")).read_all().num_rows
        memory = server.resident_bytes()
        peaks, reads = [], []

        def read_until(end):
            client = flight.connect(server.uri)
            try:
                while True:
                    assert client.do_get(ticket("large.geojsonl")).read_all().num_rows == rows
                    reads.append(1)
                    if time.monotonic() > end:
                        return
            finally:
                client.close()

        for _ in range(2):
            with server.resident_peak() as peak:
                end = time.monotonic() + seconds / 2
                together(lambda: read_until(end), times=64, at_once=64)
                peaks.append(peak())
        print(f"{len(reads):,} reads in {seconds} s, peaks of RssAnon {[p // MIB for p in peaks]} MiB, {memory // MIB} before")
        assert max(peaks) <= memory + 256 * MIB
        assert peaks[1] <= peaks[0] + 64 * MIB


@pytest.mark.parametrize("readers, features", [(8, 150_000), pytest.param(8, 6_200_000, marks=pytest.mark.long)])
def test_slow_clients_hold_windows(tmp_path, readers, features):
    """Clients that read one batch and then sleep: the server has two messages of each in memory at most, and none of the table, which is mapped."""
    vibeflight("gen", "buildings", "--features", features, "-o", tmp_path / "buildings.geojson")
    cache = tmp_path / "cache"
    with Server(tmp_path, "--no-sql", "--memory", "64MiB", cache=cache) as server:
        server.client().get_flight_info(flight.FlightDescriptor.for_path("buildings.geojson"))
        server.wait_until_saved(seconds=300)
    with Server(tmp_path, "--no-sql", "--memory", "64MiB", cache=cache) as server:
        clients = [server.client() for _ in range(readers)]
        clients[0].do_get(ticket("buildings.geojson", limit=1)).read_all()
        memory = server.resident_bytes()
        streams = [client.do_get(ticket("buildings.geojson")) for client in clients]
        rows = [stream.read_chunk().data.num_rows for stream in streams]
        with server.resident_peak() as peak:
            time.sleep(1)
            print(f"{readers} streams wait, peak RssAnon {peak() / MIB:.0f} MiB, {memory / MIB:.0f} before")
            assert peak() <= memory + 32 * MIB
        assert server.action("stats")["held_tables"] == 1
        rows = [n + sum(chunk.data.num_rows for chunk in stream) for n, stream in zip(rows, streams)]
        assert rows == [features] * readers
        assert server.resident_bytes() <= memory + 64 * MIB
