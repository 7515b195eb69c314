"""Partitions of a table: each is a task that a distributed engine may run in any process, at any time."""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from .channel import REUSE, Access, Channel, Part
from .endpoints import Pull
from .errors import FileChanged, Internal, Unavailable
from .info import Info
from .ticket import said_in

PATIENCE_SECONDS = 120.0  # a server that is being restarted is away for less
FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS = 0.1, 5.0  # between two rounds over all locations
WAITING = 4  # received batches that wait for the engine


@dataclass(frozen=True)
class Partition:
    """A part of one version of a table, small enough to be sent to a worker. It can be pickled.

    ticket         what the server gives the rows for; it names the version of the file
    locations      servers that have the rows; () means the one that was asked for the table
    rows           their number; None: not known
    bbox           xmin, ymin, xmax, ymax of a box that contains their geometries; None: not known, or there are no geometries
    retry_seconds  how long read() tries again, from the first failure after its last new row
    """

    ticket: bytes
    locations: tuple[str, ...]
    rows: int | None
    bbox: tuple[float, float, float, float] | None
    access: Access = field(repr=False)
    retry_seconds: float = PATIENCE_SECONDS

    @property
    def version(self) -> str | None:
        """The version of the file that the rows are of. Another one is FileChanged."""
        version: str | None = said_in(self.ticket).get("version")
        return version

    def select(self, columns: Iterable[str]) -> Partition:
        """Returns the same rows with these columns only, in this order."""
        ticket = {**said_in(self.ticket), "columns": list(columns)}
        return replace(self, ticket=json.dumps(ticket, ensure_ascii=False, allow_nan=False).encode())

    def read(self) -> Generator[pa.RecordBatch, None, None]:
        """Returns the rows as record batches, each row exactly once and in the order of the file.

        If a server can't be reached, is lost, or does not answer for 40 seconds, the next location is tried, with growing delays between the rounds, until
        retry_seconds have passed without a row: then it is Unavailable. The rows of a version have one order on all servers, so the read continues after the
        last row that was returned. A file that has changed is FileChanged.
        """
        places = [self.access.server if where.startswith(REUSE) else where for where in self.locations] or [self.access.server]
        done, schema = 0, None  # rows that were returned, and their schema
        failures, since = 0, 0.0  # tries since the last row, and when the first of them failed
        while True:
            at = 0  # rows of this try
            try:
                with contextlib.closing(self._batches(places[failures % len(places)])) as batches:
                    for batch in batches:
                        schema = schema or batch.schema
                        if not batch.schema.equals(schema, check_metadata=True):
                            raise FileChanged("the schema of the rows changed while they were read: the servers have different settings")
                        first, at = at, at + batch.num_rows
                        if at > done:
                            rest, done, failures = batch.slice(max(0, done - first)), at, 0
                            yield rest
            except Unavailable:
                now = time.monotonic()
                since, failures = since if failures else now, failures + 1
                if now - since > self.retry_seconds:
                    raise
                if failures % len(places) == 0:
                    time.sleep(_delay(failures // len(places)))
                continue
            if at != (done if self.rows is None else self.rows):
                raise Internal(f"the server gave {at} rows, after {done} before, for a ticket of {self.rows} rows: {self.ticket.decode(errors='replace')}")
            return

    def _batches(self, place: str) -> Generator[pa.RecordBatch, None, None]:
        """The batches of one try. The connection is new: what an engine forks or restarts has none that it could share."""
        channel = Channel(**{**self.access._asdict(), "server": place}, watched=True)
        try:
            yield from Pull([Part(self.ticket)], channel.open, workers=1, waiting=WAITING, retry=False).batches()
        finally:
            channel.close()


class Partitions(list[Partition]):
    """The partitions of a table, in the order of its rows. A list of at least one.

    schema  of the batches of all partitions
    info    describes the table
    """

    def __init__(self, partitions: Iterable[Partition], schema: pa.Schema, info: Info) -> None:
        super().__init__(partitions)
        self.schema = schema
        self.info = info

    def __reduce__(self) -> tuple[Any, ...]:
        return Partitions, (list(self), self.schema, self.info)

    @property
    def bytes_per_row(self) -> float | None:
        """About how much memory a row takes; None: not known."""
        return self.info.bytes / self.info.rows if self.info.bytes and self.info.rows else None


def partitions_of(parts: Iterable[Part], schema: pa.Schema, info: Info, access: Access, retry_seconds: float) -> Partitions:
    """The partitions of the endpoints of a FlightInfo. Those that are known to have no rows are left out, if others have some."""
    every = [Partition(part.ticket, part.locations, part.rows, part.bbox, access, retry_seconds) for part in parts]
    return Partitions([partition for partition in every if partition.rows != 0] or every[:1], schema, info)


def _delay(rounds: int) -> float:
    """How long to wait after a number of rounds in which no location answered. Tasks that failed together do not come back together."""
    return min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** min(rounds - 1, 10)) * random.uniform(0.5, 1.0)
