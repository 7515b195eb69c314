"""Esri JSON and TopoJSON are the tables that GDAL reads of them."""
import json
import math
import pathlib

import pyarrow as pa
import pyogrio
import pyproj
import pytest
from conftest import ticket
from gdal import GEOMETRY, assert_same_column, assert_same_geometry
from serving import Server

GDAL = pathlib.Path(__file__).parent.parent.parent / "shared/data/gdal"
WIDE = {pa.int16(): pa.int32(), pa.float32(): pa.float64()}


def ring(x, y, size):
    return [[x, y], [x, y + size], [x + size, y + size], [x + size, y], [x, y]]


def features(n, geometry):
    """A set with a field of every type, nulls and missing attributes."""
    kinds = ["OID", "SmallInteger", "Integer", "BigInteger", "Double", "String", "Date", "DateOnly", "TimeOnly", "GUID"]
    values = [lambda i: i, lambda i: i % 99, lambda i: -i, lambda i: i * 2**40, lambda i: i / 7, lambda i: f"é{i}", lambda i: (i - 50) * 10**9 + i,
              lambda i: f"2020-01-{i % 28 + 1:02}", lambda i: f"12:{i % 60:02}:56", lambda i: f"{{{i}}}"]
    attributes = [{k: None if (i + j) % 7 == 0 else v(i) for j, (k, v) in enumerate(zip(kinds, values, strict=True)) if (i + j) % 11} for i in range(n)]
    return {"spatialReference": {"wkid": 102100, "latestWkid": 3857}, "fields": [{"name": k, "type": f"esriFieldType{k}"} for k in kinds],
            "features": [{"attributes": {**a, "OID": i}, "geometry": geometry(i)} for i, a in enumerate(attributes)]}


def topology():
    """A grid of cells that share their sides, quantized, and objects that are no collections."""
    n, arcs, index = 9, [], {}
    for i in range(n + 1):
        for j in range(n):
            for key, arc in ((("h", i, j), [[7 * j, 11 * i], [3, 1], [4, -1]]), (("v", i, j), [[7 * i, 11 * j], [2, 5], [-2, 6]])):
                index[key] = len(arcs)
                arcs.append(arc)
    cells = [{"type": "Polygon", "arcs": [[index["v", j, i], index["h", i + 1, j], ~index["v", j + 1, i], ~index["h", i, j]]], "id": f"{i}-{j}",
              "properties": {"n": i * n + j, "x": j / 3, "text": f"é{i}", "yes": i % 2 == 0}} for i in range(n) for j in range(n)]
    return {"type": "Topology", "transform": {"scale": [0.1, 1 / 3], "translate": [-179.9, math.pi]}, "arcs": arcs, "objects": {
        "cells": {"type": "GeometryCollection", "geometries": cells},
        "lines": {"type": "GeometryCollection", "geometries": [{"type": "MultiLineString", "arcs": [[0], [1, ~1]], "id": "a"}, {"type": "LineString", "arcs": [2], "id": "b"}]},
        "place": {"type": "Point", "coordinates": [3, 4]}, "places": {"type": "MultiPoint", "coordinates": [[3, 4], [5, 6]], "properties": {"n": 1}}}}


SETS = {
    "points": features(500, lambda i: None if i % 9 == 0 else {"x": i / 3, "y": -i / 7}),
    "heights": features(9, lambda i: {"x": i / 3, "y": -i / 7, "z": i}),
    "multipoints": features(99, lambda i: {"points": [[i, j / 3] for j in range(i % 4)]}),
    "lines": features(99, lambda i: {"hasM": True, "paths": [[[i, j / 3, j], [i, 9, 5]] for j in range(1 + i % 3)]}),
    "polygons": features(99, lambda i: {"rings": [ring(20 * j, i, 9) for j in range(1 + i % 3)] + [ring(20 * j + 1, i + 1, 2)[::-1] for j in range(i % 2)]}),
}
LAYERS = ["cells", "lines", "TopoJSON"]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    for name, content in SETS.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    shapes = [{"type": "Point", "coordinates": [i / 3, -i / 7]} if i % 3 else {"type": "Polygon", "coordinates": [ring(i, 0, 1 / 3)]} for i in range(1, 99)]
    cells = ['"' + json.dumps(s).replace('"', '""') + '"' for s in shapes]
    (folder / "cells.csv").write_text("n,geom\n" + "".join(f"{i},{c}\n" for i, c in enumerate([*cells, ""])), encoding="utf-8")
    (folder / "grid.json").write_text(json.dumps(topology()), encoding="utf-8")
    with Server(folder) as server:
        yield server.client(), folder


def assert_same(ours, meta, theirs):
    theirs = theirs.sort_by(meta["fid_column"]) if meta.get("fid_column") in theirs.column_names else theirs
    ours.validate(full=True)
    assert ours.column_names == [*(c for c in theirs.column_names if c != GEOMETRY), "geometry"]
    for column in ours.column_names[:-1]:
        wide = WIDE.get(theirs[column].type)
        assert_same_column(column, ours[column], theirs[column].cast(wide) if wide else theirs[column])
    assert_same_geometry(ours["geometry"], theirs[GEOMETRY])


def crs_of(table):
    return json.loads(table.schema.field("geometry").metadata.get(b"ARROW:extension:metadata") or "{}").get("crs")


@pytest.mark.parametrize("name", SETS)
def test_feature_sets(served, name):
    client, folder = served
    meta, theirs = pyogrio.read_arrow(folder / f"{name}.json")
    ours = client.do_get(ticket(f"{name}.json", geometry_encoding="wkb")).read_all()
    assert_same(ours, meta, theirs)
    assert pyproj.CRS(crs_of(ours)) == pyproj.CRS(meta["crs"])


@pytest.mark.parametrize("layer", LAYERS)
def test_topologies(served, layer):
    client, folder = served
    meta, theirs = pyogrio.read_arrow(folder / "grid.json", layer=layer)
    ours = client.do_get(ticket(f"grid.json#{layer}", geometry_encoding="wkb")).read_all()
    assert_same(ours, meta, theirs)
    assert crs_of(ours) is None and meta["crs"] is None


def test_cells_of_csv(served):
    client, folder = served
    _, theirs = pyogrio.read_arrow(folder / "cells.csv", GEOM_POSSIBLE_NAMES="geom", KEEP_GEOM_COLUMNS="NO", AUTODETECT_TYPE="YES")
    ours = client.do_get(ticket("cells.csv", geometry_encoding="wkb")).read_all()
    assert_same_column("n", ours["n"], theirs["n"])
    assert_same_geometry(ours["geometry"], theirs["geom"])


@pytest.mark.skipif(not GDAL.exists(), reason="GDAL's test files are not here")
def test_files_of_gdal(tmp_path):
    files = {f.name: f for folder in ("esrijson", "topojson") for f in sorted((GDAL / folder).glob("*json"))}
    for name, file in files.items():
        (tmp_path / name).write_bytes(file.read_bytes())
    with Server(tmp_path) as server:
        client, same = server.client(), 0
        for name, file in files.items():
            if name == "topojson1.topojson":  # what GDAL survives: objects are an array, arcs are null
                continue
            meta, theirs = pyogrio.read_arrow(file)
            ours = client.do_get(ticket(name, geometry_encoding="wkb", options={"on_error": "repair"})).read_all()
            assert_same_geometry(ours["geometry"], theirs[GEOMETRY])
            for column in set(ours.column_names) & set(theirs.column_names):
                wide = WIDE.get(theirs[column].type)
                if wide != pa.float64():
                    assert_same_column(column, ours[column], theirs[column].cast(wide) if wide else theirs[column])
            same += 1
    assert same == len(files) - 1 >= 13
