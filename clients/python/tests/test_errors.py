"""What goes wrong, as whoever calls sees it."""

import http.server
import os
import socket
import threading

import pyarrow as pa
import pytest
from pyarrow import flight
from serving import Server, free_port

import vibeflight


def test_no_such_entry(server):
    with pytest.raises(vibeflight.NotFound) as caught:
        server.table("gird.geojson").arrow()
    assert str(caught.value).startswith('no entry "gird.geojson"; the closest are "grid.geojson"')
    assert caught.value.closest[0] == "grid.geojson"
    assert isinstance(caught.value, KeyError)


@pytest.mark.parametrize("ask, kind, theirs, words", [
    (lambda s: s.table("broken.geojson").arrow(), vibeflight.Invalid, pa.ArrowInvalid, r"^broken\.geojson: geojson: byte \d+.*[^.]$"),
    (lambda s: s.table("broken.geojson").batches(), vibeflight.Invalid, pa.ArrowInvalid, r"^broken\.geojson: geojson: byte \d+"),
    (lambda s: s.table("grid.geojson", columns=["nme"]).info, vibeflight.Invalid, ValueError, r'^command: .*"nme".*nearest is "name"|"nme".*"name"'),
    (lambda s: s.table("grid.geojson", limit=-1).arrow(), vibeflight.Invalid, pa.ArrowInvalid, 'field "limit": -1 is negative$'),
    (lambda s: s.sql("SELECT nothing FROM grid").arrow(), vibeflight.Invalid, pa.ArrowInvalid, "nothing"),
    (lambda s: s.put("x.arrow", pa.table({"a": [1]})), vibeflight.Unsupported, NotImplementedError, "read-only"),
], ids=["malformed", "malformed stream", "column", "limit", "sql", "put"])  # fmt: skip
def test_kinds(server, ask, kind, theirs, words):
    with pytest.raises(kind, match=words) as caught:
        ask(server)
    assert isinstance(caught.value, theirs) and isinstance(caught.value, vibeflight.Error)
    assert "gRPC" not in str(caught.value) and "context" not in str(caught.value)


def test_limits(data):
    with Server(data, "--max-file-bytes", "1000") as running, vibeflight.connect(running.uri) as server, \
            pytest.raises(vibeflight.LimitExceeded, match="--max-file-bytes"):  # fmt: skip
        server.table("grid.geojson").arrow()


def test_nobody_there():
    with vibeflight.connect(f"127.0.0.1:{free_port()}") as server, pytest.raises(vibeflight.Unavailable) as caught:
        server.list()
    assert isinstance(caught.value, flight.FlightUnavailableError)


def test_the_address_of_http():
    class NotFound(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), NotFound) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        with vibeflight.connect(f"127.0.0.1:{web.server_port}") as server, pytest.raises(vibeflight.Unavailable, match="not to that of --http"):
            server.list()
        web.shutdown()


def test_timeout():
    with socket.create_server(("127.0.0.1", 0)) as silent:  # connections are made, and nobody answers
        uri = f"127.0.0.1:{silent.getsockname()[1]}"
        with vibeflight.connect(uri, timeout=0.3) as server, pytest.raises(vibeflight.TimedOut):
            server.list()


def test_a_closed_connection(running):
    server = vibeflight.connect(running.uri)
    server.close()
    with pytest.raises(ValueError, match="closed"):
        server.list()


def test_a_server_that_was_away(data):
    """The first call after a restart finds a dead connection, and is made again."""
    address = f"127.0.0.1:{free_port()}"
    with vibeflight.connect(address) as server:
        with Server(data, listen=address):
            assert server.table("grid.geojson").arrow().num_rows == 100
        with Server(data, listen=address):
            assert server.table("grid.geojson").arrow().num_rows == 100


def features(folder, n, **properties):
    """A file of n rows, put in place at once."""
    rows = ",".join(f'{{"type":"Feature","properties":{{"n":{i},"s":"{"x" * 200}"}},"geometry":null}}' for i in range(n))
    (folder / "new").write_text(f'{{"type":"FeatureCollection","features":[{rows}]}}'.replace('"n"', f'"{properties.get("name", "n")}"'))
    os.replace(folder / "new", folder / "a.geojson")


@pytest.fixture
def changing(tmp_path):
    features(tmp_path, 3)
    with Server(tmp_path, "--batch-rows", "10") as running, vibeflight.connect(running.uri) as server:
        yield tmp_path, server


def test_a_file_that_changed_is_read_from_its_new_start(changing):
    folder, server = changing
    selection = server.table("a.geojson")
    assert selection.info.rows == 3
    features(folder, 5, name="m")
    server.refresh()
    got = selection.arrow()
    assert (got.num_rows, got.column_names[0]) == (5, "m")
    assert selection.info.rows == 5


def test_a_stream_of_a_file_that_changed(changing):
    """Its schema has been told: so the new file has to have the same one."""
    folder, server = changing
    same, other = server.table("a.geojson").batches(), server.table("a.geojson").batches()
    features(folder, 5)
    server.refresh()
    assert same.read_all().num_rows == 5
    features(folder, 5, name="m")
    server.refresh()
    with pytest.raises(vibeflight.FileChanged, match=r"a\.geojson changed"):
        other.read_all()


def test_a_file_that_changes_under_rows_that_were_handed_out(tmp_path):
    """The second endpoint is asked for after the change; the first one's rows are out by then."""
    path = tmp_path / "a.csv"
    path.write_text("n\n" + "".join(f"{i}\n" for i in range(600_000)))
    with Server(tmp_path, "--batch-rows", "1000") as running, vibeflight.connect(running.uri) as server:
        reader = server.table("a.csv", workers=1).batches(waiting=1)
        assert next(reader).num_rows == 1000
        path.write_text("n\n1\n")
        server.refresh()
        with pytest.raises(vibeflight.FileChanged, match=r"a\.csv changed: version"):
            reader.read_all()
