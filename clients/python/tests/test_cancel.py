"""Who leaves early, leaves nothing behind."""

import os
import signal
import threading
import time

import pyarrow as pa
import pytest
from conftest import soon
from pyarrow import flight

import vibeflight


def nothing_is_left(server):
    soon(lambda: server.stats()["held_tables"] == 0)
    soon(lambda: not [t for t in threading.enumerate() if t.name.startswith("vibeflight")])


def test_a_reader_that_is_closed(server):
    with server.table("large.csv").batches(waiting=2) as reader:
        assert next(reader).num_rows == 4096
    nothing_is_left(server)


def test_a_reader_that_is_dropped(server):
    reader = server.table("large.csv").batches(waiting=2)
    next(reader)
    del reader
    nothing_is_left(server)


def test_a_reader_that_was_never_read(server):
    server.table("large.csv").batches()
    nothing_is_left(server)


def test_a_reader_of_pyarrows(server):
    """Closing it is not enough; dropping it is."""
    reader = server.table("large.csv").batches(waiting=2).to_reader()
    assert reader.read_next_batch().num_rows == 4096
    del reader
    nothing_is_left(server)


def test_an_error_of_who_reads(server):
    with pytest.raises(ZeroDivisionError):
        for _ in server.table("large.csv").batches(waiting=2):
            raise ZeroDivisionError
    nothing_is_left(server)


signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever runs in the background of a shell is born deaf to interrupts


class Endless(flight.FlightServerBase):
    """A server whose rows never end, and whose `slow` takes its time to describe."""

    def __init__(self):
        super().__init__("grpc://127.0.0.1:0")
        self.streams = 0
        self.left = threading.Event()

    def get_flight_info(self, context, descriptor):
        if b"slow" in descriptor.command:
            self.left.wait(5)
        return flight.FlightInfo(pa.schema([("n", pa.int64())]), descriptor, [flight.FlightEndpoint(b"endless", [])] * 3, -1, -1)

    def do_get(self, context, ticket):
        def rows():
            try:
                while True:
                    yield pa.record_batch({"n": pa.array(range(1000))})
                    time.sleep(0.005)
            finally:
                self.streams -= 1

        self.streams += 1
        return flight.GeneratorStream(pa.schema([("n", pa.int64())]), rows())


@pytest.mark.parametrize(
    "ask", [lambda t: t.arrow(), lambda t: t.batches(waiting=2).read_all(), lambda t: [*t.batches()]], ids=["arrow", "read_all", "iterated"]
)
def test_interrupt(ask):
    with Endless() as endless, vibeflight.connect(f"127.0.0.1:{endless.port}") as server:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            ask(server.table("endless"))
        soon(lambda: endless.streams == 0)
    soon(lambda: not [t for t in threading.enumerate() if t.name == "vibeflight pull"])


def test_interrupt_while_the_server_parses():
    """The call can't be taken back, but nobody has to wait for it, even with Polars, whose handler of interrupts lets waits go on."""
    import polars  # noqa: F401

    with Endless() as endless, vibeflight.connect(f"127.0.0.1:{endless.port}") as server:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            server.table("slow").info  # noqa: B018
        assert not endless.left.is_set()
        endless.left.set()
    soon(lambda: not [t for t in threading.enumerate() if t.name.startswith("vibeflight")])
