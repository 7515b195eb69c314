"""File Geodatabases that GDAL or Esri's programs wrote are the tables that GDAL reads of them, and a folder is one entry."""
import json
import pathlib
import shutil
import zipfile

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyogrio
import pyproj
import pytest
import shapely
from conftest import ticket
from gdal import assert_same_column, assert_same_geometry, plain
from serving import Server, vibeflight

MADE = pathlib.Path(__file__).parent.parent / "readers/filegdb/testdata"
ESRI = pathlib.Path(__file__).parent.parent.parent / "shared/data/gdal/filegdb"  # GDAL's own test data, where it is
LINEAR = {"curves": "linearize"}


def written():
    """A layer with a column of most types, nulls, and polygons with holes."""
    n = np.arange(3000)
    shapes = shapely.buffer(shapely.points(n % 60 * 10, n // 60 * 10), 4)
    shapes[::5] = shapely.difference(shapes[::5], shapely.buffer(shapely.points((n % 60 * 10)[::5], (n // 60 * 10)[::5]), 2))
    shapes[::7] = None
    return geopandas.GeoDataFrame({
        "i": n.astype("int32"), "small": (n % 100).astype("int16"), "half": (n / 3).astype("float32"), "x": pd.Series(n / 7).mask(n % 7 == 0),
        "text": pd.Series([f"é {i}" for i in n], dtype=object).mask(n % 11 == 0), "at": pd.Timestamp("2020-01-01") + pd.to_timedelta(n, unit="h"),
    }, geometry=shapes, crs=25832)


def zipped(folder, path):
    with zipfile.ZipFile(path, "w") as z:
        for f in sorted(folder.iterdir()):
            z.write(f, f"deep/{folder.name}/{f.name}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gdb")
    pyogrio.write_dataframe(written(), folder / "written.gdb", layer="areas", driver="OpenFileGDB", geometry_type="MultiPolygon")
    pyogrio.write_dataframe(written().drop(columns="geometry"), folder / "written.gdb", layer="attributes", driver="OpenFileGDB")
    zipped(folder / "written.gdb", folder / "packed.gdb.zip")
    for golden in MADE.glob("*.gdb"):
        shutil.copytree(golden, folder / golden.name)
    return folder


@pytest.fixture(scope="module")
def client(folder):
    with Server(folder) as server:
        yield server.client()


def comparable(column):
    """Without the zone of a time; as float64."""
    return column.cast({pa.timestamp("ms", "UTC"): pa.timestamp("ms"), pa.float32(): pa.float64()}.get(column.type, column.type))


def assert_same(ours, path, layer, curves=False):
    """Same columns, types, values, geometries and reference system. Zones of times are compared in integration/differences."""
    ours.validate(full=True)
    meta, theirs = pyogrio.read_arrow(path, layer=layer)
    geometry = meta["geometry_name"] or "wkb_geometry"
    has = geometry in theirs.column_names
    assert ours.column_names == [*(c for c in theirs.column_names if c != geometry), *["geometry"] * has]
    for column in ours.column_names[:len(ours.column_names) - has]:
        if pa.types.is_dictionary(theirs[column].type):  # the codes of a domain
            assert ours[column].type == theirs[column].type.index_type
            continue
        if column == "timestamp_offset":  # a time with an offset from UTC is in UTC here
            continue
        assert plain(ours[column]).type == theirs[column].type or pa.types.is_timestamp(theirs[column].type)
        assert_same_column(column, comparable(plain(ours[column])), comparable(theirs[column]))
    if not has:
        return
    if curves:
        want = pyogrio.read_dataframe(path, layer=layer).geometry
        got = shapely.from_wkb(plain(ours["geometry"]).to_numpy())
        assert shapely.get_num_coordinates(got).tolist() == want.count_coordinates().tolist()
        assert max(shapely.hausdorff_distance(a, b) for a, b in zip(got, want)) < 1e-9
    else:
        assert_same_geometry(ours["geometry"], theirs[geometry])
    crs = json.loads(ours.schema.field("geometry").metadata.get(b"ARROW:extension:metadata") or b"{}").get("crs")
    assert (crs and pyproj.CRS(crs)) == (meta["crs"] and pyproj.CRS(meta["crs"]))


@pytest.mark.parametrize("name", sorted(g.stem for g in MADE.glob("*.gdb") if g.stem not in ("wide", "sparse", "multipatch")))  # differ, and are in DIFFERENCES.md
def test_goldens(folder, client, name):
    curves = name == "curves"
    ours = client.do_get(ticket(f"{name}.gdb", geometry_encoding="wkb", options=LINEAR if curves else {})).read_all()
    assert_same(ours, folder / f"{name}.gdb", None, curves)


@pytest.mark.parametrize("file", ["written.gdb", "packed.gdb.zip"])
@pytest.mark.parametrize("layer", ["areas", "attributes"])
def test_written(folder, client, file, layer):
    ours = client.do_get(ticket(f"{file}#{layer}", geometry_encoding="wkb")).read_all()
    assert_same(ours, folder / "written.gdb", layer)


def test_a_folder_is_one_entry(folder):
    entries = [json.loads(line) for line in vibeflight("ls", folder, "--json").splitlines()]
    assert sorted(pathlib.Path(e.get("path", e.get("name"))).name for e in entries) == sorted(f.name for f in folder.iterdir())
    said = vibeflight("sql", "SELECT count(*) AS n, sum(i) AS sum FROM written", folder, "--json")
    assert json.loads(said) == {"n": 3000, "sum": 3000 * 2999 // 2}


def layers():
    """Every layer of GDAL's own test data; none where it is not there."""
    files = sorted([*ESRI.glob("*.gdb"), *ESRI.glob("*.zip"), *ESRI.glob("objectid64/*.gdb")])
    for file in files:
        inside = f"/vsizip/{file}/roads_clip Drawing.gdb" if file.name == "weird_winding_order_fgdb.zip" else file
        if file.name != "with_cdf.gdb":
            yield from ((file, inside, layer) for layer, _ in pyogrio.list_layers(inside))


@pytest.fixture(scope="module")
def esri():
    with Server(ESRI) as server:
        yield server.client()


@pytest.mark.skipif(not ESRI.exists(), reason="GDAL's test data is not there")
def test_gdals_own(esri):
    """Counted: 80 layers."""
    n = 0
    for file, inside, layer in layers():
        if layer == "multipatch":
            continue
        ours = esri.do_get(ticket(f"{file.relative_to(ESRI)}#{layer}", geometry_encoding="wkb", options=LINEAR)).read_all()
        assert_same(ours, inside, layer)
        n += 1
    assert n == 80


@pytest.mark.skipif(not ESRI.exists(), reason="GDAL's test data is not there")
def test_compressed(esri):
    with pytest.raises(Exception, match="is compressed: its data is in a00000030.gdbtable.cdf"):
        esri.do_get(ticket("with_cdf.gdb"))
