"""CSV. GDAL gets options to find types and the geometry."""
import datetime

from .case import ERROR, NEW_YEAR, UTC, Difference

SETTINGS = {
    "AUTODETECT_TYPE": "YES", "AUTODETECT_SIZE_LIMIT": "0",  # over the whole file
    "X_POSSIBLE_NAMES": "lon", "Y_POSSIBLE_NAMES": "lat", "GEOM_POSSIBLE_NAMES": "wkt,wkb", "KEEP_GEOM_COLUMNS": "NO",
}


def table(name, text, ours, gdal):
    return Difference(name, text, ours, gdal, "csv", settings=SETTINGS)


def values(name, texts, ours, gdal):
    """A file with one column v."""
    return table(name, "v\n" + "".join(t + "\n" for t in texts), {"v": ours} if isinstance(ours, tuple) else ours, {"v": gdal})


DIFFERENCES = [
    table("empty field", 'n,s\n1,\n2,""\n3,x\n',
          {"n": ("int32", [1, 2, 3]), "s": ("string", [None, "", "x"])}, {"n": ("int32", [1, 2, 3]), "s": ("string", ["", "", "x"])}),
    table("blanks around numbers", "v,w\n 1 , x \n", {"v": ("int32", [1]), "w": ("string", [" x "])}, {"v": ("int32", [None]), "w": ("string", [" x "])}),
    values("integer beyond int64", ["9223372036854775808"], ("string", ["9223372036854775808"]), ("int64", [9223372036854775807])),
    values("number beyond float64", ["1e400"], ("string", ["1e400"]), ("double", [float("inf")])),
    values("booleans with 0 and 1", ["true", "0"], ("string", ["true", "0"]), ("bool", [True, False])),
    values("on and off", ["on", "off"], ("string", ["on", "off"]), ("bool", [True, False])),
    values("yes and no", ["yes", "N"], ("string", ["yes", "N"]), ("bool", [True, False])),
    values("sign alone", ["+"], ("string", ["+"]), ("int32", [None])),
    values("impossible date", ["2020-02-30"], ("string", ["2020-02-30"]), ("date32[day]", [datetime.date(2020, 3, 1)])),
    values("zone", ["2020-01-01T00:00:00Z"], ("timestamp[ms, tz=UTC]", [NEW_YEAR.replace(tzinfo=UTC)]), ("timestamp[ms]", [NEW_YEAR])),
    values("zoned with naive", ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"],
           ("string", ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"]), ("timestamp[ms]", [NEW_YEAR, NEW_YEAR])),
    values("finer than a millisecond", ["2020-01-01T00:00:00.123456"],
           ("timestamp[us]", [NEW_YEAR.replace(microsecond=123456)]), ("timestamp[ms]", [NEW_YEAR.replace(microsecond=123000)])),
    table("decimal comma", "a;b\n1,5;2\n", {"a": ("string", ["1,5"]), "b": ("int32", [2])}, {"a": ("double", [1.5]), "b": ("int32", [2])}),
    table("line end in quotes", 'a,b\r\n1,"x\r\ny"\r\n',
          {"a": ("int32", [1]), "b": ("string", ["x\r\ny"])}, {"a": ("int32", [1]), "b": ("string", ["x\ny"])}),
    table("short record", "a,b\n1\n2,3\n", ERROR, {"a": ("int32", [1, 2]), "b": ("int32", [None, 3])}),
    table("long record", "a,b\n1,2,3\n", ERROR, {"a": ("int32", [1]), "b": ("int32", [2])}),
    table("same name twice", "a,a\n1,2\n", {"a": ("int32", [1]), "a_1": ("int32", [2])}, "error: two columns"),
    table("no header", "1,2\n3,4\n", {"col_0": ("int32", [1, 3]), "col_1": ("int32", [2, 4])}, {"field_1": ("int32", [1, 3]), "field_2": ("int32", [2, 4])}),
    table("not UTF-8", b"s\nM\xfcn\n", ERROR, "error: .*codec"),
    table("malformed WKT", "wkt\nPOINT (1 2)\nPOINT (1\n", {"wkt": ("string", ["POINT (1 2)", "POINT (1"]), "geometry": ["POINT (1 2)", None]}, {"geometry": ["POINT (1 2)", None]}),
    table("coordinate that is no number", "a,lat,lon\n1,1,2\n2,x,3\n",
          {"a": ("int32", [1, 2]), "lat": ("string", ["1", "x"]), "lon": ("string", ["2", "3"]), "geometry": ["POINT (2 1)", None]}, {"a": ("int32", [1, 2]), "geometry": ["POINT (2 1)", None]}),
    table("EWKT", "wkt\nSRID=3857;POINT(1 2)\n", {"crs": "EPSG:3857", "geometry": ["POINT (1 2)"]}, {"geometry": [None]}),
    table("hexadecimal EWKB", "wkb\n0101000020110F0000000000000000F03F0000000000000040\n",
          {"crs": "EPSG:3857", "geometry": ["POINT (1 2)"]}, {"crs": None, "geometry": ["POINT (1 2)"]}),
    table("GeoJSON in cells", 'geojson\n"{""type"":""Point"",""coordinates"":[1,2]}"\n',
          {"crs": None, "geometry": ["POINT (1 2)"]}, {"geojson": ("string", ['{"type":"Point","coordinates":[1,2]}'])}),
]
