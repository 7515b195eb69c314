"""Addresses, and how a server is reached."""

import os
import pathlib
import shutil
import subprocess

import pyarrow as pa
import pytest
from conftest import LARGE_ROWS
from pyarrow import flight
from serving import Server

import vibeflight
from vibeflight.channel import LANES, LOST_SECONDS, Channel, Part, location

ENVIRONMENT = dict(os.environ)  # as it is before conftest.py moves the cache folder: Go's own stays


@pytest.mark.parametrize("server, want", [
    ("localhost", "grpc://localhost:8815"),
    ("localhost:1", "grpc://localhost:1"),
    ("[::1]", "grpc://[::1]:8815"),
    ("[::1]:1", "grpc://[::1]:1"),
    ("grpc://h", "grpc://h:8815"),
    ("grpc://h:2/", "grpc://h:2"),
    ("grpc+tcp://h:2", "grpc+tcp://h:2"),
    ("grpc+tls://h", "grpc+tls://h:8815"),
    ("grpc+unix:///run/s", "grpc+unix:///run/s"),
    ("unix:///run/s", "grpc+unix:///run/s"),
], ids=str)  # fmt: skip
def test_addresses(server, want):
    assert location(server) == want


@pytest.mark.parametrize("server", ["", "http://h", "grpc://"])
def test_no_addresses(server):
    with pytest.raises(ValueError):
        vibeflight.connect(server)


def test_unix_socket(data, tmp_path):
    with Server(data, listen=f"unix://{tmp_path}/s") as running, vibeflight.connect(running.uri) as server:
        assert server.table("grid.geojson").arrow().num_rows == 100


def test_locations_are_followed(data, running):
    """A server that names another one, which is asked for the rows, and one that is not there before it."""
    with Server(data, "--advertise", "grpc://127.0.0.1:1", "--advertise", running.uri) as first, vibeflight.connect(first.uri) as server:
        assert server.table("grid.geojson").arrow().num_rows == 100


def test_a_location_that_is_killed_while_it_gives_rows(data, running):
    """Its endpoints are read on at the next location, whose batches begin elsewhere."""
    with (
        Server(data, "--batch-rows", "5000") as killed,
        Server(data, "--advertise", killed.uri, "--advertise", running.uri) as first,
        vibeflight.connect(first.uri) as server,
    ):
        batches = server.table("large.csv", columns=["n"]).batches(waiting=1)
        got = next(batches)["n"].to_pylist()
        killed.kill()
        for batch in batches:
            got += batch["n"].to_pylist()
        assert got == list(range(LARGE_ROWS))


def test_the_connection_at_hand_is_a_location(running):
    channel = Channel(running.uri)
    assert channel.open(Part(b"grid.geojson", ("arrow-flight-reuse-connection://?",))).read_all().num_rows == 100
    channel.close()


class Peers(flight.FlightServerBase):
    """A server that gives no rows, and keeps who asked for them."""

    def __init__(self, location):
        super().__init__(location)
        self.seen = []

    def do_get(self, context, ticket):
        self.seen.append(context.peer())
        return flight.RecordBatchStream(pa.table({"n": [1]}))


def test_a_location_that_is_lost_is_the_last_choice():
    """It is tried once for many endpoints, and again after a while."""
    with Peers("grpc://127.0.0.1:0") as first, Peers("grpc://127.0.0.1:0") as second:
        uris = [f"grpc://127.0.0.1:{server.port}" for server in (first, second)]
        channel, part = Channel(uris[0]), Part(b"", ("grpc://127.0.0.1:1", uris[1], "arrow-flight-reuse-connection://?"))
        for _ in range(5):
            assert channel.open(part).read_all().num_rows == 1
        assert len(second.seen) == 5 and not first.seen
        assert channel._in_order(part.locations) == [uris[1], None, "grpc://127.0.0.1:1"]
        channel._lost["grpc://127.0.0.1:1"] -= 2 * LOST_SECONDS
        assert channel._in_order(part.locations) == ["grpc://127.0.0.1:1", uris[1], None]
        second.shutdown()
        assert channel.open(part).read_all().num_rows == 1 and len(first.seen) == 1
        channel.close()


def test_lanes_are_connections():
    """Each lane of its own, up to so many; asked again they are the same."""
    with Peers("grpc://127.0.0.1:0") as running:
        channel, other = Channel(f"127.0.0.1:{running.port}"), Channel(f"127.0.0.1:{running.port}")
        for lane in [*range(LANES), *range(2 * LANES)]:
            assert channel.open(Part(b""), lane).read_all().num_rows == 1
        assert len(set(running.seen[:LANES])) == LANES
        assert running.seen == running.seen[:LANES] * 3
        other.open(Part(b""), 1).read_all()
        assert running.seen[-1] not in running.seen[:-1]
        channel.close()
        other.close()


SOCKETS = [pathlib.Path("/proc/net", name) for name in ("tcp", "tcp6")]


def connections(uri):
    """How many connections clients of this machine have to a port of it."""
    port = f":{int(uri.rpartition(':')[2]):04X}"
    lines = [line.split() for sockets in SOCKETS for line in sockets.read_text().splitlines()]
    return sum(fields[2].endswith(port) and fields[3] == "01" for fields in lines)


@pytest.mark.skipif(not all(sockets.exists() for sockets in SOCKETS), reason="there is no list of sockets here")
def test_endpoints_come_over_several_connections(data):
    with Server(data, "--batch-rows", "4096") as running, vibeflight.connect(running.uri, workers=3) as server:
        assert server.table("grid.geojson").arrow().num_rows == 100
        before = connections(running.uri)
        assert server.table("large.csv", columns=["n"]).arrow().num_rows == LARGE_ROWS
        assert connections(running.uri) == before + 2


class Empty(flight.FlightServerBase):
    """A server without entries."""

    def list_flights(self, context, criteria):
        return iter(())


@pytest.mark.skipif(not shutil.which("go"), reason="there is no go here, whose program makes the certificate")
def test_tls(tmp_path):
    root = subprocess.run(["go", "env", "GOROOT"], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout.strip()
    program = pathlib.Path(root, "src/crypto/tls/generate_cert.go")
    subprocess.run(
        ["go", "run", program, "--host", "127.0.0.1", "--ca", "--ecdsa-curve", "P256"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=True
    )
    pair = (tmp_path / "cert.pem").read_bytes(), (tmp_path / "key.pem").read_bytes()
    with Empty("grpc+tls://127.0.0.1:0", tls_certificates=[pair]) as running:
        address = f"grpc+tls://127.0.0.1:{running.port}"
        for trust in ({"tls_ca": tmp_path / "cert.pem"}, {"tls_insecure": True}):
            with vibeflight.connect(address, **trust) as server:
                assert server.list() == []
        with vibeflight.connect(address) as server, pytest.raises(vibeflight.Unavailable, match="certificate"):
            server.list()
