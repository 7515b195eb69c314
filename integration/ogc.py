"""The servers and files of the tests of OGC API - Features, and a client that checks the form of each answer."""
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request

import geopandas
import pyogrio
import pytest
import shapely
import sql
from naturalearth import write_countries
from serving import Server, free_port

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
