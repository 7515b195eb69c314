"""GPX: the layers of GDAL, with its columns, values and geometries."""
import json
import pathlib
import shutil

import numpy as np
import pyarrow as pa
import pyogrio
import pyproj
import pytest
from conftest import ticket
from gdal import GEOMETRY, assert_same_column, assert_same_geometry
from serving import Server

GDAL = pathlib.Path(__file__).parent.parent.parent / "shared/data/gdal/gpx/test.gpx"
LAYERS = ["waypoints", "routes", "tracks", "route_points", "track_points"]
HEAD = '<gpx version="{}" creator="test" xmlns="http://www.topografix.com/GPX/1/{}">'


def point(name, i, more=""):
    """A position with what most programs write."""
    return (f'<{name} lat="{np.sin(i) * 90:.7f}" lon="{np.cos(i) * 180:.7f}"><ele>{i / 3:.2f}</ele><time>20{i % 50:02d}-05-17T01:02:{i % 60:02d}Z</time>'
            f"{more}</{name}>")


def document(minor):
    named = "<name>no. {0}</name><cmt>é &amp; {0}</cmt><link href='h{0}'><text>t</text><type>x/y</type></link><sym>Flag</sym><sat>{0}</sat><hdop>1.5</hdop>"
    old = "<course>{0}</course><speed>0.5</speed><name>n</name><url>u{0}</url><urlname>v</urlname>"
    more = named if minor else old
    points = lambda name, n: "\n".join(point(name, i, more.format(i) if i % 3 else "") for i in range(n))
    waypoints = points("wpt", 4000)
    routes = "".join(f"<rte><name>r {n}</name><number>{n}</number>{points('rtept', n)}</rte>" for n in [0, 2, 5, 300])
    segments = lambda n: "".join(f"<trkseg>\n{points('trkpt', m)}\n</trkseg>" for m in [2, n, 0, 3])
    tracks = "".join(f"<trk><name>t {n}</name><desc>d</desc>{segments(n)}</trk>" for n in [2, 7, 3000, 0, 9])
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{HEAD.format(f'1.{minor}', minor)}\n{waypoints}{routes}{tracks}<trk/></gpx>\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpx")
    for minor in (0, 1):
        (folder / f"v1{minor}.gpx").write_text(document(minor))
    if GDAL.exists():
        shutil.copy(GDAL, folder / "gdal.gpx")
    return folder


@pytest.fixture(scope="module")
def gpx_client(folder):
    with Server(folder) as server:
        yield server.client()


@pytest.mark.parametrize("z", [False, True], ids=["column", "z"])
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", ["v10", "v11", "gdal"])
def test_same_table(folder, gpx_client, name, layer, z):
    if not (folder / f"{name}.gpx").exists():
        pytest.skip(f"no {GDAL}")
    ours = gpx_client.do_get(ticket(f"{name}.gpx#{layer}", geometry_encoding="wkb", options={"elevation": "z" if z else "column"})).read_all()
    ours.validate(full=True)
    meta, theirs = pyogrio.read_arrow(folder / f"{name}.gpx", layer=layer, ELE_AS_25D="YES" if z else "NO")
    more = {"link3_href", "link3_text", "link3_type", "course", "speed"}  # GDAL reads two links, and these of track points alone
    assert [c for c in ours.column_names[:-1] if c in theirs.column_names or c not in more] == [c for c in theirs.column_names if c != GEOMETRY]
    for column in theirs.column_names:
        if column == GEOMETRY:
            continue
        if column == "time":  # GDAL has no zone there
            assert ours[column].type == pa.timestamp("ms", "UTC")
            if (name, layer) != ("gdal", "waypoints"):  # one has an offset, which GDAL drops
                assert_same_column(column, ours[column].cast(pa.timestamp("ms")), theirs[column])
        else:
            assert_same_column(column, ours[column], theirs[column])
    assert_same_geometry(ours["geometry"], theirs[GEOMETRY])
    crs = json.loads(ours.schema.field("geometry").metadata[b"ARROW:extension:metadata"])["crs"]
    assert pyproj.CRS(crs) == pyproj.CRS(meta["crs"])


def test_layers(folder, gpx_client):
    gpx_client.do_get(ticket("v11.gpx")).read_all()
    listed = {b"/".join(i.descriptor.path).decode() for i in gpx_client.list_flights()}
    assert {f"v11.gpx#{layer}" for layer in LAYERS} <= listed
