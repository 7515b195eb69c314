"""Shapefiles and dBASE tables for the tests, byte by byte."""
import struct

WGS84 = ('GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
         'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]')


def dbf(fields, records, version=3, language=0, count=None):
    """A table: fields are (name, type, length, decimals), records are the bytes after the deletion flag, or include it if that is set."""
    length = 1 + sum(f[2] for f in fields)
    table = struct.pack("<BBBBIHH17xB2x", version, 126, 1, 1, len(records) if count is None else count, 33 + 32 * len(fields), length, language)
    for name, kind, size, decimals in fields:
        table += struct.pack("<11sc4xBB14x", name.encode(), kind.encode(), size, decimals)
    table += b"\r"
    for record in records:
        record = record if len(record) == length else b" " + record
        assert len(record) == length, record
        table += record
    return table + b"\x1a"


def column(kind, size, decimals, *values):
    """A table with one field V."""
    return dbf([("V", kind, size, decimals)], [v.encode().rjust(size) for v in values])


def shp(code, shapes):
    """A .shp and its .shx. A shape is the bytes after the record's header."""
    head = lambda bytes: struct.pack(">i20xi", 9994, bytes // 2) + struct.pack("<ii8d", 1000, code, 0, 0, 10, 10, 0, 0, 0, 0)
    records = index = b""
    for number, shape in enumerate(shapes):
        index += struct.pack(">ii", (100 + len(records)) // 2, len(shape) // 2)
        records += struct.pack(">ii", number + 1, len(shape) // 2) + shape
    return head(100 + len(records)) + records, head(100 + len(index)) + index


def point(x, y):
    return struct.pack("<idd", 1, x, y)


def point_zm(x, y, z, m):
    return struct.pack("<idddd", 11, x, y, z, m)


def polygon(*rings):
    first, positions = [], []
    for ring in rings:
        first.append(len(positions))
        positions += ring
    parts = struct.pack("<i4dii", 5, 0, 0, 10, 10, len(rings), len(positions)) + struct.pack(f"<{len(first)}i", *first)
    return parts + b"".join(struct.pack("<dd", *p) for p in positions)


def square(x, y, side):
    """Clockwise, like an outer ring."""
    return [(x, y), (x, y + side), (x + side, y + side), (x + side, y), (x, y)]
