"""Files that the server parses for others, and tables that it stores."""

import os

import geopandas
import polars
import pyarrow as pa
import pytest
import sql
from conftest import soon
from serving import Server

import vibeflight


@pytest.fixture(scope="module")
def writable(data, tmp_path_factory):
    with Server(data, "--batch-rows", "4096", "--writable", tmp_path_factory.mktemp("stored"), *sql.FLAGS) as s, vibeflight.connect(s.uri) as connection:
        yield connection


@pytest.mark.parametrize(
    "name", ["grid.geojson", "types.geojson", "empty.geojson", "crs/utm.geojson", "world/countries.geojson", "gaps.csv", "two.kml", "large.csv"]
)
def test_parsed_equals_served(writable, data, name):
    want = writable.table(name).arrow()
    for parsed in (writable.parse(data / name), writable.parse((data / name).read_bytes(), name=os.path.basename(name))):
        got = parsed.arrow()
        assert got.schema.equals(want.schema, check_metadata=True)
        assert got.equals(want)


def test_parsed_selections(writable, data):
    fields = {"columns": ["name", "geometry"], "bbox": [2, 2, 4, 3.5], "limit": 3, "geometry_encoding": "wkb"}
    assert writable.parse(data / "grid.geojson", **fields).arrow().equals(writable.table("grid.geojson", **fields).arrow())
    assert writable.parse(data / "two.kml", layer="50% #1").arrow()["Name"].to_pylist() == ["b"]
    assert len(writable.parse(data / "grid.geojson").geopandas()) == 100
    assert writable.parse(data / "wrong.csv", options={"on_error": "skip"}).arrow().num_rows == 1


@pytest.mark.parametrize("source, kind, words", [
    ("broken.geojson", None, r"^broken\.geojson: geojson: byte \d+"),
    ("grid.geojson", "no such", "no such"),
    (b'{"type":"FeatureCollection"', "geojson", "byte 27"),
    (b"{}", None, "format"),
], ids=str)  # fmt: skip
def test_parsing_that_fails(writable, data, source, kind, words):
    with pytest.raises(vibeflight.Invalid, match=words):
        writable.parse(data / source if isinstance(source, str) else source, kind).arrow()


def test_parsing_leaves_no_entry(writable, data):
    before = {e.name for e in writable.list()}
    writable.parse(data / "gaps.csv", name="new.csv").arrow()
    assert {e.name for e in writable.list()} == before


def test_what_is_put_is_served(writable):
    rows = pa.table({"a": [1, None, 3], "b": ["x", None, ""]})
    answer = writable.put("some/rows", rows)
    assert answer["rows"] == 3
    assert writable.table(answer["name"]).arrow().equals(rows)
    assert writable.sql("SELECT sum(a) AS a FROM rows").arrow().to_pylist() == [{"a": 4}]
    with pytest.raises(vibeflight.AlreadyExists, match=r"some/rows\.arrow"):
        writable.put("some/rows", rows)
    writable.put("some/rows", rows, mode="append")
    assert writable.table(answer["name"]).arrow().num_rows == 6
    writable.put("some/rows", polars.DataFrame({"c": [1]}), mode="replace")
    assert writable.table(answer["name"]).arrow().to_pydict() == {"c": [1]}
    writable.drop(answer["name"])
    soon(lambda: answer["name"] not in {e.name for e in writable.list()})


def test_a_geodataframe_comes_back(writable):
    frame = geopandas.GeoDataFrame({"n": [1, 2]}, geometry=geopandas.points_from_xy([1, 2], [3, 4]), crs="EPSG:25832")
    answer = writable.put("points", frame)
    got = writable.table(answer["name"]).geopandas()
    assert got.crs == frame.crs and got.geometry.geom_equals_exact(frame.geometry, 0).all()


@pytest.mark.parametrize("name, kind", [("../x", vibeflight.Invalid), ("", vibeflight.Invalid), ("x.parquet", vibeflight.Invalid)])
def test_names_that_are_none(writable, name, kind):
    with pytest.raises(kind):
        writable.put(name, pa.table({"a": [1]}))


def test_what_others_own_is_not_dropped(writable):
    with pytest.raises(vibeflight.Denied):
        writable.drop("grid.geojson")
