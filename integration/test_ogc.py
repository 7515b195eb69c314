"""OGC API - Features below /ogc: GDAL's OAPIF driver, shapely, pyproj and SQL on the same data, and the abstract tests of the standards."""
import base64
import concurrent.futures
import hashlib
import html.parser
import json
import os
import random
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import geopandas
import numpy
import openapi_spec_validator
import pyarrow
import pyarrow.flight as flight
import pyogrio
import pyproj
import pytest
import shapely
import sql
from naturalearth import write_countries
from serving import BINARY, Server, free_port

COUNTRIES, POINTS, UTM, EVENTS, TABLE = "world/countries.geojson", "points.geojson", "utm/places.fgb", "events.geojson", "plain.csv"
CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
EPSG = "http://www.opengis.net/def/crs/EPSG/0/"
HOSTILE = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "</style><b>", "{{.}}", "javascript:alert(1)", "&lt;", "a\u202eb", "]]>", "<!--"]
FEATURES = 100_000


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def type(self):
        return self.headers["Content-Type"]


class Web(Server):
    """A server with --http."""

    def __init__(self, data, *flags, **more):
        self.http = f"http://127.0.0.1:{free_port()}"
        self.ogc = self.http + "/ogc"
        super().__init__(data, "--http", self.http.removeprefix("http://"), *flags, **more)

    def _wait_until_ready(self, seconds):
        """Until tables are served: the address answers for metrics and health before."""
        super()._wait_until_ready(seconds)
        deadline = time.monotonic() + seconds
        while self.get().status == 404 and time.monotonic() < deadline:
            time.sleep(0.01)

    def get(self, path="", headers=(), **parameters):
        """The answer of a path below /ogc, or of a URL. Names of parameters have - for _."""
        url = path if path.startswith("http") else self.ogc + path
        if parameters:
            url += "?" + urllib.parse.urlencode({k.replace("_", "-") if k in DASHED else k: v for k, v in parameters.items()})
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers)), timeout=60) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())

    def items(self, name, /, **parameters):
        answer = self.get(collection(name) + "/items", **parameters)
        assert answer.status == 200, answer.body
        return answer.json

    def pages(self, name, /, **parameters):
        """All features, page by page."""
        page = self.items(name, **parameters)
        features = page["features"]
        while after := link(page, "next"):
            page = self.get(after["href"]).json
            features += page["features"]
        return features

    def ids(self, name, /, **parameters):
        return [f["id"] for f in self.pages(name, limit=10_000, **parameters)]


DASHED = {"bbox_crs", "filter_lang", "filter_crs"}


def collection(name):
    return "/collections/" + urllib.parse.quote(name, safe="")


def link(document, rel, media=None):
    return next((x for x in document["links"] if x["rel"] == rel and (media is None or x["type"] == media)), None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ogc")
    write_countries(folder / COUNTRIES)
    chance = random.Random(1)
    with open(folder / POINTS, "w") as out:
        out.write('{"type":"FeatureCollection","features":[')
        for n in range(FEATURES):
            properties = {"n": n, "name": chance.choice(["Ähre", "beta", "it's", "50%", "a_b", "Gamma", "γάμμα"]) + str(n % 97),
                          "value": None if n % 13 == 5 else chance.randint(-1000, 1000), "ratio": chance.uniform(-50, 50), "ok": n % 3 == 0,
                          "day": f"2024-{n % 12 + 1:02d}-{n % 28 + 1:02d}", "big": 2**53 + n}
            feature = {"type": "Feature", "properties": properties,
                       "geometry": None if n % 1000 == 999 else {"type": "Point", "coordinates": [chance.uniform(-180, 180), chance.uniform(-90, 90)]}}
            out.write((",\n" if n else "") + json.dumps(feature))
        out.write("]}")
    (folder / "utm").mkdir()
    places = geopandas.GeoDataFrame({"n": range(500)}, geometry=[
        shapely.Point(x, y).buffer(chance.uniform(100, 5000), quad_segs=4)
        for x, y in ((chance.uniform(300_000, 700_000), chance.uniform(5_300_000, 6_100_000)) for _ in range(500))], crs=25832)
    pyogrio.write_dataframe(places, folder / UTM, driver="FlatGeobuf", SPATIAL_INDEX="NO")
    (folder / EVENTS).write_text(json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"at": None if n == 7 else f"2026-05-{n % 30 + 1:02d}T{n % 24:02d}:30:00Z", "n": n},
         "geometry": {"type": "Point", "coordinates": [n % 360 - 180, n % 180 - 90]}} for n in range(720)]}))
    (folder / TABLE).write_text("id,name\n1,one\n2,two\n")
    hostile = [{"type": "Feature", "properties": {text: text for text in HOSTILE}, "geometry": {"type": "Point", "coordinates": [1, 2]}}]
    (folder / "<b>&'x.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": hostile}))
    (folder / "bad.geojson").write_text('{"type": "FeatureCollection", "features": [{"type": <script>')
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with Web(folder, *sql.FLAGS) as server:
        yield server


@pytest.fixture(scope="module")
def plain(folder):
    """A server without DuckDB's spatial extension."""
    with Web(folder) as server:
        yield server


@pytest.fixture(scope="module")
def countries(folder):
    return pyogrio.read_dataframe(folder / COUNTRIES)


# OGC 17-069r4, Annex A: the abstract tests of Part 1


def test_landing_page(server):
    for path in "", "/":
        answer = server.get(path)
        assert (answer.status, answer.type) == (200, "application/json")
        page = answer.json
        assert page["title"] and page["description"]
        for rel, media in ("self", "application/json"), ("alternate", "text/html"), ("service-desc", "application/vnd.oai.openapi+json;version=3.0"), \
                ("service-doc", "text/html"), ("conformance", "application/json"), ("data", "application/json"):
            there = server.get(link(page, rel, media)["href"])
            assert there.status == 200 and there.type.startswith(media), rel


def test_conformance(server, plain):
    classes = server.get("/conformance").json["conformsTo"]
    assert len(set(classes)) == len(classes)
    for name in "core", "geojson", "html", "oas30":
        assert f"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/{name}" in classes
    assert "http://www.opengis.net/spec/ogcapi-features-2/1.0/conf/crs" in classes
    for name in "queryables", "filter", "features-filter":
        assert f"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/{name}" in classes
    for name in "cql2-text", "cql2-json", "basic-cql2", "advanced-comparison-operators", "basic-spatial-functions":
        assert f"http://www.opengis.net/spec/cql2/1.0/conf/{name}" in classes
    assert "http://www.opengis.net/spec/cql2/1.0/conf/spatial-functions" not in plain.get("/conformance").json["conformsTo"]


def test_api_definition(server):
    answer = server.get("/api", headers={"Accept": "application/vnd.oai.openapi+json;version=3.0"})
    assert answer.type == "application/vnd.oai.openapi+json;version=3.0"
    api = answer.json
    assert api["openapi"].startswith("3.0.") and api["info"]["title"] and api["info"]["version"]
    openapi_spec_validator.validate(api)
    assert {"/", "/conformance", "/api", "/collections", "/collections/{collectionId}", "/collections/{collectionId}/items",
            "/collections/{collectionId}/items/{featureId}", "/collections/{collectionId}/queryables"} == set(api["paths"])

    def resolved(value):
        if isinstance(value, dict):
            if "$ref" in value:
                target = api
                for step in value["$ref"].removeprefix("#/").split("/"):
                    target = target[step]
                return resolved(target)
            return {k: resolved(v) for k, v in value.items()}
        return [resolved(v) for v in value] if isinstance(value, list) else value

    identifiers = set()
    for path, methods in resolved(api["paths"]).items():
        assert set(methods) == {"get"}
        operation = methods["get"]
        identifiers.add(operation["operationId"])
        assert operation["responses"]["200"]["description"] and "application/problem+json" in operation["responses"]["400"]["content"]
        names = [(p["name"], p["in"]) for p in operation["parameters"]]
        assert len(set(names)) == len(names)
        assert {n for n, where in names if where == "path"} == set(re.findall(r"\{(\w+)\}", path))
        assert all(p["required"] == (p["in"] == "path") for p in operation["parameters"])
    assert len(identifiers) == len(api["paths"])
    parameters = {p["name"]: p for p in resolved(api["paths"])["/collections/{collectionId}/items"]["get"]["parameters"]}
    limit = parameters["limit"]  # the requirements fc-limit-definition, fc-bbox-definition and fc-time-definition
    assert (limit["in"], limit["style"], limit["explode"]) == ("query", "form", False)
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1000}
    bbox = parameters["bbox"]
    assert bbox["schema"] == {"type": "array", "minItems": 4, "maxItems": 6, "items": {"type": "number"}} and not bbox["explode"]
    assert parameters["datetime"]["schema"] == {"type": "string"}


def test_collections(server):
    server.get(collection(COUNTRIES))
    answer = server.get("/collections")
    assert answer.type == "application/json"
    document = answer.json
    assert link(document, "self") and link(document, "alternate", "text/html")
    names = [c["id"] for c in document["collections"]]
    assert names == sorted(names) and {COUNTRIES, POINTS, UTM, EVENTS, TABLE} <= set(names)
    for c in document["collections"]:
        items = link(c, "items", "application/geo+json")
        assert urllib.parse.unquote(items["href"]) == urllib.parse.unquote(server.ogc + collection(c["id"]) + "/items")
        assert c["itemType"] == "feature" and link(c, "items", "text/html")
    assert link(document, "next") is None
    (box,) = next(c for c in document["collections"] if c["id"] == COUNTRIES)["extent"]["spatial"]["bbox"]
    assert box == [-180, -90, 180, 83.64513]


def test_pages_of_collections(server):
    names, document = [], server.get("/collections", limit=2).json
    while True:
        assert len(document["collections"]) <= 2
        names += [c["id"] for c in document["collections"]]
        if not (after := link(document, "next")):
            break
        document = server.get(after["href"]).json
    assert names == [c["id"] for c in server.get("/collections").json["collections"]]


def test_collection(server):
    for name in COUNTRIES, POINTS, UTM, EVENTS, TABLE:
        answer = server.get(collection(name))
        document = answer.json
        assert (answer.status, document["id"], document["itemType"]) == (200, name, "feature")
        for rel, media in ("self", "application/json"), ("alternate", "text/html"), ("items", "application/geo+json"), ("items", "text/html"):
            assert server.get(link(document, rel, media)["href"]).status == 200
        if name != TABLE:
            (box,) = document["extent"]["spatial"]["bbox"]
            assert document["extent"]["spatial"]["crs"] == CRS84
            assert -180 <= box[0] <= box[2] <= 180 and -90 <= box[1] <= box[3] <= 90
    assert server.get(collection("missing")).status == 404


def test_raw_slashes_are_accepted(server):
    for path in "/collections/" + COUNTRIES, "/collections/" + COUNTRIES + "/":
        assert server.get(path).json["id"] == COUNTRIES
    assert server.get(f"/collections/{COUNTRIES}/items", limit=1).json["numberReturned"] == 1
    assert server.get(f"/collections/{COUNTRIES}/items/3").json["id"] == 3
    assert server.get(f"/collections/{COUNTRIES}/queryables").json["title"] == COUNTRIES


def test_features(server, countries):
    answer = server.get(collection(COUNTRIES) + "/items")
    assert answer.type == "application/geo+json" and answer.headers["Content-Crs"] == f"<{CRS84}>"
    document = answer.json
    assert document["type"] == "FeatureCollection" and document["numberMatched"] == document["numberReturned"] == len(document["features"]) == 177
    assert abs(time.time() - time.mktime(time.strptime(document["timeStamp"], "%Y-%m-%dT%H:%M:%SZ")) + time.timezone) < 60
    assert link(document, "self", "application/geo+json") and link(document, "alternate", "text/html") and not link(document, "next")
    assert answer.headers["OGC-NumberMatched"] == answer.headers["OGC-NumberReturned"] == "177"
    first = server.get(collection(COUNTRIES) + "/items", limit=100)
    assert f'<{link(first.json, "next")["href"]}>; rel="next"; type="application/geo+json"' in first.headers.get_all("Link")
    for n, (feature, row) in enumerate(zip(document["features"], countries.itertuples(), strict=True)):
        assert (feature["type"], feature["id"], feature["properties"]["name"]) == ("Feature", n, row.name)
        assert shapely.geometry.shape(feature["geometry"]).equals(row.geometry)


def test_limit(server):
    for limit, returned in (1, 1), (10, 10), (1000, 177), (10_000, 177), (10**30, 177):
        assert server.items(COUNTRIES, limit=limit)["numberReturned"] == returned
    assert server.items(POINTS)["numberReturned"] == 1000
    assert server.items(POINTS, limit=20_000)["numberReturned"] == 10_000
    assert server.items(COUNTRIES, limit=177)["numberMatched"] == 177 and not link(server.items(COUNTRIES, limit=177), "next")


@pytest.mark.parametrize("bad", ["limit=0", "limit=-1", "limit=x", "limit=", "limit=1.5", "bbox=1,2,3", "bbox=1,2,3,x", "bbox=", "bbox=1,2,3,nan", "bbox=1,5,3,4",
                                 "bbox=1,2,3,4,5", "datetime=x", "datetime=2026-13-01T00:00:00Z", "datetime=2026-05-02T00:00:00Z/2026-05-01T00:00:00Z", "unknown=1",
                                 "limit=1&limit=2", "crs=x", "crs=EPSG:999999", "bbox=1,2,3,4&bbox-crs=x", "filter=x", "filter=n%3D%27a%27", "filter-lang=sql&filter=n=1",
                                 "token=x", "token=AAAAAAAAAAAAAAAA%2B", "f=xml", "properties=missing", "n=x", "%zz=1", "filter=n=1&filter-crs=x", "ok=1"])
def test_invalid_parameters(server, bad):
    answer = server.get(collection(POINTS) + "/items?" + bad)
    assert (answer.status, answer.type) == (400, "application/problem+json"), answer.body
    assert answer.json["status"] == 400 and answer.json["title"] and answer.json["detail"]


@pytest.mark.parametrize("path", ["", "/conformance", "/api", "/collections", collection(COUNTRIES), collection(COUNTRIES) + "/items", collection(COUNTRIES) + "/items/1",
                                  collection(COUNTRIES) + "/queryables"])
def test_unknown_parameters_and_content_negotiation(server, path):
    assert server.get(path + "?unknown=1").status == 400 and server.get(path + "?f=xml").status == 400
    for accept, media in ("text/html", "text/html"), ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"), ("*/*", "json"), \
            ("application/json", "json"), ("application/geo+json, application/json;q=0.5, text/html;q=0.1", "json"), ("", "json"):
        assert media in server.get(path, headers={"Accept": accept}).type, accept
    assert "text/html" in server.get(path + "?f=html", headers={"Accept": "application/json"}).type
    assert "json" in server.get(path + "?f=json", headers={"Accept": "text/html"}).type
    assert "Accept" in ",".join(server.get(path).headers.get_all("Vary"))


def test_feature(server, countries):
    answer = server.get(collection(COUNTRIES) + "/items/7")
    feature = answer.json
    assert answer.type == "application/geo+json" and answer.headers["Content-Crs"] == f"<{CRS84}>"
    assert (feature["type"], feature["id"], feature["properties"]["name"]) == ("Feature", 7, countries.name[7])
    assert link(feature, "self", "application/geo+json") and link(feature, "alternate", "text/html")
    assert server.get(link(feature, "collection")["href"]).json["id"] == COUNTRIES
    for missing in "/items/177", "/items/x", "/items/-1", "/items/99999999999999999999999", "/nothing":
        answer = server.get(collection(COUNTRIES) + missing)
        assert (answer.status, answer.type) == (404, "application/problem+json")


def test_bbox_selects_what_intersects_it(server, countries):
    chance = random.Random(2)
    for _ in range(150):
        x, y = chance.uniform(-180, 180), chance.uniform(-90, 90)
        box = (x, y, min(180, x + chance.choice([0, 0.5, 5, 60])), min(90, y + chance.choice([0, 0.5, 5, 60])))
        page = server.items(COUNTRIES, bbox=",".join(map(repr, box)))
        want = countries.index[shapely.intersects(countries.geometry.values, shapely.box(*box))].tolist()
        assert [f["id"] for f in page["features"]] == want and page["numberMatched"] == len(want), box
    assert [f["properties"]["name"] for f in server.items(COUNTRIES, bbox="170,-50,-175,-10")["features"]] == ["Fiji", "New Zealand"]
    assert server.ids(COUNTRIES, bbox="10,50,-1000,11,51,9000") == server.ids(COUNTRIES, bbox="10,50,11,51")
    assert server.items(TABLE, bbox="-180,-90,180,90")["numberMatched"] == 0


def test_edges_of_a_box_are_inside(server, countries):
    chance = random.Random(3)
    for _ in range(100):
        row = chance.randrange(len(countries))
        positions = shapely.get_coordinates(countries.geometry[row])
        x, y = map(float, chance.choice(list(positions)))
        for box in (x, y, x, y), (x, y, 180, 90), (-180, -90, x, y):
            want = countries.index[shapely.intersects(countries.geometry.values, shapely.box(*box) if box[0] < box[2] else shapely.Point(x, y))].tolist()
            assert server.ids(COUNTRIES, bbox=",".join(map(repr, box))) == want, box


def test_datetime(server):
    rows = [f["properties"]["at"] for f in server.pages(EVENTS)]
    for text, keep in (("2026-05-02T01:30:00Z", lambda at: at == "2026-05-02T01:30:00Z"),
                       ("2026-05-10T00:00:00Z/2026-05-12T12:00:00Z", lambda at: "2026-05-10T00:00:00Z" <= at <= "2026-05-12T12:00:00Z"),
                       ("../2026-05-03T00:00:00Z", lambda at: at <= "2026-05-03T00:00:00Z"), ("/2026-05-03T00:00:00Z", lambda at: at <= "2026-05-03T00:00:00Z"),
                       ("2026-05-29T00:00:00Z/..", lambda at: at >= "2026-05-29T00:00:00Z"), ("2026-05-29T00:00:00Z/", lambda at: at >= "2026-05-29T00:00:00Z"),
                       ("2026-05-29T02:00:00+02:00/..", lambda at: at >= "2026-05-29T00:00:00Z"), ("2026-05-04", lambda at: at.startswith("2026-05-04"))):
        want = [n for n, at in enumerate(rows) if at and keep(at.replace(".000", ""))]
        assert want and server.ids(EVENTS, datetime=text) == want, text
    assert server.items(COUNTRIES, datetime="2026-05-04T00:00:00Z")["numberMatched"] == 177  # it has no time


def test_parameters_of_properties(server):
    assert [f["properties"]["name"] for f in server.items(COUNTRIES, name="Chile")["features"]] == ["Chile"]
    both = server.items(COUNTRIES, continent="Africa", bbox="10,0,20,10")["features"]
    assert both and {f["properties"]["continent"] for f in both} == {"Africa"}
    assert server.ids(POINTS, ok="true", value="7") == server.ids(POINTS, filter="ok = TRUE AND value = 7")
    page = server.items(COUNTRIES, properties="name,pop_est", limit=1)
    assert list(page["features"][0]["properties"]) == ["name", "pop_est"] and page["features"][0]["geometry"]
    assert server.items(COUNTRIES, properties="", limit=1)["features"][0]["properties"] == {}


# Pages


def test_pages_are_the_table(server):
    table = server.client().do_get(flight.Ticket(POINTS)).read_all()
    for limit in 777, 10_000:
        features = server.pages(POINTS, limit=limit)
        assert [f["id"] for f in features] == list(range(FEATURES))
        assert [f["properties"]["n"] for f in features] == table["n"].to_pylist()
        assert [f["properties"]["ratio"] for f in features] == table["ratio"].to_pylist()
        assert [f["properties"]["big"] for f in features] == table["big"].to_pylist()


def test_pages_of_a_filter_are_its_features(server):
    whole = server.ids(POINTS, filter="value > 900 AND ok")
    assert len(whole) > 1000 and [f["id"] for f in server.pages(POINTS, filter="value > 900 AND ok", limit=100)] == whole
    boxed = server.items(POINTS, bbox="-10,-10,10,10", limit=10_000)
    assert [f["id"] for f in server.pages(POINTS, bbox="-10,-10,10,10", limit=7)] == [f["id"] for f in boxed["features"]]
    assert boxed["numberMatched"] == boxed["numberReturned"]


def test_datasets_layers_and_packed_files(tmp_path):
    for year in 2023, 2024, 2025:
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "a.csv").write_text("n,lon,lat\n" + "".join(f"{n},{n % 360 - 180},{n % 180 - 90}\n" for n in range(year, year + 3000)))
    (tmp_path / "two.kml").write_text('<kml xmlns="http://www.opengis.net/kml/2.2"><Document>' + "".join(
        f"<Folder><name>{layer}</name><Placemark><name>{layer}</name><Point><coordinates>{x},2</coordinates></Point></Placemark></Folder>"
        for x, layer in enumerate(["first", "second"])) + "</Document></kml>")
    with Web(tmp_path, "--dataset", f"years={tmp_path}/year=*/*.csv") as server:
        table = server.client().do_get(flight.Ticket("years")).read_all()
        features = server.pages("years", limit=2500)
        assert [f["id"] for f in features] == list(range(9000))
        assert [f["properties"]["n"] for f in features] == table["n"].to_pylist() and [f["properties"]["year"] for f in features] == table["year"].to_pylist()
        assert server.ids("years", filter="year = 2024 AND n < 2030") == [3000 + n for n in range(6)]
        assert server.ids("years", bbox="-180,-90,-179,-89") == [n for n, v in enumerate(table["n"].to_pylist()) if v % 360 <= 1 and v % 180 <= 1]
        names = [c["id"] for c in server.get("/collections").json["collections"]]
        assert "years" in names
        (feature,) = server.items("two.kml#second")["features"]
        assert "second" in feature["properties"].values()
        assert server.get("/collections/two.kml%23second/items/0").json["geometry"]["coordinates"][:2] == [1, 2]


def test_a_changed_file_ends_its_pages(tmp_path):
    def write(count):
        (tmp_path / "new").write_text("n,lon,lat\n" + "".join(f"{n},{n},{n}\n" for n in range(count)))
        os.replace(tmp_path / "new", tmp_path / "a.csv")

    write(50)
    with Web(tmp_path) as server:
        page = server.items("a.csv", limit=20)
        after = link(page, "next")["href"]
        assert [f["properties"]["n"] for f in server.get(after).json["features"]] == list(range(20, 40))
        write(60)
        answer = server.get(after)
        assert (answer.status, answer.type) == (410, "application/problem+json") and "begin again" in answer.json["detail"]
        assert len(server.pages("a.csv", limit=20)) == 60


def test_answers_are_revalidated(server):
    path = collection(COUNTRIES) + "/items?limit=3"
    tag = server.get(path).headers["ETag"]
    assert server.get(path, headers={"If-None-Match": tag}).status == 304
    assert server.get(path + "&bbox=1,2,3,4", headers={"If-None-Match": tag}).status == 200


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


def test_without_proj(plain, folder):
    document = plain.get(collection(UTM)).json
    assert document["crs"] == [EPSG + "25832"] and "extent" not in document
    for path in "/items", "/items/1", "/items?bbox=1,2,3,4", f"/items?crs={EPSG}25832&bbox=1,2,3,4", f"/items?crs={EPSG}25832&filter=S_INTERSECTS(geometry,BBOX(1,2,3,4))":
        answer = plain.get(collection(UTM) + path)
        assert answer.status == 501 and "--duckdb-extensions" in answer.json["detail"] and EPSG + "25832" in answer.json["detail"]
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
        assert server.get(collection(UTM) + "/items", crs=EPSG + "25832", filter="S_INTERSECTS(geometry, POINT(1 2))").status == 501
        assert len(server.ids(UTM, crs=EPSG + "25832", filter_crs=EPSG + "25832", filter="S_INTERSECTS(geometry, BBOX(0,0,1e7,1e7))")) == 500
        for parameters in {"filter": "pop_est > 1"}, {"continent": "Africa"}:
            answer = server.get(collection(COUNTRIES) + "/items", **parameters)
            assert answer.status == 501 and "--no-sql" in answer.json["detail"]


# OGC 19-079r2 and 21-065r2: the abstract tests of Part 3 and of CQL2


def test_queryables(server):
    answer = server.get(collection(POINTS) + "/queryables", headers={"Accept": "application/schema+json"})
    document = answer.json
    assert answer.type == "application/schema+json"
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema" and document["type"] == "object"
    assert document["$id"] == server.ogc + collection(POINTS) + "/queryables"
    kinds = {name: (p.get("type"), p.get("format")) for name, p in document["properties"].items()}
    assert kinds == {"n": ("integer", None), "name": ("string", None), "value": ("integer", None), "ratio": ("number", None), "ok": ("boolean", None),
                     "day": ("string", "date"), "big": ("integer", None), "geometry": (None, "geometry-any")}
    assert link(server.get(collection(POINTS)).json, "http://www.opengis.net/def/rel/ogc/1.0/queryables", "application/schema+json")


def test_filters_of_the_standard(server):
    """The examples of 21-065r2, Annex A and clause 6, on the columns that are here."""
    def count(text, **more):
        return server.items(COUNTRIES, filter=text, **more)["numberReturned"]

    assert count("name='Luxembourg'") == 1 and count("name>='Luxembourg'") + count("name<'Luxembourg'") == 177
    assert count("pop_est=pop_est") == 177 and count("pop_est<>pop_est") == 0
    assert count("name IS NULL") + count("name IS NOT NULL") == 177
    assert count("NOT (name='Luxembourg')") == 176 and count("NOT name='Luxembourg'") == 176
    assert count("name='Luxembourg' OR name='Chile' AND continent='Europe'") == 1
    assert count("name LIKE 'B_r%'") == count("name LIKE 'B_r%' AND name NOT LIKE 'C%'") > 0
    assert count("name LIKE 'b_r%'") == 0 and count("CASEI(name) LIKE CASEI('b_R%')") == count("name LIKE 'B_r%'")
    assert count("pop_est between 1000000 and 3000000") == count("pop_est>=1000000 AND pop_est<=3000000") > 0
    assert count("name IN ('Kiev','kobenhavn','Berlin','Chile')") == 1 and count("name NOT IN ('Chile')") == 176
    assert count("S_INTERSECTS(geometry,BBOX(0,40,10,50))") == count("S_INTERSECTS(geometry,BBOX(0,40,-1,10,50,1))") > 0
    assert count("S_INTERSECTS(geometry,POINT(7.02 49.92))") == 1
    assert count("S_INTERSECTS(geometry,BBOX(150,-90,-150,90))") == count("S_INTERSECTS(geometry,BBOX(150,-90,180,90)) OR S_INTERSECTS(geometry,BBOX(-180,-90,-150,90))")
    assert count("S_INTERSECTS(geometry,BBOX(40,0,50,10))", filter_crs=EPSG + "4326") == count("S_INTERSECTS(geometry,BBOX(0,40,10,50))")
    assert count('{"op":"s_intersects","args":[{"property":"geometry"},{"bbox":[0,40,10,50]}]}', filter_lang="cql2-json") == count("S_INTERSECTS(geometry,BBOX(0,40,10,50))")
    assert server.get(collection(COUNTRIES) + "/items", filter="name='a'", filter_lang="cql2-json").status == 400
    detail = server.get(collection(COUNTRIES) + "/items", filter="name = 'a' AND pop > 1").json["detail"]
    assert detail == 'filter, byte 15: there is no property "pop"'


class Predicates:
    """Generates predicates in CQL2 text, CQL2 JSON and SQL."""

    def __init__(self, seed, spatial):
        self.chance, self.spatial = random.Random(seed), spatial

    def generate(self, depth=3):
        kind = self.chance.randrange(10)
        if depth and kind < 3:
            op = self.chance.choice(["and", "or"])
            parts = [self.generate(depth - 1) for _ in range(self.chance.randint(2, 3))]
            return (f" {op.upper()} ".join(f"({p[0]})" for p in parts), {"op": op, "args": [p[1] for p in parts]}, f" {op} ".join(f"({p[2]})" for p in parts))
        if depth and kind < 4:
            a, b, c = self.generate(depth - 1)
            return f"NOT ({a})", {"op": "not", "args": [b]}, f"NOT ({c})"
        return self.chance.choice([self.numbers, self.numbers, self.texts, self.texts, self.like, self.between, self.one_of, self.null, self.dates, self.boolean,
                                   self.arithmetic, self.box, self.shape if self.spatial else self.box])()

    def compare(self, name, text, encoded, query=None):
        op = self.chance.choice(["=", "<>", "<", ">", "<=", ">="])
        return f"{name} {op} {text}", {"op": op, "args": [{"property": name}, encoded]}, f'"{name}" {op} {query or text}'

    def number(self):
        return self.chance.choice([self.chance.randint(-1100, 1100), self.chance.uniform(-60, 60), 2**53 + self.chance.randrange(FEATURES), 0, -0.5])

    def numbers(self):
        v = self.number()
        return self.compare(self.chance.choice(["value", "ratio", "n", "big"]), repr(v), v, f"{v!r}" if isinstance(v, int) else f"'{v!r}'::DOUBLE")

    def word(self):
        return self.chance.choice(["Ähre", "beta", "it's", "50%", "a_b", "Gamma", "γάμμα", "", "\\", "'"]) + str(self.chance.randrange(100))

    def texts(self):
        v = self.word()
        quoted = "'" + v.replace("'", "''") + "'"
        if "\\" in v:
            return self.numbers()
        if self.chance.random() < 0.3:
            v = v.upper()
            quoted = "'" + v.replace("'", "''") + "'"
            return f"CASEI(name) = CASEI({quoted})", {"op": "=", "args": [{"op": "casei", "args": [{"property": "name"}]}, {"op": "casei", "args": [v]}]}, \
                f"lower(name) = lower({quoted})"
        return self.compare("name", quoted, v)

    def like(self):
        v = self.chance.choice(["beta%", "%9", "_amma%", "50\\%%", "a\\_b_", "%'%", "%", "Ä%", "it's__"])
        quoted = "'" + v.replace("'", "''") + "'"
        negated = self.chance.random() < 0.3
        encoded = {"op": "like", "args": [{"property": "name"}, v]}
        return f"name {'NOT ' * negated}LIKE {quoted}", {"op": "not", "args": [encoded]} if negated else encoded, f"name {'NOT ' * negated}LIKE {quoted} ESCAPE '\\'"

    def between(self):
        a, b = sorted(self.chance.randint(-1100, 1100) for _ in range(2))
        return f"value BETWEEN {a} AND {b}", {"op": "between", "args": [{"property": "value"}, a, b]}, f"value BETWEEN {a} AND {b}"

    def one_of(self):
        values = [self.chance.randint(-1000, 1000) for _ in range(self.chance.randint(1, 30))]
        text = f"value IN ({', '.join(map(str, values))})"
        return text, {"op": "in", "args": [{"property": "value"}, values]}, text

    def null(self):
        name = self.chance.choice(["value", "name", "geometry"])
        return f"{name} IS NULL", {"op": "isNull", "args": [{"property": name}]}, f"{name} IS NULL"

    def dates(self):
        v = f"2024-{self.chance.randint(1, 12):02d}-{self.chance.randint(1, 28):02d}"
        return self.compare("day", f"DATE('{v}')", {"date": v}, f"DATE '{v}'")

    def boolean(self):
        return self.chance.choice([("ok", {"property": "ok"}, "ok"), ("ok = FALSE", {"op": "=", "args": [{"property": "ok"}, False]}, "NOT ok"), ("TRUE", True, "true")])

    def arithmetic(self):
        a, b = self.chance.randint(1, 9), self.number()
        return f"value * {a} - n / {a} >= {b!r}", {"op": ">=", "args": [{"op": "-", "args": [
            {"op": "*", "args": [{"property": "value"}, a]}, {"op": "/", "args": [{"property": "n"}, a]}]}, b]}, f"value::DOUBLE * {a} - n::DOUBLE / {a} >= {b!r}::DOUBLE"

    def bounds(self):
        x, y = self.chance.uniform(-180, 100), self.chance.uniform(-90, 50)
        return x, y, x + self.chance.uniform(0, 80), y + self.chance.uniform(0, 40)

    def box(self):
        b = self.bounds()
        text = ",".join(map(repr, b))
        x, y = "ST_X(geometry)", "ST_Y(geometry)"
        query = f"{x} BETWEEN {b[0]!r}::DOUBLE AND {b[2]!r}::DOUBLE AND {y} BETWEEN {b[1]!r}::DOUBLE AND {b[3]!r}::DOUBLE"
        return f"S_INTERSECTS(geometry, BBOX({text}))", {"op": "s_intersects", "args": [{"property": "geometry"}, {"bbox": b}]}, query

    def shape(self):
        a = self.bounds()
        ring = [(a[0], a[1]), (a[2], a[1]), (a[2], a[3]), ((a[0] + a[2]) / 2, (a[1] + a[3]) / 2), (a[0], a[1])]
        wkt = "POLYGON((" + ",".join(f"{x!r} {y!r}" for x, y in ring) + "))"
        name = self.chance.choice(["Intersects", "Within", "Disjoint"])
        return f"S_{name.upper()}(geometry, {wkt})", {"op": "s_" + name.lower(), "args": [{"property": "geometry"}, {"type": "Polygon", "coordinates": [ring]}]}, \
            f"ST_{name}(geometry, ST_GeomFromText('{wkt}'))"


@sql.needs_spatial
@pytest.mark.parametrize("seed", range(4))
def test_filters_equal_sql(server, seed):
    predicates, client = Predicates(seed, spatial=True), server.client()
    some = 0
    for i in range(75):
        text, encoded, query = predicates.generate()
        want = sorted(sql.ask(client, f'SELECT n FROM "{POINTS}" WHERE {query}')["n"].to_pylist())
        filters = {"filter": text} if i % 2 else {"filter": json.dumps(encoded), "filter_lang": "cql2-json"}
        expected = want[:10_000]
        got = server.items(POINTS, limit=10_000, properties="n", **filters)
        assert [f["properties"]["n"] for f in got["features"]] == expected, text
        assert (link(got, "next") is None) == (len(want) <= 10_000), text
        some += 0 < len(want) < FEATURES
    assert some > 40


@sql.needs_spatial
def test_many_filters_at_once(server):
    def one(i):
        return server.ids(COUNTRIES, filter=f"pop_est > {i}000000 OR S_WITHIN(geometry, BBOX({i},0,90,80))"), server.items(UTM, limit=20, crs=EPSG + "3857")["features"]

    with concurrent.futures.ThreadPoolExecutor(24) as threads:
        assert list(threads.map(one, list(range(30)) * 3)) == [one(i) for i in range(30)] * 3


def test_a_filter_needs_the_privilege_read_only(tmp_path, folder):
    for name in "secret.geojson", "open.geojson", "part.geojson", "described.geojson", "masked.geojson":
        (tmp_path / name).write_bytes((folder / EVENTS).read_bytes())
    config = tmp_path / "config"
    config.mkdir()
    (config / "grants.toml").write_text('''
[[rules]]
name = "open.geojson"
privileges = ["read"]
[[rules]]
name = "part.geojson"
privileges = ["read"]
filter = "n % 2 = 1"
columns = [{ name = "at", allow = false }]
[[rules]]
name = "masked.geojson"
privileges = ["read"]
columns = [{ name = "n", mask = "n % 2" }, { name = "geometry", mask = "NULL" }]
[[rules]]
name = "described.geojson"
privileges = ["describe"]
''')
    users = config / "users"
    subprocess.run([BINARY, "user", "add", "--users", users, "eve"], input="secret\nsecret\n", text=True, check=True, capture_output=True)
    with Web(tmp_path, "--users", str(users), "--grants", str(config / "grants.toml")) as server:
        login = {"Authorization": "Basic " + base64.b64encode(b"eve:secret").decode()}

        def get(path, **parameters):
            return server.get(path, headers=login, **parameters)

        assert server.get("/collections").status == 401
        assert [c["id"] for c in get("/collections").json["collections"]] == ["described.geojson", "masked.geojson", "open.geojson", "part.geojson"]
        for path in "", "/items", "/items/1", "/queryables", "/items?filter=n=1":
            hidden, missing = get(collection("secret.geojson") + path), get(collection("absent.geojson") + path)
            assert hidden.status == missing.status == 404
            assert hidden.json["detail"].startswith('no entry "secret.geojson"') and missing.json["detail"].startswith('no entry "absent.geojson"')
            assert "secret" not in missing.json["detail"]
        assert get(collection("open.geojson") + "/items", filter="n < 3").json["numberReturned"] == 3
        assert get(collection("described.geojson")).status == 200 and get(collection("described.geojson") + "/items").status == 403
        part = get(collection("part.geojson") + "/items", filter="n < 10").json["features"]
        assert [(f["id"], f["properties"]) for f in part] == [(i, {"n": 2 * i + 1}) for i in range(5)]
        assert set(get(collection("part.geojson") + "/queryables").json["properties"]) == {"n", "geometry"}
        assert get(collection("part.geojson") + "/items", filter="at IS NULL").status == 400 and get(collection("part.geojson") + "/items", at="x").status == 400
        assert get(collection("part.geojson") + "/items", bbox="-180,-90,180,90").json["numberMatched"] == 360
        masked = collection("masked.geojson") + "/items"  # true values can't be found by filters
        assert get(masked, filter="n > 1").json["numberMatched"] == get(masked, bbox="-180,-90,180,90").json["numberMatched"] == 0
        assert len(get(masked, filter="n = 1 AND geometry IS NULL", limit=1000).json["features"]) == 360 and get(masked, n=7).json["features"] == []
        frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer="part.geojson", USERPWD="eve:secret")
        assert frame["n"].tolist() == list(range(1, 720, 2))


# Clients


def test_gdal_reads_all_pages(server, folder):
    table = server.client().do_get(flight.Ticket(POINTS)).read_all()
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=POINTS)
    assert len(frame) == FEATURES and frame["n"].tolist() == table["n"].to_pylist()
    assert frame["name"].tolist() == table["name"].to_pylist() and frame["ratio"].tolist() == table["ratio"].to_pylist()
    assert frame["big"].tolist() == table["big"].to_pylist() and frame["ok"].tolist() == table["ok"].to_pylist()
    assert [None if v != v else int(v) for v in frame["value"]] == table["value"].to_pylist()
    assert [str(v)[:10] for v in frame["day"]] == [str(v) for v in table["day"].to_pylist()]
    direct = pyogrio.read_dataframe(folder / POINTS)
    assert shapely.equals_identical(frame.geometry.values, direct.geometry.values).sum() == FEATURES - FEATURES // 1000
    assert frame.geometry.isna().sum() == FEATURES // 1000


def test_gdal_lists_layers_and_filters(server, countries):
    names = pyogrio.list_layers("OAPIF:" + server.ogc)[:, 0].tolist()
    assert {COUNTRIES, POINTS, UTM} <= set(names)
    info = pyogrio.read_info("OAPIF:" + server.ogc, layer=COUNTRIES)
    assert info["features"] == 177 and "CRS84" in info["crs"]
    box = (5.0, 45.0, 15.0, 55.0)
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=COUNTRIES, bbox=box)
    assert frame["name"].tolist() == countries.name[shapely.intersects(countries.geometry.values, shapely.box(*box))].tolist()
    for where, want in ("pop_est > 100000000 AND continent = 'Asia'", countries[(countries.pop_est > 1e8) & (countries.continent == "Asia")]), \
            ("name LIKE 'C%'", countries[countries.name.str.startswith("C")]), ("name ILIKE 'c%'", countries[countries.name.str.startswith("C")]), \
            ("NOT (continent = 'Africa')", countries[countries.continent != "Africa"]):
        assert pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=COUNTRIES, where=where)["name"].tolist() == want.name.tolist(), where
    dated = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=POINTS, where="day = '2024-02-02' AND value > 900")
    assert set(dated["n"]) == set(server.ids(POINTS, filter="day = DATE('2024-02-02') AND value > 900"))


@sql.needs_spatial
def test_gdal_reads_other_systems(server, folder):
    want = pyogrio.read_dataframe(folder / UTM)
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=UTM, CRS="EPSG:25832")
    assert frame.crs == want.crs and numpy.allclose(frame.total_bounds, want.total_bounds)
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=UTM)
    assert frame.crs == want.crs  # GDAL prefers the system that the features are stored in
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=UTM, CRS="OGC:CRS84")
    assert "CRS84" in str(frame.crs) and numpy.allclose(frame.total_bounds, want.to_crs("OGC:CRS84").total_bounds)


def test_what_qgis_requests(server):
    """The requests of QGIS 3.44 and 4.0 (src/providers/wfs/oapif), in their order."""
    page = server.get("", headers={"Accept": "application/json"}).json
    api = server.get(link(page, "service-desc", "application/vnd.oai.openapi+json;version=3.0")["href"],
                     headers={"Accept": "application/vnd.oai.openapi+json;version=3.0, application/openapi+json;version=3.0, application/json"}).json
    assert api["components"]["parameters"]["limit"]["schema"]["maximum"] == 10_000
    collections = link(page, "data", "application/json")["href"]
    there = collections + "/" + COUNTRIES  # it does not escape the name
    document = server.get(there, headers={"Accept": "application/json"}).json
    assert document["extent"]["spatial"]["bbox"] and document["crs"] and document["storageCrs"]
    classes = server.get(link(page, "conformance")["href"]).json["conformsTo"]
    assert {"http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-operators", "http://www.opengis.net/spec/cql2/1.0/conf/case-insensitive-comparison"} <= set(classes)
    properties = server.get(there + "/queryables", headers={"Accept": "application/schema+json"}).json["properties"]
    assert properties["geometry"]["$ref"].startswith("https://geojson.org/schema/") and properties["name"]["type"] == "string"
    accept = {"Accept": "application/geo+json, application/json"}
    assert server.get(there + "/items?limit=10", headers=accept).json["numberMatched"] == 177
    url, count = f"{there}/items?limit=50&bbox=-180,-90,180,90&crs={CRS84}&bbox-crs={CRS84}&filter=(%22pop_est%22%20%3E%200)&filter-lang=cql2-text", 0
    while url:
        answer = server.get(url, headers=accept)
        assert answer.type == "application/geo+json"
        count += len(answer.json["features"])
        after = link(answer.json, "next", "application/geo+json")
        url = after and after["href"]
    assert count == 177


# Texts full of markup


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.text, self.tags, self.links, self.style = [], set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert not any(name.startswith("on") or name in ("src", "style") for name, _ in attributes), (tag, attributes)
        self.links += [value for name, value in attributes if name == "href"]

    def handle_data(self, data):
        if self.lasttag == "style" and not self.style:
            self.style = data
        self.text.append(data)


def test_markup_is_text(server):
    name = "<b>&'x.geojson"
    for path in "", "/conformance", "/api", "/collections", collection(name), collection(name) + "/items", collection(name) + "/items/0", collection(name) + "/queryables":
        answer = server.get(path + "?f=html")
        assert (answer.status, answer.type) == (200, "text/html; charset=utf-8")
        page = Page(answer.body.decode())
        assert page.tags <= {"html", "head", "meta", "title", "style", "body", "nav", "main", "h1", "h2", "p", "a", "ul", "li", "dl", "dt", "dd",
                             "table", "thead", "tbody", "tr", "th", "td"}
        assert all(x.startswith(server.ogc) for x in page.links), path  # no foreign request
        digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
        policy = answer.headers["Content-Security-Policy"]
        assert f"style-src 'sha256-{digest}'" in policy and policy.startswith("default-src 'none'") and "unsafe" not in policy
        if "/items" in path:
            assert all(text in page.text for text in HOSTILE), path
        if name in urllib.parse.unquote(path):
            assert any(name in text for text in page.text)
        for href in page.links:
            if "items/0" not in href:
                assert server.get(href).status in (200, 422), href
    assert server.items(name)["features"][0]["properties"] == {text: text for text in HOSTILE}
    for text in HOSTILE:
        answer = server.get(collection(POINTS) + "/items", filter=f"name = {text}", **{"f": "html"})
        assert answer.status == 400 and answer.type == "application/problem+json" and answer.headers["X-Content-Type-Options"] == "nosniff"
        assert server.get(f"/collections/{urllib.parse.quote(text, safe='')}").status == 404


def test_a_malformed_file_is_a_problem(server):
    answer = server.get(collection("bad.geojson") + "/items")
    assert (answer.status, answer.type) == (422, "application/problem+json") and answer.json["byte"] > 0


def test_values_that_geojson_does_not_have(tmp_path):
    with pyarrow.ipc.new_file(tmp_path / "nan.arrow", pyarrow.schema({"n": pyarrow.float64()})) as out:
        out.write(pyarrow.record_batch({"n": [1.0, float("nan"), 3.0]}))
    with Web(tmp_path) as server:
        answer = server.get(collection("nan.arrow") + "/items")
        assert (answer.status, answer.type) == (422, "application/problem+json") and answer.json["detail"].startswith("feature 1: column")
        assert server.ids("nan.arrow", filter="n < 9") == [0, 2]
        assert server.get(collection("nan.arrow") + "/items/1").status == 422


def test_fuzzed_requests_are_answered(server):
    chance = random.Random(5)
    pieces = ["..", "%2F", "%2e%2e", "/", "items", "collections", COUNTRIES, "%00", "%zz", "?", "&", "=", "filter", "bbox", "1,2,3,4", "token", "'", "\"", "(", "limit", "%FF", "f=html", "#"]
    for _ in range(2000):
        path = "/" + "".join(chance.choice(pieces) for _ in range(chance.randint(1, 8))).replace("#", "%23")
        answer = server.get(path)
        assert answer.status in (200, 400, 404, 405, 501), (path, answer.status, answer.body)
        assert str(BINARY.parent).encode() not in answer.body
