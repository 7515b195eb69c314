"""Chooses the files of a package that belong to the corpus, and their formats."""
import io
import json
import re
import zipfile

LARGEST = 4 << 20  # bytes of one file
LARGEST_OF = {"gpkg": 16 << 20, "pbf": 16 << 20}  # by extension
LARGEST_FOLDER = 24 << 20  # of a File Geodatabase
SIBLINGS = {  # sibling files, by the extension of the main file
    "shp": ("shx", "dbf", "prj", "cpg"), "csv": ("csvt", "prj"), "tsv": ("csvt", "prj"),
    "dbf": ("cpg",), "gml": ("xsd",), "xml": ("xsd",),
}
FORMATS = {
    "geojson": "geojson", "json": "geojson", "geojsonl": "geojsonl", "ndjson": "geojsonl", "geojsons": "geojsonl",
    "geojsonseq": "geojsonl", "csv": "csv", "tsv": "csv", "wkt": "wkt", "shp": "shapefile", "dbf": "dbf", "kml": "kml",
    "kmz": "kml", "gml": "gml", "xml": "gml", "fgb": "flatgeobuf", "parquet": "parquet", "geoparquet": "parquet",
    "arrow": "arrow", "arrows": "arrow", "feather": "arrow", "zip": "zip", "prj": "prj",
    "gpkg": "gpkg", "gdbtable": "filegdb", "pbf": "osm", "gpx": "gpx", "topojson": "topojson", "xlsx": "xlsx", "xlsm": "xlsx",
}
LATER = {"gpkg", "osm", "gpx", "topojson", "xlsx"}  # formats whose packed files are of no interest
CATALOG = "a00000001.gdbtable"  # the file of a File Geodatabase that each one has; it represents the folder
GEOJSON = {"Feature", "FeatureCollection", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon",
           "GeometryCollection"}
XML_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
NO_DATA = {b"schema", b"element", b"WFS_Capabilities", b"WMS_Capabilities", b"WMT_MS_Capabilities", b"Capabilities", b"project", b"qgis"}
GEODATABASE = re.compile(r"(?:^|/)[^/]+\.gdb/[^/]+$", re.I)
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


def extension(path):
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""


def siblings(path, names):
    """The siblings of a file among names: they differ from it only in the extension and in case."""
    if path.rpartition("/")[2] == CATALOG:
        folder = path.rpartition("/")[0]
        return sorted(n for n in names if n != path and n.rpartition("/")[0] == folder)
    stem = path.rpartition(".")[0].lower()
    wanted = {f"{stem}.{e}" for e in SIBLINGS.get(extension(path), ())}
    return sorted(n for n in names if n != path and n.lower() in wanted)


def format_of(path, content):
    """The format by name and content, or None for other files."""
    name, text = path.rpartition("/")[2], bytes(content[:4096])
    format = FORMATS.get(extension(path.removesuffix(".gz")))
    if format is None or not content or len(content) > largest(path) or name.startswith("."):
        return None
    if path.endswith(".gz"):
        return format if format in ("geojson", "geojsonl", "csv") else None
    if extension(path) in ("json", "geojson"):
        format = of_json(content) or (format if extension(path) == "geojson" else None)
    if extension(path) == "zip" and holds(content, is_geodatabase) and not holds(content, is_table):
        return "filegdb"
    keeps = {
        "xml": is_gml, "gml": lambda c: b"<" in c[:512], "zip": lambda c: holds(c, is_table),
        "csv": lambda c: not CONTROL.search(text), "tsv": lambda c: not CONTROL.search(text),
        "prj": lambda c: b"CS[" in text.upper(), "wkt": lambda c: re.match(rb"\s*(SRID|POINT|LINE|POLY|MULTI|GEOM)", text, re.I),
        "gdbtable": lambda c: name == CATALOG, "pbf": lambda c: b"OSMHeader" in c[:64],
    }.get(extension(path))
    return format if keeps is None or keeps(content) else None


def largest(path):
    return LARGEST_FOLDER if GEODATABASE.search(path) else LARGEST_OF.get(extension(path), LARGEST)


def of_json(content):
    """The format of a JSON text: geojson, topojson, esrijson, or None."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if value.get("type") == "Topology":
        return "topojson"
    if value.get("type") in GEOJSON:
        return "geojson"
    features = value.get("features")
    if isinstance(features, list) and (str(value.get("geometryType", "")).startswith("esriGeometry") or isinstance(value.get("fields"), list)):
        return "esrijson" if all(isinstance(f, dict) and "attributes" in f for f in features) else None
    return None


def is_gml(content):
    root = XML_ROOT.search(content[:4096])
    return b"opengis.net/gml" in content[:4096] and root is not None and root[1] not in NO_DATA


def holds(content, wanted):
    """Whether an archive has a file whose name is wanted."""
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    return any(map(wanted, names))


def is_geodatabase(name):
    return name.rpartition("/")[2] == CATALOG


def is_table(name):
    """Whether a name is one of a known format, or JSON or XML by a name that says which."""
    format = FORMATS.get(extension(name), "zip")
    return format not in LATER | {"zip", "prj", "geojson", "gml", "filegdb"} or extension(name) in ("geojson", "gml")
