"""OGC API - Features, Part 1 (OGC 17-069r4): the abstract tests of the standard, shapely on the same data, and hostile content."""
import base64
import hashlib
import html.parser
import os
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request

import openapi_spec_validator
import pyarrow
import pyarrow.flight as flight
import pytest
import shapely
from ogc import COUNTRIES, CRS84, EPSG, EVENTS, FEATURES, HOSTILE, POINTS, TABLE, UTM, Web, collection, countries, folder, link, plain, server  # noqa: F401  fixtures
from serving import BINARY

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
