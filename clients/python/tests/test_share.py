"""A table of a server on this machine is mapped, with the values of the stream."""

import gc
import json
import os
import pathlib
import signal
import socket
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
    """Asks for a table's file until the server has one, takes it, and waits until the server has closed it."""
    for _ in range(1000):
        try:
            (answer,) = connection.client.do_action(("share", name.encode()))
            break
        except pa.ArrowException as e:
            assert "no file of the cache" in str(e), e
            time.sleep(0.02)
    else:
        raise AssertionError(f"{name} is not in the cache")
    path, key = connection.location.removeprefix(share.UNIX) + share.SUFFIX, json.loads(answer.body.to_pybytes())["key"]
    lease, mark, descriptors = share.handed(path, key)
    with lease:
        assert mark == b"F" and len(descriptors) == 1
        os.close(descriptors[0])
        lease.shutdown(socket.SHUT_WR)
        assert lease.recv(1) == b""


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


@pytest.mark.parametrize("batches", [0, 1, share.WORKER_BATCHES - 1, 2 * share.WORKER_BATCHES, 5 * share.WORKER_BATCHES + 3])
@pytest.mark.parametrize("names", [["a", "b", "c"], ["c", "a"], ["b"], []])
def test_order_of_batches(batches, names):
    """Rows are in the order of the file, however many threads read it; columns and metadata are those that were asked for."""
    fields = [pa.field("a", pa.int64()), pa.field("b", pa.utf8(), metadata={"b": "file"}), pa.field("c", pa.struct([("x", pa.float64())]))]
    sink = pa.BufferOutputStream()
    stored = pa.schema(fields, {"of": "file"})
    with pa.ipc.new_file(sink, stored) as writer:
        rows = [{"a": i, "b": str(i), "c": {"x": i / 2}} for i in range(3 * batches)]
        for i in range(batches):
            writer.write_batch(pa.RecordBatch.from_pylist(rows[3 * i : 3 * i + 3], schema=stored))
    asked = pa.schema([{f.name: f for f in fields}[name].with_metadata({"asked": name}) for name in names], {"of": "server"})
    table = share._table(sink.getvalue(), asked)
    assert table.schema.equals(asked, check_metadata=True)
    assert table.num_rows == 3 * batches
    assert table.to_pylist() == [{name: row[name] for name in names} for row in rows]


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


KILLS = int(os.environ.get("VIBEFLIGHT_KILLS", "3"))


def test_servers_that_are_killed(tmp_path, monkeypatch):
    """Each server is killed while a client has its table, and every second time the file changes then. Mapped rows stay, and new ones are right."""
    data, at, held, files = tmp_path / "data", f"unix://{tmp_path}/v.sock", [], taken(monkeypatch)
    data.mkdir()
    for i in range(KILLS + 1):
        step = i // 2 + 1
        if i % 2 == 0:
            (data / "steps.csv").write_text("n\n" + "".join(f"{k * step}\n" for k in range(400_000)))
        with Server(data, listen=at, cache=tmp_path / "cache") as server, vibeflight.connect(server.uri, progress=False) as connection:
            in_cache(connection, "steps.csv")
            column = connection.table("steps.csv").arrow().column("n")
            assert len(files) == 1
            files.clear()
            assert column[399_999].as_py() == 399_999 * step
            held = [*held[-9:], (column, step)]
            server.kill()
        assert all(column[399_999].as_py() == 399_999 * step for column, step in held)


# Forks a client for each line of stdin, since importing pyarrow takes longer than all that it does.
CLIENTS = """
import os, signal, sys, vibeflight
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in sys.stdin:
    if os.fork() == 0:
        with vibeflight.connect(sys.argv[1], progress=False) as connection:
            table = connection.table("large.csv").arrow()
            print(os.getpid(), table.num_rows, flush=True)
            signal.pause()
"""


def test_clients_that_are_killed(local, connection):
    in_cache(connection, "large.csv")
    idle = local.open_files()
    path = {**os.environ, "PYTHONPATH": str(pathlib.Path(vibeflight.__file__).parents[1])}
    command = [sys.executable, "-c", CLIENTS, local.uri]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=path) as clients:
        for _ in range(KILLS):
            clients.stdin.write("\n")
            pid, rows = clients.stdout.readline().split()
            os.kill(int(pid), signal.SIGKILL)
            assert rows == "1200000"
        clients.stdin.close()
    drops_to(local, idle)
    assert connection.table("large.csv").arrow().num_rows == 1_200_000
