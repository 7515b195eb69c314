"""Our tables of GeoJSON compared with GDAL's: equal to the last value and coordinate, except for the entries of DIFFERENCES.md."""
import json

import numpy as np
import pyogrio
import pyproj
import pytest
import shapely
from conftest import ticket
from gdal import GEOMETRY, assert_same_column, assert_same_geometry
from serving import Server, vibeflight

GENERATED = ["buildings", "points", "mixed"]
OURS_ALONE = {"mixed.geojson": ["feature_id"]}  # "id next to a property id" in DIFFERENCES.md


@pytest.fixture(scope="module")
def folder(tmp_path_factory, data):
    """Files on which GDAL and vibeflight must agree: Natural Earth and the output of `vibeflight gen`."""
    folder = tmp_path_factory.mktemp("gdal")
    (folder / "countries.geojson").write_bytes((data / "world" / "countries.geojson").read_bytes())
    for shape in GENERATED:
        vibeflight("gen", shape, "--features", 5000, "-o", folder / f"{shape}.geojson")
    return folder


@pytest.fixture(scope="module")
def agree_client(folder):
    with Server(folder) as server:
        yield server.client()


@pytest.mark.parametrize("name", ["countries.geojson", *(f"{s}.geojson" for s in GENERATED)])
def test_same_table(folder, agree_client, name):
    ours = agree_client.do_get(ticket(name, geometry_encoding="wkb")).read_all()
    ours.validate(full=True)
    meta, theirs = pyogrio.read_arrow(folder / name)
    assert ours.num_rows == theirs.num_rows
    columns = [c for c in ours.column_names if c != "geometry" and c not in OURS_ALONE.get(name, [])]
    assert columns == [c for c in theirs.column_names if c != GEOMETRY]
    for column in columns:
        assert_same_column(column, ours[column], theirs[column])

    crs = json.loads(ours.schema.field("geometry").metadata[b"ARROW:extension:metadata"])["crs"]
    crs = pyproj.CRS(crs)
    # GDAL says EPSG:4326 with x = longitude where RFC 7946 says OGC:CRS84: the same positions.
    assert crs == pyproj.CRS("OGC:CRS84") and meta["crs"] in ("EPSG:4326", "OGC:CRS84")
    assert_same_geometry(ours["geometry"], theirs[GEOMETRY])


def test_native_is_what_gdal_has(folder, agree_client):
    """The default encoding holds the same coordinates in the same order."""
    ours = agree_client.do_get(ticket("buildings.geojson")).read_all()["geometry"].combine_chunks()
    xy = ours.flatten().flatten()
    _, theirs = pyogrio.read_arrow(folder / "buildings.geojson")
    want = shapely.get_coordinates(shapely.from_wkb(theirs[GEOMETRY].to_numpy()))
    got = np.column_stack([xy.field("x").to_numpy(), xy.field("y").to_numpy()])
    assert (got.view(np.uint64) == want.view(np.uint64)).all()
