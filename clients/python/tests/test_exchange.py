"""Files that are sent, and tables that are stored: first beside a server of pyarrow's that says what it got and answers as it is told."""

import json
import os
import threading

import geopandas
import numpy as np
import polars
import pyarrow as pa
import pytest
from conftest import soon
from pyarrow import flight

import vibeflight
from vibeflight import exchange
from vibeflight.exchange import CHUNK_BYTES

SIZES = pa.schema([("bytes", pa.int64())])


class Counting(flight.FlightServerBase):
    """Answers an exchange with the size of each message: at the end, or where the format is `early` at once; `wrong` is refused in the middle."""

    def __init__(self):
        super().__init__("grpc://127.0.0.1:0")
        self.command, self.stored = None, {}

    def do_exchange(self, context, descriptor, reader, writer):
        self.command = json.loads(descriptor.command)
        sizes = []
        early = self.command["format"] == "early"
        if early:
            writer.begin(SIZES)
        for chunk in reader:
            sizes.append(len(chunk.data[0][0].as_py()))
            if self.command["format"] == "wrong":
                raise pa.ArrowInvalid("a.wrong: byte 3: no")
            if early:
                writer.write_batch(pa.record_batch([pa.array([sizes[-1]] * 100_000)], schema=SIZES))
        if not early:
            writer.begin(SIZES)
            writer.write_batch(pa.record_batch([pa.array(sizes, pa.int64())], schema=SIZES))

    def do_put(self, context, descriptor, reader, writer):
        command = json.loads(descriptor.command)
        if command["mode"] == "append":
            raise KeyError("no entry")
        batches = [chunk.data for chunk in reader]
        self.stored[command["name"]] = batches
        writer.write(json.dumps({"name": command["name"], "rows": sum(b.num_rows for b in batches)}).encode())


@pytest.fixture
def counting():
    with Counting() as c:
        yield c


@pytest.fixture
def connection(counting):
    with vibeflight.connect(f"127.0.0.1:{counting.port}") as c:
        yield c


def nothing_runs():
    soon(lambda: not [t for t in threading.enumerate() if t.name.startswith("vibeflight")])


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES])
def test_every_byte_is_sent(connection, counting, tmp_path, size):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * size)
    want = [CHUNK_BYTES] * (size // CHUNK_BYTES) + [size % CHUNK_BYTES] * (size % CHUNK_BYTES > 0)
    assert connection.parse(path, "csv").arrow()["bytes"].to_pylist() == want
    assert counting.command == {"format": "csv", "name": "a.csv", "size": size}
    assert connection.parse(path.read_bytes(), "csv", columns="n", bbox=[0, 0, 1, 1], layer="l", options={"a": 1}).arrow()["bytes"].to_pylist() == want
    assert counting.command == {"format": "csv", "size": size, "columns": ["n"], "bbox": [0, 0, 1, 1], "layer": "l", "options": {"a": 1}}
    nothing_runs()


@pytest.fixture
def impatient(monkeypatch):
    """A client that looks soon whether the server does not take any more."""
    monkeypatch.setattr(exchange, "BLOCKED_SECONDS", 0.02)


def test_an_answer_that_comes_while_the_file_is_sent(connection, impatient):
    """800 KB come back for each MiB: more than both ends hold for each other, so the answer must be read while the file is sent."""
    table = connection.parse(b"x" * (64 * CHUNK_BYTES), "early").arrow()
    assert table.num_rows == 64 * 100_000 and set(table["bytes"].unique().to_pylist()) == {CHUNK_BYTES}
    nothing_runs()


@pytest.mark.parametrize("size", [10, 64 * CHUNK_BYTES])
def test_a_file_that_is_refused(connection, size):
    with pytest.raises(pa.ArrowInvalid, match=r"a\.wrong: byte 3: no"):
        connection.parse(b"x" * size, "wrong").arrow()
    nothing_runs()


def test_a_file_that_is_not_there(connection, tmp_path):
    with pytest.raises(FileNotFoundError):
        connection.parse(tmp_path / "a.csv")


def test_a_file_that_goes_away(connection, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x")
    parsed = connection.parse(path, "csv")
    os.unlink(path)
    with pytest.raises(FileNotFoundError):
        parsed.arrow()
    nothing_runs()


def test_leaving_an_exchange(connection, impatient):
    parsed = connection.parse(b"x" * (64 * CHUNK_BYTES), "early")
    with parsed.batches(waiting=1) as batches:
        next(batches)
    parsed.batches(waiting=1)  # nobody reads it
    assert parsed.schema == SIZES
    del batches
    nothing_runs()


@pytest.mark.parametrize("data", [
    pa.table({"a": [1, 2, 3]}),
    pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), [pa.record_batch({"a": [1, 2, 3]})]),
    polars.DataFrame({"a": [1, 2, 3]}),
    geopandas.GeoDataFrame({"a": [1, 2, 3]}, geometry=geopandas.points_from_xy([1, 2, 3], [1, 2, 3]), crs="EPSG:4326"),
], ids=lambda d: type(d).__module__ + "." + type(d).__name__)  # fmt: skip
def test_put(connection, counting, data):
    assert connection.put("a/b", data) == {"name": "a/b", "rows": 3}
    assert pa.Table.from_batches(counting.stored["a/b"])["a"].to_pylist() == [1, 2, 3]


def test_put_sends_pieces(connection, counting):
    table = pa.table({"a": np.arange(2_000_000), "b": np.arange(2_000_000)})
    connection.put("a", table)
    assert pa.Table.from_batches(counting.stored["a"]).equals(table)
    assert max(batch.nbytes for batch in counting.stored["a"]) <= 8 << 20


def test_put_mistakes(connection):
    with pytest.raises(TypeError, match="speaks Arrow"):
        connection.put("a", [1, 2])
    with pytest.raises(KeyError, match="no entry"):
        connection.put("a", pa.table({"a": [1]}), mode="append")
