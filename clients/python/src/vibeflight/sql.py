"""Queries by Flight SQL."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import flight

from .channel import Channel
from .columns import is_geometry
from .display import Summary, crs_of, failure_html, table_html
from .errors import Error, Invalid
from .extent import in_degrees
from .info import info_of, parts_of
from .map import Box
from .messages import command, first
from .result import Answer, Result, Settings
from .ticket import GeometryEncoding

T = TypeVar("T")
Parameters = Sequence[Any] | Mapping[str, Any]  # by position, or by name
Ask = Callable[[flight.FlightClient, flight.FlightDescriptor, flight.FlightCallOptions], T]


class Query(Result):
    """What Connection.sql gives: the rows of a query, which runs anew each time that they are asked for. Geometries are WKB."""

    def __init__(self, channel: Channel, settings: Settings, text: str, parameters: Parameters) -> None:
        super().__init__(channel, settings)
        self.text = text
        self.parameters: Parameters = dict(parameters) if isinstance(parameters, Mapping) else tuple(parameters)

    def __repr__(self) -> str:
        return f"<vibeflight.Query {self.text!r}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: schema, number of rows, extent. The query runs for it, and the rows stay on the server."""
        try:
            schema = self.schema
        except Error as e:
            return failure_html(self.text, e)
        geometry = next((field for field in schema if is_geometry(field)), None)
        rows, extent = self._measured(geometry)
        crs = None if geometry is None else crs_of(geometry)
        return table_html(Summary(self.text, schema, rows, crs, extent, in_degrees(self._channel, extent, crs)))

    def _measured(self, geometry: pa.Field[Any] | None) -> tuple[int | None, Box | None]:
        """The number of rows and the extent of a geometry column; None: a statement that can't be part of another, or a server without spatial functions."""
        inner = f"FROM (\n{self.text.strip().rstrip(';')}\n)"
        if geometry is not None:
            column = 'ST_Extent_Agg("' + geometry.name.replace('"', '""') + '")'
            bounds = ", ".join(f"ST_{bound}({column})" for bound in ("XMin", "YMin", "XMax", "YMax"))
            with contextlib.suppress(Error):
                values = self._row(f"SELECT count(*), {bounds} {inner}")
                return values[0], None if None in values else (values[1], values[2], values[3], values[4])
        with contextlib.suppress(Error):
            return self._row(f"SELECT count(*) {inner}")[0], None
        return None, None

    def _row(self, text: str) -> list[Any]:
        """The values of the one row of a query with the parameters of this one."""
        row = Query(self._channel, self._settings._replace(progress=False), text, self.parameters).arrow()
        return [column[0].as_py() for column in row.columns]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows. The query is only prepared and does not run."""
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
        return self._channel.ask(lambda client, options: prepared(client, options, self.text, self.parameters, ask))

    def _with_geometry(self, *fit: GeometryEncoding) -> Result:
        return self


def statement(query: str) -> flight.FlightDescriptor:
    """Returns the command of a query without parameters."""
    return flight.FlightDescriptor.for_command(command("CommandStatementQuery", query.encode()))


def bound(parameters: Sequence[Any]) -> pa.RecordBatch:
    """The values of a query's parameters: one row, a column each, of the type that pyarrow gives to the value."""
    return pa.record_batch([pa.array([value]) for value in parameters], names=[str(i + 1) for i in range(len(parameters))])


def in_order(parameters: Parameters, names: Sequence[str]) -> Sequence[Any]:
    """The values in the order of the statement's parameters, whose names these are: a ? is called by its number. A name too few or too many is Invalid."""
    if not isinstance(parameters, Mapping):
        return parameters
    missing, unknown = [name for name in names if name not in parameters], [name for name in parameters if name not in names]
    if missing or unknown:
        raise Invalid(
            f"parameters: the query's are {', '.join('$' + name for name in names) or 'none'}"
            + f"; there is no value for {', '.join(map(repr, missing))}" * bool(missing)
            + f"; it has none called {', '.join(map(repr, unknown))}" * bool(unknown)
        )
    return [parameters[name] for name in names]


def prepared(client: flight.FlightClient, options: flight.FlightCallOptions, query: str, parameters: Parameters, ask: Ask[T]) -> T:
    """What a call answers for a query that is prepared, with values for its parameters. The statement is closed again; a result of it stays."""
    (created,) = client.do_action(flight.Action("CreatePreparedStatement", command("ActionCreatePreparedStatementRequest", query.encode())), options)
    answer = first(created.body.to_pybytes(), 2)  # the message in the Any
    handle = first(answer, 1)
    try:
        values = bound(in_order(parameters, pa.ipc.read_schema(pa.py_buffer(first(answer, 3))).names))
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
