"""Tables that clients store: DoPut by pyarrow, bulk ingestion by ADBC, Polars and pandas. They become entries like any other, or leave nothing."""
import datetime
import decimal
import json
import random
import threading
import time

import adbc_driver_flightsql.dbapi as adbc
import geopandas
import pandas
import polars
import pyarrow as pa
import pyarrow.flight as flight
import pytest
import shapely
from conftest import ticket
from serving import Server

TABLE = pa.table({
    "i": pa.array([1, 2, None], pa.int64()), "u": pa.array([2**64 - 1, 0, None], pa.uint64()), "f": [0.5, None, float("inf")],
    "s": ["a", None, "ü"], "large": pa.array(["p", "q", None], pa.large_string()), "b": [True, None, False],
    "l": [[1, 2], None, []], "pair": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float64(), 2)),
    "d": pa.array([datetime.date(2020, 2, 29), None, datetime.date(1900, 1, 1)]),
    "t": pa.array([datetime.datetime(2020, 1, 1, 12), None, None], pa.timestamp("us", "UTC")),
    "n": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3")], pa.decimal128(10, 2)),
    "k": pa.array(["x", "y", "x"]).dictionary_encode(), "v": pa.array(["short", "longer than twelve bytes", None], pa.string_view()),
})
PLAIN = {"large", "k", "v"}  # columns that come back as strings


@pytest.fixture
def served(tmp_path):
    (tmp_path / "data").mkdir()
    with Server(tmp_path / "data", "--writable", str(tmp_path / "put")) as server:
        yield server, tmp_path / "put"


def put(client, name, table, chunk=None, compression=None, **command):
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"name": name, **command})) if command else flight.FlightDescriptor.for_path(name)
    options = flight.FlightCallOptions(write_options=pa.ipc.IpcWriteOptions(compression=compression))
    writer, reader = client.do_put(descriptor, table.schema, options)
    with writer:  # closing it raises the error
        writer.write_table(table, max_chunksize=chunk)
        writer.done_writing()
        answer = reader.read()
    return json.loads(answer.to_pybytes())


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed(served, compression):
    """Batches that a client compresses, small and large, and one that is too large when it is unpacked."""
    server, _ = served
    client = server.client()
    put(client, "small", TABLE, compression=compression)
    small = client.do_get(ticket("small.arrow")).read_all()
    for name in TABLE.schema.names:
        assert small[name].to_pylist() == TABLE[name].to_pylist(), name
    rng = random.Random(5)
    large = pa.table({"n": range(300_000), "r": [rng.random() for _ in range(300_000)], "s": [f"row {i % 1000}" for i in range(300_000)]})
    assert put(client, "large", large, compression=compression)["rows"] == 300_000
    assert client.do_get(ticket("large.arrow")).read_all().equals(large)
    zeros = pa.table({"z": pa.repeat(0, 34_000_000)})
    with pytest.raises(pa.ArrowException, match="rows from 0 on, unpacked.*--max-message-bytes"):
        put(client, "zeros", zeros, compression=compression)
    assert [info.descriptor.path for info in client.list_flights()] == [[b"large.arrow"], [b"small.arrow"]]


@pytest.mark.parametrize("chunk", [None, 1, 2])
def test_put_and_get(served, chunk):
    server, folder = served
    client = server.client()
    answer = put(client, "sub/t", TABLE, chunk)
    assert answer == {"name": "sub/t.arrow", "rows": 3, "bytes": (folder / "sub/t.arrow").stat().st_size}
    with pa.memory_map(str(folder / "sub/t.arrow")) as file:
        stored = pa.ipc.open_file(file).read_all()
        stored.validate(full=True)
    for table in (stored, client.do_get(ticket("sub/t.arrow")).read_all()):
        for name in TABLE.schema.names:
            assert table[name].to_pylist() == TABLE[name].to_pylist(), name
    assert [info.descriptor.path for info in client.list_flights()] == [[b"sub/t.arrow"]]
    with pytest.raises(pa.ArrowException, match="there is an entry of this name"):
        put(client, "sub/t", TABLE)
    put(client, "sub/t.arrow", TABLE.slice(1), mode="replace")
    assert client.do_get(ticket("sub/t.arrow")).read_all().num_rows == 2
    put(client, "sub/t.arrow", TABLE, mode="append")
    assert client.do_get(ticket("sub/t.arrow")).read_all()["i"].to_pylist() == [2, None, 1, 2, None]
    assert files(folder) == ["sub/t.arrow"]
    (result,) = client.do_action(flight.Action("drop", b"sub/t.arrow"))
    assert json.loads(result.body.to_pybytes()) == {"dropped": "sub/t.arrow"}
    assert files(folder) == [] and list(client.list_flights()) == []


def test_geometry_stays_geometry(served):
    """A table from GeoPandas comes back unchanged, with its reference system, and is available in SQL."""
    server, _ = served
    client = server.client()
    frame = geopandas.GeoDataFrame({"a": [1, 2]}, geometry=[shapely.Point(1, 2), shapely.Point(3, 4)], crs="EPSG:3857")
    put(client, "points", pa.table(frame.to_arrow(index=False)))
    back = geopandas.GeoDataFrame.from_arrow(client.do_get(ticket("points.arrow")).read_all())
    assert back.crs == frame.crs and back.geometry.equals(frame.geometry) and back["a"].tolist() == [1, 2]


def test_a_large_table_in_one_message(served):
    server, folder = served
    client = server.client()
    table = pa.table({"x": pa.array(range(3_000_000), pa.int64())})  # 24 MB
    assert put(client, "large", table)["rows"] == table.num_rows
    assert client.do_get(ticket("large.arrow")).read_all()["x"].combine_chunks().equals(table["x"].combine_chunks())


def test_read_only(data):
    with Server(data) as server, pytest.raises(pa.ArrowNotImplementedError, match="--writable"):
        put(server.client(), "t", TABLE)


def test_ingestion(served):
    server, folder = served
    table = pa.table({"i": [1, 2, 3], "s": ["a", "b", None]})
    with adbc.connect(server.uri, autocommit=True) as connection, connection.cursor() as cursor:
        def rows(of):
            cursor.execute(f"SELECT count(*) FROM {of}")
            return cursor.fetchone()[0]

        for mode, want in (("create", 3), ("append", 6), ("replace", 3), ("create_append", 6)):
            assert cursor.adbc_ingest("t", table, mode=mode) == 3
            assert rows("t") == want, mode
        with pytest.raises(adbc.ProgrammingError, match="there is an entry of this name"):
            cursor.adbc_ingest("t", table, mode="create")
        with pytest.raises(adbc.ProgrammingError, match="no entry"):
            cursor.adbc_ingest("other", table, mode="append")
        with pytest.raises(adbc.ProgrammingError, match="other columns"):
            cursor.adbc_ingest("t", table.select(["i"]), mode="append")
        cursor.adbc_ingest("t", table, mode="create", db_schema_name="folder")
        assert rows("folder.t") == 3
        assert files(folder) == ["folder/t.arrow", "t.arrow"]


def test_frames(served):
    """Polars' write_database and pandas' to_sql, over ADBC."""
    server, folder = served
    with adbc.connect(server.uri, autocommit=True) as connection, connection.cursor() as cursor:
        frame = polars.DataFrame({"a": [1, 2], "b": ["x", "longer than twelve bytes"], "c": [["p"], []]})
        frame.write_database("p", connection, if_table_exists="replace", engine="adbc")
        frame.write_database("p", connection, if_table_exists="append", engine="adbc")
        assert polars.read_database('SELECT a, b FROM p ORDER BY a', connection)["b"].to_list() == ["x"] * 2 + ["longer than twelve bytes"] * 2
        pandas.DataFrame({"a": [1, 2], "k": pandas.Categorical(["u", "v"])}).to_sql("q", connection, index=False)
        cursor.execute("SELECT * FROM q ORDER BY a")
        assert cursor.fetchall() == [(1, "u"), (2, "v")]
        assert files(folder) == ["p.arrow", "q.arrow"]


@pytest.mark.parametrize("rounds", [5, pytest.param(100, marks=pytest.mark.long)])
def test_killed_while_it_stores(tmp_path, rounds):
    """A server that is killed has stored a table completely or not at all, and the next one finds nothing else."""
    (tmp_path / "data").mkdir()
    folder = tmp_path / "put"
    table = pa.table({"x": pa.array(range(200_000), pa.int64())})
    rnd = random.Random(9)
    for _ in range(rounds):
        with Server(tmp_path / "data", "--writable", str(folder)) as server:
            assert [name for name in files(folder) if name != "t.arrow"] == []
            client = server.client()
            if files(folder):
                assert client.do_get(ticket("t.arrow")).read_all()["x"].to_pylist()[-1] == table.num_rows - 1

            def store():
                try:
                    while True:
                        put(client, "t", table, chunk=20_000, mode="replace")
                except (pa.ArrowException, OSError, StopIteration, AttributeError):
                    pass

            storing = threading.Thread(target=store)
            storing.start()
            time.sleep(rnd.uniform(0.05, 0.3))
            server.kill()
            storing.join()


def test_stored_with_an_alias(tmp_path, data):
    with Server(data, "--writable", f"mine={tmp_path / 'put'}") as server:
        client = server.client()
        assert put(client, "t", TABLE)["name"] == "mine/t.arrow"
        assert client.do_get(ticket("mine/t.arrow")).read_all().num_rows == 3
