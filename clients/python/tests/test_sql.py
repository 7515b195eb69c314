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


@pytest.mark.parametrize("parameters", ["ab", b"ab", 7, {1, 2}])
def test_one_text_is_no_list_of_parameters(server, parameters):
    with pytest.raises(TypeError, match="parameters"):
        server.sql("SELECT ?", parameters)


def test_parameters_by_name(server):
    """A dict gives its values, never its keys (issue 29, 8)."""
    query = "SELECT n FROM grid WHERE name = $name AND n < $most"
    assert server.sql(query, {"most": 9, "name": "cell 7"}).arrow().to_pylist() == [{"n": 7}]
    assert server.sql(query, {"name": "cell 7", "most": 7}).arrow().num_rows == 0
    assert server.sql("SELECT $a AS a, $b AS b, $a AS c", {"b": 2, "a": "x"}).arrow().to_pylist() == [{"a": "x", "b": 2, "c": "x"}]
    assert server.sql("SELECT $1 AS a, ? AS b".replace("?", "$2"), {"2": 2, "1": 1}).arrow().to_pylist() == [{"a": 1, "b": 2}]


@pytest.mark.parametrize(
    "query, parameters, said",
    [
        ("SELECT n FROM grid WHERE name = ?", {"name": "Fiji"}, r"are \$1; there is no value for '1'; it has none called 'name'"),
        ("SELECT $a AS a, $b AS b", {"a": 1}, "no value for 'b'"),
        ("SELECT $a AS a", {"a": 1, "b": 2}, "none called 'b'"),
        ("SELECT 1 AS a", {"a": 1}, "are none"),
    ],
)
def test_names_that_do_not_fit(server, query, parameters, said):
    with pytest.raises(vibeflight.Invalid, match=said):
        server.sql(query, parameters).arrow()
    assert server.stats()["sql"]["prepared"] == 0


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
