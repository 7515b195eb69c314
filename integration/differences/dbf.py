"""dBASE tables."""
import datetime
import decimal
import struct

from esri import column, dbf

from .case import ERROR, Difference


def table(name, content, ours, gdal):
    return Difference(name, content, ours, gdal, "dbf")


def values(name, content, ours, gdal):
    """A table with one field V."""
    return table(name, content, {"V": ours} if isinstance(ours, tuple) else ours, {"V": gdal} if isinstance(gdal, tuple) else gdal)


DIFFERENCES = [
    values("integer of 19 digits", column("N", 19, 0, "9007199254740993"), ("int64", [9007199254740993]), ("double", [9007199254740992.0])),
    values("integer beyond int64", column("N", 20, 0, "12345678901234567890", "7"),
           ("decimal128(38, 0)", [decimal.Decimal("12345678901234567890"), decimal.Decimal(7)]), ("double", [1.2345678901234567e19, 7.0])),
    values("fraction in an integer field", column("N", 10, 0, "1.5", "2"), ("double", [1.5, 2.0]), ("int64", [1, 2])),
    values("float field without decimals", column("F", 10, 0, "1.5", "-0"), ("double", [1.5, -0.0]), ("int64", [1, 0])),
    values("invalid number", column("N", 10, 0, "N/A"), ERROR, ("int64", [0])),
    values("decimal comma", column("N", 10, 2, "1,5"), ERROR, ("double", [1.0])),
    values("invalid date", column("D", 8, 0, "20261399"), ERROR, ("date32[day]", [datetime.date(1970, 1, 1)])),
    values("blank logical", column("L", 1, 0, " ", "T"), ("bool", [None, True]), ("bool", [False, True])),
    values("invalid logical", column("L", 1, 0, "X"), ERROR, ("bool", [False])),
    values("no code page", dbf([("V", "C", 3, 0)], [b"M\xfcn"]), ("string", ["M\u00fcn"]), "error: .*codec"),
    table("Visual FoxPro's types", dbf([("I", "I", 4, 0), ("T", "T", 8, 0), ("Y", "Y", 8, 0), ("B", "B", 8, 0)],
                                       [struct.pack("<iiiqd", -5, 2460000, 43200000, 123456, 1.5)], version=0x30),
          {"I": ("int32", [-5]), "T": ("timestamp[ms]", [datetime.datetime(2023, 2, 24, 12)]),
           "Y": ("decimal128(19, 4)", [decimal.Decimal("12.3456")]), "B": ("double", [1.5])}, "error: .*codec"),
    table("same name twice", dbf([("A", "C", 2, 0), ("A", "C", 2, 0)], [b"aabb"]), {"A": ("string", ["aa"]), "A_1": ("string", ["bb"])}, "error: two columns"),
    table("fewer records than the header says", dbf([("A", "C", 2, 0)], [b"aa", b"bb"], count=5), ERROR, {"A": ("string", ["aa", "bb"])}),
]
