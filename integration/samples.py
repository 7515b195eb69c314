"""Files of every format but GeoJSON, as `vibeflight gen` makes them and as people have them: with what to tell GDAL and us about each."""
import importlib.resources
import pathlib
import typing
import zipfile

from differences.csv import SETTINGS
from serving import vibeflight

FEATURES = 3000
COUNTRIES = 177
WORLD = importlib.resources.files("pyogrio") / "tests/fixtures/naturalearth_lowres"


class Sample(typing.NamedTuple):
    name: str
    write: typing.Callable  # of a path
    rows: int
    crs: str | None = None  # as pyproj calls it
    options: dict = {}  # of our ticket
    settings: dict = {}  # GDAL's open options
    nothing: dict = {}  # column: what GDAL has where the file says nothing and we have null
    zoned: tuple = ()  # columns whose zone, UTC, GDAL drops
    ours_alone: tuple = ()
    gdal_alone: tuple = ()


def generated(kind):
    return lambda path: vibeflight("gen", kind, "--features", FEATURES, "-o", path)


def text(content, encoding="utf-8"):
    return lambda path: path.write_bytes(content.encode(encoding))


def world(path):
    """The countries of Natural Earth: all files of the shapefile, or the table and its code page."""
    for part in WORLD.iterdir():
        extension = pathlib.PurePath(part.name).suffix
        if path.suffix == ".shp" or extension in (".dbf", ".cpg"):
            path.with_suffix(extension).write_bytes(part.read_bytes())


def world_zip(path):
    """The same as one download."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in WORLD.iterdir():
            archive.writestr(part.name, part.read_bytes())


def kmz(content):
    def write(path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("doc.kml", content)
            archive.writestr("files/icon.png", b"\x89PNG")
    return write


# A spreadsheet's: semicolons, decimal commas, a byte order mark, CRLF, line ends and doubled quotes in quotes, an empty last field.
CUSTOMERS = "\ufeff" + "\r\n".join([
    'Nr;Name;"Stra\u00dfe; Ort";Seit;Umsatz;Bemerkung;lat;lon',
    '1;M\u00fcller GmbH;"Hauptstr. 5; K\u00f6ln";2019-03-01;1234,50;"ruft an\nam Montag";50,9375;6,9603',
    '2;"B\u00e4ckerei ""Kornblume""";"Am Markt 1; Bonn";2020-02-29;-0,75;"um 7:30, ""nie"" fr\u00fcher";50,7374;7,0982',
    "3;\u0141ukasz & S\u00f6hne;Ring 7;;;x;;",
    ""])

# A phone's: a recorded walk with its start, the names in CDATA.
WALK = """<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2" xmlns:atom="http://www.w3.org/2005/Atom">
<Document>
<open>1</open>
<name><![CDATA[Morning walk]]></name>
<atom:author><atom:name><![CDATA[Recorded on a phone]]></atom:name></atom:author>
<Style id="track"><LineStyle><color>7f0000ff</color><width>4</width></LineStyle></Style>
<Placemark>
<name><![CDATA[Start]]></name>
<TimeStamp><when>2026-05-01T06:30:12.000Z</when></TimeStamp>
<styleUrl>#start</styleUrl>
<Point><coordinates>6.9583,50.9413,52.0</coordinates></Point>
</Placemark>
<Placemark id="tour">
<name><![CDATA[Morning walk]]></name>
<description><![CDATA[1.2 km <b>on foot</b>]]></description>
<styleUrl>#track</styleUrl>
<gx:MultiTrack>
<gx:interpolate>1</gx:interpolate>
<gx:Track>
<when>2026-05-01T06:30:12.000Z</when>
<gx:coord>6.9583 50.9413 52.0</gx:coord>
<when>2026-05-01T06:30:20.000Z</when>
<gx:coord>6.9584 50.9414 52.5</gx:coord>
<when>2026-05-01T06:30:31.000Z</when>
<gx:coord>6.9587 50.9415 53.25</gx:coord>
</gx:Track>
<gx:Track>
<when>2026-05-01T06:40:00.000Z</when>
<gx:coord>6.9601 50.942 51</gx:coord>
<when>2026-05-01T06:40:09.000Z</when>
<gx:coord>6.9604 50.9423 51</gx:coord>
</gx:Track>
</gx:MultiTrack>
</Placemark>
</Document>
</kml>
"""

# A WFS 2.0 server's: GML 3.2 with latitude first, a leading zero, nil, a character reference, a feature without geometry.
STATIONS = """<?xml version="1.0" encoding="UTF-8"?>
<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:app="http://example.com/app"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" timeStamp="2026-05-01T06:40:00Z" numberMatched="3" numberReturned="3">
<wfs:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>50.7 6.9</gml:lowerCorner>
<gml:upperCorner>50.95 7.1</gml:upperCorner></gml:Envelope></wfs:boundedBy>
<wfs:member><app:Station gml:id="Station.1"><app:name>K&#246;ln Hbf &amp; Dom</app:name><app:platforms>11</app:platforms>
<app:height>53.5</app:height><app:opened>1859-12-05</app:opened><app:checked>2026-04-30T12:00:00Z</app:checked><app:code>007</app:code>
<app:geom><gml:Point gml:id="p1" srsName="urn:ogc:def:crs:EPSG::4326" srsDimension="2"><gml:pos>50.9430 6.9583</gml:pos></gml:Point></app:geom></app:Station></wfs:member>
<wfs:member><app:Station gml:id="Station.2"><gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>50.7 7.0</gml:lowerCorner>
<gml:upperCorner>50.8 7.1</gml:upperCorner></gml:Envelope></gml:boundedBy><app:name>Bonn Hbf</app:name><app:platforms>5</app:platforms>
<app:height>64</app:height><app:opened>1844-02-13</app:opened><app:checked>2026-04-30T12:05:00Z</app:checked><app:code>012</app:code>
<app:geom><gml:Point gml:id="p2" srsName="urn:ogc:def:crs:EPSG::4326" srsDimension="2"><gml:pos>50.7322 7.0970</gml:pos></gml:Point></app:geom></app:Station></wfs:member>
<wfs:member><app:Station gml:id="Station.3"><app:name>Somewhere</app:name><app:platforms xsi:nil="true"/><app:code>x</app:code></app:Station></wfs:member>
</wfs:FeatureCollection>
"""

CSV = SETTINGS | {"EMPTY_STRING_AS_NULL": "YES"}
UNSAID = {"tessellate": -1, "extrude": 0, "visibility": -1}

SAMPLES = [
    Sample("points.csv", generated("points-csv"), FEATURES, settings=CSV),
    Sample("wkt.csv", generated("wkt-csv"), FEATURES, settings=CSV),
    Sample("attributes.dbf", generated("dbf"), FEATURES),
    Sample("parcels.shp", generated("shapefile"), FEATURES, "EPSG:4326"),
    Sample("places.kml", generated("kml"), FEATURES, "OGC:CRS84", nothing=UNSAID),
    Sample("parcels.gml", generated("gml"), FEATURES, "OGC:CRS84"),
    Sample("customers.csv", text(CUSTOMERS), 3, options={"decimal": ","}, settings=CSV),
    Sample("countries.zip", world_zip, COUNTRIES, "EPSG:4326"),
    Sample("countries.shp", world, COUNTRIES, "EPSG:4326"),
    Sample("population.dbf", world, COUNTRIES),
    Sample("walk.kmz", kmz(WALK), 2, "OGC:CRS84", nothing=UNSAID, zoned=("timestamp", "begin", "end"), ours_alone=("when",)),
    Sample("stations.gml", text(STATIONS), 3, "EPSG:4326", zoned=("checked",), gdal_alone=("lowerCorner", "upperCorner")),
]
