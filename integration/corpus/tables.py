"""How our layers differ from GDAL's: kinds of difference, the worst first."""
import json
import math

import pyarrow as pa
import pyproj
import shapely

import peer


def plain(column):
    """A column without extension type."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def differences(ours, gdal, folder):
    """Kinds of difference between our layers, names with tables, and those that GDAL has in folder."""
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


def of_layer(ours, theirs, facts):
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
    if facts["driver"] == "LIBKML":
        theirs = without_defaults(theirs)
    return kinds + of_values(ours, theirs, {"geometry", geometry})


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


def of_crs(field, theirs):
    metadata = json.loads((field.metadata or {}).get(b"ARROW:extension:metadata") or "{}")
    ours = metadata.get("crs")
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
    if any(ours.schema.field(c).type != theirs.schema.field(c).type for c in a if c in b):
        kinds["types"] = None
    return sorted(kinds, key=lambda k: k == "types") + ["columns"] * (set(a) != set(b))


def of_column(ours, theirs):
    """How the values of two columns differ: an ordered set as a dictionary."""
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
