"""The filter of a ticket: by every route, next to pandas and to DuckDB; with grants, boxes, columns, limits and endpoints."""
import json
import subprocess
import urllib.parse

import duckdb
import geopandas
import numpy as np
import pandas
import pyarrow as pa
import pytest
import shapely
import sql
import vibeflight
from conftest import bits, ticket
from pyarrow import flight
from serving import BINARY
from serving import vibeflight as command
from test_http_listener import Files, Web, basic

NAME = "world/countries.geojson"
LARGE = "large.geojsonl"  # several endpoints

CONDITIONS = [
    "continent = 'Asia'",
    "pop_est > 1e8",
    "pop_est BETWEEN 1000000 AND 5000000 AND name LIKE 'L%'",
    "iso_a3 IN ('FRA', 'NOR', 'TZA') OR gdp_md_est > 5000000",
    "name IS NULL",
    "true",
    "regexp_matches(name, '^.{4}$')",
]


@pytest.fixture(scope="module")
def server(data):
    with Web(data, "--batch-rows", "4096", *sql.FLAGS) as s:
        yield s


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture
def ours(server):
    with vibeflight.connect(server.uri) as connection:
        yield connection


@pytest.fixture(scope="module")
def countries(data):
    return geopandas.read_file(data / NAME)


def read(client, name=NAME, **fields):
    table = client.do_get(ticket(name, **fields)).read_all()
    table.validate(full=True)
    return table


def query(text):
    return urllib.parse.quote(text)


@pytest.mark.parametrize("where", CONDITIONS)
def test_rows_are_duckdbs(client, where):
    whole = read(client, geometry_encoding="wkb")
    attributes = whole.drop_columns(["geometry"])  # noqa: F841  DuckDB finds it by its name
    want = duckdb.sql(f"SELECT * FROM attributes WHERE {where}").arrow()
    want = want.read_all() if isinstance(want, pa.RecordBatchReader) else want
    got = read(client, where=where, geometry_encoding="wkb")
    assert got.drop_columns(["geometry"]).to_pylist() == want.to_pylist()
    assert got.schema.equals(whole.schema, check_metadata=True)
    kept = [i for i, row in enumerate(whole.to_pylist()) if row in got.to_pylist()]
    assert bits(got) == bits(whole.take(pa.array(kept, pa.int64()))), "each value as without the filter"


def test_pandas(ours, countries):
    got = ours.table(NAME, where="pop_est > 50000000 AND continent <> 'Asia'").geopandas()
    want = countries[(countries.pop_est > 5e7) & (countries.continent != "Asia")]
    assert list(got.name) == list(want.name) and all(a.equals(b) for a, b in zip(got.geometry, want.geometry))


@sql.needs_spatial
def test_geometry(ours, countries):
    got = ours.table(NAME, columns=["name"], where="ST_Area(geometry) > 100 AND ST_XMin(geometry) > 0").pandas()
    want = countries[(shapely.area(countries.geometry.values) > 100) & (countries.geometry.bounds.minx > 0)]
    assert list(got.name) == list(want.name)


def test_columns_bbox_limit_rows(client, ours, countries):
    """The filter sees columns that are not requested, and comes first."""
    where, box = "pop_est > 10000000", [-20, -35, 55, 38]
    bounds = countries.geometry.bounds
    of = countries[countries.pop_est > 1e7]
    inside = (bounds.minx <= box[2]) & (bounds.maxx >= box[0]) & (bounds.miny <= box[3]) & (bounds.maxy >= box[1])
    assert read(client, where=where, columns=["name"]).to_pydict() == {"name": list(of.name)}
    boxed = list(of[inside[of.index]].name)
    assert read(client, where=where, bbox=box, columns=["name"])["name"].to_pylist() == boxed
    assert read(client, where=where, bbox=box, columns=["name"], limit=3)["name"].to_pylist() == boxed[:3]
    assert read(client, where=where, rows=[2, 9], columns=["name"])["name"].to_pylist() == list(of.name)[2:9]
    assert list(ours.table(NAME, where=where, rows=[2, 9], limit=4, columns="name").pandas().name) == list(of.name)[2:6]
    mercator = ours.table(NAME, where=where, crs="EPSG:3857", limit=2).geopandas()
    assert mercator.crs == 3857 and np.allclose(mercator.bounds, of.to_crs(3857).head(2).bounds)


def test_info(client, ours):
    """The description is that of the rows that are kept; what is known of the file stays."""
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"name": NAME, "where": "continent = 'Oceania'"}))
    info = client.get_flight_info(descriptor)
    rows = read(client, where="continent = 'Oceania'")
    assert info.total_records == rows.num_rows == 7
    assert info.schema.equals(rows.schema)
    assert client.get_schema(descriptor).schema.equals(rows.schema)
    about = json.loads(info.app_metadata)
    assert about["bbox"][3] < 0 and about["crs"] == "OGC:CRS84" and about["format"] == "geojson"
    selected = ours.table(NAME, where="continent = 'Oceania'")
    assert selected.info.rows == 7 and "where=" in repr(selected)


def test_endpoints(client, ours):
    """Each endpoint has a part of the rows that are kept, in order, in batches of --batch-rows."""
    where = "n % 7 <> 3"
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"name": LARGE, "where": where, "columns": ["n"]}))
    info = client.get_flight_info(descriptor)
    kept = [n for n in range(300_000) if n % 7 != 3]
    assert info.total_records == len(kept)
    parts = [client.do_get(endpoint.ticket).read_all() for endpoint in info.endpoints]
    assert pa.concat_tables(parts)["n"].to_pylist() == kept
    for part, endpoint in zip(parts, info.endpoints):
        assert json.loads(endpoint.app_metadata)["rows"] == part.num_rows
    batches = [chunk.data.num_rows for chunk in client.do_get(ticket(LARGE, where=where))]
    assert set(batches[:-1]) == {4096}
    assert ours.table(LARGE, where=where, columns="n").arrow()["n"].to_pylist() == kept
    tasks = ours.partitions(LARGE, where=where, columns="n")
    assert [n for task in tasks for batch in task.read() for n in batch["n"].to_pylist()] == kept
    whole = flight.FlightDescriptor.for_command(json.dumps({"name": LARGE, "where": "n >= 0"}))
    assert len(client.get_flight_info(whole).endpoints) == len(client.get_flight_info(flight.FlightDescriptor.for_path(LARGE)).endpoints) > 1


@pytest.mark.parametrize(("where", "said"), [
    ("pop_est > > 1", 'where: byte 10: syntax error at or near ">"\n  pop_est > > 1\n            ^'),
    ("pop_set > 1", 'no column "pop_set"; the nearest is "pop_est"\n  pop_set > 1\n  ^'),
    ("name IN (SELECT name FROM countries)", "subquery is not allowed in a filter"),
    ("pop_est > random()", "the function random is not allowed"),
    ("name = (FROM read_text('/etc/passwd'))", "read_text"),
    ("pop_est > (SELECT 1 FROM countries) ", "subquery is not allowed"),
    ("name", "Could not convert string"),
    ("", "is empty"),
])  # fmt: skip
def test_errors(server, client, ours, where, said):
    with pytest.raises(pa.ArrowInvalid) as raised:
        read(client, where=where)
    assert said in str(raised.value)
    with pytest.raises(vibeflight.Invalid) as raised:
        ours.table(NAME, where=where).arrow()
    assert said in str(raised.value)
    problem = server.problem(f"/v1/tables/{NAME}?where={query(where)}")
    assert (problem["status"], problem["code"]) == (400, "INVALID_ARGUMENT") and said in problem["detail"]


def test_http(server, countries):
    status, _, body = server.request(f"/v1/tables/{NAME}?columns=name&where={query(CONDITIONS[0])}")
    want = list(countries[countries.continent == "Asia"].name)
    assert status == 200 and pa.ipc.open_stream(body).read_all()["name"].to_pylist() == want
    posted = server.request(f"/v1/tables/{NAME}", method="POST", body=json.dumps({"where": CONDITIONS[0], "columns": ["name"]}).encode())
    assert posted[2] == body
    features = json.loads(server.request(f"/v1/tables/{NAME}?format=geojson&where={query(CONDITIONS[0])}")[2])
    assert [f["properties"]["name"] for f in features["features"]] == want


def test_etag(server, data, tmp_path):
    """An answer has a tag of its own for each filter, and the client is told that it is unchanged without computing the filter."""
    with Web(tmp_path) as s:
        (tmp_path / "a.csv").write_text("n\n1\n2\n3\n")
        s.action("refresh")
        tags = {}
        for where in "n > 1", "n > 2", None:
            path = "/v1/tables/a.csv?format=csv" + (f"&where={query(where)}" if where else "")
            status, headers, _ = s.request(path)
            assert status == 200
            tags[where] = headers["ETag"]
            assert s.request(path, If_None_Match=tags[where])[0] == 304
        assert len(set(tags.values())) == 3
        path = f"/v1/tables/a.csv?format=csv&where={query('n > 1')}"
        assert s.request(path, If_None_Match=tags["n > 2"])[0] == 200
        (tmp_path / "a.csv").write_text("n\n1\n2\n3\n4\n")
        status, headers, body = s.request(path, If_None_Match=tags["n > 1"])
        assert status == 200 and headers["ETag"] != tags["n > 1"] and body.split() == [b"n", b"2", b"3", b"4"]


def test_version(client):
    """A ticket with a version and a filter is for that version alone."""
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"name": NAME, "where": "continent = 'Asia'"}))
    fields = json.loads(client.get_flight_info(descriptor).endpoints[0].ticket.ticket)
    assert fields["where"] == "continent = 'Asia'" and client.do_get(flight.Ticket(json.dumps(fields))).read_all().num_rows == 47
    with pytest.raises(pa.ArrowInvalid, match="changed"):
        client.do_get(flight.Ticket(json.dumps({**fields, "version": "0" * 24}))).read_all()


def test_command(server, data, tmp_path):
    """The command line filters entries of a server, and files, alike."""
    where = ["--where", "continent = 'Asia' AND pop_est > 100000000", "--columns", "name,pop_est", "--csv"]
    remote = command("get", NAME, "--server", server.uri, *where)
    assert remote == command("get", data / NAME, *where) and remote.count("\n") == 8
    for path, of in (tmp_path / "a.arrow", [data / NAME]), (tmp_path / "b.arrow", [NAME, "--server", server.uri]):
        command("get", *of, "--where", "pop_est > 1e8", "--bbox", "60,0,180,60", "-o", path)
    a, b = (pa.ipc.open_file((tmp_path / name).read_bytes()).read_all() for name in ("a.arrow", "b.arrow"))
    assert a.equals(b) and a.schema.equals(b.schema, check_metadata=True) and a.num_rows > 3
    for of in [data / NAME], [NAME, "--server", server.uri]:
        done = subprocess.run([BINARY, "get", *of, "--where", "pop_est > > 1"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and done.stderr.endswith("\n  pop_est > > 1\n            ^\n"), done.stderr


def test_without_sql(data):
    with Web(data, "--no-sql") as s:
        with pytest.raises(NotImplementedError, match="filters and masks need SQL.*--no-sql"):
            read(s.client(), where="pop_est > 1")
        assert s.problem(f"/v1/tables/{NAME}?where=true")["status"] == 501
        assert read(s.client()).num_rows == 177


@pytest.fixture(scope="module")
def granted(tmp_path_factory):
    """Alice may read towns: without a column, with a mask, and of the rows that are open. She has no SQL."""
    folder = tmp_path_factory.mktemp("granted")
    data = folder / "data"
    data.mkdir()
    pandas.DataFrame({
        "name": [f"town {n}" for n in range(100)], "size": range(100), "owner": ["x"] * 100, "open": [n % 2 == 0 for n in range(100)],
    }).to_csv(data / "towns.csv", index=False)
    files = Files(folder)
    files.edit("user", "add", "root", password="secret")
    (folder / "grants.toml").write_text("""
[[rules]]
user = "root"
privileges = ["read", "describe", "sql"]

[[rules]]
user = "alice"
name = "towns.csv"
privileges = ["read"]
filter = "open"
columns = [{ name = "owner", allow = false }, { name = "size", mask = "size // 10 * 10" }]
""")
    with Web(data, *files.flags, "--grants", str(folder / "grants.toml")) as s:
        yield s


def test_grants(granted):
    """The filter sees what the grant leaves: no hidden rows, no hidden columns, and the values of masks."""
    def get(user, where):
        status, _, body = granted.request(f"/v1/tables/towns.csv?where={query(where)}", Authorization=basic(user, "secret"))
        return pa.ipc.open_stream(body).read_all().to_pylist() if status == 200 else json.loads(body)

    masked = get("alice", "size = 30")
    assert [row["name"] for row in masked] == [f"town {n}" for n in (30, 32, 34, 36, 38)]
    assert {row["size"] for row in masked} == {30} and all("owner" not in row for row in masked)
    assert [row["size"] for row in get("root", "size = 30")] == [30]
    assert get("alice", "NOT open") == [] and len(get("root", "NOT open")) == 50
    assert [row["name"] for row in get("alice", "name = 'town 35' OR size = 32 OR name = 'town 32'")] == ["town 32"]
    unknown, other = get("alice", "owner = 'x'"), get("alice", "ownez = 'x'")
    assert unknown["detail"].replace("owner", "ownez") == other["detail"] and unknown["status"] == 400
    assert "can't be applied" not in granted.log(), "the operator's log is not for the errors of callers"


def test_audit(data, tmp_path):
    log = tmp_path / "audit.jsonl"
    with Web(data, "--audit", str(log)) as s:
        read(s.client(), where="pop_est > 1")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line.get("where") for line in lines if line["method"] == "DoGet"] == ["pop_est > 1"]


def test_limits(data):
    """A filter is a query: it has the time of one."""
    slow = " + ".join(f"length(repeat(md5(n::VARCHAR || '{i}'), 40))" for i in range(60)) + " > 0"
    with Web(data, "--query-timeout", "3s", "--sql-threads", "1") as s:
        client = s.client()
        read(client, LARGE, limit=1)  # the parse does not count
        with pytest.raises(flight.FlightError, match="--query-timeout"):
            read(client, LARGE, where=slow)
        assert read(client, where="pop_est > 1e9").num_rows == 2
