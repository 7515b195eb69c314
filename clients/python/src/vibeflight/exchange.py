"""Sends the bytes of a file and receives its table. The server stores nothing."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import flight

from .channel import Channel, Part, interruptible
from .errors import Unavailable, translated
from .info import Info
from .result import Answer, Result, Settings
from .ticket import GeometryEncoding, fitting

CHUNK_BYTES = 1 << 20  # of the file in a message
BLOCKED_SECONDS = 1.0  # without a message that the server takes: it waits for its answer to be read
BYTES = pa.schema([pa.field("bytes", pa.binary(), nullable=False)])


class File(NamedTuple):
    """The data to send: a file, or bytes in memory."""

    name: str  # "" for bytes without one
    size: int
    content: pathlib.Path | memoryview

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Yields the bytes in pieces."""
        if isinstance(self.content, memoryview):
            for at in range(0, self.size, CHUNK_BYTES):
                yield self.content[at : at + CHUNK_BYTES]
            return
        with self.content.open("rb") as f:
            while chunk := f.read(CHUNK_BYTES):
                yield chunk


def file_of(source: str | os.PathLike[str] | bytes | bytearray | memoryview, name: str) -> File:
    """Returns a File for a path or for bytes. A path that cannot be opened raises an OSError."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        content = memoryview(source).cast("B")
        return File(name, len(content), content)
    path = pathlib.Path(source)
    return File(name or path.name, path.stat().st_size, path)


class Parsed(Result):
    """What Connection.parse gives: the table of a file of this machine's, which is sent and parsed each time that the rows are called for.

    The rows come over one stream, after the server has read the last byte.
    """

    def __init__(self, channel: Channel, settings: Settings, file: File, command: dict[str, Any]) -> None:
        super().__init__(channel, settings)
        self._file = file
        self._command = command

    def __repr__(self) -> str:
        return f"<vibeflight.Parsed of {self._file.name or 'bytes'}>"

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows. The file is sent and parsed for it alone: a table and a stream have it too."""
        return self._ask(again=False).schema

    def _ask(self, again: bool) -> Answer:
        descriptor = flight.FlightDescriptor.for_command(json.dumps(self._command, ensure_ascii=False, allow_nan=False).encode())
        exchange = Exchange(self._channel, descriptor, self._file)
        info = Info(self._file.name or "exchange", None, None, schema := exchange.schema(), {})
        return Answer(info, schema, [Part(b"")], exchange.take)

    def _with_geometry(self, *fit: GeometryEncoding) -> Result:
        encoding = fitting(self._command.get("geometry_encoding"), fit)
        if encoding is None:
            return self
        return Parsed(self._channel, self._settings, self._file, {**self._command, "geometry_encoding": encoding})


class Exchange:
    """A file on its way to the server, and the stream that comes back. One that nobody refers to any more is cancelled.

    A thread sends: an answer may begin before the last byte is there, and both ends would wait for each other if nobody read it. pyarrow's writer lives as long
    as the answer is read: when it goes, it takes what has not been read with it.

    The answer is read when everything is sent, or when the server does not take any more. For pyarrow ends the call when it reads the end of the answer, and
    gRPC aborts the process if another thread sends at that moment.
    """

    def __init__(self, channel: Channel, descriptor: flight.FlightDescriptor, file: File) -> None:
        self._sending = Sending()
        self._writer, self._reader = channel.exchange(descriptor)
        # It must not refer to self.
        self._sender = threading.Thread(target=_send, args=(self._writer, self._reader, file, self._sending), name="vibeflight send", daemon=True)
        self._sender.start()
        self._taken = self._ended = False

    def __del__(self) -> None:
        if hasattr(self, "_sender"):
            self._end()

    def schema(self) -> pa.Schema:
        """Waits for the schema of the answer."""
        schema: pa.Schema = interruptible(lambda: self._read(lambda: self._reader.schema))
        return schema

    def take(self, _: Part, _lane: int) -> Exchange:
        """Returns the stream. It can be called once."""
        if self._taken:
            raise Unavailable("the exchange was lost: send the file again")
        self._taken = True
        return self

    def read_chunk(self) -> Any:
        """Returns the next batch, or raises StopIteration."""
        return self._read(self._reader.read_chunk)

    def cancel(self) -> None:
        """Ends the exchange at any point."""
        self._reader.cancel()

    def _read(self, read: Callable[[], Any]) -> Any:
        """Returns the result of read. If it fails because the local file could not be read, that error is raised."""
        try:
            with translated():
                self._await_sender()
                return read()
        except BaseException as e:
            self._end()
            if self._sending.failure is not None and not isinstance(e, StopIteration):
                raise self._sending.failure from None
            raise

    def _await_sender(self) -> None:
        """Waits until everything is sent, or nothing more was taken for a while."""
        before = -1
        while self._sender.is_alive() and before != self._sending.chunks:
            before = self._sending.chunks
            self._sender.join(BLOCKED_SECONDS)

    def _end(self) -> None:
        """Releases the writer and the reader."""
        if self._ended:
            return
        self._ended = True
        self._reader.cancel()
        self._sender.join()
        with contextlib.suppress(pa.ArrowException):
            self._writer.close()


class Sending:
    """How far a file is sent."""

    def __init__(self) -> None:
        self.chunks = 0
        self.failure: BaseException | None = None  # of reading the file


def _send(writer: Any, reader: Any, file: File, sending: Sending) -> None:
    try:
        writer.begin(BYTES)
        for chunk in file.chunks():
            writer.write_batch(pa.record_batch([pa.array([chunk], pa.binary())], schema=BYTES))
            sending.chunks += 1
        writer.done_writing()
    except pa.ArrowException:
        pass  # the exchange is over, and the reader gets the error
    except BaseException as e:  # raised in the thread of the reader
        sending.failure = e
        reader.cancel()
