"""The benchmark's files: as they are found, from fixed seeds, so that figures of different days compare.

    shapes.py FOLDER [SCALE]

buildings.geojson   700,000 footprints: short polygons of 7 decimals, three properties, one in twenty names with an escape
mixed.geojson       200,000 features of every kind: holes, Z, nulls, ids, nested properties, members in either order
points.geojsonl     1,000,000 lines: points with five properties

and by `vibeflight gen`:

points.csv          2,000,000 records: points in two columns, five attributes, quoted text
wkt.csv             300,000 records: polygons as WKT, two attributes
polygons.wkt        300,000 lines: polygons
attributes.dbf      300,000 records of ten fields
parcels.shp         300,000 polygons with the same attributes, in .dbf
places.kml          100,000 points, lines and polygons
parcels.gml         100,000 polygons with four attributes

and by `vibeflight get -o`, of the kind of file that `vibeflight gen` makes:

footprints.fgb      700,000 short polygons with three properties and an index

and by containers.py, which says what is in them:

footprints.gpkg, footprints.gdb, parcels.gpkg, parcels.gdb, city.osm.pbf, tracks.gpx, regions.topojson, stations.json, stations.xlsx
"""
import json
import math
import pathlib
import random
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import containers  # noqa: E402
from serving import vibeflight  # noqa: E402

STREETS = ["Main St", "NW 7th Ave", "Ocean Dr", "Calle Ocho", "County Rd 12", "Palm Bay Blvd"]
ODD = ['say \\"hi\\"', "a\\\\b", "caf\\u00e9", "Espa\u00f1ola Way", "\u6771\u4eac", "tab\\there", "emoji \\ud83d\\ude00", "line\\nbreak"]
ROWS = {
    "buildings.geojson": 700_000, "mixed.geojson": 200_000, "points.geojsonl": 1_000_000,
    "points.csv": 2_000_000, "wkt.csv": 300_000, "polygons.wkt": 300_000, "attributes.dbf": 300_000, "parcels.shp": 300_000,
    "places.kml": 100_000, "parcels.gml": 100_000, "footprints.fgb": 700_000,
    "footprints.gpkg": 700_000, "parcels.gpkg": 300_000, "footprints.gdb": 700_000, "parcels.gdb": 300_000, "city.osm.pbf": 500_000,
    "tracks.gpx": 1_000_000, "regions.topojson": 100_000, "stations.json": 300_000, "stations.xlsx": 200_000,
}
PROFILED = [name for name in ROWS if name not in {*containers.WRITERS, "footprints.gpkg", "parcels.gpkg", "footprints.gdb", "parcels.gdb"}]
CHUNK = 50_000


def footprints(seed, n):
    """n rings of 4 to 24 corners around points in Florida: corners per ring, its first corner, all x, all y, and the generator."""
    rs = np.random.default_rng(seed)
    corners = np.minimum(4 + rs.geometric(0.245, n) - 1, 24)
    cx = rs.uniform(-87.6, -80.0, n)
    cy = rs.uniform(24.5, 31.0, n)
    total = int(corners.sum())
    ring = np.repeat(np.arange(n), corners)
    first = np.concatenate([[0], np.cumsum(corners)[:-1]])
    k = np.arange(total) - first[ring]
    angle = 2 * math.pi * (k + 0.7 * rs.random(total)) / corners[ring]
    radius = 2e-4 * (0.6 + 0.4 * rs.random(total))
    x = np.round(cx[ring] + radius * np.cos(angle), 7)
    y = np.round(cy[ring] + radius * np.sin(angle), 7)
    return corners, first, x, y, rs


def write_buildings(file, n):
    file.write('{"type":"FeatureCollection","features":[\n')
    for done in range(0, n, CHUNK):
        m = min(CHUNK, n - done)
        corners, first, x, y, rs = footprints(1000 + done, m)
        xs, ys = [repr(v) for v in x.tolist()], [repr(v) for v in y.tolist()]
        rel = rs.integers(1, 5, m)
        heights = np.round(rs.gamma(2, 3, m), 2)
        chance = rs.random(m)
        pick = rs.integers(0, len(ODD), m)
        features = []
        for i in range(m):
            start, stop = int(first[i]), int(first[i] + corners[i])
            ring = [f"[{xs[j]},{ys[j]}]" for j in range(start, stop)]
            ring.append(ring[0])
            if chance[i] < 0.05:
                name = "null"
            elif chance[i] < 0.10:
                name = f'"{ODD[int(pick[i])]}"'
            else:
                name = f'"{STREETS[int(pick[i]) % 6]}"'
            height = "null" if chance[i] > 0.97 else repr(float(heights[i]))
            features.append('{"type":"Feature","properties":{"rel":%d,"height":%s,"name":%s},'
                            '"geometry":{"type":"Polygon","coordinates":[[%s]]}}' % (int(rel[i]), height, name, ",".join(ring)))
        file.write((",\n" if done else "") + ",\n".join(features))
    file.write("\n]}\n")


def ring(rs, x, y, corners, size):
    """One closed ring around x, y, as JSON text."""
    angle = np.sort(rs.random(corners)) * 2 * math.pi
    radius = size * (0.6 + 0.4 * rs.random(corners))
    xs = np.round(x + radius * np.cos(angle), 6).tolist()
    ys = np.round(y + radius * np.sin(angle), 6).tolist()
    positions = [f"[{a!r},{b!r}]" for a, b in zip(xs + xs[:1], ys + ys[:1])]
    return "[" + ",".join(positions) + "]"


def geometry(kind, i, rs, rnd, x, y):
    """Feature i's geometry as JSON text."""
    if kind == "Point":
        if i % 3:
            return '{"type":"Point","coordinates":[%.7g,%.7g]}' % (x, y)
        return '{"type":"Point","coordinates":[%.7f,%.7f,%.2f]}' % (x, y, rnd.random() * 100)
    if kind == "LineString":
        n = rnd.randrange(2, 30)
        line = ",".join("[%.6f,%.6f]" % (x + j * 0.001 * rnd.random(), y + j * 0.001 * rnd.random()) for j in range(n))
        return '{"type":"LineString","coordinates":[%s]}' % line
    if kind == "Polygon":
        rings = [ring(rs, x, y, rnd.randrange(4, 15), 0.01)]
        if i % 4 == 0:
            rings.append(ring(rs, x, y, 4, 0.001))
        return '{"type":"Polygon","coordinates":[%s]}' % ",".join(rings)
    if kind == "MultiPolygon":
        parts = ["[%s]" % ring(rs, x + j, y, rnd.randrange(4, 12), 0.01) for j in range(rnd.randrange(1, 5))]
        return '{"type":"MultiPolygon","coordinates":[%s]}' % ",".join(parts)
    if kind == "GeometryCollection":
        return ('{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[%.6f,%.6f]},'
                '{"type":"LineString","coordinates":[[%.6f,%.6f],[%.6f,%.6f]]}]}' % (x, y, x, y, x + 0.1, y + 0.1))
    return "null"


def write_mixed(file, n):
    rs, rnd = np.random.default_rng(7), random.Random(7)
    kinds = ["Point"] * 30 + ["LineString"] * 20 + ["Polygon"] * 30 + ["MultiPolygon"] * 10 + ["GeometryCollection"] * 5 + ["null"] * 5
    file.write('{"type":"FeatureCollection","name":"mixed",'
               '"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}},"features":[\n')
    for i in range(n):
        kind = kinds[rnd.randrange(100)]
        x, y = rnd.uniform(-180, 180), rnd.uniform(-85, 85)
        shape = '"geometry":' + geometry(kind, i, rs, rnd, x, y)
        values = {"id": i, "kind": kind, "v": None if i % 11 == 0 else round(rnd.random() * 1000, 3), "flag": bool(i & 1),
                  "name": rnd.choice(STREETS) + (' "q" \u00e9\n' if i % 17 == 0 else "")}
        if i % 29 == 0:
            values["tags"] = {"a": [1, 2, {"b": None}]}
        properties = '"properties":' + json.dumps(values, ensure_ascii=bool(i % 2))
        members = [shape, properties] if i % 2 else [properties, shape]
        file.write('{"type":"Feature","id":%d,%s}%s' % (i, ",".join(members), ",\n" if i < n - 1 else "\n"))
    file.write("]}\n")


def write_points(file, n):
    rs = np.random.default_rng(11)
    x = np.round(rs.uniform(-180, 180, n), 6).tolist()
    y = np.round(rs.uniform(-85, 85, n), 6).tolist()
    ids = rs.integers(0, 10**6, n).tolist()
    measured = np.round(rs.normal(50, 20, n), 3).tolist()
    street = rs.integers(0, 6, n).tolist()
    seconds = rs.integers(1.6e9, 1.7e9, n).tolist()
    chance = rs.random(n).tolist()
    for i in range(n):
        name = ODD[street[i]] if chance[i] > 0.97 else STREETS[street[i]]
        file.write('{"type":"Feature","geometry":{"type":"Point","coordinates":[%r,%r]},'
                   '"properties":{"id":%d,"value":%s,"name":"%s","ts":%d,"ok":%s}}\n'
                   % (x[i], y[i], ids[i], "null" if chance[i] < 0.03 else repr(measured[i]), name, seconds[i],
                      "true" if chance[i] < 0.5 else "false"))


WRITERS = {"buildings.geojson": write_buildings, "mixed.geojson": write_mixed, "points.geojsonl": write_points}
GENERATED = {
    "points.csv": "points-csv", "wkt.csv": "wkt-csv", "polygons.wkt": "wkt", "attributes.dbf": "dbf", "parcels.shp": "shapefile",
    "places.kml": "kml", "parcels.gml": "gml",
}


def write(name, folder, scale=1.0):
    """Writes the file unless it is there, whole, and gives its path. Scaled files lie in a folder of their own."""
    folder = pathlib.Path(folder) if scale == 1 else pathlib.Path(folder) / f"scale-{scale:g}"
    folder.mkdir(parents=True, exist_ok=True)
    path, rows = folder / name, max(10, int(ROWS[name] * scale))
    if path.exists():
        return path
    if name in GENERATED:
        vibeflight("gen", GENERATED[name], "--features", rows, "-o", path)
        return path
    if path.suffix == ".fgb":
        source = path.with_suffix(".geojson")
        vibeflight("gen", "buildings", "--features", rows, "-o", source)
        vibeflight("get", source, "-o", path)
        source.unlink()
        return path
    if path.suffix in (".gpkg", ".gdb"):
        part = path.with_name(f"part-{name}")  # GDAL knows the format by the suffix
        containers.from_table(part, write("footprints.fgb" if path.stem == "footprints" else "parcels.shp", folder.parent if scale != 1 else folder, scale))
        part.rename(path)
        return path
    part = path.with_suffix(".part")
    if name in containers.WRITERS:
        with open(part, "wb") as file:
            containers.WRITERS[name](file, rows)
        part.rename(path)
        return path
    with open(part, "w", encoding="utf-8") as file:
        WRITERS[name](file, rows)
    part.rename(path)
    return path


def parts(path):
    """The files that a reader of path reads in whole: a shapefile's shapes and attributes, a File Geodatabase's folder."""
    if path.is_dir():
        return sorted(path.iterdir())
    return [path, path.with_suffix(".dbf")] if path.suffix == ".shp" else [path]


if __name__ == "__main__":
    for name in ROWS:
        print(write(name, sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0))
