"""The ticket field crs: geometries in another reference system, with pyproj on the same data."""
import io
import json
import random
import urllib.parse
import urllib.request

import geopandas
import numpy
import pyarrow.flight as flight
import pyproj
import pytest
import shapely
import sql
import vibeflight
from ogc import Web
from serving import vibeflight as command
from test_http_listener import Files, basic
from test_http_listener import Web as Guarded

ROWS = 700
CLOSE = {"EPSG:4326": 1e-13, "OGC:CRS84": 1e-13}  # others: metres
SYSTEMS = ["EPSG:3857", "EPSG:32632", "EPSG:25832", pytest.param("EPSG:27700", marks=sql.needs_spatial), pytest.param("EPSG:3035", marks=sql.needs_spatial)]


def shapes(kind, chance):
    """A geometry of a kind within UTM zone 32, null or empty at times."""
    x, y = chance.uniform(6, 12), chance.uniform(40, 60)
    at = numpy.array([[x, y], [x + 0.3, y], [x + 0.2, y + 0.4], [x, y]])
    pick = chance.randrange(9)
    if pick == 0:
        return None
    if kind == "points":
        return shapely.Point(x, y, 17.5)
    if kind == "lines":
        return shapely.LineString(at) if pick > 1 else shapely.LineString()
    if kind == "polygons":
        return shapely.Polygon(at) if pick > 1 else shapely.MultiPolygon([shapely.Polygon(at), shapely.Polygon(at + 1)])
    return [shapely.Point(x, y), shapely.LineString(at), shapely.GeometryCollection([shapely.Point(x, y), shapely.Polygon(at)])][pick % 3]


@pytest.fixture(scope="module")
def frames():
    chance = random.Random(35)
    return {
        kind: geopandas.GeoDataFrame({"i": range(ROWS)}, geometry=[shapes(kind, chance) for _ in range(ROWS)], crs="OGC:CRS84")
        for kind in ("points", "lines", "polygons", "mixed")
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory, frames):
    folder = tmp_path_factory.mktemp("reproject")
    for kind, frame in frames.items():
        frame.to_file(folder / f"{kind}.geojsonl", driver="GeoJSONSeq")
    (folder / "none.csv").write_text("a,wkt\n1,POINT (1 2)\n")
    (folder / "pole.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"n": n}, "geometry": {"type": "Point", "coordinates": [9, lat]}} for n, lat in enumerate([50, 90.1, -90])]}))
    frames["polygons"].to_crs(25832).to_parquet(folder / "utm.parquet")
    with Web(folder, *sql.FLAGS) as s, vibeflight.connect(s.uri) as s.connection:
        yield s


def rows(server, name, **selection):
    return geopandas.GeoDataFrame.from_arrow(server.connection.table(name, **selection).arrow())


def coordinates(frame):
    return shapely.get_coordinates(frame.geometry.values, include_z=True)


@pytest.mark.parametrize("kind", ["points", "lines", "polygons", "mixed"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_geometries_are_those_of_pyproj(server, frames, kind, system):
    plain, got = rows(server, f"{kind}.geojsonl"), rows(server, f"{kind}.geojsonl", crs=system)
    assert got.crs == pyproj.CRS(system) and got["i"].tolist() == frames[kind]["i"].tolist()
    want = plain.to_crs(system)
    assert (got.geometry.isna() == want.geometry.isna()).all() and (got.geometry.is_empty == want.geometry.is_empty).all()
    assert (got.geometry.geom_type.dropna() == want.geometry.geom_type.dropna()).all()
    assert numpy.allclose(coordinates(got), coordinates(want), rtol=0, atol=4e-9, equal_nan=True)
    if kind == "points":
        assert set(shapely.get_z(got.geometry.values[got.geometry.notna()])) == {17.5}


@pytest.mark.parametrize("kind", ["lines", "mixed"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_box_is_in_the_requested_system(server, kind, system):
    chance = random.Random(7)
    bounds = rows(server, f"{kind}.geojsonl").to_crs(system).geometry.bounds.values
    for _ in range(8):
        x, y = bounds[chance.choice([i for i in range(ROWS) if not numpy.isnan(bounds[i][0])])][:2]
        size = chance.choice([1, 1e4, 3e5])
        box = [x - size, y - size, x + size, y + size]
        want = [i for i, b in enumerate(bounds) if b[0] <= box[2] and b[2] >= box[0] and b[1] <= box[3] and b[3] >= box[1]]
        selection = server.connection.table(f"{kind}.geojsonl", crs=system, bbox=box)
        assert selection.arrow()["i"].to_pylist() == want and selection.info.rows == len(want)


def test_from_utm(server):
    plain = rows(server, "utm.parquet")
    for system in "OGC:CRS84", "EPSG:4326", "EPSG:3857", "EPSG:32632", "EPSG:25833":
        got = rows(server, "utm.parquet", crs=system)
        assert got.crs == pyproj.CRS(system)
        assert numpy.allclose(coordinates(got), coordinates(plain.to_crs(system)), rtol=0, atol=CLOSE.get(system, 4e-9), equal_nan=True)
    box = [8, 45, 8.5, 47]
    bounds = plain.to_crs(4326).geometry.bounds.values
    want = [i for i, b in enumerate(bounds) if b[0] <= box[2] and b[2] >= box[0] and b[1] <= box[3] and b[3] >= box[1]]
    assert want and rows(server, "utm.parquet", crs="EPSG:4326", bbox=box)["i"].tolist() == want


def test_encodings_and_descriptions(server):
    """Each encoding has the same positions; FlightInfo has the schema of the rows, and no box of another system."""
    want = coordinates(rows(server, "lines.geojsonl", crs="EPSG:3857"))
    for encoding in {"geometry_encoding": "wkb"}, {"coords": "interleaved"}, {"columns": ["geometry"]}:
        assert numpy.array_equal(coordinates(rows(server, "lines.geojsonl", crs="EPSG:3857", **encoding)), want, equal_nan=True)
    client = server.client()
    info = client.get_flight_info(flight.FlightDescriptor.for_command(json.dumps({"name": "lines.geojsonl", "crs": "EPSG:3857"})))
    reader = client.do_get(info.endpoints[0].ticket)
    assert info.schema.equals(reader.schema, check_metadata=True) and "3857" in str(info.schema.field("geometry").metadata)
    assert "bbox" not in json.loads(info.endpoints[0].app_metadata) and json.loads(info.app_metadata)["bbox"][2] < 13
    assert [p.bbox for p in server.connection.partitions("lines.geojsonl", crs="EPSG:3857")] == [None]


def test_positions_without_coordinates(server):
    with pytest.raises(pyproj.exceptions.ProjError):
        pyproj.Transformer.from_crs(4326, 3857, always_xy=True).transform(9, 90.1, errcheck=True)
    with pytest.raises(vibeflight.Error, match="row 1: its geometry has a position in OGC:CRS84 that EPSG:3857 has no coordinates for"):
        rows(server, "pole.geojson", crs="EPSG:3857")
    answer = server.get("/collections/pole.geojson/items", crs="http://www.opengis.net/def/crs/EPSG/0/3857")
    assert answer.status == 422 or not answer.body, answer.body
    got = rows(server, "pole.geojson", crs="EPSG:3857", bbox=[-1e9, -1e9, 1e9, 1e9])
    assert got["n"].tolist() == [0, 2]


def test_errors(server):
    for name, system, message in [
        ("lines.geojsonl", "EPSG:999999", "names no reference system"), ("none.csv", "EPSG:3857", "the table has no reference system"),
    ]:
        with pytest.raises(vibeflight.Error, match=message):
            rows(server, name, crs=system)


def test_without_proj(server, frames, tmp_path):
    frames["lines"].to_file(tmp_path / "lines.geojsonl", driver="GeoJSONSeq")
    with Web(tmp_path, "--no-sql") as s, vibeflight.connect(s.uri) as connection:
        assert connection.table("lines.geojsonl", crs="EPSG:32632").arrow().num_rows == ROWS
        with pytest.raises(vibeflight.Error, match="PROJ, which this server does not have.*--duckdb-extensions"):
            connection.table("lines.geojsonl", crs="EPSG:27700").arrow()


def test_http_and_the_command(server, tmp_path):
    want = coordinates(rows(server, "points.geojsonl", crs="EPSG:3857"))
    url = f"{server.http}/v1/tables/points.geojsonl?" + urllib.parse.urlencode({"crs": "EPSG:3857", "format": "parquet"})
    path = tmp_path / "rows.parquet"
    path.write_bytes(urllib.request.urlopen(url).read())
    assert numpy.array_equal(coordinates(geopandas.read_parquet(path)), want, equal_nan=True)
    command("get", "points.geojsonl", "--server", server.uri, "--crs", "EPSG:3857", "-o", tmp_path / "rows.fgb")
    assert geopandas.read_file(tmp_path / "rows.fgb").crs == pyproj.CRS(3857)


@sql.needs_spatial
def test_sql_is_not_affected(server):
    got = server.connection.sql('SELECT ST_XMax(geometry) AS x FROM "lines.geojsonl" WHERE ST_XMax(geometry) IS NOT NULL').arrow()
    assert max(got["x"].to_pylist()) < 13


def test_grants(tmp_path, frames):
    """Filters see the table's own positions, and reprojection only the rows that are left."""
    folder = tmp_path / "data"
    folder.mkdir()
    frames["points"].to_file(folder / "points.geojsonl", driver="GeoJSONSeq")
    files = Files(tmp_path)
    grants = tmp_path / "grants.toml"
    grants.write_text('[[rules]]\nuser = "alice"\nprivileges = ["read", "describe"]\nfilter = "i % 2 = 0"\n')
    with Guarded(folder, *files.flags, "--grants", str(grants)) as s:
        status, _, body = s.request("/v1/tables/points.geojsonl?crs=EPSG:32632&format=geoparquet", Authorization=basic("alice", "secret"))
        assert status == 200
        got = geopandas.read_parquet(io.BytesIO(body))
        assert got["i"].tolist() == list(range(0, ROWS, 2))
        want = shapely.get_coordinates(frames["points"].to_crs(32632).geometry.values[::2])
        assert numpy.allclose(shapely.get_coordinates(got.geometry.values), want, rtol=0, atol=0.1)  # GDAL wrote 7 decimals
