"""Writes the files of this folder with pyarrow and GeoPandas: python make.py"""
import datetime
import decimal
import json
import os

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import shapely

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, *batches, compression=None, schema=None):
    options = pa.ipc.IpcWriteOptions(compression=compression, emit_dictionary_deltas=name.endswith("s"))
    schema = schema or batches[0].schema
    make = pa.ipc.new_stream if name.endswith("s") else pa.ipc.new_file
    with make(os.path.join(HERE, name), schema, options=options) as w:
        for b in batches:
            w.write_batch(b)


def geo(name, crs=None):
    meta = {"ARROW:extension:name": "geoarrow." + name}
    meta["ARROW:extension:metadata"] = json.dumps({} if crs is None else {"crs": crs})
    return meta


def batch(columns, metadata=None):
    fields = [pa.field(n, a.type, metadata=m) for n, a, m in columns]
    return pa.record_batch([a for _, a, _ in columns], schema=pa.schema(fields, metadata=metadata))


XY = pa.struct([pa.field("x", pa.float64(), False), pa.field("y", pa.float64(), False)])
XYZ = pa.struct([pa.field(n, pa.float64(), False) for n in "xyz"])


def coords(rows):
    return [None if r is None else dict(zip("xyzm", r)) for r in rows]


def main():
    nan = float("nan")
    write("points.arrow",
          batch([("n", pa.array([1, None, 3], pa.int32()), None),
                 ("geometry", pa.array(coords([(1, 2), None, (nan, nan)]), XY), geo("point", "EPSG:3857"))]),
          batch([("n", pa.array([4], pa.int32()), None), ("geometry", pa.array(coords([(-0.0, 5)]), XY), geo("point", "EPSG:3857"))]))
    utc = datetime.timezone.utc
    day, noon = datetime.date(2020, 2, 29), datetime.time(12, 34, 56, 789000)
    at = datetime.datetime(2020, 2, 29, 12, 34, 56, 789123)
    scalars = [
        ("int8", pa.int8(), [-128, None]), ("int16", pa.int16(), [-32768, None]), ("int64", pa.int64(), [-2**63, 2**63 - 1]),
        ("uint8", pa.uint8(), [255, None]), ("uint16", pa.uint16(), [65535, None]), ("uint32", pa.uint32(), [2**32 - 1, None]), ("uint64", pa.uint64(), [2**64 - 1, None]),
        ("float16", pa.float16(), [np.float16(1.5), np.float16(nan)]), ("float32", pa.float32(), [0.1, nan]), ("float64", pa.float64(), [0.1, nan]),
        ("bool", pa.bool_(), [True, None]), ("null", pa.null(), [None, None]),
        ("decimal", pa.decimal128(38, 2), [decimal.Decimal("123456789012345678901234567890123456.78"), None]),
        ("decimal256", pa.decimal256(70, 3), [decimal.Decimal("123456.789"), None]),
    ]
    write("numbers.feather", batch([(n, pa.array(v, t), None) for n, t, v in scalars]))
    times = [
        ("date32", pa.date32(), [day, None]), ("date64", pa.date64(), [day, None]),
        ("time32s", pa.time32("s"), [noon.replace(microsecond=0), None]), ("time64ns", pa.time64("ns"), [noon, None]),
        ("s", pa.timestamp("s"), [at.replace(microsecond=0), None]), ("berlin", pa.timestamp("us", "Europe/Berlin"), [at.replace(tzinfo=utc), None]),
        ("ns", pa.timestamp("ns", "UTC"), [at.replace(tzinfo=utc), None]),
        ("duration", pa.duration("us"), [datetime.timedelta(days=1, microseconds=1), None]),
        ("interval", pa.month_day_nano_interval(), [(1, 2, 3), None]),
    ]
    write("times.ipc", batch([(n, pa.array(v, t), None) for n, t, v in times]))
    texts = [
        ("large", pa.large_string(), ["ä", None, ""]), ("view", pa.string_view(), ["short", None, "a text of more than twelve bytes"]),
        ("binary", pa.binary(), [b"\0\xff", None, b""]), ("large_binary", pa.large_binary(), [b"a", None, b"b"]), ("fixed", pa.binary(2), [b"ab", None, b"cd"]),
    ]
    columns = [(n, pa.array(v, t), None) for n, t, v in texts]
    columns.append(("json", pa.array(['{"a":1}', None, "[]"]), {"ARROW:extension:name": "arrow.json"}))
    columns.append(("mixed", pa.array(["1", "x", None]), {"vibeflight.mixed": "true"}))
    write("texts.arrow", batch(columns))
    nested = [
        ("list", pa.list_(pa.int16()), [[1, None], None, []]), ("exact", pa.list_(pa.field("item", pa.string(), False)), [["a", "b"], [], None]),
        ("large_list", pa.large_list(pa.float64()), [[0.5], None, [1, 2]]), ("pair", pa.list_(pa.int32(), 2), [[1, 2], None, [3, 4]]),
        ("struct", pa.struct([("b", pa.int64()), ("a", pa.string())]), [{"b": 2**60, "a": '"'}, None, {"b": None, "a": "x"}]),
        ("lists", pa.list_(pa.list_(pa.int8())), [[[1], [], None], None, []]),
        ("map", pa.map_(pa.string(), pa.float64()), [[("k", 1.5), ("l", None)], None, []]),
        ("list_of_struct", pa.list_(pa.struct([("t", pa.timestamp("ms")), ("d", pa.decimal128(5, 2))])), [[{"t": at.replace(microsecond=0), "d": decimal.Decimal("1.50")}], None, []]),
    ]
    write("nested.arrow", batch([(n, pa.array(v, t), None) for n, t, v in nested]))
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), ["a", "b"])
    second = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), ["a", "b", "c"])
    third = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["z"])
    write("dictionary.arrows", *[batch([("d", d, None)]) for d in (first, second, third)])
    write("dictionary-file.arrow", batch([("d", first, None), ("n", pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.uint16()), pa.array([0.5, None])), None)]))
    write("runs.arrow", batch([("r", pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", None])), None)]))
    ring, hole = [(0, 0), (4, 0), (4, 4), (0, 0)], [(1, 1), (2, 1), (2, 2), (1, 1)]
    polygon = pa.list_(pa.list_(pa.field("v", pa.list_(pa.field("xy", pa.float64(), False), 2), False)))
    write("polygons.arrow", batch([("geom", pa.array([[ring, hole], None, [], [ring]], polygon), geo("polygon", "OGC:CRS84")), ("geometry", pa.array([1, 2, 3, 4]), None)]))
    multi = pa.large_list(pa.list_(pa.list_(XYZ)))
    lifted = [dict(x=x, y=y, z=z) for z, (x, y) in enumerate(ring)]
    write("multipolygons.arrow", batch([("geometry", pa.array([[[lifted], [lifted, lifted]], None, []], multi), geo("multipolygon"))]))
    write("lines.arrows", batch([("geometry", pa.array([coords([(1, 2), (3, 4)]), [], coords([(5, 6)])], pa.list_(XY)), geo("linestring"))]))
    shapes = [shapely.Point(1, 2), None, shapely.Polygon(ring), shapely.from_wkt("GEOMETRYCOLLECTION Z (POINT Z (1 2 3), LINESTRING Z (1 2 3, 4 5 6))"), shapely.from_wkt("POINT EMPTY")]
    wkb = pa.array(shapely.to_wkb(np.array(shapes, dtype=object), byte_order=0, flavor="iso"), pa.large_binary())
    write("wkb.arrow", batch([("a", pa.array(range(5), pa.int8()), None), ("shape", wkb, geo("wkb", "EPSG:25832")), ("other", wkb, geo("wkb")), ("a", pa.array(range(5), pa.int8()), None)]))
    write("wkt.arrow", batch([("geometry", pa.array(["POINT (1 2)", None, "MULTIPOINT (1 2, 3 4)", "POINT EMPTY"]), geo("wkt"))]))
    frame = geopandas.GeoDataFrame({"name": ["a", None]}, geometry=[shapely.Point(1, 2), shapely.Point(3, 4)], crs=None)
    frame.to_feather(os.path.join(HERE, "geopandas.feather"), compression="lz4")
    plain = batch([("n", pa.array([7] * 100, pa.int64()), None), ("s", pa.array(["t"] * 100), None)])
    write("lz4.feather", plain, compression="lz4")
    write("zstd.feather", plain, compression="zstd")
    write("empty.arrow", schema=pa.schema([pa.field("n", pa.int8()), pa.field("l", pa.list_(pa.string())), pa.field("geometry", XY, metadata=geo("point"))]))
    write("no-batch.arrows", schema=pa.schema([pa.field("n", pa.int8())]))
    # Files that are refused.
    bad = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xc3\xa4")])
    write("bad-text.arrow", batch([("s", bad, None)]))
    falls = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 2, 1], np.int32)), pa.py_buffer(b"abc")])
    write("bad-offsets.arrow", batch([("s", falls, None)]))
    write("bad-wkb.arrow", batch([("geometry", pa.array([shapely.to_wkb(shapely.Point(1, 2)), b"\1\1\0\0\0xy"]), geo("wkb"))]))
    write("bad-storage.arrow", batch([("geometry", pa.array([1.5]), geo("point"))]))
    write("bad-crs.arrow", batch([("geometry", pa.array([b""]), {"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": "{"})]))
    write("bad-within.arrow", batch([("geometry", pa.array([coords([(1, 2), None])], pa.list_(XY)), geo("linestring"))]))
    ordinates = [pa.array([5.0, None]), pa.array([1.0, 2.0])]
    half = pa.Array.from_buffers(XY, 2, [pa.py_buffer(b"\2")], children=ordinates)  # the first point is null
    write("bad-within-point.arrow", batch([("geometry", half, geo("point"))]))
    write("no-json.arrow", batch([("j", pa.array(["{"]), {"ARROW:extension:name": "arrow.json"})]))
    write("bad-union.arrow", batch([("u", pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]), None)]))
    write("bad-encoding.arrow", batch([("g", pa.array([b""]), geo("box"))]))
    with open(os.path.join(HERE, "bad-feather1.feather"), "wb") as f:
        f.write(b"FEA1" + bytes(20) + b"FEA1")
    with open(os.path.join(HERE, "bad-tail.arrow"), "wb") as f:
        f.write(open(os.path.join(HERE, "points.arrow"), "rb").read()[:-3])
    with open(os.path.join(HERE, "bad-nothing.arrow"), "wb"):
        pass


main()
