"""KML. GDAL has two drivers; this is LIBKML, which it prefers."""
import datetime

from .case import ERROR, NEW_YEAR, UTC, Difference


def document(inside):
    return ('<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document><name>d</name>'
            f"{inside}</Document></kml>")


def placemarks(name, inside, ours, gdal):
    """A document with a placemark for each text, of which only some columns are compared."""
    texts = [inside] if isinstance(inside, str) else inside
    return Difference(name, document("".join(f"<Placemark>{t}</Placemark>" for t in texts)), ours, gdal, "kml", columns=True)


def when(*times):
    return [f"<TimeStamp><when>{t}</when></TimeStamp>" for t in times]


START, STOP = NEW_YEAR, NEW_YEAR + datetime.timedelta(seconds=1)
TRACK = ("<gx:Track><when>2020-01-01T00:00:00Z</when><when>2020-01-01T00:00:01Z</when>"
         "<gx:coord>1 2 3</gx:coord><gx:coord>4 5 6</gx:coord></gx:Track>")
ARRAY = ('<ExtendedData><SchemaData schemaUrl="#s"><gx:SimpleArrayData name="hr"><gx:value>86</gx:value><gx:value>103</gx:value></gx:SimpleArrayData>'
         "</SchemaData></ExtendedData>")

DIFFERENCES = [
    placemarks("what the file does not say", "<Point><coordinates>1,2</coordinates></Point>",
               {k: ("int32", [None]) for k in ("tessellate", "extrude", "visibility")},
               {"tessellate": ("int32", [-1]), "extrude": ("int32", [0]), "visibility": ("int32", [-1])}),
    placemarks("zone", when("2020-01-01T02:00:00+02:00", "2020-01-01T00:00:00Z"),
               {"timestamp": ("timestamp[ms, tz=UTC]", [NEW_YEAR.replace(tzinfo=UTC)] * 2)},
               {"timestamp": ("timestamp[ms]", [NEW_YEAR.replace(hour=2), NEW_YEAR])}),
    placemarks("finer than a millisecond", when("2020-01-01T00:00:00.123456"),
               {"timestamp": ("timestamp[us]", [NEW_YEAR.replace(microsecond=123456)])},
               {"timestamp": ("timestamp[ms]", [NEW_YEAR.replace(microsecond=123000)])}),
    placemarks("a day", when("2020-05-06"),
               {"timestamp": ("date32[day]", [datetime.date(2020, 5, 6)])}, {"timestamp": ("timestamp[ms]", [datetime.datetime(2020, 5, 6)])}),
    placemarks("a year, a month", when("2020", "2020-05"),
               {"timestamp": ("timestamp[ms]", [None, None]), "timestamp_text": ("string", ["2020", "2020-05"])},
               {"timestamp": ("timestamp[ms]", [None, datetime.datetime(2020, 5, 1)])}),
    placemarks("times of a track", TRACK,
               {"begin": ("timestamp[ms, tz=UTC]", [START.replace(tzinfo=UTC)]), "end": ("timestamp[ms, tz=UTC]", [STOP.replace(tzinfo=UTC)]),
                "when": ("list<string>", [["2020-01-01T00:00:00Z", "2020-01-01T00:00:01Z"]]), "geometry": ["LINESTRING Z (1 2 3, 4 5 6)"]},
               {"begin": ("timestamp[ms]", [START]), "end": ("timestamp[ms]", [STOP]), "geometry": ["LINESTRING Z (1 2 3, 4 5 6)"]}),
    placemarks("arrays of a track", TRACK.replace("</gx:Track>", ARRAY + "</gx:Track>"),
               {"hr": ("list<string>", [["86", "103"]])}, {"Name": ("string", [None])}),
    placemarks("tuples of 2 and 3 numbers", "<LineString><coordinates>1,2 3,4,5</coordinates></LineString>",
               {"geometry": ["LINESTRING Z (1 2 NaN, 3 4 5)"]}, {"geometry": ["LINESTRING Z (1 2 0, 3 4 5)"]}),
    placemarks("coordinate that is no number", "<Point><coordinates>1,x</coordinates></Point>", ERROR, {"geometry": ["POINT (1 0)"]}),
    Difference("ground overlay", document("<GroundOverlay><LatLonBox><north>2</north><south>1</south><east>4</east><west>3</west></LatLonBox></GroundOverlay>"),
               {"geometry": ["POLYGON ((4 2, 4 1, 3 1, 3 2, 4 2))"]}, {"geometry": ["POLYGON Z ((4 2 0, 4 1 0, 3 1 0, 3 2 0, 4 2 0))"]}, "kml", columns=True),
]
