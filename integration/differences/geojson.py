"""GeoJSON."""
import datetime

from .case import ERROR, NEW_YEAR, UTC, Difference


def difference(name, text, ours, gdal, extension="geojson"):
    return Difference(name, text, ours, gdal, extension)


def feature(properties="{}", geometry="null", members=""):
    return f'{{"type":"Feature",{members}"properties":{properties},"geometry":{geometry}}}'


def collection(*features):
    return f'{{"type":"FeatureCollection","features":[{",".join(features)}]}}'


def values(name, texts, ours, gdal):
    """A file with one property v, a feature for each text."""
    return difference(name, collection(*(feature(f'{{"v":{t}}}') for t in texts)),
                      {"v": ours} if isinstance(ours, tuple) else ours, {"v": gdal} if isinstance(gdal, tuple) else gdal)


def shape(name, geometry, ours, gdal):
    """A file with one feature and its geometry."""
    return difference(name, collection(feature(geometry=geometry)),
                      {"geometry": ours} if isinstance(ours, list) else ours, {"geometry": gdal} if isinstance(gdal, list) else gdal)


POINT = '{"type":"Point","coordinates":[1,2]}'

DIFFERENCES = [
    # values
    values("impossible date", ['"2020-02-30"'], ("string", ["2020-02-30"]), ("date32[day]", [datetime.date(2020, 3, 1)])),
    values("finer than a millisecond", ['"2020-01-01T00:00:00.123456Z"'],
           ("timestamp[us, tz=UTC]", [NEW_YEAR.replace(microsecond=123456, tzinfo=UTC)]),
           ("timestamp[ms, tz=UTC]", [NEW_YEAR.replace(microsecond=123000, tzinfo=UTC)])),
    values("time finer than a millisecond", ['"12:34:56.789123"'],
           ("time64[us]", [datetime.time(12, 34, 56, 789123)]), ("time32[ms]", [datetime.time(12, 34, 56, 789000)])),
    values("zoned with naive", ['"2020-01-01T00:00:00Z"', '"2020-01-01T00:00:00"'],
           ("string", ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"]), ("timestamp[ms]", [NEW_YEAR, NEW_YEAR])),
    values("zoned with date", ['"2020-01-01T00:00:00Z"', '"2020-01-01"'],
           ("string", ["2020-01-01T00:00:00Z", "2020-01-01"]), ("timestamp[ms]", [NEW_YEAR, NEW_YEAR])),
    values("lists of different kinds", ["[1]", '["a"]'], ("json", ["[1]", '["a"]']), ("list<string>", [["1"], ["a"]])),
    values("scalars of different kinds", ["1.50", '"x"', "true"], ("string", ["1.50", "x", "true"]), ("json", ["1.5", "x", "true"])),
    values("spaces in nested values", ['{"a": [1, 2.50]}'], ("json", ['{"a":[1,2.50]}']), ("json", ['{ "a": [ 1, 2.5 ] }'])),
    values("integers up to 2^64", ["9223372036854775808", "1"],
           ("uint64", [9223372036854775808, 1]), "error: .*Unrecognized number"),
    values("largest uint64", ["18446744073709551615"], ("uint64", [18446744073709551615]), ("double", [1.8446744073709552e19])),
    values("number beyond float64", ["1e400"], ERROR, "error: .*Unrecognized number"),
    values("number below float64", ["1e-400"], ("double", [0.0]), "error: .*Unrecognized number"),
    values("nul character", [r'"a\u0000b"'], ("string", ["a\0b"]), ("string", ["a"])),
    # identifiers and columns
    difference("integer ids", collection(feature('{"v":1}', members='"id":7,')),
               {"id": ("int64", [7]), "v": ("int32", [1])}, {"v": ("int32", [1])}),
    difference("id next to a property id", collection(feature('{"id":1}', members='"id":"a7",')),
               {"feature_id": ("string", ["a7"]), "id": ("int32", [1])}, {"id": ("int32", [1])}),
    difference("order of columns", collection(feature('{"a":1}'), feature('{"b":2,"a":3}')),
               {"a": ("int32", [1, 3]), "b": ("int32", [None, 2])}, {"b": ("int32", [None, 2]), "a": ("int32", [1, 3])}),
    # geometry
    shape("two dimensions in one line", '{"type":"LineString","coordinates":[[1,2],[3,4,5]]}',
          ["LINESTRING Z (1 2 NaN, 3 4 5)"], ["LINESTRING Z (1 2 0, 3 4 5)"]),
    shape("empty point", '{"type":"Point","coordinates":[]}', ["POINT EMPTY"], [None]),
    shape("coordinate that is no number", '{"type":"LineString","coordinates":[[1,null],[3,4]]}', ERROR, [None]),
    shape("position of one number", '{"type":"Point","coordinates":[1]}', ERROR, [None]),
    shape("unknown geometry type", '{"type":"Polyline","coordinates":[[1,2],[3,4]]}', ERROR, [None]),
    shape("geometry type in another case", '{"type":"point","coordinates":[1,2]}', ERROR, ["POINT (1 2)"]),
    shape("no coordinates", '{"type":"Point"}', ERROR, [None]),
    difference("crs null", f'{{"type":"FeatureCollection","crs":null,"features":[{feature(geometry=POINT)}]}}',
               {"crs": None, "geometry": ["POINT (1 2)"]}, {"crs": "EPSG:4326", "geometry": ["POINT (1 2)"]}),
    # the text
    values("trailing comma", ['1,"w":2,'], ERROR, {"v": ("int32", [1]), "w": ("int32", [2])}),
    values("NaN", ["NaN"], ERROR, ("double", [float("nan")])),
    values("leading zero", ["01"], ERROR, ("int32", [1])),
    values("raw tab in a string", ['"a\tb"'], ERROR, ("string", ["a\tb"])),
    difference("array of features", f"[{feature(geometry=POINT)}]", {"geometry": ["POINT (1 2)"]}, "error: .*not recognized"),
    difference("bad line", feature('{"v":1}') + "\n{bad\n" + feature('{"v":2}') + "\n", "error: .*line 2", {"v": ("int32", [1, 2])},
               extension="geojsonl"),
]
