"""Our tables of the other formats compared with GDAL's: types, nulls, values, every coordinate, the reference system."""
import json
import pathlib

import geopandas
import pyarrow as pa
import pyarrow.compute as pc
import pyogrio
import pyproj
import pytest
import shapely
from conftest import bits, ticket
from differences.kml import document
from gdal import GEOMETRY, assert_same_column, assert_same_geometry
from samples import FEATURES, SAMPLES
from serving import Server, vibeflight

LAYERS = {
    "trips.kml": document(
        "<Folder><name>Stops</name><Placemark><name>a</name><Point><coordinates>1,2</coordinates></Point></Placemark>"
        "<Folder><name>Depots</name><Placemark><name>b</name><Point><coordinates>3,4</coordinates></Point></Placemark></Folder></Folder>"
        "<Folder><name>Lines</name><Placemark><name>c</name><LineString><coordinates>1,2 3,4</coordinates></LineString></Placemark>"
        "<Placemark><name>d</name><LineString><coordinates>5,6 7,8</coordinates></LineString></Placemark></Folder>"),
    "network.gml":
        '<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:a="http://example.com/a">'
        '<wfs:member><a:Stop gml:id="s.1"><a:name>a</a:name><a:g><gml:Point srsName="EPSG:3857"><gml:pos>1 2</gml:pos></gml:Point></a:g></a:Stop></wfs:member>'
        '<wfs:member><a:Line gml:id="l.1"><a:length>5.5</a:length><a:g><gml:LineString srsName="EPSG:3857"><gml:posList>1 2 3 4</gml:posList></gml:LineString></a:g>'
        "</a:Line></wfs:member>"
        '<wfs:member><a:Stop gml:id="s.2"><a:name>b</a:name><a:g><gml:Point srsName="EPSG:3857"><gml:pos>3 4</gml:pos></gml:Point></a:g></a:Stop></wfs:member>'
        "</wfs:FeatureCollection>",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Two folders with the same files, since GDAL writes a schema next to GML, and a client of a server over the first one."""
    ours, theirs = tmp_path_factory.mktemp("ours"), tmp_path_factory.mktemp("theirs")
    for folder in (ours, theirs):
        for sample in SAMPLES:
            sample.write(folder / sample.name)
        for name, text in LAYERS.items():
            (folder / name).write_text(text)
    vibeflight("gen", "wkt", "--features", FEATURES, "-o", ours / "polygons.wkt")
    with Server(ours) as server:
        yield server.client(), ours, theirs


def crs_of(table):
    return json.loads(table.schema.field("geometry").metadata.get(b"ARROW:extension:metadata") or "{}").get("crs")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # GDAL's
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_same_table(served, sample):
    client, _, folder = served
    fields = {"options": sample.options} if sample.options else {}
    ours = client.do_get(ticket(sample.name, geometry_encoding="wkb", **fields)).read_all()
    ours.validate(full=True)
    meta, theirs = pyogrio.read_arrow(folder / sample.name, **sample.settings)
    geometry = meta["geometry_name"] or GEOMETRY
    columns = [c for c in ours.column_names if c != "geometry" and c not in sample.ours_alone]
    assert columns == [c for c in theirs.column_names if c != geometry and c not in sample.gdal_alone]
    assert ours.num_rows == theirs.num_rows == sample.rows
    for name in columns:
        assert_same_column(name, ours[name], as_ours(sample, name, theirs[name]))
    assert ("geometry" in ours.column_names) == (geometry in theirs.column_names)
    if "geometry" in ours.column_names:
        assert_same_geometry(ours["geometry"], theirs[geometry])
        assert_same_crs(crs_of(ours), meta["crs"], sample.crs)


def as_ours(sample, name, column):
    """GDAL's column, adjusted for the entries of DIFFERENCES.md."""
    if name in sample.nothing:
        return pc.if_else(pc.equal(column, sample.nothing[name]), pa.scalar(None, column.type), column)
    if name in sample.zoned:
        return column.cast(pa.timestamp("ms")).cast(pa.timestamp("ms", "UTC"))
    return column


def assert_same_crs(ours, theirs, want):
    if want is None:
        assert ours is None and theirs is None
        return
    assert pyproj.CRS(ours).to_string() == want
    # Coordinates are x, y in both: GDAL's name for CRS84 may be EPSG:4326.
    assert pyproj.CRS(theirs).to_string() in (want, "EPSG:4326")


@pytest.mark.parametrize("sample", [s for s in SAMPLES if pathlib.Path(s.name).suffix != ".dbf"], ids=lambda s: s.name)
def test_native_geometry(served, sample):
    """GeoPandas reads the default encoding unchanged: the same positions and the same system."""
    client, _, _ = served
    fields = {"options": sample.options} if sample.options else {}
    native, wkb = (geopandas.GeoDataFrame.from_arrow(client.do_get(ticket(sample.name, geometry_encoding=encoding, **fields)).read_all())
                   for encoding in ("native", "wkb"))
    assert (shapely.get_coordinates(native.geometry) == shapely.get_coordinates(wkb.geometry)).all()
    assert native.geometry.isna().equals(wkb.geometry.isna())
    assert native.crs == wkb.crs and (native.crs is None) == (sample.crs is None)


def test_wkt_lines(served):
    """GDAL has no driver for them: Shapely reads the same text."""
    client, folder, _ = served
    table = client.do_get(ticket("polygons.wkt", geometry_encoding="wkb")).read_all()
    want = shapely.from_wkt((folder / "polygons.wkt").read_text().splitlines())
    assert table.column_names == ["geometry"] and len(want) == FEATURES
    assert_same_geometry(table["geometry"], pa.chunked_array([shapely.to_wkb(want)]))
    assert crs_of(table) is None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", LAYERS)
def test_layers(served, name):
    """An entry per layer once the file is parsed; the bare name is the first one."""
    client, _, folder = served
    bare = client.do_get(ticket(name, geometry_encoding="wkb")).read_all()
    layers = [layer for layer, _ in pyogrio.list_layers(folder / name)]
    listed = [b"/".join(i.descriptor.path).decode() for i in client.list_flights(json.dumps({"prefix": name}).encode())]
    assert sorted(listed) == sorted(f"{name}#{layer}" for layer in layers) and len(layers) > 1
    for layer in layers:
        ours = client.do_get(ticket(f"{name}#{layer}", geometry_encoding="wkb")).read_all()
        meta, theirs = pyogrio.read_arrow(folder / name, layer=layer)
        assert ours.num_rows == theirs.num_rows
        assert_same_geometry(ours["geometry"], theirs[meta["geometry_name"] or GEOMETRY])
        for column in ("Name", "gml_id", "name", "length"):
            assert (column in ours.column_names) == (column in theirs.column_names)
            if column in ours.column_names:
                assert_same_column(column, ours[column], theirs[column])
        if layer == layers[0]:
            assert bits(ours) == bits(bare)
    with pytest.raises(pa.ArrowKeyError, match="no entry"):
        client.do_get(ticket(f"{name}#none")).read_all()
