"""GPX. The first layer is read, that of the first wpt, rte or trk."""
import datetime

from .case import ERROR, NEW_YEAR, UTC, Difference


def document(name, inside, ours, gdal, version="1.1", prefix="", **more):
    text = f'<{prefix}gpx version="{version}" creator="c" xmlns{":p" if prefix else ""}="http://www.topografix.com/GPX/1/1" xmlns:a="u">{inside}</{prefix}gpx>'
    return Difference(name, text, ours, gdal, "gpx", columns=True, **more)


def point(name, inside, ours, gdal, attributes='lat="2" lon="1"', **more):
    return document(name, f"<wpt {attributes}>{inside}</wpt><wpt lat='3' lon='2'/>", ours, gdal, **more)


ONE = "POINT (2 3)"
LINE = '<rte><rtept lat="2" lon="1"><ele>5</ele></rtept><rtept lat="4" lon="3"/></rte>'

DIFFERENCES = [
    point("time with an offset", "<time>2020-01-01T02:00:00+02:00</time>", {"time": ("timestamp[ms, tz=UTC]", [NEW_YEAR.replace(tzinfo=UTC), None])},
          {"time": ("timestamp[ms]", [NEW_YEAR + datetime.timedelta(hours=2), None])}),
    point("finer than a millisecond", "<time>2020-01-01T00:00:00.000001Z</time>",
          {"time": ("timestamp[us, tz=UTC]", [NEW_YEAR.replace(microsecond=1, tzinfo=UTC), None])}, {"time": ("timestamp[ms]", [NEW_YEAR, None])}),
    point("date alone", "<time>2020-01-01</time>", ERROR, {"time": ("timestamp[ms]", [NEW_YEAR, None])}),
    point("no longitude", "", ERROR, {"geometry": [ONE]}, 'lat="2"'),
    point("latitude of letters", "", ERROR, {"geometry": ["POINT (1 0)", ONE]}, 'lat="x" lon="1"'),
    point("latitude beyond 90", "", ERROR, {"geometry": ["POINT (1 91)", ONE]}, 'lat="91" lon="1"'),
    point("number with an exponent", "<ele>1e2</ele>", ERROR, {"ele": ("double", [100, None])}),
    point("number of letters", "<ele>x</ele>", ERROR, {"ele": ("double", [0, None])}),
    point("integer beyond int32", "<sat>3000000000</sat>", {"sat": ("int64", [3000000000, None])}, {"sat": ("int32", [2147483647, None])}),
    point("elements in an extension", "<extensions><a:b>\n<a:c>x &amp; y</a:c></a:b></extensions>", {"a_b": ("string", ["\n<a:c>x &amp; y</a:c>", None])},
          {"a_b": ("string", ["<a:c>x & y</a:c>", None])}),
    point("extension called like a column", "<ele>5</ele><extensions><ele>7</ele></extensions>",
          {"ele": ("double", [5, None]), "ele_1": ("int32", [7, None])}, {"ele": ("double", [7, None])}),
    document("first layer", LINE, {"geometry": ["LINESTRING (1 2, 3 4)"]}, {"geometry": []}),
    point("third link", "".join(f'<link href="h{i}"/>' for i in (1, 2, 3)), {"link3_href": ("string", ["h3", None])}, {"link2_href": ("string", ["h2", None])}),
    document("prefix of the root", '<p:wpt lat="2" lon="1"/>', {"geometry": ["POINT (1 2)"]}, "error: ", prefix="p:"),
]
