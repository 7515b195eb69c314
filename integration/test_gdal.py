"""Our tables beside GDAL's: equal to the last value and coordinate, but for what DIFFERENCES.md lists."""
import json
import math
import pathlib
import re

import numpy as np
import pyarrow as pa
import pyogrio
import pyproj
import pytest
import shapely
from conftest import ticket
from differences import DIFFERENCES
from serving import Server, vibeflight

GENERATED = ["buildings", "points", "mixed"]
OURS_ALONE = {"mixed.geojson": ["feature_id"]}  # "id beside a property id" in DIFFERENCES.md
GDAL_GEOMETRY = "wkb_geometry"  # the name of the column where the file gives it none


@pytest.fixture(scope="module")
def folder(tmp_path_factory, data):
    """Files that GDAL and we must agree on: Natural Earth and what `vibeflight gen` makes."""
    folder = tmp_path_factory.mktemp("gdal")
    (folder / "countries.geojson").write_bytes((data / "world" / "countries.geojson").read_bytes())
    for shape in GENERATED:
        vibeflight("gen", shape, "--features", 5000, "-o", folder / f"{shape}.geojson")
    return folder


@pytest.fixture(scope="module")
def agree_client(folder):
    with Server(folder) as server:
        yield server.client()


def plain(column):
    """A column without extension type, for values."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def is_json(column):
    return isinstance(column.type, pa.BaseExtensionType) and column.type.extension_name == "arrow.json"


def assert_same_column(name, ours, theirs):
    if is_json(ours):
        assert is_json(theirs), name
        parse = lambda c: [None if v is None else json.loads(v) for v in plain(c).to_pylist()]
        assert parse(ours) == parse(theirs), name
        return
    ours, theirs = plain(ours).combine_chunks(), plain(theirs).combine_chunks()
    if pa.types.is_list(ours.type):  # names and nullability of list items may differ, their types may not
        assert ours.type.value_type == theirs.type.value_type, name
        assert ours.to_pylist() == theirs.to_pylist(), name
    elif pa.types.is_floating(ours.type):
        assert ours.type == theirs.type, name
        bits = lambda c: c.fill_null(0).to_numpy().view(np.uint64)
        assert ours.is_null().equals(theirs.is_null()) and (bits(ours) == bits(theirs)).all(), name
    else:
        assert ours.type == theirs.type, name
        assert ours.equals(theirs), name


@pytest.mark.parametrize("name", ["countries.geojson", *(f"{s}.geojson" for s in GENERATED)])
def test_same_table(folder, agree_client, name):
    ours = agree_client.do_get(ticket(name, geometry_encoding="wkb")).read_all()
    ours.validate(full=True)
    meta, theirs = pyogrio.read_arrow(folder / name)
    assert ours.num_rows == theirs.num_rows
    columns = [c for c in ours.column_names if c != "geometry" and c not in OURS_ALONE.get(name, [])]
    assert columns == [c for c in theirs.column_names if c != GDAL_GEOMETRY]
    for column in columns:
        assert_same_column(column, ours[column], theirs[column])

    crs = json.loads(ours.schema.field("geometry").metadata[b"ARROW:extension:metadata"])["crs"]
    crs = pyproj.CRS(crs)
    # GDAL says EPSG:4326 with x = longitude where RFC 7946 says OGC:CRS84: the same positions.
    assert crs == pyproj.CRS("OGC:CRS84") and meta["crs"] in ("EPSG:4326", "OGC:CRS84")
    our_shapes = shapely.from_wkb(ours["geometry"].to_numpy())
    their_shapes = shapely.from_wkb(theirs[GDAL_GEOMETRY].to_numpy())
    assert (shapely.get_type_id(our_shapes) == shapely.get_type_id(their_shapes)).all()
    bits = lambda shapes: shapely.get_coordinates(shapes, include_z=True).view(np.uint64)
    assert (bits(our_shapes) == bits(their_shapes)).all()
    assert ours["geometry"].equals(theirs[GDAL_GEOMETRY].cast(pa.binary())) or same_structure(our_shapes, their_shapes)


def same_structure(ours, theirs):
    """WKB may spell one geometry in two ways (ISO and EWKB codes of Z); shapely reads both."""
    return all(a is b or shapely.equals_identical(a, b) for a, b in zip(ours, theirs))


def test_native_is_what_gdal_has(folder, agree_client):
    """The default encoding holds the same coordinates in the same order."""
    ours = agree_client.do_get(ticket("buildings.geojson")).read_all()["geometry"].combine_chunks()
    xy = ours.flatten().flatten()
    _, theirs = pyogrio.read_arrow(folder / "buildings.geojson")
    want = shapely.get_coordinates(shapely.from_wkb(theirs[GDAL_GEOMETRY].to_numpy()))
    got = np.column_stack([xy.field("x").to_numpy(), xy.field("y").to_numpy()])
    assert (got.view(np.uint64) == want.view(np.uint64)).all()


@pytest.fixture(scope="module")
def difference_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("differences")
    for d in DIFFERENCES:
        (folder / d.file).write_text(d.text, encoding="utf-8")
    with Server(folder) as server:
        yield folder, server.client()


def outcome(read):
    """What reading gives, in a form that can be written down: an error, or columns with their types and values."""
    try:
        table, geometry, crs = read()
    except Exception as e:  # whatever kind of error a peer has
        return f"error: {e}"
    found = {"crs": crs}
    for name in table.column_names:
        if name == geometry:
            shapes = [None if b is None else shapely.from_wkb(b, on_invalid="ignore") for b in plain(table[name]).to_pylist()]
            found["geometry"] = [s if s is None else s.wkt for s in shapes]
        else:
            kind = "json" if is_json(table[name]) else re.sub("item: | not null", "", str(table[name].type))
            found[name] = (kind, plain(table[name]).to_pylist())
    return found


def matches(got, want):
    if isinstance(want, str):
        return isinstance(got, str) and re.search(want, got) is not None
    return not isinstance(got, str) and all(k in got and same(got[k], v) for k, v in want.items()) and (
        want.keys() >= got.keys() - {"geometry", "crs"})


def same(got, want):
    """Equality of nested values in which NaN equals NaN and -0.0 is not 0."""
    if isinstance(want, float) and isinstance(got, float):
        return math.copysign(1, got) == math.copysign(1, want) and (got == want or math.isnan(got) and math.isnan(want))
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)):
        return len(got) == len(want) and all(map(same, got, want))
    return got == want


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # GDAL's, about what it repairs
@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.name)
def test_difference(difference_server, difference):
    folder, client = difference_server

    def read_ours():
        table = client.do_get(ticket(difference.file, geometry_encoding="wkb")).read_all()
        crs = json.loads(table.schema.field("geometry").metadata.get(b"ARROW:extension:metadata") or "{}").get("crs")
        return table, "geometry", crs and pyproj.CRS(crs).to_string()

    def read_theirs():
        meta, table = pyogrio.read_arrow(folder / difference.file)
        return table, GDAL_GEOMETRY, meta["crs"]

    ours, theirs = outcome(read_ours), outcome(read_theirs)
    assert matches(ours, difference.ours), ours
    assert matches(theirs, difference.gdal), theirs


def test_every_difference_is_written_down():
    page = (pathlib.Path(__file__).parent / "DIFFERENCES.md").read_text(encoding="utf-8")
    written = re.findall(r"^\| `([^`]+)` \|", page, re.M)
    assert written == [d.name for d in DIFFERENCES]
