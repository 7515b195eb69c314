"""Queries by Flight SQL, with the three Protobuf messages that they need."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import flight

from .channel import Channel
from .info import info_of, parts_of
from .result import Answer, Result, Settings
from .ticket import GeometryEncoding

_TYPES = b"type.googleapis.com/arrow.flight.protocol.sql."


class Query(Result):
    """What Connection.sql gives: the rows of a query, which runs anew each time that they are asked for. Geometries are WKB."""

    def __init__(self, channel: Channel, settings: Settings, text: str) -> None:
        super().__init__(channel, settings)
        self.text = text

    def __repr__(self) -> str:
        return f"<vibeflight.Query {self.text!r}>"

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows. The query is prepared for it, and does not run."""
        answer: Any = self._channel.ask(lambda client, options: client.get_schema(statement(self.text), options))
        schema: pa.Schema = answer.schema
        return schema

    def _ask(self, again: bool) -> Answer:
        # The rows of an answer can be fetched once, so no answer is remembered.
        answer = self._channel.ask(lambda client, options: client.get_flight_info(statement(self.text), options))
        return Answer(info_of(self.text, answer), answer.schema, parts_of(answer), self._channel.open)

    def _with_geometry(self, *fit: GeometryEncoding) -> Result:
        return self


def statement(query: str) -> flight.FlightDescriptor:
    """The command of a query: an Any that holds a CommandStatementQuery, whose field 1 is the text."""
    return flight.FlightDescriptor.for_command(_any("CommandStatementQuery", _field(1, query.encode())))


def _any(name: str, message: bytes) -> bytes:
    return _field(1, _TYPES + name.encode()) + _field(2, message)


def _field(number: int, value: bytes) -> bytes:
    """A field of a message that holds bytes: its number, with wire type 2, the length as a varint, the bytes."""
    size, length = len(value), bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    length.append(size)
    return bytes([number << 3 | 2]) + bytes(length) + value
