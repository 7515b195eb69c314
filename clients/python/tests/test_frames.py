"""Other libraries' tables: reference systems, exact values, geometries of their own kinds."""

import os
import pathlib
import subprocess
import sys

import duckdb
import geopandas
import pandas
import polars
import pyarrow
import pytest

import vibeflight


def test_geopandas(server):
    frame = server.table("world/countries.geojson", columns=["name", "geometry"]).geopandas()
    assert isinstance(frame, geopandas.GeoDataFrame) and len(frame) == 177
    assert frame.crs == "OGC:CRS84"
    assert server.table("crs/utm.geojson").geopandas().crs.to_epsg() == 32633


def test_geopandas_of_wkt_asks_for_what_it_reads(server):
    assert len(server.table("grid.geojson", geometry_encoding="wkt").geopandas()) == 100


def test_geopandas_wants_a_geometry(server):
    with pytest.raises(TypeError, match="no geometry column"):
        server.table("grid.geojson", columns=["n"]).geopandas()
    with pytest.raises(TypeError, match="no geometry column"):
        server.table("gaps.csv").geopandas()


def test_pandas_keeps_values_where_some_are_missing(server):
    frame = server.table("gaps.csv").pandas()
    assert frame["id"].dtype == pandas.Int64Dtype() and frame["yes"].dtype == pandas.BooleanDtype()
    assert frame["id"][0] == 9007199254740993  # no float64
    assert frame["id"].isna().tolist() == [False, True, False]
    assert server.table("grid.geojson").pandas()["n"].dtype == "int32"
    assert isinstance(server.table("grid.geojson").pandas()["geometry"][0], bytes)


def test_polars(server):
    frame = server.table("grid.geojson").polars()
    assert isinstance(frame, polars.DataFrame) and frame.shape == (100, 3)
    assert frame.schema["geometry"].ext_name() == "geoarrow.wkb"
    assert frame.select(polars.col("n").sum()).item() == sum(range(100))


def test_duckdb(server):
    relation = server.table("world/countries.geojson").duckdb()
    assert relation.filter("continent = 'Africa'").count("*").fetchall() == [(51,)]
    assert relation.select("typeof(geometry)").limit(1).fetchall() == [("GEOMETRY('OGC:CRS84')",)]
    assert relation.count("*").fetchall() == [(177,)], "it can be read again"


def test_streams_for_other_libraries(server):
    """DuckDB and Polars take one without holding the table twice."""
    grid = duckdb.from_arrow(server.table("grid.geojson", columns=["n"]).batches().to_reader())
    assert grid.sum("n").fetchall() == [(sum(range(100)),)]
    assert polars.DataFrame(server.table("grid.geojson", columns=["n"]).batches()).shape == (100, 1)


@pytest.mark.parametrize("bbox", [None, [-180, -90, 180, 90]])
def test_a_selection_is_a_stream_itself(server, bbox):
    """By __arrow_c_stream__, with a box and without one; geometries as WKB, which DuckDB takes for its GEOMETRY."""
    grid = server.table("grid.geojson", bbox=bbox)
    assert pyarrow.table(grid).schema.field("geometry").metadata[b"ARROW:extension:name"] == b"geoarrow.wkb"
    assert polars.DataFrame(server.table("grid.geojson", bbox=bbox, columns=["n"])).shape == (100, 1)
    assert duckdb.sql("SELECT count(*), any_value(typeof(geometry))[:8] FROM grid").fetchall() == [(100, "GEOMETRY")]
    assert len(geopandas.GeoDataFrame.from_arrow(grid)) == 100
    native = server.table("grid.geojson", bbox=bbox, geometry_encoding="native")
    assert pyarrow.table(native).schema.field("geometry").metadata[b"ARROW:extension:name"] == b"geoarrow.point"
    assert pyarrow.table(server.sql("SELECT n FROM grid")).num_rows == 100


def test_duckdb_connection_of_ones_own(server):
    with duckdb.connect() as connection:
        countries = server.table("world/countries.geojson", columns=["name"]).duckdb(connection)
        countries.create("countries")
        assert connection.sql("SELECT count(*) FROM countries").fetchall() == [(177,)]


def test_pandas_with_types_that_another_package_has_registered(running, tmp_path):
    """geoarrow-pyarrow's types have no hash. It stays in a process of its own."""
    program = (
        "import sys, geoarrow.pyarrow, vibeflight\n"
        "server = vibeflight.connect(sys.argv[1])\n"
        "print(len(server.table('grid.geojson').pandas()), len(server.table('grid.geojson').geopandas()))\n"
    )
    source = pathlib.Path(vibeflight.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", program, running.uri], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(source)})
    assert done.stdout.split() == ["100", "100"], done.stderr
