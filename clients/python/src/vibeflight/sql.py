"""Queries by Flight SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import flight

from .channel import Channel
from .info import info_of, parts_of
from .messages import command, first
from .result import Answer, Result, Settings
from .ticket import GeometryEncoding

T = TypeVar("T")
Ask = Callable[[flight.FlightClient, flight.FlightDescriptor, flight.FlightCallOptions], T]


class Query(Result):
    """What Connection.sql gives: the rows of a query, which runs anew each time that they are asked for. Geometries are WKB."""

    def __init__(self, channel: Channel, settings: Settings, text: str, parameters: Sequence[Any]) -> None:
        super().__init__(channel, settings)
        self.text = text
        self.parameters = tuple(parameters)

    def __repr__(self) -> str:
        return f"<vibeflight.Query {self.text!r}>"

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows. The query is prepared for it, and does not run."""
        answer: Any = self._described(lambda client, descriptor, options: client.get_schema(descriptor, options))
        schema: pa.Schema = answer.schema
        return schema

    def _ask(self, again: bool) -> Answer:
        # The rows of an answer can be fetched once, so no answer is remembered.
        answer = self._described(lambda client, descriptor, options: client.get_flight_info(descriptor, options))
        return Answer(info_of(self.text, answer), answer.schema, parts_of(answer), self._channel.open)

    def _described(self, ask: Ask[T]) -> T:
        """What a call answers for the query, which is prepared for it if there are parameters."""
        if not self.parameters:
            return self._channel.ask(lambda client, options: ask(client, statement(self.text), options))
        values = bound(self.parameters)
        return self._channel.ask(lambda client, options: prepared(client, options, self.text, values, ask))

    def _with_geometry(self, *fit: GeometryEncoding) -> Result:
        return self


def statement(query: str) -> flight.FlightDescriptor:
    """The command of a query that runs as it stands."""
    return flight.FlightDescriptor.for_command(command("CommandStatementQuery", query.encode()))


def bound(parameters: Sequence[Any]) -> pa.RecordBatch:
    """The values of a query's parameters: one row, a column each, of the type that pyarrow gives to the value."""
    return pa.record_batch([pa.array([value]) for value in parameters], names=[str(i + 1) for i in range(len(parameters))])


def prepared(client: flight.FlightClient, options: flight.FlightCallOptions, query: str, values: pa.RecordBatch, ask: Ask[T]) -> T:
    """What a call answers for a query that is prepared, with values for its parameters. The statement is closed again; a result of it stays."""
    (created,) = client.do_action(flight.Action("CreatePreparedStatement", command("ActionCreatePreparedStatementRequest", query.encode())), options)
    handle = first(first(created.body.to_pybytes(), 2), 1)  # of the message in the Any
    try:
        descriptor = flight.FlightDescriptor.for_command(command("CommandPreparedStatementQuery", handle))
        upload: Any = client.do_put(descriptor, values.schema, options)
        writer, answers = upload
        with writer:
            writer.write_batch(values)
            writer.done_writing()
            answers.read()
        return ask(client, descriptor, options)
    finally:
        list(client.do_action(flight.Action("ClosePreparedStatement", command("ActionClosePreparedStatementRequest", handle)), options))
