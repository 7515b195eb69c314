"""Four replicas over one PostgreSQL, bucket and folder: each file is parsed once, any replica serves any ticket, and no read fails for a part that is away."""
import concurrent.futures
import contextlib
import http.server
import itertools
import json
import threading
import time

import fleet
import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from conftest import bits, ticket
from serving import Server, vibeflight

REPLICAS = 4
CLIENTS = 64
FILES = [f"f{i:03d}.geojson" for i in range(200)]
SPARE = [f"spare{i:02d}.geojson" for i in range(20)]  # that no test has read before it asks for one
LARGE = "large.parquet"  # several endpoints
SLOW_BYTES, SLOW_SECONDS = 3_000_000, 9

pytestmark = pytest.mark.skipif(bool(fleet.missing()), reason=fleet.missing())


def write(path, number, features=300):
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"type":"FeatureCollection","features":[\n')
        f.write(",\n".join('{"type":"Feature","properties":{"file":%d,"n":%d,"name":"a %d"},"geometry":{"type":"Point","coordinates":[%r,%r]}}'
                           % (number, n, n * number, (n * 7 + number) % 3600 / 10 - 180, n % 1700 / 10 - 85) for n in range(features)))
        f.write("\n]}\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    for number, name in enumerate([*FILES, *SPARE]):
        write(folder / name, number)
    vibeflight("gen", "points", "--features", 400_000, "-o", folder / "large.geojsonl")
    vibeflight("get", folder / "large.geojsonl", "-o", folder / LARGE)
    (folder / "large.geojsonl").unlink()
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    """The digest of each table as one server without a fleet gives it."""
    with Server(folder) as server:
        client = server.client()
        return {name: bits(client.do_get(ticket(name)).read_all()) for name in [*FILES, *SPARE, LARGE]}


class Slow(http.server.BaseHTTPRequestHandler):
    """A folder of files that take SLOW_SECONDS each: /slow0.csv, /slow1.csv."""

    names = [f"slow{i}.csv" for i in range(2)]
    text = b"n,text\n" + b"".join(b"%d,%s\n" % (n, b"x" * 90) for n in range(SLOW_BYTES // 97))

    def do_GET(self):
        name = self.path.lstrip("/")
        self.send_response(200 if not name or name in self.names else 404)
        if not name:
            page = "".join(f'<a href="{n}">{n}</a>\n' for n in self.names).encode()
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)
            return
        self.send_header("Content-Length", str(len(self.text)))
        self.send_header("ETag", f'"{name}"')
        self.send_header("Last-Modified", "Mon, 02 Mar 2026 10:00:00 GMT")
        self.end_headers()
        if name in self.names and self.command == "GET":
            with contextlib.suppress(OSError):
                for at in range(0, len(self.text), SLOW_BYTES // 30):
                    self.wfile.write(self.text[at:at + SLOW_BYTES // 30])
                    time.sleep(SLOW_SECONDS / 30)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def slow():
    """The URL of that folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def running(folder, slow):
    with fleet.Fleet(folder, REPLICAS, "--data", f"slow={slow}") as f:
        yield f


@pytest.fixture
def fl(running, request):
    """The fleet with all of its parts running, and its logs if the test fails."""
    failures = request.session.testsfailed
    yield running
    if request.session.testsfailed > failures:
        print(running.logs())
    for part in [running.postgres, running.bouncer, running.bucket, *running.replicas, running.balancer]:
        if part and not part.running:
            part.start()
    fleet.until("all replicas are ready", lambda: all(r.ready() for r in running.replicas))
    fleet.until("PostgreSQL answers all replicas", lambda: all(r.metric("vibeflight_shared_store_up") for r in running.replicas), seconds=60)
    fleet.until("all replicas know each other", lambda: all(members(r) == REPLICAS for r in running.replicas), seconds=40)


def members(replica):
    """How many live replicas a replica knows of."""
    return replica.metric("vibeflight_replicas")


def table_of(replica, name, **fields):
    return replica.client().do_get(ticket(name, **fields)).read_all()


def spare(iterator=iter(SPARE)):  # noqa: B008  one for the module
    return next(iterator)


@pytest.mark.parametrize("each", [50, pytest.param(200, marks=pytest.mark.long)])
def test_each_file_is_parsed_once(folder, expected, each):
    """64 clients of four replicas ask for 200 files at once: each file gets one parse in the fleet."""
    with fleet.Fleet(folder, REPLICAS, balanced=False) as f:
        ready = threading.Barrier(CLIENTS)

        def read(number):
            client = f.replicas[number % REPLICAS].client()
            first = number // REPLICAS % 4 * 50
            names = [FILES[(first + i) % len(FILES)] for i in range(each)]
            ready.wait()
            return [(name, bits(client.do_get(ticket(name)).read_all())) for name in names]

        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            for name, digest in itertools.chain.from_iterable(pool.map(read, range(CLIENTS))):
                assert digest == expected[name], name
        parses = f.stats("parses")
        assert sum(parses.values()) == len(FILES), (parses, f.logs())
        assert sum(f.stats("parse_errors").values()) == 0
        if f.bucket:
            tables = lambda: len(list(f.bucket.objects.glob("tables/*.arrow")))  # noqa: E731
            fleet.until("each table is in the bucket once", lambda: tables() == len(FILES))


def test_lists_are_the_same(fl):
    """All replicas list the same entries in one order, and agree on what they know: rows and columns of tables that each has open."""
    def listed(replica):
        return {i.descriptor.path[0]: (i.total_records, i.schema and i.schema.serialize().to_pybytes()) for i in replica.client().list_flights()}

    lists = [list(listed(r)) for r in fl.replicas]
    assert lists[0] == lists[1] == lists[2] == lists[3] and len(lists[0]) == len(FILES) + len(SPARE) + 1 + len(Slow.names)
    for replica in fl.replicas:
        for name in FILES[:REPLICAS]:
            table_of(replica, name)
    found = [[listed(r)[name.encode()] for name in FILES[:REPLICAS]] for r in fl.replicas]
    assert found[0] == found[1] == found[2] == found[3]
    assert [records for records, _ in found[0]] == [300] * REPLICAS and all(schema for _, schema in found[0])


@pytest.mark.parametrize("name, fields", [
    (LARGE, {}), (FILES[10], {}), (FILES[11], {"columns": ["n"]}), (FILES[12], {"bbox": [-100, -80, 0, 0]}), (FILES[13], {"limit": 7})])
def test_tickets_are_served_by_all(fl, expected, name, fields):
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"name": name, **fields})) if fields else flight.FlightDescriptor.for_path(name)
    info = fl.replicas[0].client().get_flight_info(descriptor)
    assert len(info.endpoints) > 1 or name != LARGE
    tables = [pa.concat_tables([r.client().do_get(e.ticket).read_all() for e in info.endpoints]) for r in fl.replicas]
    assert len({bits(t) for t in tables}) == 1
    if not fields:
        assert bits(tables[0]) == expected[name]
    # The other replicas give the same tickets.
    for replica in fl.replicas[1:]:
        other = replica.client().get_flight_info(descriptor)
        assert [e.ticket for e in other.endpoints] == [e.ticket for e in info.endpoints]


def test_endpoints_name_replicas(fl):
    """Each location is one of a replica, and leads to the rows."""
    name, uris = FILES[20], {location(r.uri) for r in fl.replicas}
    table = table_of(fl.replicas[1], name)
    for replica in fl.replicas:
        (endpoint,) = replica.client().get_flight_info(flight.FlightDescriptor.for_path(name)).endpoints
        found = {location(at.uri.decode()) for at in endpoint.locations} & uris
        assert found, endpoint.locations
        for uri in found:
            with flight.connect(uri) as client:
                assert client.do_get(endpoint.ticket).read_all().equals(table)


def location(uri):
    return uri.replace("grpc+tcp://", "grpc://")


def test_sql_results_through_another_replica(fl):
    query = f'SELECT n, name FROM "{FILES[30]}" WHERE n % 3 = 0 ORDER BY n'
    want = sql.ask(fl.replicas[0].client(), query)
    assert want.num_rows == 100
    for first, second in [(0, 1), (1, 2), (3, 0)]:
        info = fl.replicas[first].client().get_flight_info(sql.statement(query))
        got = pa.concat_tables([fl.replicas[second].client().do_get(e.ticket).read_all() for e in info.endpoints])
        assert got.equals(want)


def test_prepared_statements_through_another_replica(fl):
    def body(message, number=1):
        return dict(fleet.fields(message))[number]

    (result,) = sql.prepare(fl.replicas[2].client(), f'SELECT count(*) AS c FROM "{FILES[31]}"')
    handle = body(body(result.body.to_pybytes(), 2))
    name = b"type.googleapis.com/arrow.flight.protocol.sql.CommandPreparedStatementQuery"
    descriptor = flight.FlightDescriptor.for_command(sql.field(1, name) + sql.field(2, sql.field(1, handle)))
    info = fl.replicas[0].client().get_flight_info(descriptor)
    table = fl.replicas[1].client().do_get(info.endpoints[0].ticket).read_all()
    assert table["c"].to_pylist() == [300]


def test_poll_on_another_replica(fl):
    """A replica that waits reports the progress of the one that parses, and has the table in the end without a parse."""
    name, parses = "slow/slow0.csv", sum(fl.stats("parses").values())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        owner = pool.submit(table_of, fl.replicas[0], name)
        time.sleep(1)
        seen, deadline = [], time.monotonic() + 6 * SLOW_SECONDS
        while True:
            progress, complete = fleet.poll(fl.replicas[1], name)
            if complete:
                break
            seen.append(progress)
            assert time.monotonic() < deadline, seen
            time.sleep(0.1)
        table = table_of(fl.replicas[1], name)
        assert bits(owner.result()) == bits(table)
    known = [p for p in seen if p is not None]
    assert known == sorted(known) and any(0 < p < 1 for p in known), seen
    assert sum(fl.stats("parses").values()) == parses + 1


def test_owner_that_dies_is_taken_over(fl):
    """The replica that parses is killed: another one parses the file, and gives all rows."""
    name, before = "slow/slow1.csv", fl.stats("parses")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        owner = pool.submit(table_of, fl.replicas[0], name)
        time.sleep(SLOW_SECONDS / 3)
        others = [pool.submit(table_of, r, name) for r in fl.replicas[1:]]
        time.sleep(1)
        fl.replicas[0].kill()
        with pytest.raises((flight.FlightError, pa.ArrowException)):
            owner.result()
        tables = [o.result(timeout=2 * fleet.PRESENCE + 3 * SLOW_SECONDS) for o in others]
    assert len({bits(t) for t in tables}) == 1 and tables[0]["n"].to_pylist() == list(range(SLOW_BYTES // 97))
    after = fl.stats("parses")
    assert sum(after[r.id] - before[r.id] for r in fl.replicas[1:]) == 1, "one more parse for one death"


def test_dead_replica_leaves_the_endpoints(fl):
    name, dead = FILES[40], fl.replicas[3]
    for replica in fl.replicas:
        table_of(replica, name)
    descriptor = flight.FlightDescriptor.for_path(name)

    def named(replica):
        (endpoint,) = replica.client().get_flight_info(descriptor).endpoints
        return [location(at.uri.decode()) for at in endpoint.locations]

    fleet.until("all replicas that have the table are named", lambda: dead.uri in named(fl.replicas[0]))
    dead.kill()
    # Until it is forgotten, a client goes to the next location.
    info = fl.replicas[0].client().get_flight_info(descriptor)
    assert fleet.fetch(info.endpoints[0], fl.replicas[0].uri).num_rows == 300
    time.sleep(fleet.PRESENCE + 1)
    fleet.until("the dead replica is not named", lambda: all(dead.uri not in named(r) for r in fl.alive), seconds=10)
    assert all(named(r) for r in fl.alive)


def test_reads_go_on_without_postgres(fl, expected):
    fl.postgres.kill()
    new = spare()
    for replica in fl.replicas:
        for name in (FILES[50], new):
            began = time.monotonic()
            assert bits(table_of(replica, name)) == expected[name]
            assert time.monotonic() - began < 15
    client = fl.replicas[0].client()
    assert sql.ask(client, f'SELECT count(*) AS c FROM "{new}"')["c"].to_pylist() == [300]
    assert len(list(client.list_flights())) == len(FILES) + len(SPARE) + 1 + len(Slow.names)
    assert all(r.ready() for r in fl.replicas), "it is no reason to send no calls"
    assert sum(r.action("stats")["leases"]["unavailable"] for r in fl.replicas) > 0
    # It is back: leases are shared again.
    fl.postgres.start()
    fleet.until("all replicas have noticed", lambda: all(r.metric("vibeflight_shared_store_up") for r in fl.replicas), seconds=60)
    parses, name = sum(fl.stats("parses").values()), spare()
    with concurrent.futures.ThreadPoolExecutor(REPLICAS) as pool:
        assert {bits(t) for t in pool.map(lambda r: table_of(r, name), fl.replicas)} == {expected[name]}
    assert sum(fl.stats("parses").values()) == parses + 1


def test_reads_go_on_without_pgbouncer(fl, expected):
    fl.bouncer.kill()
    name = spare()
    assert {bits(table_of(r, name)) for r in fl.replicas} == {expected[name]}


def test_reads_go_on_without_the_bucket(fl, expected):
    if not fl.bucket:
        pytest.skip("build/stores is missing: make stores")
    read = FILES[60]
    table_of(fl.replicas[0], read)
    fl.bucket.kill()
    name = spare()
    for replica in fl.replicas:
        assert bits(table_of(replica, name)) == expected[name]
        assert bits(table_of(replica, read)) == expected[read]


def test_start_without_postgres_and_bucket(fl, expected):
    """A replica starts while the parts are away, and shares when they are back."""
    replica = fl.replicas[2]
    replica.stop()
    fl.postgres.kill()
    if fl.bucket:
        fl.bucket.kill()
    replica.start()
    name = spare()
    assert bits(table_of(replica, name)) == expected[name]


@pytest.mark.parametrize("way", ["uri", "tcp_uri"], ids=["calls", "connections"])
def test_through_haproxy(fl, expected, way):
    """Clients of the balancer notice nothing but Unavailable, for which they repeat a call, when a replica drains or dies."""
    over, failures, reads = threading.Event(), [], []

    def read(number):
        while not over.is_set():
            name = FILES[(number * 7 + len(reads)) % 30]
            try:
                table = fleet.retry(lambda client: client.do_get(ticket(name)).read_all(), [getattr(fl.balancer, way)])
                assert bits(table) == expected[name], name
                reads.append(name)
            except Exception as e:
                failures.append(e)
                return

    before = {r.id: r.metric("vibeflight_calls_total") for r in fl.replicas}
    threads = [threading.Thread(target=read, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1.5)
        fl.replicas[1].stop()
        time.sleep(1.5)
        fl.replicas[1].start()
        fl.replicas[2].kill()
        time.sleep(1.5)
        fl.replicas[2].start()
        time.sleep(2)
    finally:
        over.set()
        for thread in threads:
            thread.join(timeout=90)
    assert failures == [] and len(reads) > 8
    assert all(fl.replicas[i].metric("vibeflight_calls_total") > before[fl.replicas[i].id] for i in (0, 3))


def test_sql_through_haproxy(fl):
    """GetFlightInfo and DoGet of a query reach two replicas, since each call is balanced."""
    query, client = f'SELECT sum(n) AS s FROM "{FILES[32]}"', flight.connect(fl.balancer.uri)
    with client:
        assert [sql.ask(client, query)["s"].to_pylist() for _ in range(8)] == [[300 * 299 // 2]] * 8
