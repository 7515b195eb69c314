"""Addresses, and how a server is reached."""

import os
import pathlib
import shutil
import subprocess

import pytest
from pyarrow import flight
from serving import Server

import vibeflight
from vibeflight.channel import Channel, Part, location

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


def test_the_connection_at_hand_is_a_location(running):
    channel = Channel(running.uri)
    assert channel.open(Part(b"grid.geojson", ("arrow-flight-reuse-connection://?",))).read_all().num_rows == 100
    channel.close()


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
