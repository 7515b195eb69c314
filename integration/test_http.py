"""By HTTP and by Flight, the same ticket gives the same rows, in each format and to each reader."""
import gzip
import io
import json
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import duckdb
import exports
import geopandas
import numpy as np
import openapi_spec_validator
import polars
import pyarrow as pa
import pyarrow.flight as flight
import pyarrow.parquet
import pyogrio
import pytest
import shapely
import sql
from conftest import bits
from serving import ROOT, Server, free_port
from test_export import rows_of, same_shapes, shapes

COUNTRIES = "world/countries.geojson"
KINDS = [f"kinds/{kind}_{dim}.geojson" for kind in ("point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon") for dim in ("xy", "xyz")]
EXTENSIONS = {"geojson": "geojson", "geojsonseq": "geojsons", "geojsonl": "geojsonl", "csv": "csv", "flatgeobuf": "fgb", "geoparquet": "parquet"}


@pytest.fixture(scope="module")
def web(data):
    """A server with both listeners, and the address of HTTP."""
    port = free_port()
    with Server(data, "--http", f"127.0.0.1:{port}", *sql.FLAGS) as server:
        server.url = f"http://127.0.0.1:{port}"
        yield server


def get(server, path, body=None, **headers):
    """The headers and the body of an answer."""
    request = urllib.request.Request(server.url + path, data=json.dumps(body).encode() if body is not None else None,
                                     headers={name.replace("_", "-"): value for name, value in headers.items()})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.headers, answer.read()


def table_path(name, **fields):
    fields = {k: v if isinstance(v, str) else json.dumps(v) for k, v in fields.items()}
    return f"/v1/tables/{urllib.parse.quote(name)}?{urllib.parse.urlencode(fields)}"


def by_flight(server, name, **fields):
    return server.client().do_get(flight.Ticket(json.dumps({"name": name, **fields}).encode())).read_all()


def saved(server, folder, name, format, **fields):
    """A file with an answer."""
    path = folder / f"x.{EXTENSIONS[format]}"
    path.write_bytes(get(server, table_path(name, format=format, **fields))[1])
    return path


TICKETS = [
    {}, {"columns": ["geometry"]}, {"limit": 5}, {"bbox": [0, 0, 60, 60]}, {"rows": [3, 9]}, {"geometry_encoding": "wkb"}, {"coords": "interleaved"},
    {"compression": "zstd"}, {"compression": "lz4"}, {"crs": "EPSG:4326"},
]


@pytest.mark.parametrize("ticket", TICKETS, ids=lambda t: json.dumps(t))
@pytest.mark.parametrize("name", [COUNTRIES, "grid.geojson", "types.geojson", "mixed.geojson"])
def test_arrow_is_that_of_flight(web, name, ticket):
    want = by_flight(web, name, **ticket)
    for encoding in ("identity", "gzip"):
        for path, body in ((table_path(name, **ticket), None), (table_path(name), ticket)):
            headers, text = get(web, path, body, Accept_Encoding=encoding)
            if headers["Content-Encoding"] == "gzip":
                text = gzip.decompress(text)
            assert bits(pa.ipc.open_stream(text).read_all()) == bits(want)


def test_large_arrow_is_that_of_flight(web):
    got = pa.ipc.open_stream(io.BytesIO(get(web, table_path("large.geojsonl"))[1]))
    want = web.client().do_get(flight.Ticket(b"large.geojsonl"))
    assert [b.num_rows for b in got] == [c.data.num_rows for c in want]


@pytest.mark.parametrize("name", [COUNTRIES, "grid.geojson", *KINDS])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # GDAL's of an empty Point in GeoJSON
def test_gdal_reads_all_formats(web, tmp_path, name):
    want = by_flight(web, name)
    ours = shapes(by_flight(web, name, geometry_encoding="wkb")["geometry"])
    for format in ("geojson", "geojsonseq", "geojsonl", "flatgeobuf"):
        got = pyogrio.read_dataframe(saved(web, tmp_path, name, format))
        assert len(got) == want.num_rows, format
        if format == "flatgeobuf":
            assert got.crs.to_string() == "OGC:CRS84"
            assert list(rows_of(got, want)) == list(range(want.num_rows))  # in the order of the table
        same_shapes(ours, got.geometry.values, promoted=format == "flatgeobuf")
    read = exports.gdal(saved(web, tmp_path, name, "csv"))
    same_shapes(ours, read.shapes)


@pytest.mark.parametrize("name", [COUNTRIES, "grid.geojson", "types.geojson", "mixed.geojson", "kinds/polygon_xyz.geojson"])
def test_geoparquet(web, tmp_path, name):
    want = by_flight(web, name, geometry_encoding="wkb")
    path = saved(web, tmp_path, name, "geoparquet")
    plain = pa.parquet.read_table(path)
    assert plain.column_names == want.column_names
    for field in want.schema:
        ours, theirs = want[field.name], plain[field.name]
        theirs = theirs.cast(theirs.type.storage_type) if isinstance(theirs.type, pa.BaseExtensionType) else theirs
        ours = ours.cast(ours.type.storage_type) if isinstance(ours.type, pa.BaseExtensionType) else ours
        assert ours.to_pylist() == theirs.to_pylist(), field
    frame = geopandas.read_parquet(path)
    assert frame.crs.to_string() == "OGC:CRS84"
    same_shapes(shapes(want["geometry"]), frame.geometry.values)


def test_duckdb_and_polars_read_answers(web, tmp_path):
    columns = ["name", "pop_est"]
    want = by_flight(web, COUNTRIES, columns=columns)
    rows = list(zip(want["name"].to_pylist(), want["pop_est"].to_pylist()))
    parquet, csv = (saved(web, tmp_path, COUNTRIES, f, columns=columns) for f in ("geoparquet", "csv"))
    lines = saved(web, tmp_path, COUNTRIES, "geojsonl", columns=columns)
    assert duckdb.sql(f"SELECT name, pop_est FROM read_parquet('{parquet}')").fetchall() == rows
    assert duckdb.sql(f"SELECT name, pop_est FROM read_csv('{csv}')").fetchall() == rows
    assert duckdb.sql(f"SELECT name, pop_est FROM read_json('{lines}', format='newline_delimited')").fetchall() == rows
    assert polars.read_ndjson(lines).unnest("properties").select(columns).rows() == rows
    assert polars.read_parquet(parquet).rows() == rows
    assert polars.read_csv(csv).rows() == rows
    assert polars.read_ipc_stream(get(web, table_path(COUNTRIES, columns=columns))[1]).rows() == rows
    arrow_rows = pa.ipc.open_stream(get(web, table_path(COUNTRIES, columns=columns, compression="zstd"))[1]).read_all()
    assert duckdb.sql("SELECT name, pop_est FROM arrow_rows").fetchall() == rows


@pytest.mark.parametrize("format", EXTENSIONS)
def test_queries_are_those_of_flight_sql(web, tmp_path, format):
    query = "SELECT name, pop_est, geometry FROM countries WHERE continent = $c ORDER BY name"
    body = {"query": query, "parameters": {"c": "Africa"}}
    want = pa.ipc.open_stream(get(web, "/v1/sql", body)[1]).read_all()
    assert want.num_rows == 51
    path = tmp_path / f"x.{EXTENSIONS[format]}"
    path.write_bytes(get(web, f"/v1/sql?format={format}", body)[1])
    got = exports.gdal(path) if format == "csv" else None
    if format == "geoparquet":
        frame = geopandas.read_parquet(path)
    elif got is None:
        frame = pyogrio.read_dataframe(path)
    names, geometries = (got.columns["name"], got.shapes) if got else (list(frame["name"]), frame.geometry.values)
    assert names == want["name"].to_pylist()
    same_shapes(shapely.from_wkb(np.array(want["geometry"].to_pylist(), dtype=object)), geometries)


def test_mixed_queries_as_flatgeobuf(web, tmp_path):
    path = tmp_path / "x.fgb"
    parts = (f'SELECT geometry FROM "kinds/{kind}_xy.geojson" WHERE geometry IS NOT NULL' for kind in ("point", "polygon", "multilinestring"))
    query = {"query": " UNION ALL ".join(parts)}
    path.write_bytes(get(web, "/v1/sql?format=flatgeobuf", query)[1])
    want = pa.ipc.open_stream(get(web, "/v1/sql", query)[1]).read_all()
    assert want.num_rows > 0
    got = pyogrio.read_dataframe(path)
    assert [shapely.get_type_id(g) for g in got.geometry] == [shapely.get_type_id(shapely.from_wkb(w)) for w in want["geometry"].to_pylist()]


def test_unchanged_answers(web):
    headers, _ = get(web, table_path(COUNTRIES))
    with pytest.raises(urllib.error.HTTPError) as unchanged:
        get(web, table_path(COUNTRIES), If_None_Match=headers["ETag"])
    assert unchanged.value.code == 304 and unchanged.value.headers["ETag"] == headers["ETag"]


def test_openapi(web):
    openapi_spec_validator.validate(json.loads(get(web, "/v1/openapi.json")[1]))


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity"])
def test_apache_arrow_in_javascript(web, encoding):
    node = shutil.which("node")
    if not node or not (ROOT / "integration/http/node_modules/apache-arrow").exists():
        pytest.skip("needs node, and npm ci in integration/http")
    url = web.url + table_path("types.geojson", columns=["geometry"], geometry_encoding="wkt")
    done = subprocess.run([node, "read.mjs", url, encoding], cwd=ROOT / "integration/http", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["coding"] == (None if encoding == "identity" else encoding)
    want = by_flight(web, "types.geojson", columns=["geometry"], geometry_encoding="wkt")["geometry"]
    assert [row["geometry"] for row in got["rows"]] == want.to_pylist()
