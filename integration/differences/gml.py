"""GML."""
import datetime

from .case import ERROR, NEW_YEAR, Difference

POINT = '<a:g><gml:Point srsName="EPSG:4326"><gml:pos>1 2</gml:pos></gml:Point></a:g>'


def features(name, insides, ours, gdal, geometry=POINT):
    """A WFS 2.0 answer with a feature for each text. Their identifiers are no difference."""
    insides = [insides] if isinstance(insides, str) else insides
    members = "".join(f'<wfs:member><a:F gml:id="F.{i}">{inside}{geometry}</a:F></wfs:member>' for i, inside in enumerate(insides))
    text = ('<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:a="http://example.com/a"'
            f' xmlns:xlink="http://www.w3.org/1999/xlink">{members}</wfs:FeatureCollection>')
    identified = lambda want: {"gml_id": ("string", [f"F.{i}" for i in range(len(insides))]), **want} if isinstance(want, dict) else want
    return Difference(name, text, identified(ours), identified(gdal), "gml")


DIFFERENCES = [
    features("box of a feature", "<gml:boundedBy><gml:Envelope><gml:lowerCorner>1 2</gml:lowerCorner><gml:upperCorner>1 2</gml:upperCorner></gml:Envelope>"
             "</gml:boundedBy><a:v>1</a:v>",
             {"v": ("int32", [1])}, {"v": ("int32", [1]), "lowerCorner": ("string", ["1 2"]), "upperCorner": ("string", ["1 2"])}),
    features("integer beyond int64", "<a:v>9223372036854775808</a:v>", {"v": ("string", ["9223372036854775808"])}, {"v": ("int64", [9223372036854775807])}),
    features("impossible date", "<a:v>2020-02-30</a:v>", {"v": ("string", ["2020-02-30"])}, {"v": ("date32[day]", [datetime.date(2020, 3, 1)])}),
    features("zone", "<a:v>2020-01-01T00:00:00+02:00</a:v>",
             {"v": ("timestamp[ms, tz=+02:00]", [NEW_YEAR.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2)))])}, {"v": ("timestamp[ms]", [NEW_YEAR])}),
    features("finer than a millisecond", "<a:v>2020-01-01T00:00:00.123456</a:v>",
             {"v": ("timestamp[us]", [NEW_YEAR.replace(microsecond=123456)])}, {"v": ("timestamp[ms]", [NEW_YEAR.replace(microsecond=123000)])}),
    features("booleans with 0 and 1", ["<a:v>true</a:v>", "<a:v>1</a:v>"], {"v": ("string", ["true", "1"])}, {"v": ("bool", [True, True])}),
    features("numbers among times", ["<a:v>12:34:56</a:v>", "<a:v>1e3</a:v>"],
             {"v": ("string", ["12:34:56", "1e3"])}, {"v": ("time32[ms]", [datetime.time(12, 34, 56), None])}),
    features("sign alone", ["<a:v>5</a:v>", "<a:v>-</a:v>"], {"v": ("string", ["5", "-"])}, {"v": ("int32", [5, 0])}),
    features("element of blanks", ["<a:v>x</a:v>", "<a:v> </a:v>"], {"v": ("string", ["x", None])}, {"v": ("string", ["x", ""])}),
    features("blanks around text", "<a:v> a b </a:v>", {"v": ("string", ["a b"])}, {"v": ("string", ["a b "])}),
    features("element that is always empty", "<a:v/>", {"v": ("string", [None])}, {}),
    features("reference", '<a:v xlink:href="#x"/>', {"v_href": ("string", ["#x"])}, {}),
    features("same name on two levels", "<a:o><a:P><a:name>x</a:name></a:P></a:o><a:name>y</a:name>",
             {"o.P.name": ("string", ["x"]), "name": ("string", ["y"])}, {"name": ("string", ["x"]), "name_": ("string", ["y"])}),
    features("two geometries", "", {"h": ("binary", [bytes.fromhex("010100000000000000000008400000000000001040")]), "geometry": ["POINT (1 2)"]}, {"geometry": ["POINT (3 4)"]},
             "<a:g><gml:Point><gml:pos>1 2</gml:pos></gml:Point></a:g><a:h><gml:Point><gml:pos>3 4</gml:pos></gml:Point></a:h>"),
    features("coordinate that is no number", "", ERROR, {"geometry": ["POINT (1 0)"]}, POINT.replace("1 2", "1 x")),
]
