"""Chooses the files of a package that belong to the corpus, and their formats."""
import io
import json
import re
import zipfile

LARGEST = 4 << 20  # bytes of one file
SIBLINGS = {  # sibling files, by the extension of the main file
    "shp": ("shx", "dbf", "prj", "cpg"), "csv": ("csvt", "prj"), "tsv": ("csvt", "prj"),
    "dbf": ("cpg",), "gml": ("xsd",), "xml": ("xsd",),
}
FORMATS = {
    "geojson": "geojson", "json": "geojson", "geojsonl": "geojsonl", "ndjson": "geojsonl", "geojsons": "geojsonl",
    "geojsonseq": "geojsonl", "csv": "csv", "tsv": "csv", "wkt": "wkt", "shp": "shapefile", "dbf": "dbf", "kml": "kml",
    "kmz": "kml", "gml": "gml", "xml": "gml", "fgb": "flatgeobuf", "parquet": "parquet", "geoparquet": "parquet",
    "arrow": "arrow", "arrows": "arrow", "feather": "arrow", "zip": "zip", "prj": "prj",
}
GEOJSON = {"Feature", "FeatureCollection", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon",
           "GeometryCollection"}
XML_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
NO_DATA = {b"schema", b"element", b"WFS_Capabilities", b"WMS_Capabilities", b"WMT_MS_Capabilities", b"Capabilities", b"project", b"qgis"}
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


def extension(path):
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""


def siblings(path, names):
    """The siblings of a file among names: they differ from it only in the extension and in case."""
    stem = path.rpartition(".")[0].lower()
    wanted = {f"{stem}.{e}" for e in SIBLINGS.get(extension(path), ())}
    return sorted(n for n in names if n != path and n.lower() in wanted)


def format_of(path, content):
    """The format by name and content, or None for other files."""
    name, text = path.rpartition("/")[2], bytes(content[:4096])
    format = FORMATS.get(extension(path.removesuffix(".gz")))
    if format is None or not content or len(content) > LARGEST or name.startswith("."):
        return None
    if path.endswith(".gz"):
        return format if format in ("geojson", "geojsonl", "csv") else None
    keeps = {
        "json": is_geojson, "xml": is_gml, "gml": lambda c: b"<" in c[:512], "zip": holds_tables,
        "csv": lambda c: not CONTROL.search(text), "tsv": lambda c: not CONTROL.search(text),
        "prj": lambda c: b"CS[" in text.upper(), "wkt": lambda c: re.match(rb"\s*(SRID|POINT|LINE|POLY|MULTI|GEOM)", text, re.I),
    }.get(extension(path))
    return format if keeps is None or keeps(content) else None


def is_geojson(content):
    """Whether a .json file is GeoJSON."""
    try:
        value = json.loads(content)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("type") in GEOJSON


def is_gml(content):
    root = XML_ROOT.search(content[:4096])
    return b"opengis.net/gml" in content[:4096] and root is not None and root[1] not in NO_DATA


def holds_tables(content):
    """Whether an archive has a file of a known format."""
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    return any(FORMATS.get(extension(n), "zip") not in ("zip", "prj", "geojson", "gml") or extension(n) in ("geojson", "gml") for n in names)
