"""One reference system, one identity: WGS 84 and UTM from files of several formats, as GeoPandas sees them."""
import json
import shutil
from pathlib import Path

import geopandas
import pyarrow as pa
import pyarrow.flight as flight
import pyarrow.parquet as parquet
import pyogrio
import pytest
from serving import Server, vibeflight

FOLDER = Path(__file__).parents[1] / "flightsrv" / "sql" / "engine" / "testdata" / "crs"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return Path(shutil.copytree(FOLDER, tmp_path_factory.mktemp("crs") / "data"))


@pytest.fixture(scope="module")
def reference(files):
    with Server(files) as server:
        yield flight.connect(server.uri)


def frame(client, name, **fields):
    ticket = flight.Ticket(json.dumps({"name": name, **fields}))
    return geopandas.GeoDataFrame.from_arrow(client.do_get(ticket).read_all())


@pytest.mark.parametrize("name, crs", [
    ("wgs84.shp", "EPSG:4326"), ("wgs84.fgb", "EPSG:4326"), ("utm32.shp", "EPSG:25832"),
    ("wgs84.geojson", "OGC:CRS84"),
])
def test_geopandas_finds_the_system(reference, files, name, crs):
    ours = frame(reference, name)
    assert ours.crs == crs
    if crs != "OGC:CRS84":  # GDAL calls RFC 7946's system EPSG:4326
        assert ours.crs == pyogrio.read_dataframe(files / name).crs


def test_a_ticket_names_crs84_as_epsg_4326(reference):
    default, named = frame(reference, "wgs84.geojson"), frame(reference, "wgs84.geojson", crs="EPSG:4326")
    assert named.crs == "EPSG:4326" != default.crs
    assert named.geometry.to_wkb().tolist() == default.geometry.to_wkb().tolist()
    assert frame(reference, "utm32.shp", crs="EPSG:25832").crs == "EPSG:25832"


@pytest.mark.parametrize("name, crs", [("wgs84.geojson", "EPSG:3857"), ("utm32.shp", "EPSG:4326")])
def test_a_ticket_names_another_system(reference, name, crs):
    """The geometries are reprojected: test_reproject.py compares them with PROJ's."""
    assert frame(reference, name, crs=crs).crs == crs


def test_a_ticket_names_no_known_system(reference):
    with pytest.raises(pa.ArrowInvalid, match="(?i)crs|reference"):
        frame(reference, "utm32.shp", crs="nowhere")


def test_the_server_names_crs84_as_epsg_4326(files):
    with Server(files, "--crs84-as", "EPSG:4326") as server:
        client = flight.connect(server.uri)
        assert frame(client, "wgs84.geojson").crs == "EPSG:4326"
        assert frame(client, "wgs84.geojson", crs="OGC:CRS84").crs == "OGC:CRS84"
        assert frame(client, "utm32.shp").crs == "EPSG:25832"


@pytest.mark.parametrize("name, code", [("utm32.shp", 25832), ("wgs84.shp", 4326)])
def test_exports_name_the_system(files, tmp_path, name, code):
    vibeflight("get", files / name, "-o", tmp_path / "x.parquet")
    geo = json.loads(parquet.read_metadata(tmp_path / "x.parquet").metadata[b"geo"])
    assert geo["columns"]["geometry"]["crs"]["id"] == {"authority": "EPSG", "code": code}

    vibeflight("get", files / name, "-o", tmp_path / "x.geojson")
    named = json.loads((tmp_path / "x.geojson").read_text())
    if code != 4326:  # RFC 7946's own system needs no name
        assert str(code) in named["crs"]["properties"]["name"]
    assert pyogrio.read_dataframe(tmp_path / "x.geojson").crs == f"EPSG:{code}"

    vibeflight("get", files / name, "-o", tmp_path / "x.fgb")
    assert pyogrio.read_dataframe(tmp_path / "x.fgb").crs == f"EPSG:{code}"
