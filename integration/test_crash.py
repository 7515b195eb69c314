"""A server that is killed in the middle of its work leaves nothing that affects the next one."""
import random
import threading
import time

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from conftest import bits, ticket
from serving import Server

NAME = "buildings.geojson"
LONGEST = 0.5  # seconds: until then a table of this size is parsed, sent and saved


def temporary(cache):
    return list((cache / "tables").glob(".tmp-*"))


def some_time(cache, rnd):
    time.sleep(rnd.uniform(0, LONGEST))


def until_it_writes(cache, rnd):
    """Until there is a temporary file, and then a little more."""
    deadline = time.monotonic() + 10 * LONGEST
    while not temporary(cache) and time.monotonic() < deadline:
        time.sleep(0.0005)
    time.sleep(rnd.uniform(0, LONGEST / 10))


@pytest.fixture(scope="module")
def want(generated):
    with Server(generated, cache="") as server:
        return bits(server.client().do_get(ticket(NAME)).read_all())


@pytest.mark.parametrize("memory", ["1GiB", "16MiB"], ids=["saved when it is parsed", "written while it is parsed"])
@pytest.mark.parametrize("wait", [some_time, until_it_writes])
@pytest.mark.parametrize("rounds", [3, pytest.param(60, marks=pytest.mark.long)])
def test_killed(generated, tmp_path, want, memory, wait, rounds):
    rnd = random.Random(rounds)
    for number in range(rounds):
        with Server(generated, "--memory", memory, cache=tmp_path) as server:
            reader = threading.Thread(target=read_as_long_as_it_goes, args=(server.client(),))
            reader.start()
            wait(tmp_path, rnd)
            server.kill()
            reader.join()
        for file in (tmp_path / "tables").glob("*.arrow"):  # a file with a name is a complete table
            assert bits(pa.ipc.open_file(str(file)).read_all()) == want
        with Server(generated, "--memory", memory, cache=tmp_path) as server:
            assert temporary(tmp_path) == [], number
            assert bits(server.client().do_get(ticket(NAME)).read_all()) == want, number
            stats = server.idle_statistics()
            assert (stats["parses"], stats["cache"]["loads"]) in [(1, 0), (0, 1)] and stats["cache"]["damaged"] == 0
            server.wait_until_saved(stats["parses"])
            assert temporary(tmp_path) == [], number
            server.action("evict", NAME.encode())  # so that the next one has work again


def read_as_long_as_it_goes(client):
    try:
        client.do_get(ticket(NAME)).read_all()
    except (flight.FlightError, pa.ArrowException, OSError):
        pass  # the server is gone
