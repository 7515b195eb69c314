"""TopoJSON."""
import json

from .case import ERROR, Difference

ARCS = [[[0, 0], [1, 0]], [[1, 0], [1, 1]], [[5, 5], [6, 6]]]


def line(*arcs, **members):
    return {"type": "LineString", "arcs": [*arcs], **members}


def file(name, ours, gdal, *geometries, arcs=ARCS, objects=None, columns=True):
    objects = objects or {"a": {"type": "GeometryCollection", "geometries": geometries}}
    return Difference(name, json.dumps({"type": "Topology", "objects": objects, "arcs": arcs}), ours, gdal, "topojson", columns=columns)


COLLECTION = {"type": "GeometryCollection", "geometries": [line(0)]}
DIFFERENCES = [
    file("integer ids", {"id": ("int64", [7])}, {"id": ("string", ["7"])}, line(0, id=7)),
    file("no ids", {"geometry": ["LINESTRING (0 0, 1 0)"]}, {"id": ("string", [None])}, line(0)),
    file("null type", {"geometry": [None, "LINESTRING (0 0, 1 0)"]}, {"geometry": ["LINESTRING (0 0, 1 0)"]}, {"type": None}, line(0)),
    file("collection in a collection", {"geometry": ["GEOMETRYCOLLECTION (LINESTRING (0 0, 1 0))", "LINESTRING (0 0, 1 0)"]},
         {"geometry": ["LINESTRING (0 0, 1 0)"]}, COLLECTION, line(0)),
    file("heights", {"geometry": ["LINESTRING Z (0 0 5, 1 1 6)"]}, {"geometry": ["LINESTRING EMPTY"]}, line(0), arcs=[[[0, 0, 5], [1, 1, 6]]]),
    file("height of a point", {"geometry": ["POINT Z (1 2 3)"]}, {"geometry": ["POINT EMPTY"]}, {"type": "Point", "coordinates": [1, 2, 3]}),
    file("index of no arc", ERROR, {"geometry": ["LINESTRING (0 0, 1 0)"]}, line(0, 9)),
    file("arcs that do not meet", ERROR, {"geometry": ["LINESTRING (0 0, 1 0, 6 6)"]}, line(0, 2)),
    file("line without arcs", ERROR, {"geometry": ["LINESTRING (0 0, 1 0)"]}, {"type": "LineString"}, line(0)),
    file("unknown type", ERROR, {"geometry": ["LINESTRING (0 0, 1 0)"]}, {"type": "Line"}, line(0)),
    file("array of objects", ERROR, {"geometry": ["LINESTRING (0 0, 1 0)"]}, objects=[line(0)]),
]
