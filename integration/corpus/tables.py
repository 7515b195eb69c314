"""How our layers differ from GDAL's: kinds of difference, the worst first."""
import json
import math
import re

import pyarrow as pa
import pyarrow.compute as pc
import pyproj
import shapely

import peer


ERROR = re.compile(r"#[A-Z0-9/]+[!?]?")  # of a cell


HSTORE = re.compile(r'"((?:[^"\\]|\\.)*)"=>"((?:[^"\\]|\\.)*)"', re.S)
IGNORED_TAGS = {"area", "created_by", "converted_by", "source", "time", "ele", "note", "todo", "fixme", "FIXME"}


def plain(column):
    """A column without extension type."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def differences(ours, gdal, folder):
    """Kinds of difference between our layers, names with tables, and those that GDAL has in folder."""
    if any(layer["driver"] == "XLSX" for layer in gdal):  # GDAL has the rows at the end that are formatted and empty
        ours = [(name, without_empty_end(t)) for name, t in ours]
        gdal = [{**layer, "rows": without_empty_end(peer.table(folder, i)).num_rows} for i, layer in enumerate(gdal)]
        empty = {name for name, t in ours if t.num_rows == 0}
        gdal = [{**layer, "rows": 0} if layer["rows"] == 1 and layer["name"] in empty else layer for layer in gdal]  # its only row is no header
    pairs = paired(ours, gdal)
    if pairs is None:
        return ["layers" if sum(t.num_rows for _, t in ours) == sum(layer["rows"] for layer in gdal) else "rows"]
    kinds = {}  # as an ordered set
    for table, number in pairs:
        kinds |= dict.fromkeys(of_layer(table, peer.table(folder, number), gdal[number]))
    return list(kinds)


def paired(ours, gdal):
    """Our tables with numbers of GDAL's layers: by name, else in order; None where there are more of one or the other."""
    gdal = [(i, layer) for i, layer in enumerate(gdal) if layer["rows"]]
    ours = [(name, table) for name, table in ours if table.num_rows]
    if len(gdal) != len(ours):
        return None
    names = {layer["name"]: i for i, layer in gdal}
    if names.keys() == {name for name, _ in ours}:
        return [(table, names[name]) for name, table in ours]
    return [(table, i) for (_, table), (i, _) in zip(ours, gdal)]


def as_osm(ours, theirs):
    """Two tables of a layer of OpenStreetMap whose other_tags are maps, without the tags that osmconf.ini ignores: GDAL writes hstore, we write JSON."""
    if "other_tags" in ours.column_names and "other_tags" in theirs.column_names:
        wanted = lambda tags: json.dumps(sorted((k, v) for k, v in tags if k not in IGNORED_TAGS and not k.startswith("openGeoDB:"))) if tags else "[]"
        mine = [wanted(json.loads(t, object_pairs_hook=list) if t else []) for t in plain(ours["other_tags"]).to_pylist()]
        found = [wanted([(unescape(k), unescape(v)) for k, v in HSTORE.findall(t or "")]) for t in theirs["other_tags"].to_pylist()]
        ours, theirs = (t.set_column(t.column_names.index("other_tags"), "other_tags", pa.array(c)) for t, c in ((ours, mine), (theirs, found)))
    return ours, theirs


def unescape(text):
    return re.sub(r"\\(.)", r"\1", text)


def as_topology(ours, theirs):
    """Two tables of a topology's object. GDAL always has a column id, of text; ours has one where a geometry has an id, and its type."""
    if "id" in theirs.column_names and "id" not in ours.column_names and theirs["id"].null_count == theirs.num_rows:
        theirs = theirs.drop_columns(["id"])
    elif "id" in ours.column_names and pa.types.is_integer(ours["id"].type):
        ours = ours.set_column(ours.column_names.index("id"), "id", ours["id"].cast(pa.string()))
    return ours, theirs


def as_feature_set(ours, theirs):
    """Two tables of an Esri feature set, of which GDAL has the rows in the order of their object ids."""
    for name in ours.column_names:
        if name.lower() in ("objectid", "fid") and name in theirs.column_names and ours.num_rows == theirs.num_rows:
            return ours.take(pc.sort_indices(ours[name])), theirs.take(pc.sort_indices(theirs[name]))
    return ours, theirs


def of_layer(ours, theirs, facts):
    if facts["driver"] in ADAPTED:
        ours, theirs = ADAPTED[facts["driver"]](ours, theirs)
    if ours.num_rows != theirs.num_rows:
        return ["rows"]
    kinds = []
    geometry = facts["geometry"]
    if "geometry" in ours.column_names and geometry in theirs.column_names:
        kinds += of_geometry(plain(ours["geometry"]), plain(theirs[geometry]))
        kinds += of_crs(ours.schema.field("geometry"), facts["crs"])
    elif geometry in theirs.column_names and theirs[geometry].null_count < theirs.num_rows:
        kinds.append("no geometry of ours")
    elif "geometry" in ours.column_names and ours["geometry"].null_count < ours.num_rows:
        kinds.append("no geometry of GDAL's")
    if facts.get("fid") not in (None, *ours.column_names) and facts["fid"] in theirs.column_names:
        theirs = theirs.drop_columns([facts["fid"]])  # the numbers of rows, which GDAL has in addition to the columns
    if facts["driver"] == "LIBKML":
        theirs = without_defaults(theirs)
    return kinds + of_values(ours, theirs, {"geometry", geometry})


def as_sheet(ours, theirs):
    """Two tables of a sheet without what GDAL is known to write in another way: in a column of text, booleans as 1 and 0, dates with slashes,
    and errors such as #N/A, which we make null."""
    ours, theirs = without_empty_end(ours), without_empty_end(theirs)
    for i, name in enumerate(theirs.column_names):
        if ours.num_rows != theirs.num_rows or ours.column_names.count(name) != 1 or theirs.column_names.count(name) != 1:
            continue
        if not pa.types.is_string(theirs[name].type) or not pa.types.is_string(ours[name].type):
            continue
        mine, found = ours[name].to_pylist(), theirs[name].to_pylist()
        for k, (a, b) in enumerate(zip(mine, found)):
            if a is None and ERROR.fullmatch(b or "") or a in ("true", "false") and b == "01"[a == "true"] or a and b and a == b.replace("/", "-"):
                found[k] = a
        theirs = theirs.set_column(i, name, pa.array(found, pa.string()))
    return ours, theirs


def without_empty_end(table):
    rows = table.num_rows
    while rows and all(column[rows - 1].as_py() is None for column in table.columns):
        rows -= 1
    return table.slice(0, rows)


def without_defaults(table):
    """LIBKML writes -1 for a missing element of a placemark, and 0 for extrude."""
    for i, name in enumerate(table.column_names):
        if name in ("visibility", "tessellate", "extrude", "drawOrder"):
            said = pa.array([None if v == -1 or v == 0 and name == "extrude" else v for v in table[name].to_pylist()], table[name].type)
            table = table.set_column(i, name, said)
    return table


def of_geometry(ours, theirs):
    ours, theirs = ours.combine_chunks(), theirs.combine_chunks().cast(pa.binary())
    if ours.equals(theirs):
        return []
    found = {}
    for a, b in zip(ours.to_pylist(), theirs.to_pylist()):
        if a != b:
            kind = of_shape(a, b)
            if kind:
                found[kind] = None
    return sorted(found)


def of_shape(ours, theirs):
    """How two geometries in WKB differ, or None: WKB can encode one geometry in two ways."""
    try:
        a, b = (shapely.from_wkb(s, on_invalid="ignore") if s else None for s in (ours, theirs))
    except NotImplementedError:
        return "curves"
    if a is None or b is None:
        if a is b or ours is not None and theirs is not None:
            return None if a is b and ours == theirs else "geometry unread by GEOS"
        some = b if a is None else a
        which = "ours" if a is None else "GDAL's"
        return f"null geometry of {which}" if not some.is_empty else "empty or null geometry"
    if shapely.equals_identical(a, b):
        return None
    if a.is_empty and b.is_empty:
        return "kind of empty geometry"
    if a.geom_type != b.geom_type:
        return "kind of geometry"
    if a.has_z != b.has_z or a.has_m != b.has_m:
        return "dimension"
    return "coordinates"


ADAPTED = {"XLSX": as_sheet, "OSM": as_osm, "TopoJSON": as_topology, "ESRIJSON": as_feature_set}  # by GDAL's driver


def of_crs(field, theirs):
    metadata = json.loads((field.metadata or {}).get(b"ARROW:extension:metadata") or "{}")
    ours = metadata.get("crs")
    if theirs and re.match(r"(GEOGCS|LOCAL_CS|GEOGCRS|ENGCRS)\[\"Undefined (geographic|Cartesian) SRS", theirs):
        theirs = None  # a GeoPackage's srs_id of 0 or -1: the reference system is undefined
    try:
        a, b = (pyproj.CRS(c) if c else None for c in (ours, theirs))
    except pyproj.exceptions.CRSError:
        return ["crs unread by PROJ"]
    if a == b or a == pyproj.CRS("OGC:CRS84") and b == pyproj.CRS("EPSG:4326"):
        return []
    return ["no crs of ours" if a is None else "no crs of GDAL's" if b is None else "crs"]


def of_values(ours, theirs, geometries):
    """Values of the columns that both have; columns that one of them lacks; types."""
    a, b = ([c for c in t.column_names if c not in geometries] for t in (ours, theirs))
    if len(set(a)) < len(a) or len(set(b)) < len(b):
        return ["columns"]
    kinds = {}
    for name in a:
        if name in b:
            kinds |= of_column(plain(ours[name]), plain(theirs[name]))
    if any(widened(ours.schema.field(c).type) != widened(theirs.schema.field(c).type) for c in a if c in b):
        kinds["types"] = None
    return sorted(kinds, key=lambda k: k == "types") + ["columns"] * (set(a) != set(b))


def widened(type):
    """The type that we have for one of GDAL's: integers have 32 bits at least, numbers 64, and JSON is text."""
    if isinstance(type, pa.BaseExtensionType):
        return widened(type.storage_type)
    if pa.types.is_dictionary(type):
        return widened(type.index_type)
    return {pa.int16(): pa.int32(), pa.float32(): pa.float64()}.get(type, type)


def of_column(ours, theirs):
    """How the values of two columns differ: an ordered set as a dictionary."""
    if pa.types.is_dictionary(theirs.type) and pa.types.is_integer(ours.type):  # a domain: GDAL has the text of a code, and the code as its index
        theirs = pa.chunked_array([c.indices for c in theirs.chunks], theirs.type.index_type)
    try:
        pairs = list(zip(ours.to_pylist(), theirs.to_pylist()))
    except UnicodeDecodeError:  # bytes of the file that GDAL found no code page for
        return {"text of GDAL's is no UTF-8": None}
    return dict.fromkeys(of_pair(a, b) for a, b in pairs if not same(a, b))


def of_pair(ours, theirs):
    """A word for how two values differ."""
    if ours is None or theirs is None:
        other = theirs if ours is None else ours
        which = "ours" if ours is None else "GDAL's"
        return f"null of {which}, {'empty text' if other == '' else type(other).__name__} of the other"
    if isinstance(ours, str) and isinstance(theirs, str):
        return "white space" if "".join(ours.split()) == "".join(theirs.split()) else "text"
    if type(ours) is type(theirs):
        return type(ours).__name__
    return f"{type(ours).__name__} of ours, {type(theirs).__name__} of GDAL's"


def same(ours, theirs):
    """Equality of values in which NaN equals NaN, and an integer the float of its value."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == theirs or math.isnan(ours) and math.isnan(theirs)
    return ours == theirs
