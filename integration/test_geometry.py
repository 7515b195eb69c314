"""Every kind of geometry in every encoding, as pyarrow, GeoPandas and geoarrow-pyarrow see it."""
import json

import geopandas
import numpy as np
import pyarrow as pa
import pyproj
import pytest
import shapely
from cases import CRS_FILES, KINDS, MIXED, as_shapely, kind_file

LEVELS = {  # names of the lists around the coordinates, outermost first: GeoArrow 0.2, "Native encoding"
    "point": [],
    "linestring": ["vertices"],
    "polygon": ["rings", "vertices"],
    "multipoint": ["points"],
    "multilinestring": ["linestrings", "vertices"],
    "multipolygon": ["polygons", "rings", "vertices"],
}


def native_type(kind, dimension, coords):
    """The storage type that the specification prescribes."""
    if coords == "separated":
        t = pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in dimension])
    else:
        t = pa.list_(pa.field(dimension, pa.float64(), nullable=False), len(dimension))
    for name in reversed(LEVELS[kind]):
        t = pa.list_(pa.field(name, t, nullable=False))
    return t


def extension(field):
    return field.metadata[b"ARROW:extension:name"].decode(), json.loads(field.metadata.get(b"ARROW:extension:metadata") or b"{}")


def assert_same_geometries(got, want):
    assert len(got) == len(want)
    for row, (g, w) in enumerate(zip(got, want)):
        if g is None or w is None:
            assert g is w, f"row {row}"
        elif w.is_empty:  # shapely forgets the dimension of an empty geometry
            assert (g.geom_type, g.is_empty) == (w.geom_type, True), f"row {row}"
        else:
            assert shapely.equals_identical(g, w), f"row {row}: got {g.wkt}, want {w.wkt}"


@pytest.mark.parametrize("coords", ["separated", "interleaved"])
@pytest.mark.parametrize("kind,dimension", KINDS)
def test_native(read, kind, dimension, coords):
    table = read(kind_file(kind, dimension), coords=coords)
    field = table.schema.field("geometry")
    assert extension(field)[0] == f"geoarrow.{kind}"
    assert field.type == native_type(kind, dimension, coords)
    frame = geopandas.GeoDataFrame.from_arrow(table)
    multi = kind.startswith("multi")
    assert_same_geometries(frame.geometry.array, [as_shapely(g, dimension, multi) for g in KINDS[kind, dimension]])
    assert frame.crs == pyproj.CRS("OGC:CRS84")
    assert frame["row"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind,dimension", KINDS)
def test_wkb(read, kind, dimension):
    table = read(kind_file(kind, dimension), geometry_encoding="wkb")
    assert extension(table.schema.field("geometry"))[0] == "geoarrow.wkb"
    frame = geopandas.GeoDataFrame.from_arrow(table)
    assert_same_geometries(frame.geometry.array, [as_shapely(g) for g in KINDS[kind, dimension]])
    assert frame.crs == pyproj.CRS("OGC:CRS84")


@pytest.mark.parametrize("kind,dimension", KINDS)
def test_wkt(read, kind, dimension):
    table = read(kind_file(kind, dimension), geometry_encoding="wkt")
    field = table.schema.field("geometry")
    assert (extension(field)[0], field.type) == ("geoarrow.wkt", pa.string())
    got = [None if text is None else shapely.from_wkt(text) for text in table["geometry"].to_pylist()]
    assert_same_geometries(got, [as_shapely(g) for g in KINDS[kind, dimension]])


def test_mixed_is_wkb(read):
    table = read("mixed.geojson")
    assert extension(table.schema.field("geometry"))[0] == "geoarrow.wkb"
    frame = geopandas.GeoDataFrame.from_arrow(table)
    assert_same_geometries(frame.geometry.array, [as_shapely(g) for g in MIXED])


@pytest.mark.parametrize("name,rows", [("empty.geojson", 0), ("nulls.geojson", 2)])
def test_no_geometry_to_tell_the_kind(read, name, rows):
    table = read(name)
    assert extension(table.schema.field("geometry"))[0] == "geoarrow.wkb"
    assert table.num_rows == rows and table["geometry"].null_count == rows
    frame = geopandas.GeoDataFrame.from_arrow(table)
    assert len(frame) == rows and frame.geometry.isna().all()
    assert frame.crs == pyproj.CRS("OGC:CRS84")


def test_null_and_empty_differ(read):
    frame = geopandas.GeoDataFrame.from_arrow(read(kind_file("point", "xy")))
    assert frame.geometry.isna().tolist() == [False, True, False, False]
    assert frame.geometry.is_empty.tolist() == [False, False, True, False]


def test_layout_is_canonical(read):
    """Zeros under nulls, NaN for an empty point, no bitmap where nothing is null, offsets from 0."""
    storage = read(kind_file("point", "xy"))["geometry"].chunk(0)
    x = storage.field("x").to_numpy(zero_copy_only=False).view(np.uint64)
    assert x[1] == 0
    assert x[2] == 0x7FF8000000000000
    assert storage.field("x").null_count == 0 and storage.field("x").buffers()[0] is None
    lines = read(kind_file("linestring", "xy"))["geometry"].chunk(0)
    assert lines.offsets.to_pylist() == [0, 3, 3, 3, 5]
    assert read("grid.geojson")["geometry"].chunk(0).buffers()[0] is None


@pytest.mark.parametrize("name,crs", [(name, want) for name, (_, want) in CRS_FILES.items()])
@pytest.mark.parametrize("encoding", ["native", "wkb"])
def test_crs(read, name, crs, encoding):
    table = read(name, geometry_encoding=encoding)
    frame = geopandas.GeoDataFrame.from_arrow(table)
    if crs is None:
        assert frame.crs is None
        assert "crs" not in extension(table.schema.field("geometry"))[1]
    else:
        assert frame.crs == pyproj.CRS(crs)


@pytest.fixture
def geoarrow():
    """geoarrow-pyarrow with its extension types registered, for one test only."""
    import geoarrow.pyarrow as ga
    ga.register_extension_types()
    yield ga
    ga.unregister_extension_types()


@pytest.mark.parametrize("coords", ["separated", "interleaved"])
@pytest.mark.parametrize("kind,dimension", KINDS)
def test_geoarrow_types(geoarrow, read, kind, dimension, coords):
    table = read(kind_file(kind, dimension), coords=coords)
    want = getattr(geoarrow, kind)().with_dimensions(geoarrow.Dimensions[dimension.upper()])
    want = want.with_coord_type(geoarrow.CoordType[coords.upper()])
    got = table.schema.field("geometry").type
    assert isinstance(got, geoarrow.GeometryExtensionType)
    assert got.storage_type == want.storage_type
    assert pyproj.CRS(got.crs.to_json()) == pyproj.CRS("OGC:CRS84")
    as_wkb = geoarrow.as_wkb(table["geometry"]).combine_chunks().storage.to_pylist()
    got_shapes = [None if b is None else shapely.from_wkb(b) for b in as_wkb]
    multi = kind.startswith("multi")
    assert_same_geometries(got_shapes, [as_shapely(g, dimension, multi) for g in KINDS[kind, dimension]])


@pytest.mark.parametrize("encoding", ["wkb", "wkt"])
def test_geoarrow_serialized(geoarrow, read, encoding):
    table = read("mixed.geojson", geometry_encoding=encoding)
    assert table.schema.field("geometry").type.extension_name == f"geoarrow.{encoding}"
    want = [as_shapely(g) for g in MIXED]
    texts = geoarrow.as_wkb(table["geometry"]).combine_chunks().storage.to_pylist()
    assert_same_geometries([None if b is None else shapely.from_wkb(b) for b in texts], want)
