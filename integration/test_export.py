"""GDAL, GeoPandas, DuckDB and vibeflight read the files of `get -o`: the same rows, values and reference system."""
import csv
import json
import subprocess

import duckdb
import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pyogrio
import pytest
import shapely
from conftest import bits
from serving import BINARY, vibeflight
from test_command import read_file, status

COUNTRIES = "world/countries.geojson"
FLAT = [f"kinds/{kind}_{dim}.geojson" for kind in ("point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon") for dim in ("xy", "xyz")]


def shapes(wkb):
    return shapely.from_wkb(wkb.combine_chunks().to_numpy(zero_copy_only=False))


def same_shapes(ours, theirs, promoted=False):
    """Equal geometries in equal order, ordinate by ordinate; a single one may have become its Multi kind, and an empty one null:
    GDAL's GeoJSON writes an empty Point like that."""
    assert len(ours) == len(theirs)
    for row, (a, b) in enumerate(zip(ours, theirs)):
        if b is None:
            assert a is None or shapely.is_empty(a), row
            continue
        if promoted and not shapely.get_type_id(a) == shapely.get_type_id(b):
            a = {0: shapely.multipoints, 1: shapely.multilinestrings, 3: shapely.multipolygons}[shapely.get_type_id(a)]([a] if not shapely.is_empty(a) else [])
        assert shapely.get_type_id(a) == shapely.get_type_id(b), row
        assert np.array_equal(shapely.get_coordinates(a, include_z=True), shapely.get_coordinates(b, include_z=True), equal_nan=True), row


@pytest.mark.parametrize("extension", ["geojson", "geojsonl"])
@pytest.mark.parametrize("name", [COUNTRIES, "grid.geojson", "types.geojson", "mixed.geojson", *FLAT])
def test_geojson_comes_back(data, tmp_path, name, extension):
    """Our own reader returns the same table, to the last bit: kinds, ids, nulls, dates, nested values."""
    out = tmp_path / f"x.{extension}"
    vibeflight("get", data / name, "-o", out)
    before, after = table_in(data / name, tmp_path / "before.arrow"), table_in(out, tmp_path / "after.arrow")
    if "mixed" in before.column_names:  # is text in the file now, and no longer a mixture that became text
        assert before["mixed"].equals(after["mixed"])
        before, after = before.drop_columns("mixed"), after.drop_columns("mixed")
    assert bits(before) == bits(after)


def table_in(path, out):
    vibeflight("get", path, "-o", out)
    return read_file(out)


@pytest.mark.parametrize("name", [COUNTRIES, "grid.geojson", *FLAT])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # GDAL's of an empty Point in GeoJSON
def test_gdal_reads_geojson_and_flatgeobuf(data, tmp_path, name):
    want = table_in(data / name, tmp_path / "x.arrow")
    vibeflight("get", data / name, "-o", tmp_path / "wkb.arrow", "--geometry-encoding", "wkb")
    ours = shapes(read_file(tmp_path / "wkb.arrow")["geometry"])
    vibeflight("get", data / name, "-o", tmp_path / "x.geojson")
    got = pyogrio.read_dataframe(tmp_path / "x.geojson")
    assert got.crs.to_epsg() in (4326, 4979)  # as GDAL calls CRS84 in GeoJSON, without and with z
    same_shapes(ours, got.geometry.values)

    vibeflight("get", data / name, "-o", tmp_path / "x.fgb")
    got = pyogrio.read_dataframe(tmp_path / "x.fgb")
    assert got.crs.to_string() == "OGC:CRS84" and len(got) == want.num_rows
    order = rows_of(got, want)
    same_shapes(ours[order], got.geometry.values, promoted=True)


def rows_of(got, want):
    """The row number in the table of each row of a FlatGeobuf, whose rows are in the order of its index."""
    keys = [c for c in want.column_names if c != "geometry"]
    if not keys:
        return np.arange(len(got))  # not indexed: these files have nulls
    mine = [json.dumps(row, default=str) for row in want.select(keys).to_pylist()]
    theirs = [json.dumps(row, default=str) for row in pa.Table.from_pandas(got[keys], preserve_index=False).cast(want.select(keys).schema).to_pylist()]
    assert sorted(mine) == sorted(theirs)
    left = {}
    for row, key in enumerate(mine):
        left.setdefault(key, []).append(row)
    return np.array([left[key].pop(0) for key in theirs], dtype=int)


@pytest.mark.parametrize("name", [COUNTRIES, "grid.geojson", "types.geojson", "mixed.geojson", "kinds/polygon_xyz.geojson", "empty.geojson"])
def test_geoparquet(data, tmp_path, name):
    out = tmp_path / "x.parquet"
    vibeflight("get", data / name, "-o", out)
    vibeflight("get", data / name, "-o", tmp_path / "x.arrow", "--geometry-encoding", "wkb")
    want = read_file(tmp_path / "x.arrow")
    plain = pa.parquet.read_table(out)
    assert plain.column_names == want.column_names and plain.num_rows == want.num_rows
    for field in want.schema:
        ours, theirs = want[field.name], plain[field.name]
        theirs = theirs.cast(theirs.type.storage_type) if isinstance(theirs.type, pa.BaseExtensionType) else theirs
        ours = ours.cast(ours.type.storage_type) if isinstance(ours.type, pa.BaseExtensionType) else ours
        assert ours.to_pylist() == theirs.to_pylist(), field
    geo = json.loads(pa.parquet.read_metadata(out).metadata[b"geo"])["columns"]["geometry"]
    kinds = {shapely.from_wkb(w).geom_type + (" Z" if shapely.from_wkb(w).has_z else "") for w in want["geometry"].to_pylist() if w is not None and not shapely.is_empty(shapely.from_wkb(w))}
    assert kinds <= set(geo["geometry_types"])
    frame = geopandas.read_parquet(out)
    assert frame.crs.to_string() == "OGC:CRS84"
    same_shapes(shapes(want["geometry"]), frame.geometry.values)


def test_duckdb_reads_parquet_and_csv(data, tmp_path):
    for extension in ("parquet", "csv"):
        vibeflight("get", data / COUNTRIES, "-o", tmp_path / f"x.{extension}", "--columns", "name,pop_est,geometry")
    want = read_file(get(data / COUNTRIES, tmp_path / "x.arrow", "--columns", "name,pop_est"))
    rows = list(zip(want["name"].to_pylist(), want["pop_est"].to_pylist()))
    for source in ("read_parquet('{}')", "read_csv('{}')"):
        path = tmp_path / ("x.parquet" if "parquet" in source else "x.csv")
        assert duckdb.sql(f"SELECT name, pop_est FROM {source.format(path)}").fetchall() == rows


def get(path, out, *flags):
    vibeflight("get", path, "-o", out, *flags)
    return out


def test_csv_holds_wkt(data, tmp_path):
    vibeflight("get", data / "kinds/polygon_xy.geojson", "-o", tmp_path / "x.csv")
    vibeflight("get", data / "kinds/polygon_xy.geojson", "-o", tmp_path / "wkb.arrow", "--geometry-encoding", "wkb")
    with open(tmp_path / "x.csv", newline="", encoding="utf-8") as f:
        texts = [row["geometry"] for row in csv.DictReader(f)]
    ours = shapes(read_file(tmp_path / "wkb.arrow")["geometry"])
    same_shapes(ours, [shapely.from_wkt(text) if text else None for text in texts])


@pytest.mark.filterwarnings("ignore::UserWarning")  # pyogrio's of M
@pytest.mark.parametrize("extension", ["shp", "gpkg"])
@pytest.mark.parametrize("text", ["POINT M (1 2 3)", "POINT ZM (1 2 3 4)", "POLYGON ZM ((0 0 1 2, 1 1 3 4, 1 0 5 6, 0 0 1 2))", "MULTIPOINT M ((1 2 3), (4 5 6))"])
def test_measures(tmp_path, text, extension):
    (tmp_path / "m.wkt").write_text(text + "\n")
    meta, table = pyogrio.read_arrow(get(tmp_path / "m.wkt", tmp_path / f"m.{extension}"))
    assert shapely.from_wkb(table[meta["geometry_name"] or "wkb_geometry"][0].as_py()).wkt == text


def test_geopackage_is_changed(data, tmp_path):
    """GDAL appends rows to what was written: the triggers keep the index."""
    out = get(data / "grid.geojson", tmp_path / "x.gpkg", "--columns", "geometry")
    before = len(pyogrio.read_dataframe(out))
    pyogrio.write_dataframe(geopandas.GeoDataFrame(geometry=[shapely.Point(170, -80), None], crs=4326), out, layer="x", append=True)
    assert len(pyogrio.read_dataframe(out)) == before + 2
    assert len(pyogrio.read_dataframe(out, bbox=(169, -81, 171, -79))) == 1


@pytest.mark.parametrize("name", ["grid.geojson", *FLAT])
def test_shapefile(data, tmp_path, name):
    """GDAL and our own reader find what was written; an empty geometry is a null shape, and a ring has the direction that the standard prescribes."""
    vibeflight("get", data / name, "-o", tmp_path / "x.shp")
    vibeflight("get", data / name, "-o", tmp_path / "wkb.arrow", "--geometry-encoding", "wkb")
    want = shapes(read_file(tmp_path / "wkb.arrow")["geometry"])
    vibeflight("get", tmp_path / "x.shp", "-o", tmp_path / "ours.arrow", "--geometry-encoding", "wkb")
    for got in pyogrio.read_dataframe(tmp_path / "x.shp").geometry.values, shapes(read_file(tmp_path / "ours.arrow")["geometry"]):
        assert [shapely.is_empty(g) or g is None for g in want] == [g is None for g in got]
        for a, b in zip(want, got):
            if b is None:
                continue
            assert shapely.has_z(a) == shapely.has_z(b)
            parts = [sorted((shapely.normalize(part).wkb for part in shapely.get_parts(g))) for g in (a, b)]
            assert parts[0] == parts[1]
    assert pyogrio.read_info(tmp_path / "x.shp")["crs"] == "EPSG:4326"
    for stale in ("qix", "sbn"):
        (tmp_path / f"x.{stale}").write_text("of another table")
    vibeflight("get", data / name, "-o", tmp_path / "x.shp")
    assert sorted(p.suffix for p in tmp_path.glob("x.*")) == [".cpg", ".dbf", ".prj", ".shp", ".shx"]


def test_shapefile_values(tmp_path):
    """Numbers to the last bit, text of other scripts, dates; what a .dbf changes is reported."""
    rows = [{"a_long_name_1": 1 / 3, "a_long_name_2": 1e300, "i": 123456789012345678, "t": "\u6771\u4eac \U0001f600", "b": True, "d": "2024-02-29", "at": "2024-02-29T12:34:56.5Z", "l": [1, {"x": None}]},
            {"a_long_name_1": -0.1, "a_long_name_2": 5e-324, "i": -7, "t": "", "b": False, "d": None, "at": None, "l": None},
            {k: None for k in ("a_long_name_1", "a_long_name_2", "i", "t", "b", "d", "at", "l")}]
    source = tmp_path / "x.geojson"
    source.write_text(json.dumps({"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": r} for r in rows]}))
    said = subprocess.run([BINARY, "get", source, "-o", tmp_path / "x.shp"], capture_output=True, text=True, check=True).stderr
    assert 'column "a_long_name_1" is called "a_long_nam"' in said and 'column "a_long_name_2" is called "a_long_n_1"' in said
    assert 'column "t": 1 empty texts are null' in said
    names = {"a_long_nam": "a_long_name_1", "a_long_n_1": "a_long_name_2"}
    _, got = pyogrio.read_arrow(tmp_path / "x.shp")
    vibeflight("get", tmp_path / "x.shp", "-o", tmp_path / "x.arrow")
    for table in got, read_file(tmp_path / "x.arrow"):
        for name in table.column_names:
            if "geometry" in name:
                continue
            key = names.get(name, name)
            want = [json.dumps(r[key], separators=(",", ":")) if isinstance(r[key], list) else r[key] or (None if key == "t" else r[key]) for r in rows]
            assert [str(v) if key == "d" and v is not None else v for v in table[name].to_pylist()] == want, name
    for column, value, what in (("i", 12345678901234567890, "characters"), ("t", "x" * 255, "254")):
        source.write_text(json.dumps({"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {column: value}}]}))
        code, said = status("get", source, "-o", tmp_path / "y.shp")
        assert code == 1 and "row 0" in said and what in said and not list(tmp_path.glob("y.*")) and not list(tmp_path.glob(".y*"))


def test_selections_and_refusals(data, tmp_path):
    vibeflight("get", data / "grid.geojson", "--bbox", "0,0,3,1", "--limit", 5, "-o", tmp_path / "x.fgb")
    assert len(pyogrio.read_dataframe(tmp_path / "x.fgb")) == 5
    code, said = status("get", data / "grid.geojson", "-o", tmp_path / "x.tab")
    assert code == 2 and ".parquet" in said and ".fgb" in said
    code, said = status("get", data / "grid.geojson", "-o", tmp_path / "x.geojson", "--geometry-encoding", "wkt")
    assert code == 2 and "--geometry-encoding" in said
    code, said = status("get", data / "grid.geojson", "-o", tmp_path / "x.parquet", "--compression", "lz4")
    assert code == 2 and "lz4" in said
    lines = tmp_path / "m.wkt"
    lines.write_text("POINT M (1 2 3)\n")
    code, said = status("get", lines, "-o", tmp_path / "m.geojson")
    assert code == 1 and "row 0" in said and "GeoJSON" in said
    assert not (tmp_path / "m.geojson").exists()


def test_another_reference_system(tmp_path):
    source = tmp_path / "belgium.wkt"
    source.write_text("SRID=31370;POINT (150000 170000)\n")
    for extension in ("geojson", "fgb", "parquet", "gpkg", "shp"):
        out = get(source, tmp_path / f"x.{extension}")
        frame = geopandas.read_parquet(out) if extension == "parquet" else pyogrio.read_dataframe(out)
        assert frame.crs.to_epsg() == 31370, extension
        assert frame.geometry[0] == shapely.Point(150000, 170000)
    code, said = status("get", source, "-o", tmp_path / "x.geojsonl")
    assert code == 1 and "31370" in said
