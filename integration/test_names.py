"""A name means the same entry by every route: tickets, descriptors, the command line, HTTP, OGC API, tiles, SQL, GetTables, the Python package."""
import gzip
import json
import subprocess
import urllib.parse

import pyarrow as pa
import pytest
import sql
import vibeflight
from adbc_driver_flightsql import dbapi
from conftest import ticket
from pyarrow import flight
from serving import BINARY
from serving import vibeflight as command
from test_http_listener import Web

KML = ('<kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
       + "".join(f"<Folder><name>{layer}</name><Placemark><name>{layer}</name><Point><coordinates>1,2</coordinates></Point></Placemark></Folder>"
                 for layer in ("Stops", "Tracks")) + "</Document></kml>")  # fmt: skip

# What is served: the number of rows of each entry tells them apart.
FILES = {
    "world/towns.csv": 3,
    "north/roads.csv": 4,
    "south/roads.geojson": 5,
    "rivers.csv": 6,
    "north/rivers.csv": 7,
    "Case.csv": 8,
    "case.csv": 9,
    "packed.csv.gz": 10,
}

# A name, and the entry that it means.
NAMES = [
    ("world/towns.csv", "world/towns.csv"),
    ("world/towns", "world/towns.csv"),
    ("towns.csv", "world/towns.csv"),
    ("towns", "world/towns.csv"),
    ("TOWNS", "world/towns.csv"),
    ("World/Towns.CSV", "world/towns.csv"),
    ("rivers", "rivers.csv"),
    ("rivers.csv", "rivers.csv"),
    ("north/rivers", "north/rivers.csv"),
    ("roads.csv", "north/roads.csv"),
    ("south/roads", "south/roads.geojson"),
    ("case", "case.csv"),
    ("Case", "Case.csv"),
    ("packed", "packed.csv.gz"),
]

# A name without an entry, and what the error says.
UNKNOWN = [
    ("roads", '"roads" may mean "north/roads.csv" or "south/roads.geojson": write the one that is meant'),
    ("CASE.csv", '"CASE.csv" may mean "Case.csv" or "case.csv": write the one that is meant'),
    ("towms", 'no entry "towms"; the closest is "world/towns.csv"'),
    ("world/towms.csv", 'no entry "world/towms.csv"; the closest are "world/towns.csv"'),
    ("../rivers.csv", 'no entry "../rivers.csv"'),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    for name, rows in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        text = "n,lon,lat\n" + "".join(f"{n},1,2\n" for n in range(rows))
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        elif name.endswith(".geojson"):
            point = {"type": "Point", "coordinates": [1, 2]}
            features = [{"type": "Feature", "properties": {"n": n}, "geometry": point} for n in range(rows)]
            path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        else:
            path.write_text(text)
    (folder / "trips.kml").write_text(KML)
    with Web(folder, *sql.FLAGS) as s:
        yield s


def quoted(name):
    return urllib.parse.quote(name, safe="")


def rows_of_info(server, descriptor):
    return server.client().get_flight_info(descriptor).total_records


def http(server, path):
    status, _, body = server.request(path)
    if status != 200:
        raise vibeflight.Error(json.loads(body)["detail"])
    return body


def ours(server, use):
    with vibeflight.connect(server.uri) as connection:
        return use(connection)


def failing(*arguments):
    """The output of a command, or an error with what it says."""
    done = subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise vibeflight.Error(done.stderr)
    return done.stdout


# Each route gives the number of rows of a name.
ROUTES = {
    "ticket": lambda s, name: s.client().do_get(flight.Ticket(name)).read_all().num_rows,
    "ticket of JSON": lambda s, name: s.client().do_get(ticket(name, columns=["n"])).read_all().num_rows,
    "path": lambda s, name: rows_of_info(s, flight.FlightDescriptor.for_path(name)),
    "path of parts": lambda s, name: rows_of_info(s, flight.FlightDescriptor.for_path(*name.split("/"))),
    "command": lambda s, name: rows_of_info(s, flight.FlightDescriptor.for_command(json.dumps({"name": name}))),
    "describe": lambda s, name: s.action("describe", name.encode())["rows"],
    "SQL": lambda s, name: s.client().do_get(s.client().get_flight_info(sql.statement(f'FROM "{name}"')).endpoints[0].ticket).read_all().num_rows,
    "get": lambda s, name: len(failing("get", name, "--server", s.uri, "--json").splitlines()),
    "info": lambda s, name: json.loads(failing("info", name, "--server", s.uri, "--json"))["rows"],
    "HTTP": lambda s, name: pa.ipc.open_stream(http(s, f"/v1/tables/{quoted(name)}")).read_all().num_rows,
    "HTTP info": lambda s, name: json.loads(http(s, f"/v1/info/{quoted(name)}"))["rows"],
    "HTTP SQL": lambda s, name: pa.ipc.open_stream(s.request("/v1/sql", "POST", json.dumps({"query": f'FROM "{name}"'}).encode())[2]).read_all().num_rows,
    "OGC": lambda s, name: len(json.loads(http(s, f"/ogc/collections/{quoted(name)}/items?f=json"))["features"]),
    "table()": lambda s, name: ours(s, lambda c: c.table(name).arrow().num_rows),
    "table().info": lambda s, name: ours(s, lambda c: c.table(name).info.rows),
    "describe()": lambda s, name: ours(s, lambda c: c.describe(name)["rows"]),
    "partitions()": lambda s, name: ours(s, lambda c: sum(batch.num_rows for task in c.partitions(name) for batch in task.read())),
    "sql()": lambda s, name: ours(s, lambda c: c.sql(f'SELECT * FROM "{name}"').arrow().num_rows),
}


@pytest.mark.parametrize("route", ROUTES)
def test_names(server, route):
    got = {name: ROUTES[route](server, name) for name, _ in NAMES}
    assert got == {name: FILES[entry] for name, entry in NAMES}


@pytest.mark.parametrize("route", [r for r in ROUTES if r != "HTTP SQL"])
def test_unknown_names(server, route):
    for name, said in UNKNOWN:
        if name.startswith("..") and route in ("path of parts", "HTTP", "HTTP info", "OGC", "SQL", "sql()"):
            continue  # a client or HTTP itself removes the dots, or DuckDB takes it for a file
        with pytest.raises(Exception) as raised:
            ROUTES[route](server, name)
        assert said in str(raised.value), (name, raised.value)


def test_tiles(server):
    for name in "south/roads", "South/Roads.geojson", "roads.geojson":
        assert json.loads(http(server, f"/tiles/{name}"))["vector_layers"][0]["rows"] == 5
    assert "may mean" in json.loads(server.request("/tiles/roads/0/0/0")[2])["detail"]


def test_get_tables(server):
    """GetTables finds a table under the name that a query would have."""
    with dbapi.connect(server.uri) as connection:
        for name, entry in NAMES:
            if "/" in name:
                schema, table = entry.rpartition("/")[0], name.rpartition("/")[2]
            else:
                schema, table = (entry.rpartition("/")[0] or "main"), name
            for in_schema, pattern in (schema, table), (None, name):
                listed = connection.adbc_get_objects(depth="tables", db_schema_filter=in_schema, table_name_filter=pattern.replace("_", r"\_")).read_all()
                found = [(s["db_schema_name"], t["table_name"]) for c in listed.to_pylist() for s in c["catalog_db_schemas"] for t in s["db_schema_tables"]]
                if in_schema is None and len(found) > 1:
                    found = [(s, t) for s, t in found if s == "main"]  # one in each folder
                assert len(found) == 1, (in_schema, pattern, found)
                with connection.cursor() as cursor:
                    cursor.execute('SELECT count(*) FROM "{}"."{}"'.format(*found[0]))
                    assert cursor.fetchone() == (FILES[entry],), (pattern, found)


def test_layers(server):
    """A layer is found by the stem of its file, also if no one has read the file yet."""
    for name, layer in ("trips#Tracks", "Tracks"), ("trips", "Stops"), ("TRIPS.kml#Stops", "Stops"), ("trips#tracks", "Tracks"):
        for route in "ticket", "ticket of JSON", "SQL", "table()":
            if route == "ticket of JSON":
                got = server.client().do_get(ticket(name, columns=["Name"])).read_all()["Name"].to_pylist()
            elif route == "SQL":
                info = server.client().get_flight_info(sql.statement(f'SELECT "Name" FROM "{name}"'))
                got = server.client().do_get(info.endpoints[0].ticket).read_all()["Name"].to_pylist()
            elif route == "ticket":
                got = server.client().do_get(flight.Ticket(name)).read_all()["Name"].to_pylist()
            else:
                got = ours(server, lambda c, name=name: c.table(name).arrow()["Name"].to_pylist())
            assert got == [layer], (name, route)


def test_tickets_name_entries(server):
    """The tickets of a FlightInfo have the name of the entry, so that a file that comes later does not change what they mean."""
    info = server.client().get_flight_info(flight.FlightDescriptor.for_path("towns"))
    assert json.loads(info.endpoints[0].ticket.ticket)["name"] == "world/towns.csv"
    assert json.loads(http(server, "/ogc/collections/towns"))["id"] == "world/towns.csv"
    assert server.action("evict", b"TOWNS")["evicted"] >= 1


def test_added_now(server, tmp_path):
    """A file that was added just now is found by its name, and by its stem when its folder has been read."""
    folder = tmp_path / "data"
    folder.mkdir()
    with Web(folder) as s:
        (folder / "late.csv").write_text("n\n1\n")
        assert s.client().do_get(flight.Ticket("late.csv")).read_all().num_rows == 1
        s.action("refresh")
        assert command("get", "late", "--server", s.uri, "--csv") == "n\n1\n"
