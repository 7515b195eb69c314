"""Queries by Flight SQL."""

import pytest
import sql as integration_sql

import vibeflight
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


@pytest.mark.parametrize("length", [1, 0x7F, 0x80, 0x3FFF, 0x4000, 60_000])
def test_the_message_is_that_of_other_clients(length):
    text = "x" * length
    assert statement(text).command == integration_sql.statement(text).command


def test_a_long_query(server):
    assert server.sql("SELECT 1 AS a --" + "x" * 20_000).arrow().to_pylist() == [{"a": 1}]


def test_mistakes(server):
    with pytest.raises(vibeflight.Invalid, match="byte"):
        server.sql("SELEC 1").schema  # noqa: B018
