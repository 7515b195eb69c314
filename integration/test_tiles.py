"""Vector tiles by HTTP, read by GDAL's MVT driver; TileJSON; caches; grants."""
import gzip
import json
import math
import os
import urllib.request

import geopandas
import pyogrio
import pytest
from shapely.geometry import box
from test_http_listener import Files, Web, basic

NAME = "world/countries.geojson"
EARTH = 6378137 * math.pi  # half of the width of the map in EPSG:3857


@pytest.fixture(scope="module")
def server(data):
    with Web(data) as s:
        yield s


@pytest.fixture(scope="module")
def countries(data):
    return geopandas.read_file(data / NAME)


def extent(z, x, y):
    size = 2 * EARTH / 2**z
    return -EARTH + x * size, EARTH - (y + 1) * size, -EARTH + (x + 1) * size, EARTH - y * size


def gdal(server, z, x, y, folder, query=""):
    """The features of a tile in EPSG:3857; None for an empty tile."""
    status, _, body = server.request(f"/tiles/{NAME}/{z}/{x}/{y}.pbf{query}")
    assert status in (200, 204)
    if status == 204:
        return None
    path = folder / str(z) / str(x) / f"{y}.pbf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return pyogrio.read_dataframe(path, X=x, Y=y, Z=z, CLIP="NO")


class TestTiles:
    def test_features(self, server, countries, tmp_path):
        """Each tile has the countries that meet it, at their place."""
        projected = countries.to_crs(3857).make_valid()
        projected = countries.assign(geometry=projected).set_crs(3857, allow_override=True)
        for z in range(4):
            for x in range(2**z):
                for y in range(2**z):
                    inside = projected[projected.intersects(box(*extent(z, x, y)).buffer(-EARTH / 2**z / 100))]
                    inside = inside[inside.intersection(box(*extent(z, x, y))).area > (2 * EARTH / 2**z / 512) ** 2 * 4]
                    tile = gdal(server, z, x, y, tmp_path)
                    names = set() if tile is None else set(tile["name"])
                    assert set(inside["name"]) <= names, (z, x, y)

    def test_places(self, server, countries, tmp_path):
        tile = gdal(server, 3, 4, 2, tmp_path).set_index("name")
        unit = 2 * EARTH / 8 / 4096
        within = box(*extent(3, 4, 2))
        for name in "Poland", "Czechia", "Austria":
            want = countries[countries["name"] == name].to_crs(3857).geometry.iloc[0].intersection(within)
            got = tile.loc[name].geometry.buffer(0).intersection(within)
            assert got.symmetric_difference(want).area < 8 * unit * want.length

    def test_attributes(self, server, countries, tmp_path):
        tile = gdal(server, 0, 0, 0, tmp_path)
        assert {"name", "continent", "pop_est", "gdp_md_est", "iso_a3"} <= set(tile.columns)
        of = dict(zip(countries["name"], countries["pop_est"], strict=True))
        assert all(of[row["name"]] == row["pop_est"] for _, row in tile.iterrows())
        assert "pop_est" not in gdal(server, 0, 0, 0, tmp_path / "name", "?columns=name").columns
        assert "name" not in gdal(server, 0, 0, 0, tmp_path / "none", "?columns=").columns

    def test_addresses(self, server):
        for path in "0/1/0", "23/0/0", "3/8/0", "99999999999/0/0":
            assert server.problem(f"/tiles/{NAME}/{path}")["status"] == 404, path
        assert server.problem(f"/tiles/{NAME}/0/0/0?columns=nothing")["status"] == 400
        assert server.problem(f"/tiles/{NAME}/0/0/0?limit=1")["status"] == 400
        assert server.problem("/tiles/missing.geojson/0/0/0")["status"] == 404
        assert server.request(f"/tiles/{NAME}/6/0/32")[0] == 204  # the ocean

    def test_codings(self, server):
        path = f"/tiles/{NAME}/0/0/0"
        _, plain, body = server.request(path)
        _, packed, small = server.request(path, Accept_Encoding="gzip")
        assert plain["Content-Encoding"] is None and packed["Content-Encoding"] == "gzip"
        assert gzip.decompress(small) == body and plain["ETag"] != packed["ETag"]
        assert server.request(path, Accept_Encoding="gzip;q=0.5, zstd;q=0")[1]["Content-Encoding"] == "gzip"
        assert server.request(path, Accept_Encoding="gzip;q=0, deflate")[1]["Content-Encoding"] is None
        assert server.request(path, Accept_Encoding="zstd")[1]["Content-Encoding"] == "zstd"


def points(*places):
    """GeoJSON of named points on a line of longitude and latitude."""
    return json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"name": name, "secret": f"secret of {name}"}, "geometry": {"type": "Point", "coordinates": [at, at]}}
        for name, at in places]})


def test_tilejson(server):
    about = json.loads(server.request(f"/tiles/{NAME}?columns=name")[2])
    assert about["tilejson"] == "3.0.0" and about["vector_layers"][0]["fields"] == {"name": "String"}
    assert about["tiles"] == [f"http://127.0.0.1:{server.port}/tiles/{NAME}/{{z}}/{{x}}/{{y}}?columns=name"]
    proxied = json.loads(server.request(f"/tiles/{NAME}", X_Forwarded_Proto="https", X_Forwarded_Host="maps.example")[2])
    assert proxied["tiles"][0].startswith("https://maps.example/tiles/")
    tile = about["tiles"][0].format(z=0, x=0, y=0)
    with urllib.request.urlopen(tile) as answer:
        assert answer.headers["Content-Type"] == "application/vnd.mapbox-vector-tile"


def test_a_changed_file_changes_its_tiles(tmp_path):
    path = tmp_path / "points.geojson"
    path.write_text(points(("first", 10)))
    with Web(tmp_path) as s:
        def ask(**headers):
            return s.request("/tiles/points.geojson/0/0/0", **headers)
        status, headers, body = ask()
        assert status == 200 and b"first" in body
        assert ask(If_None_Match=headers["ETag"])[0] == 304
        new = tmp_path / "new"
        new.write_text(points(("second", 10)))
        os.replace(new, path)
        status, _, body = ask(If_None_Match=headers["ETag"])
        assert status == 200 and b"second" in body and b"first" not in body


def test_other_reference_systems(tmp_path):
    frame = geopandas.GeoDataFrame({"n": [1]}, geometry=geopandas.points_from_xy([500_000], [5_000_000]), crs=25832)
    frame.to_file(tmp_path / "utm.fgb")
    frame.to_crs(3857).to_file(tmp_path / "mercator.fgb")
    with Web(tmp_path) as s:
        problem = s.problem("/tiles/utm.fgb/0/0/0")
        assert problem["status"] == 422 and "EPSG:25832" in problem["detail"]
        assert s.request("/tiles/mercator.fgb/0/0/0")[0] == 200


def test_grants(tmp_path):
    """A tile has the columns and rows that its reader may see, also where another reader's tile is cached."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "points.geojson").write_text(points(("open", 10), ("closed", 20)))
    (folder / "hidden.geojson").write_text(points(("hidden", 10)))
    files = Files(tmp_path)
    files.edit("user", "add", "root", password="secret")
    grants = tmp_path / "grants.toml"
    grants.write_text("""
[[rules]]
user = "root"
privileges = ["read", "describe"]

[[rules]]
user = "alice"
name = "points.geojson"
privileges = ["read"]
columns = [{ name = "secret", allow = false }]
filter = "name = 'open'"
""")
    with Web(folder, *files.flags, "--grants", str(grants)) as s:
        root, alice = ({"Authorization": basic(u, "secret")} for u in ("root", "alice"))
        everything = s.request("/tiles/points.geojson/0/0/0", **root)[2]
        assert b"secret of closed" in everything and b"closed" in everything
        status, headers, body = s.request("/tiles/points.geojson/0/0/0", **alice)
        assert status == 200 and b"open" in body and headers["Cache-Control"] == "private, no-cache"
        for word in b"secret", b"closed":
            assert word not in body
        about = json.loads(s.request("/tiles/points.geojson", **alice)[2])
        assert about["bounds"][2] < 15 and about["vector_layers"][0]["rows"] == 1
        hidden, missing = (s.request(f"/tiles/{name}.geojson/0/0/0", **alice) for name in ("hidden", "hodden"))
        assert hidden[0] == missing[0] == 404 and hidden[2].replace(b"hidden", b"hodden") == missing[2]
        assert s.request("/tiles/points.geojson/0/0/0")[0] == 401
