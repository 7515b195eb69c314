"""FlatGeobuf. The files are those of the reader's own tests."""
import datetime
import pathlib

from .case import ERROR, NEW_YEAR, UTC, Difference

FILES = pathlib.Path(__file__).parent.parent.parent / "readers/flatgeobuf/testdata"
POINT, LINE = "POINT (1 2)", "LINESTRING (1 2, 3 4)"
WESTERN = datetime.timezone(datetime.timedelta(hours=2))


def file(name, stem, ours, gdal, columns=True):
    return Difference(name, (FILES / f"{stem}.fgb").read_bytes(), ours, gdal, "fgb", columns=columns)


DIFFERENCES = [
    file("dates", "times", {"date": ("date32[day]", [NEW_YEAR.date(), None])}, {"date": ("timestamp[ms]", [NEW_YEAR, None])}),
    file("zone", "times", {"zoned": ("timestamp[ms, tz=+02:00]", [datetime.datetime(2020, 1, 1, 2, tzinfo=WESTERN)] * 2)},
         {"zoned": ("timestamp[ms]", [datetime.datetime(2020, 1, 1, 2)] * 2)}),
    file("several zones", "times", {"several": ("timestamp[ms, tz=UTC]", [NEW_YEAR.replace(tzinfo=UTC)] * 2)},
         {"several": ("timestamp[ms]", [datetime.datetime(2020, 1, 1, 2), NEW_YEAR])}),
    file("zoned with naive", "times", {"naive": ("string", ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"])}, {"naive": ("timestamp[ms]", [NEW_YEAR] * 2)}),
    file("finer than a millisecond", "times", {"fine": ("timestamp[us]", [NEW_YEAR.replace(microsecond=1), None])}, {"fine": ("timestamp[ms]", [NEW_YEAR, None])}),
    file("unsigned beyond int64", "wide", {"u": ("uint64", [2**64 - 1, 1])}, {"u": ("double", [2.0**64, 1.0])}),
    file("bytes", "wide", {"b": ("string", ["00ff", None])}, {"b": ("binary", [b"\x00\xff", None])}),
    file("empty line", "empty-line", {"geometry": [LINE, "LINESTRING EMPTY"]}, "error: "),
    file("nodes of two", "several", {"n": ("int32", [*range(9)])}, "error: .*verification"),
    file("fewer features than the header says", "bad-fewer", ERROR, {"n": ("int32", [0, 1])}),
    file("more features than the header says", "bad-more", ERROR, {"n": ("int32", [0, 1])}),
    file("column twice", "bad-twice", ERROR, {"n": ("int32", [2])}),
    file("boolean of two", "bad-bool", ERROR, {"b": ("bool", [True])}),
    file("kind of another name", "bad-kind", ERROR, {"geometry": [POINT]}),
    file("position after the last ring", "bad-end", ERROR, {"geometry": ["POLYGON ((0 0, 1 0, 1 1, 0 0))"]}),
    file("cut feature", "bad-cut", ERROR, "error: .*reading feature"),
]
