"""Endpoints side by side: order, how much waits, errors, and who stops whom."""

import threading
import time

import pyarrow as pa
import pytest
from conftest import LARGE_ROWS, soon

import vibeflight
from vibeflight.channel import Part
from vibeflight.endpoints import Pull


class Stream:
    """Stands in for pyarrow's reader: batches of one number each, read slowly if wanted, or an error in the end."""

    def __init__(self, numbers, error=None, delay=0.0):
        self.numbers, self.error, self.delay = list(numbers), error, delay
        self.read, self.cancelled = 0, False

    def read_chunk(self):
        time.sleep(self.delay)
        if self.cancelled:
            raise vibeflight.Cancelled("cancelled")
        if self.read == len(self.numbers):
            raise self.error or StopIteration
        self.read += 1
        n = self.numbers[self.read - 1]
        return Chunk(n if isinstance(n, pa.RecordBatch) else pa.record_batch({"n": n if isinstance(n, list) else [n]}))

    def cancel(self):
        self.cancelled = True


class Chunk:
    def __init__(self, data):
        self.data = data


def pull(streams, workers=4, waiting=None):
    parts = [Part(bytes([i])) for i in range(len(streams))]
    return Pull(parts, lambda part, lane: streams[part.ticket[0]], workers=workers, waiting=waiting).batches()


def numbers(batches):
    return [batch["n"][0].as_py() for batch in batches]


@pytest.mark.parametrize("workers", [1, 3, 16])
@pytest.mark.parametrize("waiting", [1, 2, 5, None])
@pytest.mark.parametrize("slow", [None, 0, 2])
def test_order_is_kept(workers, waiting, slow):
    streams = [Stream(range(i * 10, i * 10 + 10), delay=0.002 if i == slow else 0) for i in range(6)]
    assert numbers(pull(streams, workers, waiting)) == list(range(60))


def test_no_parts_and_empty_parts():
    assert numbers(pull([])) == []
    assert numbers(pull([Stream([]), Stream([1]), Stream([])], waiting=1)) == [1]


@pytest.mark.parametrize("waiting", [1, 4])
def test_what_waits_is_bounded(waiting):
    """However slow the reader is; each thread holds one more that it could not put down."""
    streams = [Stream(range(100)) for _ in range(5)]
    batches = pull(streams, workers=3, waiting=waiting)
    for seen in range(1, 21):
        next(batches)
        time.sleep(0.01)
        assert sum(s.read for s in streams) - seen <= waiting + 1 + 3
    batches.close()


def test_an_error_comes_in_its_turn():
    """Behind the rows in front of it; of several the first one; and nothing goes on behind it."""
    streams = [Stream([1, 2]), Stream([3], vibeflight.Invalid("bad")), Stream([4], vibeflight.Invalid("worse")), Stream(range(10_000), delay=0.001)]
    got = []
    with pytest.raises(vibeflight.Invalid, match="bad"):
        for batch in pull(streams):
            got.append(batch["n"][0].as_py())
    assert got == [1, 2, 3]
    assert streams[3].cancelled or not streams[3].read


def test_a_lost_endpoint_is_opened_once_more():
    opened = []

    def open(part, lane):
        opened.append(part)
        lost = len(opened) == 1
        return Stream([] if lost else [7], vibeflight.Unavailable("gone") if lost else None)

    assert numbers(Pull([Part(b"")], open, workers=1, waiting=1).batches()) == [7]
    assert len(opened) == 2


def test_a_version_is_read_on_at_the_next_location():
    """Each row comes once, wherever the streams break and their batches begin."""
    part = Part(b'{"name":"a","version":"1"}', ("grpc://a:1", "grpc://b:1", "grpc://c:1"))
    lost = vibeflight.Unavailable("gone")
    streams = [Stream([0, 1, 2], lost), Stream([0], lost), Stream([[0, 1, 2, 3], [4]], lost), Stream([[0, 1], [2, 3], [4, 5], [6]])]
    opened = []

    def open(part, lane):
        opened.append(part.locations[0])
        return streams[len(opened) - 1]

    batches = list(Pull([part], open, workers=1, waiting=1).batches())
    assert [n for batch in batches for n in batch["n"].to_pylist()] == list(range(7))
    assert opened == ["grpc://a:1", "grpc://b:1", "grpc://c:1", "grpc://a:1"]


def test_each_location_is_tried_until_there_is_a_new_row():
    opened = []

    def open(part, lane):
        opened.append(part.locations[0])
        return Stream([0], vibeflight.Unavailable("gone"))

    with pytest.raises(vibeflight.Unavailable):
        list(Pull([Part(b'{"name":"a","version":"1"}', ("grpc://a:1", "grpc://b:1"))], open, workers=1, waiting=1).batches())
    assert opened == ["grpc://a:1", "grpc://b:1", "grpc://a:1"]


@pytest.mark.parametrize("second, error", [
    (pa.record_batch({"m": [0, 1]}), vibeflight.FileChanged),
    (pa.record_batch({"n": [0]}), vibeflight.Internal),
], ids=["another schema", "fewer rows"])  # fmt: skip
def test_another_table_is_not_read_on(second, error):
    streams = [Stream([0, 1], vibeflight.Unavailable("gone")), Stream([second])]
    with pytest.raises(error):
        list(Pull([Part(b'{"name":"a","version":"1"}')], lambda part, lane: streams.pop(0), workers=1, waiting=1).batches())


def test_rows_that_were_handed_out_are_not_fetched_again():
    with pytest.raises(vibeflight.Unavailable):
        numbers(pull([Stream([1, 2], vibeflight.Unavailable("gone"))]))


def threads():
    return [t for t in threading.enumerate() if t.name.startswith("vibeflight")]


def test_leaving_stops_everything():
    streams = [Stream(range(1000), delay=0.001) for _ in range(5)]
    batches = pull(streams, workers=3, waiting=2)
    next(batches)
    batches.close()
    assert [s.cancelled for s in streams] == [True] * 3 + [False] * 2
    soon(lambda: not threads())


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_a_large_table_in_order(server, plain, workers):
    selection = server.table("large.csv", columns=["n"], workers=workers)
    assert len(plain.get_flight_info(pa.flight.FlightDescriptor.for_path("large.csv")).endpoints) == 5
    want = pa.array(range(LARGE_ROWS), pa.int32())
    got = selection.arrow()
    assert got["n"].combine_chunks().equals(want)
    assert got["n"].num_chunks == -(-LARGE_ROWS // 4096)
    with selection.batches(waiting=3) as reader:
        assert reader.read_all()["n"].combine_chunks().equals(want)


def test_waiting_wants_a_number(server):
    with pytest.raises(ValueError, match="waiting: want 1"):
        server.table("grid.geojson").batches(waiting=0)
