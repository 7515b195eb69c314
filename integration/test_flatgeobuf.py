"""FlatGeobuf that GDAL wrote is the table that GDAL reads of it; one that `get -o` wrote is the table that it was written of."""
import json

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyogrio
import pyproj
import pytest
import shapely
from conftest import bits, ticket
from gdal import GEOMETRY, assert_same_column, assert_same_geometry
from samples import WORLD
from serving import Server, vibeflight
from test_export import get, table_in

POINTS = 3000
INDEXED = ["points.fgb", "countries.fgb", "lines.fgb"]


def points():
    """A column of every type that GDAL writes, with nulls; no null geometry, of which pyogrio's Arrow makes an error."""
    n = np.arange(POINTS)
    null = n % 7 == 0
    return geopandas.GeoDataFrame({
        "i": n.astype("int32"), "big": n * (2**62 // POINTS), "small": (n % 100).astype("int16"), "half": (n / 3).astype("float32"),
        "x": pd.Series(n / 7).mask(null), "text": pd.Series([f"é {i}" for i in n], dtype=object).mask(null), "yes": n % 2 == 0,
        "at": pd.Series(pd.Timestamp("1969-12-31T12:00:00.5") + pd.to_timedelta(n, unit="h")).astype("datetime64[ms]").mask(null),
    }, geometry=shapely.points(np.sin(n) * 180, np.cos(n) * 90), crs=25832)


def lines():
    """A kind and its Multi kind, with z."""
    xyz = np.column_stack([np.sin(np.arange(4000)), np.cos(np.arange(4000)), np.arange(4000)])
    single = [shapely.linestrings(xyz[i:i + 4]) for i in range(0, 2000, 4)]
    several = [shapely.multilinestrings([shapely.linestrings(xyz[i:i + 2]), shapely.linestrings(xyz[i + 2:i + 4])]) for i in range(2000, 4000, 4)]
    return geopandas.GeoDataFrame({"n": np.arange(1000)}, geometry=[*single, *several], crs="OGC:CRS84")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fgb")
    countries = pyogrio.read_dataframe(WORLD / "naturalearth_lowres.shp")
    for name, frame in {"points": points(), "countries": countries, "lines": lines()}.items():
        pyogrio.write_dataframe(frame, folder / f"{name}.fgb", driver="FlatGeobuf")
    return folder


@pytest.fixture(scope="module")
def fgb_client(folder):
    with Server(folder) as server:
        yield server.client()


@pytest.mark.parametrize("name", INDEXED)
def test_same_table(folder, fgb_client, name):
    ours = fgb_client.do_get(ticket(name, geometry_encoding="wkb")).read_all()
    ours.validate(full=True)
    meta, theirs = pyogrio.read_arrow(folder / name)
    assert ours.column_names == [*(c for c in theirs.column_names if c != GEOMETRY), "geometry"]
    for column in ours.column_names[:-1]:
        wide = {pa.int16(): pa.int32(), pa.float32(): pa.float64()}.get(theirs[column].type)
        assert_same_column(column, ours[column], theirs[column].cast(wide) if wide else theirs[column])
    assert_same_geometry(ours["geometry"], theirs[GEOMETRY])
    crs = json.loads(ours.schema.field("geometry").metadata[b"ARROW:extension:metadata"])["crs"]
    assert pyproj.CRS(crs) == pyproj.CRS(meta["crs"])


@pytest.mark.parametrize("name", INDEXED)
def test_a_box_is_that_of_gdal(folder, fgb_client, name):
    whole = geopandas.GeoDataFrame.from_arrow(fgb_client.do_get(ticket(name)).read_all())
    xmin, ymin, xmax, ymax = whole.total_bounds
    box = [xmin + (xmax - xmin) / 3, ymin, xmin + (xmax - xmin) / 2, ymin + (ymax - ymin) / 2]
    ours = geopandas.GeoDataFrame.from_arrow(fgb_client.do_get(ticket(name, bbox=box)).read_all())
    bounds = whole.bounds
    want = whole[(bounds.minx <= box[2]) & (bounds.maxx >= box[0]) & (bounds.miny <= box[3]) & (bounds.maxy >= box[1])]
    assert 0 < len(want) < len(whole) and ours.geometry.to_wkb().tolist() == want.geometry.to_wkb().tolist()


@pytest.mark.parametrize("name", ["grid.geojson", "mixed.geojson", *(f"kinds/{kind}_xyz.geojson" for kind in ("point", "linestring", "polygon", "multipolygon"))])
def test_comes_back(data, tmp_path, name):
    """What `get -o x.fgb` writes is the same table again, kinds and z of each row, but for the order of the index; lists are JSON, and so is a mixture text."""
    before, after = table_in(data / name, tmp_path / "before.arrow"), table_in(get(data / name, tmp_path / "x.fgb"), tmp_path / "after.arrow")
    for column in before.column_names:
        if pa.types.is_list(before[column].type) and column != "geometry":
            before, after = before.drop_columns(column), after.drop_columns(column)
    assert before.schema.remove_metadata().names == after.schema.names and before.num_rows == after.num_rows
    assert [f.type for f in before.schema] == [f.type for f in after.schema]
    assert before.schema.field("geometry").metadata == after.schema.field("geometry").metadata
    assert sorted(map(repr, before.to_pylist())) == sorted(map(repr, after.to_pylist()))
    again = table_in(get(tmp_path / "x.fgb", tmp_path / "y.fgb"), tmp_path / "again.arrow")
    if before.to_pylist() == after.to_pylist():  # not indexed
        assert bits(after) == bits(again.select(after.column_names))


def test_sql(folder):
    """Straight from the file, and joined with itself."""
    said = vibeflight("sql", "SELECT count(*) AS n, max(a.big) AS big, bool_and(a.geometry = b.geometry) AS same FROM points a JOIN points b USING (i)", folder, "--json")
    assert json.loads(said) == {"n": POINTS, "big": (POINTS - 1) * (2**62 // POINTS), "same": True}
