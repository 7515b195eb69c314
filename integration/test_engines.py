"""The tables in DuckDB and Polars, through Arrow and without a copy of ours."""
import duckdb
import polars
import pytest
from conftest import ticket


def test_duckdb_queries_a_table(read):
    grid = read("grid.geojson", columns=["n", "name"])
    assert duckdb.sql("SELECT count(*), sum(n) FROM grid WHERE name LIKE 'cell 9%'").fetchall() == [(11, 954)]


def test_duckdb_queries_a_stream(client):
    reader = client.do_get(ticket("large.geojsonl", columns=["n"])).to_reader()
    assert reader is not None
    assert duckdb.sql("SELECT count(*), max(n) FROM reader").fetchall() == [(300_000, 299_999)]


def test_duckdb_has_geometry_from_wkb(read):
    countries = read("world/countries.geojson", geometry_encoding="wkb")
    assert countries.num_rows == 177
    ((crs, kinds, rows),) = duckdb.sql("""
        SELECT any_value(ST_CRS(geometry)), list_sort(list(DISTINCT split_part(ST_AsText(geometry), ' ', 1))), count(*)
        FROM countries""").fetchall()
    assert "CRS84" in crs and (kinds, rows) == (["MULTIPOLYGON", "POLYGON"], 177)


def test_duckdb_nulls_lists_and_times(read):
    rows = read("types.geojson", columns=["int", "date", "stamp", "time", "list"])
    assert duckdb.sql("SELECT count(int), count(date), count(stamp), count(time), sum(len(list)) FROM rows").fetchall() == [(2, 2, 2, 2, 2)]


def test_polars_frame(read):
    frame = polars.from_arrow(read("grid.geojson", columns=["n", "name"]))
    assert frame.filter(polars.col("n") > 97)["name"].to_list() == ["cell 98", "cell 99"]


@pytest.mark.parametrize("encoding", ["wkb", "wkt"])
def test_polars_keeps_geometry_bytes(read, encoding):
    table = read("mixed.geojson", geometry_encoding=encoding)
    assert polars.from_arrow(table)["geometry"].to_list() == table["geometry"].to_pylist()


def test_polars_native_points(read):
    geometry = polars.from_arrow(read("grid.geojson"))["geometry"]
    assert geometry.dtype.ext_name() == "geoarrow.point"
    assert geometry.ext.storage().struct.field("x").to_list() == [float(i % 10) for i in range(100)]
