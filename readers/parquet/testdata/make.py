"""Writes the files of this folder with pyarrow and GeoPandas: python make.py"""
import datetime
import decimal
import json
import os

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

HERE = os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(HERE, name)


def write(name, columns, metadata=None, **options):
    fields = [pa.field(n, a.type, metadata=m, nullable=not n.startswith("required")) for n, a, m in columns]
    table = pa.table([a for _, a, _ in columns], schema=pa.schema(fields, metadata=metadata))
    pq.write_table(table, path(name), **{"compression": "none", "store_schema": True, **options})


def geo(encoding, **more):
    return {"geo": json.dumps({"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": encoding, "geometry_types": [], **more}}})}


def main():
    nan = float("nan")
    utc = datetime.timezone.utc
    day, noon = datetime.date(2020, 2, 29), datetime.time(12, 34, 56, 789000)
    at = datetime.datetime(2020, 2, 29, 12, 34, 56, 789123)
    write("numbers.parquet", [(n, pa.array(v, t), None) for n, t, v in [
        ("int8", pa.int8(), [-128, None]), ("uint16", pa.uint16(), [65535, None]), ("uint32", pa.uint32(), [2**32 - 1, None]), ("uint64", pa.uint64(), [2**64 - 1, None]),
        ("required", pa.int64(), [-2**63, 2**63 - 1]), ("float16", pa.float16(), [np.float16(1.5), np.float16(nan)]), ("float32", pa.float32(), [0.1, nan]),
        ("float64", pa.float64(), [-0.0, nan]), ("bool", pa.bool_(), [True, None]), ("null", pa.null(), [None, None]),
        ("decimal", pa.decimal128(38, 2), [decimal.Decimal("123456789012345678901234567890123456.78"), None]), ("money", pa.decimal128(7, 2), [decimal.Decimal("12.30"), None]),
    ]], store_decimal_as_integer=True)
    write("times.parquet", [(n, pa.array(v, t), None) for n, t, v in [
        ("date32", pa.date32(), [day, None]), ("time32", pa.time32("ms"), [noon, None]), ("time64", pa.time64("us"), [noon, None]),
        ("naive", pa.timestamp("us"), [at, None]), ("berlin", pa.timestamp("ns", "Europe/Berlin"), [at.replace(tzinfo=utc), None]),
        ("duration", pa.duration("us"), [datetime.timedelta(days=1, microseconds=1), None]),
    ]])
    write("texts.pq", [
        ("s", pa.array(["ä", None, "", "b"]), None), ("large", pa.array(["a", "a", "a", None], pa.large_string()), None), ("b", pa.array([b"\0\xff", None, b"", b"x"]), None),
        ("fixed", pa.array([b"ab", None, b"cd", b"ef"], pa.binary(2)), None), ("dictionary", pa.array(["x", "y", None, "x"]).dictionary_encode(), None),
        ("json", pa.array(['{"a":1}', None, "[]", "1"]), {"ARROW:extension:name": "arrow.json"}), ("mixed", pa.array(["1", "x", None, ""]), {"vibeflight.mixed": "true"}),
    ])
    write("nested.parquet", [(n, pa.array(v, t), None) for n, t, v in [
        ("list", pa.list_(pa.int16()), [[1, None], None, []]), ("exact", pa.list_(pa.field("item", pa.string(), False)), [["a", "b"], [], None]),
        ("struct", pa.struct([("b", pa.int64()), ("a", pa.string())]), [{"b": 2**60, "a": '"'}, None, {"b": None, "a": "x"}]),
        ("lists", pa.list_(pa.list_(pa.int8())), [[[1], [], None, [None, 2]], None, []]),
        ("map", pa.map_(pa.string(), pa.float64()), [[("k", 1.5), ("l", None)], None, []]),
        ("deep", pa.list_(pa.struct([("l", pa.list_(pa.int32())), ("s", pa.struct([("x", pa.float32())]))])), [[{"l": [1, 2], "s": None}, None, {"l": None, "s": {"x": 1}}], None, []]),
        ("wide", pa.struct([("l", pa.list_(pa.int32())), ("m", pa.list_(pa.string()))]), [{"l": [1], "m": []}, None, {"l": None, "m": ["a", None]}]),
    ]])
    shapes = [shapely.Point(1, 2), None, shapely.box(0, 0, 4, 4), shapely.from_wkt("MULTIPOINT (1 2, 3 4)")]
    frame = geopandas.GeoDataFrame({"name": ["a", None, "c", "d"], "geometry_1": [1, 2, 3, 4]}, geometry=shapes, crs="EPSG:25832")
    frame.to_parquet(path("geopandas.parquet"), write_covering_bbox=True, row_group_size=2)
    frame.iloc[[0, 1]].to_parquet(path("native.geoparquet"), geometry_encoding="geoarrow", compression="zstd")
    ring, hole = [(0, 0), (4, 0), (4, 4), (0, 0)], [(1, 1), (2, 1), (2, 2), (1, 1)]
    xy = pa.struct([pa.field("x", pa.float64(), False), pa.field("y", pa.float64(), False)])
    points = [[[dict(x=x, y=y) for x, y in r] for r in p] for p in ([ring, hole], [ring])]
    write("multipolygons.parquet", [("geometry", pa.array([points, None, []], pa.list_(pa.list_(pa.list_(xy)))), None)], geo("multipolygon"))
    wkb = pa.array([shapely.to_wkb(shapely.Point(1, 2)), None])
    write("crs-absent.parquet", [("geometry", wkb, None), ("other", wkb, None)], geo("WKB"))
    write("crs-null.parquet", [("geometry", wkb, {"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": '{"crs":"LOCAL_CS[\\"here\\"]"}'})], geo("WKB", crs=None))
    write("crs-projjson.parquet", [("geometry", wkb, None)], geo("WKB", crs={"type": "EngineeringCRS", "name": "ours"}))
    many = [("n", pa.array(range(9), pa.int32()), None), ("s", pa.array(["t"] * 9), None)]
    for codec in ("snappy", "gzip", "brotli", "zstd", "lz4"):
        write(codec + ".parquet", many, compression=codec)
    write("pages-v2.parquet", many, data_page_version="2.0", data_page_size=8, write_batch_size=2, use_dictionary=False, row_group_size=4,
          column_encoding={"n": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY"})
    write("empty.parquet", [("n", pa.array([], pa.int8()), None), ("geometry", pa.array([], pa.binary()), None)], geo("WKB"))
    no_group = pq.ParquetWriter(path("no-group.parquet"), pa.schema([("n", pa.int8())]))
    no_group.close()
    # Files that are refused.
    write("rows/text.parquet", [("s", pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xc3")]), None)])
    write("rows/wkb.parquet", [("geometry", pa.array([b"\1\1\0\0\0xy"]), None)], geo("WKB"))
    write("bad-geo.parquet", [("geometry", wkb, None)], {"geo": "{"})
    write("bad-primary.parquet", [("g", wkb, None)], geo("WKB"))
    write("bad-encoding.parquet", [("geometry", wkb, None)], geo("geometry"))
    write("int96-zone.parquet", [("t", pa.array([at], pa.timestamp("ns")), None)], use_deprecated_int96_timestamps=True)
    good = open(path("crs-absent.parquet"), "rb").read()
    for name, text in (("bad-tail", good[:-2]), ("bad-nothing", b""), ("bad-length", good[:-8] + b"\xff\xff\xff\x7fPAR1"), ("bad-encrypted", good[:-4] + b"PARE")):
        with open(path(name + ".parquet"), "wb") as f:
            f.write(text)


def encodings():
    n = 7

    def column(f, t):
        return pa.array([None if i == 3 else f(i) for i in range(n)], t)

    columns = {
        "f32": column(lambda i: i + 0.5, pa.float32()),
        "f64": column(lambda i: i / 3, pa.float64()),
        "i32": column(lambda i: -i * 70000, pa.int32()),
        "i64": pa.array([i * 10**12 for i in range(n)], pa.int64()),
        "fixed": column(lambda i: bytes([i, 1, 2]), pa.binary(3)),
        "dec": column(lambda i: decimal.Decimal(i) / 4, pa.decimal128(20, 2)),
        "half": column(lambda i: i / 2, pa.float32()).cast(pa.float16()),
        "list": column(lambda i: [k + 0.25 for k in range(i)], pa.list_(pa.float64())),
        "di": column(lambda i: i * i, pa.int64()),
        "ds": column(lambda i: "abc" * i, pa.string()),
        "db": column(lambda i: f"prefix{i}", pa.string()),
        "b": column(lambda i: i % 2 == 0, pa.bool_()),
    }
    split = ["f32", "f64", "i32", "i64", "fixed", "dec", "half", "list.list.element"]
    encoding = dict.fromkeys(split, "BYTE_STREAM_SPLIT") | {"di": "DELTA_BINARY_PACKED", "ds": "DELTA_LENGTH_BYTE_ARRAY", "db": "DELTA_BYTE_ARRAY", "b": "RLE"}
    options = {"use_dictionary": False, "column_encoding": encoding, "data_page_size": 32, "write_batch_size": 2, "row_group_size": 5, "store_schema": False}
    table = [(name, a, None) for name, a in columns.items()]
    write("encodings-v1.parquet", table, data_page_version="1.0", compression="snappy", **options)
    write("encodings-v2.parquet", table, data_page_version="2.0", compression="zstd", **options)
    times = pa.array([0, 1582934096789123000, None], pa.timestamp("ns"))
    lists = pa.array([[0], None, [1]], pa.list_(pa.timestamp("ns")))
    write("int96-nested.parquet", [("t", times, None), ("l", lists, None)], use_deprecated_int96_timestamps=True)


main()
encodings()
