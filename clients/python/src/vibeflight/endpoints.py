"""Reads the endpoints of a table in parallel, and returns their batches in order."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

import pyarrow as pa

from .channel import RETRY_SECONDS, SIGNAL_SECONDS, Part, next_batch
from .errors import FileChanged, Internal, Unavailable
from .ticket import said_in

Open = Callable[[Part, int], Any]  # gives a FlightStreamReader; the number is that of the thread, which reads one stream at a time


class Progress:
    """What was read of a part: the number of rows, whether there was a batch, and its schema."""

    def __init__(self) -> None:
        self.rows = 0
        self.begun = False
        self.schema: pa.Schema | None = None


def _names_version(part: Part) -> bool:
    """Whether the ticket of a part is for one version of a file."""
    try:
        return "version" in said_in(part.ticket)
    except ValueError:  # a ticket of Flight SQL
        return False


class Pull:
    """The batches of parts, one part after the other, read by several threads.

    workers  parts that are read at the same time, in order
    waiting  batches that may be read and not handed out yet, one more at most; None: any number
    retry    whether an endpoint that is not reached, or is lost, is opened again: the next of its locations first, each once until there is a new row. The
             rows of a version of a file have one order on all servers, so a ticket that names one continues after the last row; others begin anew, and are
             lost after their first batch

    The part whose turn it is may always have one batch waiting, so readers of later parts that have used the room up never stop it. The first
    error ends the pull, in order: batches in front of it are handed out.
    """

    def __init__(self, parts: Sequence[Part], open: Open, *, workers: int, waiting: int | None, retry: bool = True) -> None:
        self._parts = parts
        self._retry = retry
        self._open = open
        self._room = waiting
        self._change = threading.Condition()
        # Everything below is under _change.
        self._lines: list[deque[pa.RecordBatch]] = [deque() for _ in parts]
        self._ended = [False] * len(parts)
        self._errors: dict[int, BaseException] = {}
        self._readers: dict[int, Any] = {}
        self._waiting = 0
        self._turn = 0  # the part that is handed out
        self._next = 0  # the part that the next free thread reads
        self._stopped = False
        self._threads = [threading.Thread(target=self._work, args=(lane,), name="vibeflight pull", daemon=True) for lane in range(min(workers, len(parts)))]

    def batches(self) -> Generator[pa.RecordBatch, None, None]:
        """The batches, once. Closing the generator, an error and a KeyboardInterrupt all cancel what is under way."""
        for thread in self._threads:
            thread.start()
        try:
            for i in range(len(self._parts)):
                while (batch := self._take(i)) is not None:
                    yield batch
        finally:
            self._stop()

    def _take(self, i: int) -> pa.RecordBatch | None:
        """Returns the next batch of part i, the current one, or None at its end."""
        with self._change:
            self._turn = i
            self._change.notify_all()
            while not self._lines[i] and not self._ended[i]:
                self._change.wait(SIGNAL_SECONDS)
            if self._lines[i]:
                self._waiting -= 1
                self._change.notify_all()
                return self._lines[i].popleft()
            if i in self._errors:
                raise self._errors[i]
            return None

    def _stop(self) -> None:
        with self._change:
            self._stopped = True
            self._change.notify_all()
            readers = list(self._readers.values())
            for line in self._lines:
                line.clear()
        for reader in readers:
            reader.cancel()

    def _work(self, lane: int) -> None:
        while True:
            with self._change:
                i = self._next
                if self._stopped or self._errors or i == len(self._parts):
                    return
                self._next += 1
            error: BaseException | None = None
            try:
                self._read(i, lane)
            except BaseException as e:  # raised by _take, in the thread of the reader
                error = e
            with self._change:
                if error is not None:
                    self._errors[i] = error
                self._ended[i] = True
                self._readers.pop(i, None)
                self._change.notify_all()

    def _read(self, i: int, lane: int) -> None:
        """Reads part i until its end, or until the pull is stopped."""
        part, failures = self._parts[i], 0
        progress = Progress()
        while True:
            before = progress.rows
            try:
                self._try(i, part, lane, progress)
                return
            except Unavailable:
                failures = failures + 1 if progress.rows == before else 1
                if not self._retry or failures > max(1, len(part.locations)) or (progress.begun and not _names_version(part)):
                    raise
            part = part._replace(locations=part.locations[1:] + part.locations[:1])
            time.sleep(RETRY_SECONDS)

    def _try(self, i: int, part: Part, lane: int, progress: Progress) -> None:
        """Reads a stream of part i, and leaves out the rows that earlier ones gave."""
        reader, batch = self._begin(i, part, lane)
        at = 0  # rows of this stream
        while batch is not None:
            first, at = at, at + batch.num_rows
            if progress.schema is not None and not batch.schema.equals(progress.schema, check_metadata=True):
                raise FileChanged("the schema of the rows changed while they were read: the servers have different settings")
            if not progress.begun or at > progress.rows:
                rest = batch.slice(progress.rows - first) if first < progress.rows else batch
                progress.schema, progress.begun = batch.schema, True
                if not self._hand(i, rest):
                    return
                progress.rows = at
            batch = next_batch(reader)
        if at < progress.rows:
            raise Internal(f"the server gave {at} rows, after {progress.rows} before: {part.ticket.decode(errors='replace')}")

    def _begin(self, i: int, part: Part, lane: int) -> tuple[Any, pa.RecordBatch | None]:
        """Opens a stream of part i and reads its first batch."""
        reader = self._open(part, lane)
        with self._change:
            self._readers[i] = reader
            stopped = self._stopped
        if stopped:
            reader.cancel()
            return reader, None
        return reader, next_batch(reader)

    def _hand(self, i: int, batch: pa.RecordBatch) -> bool:
        """Queues a batch of part i as soon as there is space. Returns False if the pull was stopped."""
        with self._change:
            while not self._stopped and not self._has_room(i):
                self._change.wait()
            if self._stopped:
                return False
            self._lines[i].append(batch)
            self._waiting += 1
            self._change.notify_all()
            return True

    def _has_room(self, i: int) -> bool:
        return self._room is None or self._waiting < self._room or (i == self._turn and not self._lines[i])
