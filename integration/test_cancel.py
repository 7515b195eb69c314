"""Clients that leave in the middle of a stream leave nothing behind."""
import json
import threading
import time

import pyarrow.flight as flight
import pytest
from conftest import ticket
from serving import Server

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
    """Leaves without a word: the stream is still open when its connection goes."""
    client = flight.connect(uri)
    client.do_get(ticket("large.geojsonl")).read_chunk()
    client.close()


def together(work, times, at_once):
    """Runs work so many times, so many at once, and raises what any of them raised."""
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


def settle(figure, most, seconds=15):
    """Waits until the figure is at most so much, and gives it."""
    deadline = time.monotonic() + seconds
    while (now := figure()) > most and time.monotonic() < deadline:
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

        assert settle(server.open_files, files + 2) <= files + 2
        assert settle(server.resident_bytes, memory + 64 * MIB) <= memory + 64 * MIB
        for under_way in ("held_tables", "parsing"):
            assert settle(lambda: statistics(client)[under_way], 0) == 0, under_way
        assert client.do_get(ticket("large.geojsonl")).read_all().equals(whole)


def statistics(client):
    (result,) = client.do_action(flight.Action("stats", b""))
    return json.loads(result.body.to_pybytes())


def test_many_clients_at_once(data):
    """64 clients read the same table at the same time: none fails, and memory does not grow with their number."""
    with Server(data) as server:
        rows = server.client().do_get(ticket("large.geojsonl")).read_all().num_rows
        memory = server.resident_bytes()

        def read_all():
            client = flight.connect(server.uri)
            try:
                assert client.do_get(ticket("large.geojsonl")).read_all().num_rows == rows
            finally:
                client.close()

        together(read_all, times=64, at_once=64)
        assert settle(server.resident_bytes, memory + 256 * MIB) <= memory + 256 * MIB
