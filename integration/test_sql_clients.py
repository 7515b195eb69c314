"""Flight SQL by real clients: ADBC, Polars, pandas, flightsql-dbapi and its SQLAlchemy dialect, DuckDB and pyarrow."""
import datetime
import decimal
import math
import threading
import warnings

import adbc_driver_flightsql.dbapi as adbc
import adbc_driver_manager
import duckdb
import geopandas
import pandas
import polars
import pyarrow as pa
import pytest
import sqlalchemy
import sql
from flightsql import FlightSQLClient
from flightsql import connect as dbapi_connect
from serving import Server

COUNTRIES = 'world."countries.geojson"'


@pytest.fixture
def connection(server):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are no transactions
        connection = adbc.connect(server.uri)
    with connection:
        yield connection


@pytest.fixture
def query(connection):
    def run(text, parameters=None):
        with connection.cursor() as cursor:
            cursor.execute(text, parameters)
            return cursor.fetch_arrow_table()
    return run


def column(table, i=0):
    return table.column(i).to_pylist()


def test_every_value_comes_as_it_is(query):
    got = query("""SELECT 1::TINYINT, -2::SMALLINT, 3, 9223372036854775807, 255::UTINYINT, 18446744073709551615::UBIGINT, 170141183460469231731687303715884105::HUGEINT,
        0.1::FLOAT, 0.1::DOUBLE, 'NaN'::DOUBLE, '-inf'::DOUBLE, 1.50::DECIMAL(4,2), true, 'é''"', 'ab'::BLOB, DATE '2020-02-29', TIME '12:34:56.5',
        TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMPTZ '2020-02-29 12:00:00+02', [1, NULL, 3], {'a': 1, 'b': [NULL, 'x']}, NULL, NULL::DATE""")
    row = [v[0] for v in got.to_pydict().values()]
    assert row[:7] == [1, -2, 3, 2**63 - 1, 255, 2**64 - 1, decimal.Decimal("170141183460469231731687303715884105")]
    assert (row[7], row[8], math.isnan(row[9]), row[10], row[11]) == (pa.scalar(0.1, pa.float32()).as_py(), 0.1, True, -math.inf, decimal.Decimal("1.50"))
    assert row[12:17] == [True, "é'\"", b"ab", datetime.date(2020, 2, 29), datetime.time(12, 34, 56, 500000)]
    assert row[17] == datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)
    assert row[18] == datetime.datetime(2020, 2, 29, 10, tzinfo=datetime.timezone.utc)
    assert row[19:] == [[1, None, 3], {"a": 1, "b": [None, "x"]}, None, None]


@pytest.mark.parametrize("expression, value", [
    ("?::INTEGER", 41), ("?::BIGINT", -2**63), ("?::DOUBLE", 0.1), ("?::VARCHAR", "Zürich"), ("?::VARCHAR", ""), ("?::BOOLEAN", True), ("?::BLOB", b"\0\xff"),
    ("?::DATE", datetime.date(1969, 12, 31)), ("?::TIMESTAMP", datetime.datetime(2020, 2, 29, 12, 34, 56, 789)), ("?::TIME", datetime.time(1, 2, 3)),
    ("?::DECIMAL(10,3)", decimal.Decimal("1234567.125")), ("?::INTEGER", None), ("?::VARCHAR", None), ("?", "text"), ("?", 7), ("?", 1.5), ("?", None),
])
def test_parameters_of_every_type(query, expression, value):
    assert column(query(f"SELECT {expression} AS v", [value])) == [value]


def test_parameters_select_rows(query):
    assert column(query(f"SELECT count(*) FROM {COUNTRIES} WHERE continent = ? AND pop_est > ?", ["Africa", 50_000_000])) == [6]
    assert column(query(f"SELECT name FROM {COUNTRIES} WHERE iso_a3 IN (?, ?) ORDER BY 1", ["NZL", "FJI"])) == ["Fiji", "New Zealand"]


def test_a_prepared_statement_runs_again(connection):
    with connection.cursor() as cursor:
        text = f"SELECT count(*) FROM {COUNTRIES} WHERE continent = ?"
        cursor.adbc_prepare(text)
        counts = []
        for continent in ("Africa", "Asia", "Atlantis"):
            cursor.execute(text, [continent])  # the text that is prepared: it is not sent again
            counts += column(cursor.fetch_arrow_table())
    assert counts == [51, 47, 0]


def test_schemas_before_the_query_runs(connection):
    with connection.cursor() as cursor:
        schema = cursor.adbc_execute_schema(f"SELECT name, geometry, pop_est * 2 AS double FROM {COUNTRIES}")
        assert schema.names == ["name", "geometry", "double"]
        assert schema.field("geometry").metadata[b"ARROW:extension:name"] == b"geoarrow.wkb"
        parameters = cursor.adbc_prepare("SELECT ?::INTEGER, ?::VARCHAR")
        assert [str(f.type) for f in parameters] == ["int32", "string"]


def test_objects_at_each_depth(connection):
    def objects(depth, **filters):
        (catalog,) = connection.adbc_get_objects(depth=depth, **filters).read_all().to_pylist()
        assert catalog["catalog_name"] == "vibeflight"
        return catalog["catalog_db_schemas"]

    assert objects("catalogs") is None
    schemas = objects("db_schemas")
    assert {"main", "kinds", "world"} <= {s["db_schema_name"] for s in schemas} and all(s["db_schema_tables"] is None for s in schemas)
    (world,) = objects("tables", db_schema_filter="world")
    (countries,) = world["db_schema_tables"]
    assert (countries["table_name"], countries["table_type"], countries["table_columns"]) == ("countries.geojson", "TABLE", None)
    (world,) = objects("all", db_schema_filter="world", table_name_filter="count%")
    names = [c["column_name"] for c in world["db_schema_tables"][0]["table_columns"]]
    assert names == ["pop_est", "continent", "name", "iso_a3", "gdp_md_est", "geometry"]


def test_tables_types_and_info(connection, query):
    schema = connection.adbc_get_table_schema("countries.geojson", db_schema_filter="world")
    selected = query(f"SELECT * FROM {COUNTRIES} LIMIT 0").schema
    assert schema.names == selected.names and [f.type for f in schema] == [f.type for f in selected]
    assert connection.adbc_get_table_types() == ["TABLE"]
    assert connection.adbc_get_info()["vendor_name"] == "vibeflight"


@pytest.mark.parametrize("text, error, said", [
    (f"SELECT nam FROM {COUNTRIES}", adbc_driver_manager.ProgrammingError, '"nam"'),
    ("SELECT 1 +", adbc_driver_manager.ProgrammingError, "syntax error"),
    ('SELECT * FROM "world/contries.geojson"', adbc_driver_manager.ProgrammingError, 'the closest are "world/countries.geojson"'),
    ('SELECT * FROM "broken.geojson"', adbc_driver_manager.Error, "byte"),
    ("SELECT 'x'::INTEGER", adbc_driver_manager.Error, "Could not convert string 'x' to INT32"),
    ("CREATE TABLE t (a INTEGER)", adbc_driver_manager.Error, "queries"),
    ("ATTACH '/tmp/x.db'", adbc_driver_manager.Error, "queries"),
    ("SELECT * FROM read_text('/etc/hostname')", adbc_driver_manager.Error, "(?i)not allowed|disabled|denied|permission|no entry"),
])
def test_errors_say_what_is_wrong(query, text, error, said):
    with pytest.raises(error, match=said):
        query(text)
    assert column(query("SELECT 1")) == [1]


def test_cancel(connection):
    """A query that would take hours ends when it is cancelled, and the connection stays usable."""
    with connection.cursor() as cursor:
        timer = threading.Timer(0.3, cursor.adbc_cancel)
        timer.start()
        with pytest.raises(Exception, match="(?i)cancel"):
            cursor.execute("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range + b.range) = 0")
            cursor.fetchall()
        timer.join()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 2")
        assert cursor.fetchone() == (2,)


def test_a_large_result_streams(connection):
    with connection.cursor() as cursor:
        cursor.execute('SELECT n, geometry FROM "large.geojsonl"')
        rows = total = 0
        for batch in cursor.fetch_record_batch():
            rows += batch.num_rows
            total += sum(batch.column(0).to_pylist())
    assert (rows, total) == (300_000, 299_999 * 150_000)


def test_polars(server, connection):
    want = [("Fiji", 920938), ("New Zealand", 4510327)]
    text = f"SELECT name, pop_est FROM {COUNTRIES} WHERE iso_a3 IN ('FJI', 'NZL') ORDER BY name"
    assert polars.read_database(text, connection).rows() == want
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        uri = server.uri.replace("grpc://", "flightsql://") + "?transport=tcp"
        assert polars.read_database_uri(text, uri, engine="adbc").rows() == want


def test_pandas(connection):
    frame = pandas.read_sql(f"SELECT continent, count(*) AS n, sum(pop_est) AS people FROM {COUNTRIES} GROUP BY 1 ORDER BY n DESC LIMIT 2", connection)
    assert frame.to_dict("list") == {"continent": ["Africa", "Asia"], "n": [51, 47], "people": [1219176238, 4389144868]}


def test_geopandas(query):
    frame = geopandas.GeoDataFrame.from_arrow(query(f"SELECT name, geometry FROM {COUNTRIES}"))
    assert frame.crs.name == "WGS 84 (CRS84)" and len(frame) == 177 and frame.geometry.is_valid.sum() > 170


def test_dbapi(server):
    host, port = server.location.split(":")
    client = FlightSQLClient(host=host, port=int(port), insecure=True)
    (endpoint,) = client.execute("SELECT 1 AS one").endpoints
    assert client.do_get(endpoint.ticket).read_all().to_pydict() == {"one": [1]}
    for listing in (client.get_catalogs, client.get_db_schemas, client.get_tables, client.get_table_types):
        (endpoint,) = listing().endpoints
        assert client.do_get(endpoint.ticket).read_all().num_rows > 0, listing.__name__
    cursor = dbapi_connect(client).cursor()
    cursor.execute(f"SELECT name FROM {COUNTRIES} WHERE iso_a3 = 'FJI'")
    assert [tuple(row) for row in cursor.fetchall()] == [("Fiji",)]


def test_sqlalchemy(server):
    """The dialect that comes with flightsql-dbapi, which Superset uses."""
    import flightsql.sqlalchemy  # noqa: F401  registers the dialect
    engine = sqlalchemy.create_engine(f"datafusion+flightsql://{server.location}?insecure=True")
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("SELECT 1")).fetchall() == [(1,)]
    inspector = sqlalchemy.inspect(engine)
    assert "world" in inspector.get_schema_names()
    assert inspector.get_table_names(schema="world") == ["countries.geojson"]
    assert [c["name"] for c in inspector.get_columns("countries.geojson", schema="world")][-1] == "geometry"


def test_sqlalchemy_binds_parameters(server):
    """Without the feature the dialect itself writes NULL into the query (issue 29, 8)."""
    import flightsql.sqlalchemy  # noqa: F401  registers the dialect
    engine = sqlalchemy.create_engine(f"datafusion+flightsql://{server.location}?insecure=True&feature-sqlalchemy-prepared-statements=on")
    with engine.connect() as connection:
        text = sqlalchemy.text(f"SELECT name FROM {COUNTRIES} WHERE name = :name AND pop_est < :most")
        assert connection.execute(text, {"most": 10**7, "name": "Fiji"}).fetchall() == [("Fiji",)]


def test_a_table_is_found_by_its_stem(connection):
    """What queries call it, metadata calls find too (issue 29, 8)."""
    whole = connection.adbc_get_table_schema("countries.geojson", db_schema_filter="world")
    for filters in ({"db_schema_filter": "world"}, {}):
        assert connection.adbc_get_table_schema("countries", **filters) == whole


def test_a_file_in_a_folder_is_found_by_its_name(query):
    assert column(query('SELECT count(*) FROM "countries.geojson"')) == [177]


def test_sums_of_integers_are_integers(connection, query):
    table = query(f"SELECT sum(pop_est) AS people FROM {COUNTRIES}")
    assert table.schema.field("people").type == pa.int64()
    frame = pandas.read_sql(f"SELECT continent, sum(pop_est) AS people FROM {COUNTRIES} GROUP BY 1", connection)
    assert frame["people"].dtype == "int64"


def test_listings_of_a_fresh_server(tmp_path):
    """They are complete before any table was requested (issue 28, input 13)."""
    (tmp_path / "roads.csv").write_text("id,name\n1,a\n")
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / "towns.csv").write_text("id\n1\n")
    with Server(tmp_path) as fresh:
        client = fresh.client()
        want = [{"table_schema": "main", "table_name": "roads.csv"}, {"table_schema": "world", "table_name": "towns.csv"}]
        for _ in range(2):
            assert sql.ask(client, "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1").to_pylist() == want
            assert sql.ask(client, "SHOW TABLES").to_pylist() == [{"name": "roads.csv"}]
            schemata = sql.ask(client, "SELECT schema_name FROM information_schema.schemata WHERE catalog_name = 'vibeflight' ORDER BY 1")
            assert column(schemata) == ["main", "world"]
            assert column(sql.ask(client, "SELECT count(*) FROM towns, roads")) == [1]


@sql.needs_spatial
def test_kinds_of_geometries(query):
    """ST_GeometryType is an ENUM (issue 28, input 14)."""
    assert query(f"SELECT ST_GeometryType(geometry) AS kind, count(*) AS n FROM {COUNTRIES} GROUP BY 1 ORDER BY 1").to_pydict() == {
        "kind": ["POLYGON", "MULTIPOLYGON"], "n": [148, 29]}  # in the order of the ENUM


@sql.needs_spatial
def test_x_is_longitude(query):
    """ST_Transform neither takes nor gives latitude first (issue 28, input 02)."""
    got = query("SELECT ST_X(ST_Transform(ST_SetCRS(ST_Point(10, 50), 'EPSG:4326'), 'EPSG:3857')) AS x, ST_X(ST_Transform(ST_SetCRS(ST_Point(500000, 5500000), 'EPSG:25832'), 'EPSG:4326')) AS lon")
    assert got.to_pylist() == [{"x": 1113194.9079327357, "lon": 9.0}]


def test_duckdb_reads_results(query):
    countries = query(f"SELECT name, pop_est, geometry FROM {COUNTRIES}")  # noqa: F841  DuckDB finds it by its name
    assert duckdb.sql("SELECT count(*), max(pop_est), count(geometry) FROM countries").fetchall() == [(177, 1379302771, 177)]


def test_pyarrow_alone(client):
    assert sql.ask(client, f"SELECT count(*) AS n FROM {COUNTRIES}").to_pydict() == {"n": [177]}
    assert client.get_schema(sql.statement("SELECT 1 AS one")).schema.names == ["one"]


def test_names_of_every_kind(client):
    """A file by its whole name, by schema and name, by stem, and with the catalog in front."""
    for name in ('"world/countries.geojson"', COUNTRIES, "countries", "world.countries", f"vibeflight.{COUNTRIES}"):
        assert sql.ask(client, f"SELECT count(*) FROM {name}").column(0).to_pylist() == [177], name


@sql.needs_spatial
def test_spatial(query):
    got = query(f"SELECT a.name FROM {COUNTRIES} a, {COUNTRIES} b WHERE b.name = 'Portugal' AND a.name <> b.name AND ST_Intersects(a.geometry, b.geometry)")
    assert column(got) == ["Spain"]
    assert column(query(f"SELECT name FROM {COUNTRIES} ORDER BY ST_Area(geometry) DESC LIMIT 2")) == ["Antarctica", "Russia"]
    assert column(query(f"SELECT name FROM {COUNTRIES} WHERE ST_Contains(geometry, ST_Point(7.44, 46.95))")) == ["Switzerland"]


def test_tickets_still_work_beside(read, client):
    """The same server, the same file: what a ticket gives and what SQL gives are the same rows."""
    ticket = read("world/countries.geojson", geometry_encoding="wkb")
    rows = sql.ask(client, f"SELECT * FROM {COUNTRIES}")
    assert rows.schema.names == ticket.schema.names
    for name in rows.schema.names:
        assert rows[name].combine_chunks().equals(ticket[name].combine_chunks()) or rows[name].to_pylist() == ticket[name].to_pylist(), name
