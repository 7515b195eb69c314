"""Every format that `get -o` writes, read by GDAL, GeoPandas and DuckDB: equal rows, values, geometries and reference systems, of files that are hard to write."""
import exports
import numpy as np
import pyarrow as pa
import pyproj
import pytest
import shapely
import sql
from cases import FLAT, MIXED, collection, raised
from serving import vibeflight

TEXTS = ["", 'a "quoted", comma; it\'s', "two\nlines\r\nand a\ttab", "  blanks  ", "\u6771\u4eac \U0001f600 \u00e9 e\u0301", "007", "1e5", "true", "null", None, "\\N \\n \\\"", "=1+1"]
POINTS = [{"type": "Point", "coordinates": [i / 3, -i / 7]} for i in range(len(TEXTS))]


def values():
    """Rows of every type that GeoJSON gives."""
    rows = []
    for i, text in enumerate(TEXTS):
        odd = i % 2 == 1
        rows.append((POINTS[i], {
            "row": i, "text": text, "key": 9007199254740993 + i if odd else -9007199254740993 - i, "small": None if odd else -i,
            "ratio": [0.1, 1e300, 5e-324, None, -1.5, 2.0, 1 / 3, 123456789.123456789, 1e-7, 1e21, 0.30000000000000004, 100.0][i], "flag": [True, False, None][i % 3],
            "day": None if i == 2 else f"20{10 + i}-02-28", "at": f"2024-02-29T12:34:56.{i:03}Z", "local": None if i == 5 else f"2024-02-29T12:34:{i:02}",
            "clock": f"12:34:{i:02}", "nested": {"a": [i, {"b": text}], "c": None} if odd else [1, "x"], "numbers": [i, i + 1]}))
    return collection(rows)


def shapes(rows):
    return collection([(g, {"row": i}) for i, g in enumerate(rows)])


SOURCES = {
    "values": values(),
    "polygons": shapes(FLAT["polygon"] + FLAT["multipolygon"]),  # nulls and empty ones among them
    "empty-points": shapes(FLAT["point"]),
    "heights": shapes([raised(g) for g in FLAT["multilinestring"]]),
    "mixed": shapes([rows[0] for rows in FLAT.values()]),
    "mixed-nulls": shapes([rows[0] for rows in FLAT.values()] + [None]),
    "mixed-heights": shapes([raised(rows[0]) for rows in FLAT.values()]),
    "collections": shapes(MIXED),
    "no-rows": collection([]),
    "no-geometry": shapes([None, None]),
    "utm": collection([(p, {"row": i}) for i, p in enumerate(POINTS)], crs={"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}}),
    "no-crs": collection([(p, {"row": i}) for i, p in enumerate(POINTS)], crs=None),
}
CRS = {"utm": "EPSG:32633", "no-crs": None}  # else OGC:CRS84
EXTENSIONS = ["geojson", "geojsonl", "fgb", "gpkg", "csv", "parquet", "arrow", "arrows"]
READERS = {
    "gdal": (exports.gdal, ["geojson", "geojsonl", "fgb", "gpkg", "csv"]),
    "geopandas": (exports.geopandas_file, ["geojson", "geojsonl", "fgb", "gpkg", "csv"]),
    "geopandas.read_parquet": (exports.geopandas_parquet, ["parquet"]),
    "geopandas.from_arrow": (exports.geopandas_arrow, ["arrow", "arrows"]),
    "duckdb": (None, ["geojson", "geojsonl", "fgb", "gpkg", "csv", "parquet"]),
}
CASES = [(reader, extension, source) for reader, (_, extensions) in READERS.items() for extension in extensions for source in SOURCES
         if (extension, source) != ("geojsonl", "utm")]  # which is refused: test_export.py

NULLS = ["polygons", "empty-points", "heights", "mixed-nulls"]  # with a null geometry

# What differs, and why: DIFFERENCES.md, "What `get -o` writes". A reader that changes its mind fails the test as well.
EXPECTED = {}
for _extension in ("geojson", "geojsonl"):
    EXPECTED |= {(reader, _extension, "no-crs"): {"crs"} for reader in ("gdal", "geopandas", "duckdb")}
    EXPECTED |= {(reader, _extension, "empty-points"): {"geometry"} for reader in ("gdal", "geopandas", "duckdb")}
    EXPECTED |= {("duckdb", _extension, "polygons"): {"geometry"}}
EXPECTED |= {(reader, "geojsonl", "no-rows"): {"refused"} for reader in ("gdal", "geopandas", "duckdb")}
EXPECTED |= {(reader, "fgb", "values"): {"at"} for reader in ("gdal", "duckdb")}
EXPECTED |= {(reader, "fgb", source): {"refused"} for reader in ("gdal", "duckdb") for source in [*NULLS, "collections", "no-geometry"]}
EXPECTED |= {("duckdb", "fgb", "heights"): {"rows"}}
EXPECTED |= {(reader, "fgb", source): {"refused"} for reader in ("gdal", "geopandas") for source in ("mixed-heights", "collections")}
EXPECTED |= {(reader, "csv", "values"): {"text"} for reader in ("gdal", "geopandas")}
EXPECTED |= {("geopandas", "csv", "empty-points"): {"geometry"}}
EXPECTED |= {("duckdb", "gpkg", "no-crs"): {"crs"}}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """written(source, extension) is the path of an export."""
    folder = tmp_path_factory.mktemp("exports")
    for source, text in SOURCES.items():
        (folder / f"{source}.source.geojson").write_text(text, encoding="utf-8")
        for extension in EXTENSIONS:
            if (extension, source) != ("geojsonl", "utm"):
                wkb = ["--geometry-encoding", "wkb"] if extension == "arrow" else []
                vibeflight("get", folder / f"{source}.source.geojson", "-o", folder / f"{source}.{extension}", *wkb)
    return lambda source, extension: folder / f"{source}.{extension}"


@pytest.fixture(scope="module")
def answers(written):
    """DuckDB's, by path."""
    return exports.duckdb([written(source, extension) for reader, extension, source in CASES if reader == "duckdb"])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # GDAL's of an empty Point in GeoJSON
@pytest.mark.parametrize("reader,extension,source", CASES, ids=["-".join(case) for case in CASES])
def test_reads_the_same(request, written, reader, extension, source):
    if reader == "duckdb" and not sql.SPATIAL:
        pytest.skip(sql.needs_spatial.kwargs["reason"])
    path = written(source, extension)
    try:
        if reader == "duckdb":
            got = exports.of_duckdb(request.getfixturevalue("answers")[path])
        else:
            got = READERS[reader][0](path)
    except Exception as e:
        found = {"refused": str(e)}
    else:
        with pa.memory_map(str(written(source, "arrow"))) as f:
            found = differences(pa.ipc.open_file(f).read_all(), got, CRS.get(source, "OGC:CRS84"), extension)
    assert set(found) == EXPECTED.get((reader, extension, source), set()), found


def differences(want, got, crs, extension):
    """What differs from the table that was written, by column, "rows", "columns" or "crs": the first value and what was read in its place."""
    if len(got.shapes) != want.num_rows:
        return {"rows": (want.num_rows, len(got.shapes))}
    names = [f.name for f in want.schema if f.name != "geometry"]
    if list(got.columns) != names:
        return {"columns": (names, list(got.columns))}
    # A FlatGeobuf's rows are in the order of its index.
    order = np.argsort(got.columns["row"]) if extension == "fgb" and "row" in names else range(want.num_rows)
    found = {}
    for name in names:
        values = exports.values(want[name])
        for a, b in zip(values, [got.columns[name][i] for i in order]):
            if exports.comparable(a) != exports.alike(a, b):
                found.setdefault(name, (a, b))
    ours = shapely.from_wkb(want["geometry"].to_pylist())
    for a, b in zip(ours, [got.shapes[i] for i in order]):
        if not exports.same_shape(a, b, promoted=extension in ("fgb", "arrows")):
            found.setdefault("geometry", (a, b))
    said = None if got.crs is None else pyproj.CRS.from_user_input(got.crs).to_string()
    same = {"OGC:CRS84", "EPSG:4326", "EPSG:4979"} if crs == "OGC:CRS84" and (extension.startswith("geojson") or extension == "gpkg") else {crs}
    if extension == "csv":
        same = {None}
    if said not in same and (want.num_rows or said is not None):  # DuckDB asks rows
        found["crs"] = crs, said
    return found
