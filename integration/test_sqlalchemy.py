"""The dialect vibeflight.sqlalchemy against the running server: queries, types, and reflection as pandas, Superset and others use it.

SQLAlchemy is 1.4 in .venv, as Superset has it, and 2 in .venv-bi; make test-clients runs this file with both.
"""
import datetime
import decimal

import pandas
import pytest
import shapely
import sqlalchemy
import vibeflight.sqlalchemy
from logins import Files
from serving import Server
from sqlalchemy import MetaData, Table, column, exc, func, select, text

COLUMNS = ["pop_est", "continent", "name", "iso_a3", "gdp_md_est", "geometry"]
LEGACY = sqlalchemy.__version__.startswith("1.")

needs_two = pytest.mark.skipif(LEGACY, reason="pandas wants SQLAlchemy 2, which is in .venv-bi: make test-clients runs this file with it too")


@pytest.fixture(scope="module")
def engine(server):
    return sqlalchemy.create_engine(f"vibeflight://{server.location}")


@pytest.fixture(scope="module")
def countries(engine):
    """The table, reflected."""
    return Table("countries.geojson", MetaData(), schema="world", autoload_with=engine)


def test_parameters(engine):
    query = text("SELECT name FROM countries WHERE name = :name AND pop_est < :most")
    with engine.connect() as connection:
        assert connection.execute(query, {"most": 10**7, "name": "Fiji"}).fetchall() == [("Fiji",)]


def test_values(engine):
    query = text("SELECT true, 7::TINYINT, 1.50::DECIMAL(4,2), DATE '2020-02-29', TIMESTAMP '2020-02-29 12:34:56', [1, 2], NULL, 'é''', 'ab'::BLOB")
    with engine.connect() as connection:
        assert tuple(connection.execute(query).fetchone()) == (
            True, 7, decimal.Decimal("1.50"), datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 12, 34, 56), [1, 2], None, "é'", b"ab")


def test_expressions(engine, countries):
    n = func.count().label("n")
    c = countries.c
    with engine.connect() as connection:
        by_continent = select(c.continent, n).group_by(c.continent).order_by(n.desc()).limit(2)
        assert connection.execute(by_continent).fetchall() == [("Africa", 51), ("Asia", 47)]
        names = select(c.name).where(c.iso_a3.in_(["NZL", "FJI"])).order_by(c.name)
        assert connection.execute(names).scalars().all() == ["Fiji", "New Zealand"]
        assert connection.execute(names.offset(1)).scalars().all() == ["New Zealand"]
        assert connection.execute(names.limit(1).offset(0)).scalars().all() == ["Fiji"]
        assert connection.execute(select((c.pop_est / 2).label("half")).where(c.name == "Fiji")).scalar() == 460469
        shape = connection.execute(select(c.geometry).where(c.name == "Fiji")).scalar()
    assert shapely.from_wkb(shape).geom_type == "MultiPolygon"


def test_reflection(engine):
    inspector = sqlalchemy.inspect(engine)
    assert {"main", "world"} <= set(inspector.get_schema_names())
    assert inspector.get_table_names(schema="world") == ["countries.geojson"] and "grid.geojson" in inspector.get_table_names()
    assert [c["name"] for c in inspector.get_columns("countries.geojson", schema="world")] == COLUMNS
    kinds = {c["name"]: str(c["type"].compile(engine.dialect)) for c in inspector.get_columns("countries.geojson", schema="world")}
    assert kinds == {"pop_est": "INTEGER", "continent": "VARCHAR", "name": "VARCHAR", "iso_a3": "VARCHAR", "gdp_md_est": "FLOAT", "geometry": "GEOMETRY"}
    assert inspector.get_pk_constraint("countries.geojson", schema="world")["constrained_columns"] == []
    for listing in (inspector.get_foreign_keys, inspector.get_indexes, inspector.get_unique_constraints, inspector.get_check_constraints):
        assert listing("countries.geojson", schema="world") == [], listing
    assert inspector.get_view_names("world") == []


@pytest.mark.parametrize("name, schema, there", [
    ("countries.geojson", "world", True), ("countries", "world", True), ("countries", None, True), ("world/countries.geojson", None, True),
    ("contries.geojson", "world", False), ("countries.geojson", "nowhere", False), ("grid.geojson", None, True), ("grid.geojson", "main", True),
])
def test_has_table(engine, name, schema, there):
    """A table is found by the names that queries have for it."""
    inspector = sqlalchemy.inspect(engine)
    assert inspector.has_table(name, schema=schema) == there
    if there:
        assert inspector.get_columns(name, schema=schema)
    else:
        with pytest.raises(exc.NoSuchTableError):
            inspector.get_columns(name, schema=schema)


def test_whole_schema(engine):
    metadata = MetaData()
    metadata.reflect(engine, schema="world")
    assert [c.name for c in metadata.tables["world.countries.geojson"].columns] == COLUMNS


@needs_two
def test_pandas(engine):
    frame = pandas.read_sql_table("countries.geojson", engine, schema="world", columns=["name", "pop_est"])
    assert list(frame.columns) == ["name", "pop_est"] and len(frame) == 177
    frame = pandas.read_sql(text("SELECT continent, count(*) AS n FROM countries GROUP BY 1 ORDER BY n DESC LIMIT 2"), engine)
    assert frame.to_dict("list") == {"continent": ["Africa", "Asia"], "n": [51, 47]}


def test_mistakes(engine):
    with engine.connect() as connection, pytest.raises(exc.ProgrammingError, match='"nam" not found'):
        connection.execute(text("SELECT nam FROM countries"))
    with engine.connect() as connection, pytest.raises(exc.DBAPIError, match="queries"):
        connection.execute(text("CREATE TABLE t (a INTEGER)"))
    with pytest.raises(Exception, match="broken.geojson.*byte"):
        sqlalchemy.inspect(engine).get_columns("broken.geojson")


@pytest.mark.parametrize("query, said", [("tsl=on", "tsl: no such option; the options are tls, tls_ca"), ("tls=1", "tls: want on or off, have '1'")])
def test_mistakes_in_the_address(query, said):
    with pytest.raises(exc.ArgumentError, match=said):
        sqlalchemy.create_engine(f"vibeflight://127.0.0.1?{query}").connect()


@pytest.mark.parametrize("url, uri, options", [
    ("vibeflight://host", "grpc://host:8815", {}),
    ("vibeflight://host:1", "grpc://host:1", {}),
    ("vibeflight://[::1]:1?tls=on", "grpc+tls://[::1]:1", {}),
    ("vibeflight://u:p%40@host", "grpc://host:8815", {"username": "u", "password": "p@"}),
    ("vibeflight://host?token=t", "grpc://host:8815", {"adbc.flight.sql.authorization_header": "Bearer t"}),
    ("vibeflight://host?tls_insecure=on", "grpc+tls://host:8815", {"adbc.flight.sql.client_option.tls_skip_verify": "true"}),
    ("vibeflight:///?socket=/tmp/s", "grpc+unix:///tmp/s", {}),
])
def test_addresses(url, uri, options):
    assert vibeflight.sqlalchemy.address(sqlalchemy.engine.make_url(url)) == (uri, options)


def test_socket(data, tmp_path):
    with Server(data, listen=f"unix://{tmp_path}/s"):
        engine = sqlalchemy.create_engine(f"vibeflight:///?socket={tmp_path}/s")
        with engine.connect() as connection:
            assert connection.execute(select(column("name")).select_from(text("countries")).order_by(column("name")).limit(1)).scalar() == "Afghanistan"


def test_tls_and_login(data, certificate, tmp_path):
    """A certificate that is not the system's, and a token."""
    files = Files(tmp_path)
    with Server(data, *files.flags, tls=certificate) as server:
        address = f"vibeflight://{server.location}?tls_ca={certificate[0]}"
        with sqlalchemy.create_engine(f"{address}&token={files.token}").connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM countries")).scalar() == 177
        with pytest.raises(exc.DBAPIError, match="(?i)unauthenticated"), sqlalchemy.create_engine(address).connect() as connection:
            connection.execute(text("SELECT 1"))
