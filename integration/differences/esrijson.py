"""Esri JSON."""
import datetime
import json

from .case import ERROR, Difference

OID = {"name": "OBJECTID", "type": "esriFieldTypeOID"}
POINT = {"x": 1, "y": 2}


def file(name, ours, gdal, *geometries, fields=(OID,), attributes=None, columns=True, **members):
    """A set of features with the same attributes."""
    features = [{"attributes": {"OBJECTID": i + 1} if attributes is None else attributes, "geometry": g} for i, g in enumerate(geometries)]
    text = json.dumps({**members, "geometryType": "esriGeometryPoint", "fields": fields, "features": features})
    return Difference(name, text, ours, gdal, "esrijson", columns=columns)


def typed(name, kind, value, ours, gdal):
    field = {"name": "a", "type": f"esriFieldType{kind}"}
    return file(name, ours if isinstance(ours, str) else {"a": ours}, gdal if isinstance(gdal, str) else {"a": gdal}, POINT, fields=[field], attributes={"a": value})


DIFFERENCES = [
    typed("small integer", "SmallInteger", 7, ("int32", [7]), ("int16", [7])),
    typed("single", "Single", 0.1, ("double", [0.1]), ("float", [0.10000000149011612])),
    typed("wide object id", "OID", 3_000_000_000, ("int64", [3_000_000_000]), ("int32", [2**31 - 1])),
    typed("fraction in an integer", "Integer", 4.75, ("double", [4.75]), ("int32", [4])),
    typed("text in an integer", "Integer", "8", ERROR, ("int32", [8])),
    typed("text in a date", "Date", "1970-01-01", ERROR, ("timestamp[ms]", [datetime.datetime(1970, 1, 1, 0, 0, 1, 970000)])),
    file("attribute without a field", {"b": ("string", ["x"])}, {"OBJECTID": ("int32", [1])}, POINT, attributes={"OBJECTID": 1, "b": "x"}),
    file("empty point", {"geometry": ["POINT EMPTY"]}, {"geometry": [None]}, {"x": "NaN", "y": "NaN"}),
    file("envelope", {"geometry": ["POLYGON ((1 2, 1 4, 3 4, 3 2, 1 2))"]}, {"geometry": [None]}, {"xmin": 1, "ymin": 2, "xmax": 3, "ymax": 4}),
    file("hasM of the set", {"geometry": ["MULTIPOINT M ((1 2 3))"]}, {"geometry": ["MULTIPOINT Z ((1 2 3))"]}, {"points": [[1, 2, 3]]}, hasM=True),
    file("m that is null", {"geometry": ["LINESTRING ZM (0 0 1 2, 1 1 2 NaN)"]}, {"geometry": [None]},
         {"hasZ": True, "hasM": True, "paths": [[[0, 0, 1, 2], [1, 1, 2, None]]]}),
    file("m of a point", {"geometry": ["POINT M (1 2 4)"]}, {"geometry": ["POINT (1 2)"]}, {**POINT, "m": 4}),
    file("two dimensions in one line", {"geometry": ["MULTILINESTRING Z ((0 0 NaN, 1 1 NaN), (2 2 NaN, 3 3 5))"]},
         {"geometry": ["MULTILINESTRING Z ((0 0 NaN, 1 1 NaN), (2 2 0, 3 3 5))"]}, {"paths": [[[0, 0], [1, 1]], [[2, 2], [3, 3, 5]]]}),
    file("system of a geometry", {"crs": "EPSG:3857"}, {"crs": None}, {**POINT, "spatialReference": {"wkid": 3857}}),
    file("a second system", ERROR, {"geometry": ["POINT (1 2)"]}, {**POINT, "spatialReference": {"wkid": 3857}}, spatialReference={"wkid": 4326}),
    file("curve", ERROR, {"geometry": [None]}, {"curvePaths": [[[0, 0], {"c": [[3, 3], [1, 4]]}]]}),
    file("quantized", ERROR, {"geometry": ["LINESTRING (1 2, 3 4)"]}, {"paths": [[[1, 2], [3, 4]]]}, transform={"scale": [1, 1], "translate": [0, 0]}),
    Difference("single geometry", '{"x": 1, "y": 2, "spatialReference": {"wkid": 4326}}', {"geometry": ["POINT (1 2)"]}, "error: ", "esrijson", columns=True),
    Difference("trailing comma", '{"fields": [{"name": "a", "type": "esriFieldTypeInteger",}], "geometryType": "esriGeometryPoint", "features": []}', ERROR, {}, "esrijson", columns=True),
]
