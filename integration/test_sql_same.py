"""Generated queries give what DuckDB itself gives, in the version that vibeflight holds, on the same data from Parquet: the same names, types and rows, whatever
their order, and floats bit for bit. A sum or a mean of floats depends on the order of the addition, which threads decide: it may differ by 1e-12 of its value."""
import math
import os
import pickle
import struct
import subprocess
import sys

import pyarrow as pa
import pyarrow.flight as flight
import pyarrow.parquet as parquet
import pytest
import sql
import sqlqueries
from conftest import ticket
from serving import ROOT, Server

pytestmark = sql.needs_spatial  # which comes with the Python module to compare with

TOLERANCE = 1e-12
APPROXIMATE = ("approx", "avg(", "sum(p.score)", "median(")


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """[(query, ours, DuckDB's)], each a table or an error's text."""
    folder, parquets = tmp_path_factory.mktemp("same"), tmp_path_factory.mktemp("parquet")
    tables = sqlqueries.files(folder)
    queries = sqlqueries.queries()
    ours, paths = [], {}
    with Server(folder, *sql.FLAGS) as server:
        client = server.client()
        for name, file in tables.items():
            path = parquets / f"{name}.parquet"
            table = client.do_get(ticket(file, geometry_encoding="wkb")).read_all()
            parquet.write_table(plain(table), path)
            paths[name] = str(path), {f.name: made_of(f.name, f.type) for f in table.schema if made_of(f.name, f.type)}
        for query in queries:
            try:
                ours.append(sql.ask(client, query))
            except (pa.ArrowException, flight.FlightError, KeyError) as e:
                ours.append(str(e))
    return list(zip(queries, ours, peer(paths, queries), strict=True))


def made_of(name, kind):
    """How DuckDB makes of a column of Parquet what the column is here, or None: it reads milliseconds as microseconds."""
    if name == "geometry":
        return "ST_GeomFromWKB(geometry)"
    return f"{name}::TIMESTAMP_MS" if kind == pa.timestamp("ms") else None


def plain(table):
    """Without Arrow's extension types: the peer makes geometries of their bytes itself."""
    return table.replace_schema_metadata(None).cast(pa.schema([pa.field(f.name, f.type) for f in table.schema]))


def peer(paths, queries):
    """DuckDB's answers."""
    modules = str(ROOT / ".duckdb" / "python")
    done = subprocess.run([sys.executable, ROOT / "integration" / "sqlpeer.py"], env={**os.environ, "PYTHONPATH": modules}, check=True, timeout=300,
                          input=pickle.dumps((str(sql.FETCHED / "spatial.duckdb_extension"), paths, queries)), stdout=subprocess.PIPE)
    version, answers = pickle.loads(done.stdout)
    assert version == "1.5.5"
    return [answer if isinstance(answer, str) else pa.ipc.open_stream(answer).read_all() for answer in answers]


def exact(value):
    """A value that equals another one if all their bits do; NaN is NaN."""
    if isinstance(value, float):
        return ("float", "nan" if math.isnan(value) else struct.pack("<d", value))
    if isinstance(value, dict):
        return tuple((k, exact(v)) for k, v in value.items())
    if isinstance(value, list):
        return tuple(map(exact, value))
    return value


def rows(table):
    """The rows, the approximate values apart, in an order that does not depend on the query."""
    approximate = [any(a in name for a in APPROXIMATE) and pa.types.is_floating(kind) for name, kind in zip(table.schema.names, table.schema.types)]
    columns = [column.to_pylist() for column in table.columns]
    made = []
    for row in zip(*columns, strict=True):
        made.append((tuple(exact(v) for v, a in zip(row, approximate) if not a), tuple(v for v, a in zip(row, approximate) if a)))
    return sorted(made, key=repr)


def close(a, b):
    if a is None or b is None or math.isnan(a) or math.isnan(b):
        return repr(a) == repr(b)
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def with_sums(table):
    """DuckDB's answer with its sums of integers, which are HUGEINT there, as the server gives them: int64."""
    sums = [pa.types.is_decimal(kind) and (kind.precision, kind.scale) == (38, 0) for kind in table.schema.types]
    return table.cast(pa.schema([field.with_type(pa.int64()) if s else field for field, s in zip(table.schema, sums, strict=True)]))


def difference(ours, want):
    """The difference, or None."""
    if isinstance(ours, str) or isinstance(want, str):
        return f"ours: {ours}, DuckDB: {want}"
    want = with_sums(want)
    kinds = [[(f.name, str(f.type)) for f in table.schema] for table in (ours, want)]
    if kinds[0] != kinds[1]:
        return f"columns {kinds[0]}, want {kinds[1]}"
    if ours.num_rows != want.num_rows:
        return f"{ours.num_rows} rows, want {want.num_rows}"
    for got, expected in zip(rows(ours), rows(want), strict=True):
        if got[0] != expected[0] or not all(map(close, got[1], expected[1])):
            return f"row {got}, want {expected}"
    return None


def test_the_same_answers(answers):
    different = [f"{query}\n    {found}" for query, ours, want in answers if (found := difference(ours, want))]
    assert not different, f"{len(different)} of {len(answers)} differ:\n" + "\n".join(different[:20])


def test_the_queries_are_worth_asking(answers):
    """Most have rows, and nearly all are different."""
    assert len(answers) == 500
    assert len({query for query, _, _ in answers}) > 400
    assert sum(isinstance(ours, pa.Table) and ours.num_rows > 0 for _, ours, _ in answers) > 400


@pytest.mark.parametrize("name, ours, same", [
    ("other order", {"a": [2, 1], "b": [0.5, math.nan]}, True),
    ("value", {"a": [1, 3], "b": [math.nan, 0.5]}, False),
    ("missing row", {"a": [1], "b": [math.nan]}, False),
    ("row that is there twice", {"a": [1, 1], "b": [math.nan, math.nan]}, False),
    ("null for NaN", {"a": [1, 2], "b": [None, 0.5]}, False),
    ("last bit", {"a": [1, 2], "b": [math.nan, math.nextafter(0.5, 1)]}, False),
    ("name", {"a": [1, 2], "c": [math.nan, 0.5]}, False),
    ("type", {"a": [1.0, 2.0], "b": [math.nan, 0.5]}, False),
])
def test_differences_are_noticed(name, ours, same):
    want = pa.table({"a": [1, 2], "b": [math.nan, 0.5]})
    assert (difference(pa.table(ours), want) is None) == same


def test_approximate_columns():
    table = pa.table({"k": ["x"], "approx": [0.1 + 0.2]})
    assert difference(table, pa.table({"k": ["x"], "approx": [0.3]})) is None
    assert difference(table, pa.table({"k": ["x"], "approx": [0.3001]})) is not None
    assert difference(table, "an error") is not None
