"""Many sessions at once get right answers within the memory that the flags allow, and cancelled queries leak nothing."""
import concurrent.futures
import pathlib
import threading
import time
import warnings

import adbc_driver_flightsql.dbapi as adbc
import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from serving import Server
from test_cancel import together, wait_until_at_most

MIB = 1 << 20
SESSIONS = 50
TABLES, QUERIES = 128 * MIB, 256 * MIB
WORK = 320 * MIB  # memory of parses, calls and DuckDB's own code: the server's bound for the first two is 192 MiB

MIXED = [
    'SELECT count(*), sum(n) FROM "large.geojsonl"',
    'SELECT n % 7 AS k, count(*) AS c, max(n) FROM "large.geojsonl" GROUP BY k ORDER BY k',
    'SELECT n FROM "large.geojsonl" WHERE n % 1000 = 17 ORDER BY n',
    'SELECT continent, count(*), sum(pop_est) FROM world."countries.geojson" GROUP BY 1 ORDER BY 1',
    'SELECT a.name, b.name FROM countries a JOIN countries b ON a.continent = b.continent AND a.pop_est < b.pop_est ORDER BY 1, 2 LIMIT 50',
    'SELECT name, geometry FROM countries ORDER BY name',
    'SELECT n, row_number() OVER (ORDER BY n DESC) AS r FROM "large.geojsonl" QUALIFY r <= 20 ORDER BY r',
    'SELECT count(*) FROM "large.geojsonl" WHERE geometry && ST_GeomFromText(\'POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))\')',
    'SELECT * FROM "large.geojsonl" ORDER BY n LIMIT 5000',
]
SPATIAL = [
    'SELECT name, ST_Area(geometry) FROM countries ORDER BY name',
    'SELECT c.name, count(*) AS k FROM countries c JOIN "large.geojsonl" p ON ST_Contains(c.geometry, p.geometry) WHERE p.n < 20000 GROUP BY c.name ORDER BY c.name',
]


@pytest.fixture(scope="module")
def served(data):
    with Server(data, "--memory", str(TABLES), "--sql-memory", str(QUERIES), *sql.FLAGS) as server:
        yield server


def plain_session(server, wanted, end, first):
    """Runs query after query on its own connection, and returns their number."""
    client, asked = flight.connect(server.uri), 0
    try:
        while time.monotonic() < end:
            query, want = wanted[(first + asked) % len(wanted)]
            assert sql.ask(client, query).equals(want), query
            asked += 1
    finally:
        client.close()
    return asked


def adbc_session(server, wanted, end, first):
    """The same with prepared statements, some of them with a parameter."""
    asked = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        connection = adbc.connect(server.uri)
    with connection, connection.cursor() as cursor:
        while time.monotonic() < end:
            query, want = wanted[(first + asked) % len(wanted)]
            cursor.execute(query)
            assert cursor.fetch_arrow_table().equals(want), query
            cursor.execute('SELECT count(*) FROM "large.geojsonl" WHERE n < ?', [first * 100])
            assert cursor.fetchone() == (first * 100,)
            asked += 2
    return asked


@pytest.mark.parametrize("seconds", [8, pytest.param(60, marks=pytest.mark.long)])
def test_many_sessions(served, seconds):
    client = served.client()
    queries = MIXED + (SPATIAL if sql.SPATIAL else [])
    wanted = [(query, sql.ask(client, query)) for query in queries]
    assert wanted[0][1].to_pydict() == {"count_star()": [300_000], "sum(n)": [299_999 * 150_000]}
    with served.resident_peak() as peak, concurrent.futures.ThreadPoolExecutor(SESSIONS) as pool:
        end = time.monotonic() + seconds
        sessions = [pool.submit(adbc_session if i % 2 else plain_session, served, wanted, end, i) for i in range(SESSIONS)]
        asked = [s.result() for s in sessions]
    print(f"{SESSIONS} sessions, {sum(asked):,} queries in {seconds} s, peak RssAnon {peak() / MIB:.0f} MiB")
    assert min(asked) >= 1
    assert peak() <= TABLES + 1.5 * QUERIES + WORK
    assert_nothing_is_left(served)


def read_one_batch_and_leave(client, uri):
    reader = sql.reader(client, 'SELECT * FROM "large.geojsonl"')
    reader.read_chunk()
    reader.cancel()


def drop_the_connection(client, uri):
    """Disconnects without cancelling."""
    lone = flight.connect(uri)
    sql.reader(lone, 'SELECT a.n, b.n FROM "large.geojsonl" a, "large.geojsonl" b').read_chunk()
    lone.close()


def leave_before_a_row(client, uri):
    """Cancels a query that would take hours while it runs."""
    reader = sql.reader(client, "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range + b.range) = 0")
    assert reader.schema.names == ["count_star()"]  # the server has begun
    timer = threading.Timer(0.02, reader.cancel)
    timer.start()
    with pytest.raises((flight.FlightError, pa.ArrowException)):
        reader.read_chunk()
    timer.join()


def never_fetch(client, uri):
    """Cancels a result."""
    assert sql.cancel(client, client.get_flight_info(sql.statement('SELECT * FROM "large.geojsonl"')))


@pytest.mark.parametrize("leave", [read_one_batch_and_leave, drop_the_connection, leave_before_a_row, never_fetch])
@pytest.mark.parametrize("times", [40, pytest.param(1000, marks=pytest.mark.long)])
def test_cancelled_queries_leave_nothing(served, leave, times):
    client = served.client()
    together(lambda: leave(client, served.uri), 8, at_once=4)  # what the first ones make stays: threads, arenas
    assert_nothing_is_left(served)
    files, threads, memory = served.open_files(), count_threads(served), served.resident_bytes()
    together(lambda: leave(client, served.uri), times, at_once=4)
    assert_nothing_is_left(served)
    assert wait_until_at_most(served.open_files, files + 4) <= files + 4
    assert wait_until_at_most(lambda: count_threads(served), threads + 4) <= threads + 4
    kept = 320 * MIB if leave is leave_before_a_row else 128 * MIB  # by DuckDB's allocator: of what four of these take at once, a part
    assert wait_until_at_most(served.resident_bytes, memory + kept) <= memory + kept
    assert sql.ask(client, 'SELECT count(*) FROM "large.geojsonl"').column(0).to_pylist() == [300_000]


def assert_nothing_is_left(server):
    def held():
        stats = server.action("stats")
        return {name: stats["sql"][name] for name in ("statements", "prepared", "results", "polls", "bound_bytes")} | {"held_tables": stats["held_tables"]}

    wait_until_at_most(lambda: sum(held().values()), 0)
    assert held() == {"statements": 0, "prepared": 0, "results": 0, "polls": 0, "bound_bytes": 0, "held_tables": 0}


def count_threads(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()))
