"""One server for the whole run, over a folder that the tests read and never write."""
import hashlib
import json
import os
import subprocess
import tempfile

import naturalearth
import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from cases import FILES
from serving import Server, vibeflight


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="run the slow sweeps too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="a slow sweep: make test-long runs it"))


@pytest.fixture(scope="session", autouse=True)
def below_the_tests_folder(tmp_path_factory):
    """Temporary folders, including caches of servers, are inside of pytest's own, and so is the binary's default cache folder."""
    folder = tmp_path_factory.mktemp("temp")
    before = tempfile.tempdir, os.environ.get("XDG_CACHE_HOME")
    tempfile.tempdir, os.environ["XDG_CACHE_HOME"] = str(folder), str(folder / "cache")
    yield
    tempfile.tempdir = before[0]
    os.environ.pop("XDG_CACHE_HOME") if before[1] is None else os.environ.update(XDG_CACHE_HOME=before[1])


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """The folder: small hand-written files, Natural Earth, and one file large enough to be split."""
    folder = tmp_path_factory.mktemp("data")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    naturalearth.write_countries(folder / "world" / "countries.geojson")
    with open(folder / "large.geojsonl", "w", encoding="utf-8") as f:
        f.writelines('{"type":"Feature","properties":{"n":%d},"geometry":{"type":"Point","coordinates":[%r,%r]}}\n'
                     % (i, i % 3600 / 10 - 180, i % 1700 / 10 - 85) for i in range(300_000))
    return folder


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """A folder with files of `vibeflight gen`: 60 MB of buildings, and geometries of every kind."""
    folder = tmp_path_factory.mktemp("generated")
    vibeflight("gen", "buildings", "--size", "60MB", "-o", folder / "buildings.geojson")
    vibeflight("gen", "mixed", "--features", 20_000, "-o", folder / "mixed.geojson")
    return folder


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """The files of a certificate for 127.0.0.1, signed by itself, and of its key."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


def make_certificate(folder):
    """Writes cert.pem and key.pem with the program that comes with Go."""
    environment = {k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"}  # Go has its own cache, which has the compiled program
    root = subprocess.run(["go", "env", "GOROOT"], env=environment, capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["go", "run", f"{root}/src/crypto/tls/generate_cert.go", "--host", "127.0.0.1,localhost", "--ca", "--ecdsa-curve", "P256"],
                   cwd=folder, env=environment, capture_output=True, check=True)
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture(scope="session")
def server(data):
    with Server(data, *sql.FLAGS) as s:
        yield s


@pytest.fixture(scope="session")
def client(server):
    return server.client()


@pytest.fixture(scope="session")
def read(client):
    """read(name, **fields) returns the whole table of a ticket, checked in full by Arrow."""
    def read(name, **fields):
        table = client.do_get(ticket(name, **fields)).read_all()
        table.validate(full=True)
        return table
    return read


def ticket(name, **fields):
    """A ticket: the name alone, or a JSON object."""
    return flight.Ticket(json.dumps({"name": name, **fields}) if fields else name)


def bits(table):
    """A digest of the schema with its metadata and of every value's bits: NaN equals NaN, and -0.0 does not equal 0.0."""
    table.validate(full=True)
    # Concatenated buffers have the minimum length: those of a message may be longer.
    columns = [pa.concat_arrays([*column.chunks, pa.array([], field.type)]) for field, column in zip(table.schema, table.columns)]
    digest = hashlib.sha256()
    with pa.ipc.new_stream(pa.PythonFile(Digesting(digest), mode="w"), table.schema) as stream:
        stream.write_table(pa.Table.from_arrays(columns, schema=table.schema))
    return digest.hexdigest()


class Digesting:
    """A file that keeps only the digest of what is written."""

    closed = False

    def __init__(self, digest):
        self.write = digest.update

    def flush(self):
        pass

    def close(self):
        pass
