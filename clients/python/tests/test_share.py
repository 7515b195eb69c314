"""A table of a server on this machine is mapped, with the values of the stream."""

import gc
import os
import pathlib
import subprocess
import sys
import time

import pyarrow as pa
import pytest
from serving import Server

import vibeflight
from vibeflight import share


@pytest.fixture(scope="module")
def local(data, tmp_path_factory):
    socket = tmp_path_factory.mktemp("socket") / "v.sock"
    with Server(data, "--batch-rows", "65536", "--crs84-as", "EPSG:4326", listen=f"unix://{socket}") as server:
        yield server


@pytest.fixture
def connection(local):
    with vibeflight.connect(local.uri, progress=False) as c:
        yield c


def taken(monkeypatch):
    """Records the files that are mapped."""
    files = []
    take = share._take

    def recorded(*arguments):
        files.append(take(*arguments))
        return files[-1]

    monkeypatch.setattr(share, "_take", recorded)
    return files


def in_cache(connection, name):
    """Reads a table until the server has it in a file."""
    for _ in range(1000):
        try:
            list(connection.client.do_action(("share", name.encode())))
            return
        except pa.ArrowException as e:
            assert "no file of the cache" in str(e), e
            time.sleep(0.02)
    raise AssertionError(f"{name} is not in the cache")


def streamed(connection, name, **selection):
    table = connection.table(name, **selection)
    return pa.Table.from_batches(table.batches(), table.schema)


@pytest.mark.parametrize("selection", [{}, {"columns": ["geometry", "n"]}, {"columns": ["n"]}, {"geometry_encoding": "native", "coords": "separated"}])
def test_equal(connection, monkeypatch, selection):
    in_cache(connection, "large.csv")
    files = taken(monkeypatch)
    table = connection.table("large.csv", **selection).arrow()
    assert len(files) == 1
    want = streamed(connection, "large.csv", **selection)
    assert table.schema.equals(want.schema, check_metadata=True)
    assert table.equals(want)
    table.validate(full=True)


@pytest.mark.parametrize(
    "selection",
    [{"bbox": (0, 0, 10, 10)}, {"rows": (5, 100_000)}, {"limit": 7}, {"geometry_encoding": "wkb"}, {"coords": "interleaved"}],
)
def test_parts_are_streams(connection, monkeypatch, selection):
    in_cache(connection, "large.csv")
    files = taken(monkeypatch)
    table = connection.table("large.csv", **selection).arrow()
    assert not files
    assert table.equals(streamed(connection, "large.csv", **selection))


def test_nothing_is_copied(connection, monkeypatch):
    in_cache(connection, "large.csv")
    files = taken(monkeypatch)
    before = pa.total_allocated_bytes()
    table = connection.table("large.csv").arrow()
    assert pa.total_allocated_bytes() - before < table.nbytes / 20
    assert files
    assert table.column("n").chunk(0).buffers()[1].is_mutable is False


def drops_to(server, idle):
    """Waits until the server has no more than so many open files."""
    for _ in range(1000):
        if server.open_files() <= idle:
            return
        time.sleep(0.01)
    raise AssertionError(f"the server has {server.open_files()} open files, and had {idle}")


def test_lease_ends_with_the_last_buffer(local, connection):
    in_cache(connection, "large.csv")
    idle = local.open_files()
    column = connection.table("large.csv").arrow().column("n")
    gc.collect()
    assert local.open_files() > idle
    assert column[-1].as_py() == 1_199_999
    del column
    gc.collect()
    drops_to(local, idle)


def test_file_that_changes(data, connection):
    path = data / "changing.csv"
    rows = 200_000
    path.write_text("n\n" + "".join(f"{i}\n" for i in range(rows)))
    connection.refresh()
    first = connection.table("changing.csv")
    before = first.arrow()
    in_cache(connection, "changing.csv")
    path.write_text("n\n" + "".join(f"{-i}\n" for i in range(rows)))
    connection.refresh()
    assert first.arrow().column("n")[-1].as_py() == 1 - rows
    assert before.column("n")[-1].as_py() == rows - 1
    path.unlink()
    connection.refresh()


def test_server_that_is_killed(data, tmp_path):
    """A mapped table outlives its server, and the next server has it too."""
    cache, at = tmp_path / "cache", f"unix://{tmp_path}/v.sock"
    with Server(data, listen=at, cache=cache) as server, vibeflight.connect(server.uri, progress=False) as connection:
        in_cache(connection, "large.csv")
        table = connection.table("large.csv").arrow()
        server.kill()
    assert table.column("n")[1_199_999].as_py() == 1_199_999
    with Server(data, listen=at, cache=cache) as server, vibeflight.connect(server.uri, progress=False) as connection:
        in_cache(connection, "large.csv")
        assert connection.table("large.csv").arrow().equals(table)


CLIENT = """
import sys, vibeflight
with vibeflight.connect(sys.argv[1], progress=False) as connection:
    table = connection.table("large.csv").arrow()
    print(table.num_rows, flush=True)
    sys.stdin.read()
"""


def test_clients_that_are_killed(local, connection):
    in_cache(connection, "large.csv")
    idle = local.open_files()
    path = {**os.environ, "PYTHONPATH": str(pathlib.Path(vibeflight.__file__).parents[1])}
    for _ in range(int(os.environ.get("VIBEFLIGHT_KILLS", "3"))):
        with subprocess.Popen([sys.executable, "-c", CLIENT, local.uri], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=path) as client:
            assert client.stdout.readline() == b"1200000\n"
            client.kill()
    drops_to(local, idle)
