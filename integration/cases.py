"""The small files that the tests serve, and which geometry each row of them is."""
import json
import math

import numpy as np
import shapely

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
HOLE = [[1, 1], [1, 2], [2, 2], [2, 1], [1, 1]]
FAR = [[10, 10], [11, 10], [11, 11], [10, 10]]


def lift(coordinates):
    """The same coordinates with a third ordinate, equal for equal positions, so that rings stay closed."""
    if isinstance(coordinates[0], list):
        return [lift(c) for c in coordinates]
    x, y = coordinates
    return [x, y, x / 3 + y]


# One column per entry: its GeoArrow kind, and its rows as GeoJSON geometries.
FLAT = {
    "point": [
        {"type": "Point", "coordinates": [0.1, -0.2]},
        None,
        {"type": "Point", "coordinates": []},
        {"type": "Point", "coordinates": [-179.99999999999997, 89.99999999999999]},
    ],
    "linestring": [
        {"type": "LineString", "coordinates": [[0, 0], [1, 1], [2, 0.1]]},
        {"type": "LineString", "coordinates": []},
        None,
        {"type": "LineString", "coordinates": [[3, 3], [4, 4]]},
    ],
    "polygon": [
        {"type": "Polygon", "coordinates": [SQUARE, HOLE]},
        None,
        {"type": "Polygon", "coordinates": [FAR]},
        {"type": "Polygon", "coordinates": []},
    ],
    "multipoint": [
        {"type": "MultiPoint", "coordinates": [[0, 0], [1, 1]]},
        {"type": "Point", "coordinates": [5, 6]},
        None,
        {"type": "MultiPoint", "coordinates": []},
    ],
    "multilinestring": [
        {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 1]], [[2, 2], [3, 3], [4, 5]]]},
        {"type": "LineString", "coordinates": [[7, 7], [8, 8]]},
        None,
        {"type": "MultiLineString", "coordinates": []},
    ],
    "multipolygon": [
        {"type": "MultiPolygon", "coordinates": [[SQUARE, HOLE], [FAR]]},
        {"type": "Polygon", "coordinates": [SQUARE]},
        None,
        {"type": "MultiPolygon", "coordinates": []},
    ],
}


def raised(geometry):
    """The geometry with a third ordinate; empty ones stay unchanged."""
    if geometry is None or not geometry["coordinates"]:
        return geometry
    return {**geometry, "coordinates": lift(geometry["coordinates"])}


KINDS = {(kind, "xy"): rows for kind, rows in FLAT.items()}
KINDS |= {(kind, "xyz"): [raised(g) for g in rows] for kind, rows in FLAT.items()}

# Rows of several kinds, and of several dimensions: no native encoding holds them, so the column is WKB.
MIXED = [
    {"type": "Point", "coordinates": [1, 2]},
    None,
    {"type": "LineString", "coordinates": [[0, 0, 9], [1, 1, 8]]},
    {"type": "MultiPolygon", "coordinates": [[SQUARE, HOLE], [FAR]]},
    {"type": "GeometryCollection", "geometries": [
        {"type": "Point", "coordinates": [1, 2]},
        {"type": "LineString", "coordinates": [[0, 0], [1, 1]]},
    ]},
    {"type": "GeometryCollection", "geometries": []},
]


def collection(rows, **members):
    """A FeatureCollection's text. A row is a geometry, or a pair of geometry and properties."""
    features = []
    for i, row in enumerate(rows):
        geometry, properties = row if isinstance(row, tuple) else (row, {"row": i})
        features.append({"type": "Feature", "properties": properties, "geometry": geometry})
    return json.dumps({"type": "FeatureCollection", **members, "features": features})


def kind_file(kind, dimension):
    return f"kinds/{kind}_{dimension}.geojson"


CRS_FILES = {  # by file: the value of the member crs, what pyproj must make of the column's CRS
    "crs/absent.geojson": (..., "OGC:CRS84"),
    "crs/crs84.geojson": ({"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}, "OGC:CRS84"),
    "crs/mercator.geojson": ({"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}, "EPSG:3857"),
    "crs/utm.geojson": ({"type": "name", "properties": {"name": "EPSG:32633"}}, "EPSG:32633"),
    "crs/none.geojson": (None, None),
}

FILES = {kind_file(*key): collection(rows) for key, rows in KINDS.items()}
FILES |= {name: collection([FLAT["point"][0]], **({} if crs is ... else {"crs": crs})) for name, (crs, _) in CRS_FILES.items()}
FILES |= {
    "mixed.geojson": collection(MIXED),
    "empty.geojson": collection([]),
    "nulls.geojson": collection([None, None]),
    "grid.geojson": collection([({"type": "Point", "coordinates": [i % 10, i // 10]}, {"n": i, "name": f"cell {i}"})
                                for i in range(100)]),
    "lines.geojsonl": "".join(json.dumps({"type": "Feature", "properties": {"n": i},
                                          "geometry": {"type": "Point", "coordinates": [i, -i]}}) + "\n" for i in range(7)),
    "broken.geojson": collection([FLAT["point"][0]])[:-20],
    "ring.geojson": '{"type":"FeatureCollection","features":[\n'
                    '{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}},\n'
                    '{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[[1,null],[3,4]]}}]}\n',
    "types.geojson": collection([
        ({"type": "Point", "coordinates": [1, 2]},
         {"int": 1, "wide": 2147483648, "float": 0.1, "bool": True, "text": "caf\u00e9 \U0001f600", "null": None, "date": "2024-02-29",
          "stamp": "2024-02-29T12:34:56.789Z", "local": "2024-02-29 12:34", "time": "12:34:56", "list": [1, 2], "nested": {"a": [1, {"b": None}]},
          "mixed": 1}),
        ({"type": "Point", "coordinates": [3, 4]},
         {"int": -2147483648, "wide": -9223372036854775808, "float": 5e-324, "bool": False, "text": "", "date": "1969-12-31",
          "stamp": "1969-12-31T23:59:59.999Z", "local": "1969-12-31 23:59", "time": "00:00:00.001", "list": [], "nested": [], "mixed": "x"}),
        ({"type": "Point", "coordinates": [5, 6]}, {}),
    ]),
}


def as_shapely(geometry, dimension=None, multi=False):
    """The geometry as a shapely object. dimension "xyz" pads with NaN, multi promotes to the Multi kind."""
    if geometry is None:
        return None
    kind = geometry["type"]
    if kind == "GeometryCollection":
        return shapely.geometrycollections([as_shapely(g, dimension) for g in geometry["geometries"]])
    coordinates = geometry["coordinates"]
    if multi and not kind.startswith("Multi"):
        kind, coordinates = "Multi" + kind, [coordinates] if coordinates else []
    if not coordinates:
        return shapely.from_wkt(f"{kind.upper()} {'Z ' if dimension == 'xyz' else ''}EMPTY")

    def positions(p):
        a = np.array(p, dtype=float)
        if dimension == "xyz" and a.shape[-1] == 2:
            a = np.concatenate([a, np.full((*a.shape[:-1], 1), math.nan)], axis=-1)
        return a

    match kind:
        case "Point":
            return shapely.points(positions(coordinates))
        case "LineString":
            return shapely.linestrings(positions(coordinates))
        case "Polygon":
            return polygon(coordinates, positions)
        case "MultiPoint":
            return shapely.multipoints([shapely.points(positions(p)) for p in coordinates])
        case "MultiLineString":
            return shapely.multilinestrings([shapely.linestrings(positions(p)) for p in coordinates])
        case "MultiPolygon":
            return shapely.multipolygons([polygon(p, positions) for p in coordinates])
    raise ValueError(kind)


def polygon(rings, positions):
    return shapely.polygons(positions(rings[0]), holes=[positions(r) for r in rings[1:]] or None)
