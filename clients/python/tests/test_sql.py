"""Queries by Flight SQL."""

import datetime
from decimal import Decimal

import pytest
import sql as integration_sql

import vibeflight
from vibeflight.messages import field, first
from vibeflight.sql import statement


def test_rows(server):
    query = server.sql("SELECT n, name FROM grid WHERE n < 3 ORDER BY n DESC")
    assert query.arrow().to_pydict() == {"n": [2, 1, 0], "name": ["cell 2", "cell 1", "cell 0"]}
    assert query.arrow().num_rows == 3, "it can be read again"
    assert query.schema.names == ["n", "name"]
    assert query.polars().shape == (3, 2)
    assert len(query.pandas()) == 3


def test_geometry(server):
    frame = server.sql("SELECT name, geometry FROM world.\"countries.geojson\" WHERE continent = 'Oceania'").geopandas()
    assert len(frame) == 7 and frame.crs == "OGC:CRS84"


@pytest.mark.parametrize(
    "value", [3, 2**62, 0.1, "it's", "", True, None, b"\0", datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 1, 2, 3, 4), Decimal("1.50")]
)
def test_parameters(server, value):
    assert server.sql("SELECT ? AS v, count(*) AS n FROM grid WHERE n < $2".replace("?", "$1"), [value, 5]).arrow().to_pylist() == [{"v": value, "n": 5}]


def test_parameters_leave_nothing(server):
    query = server.sql("SELECT n FROM grid WHERE name = ?", ["cell 7"])
    assert query.schema.names == ["n"]
    assert query.arrow().to_pylist() == [{"n": 7}] == query.arrow().to_pylist()
    counts = server.stats()["sql"]
    assert (counts["prepared"], counts["results"], counts["bound_bytes"]) == (0, 0, 0)


@pytest.mark.parametrize("parameters", [[1, 2], ["x"]])
def test_parameters_that_do_not_fit(server, parameters):
    with pytest.raises(vibeflight.Invalid):
        server.sql("SELECT n FROM grid WHERE n = ?", parameters).arrow()
    assert server.stats()["sql"]["prepared"] == 0


def test_one_text_is_no_list_of_parameters(server):
    with pytest.raises(TypeError, match="parameters"):
        server.sql("SELECT ?", "ab")


@pytest.mark.parametrize("message", [b"\x0a", b"\x0a\x05abc", b"\x08\x01", b"", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"])
def test_messages_that_are_none(message):
    with pytest.raises(ValueError, match="no field"):
        first(message, 2)


@pytest.mark.parametrize("length", [1, 0x7F, 0x80, 0x3FFF, 0x4000, 60_000])
def test_the_message_is_that_of_other_clients(length):
    text = "x" * length
    assert statement(text).command == integration_sql.statement(text).command
    assert first(field(1, b"") + field(2, text.encode()), 2) == text.encode()


def test_a_long_query(server):
    assert server.sql("SELECT 1 AS a --" + "x" * 20_000).arrow().to_pylist() == [{"a": 1}]


def test_mistakes(server):
    with pytest.raises(vibeflight.Invalid, match="byte"):
        server.sql("SELEC 1").schema  # noqa: B018
