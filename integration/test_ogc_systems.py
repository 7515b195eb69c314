"""OGC API - Features, Part 2 (OGC 18-058r1): coordinate reference systems, with pyproj on the same data."""
import random

import geopandas
import numpy
import pyogrio
import pyproj
import pytest
import shapely
import sql
from ogc import COUNTRIES, CRS84, EPSG, UTM, Web, collection, countries, folder, plain, server  # noqa: F401  fixtures

# OGC 18-058r1: the abstract tests of Part 2


def test_systems_of_collections(server):
    for name, storage in (COUNTRIES, CRS84), (UTM, EPSG + "25832"):
        document = server.get(collection(name)).json
        assert document["crs"][0] == CRS84 and document["storageCrs"] == storage
        if sql.SPATIAL:
            assert {storage, EPSG + "4326", EPSG + "3857"} <= set(document["crs"])
        for uri in document["crs"]:
            answer = server.get(collection(name) + "/items", crs=uri, limit=1)
            assert (answer.status, answer.headers["Content-Crs"]) == (200, f"<{uri}>")
            answer = server.get(collection(name) + "/items/1", crs=uri)
            assert (answer.status, answer.headers["Content-Crs"]) == (200, f"<{uri}>")
        assert server.get(collection(name) + "/items/1", crs="x").status == 400


@sql.needs_spatial
@pytest.mark.parametrize("name", [COUNTRIES, UTM])
@pytest.mark.parametrize("uri", [CRS84, EPSG + "4326", EPSG + "3857", EPSG + "25832"])
def test_geometries_are_transformed_as_pyproj_does(server, folder, name, uri):
    if uri not in server.get(collection(name)).json["crs"]:
        assert server.get(collection(name) + "/items", crs=uri).status == 400
        return
    frame = pyogrio.read_dataframe(folder / name)
    if name == COUNTRIES:
        frame = frame[frame.name != "Antarctica"]
    system = pyproj.CRS(uri)
    north = system.axis_info[0].direction == "north"
    got = server.items(name, crs=uri, limit=10_000)["features"]
    move = pyproj.Transformer.from_crs(frame.crs, system, always_xy=True)
    for row in frame.index[:100]:
        want = shapely.transform(frame.geometry[row], lambda p: numpy.column_stack(move.transform(p[:, 0], p[:, 1])))
        have = shapely.get_coordinates(shapely.geometry.shape(got[row]["geometry"]))
        have = have[:, ::-1] if north else have
        assert numpy.allclose(have, shapely.get_coordinates(want), rtol=1e-9, atol=1e-9), row


def test_axes_of_bbox(server):
    want = server.ids(COUNTRIES, bbox="10,50,20,51")
    assert want and server.ids(COUNTRIES, bbox="50,10,51,20", bbox_crs=EPSG + "4326") == want
    assert server.ids(COUNTRIES, bbox="10,50,20,51", bbox_crs=CRS84) == want
    assert server.ids(COUNTRIES, bbox="-50,170,-10,-175", bbox_crs=EPSG + "4326") == server.ids(COUNTRIES, bbox="170,-50,-175,-10")


@sql.needs_spatial
def test_bbox_in_other_systems(server, folder):
    frame = pyogrio.read_dataframe(folder / UTM)
    chance = random.Random(4)
    for _ in range(40):
        x, y = chance.uniform(300_000, 700_000), chance.uniform(5_300_000, 6_100_000)
        box = x, y, x + chance.choice([0, 1000, 100_000]), y + chance.choice([0, 1000, 100_000])
        want = frame.index[shapely.intersects(frame.geometry.values, shapely.box(*box) if box[0] < box[2] and box[1] < box[3] else
                                              shapely.LineString([box[:2], box[2:]]) if box[:2] != box[2:] else shapely.Point(x, y))].tolist()
        if (box[0] == box[2]) == (box[1] == box[3]):
            assert server.ids(UTM, bbox=",".join(map(repr, box)), bbox_crs=EPSG + "25832") == want, box
    move = pyproj.Transformer.from_crs("OGC:CRS84", 25832, always_xy=True)
    for _ in range(40):
        x, y = chance.uniform(6, 12), chance.uniform(48, 55)
        box = shapely.box(x, y, x + chance.choice([0.1, 1, 5]), y + chance.choice([0.1, 1]))
        inside = shapely.transform(shapely.segmentize(box, 0.02), lambda p: numpy.column_stack(move.transform(p[:, 0], p[:, 1])))
        got = set(server.ids(UTM, bbox=",".join(map(repr, box.bounds))))
        distance = shapely.distance(frame.geometry.values, inside)
        boundary = shapely.distance(frame.geometry.values, inside.boundary)
        sure = {n for n in frame.index if distance[n] == 0 and not (frame.geometry[n].boundary.distance(inside.boundary) < 200 and boundary[n] < 200)}
        never = {n for n in frame.index if distance[n] > 200}
        assert sure <= got and not never & got, box.bounds


@sql.needs_spatial
def test_a_box_far_from_the_features(server):
    """PROJ has no position in zone 32 for most of the world."""
    everything = list(range(500))
    for box in "-180,-90,180,90", "-170,-80,170,85", "0,0,90,90", "5,45,14,60":
        assert server.ids(UTM, bbox=box) == everything, box
        assert server.ids(UTM, filter=f"S_INTERSECTS(geometry, BBOX({box}))") == everything, box
        assert server.ids(UTM, filter=f"NOT S_DISJOINT(geometry, BBOX({box}))") == everything, box
    for box in "-180,-90,-170,-80", "100,10,110,20", "170,-10,-170,10":
        assert server.ids(UTM, bbox=box) == [], box
        assert server.ids(UTM, filter=f"S_DISJOINT(geometry, BBOX({box}))") == everything, box
    half = server.ids(UTM, bbox="-180,-90,9,90")
    assert sorted(half + server.ids(UTM, filter="NOT S_INTERSECTS(geometry, BBOX(-180,-90,9,90))")) == everything and 100 < len(half) < 400
    assert server.ids(UTM, bbox="9,45,-170,60") == server.ids(UTM, bbox="9,45,180,60")
    assert server.ids(UTM, bbox="170,45,60,60") == everything and server.ids(UTM, bbox="170,-10,-170,10") == []
    assert server.ids(UTM, bbox="-20037508,-20037508,20037508,20037508", bbox_crs=EPSG + "3857") == everything


def test_without_proj(plain, folder, tmp_path):
    frame = geopandas.GeoDataFrame({"n": [1]}, geometry=geopandas.points_from_xy([400_000], [300_000]), crs=27700)
    frame.to_file(tmp_path / "grid.fgb")
    with Web(tmp_path) as server:
        document = server.get(collection("grid.fgb")).json
        assert document["crs"] == [EPSG + "27700"] and "extent" not in document
        for path in "/items", "/items/0", "/items?bbox=1,2,3,4", f"/items?crs={EPSG}27700&bbox=1,2,3,4", f"/items?crs={EPSG}27700&filter=S_INTERSECTS(geometry,BBOX(1,2,3,4))":
            answer = server.get(collection("grid.fgb") + path)
            assert answer.status == 501 and "--duckdb-extensions" in answer.json["detail"] and EPSG + "27700" in answer.json["detail"]
        assert len(server.ids("grid.fgb", crs=EPSG + "27700", bbox_crs=EPSG + "27700", bbox="0,0,5e5,5e5")) == 1
    document = plain.get(collection(UTM)).json
    assert document["crs"] == [CRS84, EPSG + "4326", EPSG + "25832", EPSG + "3857"] and "extent" in document
    degrees = pyogrio.read_dataframe(folder / UTM).to_crs(4326).geometry
    for feature, want in zip(plain.items(UTM, limit=1000)["features"], degrees, strict=True):
        assert shapely.equals_exact(shapely.geometry.shape(feature["geometry"]), want, tolerance=1e-12)
    answer = plain.get(collection(UTM) + "/items", bbox="9,49,10,50")
    assert answer.status == 501 and "--duckdb-extensions" in answer.json["detail"]  # the box is a polygon in UTM
    frame = pyogrio.read_dataframe(folder / UTM)
    got = plain.items(UTM, crs=EPSG + "25832", limit=1000)["features"]
    assert [shapely.geometry.shape(f["geometry"]).equals(g) for f, g in zip(got, frame.geometry, strict=True)] == [True] * 500
    box = tuple(frame.geometry[3].bounds)
    want = frame.index[shapely.intersects(frame.geometry.values, shapely.box(*box))].tolist()
    assert plain.ids(UTM, crs=EPSG + "25832", bbox_crs=EPSG + "25832", bbox=",".join(map(repr, box))) == want
    swapped = plain.items(COUNTRIES, crs=EPSG + "4326", limit=1)["features"][0]["geometry"]["coordinates"]
    straight = plain.items(COUNTRIES, limit=1)["features"][0]["geometry"]["coordinates"]
    assert swapped[0][0][0] == straight[0][0][0][::-1]
    answer = plain.get(collection(COUNTRIES) + "/items", filter="S_WITHIN(geometry, BBOX(0,0,9,9))")
    assert answer.status == 501 and "spatial extension" in answer.json["detail"]
    assert plain.ids(COUNTRIES, filter="S_INTERSECTS(geometry, BBOX(0,0,9,9)) AND name <> 'Chad'") == plain.ids(COUNTRIES, bbox="0,0,9,9", filter="name <> 'Chad'")


def test_without_sql(folder, countries):
    with Web(folder, "--no-sql") as server:
        assert not [c for c in server.get("/conformance").json["conformsTo"] if "cql2" in c]
        assert server.items(COUNTRIES)["numberMatched"] == 177
        want = countries.index[shapely.intersects(countries.geometry.values, shapely.box(0, 0, 20, 20))].tolist()
        assert server.ids(COUNTRIES, bbox="0,0,20,20") == server.ids(COUNTRIES, filter="S_INTERSECTS(geometry, BBOX(0,0,20,20))") == want
        assert server.ids(UTM, crs=EPSG + "25832", filter="S_INTERSECTS(geometry, POINT(1 2))") == []
        assert len(server.ids(UTM, crs=EPSG + "25832", filter_crs=EPSG + "25832", filter="S_INTERSECTS(geometry, BBOX(0,0,1e7,1e7))")) == 500
        for parameters in {"filter": "pop_est > 1"}, {"continent": "Africa"}:
            answer = server.get(collection(COUNTRIES) + "/items", **parameters)
            assert answer.status == 501 and "--no-sql" in answer.json["detail"]


def test_files_without_a_system(tmp_path):
    (tmp_path / "degrees.csv").write_text('wkt\n"POINT (10 50)"\n')
    (tmp_path / "metres.csv").write_text('wkt\n"POINT (500000 5600000)"\n')
    with Web(tmp_path) as server:
        document = server.get(collection("degrees.csv")).json
        assert "names no reference system" in document["description"] and document["storageCrs"] == CRS84
        assert server.items("degrees.csv")["features"][0]["geometry"]["coordinates"] == [10, 50]
        for path in "/items", "/items/0", "/items?f=html", "/items?crs=" + EPSG + "4326":
            answer = server.get(collection("metres.csv") + path)
            assert (answer.status, answer.json["code"]) == (422, "FAILED_PRECONDITION"), path
