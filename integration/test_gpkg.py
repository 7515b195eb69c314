"""GeoPackages that GDAL wrote, and GDAL's own test files, are the tables that GDAL reads of them."""
import json
import pathlib
import sqlite3

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyogrio
import pyproj
import pytest
import shapely
from conftest import ticket
from gdal import assert_same_column, assert_same_geometry
from serving import Server

ROWS = 3000
GDAL = pathlib.Path(__file__).parent.parent.parent / "shared/data/gdal/gpkg"
UNDEFINED = "Undefined geographic SRS"
DOMAIN = ("domains.gpkg", "with_enum_domain")  # GDAL gives texts in place of codes


def points():
    """A column of every type that GDAL writes, with nulls."""
    n = np.arange(ROWS)
    null = n % 7 == 0
    return geopandas.GeoDataFrame({
        "i": n.astype("int32"), "big": n * (2**62 // ROWS), "small": (n % 100).astype("int16"), "half": (n / 3).astype("float32"),
        "x": pd.Series(n / 7).mask(null), "text": pd.Series([f"é {i}" for i in n], dtype=object).mask(null), "yes": n % 2 == 0,
        "at": pd.Series(pd.Timestamp("1969-12-31T12:00:00.5Z") + pd.to_timedelta(n, unit="h")).mask(null),
    }, geometry=np.where(null, None, shapely.points(np.sin(n) * 180, np.cos(n) * 90)), crs=25832)


def shapes():
    """Several kinds, with z in some, and polygons in overflow pages."""
    kinds = [shapely.Point(1, 2).buffer(1, quad_segs=n) for n in (1, 20, 300)]
    kinds += [shapely.Point(1, 2, 3), shapely.LineString([(1, 2), (3, 4)]), shapely.MultiPoint([(1, 2), (3, 4)]), None, shapely.Polygon(),
              shapely.GeometryCollection([shapely.Point(1, 2), shapely.LineString([(1, 2), (3, 4)])])]
    return geopandas.GeoDataFrame({"n": np.arange(30 * len(kinds))}, geometry=30 * kinds, crs="OGC:CRS84")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpkg")
    for layer, frame in {"points": points(), "shapes": shapes()}.items():
        pyogrio.write_dataframe(frame, folder / "several.gpkg", layer=layer, driver="GPKG")
    nowhere = geopandas.GeoDataFrame({"n": [1, 2]}, geometry=[shapely.Point(1, 2), None])
    pyogrio.write_dataframe(nowhere, folder / "several.gpkg", layer="nowhere", driver="GPKG")
    pyogrio.write_dataframe(pd.DataFrame({"a": ["x", "y"]}), folder / "several.gpkg", layer="attributes", driver="GPKG")
    for path in GDAL.glob("*.gpkg*") if GDAL.exists() else ():
        if path.suffix in (".gpkg", ".zip"):
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture(scope="module")
def client(folder):
    with Server(folder) as server:
        yield server.client()


def same(folder, client, name, layer):
    ours = client.do_get(ticket(f"{name}#{layer}", geometry_encoding="wkb")).read_all()
    ours.validate(full=True)
    path = f"/vsizip/{folder / name}" if name.endswith(".zip") else folder / name
    meta, theirs = pyogrio.read_arrow(path, layer=layer)
    geometry = meta["geometry_name"]
    ids, others = meta["fid_column"], [c for c in theirs.column_names if c != geometry]
    assert ours.column_names == [*([ids] if ids in ours.column_names else []), *others, *(["geometry"] if geometry else [])]
    for column in others:
        if (name, column) == DOMAIN:
            continue
        wide = {pa.int16(): pa.int32(), pa.float32(): pa.float64()}.get(theirs[column].type)
        assert_same_column(column, ours[column], theirs[column].cast(wide) if wide else theirs[column])
    if geometry:
        assert_same_geometry(ours["geometry"], theirs[geometry])
        crs = json.loads(ours.schema.field("geometry").metadata[b"ARROW:extension:metadata"]).get("crs")
        assert UNDEFINED in (meta["crs"] or UNDEFINED) if crs is None else pyproj.CRS(crs) == pyproj.CRS(meta["crs"])
    return ours


@pytest.mark.parametrize("layer", ["points", "shapes", "nowhere", "attributes"])
def test_same_table(folder, client, layer):
    table = same(folder, client, "several.gpkg", layer)
    assert table["fid"].to_pylist() == [*range(1, table.num_rows + 1)]


def test_files_of_gdal(folder, client):
    if not GDAL.exists():
        pytest.skip(f"no folder {GDAL}")
    layers = 0
    for path in sorted(GDAL.iterdir()):
        if path.suffix in (".gpkg", ".zip"):
            for layer, _ in pyogrio.list_layers(f"/vsizip/{path}" if path.suffix == ".zip" else path):
                same(folder, client, path.name, layer)
                layers += 1
    assert layers == 8


@pytest.mark.parametrize("name", ["poly", "poly_inconsistent_case"])
def test_scripts_of_gdal(tmp_path, name):
    """GDAL's databases that are SQL: the second one spells the names of tables in two ways."""
    if not GDAL.exists():
        pytest.skip(f"no folder {GDAL}")
    db = sqlite3.connect(tmp_path / f"{name}.gpkg")
    for function in ("ST_MinX", "ST_MinY", "ST_MaxX", "ST_MaxY", "ST_IsEmpty"):  # of its triggers
        db.create_function(function, 1, lambda *_: 0.0)
    db.executescript((GDAL / f"{name}.gpkg.sql").read_text())
    db.close()
    with Server(tmp_path) as server:
        assert same(tmp_path, server.client(), f"{name}.gpkg", "poly").num_rows == 1


def test_layers_are_entries(folder, client):
    first = client.do_get(ticket("several.gpkg")).read_all()
    assert first.num_rows == ROWS
    names = [f.descriptor.path[0].decode() for f in client.list_flights()]
    assert {f"several.gpkg#{layer}" for layer in ("points", "shapes", "attributes")} <= set(names)


def test_a_database_that_is_written_to(tmp_path):
    """Commits are seen as soon as they are in the WAL, and rows of open transactions are not."""
    path = tmp_path / "live.gpkg"
    pyogrio.write_dataframe(geopandas.GeoDataFrame({"n": [1, 2]}, geometry=shapely.points([1, 2], [3, 4]), crs=4326), path, driver="GPKG", SPATIAL_INDEX="NO")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    with Server(tmp_path) as server:
        client = server.client()
        rows = lambda: client.do_get(ticket("live.gpkg")).read_all()["n"].to_pylist()
        assert rows() == [1, 2]
        # The triggers of GDAL count features by functions that only GDAL has.
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')
        db.execute("INSERT INTO live SELECT 7, geom, 3 FROM live WHERE fid = 1")
        list(client.do_action("refresh"))
        assert rows() == [1, 2, 3]
        db.execute("BEGIN")
        db.execute("UPDATE live SET n = 100")
        list(client.do_action("refresh"))
        assert rows() == [1, 2, 3]
        db.execute("COMMIT")
        list(client.do_action("refresh"))
        assert rows() == [100, 100, 100]
    db.close()
