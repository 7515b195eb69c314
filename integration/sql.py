"""Flight SQL for the tests: the paths of DuckDB's spatial extension and its Python module, and queries with only pyarrow."""
import pyarrow.flight as flight
import pytest
from serving import ROOT

FETCHED = ROOT / ".duckdb"  # what `make spatial` fetches
SPATIAL = (FETCHED / "spatial.duckdb_extension").exists()

# Flags of a server for the ST_ functions that DuckDB itself does not have.
FLAGS = ["--duckdb-extensions", str(FETCHED)] if SPATIAL else []

needs_spatial = pytest.mark.skipif(not SPATIAL, reason="DuckDB's spatial extension is not here: make spatial fetches it")


def field(number, value):
    """A field of a Protobuf message that holds bytes."""
    size, length = len(value), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + value


def statement(query):
    """The descriptor of a CommandStatementQuery: an Any with a message whose field 1 is the text."""
    name = b"type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"
    return flight.FlightDescriptor.for_command(field(1, name) + field(2, field(1, query.encode())))


def prepare(client, query):
    """Prepares a query, and leaves it open."""
    name = b"type.googleapis.com/arrow.flight.protocol.sql.ActionCreatePreparedStatementRequest"
    body = field(1, name) + field(2, field(1, query.encode()))
    return list(client.do_action(flight.Action("CreatePreparedStatement", body)))


def cancel(client, info):
    """Whether the query of a FlightInfo was cancelled."""
    (result,) = client.do_action(flight.Action("CancelFlightInfo", field(1, info.serialize())))
    return result.body.to_pybytes() == b"\x08\x01"  # status: CANCELLED


def reader(client, query):
    """The stream of a query's rows."""
    (endpoint,) = client.get_flight_info(statement(query)).endpoints
    return client.do_get(endpoint.ticket)


def ask(client, query):
    """The rows of a query, checked in full by Arrow."""
    table = reader(client, query).read_all()
    table.validate(full=True)
    return table
