"""A part of an entry: columns, a box, rows, a limit, and how geometry is encoded."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyarrow import flight

from .channel import Channel, Part
from .device import DeviceTable, shared
from .display import Summary, failure_html, table_html
from .errors import Error
from .extent import in_degrees
from .info import Info, info_of, parts_of
from .partitions import PATIENCE_SECONDS, Partitions, partitions_of
from .result import Answer, Result, Settings
from .share import mapped
from .ticket import GeometryEncoding, Ticket, fitting, narrowed, said_in


class Selection(Result):
    """What Connection.table gives: rows of an entry, which the server parses when they are first asked for.

    What is said of it, info and schema, is remembered, and the rows are of that version of the file. A file that has changed by the time that its rows are
    asked for is described anew, and its rows fetched from the start.
    """

    def __init__(self, channel: Channel, settings: Settings, ticket: Ticket) -> None:
        super().__init__(channel, settings)
        self.ticket = ticket
        self._answer: Answer | None = None

    def __repr__(self) -> str:
        said = ", ".join(f"{field}={value!r}" for field, value in vars(self.ticket).items() if value is not None and field != "name")
        return f"<vibeflight.Selection of {self.ticket.name}{': ' * bool(said)}{said}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: schema, rows, the extent of the whole table on a map. The server parses the file for it."""
        try:
            answer = self._ask(again=False)
            info, t = answer.info, self.ticket
            asked = in_degrees(self._channel, t.bbox, t.crs or info.crs)
            extent = in_degrees(self._channel, info.bbox, info.crs)
        except Error as e:
            return failure_html(repr(self), e)
        notes = ["the extent is that of the whole table"] if info.bbox is not None and (t.bbox or t.rows or t.limit is not None) else []
        return table_html(Summary(t.name, answer.schema, info.rows, info.crs, info.bbox, extent, asked, notes))

    @property
    def info(self) -> Info:
        """How many rows and bytes there are, the reference system, the box. The first look has the server parse the file."""
        return self._ask(again=False).info

    @property
    def schema(self) -> pa.Schema:
        return self._ask(again=False).schema

    def device(self) -> DeviceTable:
        """Returns the table in the memory of the server's GPU, where the server parses the file. Nothing is copied or sent.

        The server is one on this machine with CUDA, reached by its unix socket. Only columns and options may be selected.
        """
        return shared(self._channel, self.ticket)

    def partitions(self, *, retry_seconds: float = PATIENCE_SECONDS) -> Partitions:
        """Returns the endpoints as tasks, which other processes read. All are of one version of the file. See Connection.partitions."""
        answer = self._asked()
        return partitions_of(answer.parts, answer.schema, answer.info, self._channel.access, retry_seconds)

    def _with_geometry(self, *fit: GeometryEncoding) -> Result:
        encoding = fitting(self.ticket.geometry_encoding, fit)
        if encoding == self.ticket.geometry_encoding:
            return self
        return Selection(self._channel, self._settings, replace(self.ticket, geometry_encoding=encoding))

    def _mapped(self, answer: Answer) -> pa.Table | None:
        return mapped(self._channel, self.ticket, [part.ticket for part in answer.parts], answer.schema, answer.info.bytes)

    def _ask(self, again: bool) -> Answer:
        if self._answer is None or again:
            self._answer = self._asked()
        return self._answer

    def _asked(self) -> Answer:
        """A command cannot select a range of rows, so its result is cut here."""
        t = self.ticket
        command = t if t.rows is None else replace(t, rows=None, limit=None)
        descriptor = flight.FlightDescriptor.for_command(command.encode())
        answer = self._channel.ask(lambda client, options: client.get_flight_info(descriptor, options))
        info, parts = info_of(t.name, answer), parts_of(answer)
        if t.rows is not None:
            info = replace(info, rows=_rows(info.rows, t), bytes=None)
            parts = _cut(parts, t, info.rows)
        return Answer(info, answer.schema, parts, self._channel.open)


def _cut(parts: list[Part], t: Ticket, rows: int | None) -> list[Part]:
    """What the endpoints have of the rows of t, their number if it is known. Its limit counts over all of them, so that there is one endpoint then."""
    if t.limit is None:
        return [cut for part in parts if (cut := _within(part, t)) is not None]
    version = said_in(parts[0].ticket).get("version")
    boxes = [part.bbox for part in parts if part.bbox is not None]
    bbox = None
    if len(boxes) == len(parts):
        xmin, ymin, xmax, ymax = zip(*boxes, strict=True)
        bbox = (min(xmin), min(ymin), max(xmax), max(ymax))
    return [Part(replace(t, version=version).encode(), parts[0].locations, rows, bbox)]


def _within(part: Part, t: Ticket) -> Part | None:
    """What an endpoint has of the rows of t; None if it has none of them. The box of all of its rows contains those."""
    assert t.rows is not None
    ticket = narrowed(part.ticket, t.rows)
    if ticket is None:
        return None
    before, (start, end) = said_in(part.ticket).get("rows"), said_in(ticket)["rows"]
    if before == [start, end]:
        rows = part.rows
    elif part.rows is None or t.bbox is not None:  # it is not known which rows the box leaves
        rows = None
    else:
        rows = max(0, (end if before else min(end, part.rows)) - start)
    return Part(ticket, part.locations, rows, part.bbox)


def _rows(of_all: int | None, t: Ticket) -> int | None:
    """Returns the number of rows that t.rows and t.limit leave of a table. It is unknown how many a box leaves."""
    assert t.rows is not None
    if of_all is None or t.bbox is not None:
        return None
    n = max(0, min(t.rows[1], of_all) - t.rows[0])
    return n if t.limit is None else min(n, t.limit)
