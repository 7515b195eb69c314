"""OGC API - Features, Part 3 (OGC 19-079r2): CQL2, with SQL on the same data."""
import base64
import concurrent.futures
import json
import random
import subprocess

import pyogrio
import pytest
import sql
from ogc import COUNTRIES, EPSG, EVENTS, FEATURES, POINTS, UTM, Web, collection, folder, link, server  # noqa: F401  fixtures
from serving import BINARY

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
