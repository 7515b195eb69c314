"""`vibeflight sql`: other programs read its output, and a server returns the same as files."""
import csv
import io
import json
import subprocess

import geopandas
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import sql
from serving import BINARY, vibeflight

VALUES = """SELECT * FROM (VALUES
    (1::TINYINT, 9007199254740993, 0.1::DOUBLE, 1.50::DECIMAL(4,2), true, 'a,"b"', DATE '1969-12-31', TIMESTAMP '2020-02-29 12:34:56.789', [1, NULL], {'x': 1, 'y': 'z'}),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (-128, -1, 1e300, -0.25, false, '', DATE '2020-02-29', TIMESTAMP '1600-01-01 00:00:00', [], {'x': NULL, 'y': NULL})
  ) t(tiny, big, real, money, yes, text, day, moment, list, pair)"""


def test_parquet_holds_what_a_server_sends(client, server, tmp_path):
    vibeflight("sql", VALUES, "-o", tmp_path / "file.parquet")
    vibeflight("sql", VALUES, "-o", tmp_path / "server.parquet", "--server", server.uri)
    want = sql.ask(client, VALUES)
    for name in ("file.parquet", "server.parquet"):
        got = parquet.read_table(tmp_path / name)
        assert got.schema.names == want.schema.names and got.to_pylist() == want.to_pylist(), name


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_geoparquet(data, tmp_path, compression):
    """GeoPandas reads it with its reference system."""
    path = tmp_path / "countries.parquet"
    vibeflight("sql", "SELECT name, geometry FROM countries ORDER BY name", data / "world", "-o", path, "--compression", compression)
    frame = geopandas.read_parquet(path)
    want = geopandas.read_file(data / "world" / "countries.geojson").set_crs("OGC:CRS84", allow_override=True).sort_values("name").reset_index(drop=True)
    assert frame.crs.to_string() == "OGC:CRS84" and frame["name"].tolist() == want["name"].tolist()
    assert frame.geometry.geom_equals_exact(want.geometry, 0).all()


def test_parquet_without_rows_or_geometry(tmp_path):
    vibeflight("sql", "SELECT 1 AS n, 'x' AS t WHERE false", "-o", tmp_path / "x.parquet")
    got = parquet.read_table(tmp_path / "x.parquet")
    assert (got.num_rows, got.schema.names) == (0, ["n", "t"]) and b"geo" not in parquet.read_metadata(tmp_path / "x.parquet").metadata


def test_arrow(data, client, tmp_path):
    query = 'SELECT n, geometry FROM "large.geojsonl" WHERE n % 3 = 0 ORDER BY n'
    vibeflight("sql", query, data, "-o", tmp_path / "x.arrow")
    with pa.memory_map(str(tmp_path / "x.arrow")) as f:
        got = pa.ipc.open_file(f).read_all()
    want = sql.ask(client, query)
    assert got.equals(want) and got.schema.field("geometry").metadata == want.schema.field("geometry").metadata


def test_json_and_csv(client):
    want = sql.ask(client, VALUES).to_pylist()
    lines = [json.loads(line) for line in vibeflight("sql", VALUES, "--json").splitlines()]
    assert [row["big"] for row in lines] == [9007199254740993, None, -1]
    for line, row in zip(lines, want, strict=True):
        assert {k: line[k] for k in ("tiny", "real", "yes", "text", "list", "pair")} == {k: row[k] for k in ("tiny", "real", "yes", "text", "list", "pair")}
        assert line["day"] == (row["day"] and row["day"].isoformat()) and line["money"] == (row["money"] and float(row["money"]))
    header, first, nothing, last = csv.reader(io.StringIO(vibeflight("sql", VALUES, "--csv"), newline=""))
    assert header == list(want[0]) and first[5] == 'a,"b"' and nothing == [""] * 10
    assert last == ["-128", "-1", "1e+300", "-0.25", "false", "", "2020-02-29", "1600-01-01T00:00:00", "[]", '{"x":null,"y":null}']


def test_a_closed_pipe_ends_it(data):
    """`vibeflight sql … | head -1` ends, with no trace but an exit status."""
    process = subprocess.Popen([BINARY, "sql", 'SELECT * FROM "large.geojsonl"', data, "--csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline().startswith(b"n,geometry")
    process.stdout.close()
    assert process.wait(timeout=30) != 0
    process.stderr.close()
