"""Selections and queries as Arrow streams, which other libraries pull; and their geometries there."""

import duckdb
import geopandas
import polars
import pyarrow as pa
import pytest
from conftest import LARGE_ROWS
from serving import Server

import vibeflight
from vibeflight import endpoints

COUNTRIES = "world/countries.geojson"


def rows_of(server, kind):
    """The same rows, of a selection and of a query."""
    return server.table(COUNTRIES, columns=["name", "geometry"]) if kind == "selection" else server.sql("SELECT name, geometry FROM countries")


@pytest.fixture(params=["selection", "query"])
def rows(request, server):
    return rows_of(server, request.param)


def test_the_schema_is_that_of_the_stream(rows):
    schema = pa.schema(rows)
    assert schema.equals(pa.table(rows).schema, check_metadata=True)
    assert schema.field("geometry").metadata[b"ARROW:extension:name"] == b"geoarrow.wkb"
    assert b"CRS84" in schema.field("geometry").metadata[b"ARROW:extension:metadata"]


def test_a_requested_schema(rows):
    names = pa.schema([("name", pa.large_string()), ("geometry", pa.large_binary())])
    capsule = rows.__arrow_c_stream__(names.__arrow_c_schema__())
    assert pa.RecordBatchReader._import_from_c_capsule(capsule).read_all().num_rows == 177


def test_a_stream_is_pulled(server, monkeypatch):
    """What takes one batch has few more sent: no library reads all rows first."""
    read = []
    monkeypatch.setattr(endpoints, "next_batch", lambda reader, before=endpoints.next_batch: read.append(1) or before(reader))
    reader = pa.RecordBatchReader.from_stream(server.table("large.csv", columns=["n"]))
    assert not read, "nothing is asked for in advance"
    assert reader.read_next_batch().column("n")[0].as_py() == 0
    batches = LARGE_ROWS // 4096
    assert len(read) < batches / 4
    assert sum(batch.num_rows for batch in reader) < LARGE_ROWS
    assert len(read) > batches


def test_geopandas(rows):
    frame = geopandas.GeoDataFrame.from_arrow(rows)
    assert len(frame) == 177 and frame.crs == "OGC:CRS84" and frame.geometry.is_valid.sum() > 170


def test_polars(rows):
    """Its from_arrow takes a stream that is not of pyarrow for a Series of structs."""
    for frame in (polars.DataFrame(rows), polars.from_arrow(rows).struct.unnest()):
        assert frame.shape == (177, 2) and frame.schema["geometry"].ext_name() == "geoarrow.wkb"


def test_duckdb(rows):
    for relation in (duckdb.from_arrow(rows), duckdb.sql("FROM rows")):
        assert relation.aggregate("count(*), min(typeof(geometry))").fetchall() == [(177, "GEOMETRY('OGC:CRS84')")]


def test_lonboard(rows, server):
    lonboard = pytest.importorskip("lonboard", reason="lonboard is not installed")
    shown = rows.lonboard(polygon_kwargs={"opacity": 0.2})
    assert isinstance(shown, lonboard.Map)
    (layer,) = shown.layers
    assert isinstance(layer, lonboard.PolygonLayer) and layer.table.num_rows == 177 and layer.opacity == 0.2
    assert lonboard.PolygonLayer(rows).table.num_rows == 177
    (points,) = server.table("crs/utm.geojson").lonboard().layers
    assert isinstance(points, lonboard.ScatterplotLayer)


def test_lonboard_wants_a_geometry(server):
    pytest.importorskip("lonboard", reason="lonboard is not installed")
    with pytest.raises(TypeError, match="no geometry column"):
        server.table("gaps.csv").lonboard()


def test_sedonadb(rows):
    sedonadb = pytest.importorskip("sedonadb", reason="SedonaDB is not installed")
    session = sedonadb.connect()
    session.create_data_frame(rows).to_memtable().to_view("countries", overwrite=True)
    found = session.sql("SELECT name, ST_Area(geometry) AS area FROM countries ORDER BY area DESC LIMIT 1").to_pandas()
    assert found["name"].tolist() == ["Antarctica"] and found["area"][0] == pytest.approx(6028.84, abs=0.01)
    frame = session.sql("SELECT * FROM countries").to_pandas()
    assert len(frame) == 177 and frame.crs == "OGC:CRS84"


def test_put_takes_them(data, tmp_path):
    """To the same server, and from a query."""
    with vibeflight.serve(data, arguments=["--writable", f"new={tmp_path}"]) as server:
        for kind in ("selection", "query"):
            server.put(f"new/{kind}.arrow", rows_of(server, kind))
            stored = server.table(f"new/{kind}.arrow")
            assert stored.info.rows == 177 and stored.info.crs == "OGC:CRS84" and len(stored.geopandas()) == 177


def test_a_server_of_another_process_takes_them(server, tmp_path):
    with Server(tmp_path, "--writable", f"new={tmp_path}/new") as other, vibeflight.connect(other.uri) as target:
        target.put("new/countries.arrow", server.table(COUNTRIES))
        assert target.table("new/countries.arrow").info.rows == 177
