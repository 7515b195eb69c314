"""Files of formats that `vibeflight gen` does not write, for shapes.py: by GDAL from tables of the others, or from fixed seeds.

footprints.gpkg, footprints.gdb   what footprints.fgb has
parcels.gpkg, parcels.gdb         what parcels.shp has
city.osm.pbf                      buildings, streets, places and multipolygons; dense nodes, zlib, 8,000 entities a block
tracks.gpx                        1,000 points a track, with elevation and time, and a waypoint for each 20 of them
regions.topojson                  a grid of polygons that share arcs, quantized
stations.json                     Esri JSON, points with five attributes
stations.xlsx                     a sheet with longitude, latitude, shared and inline text, dates and booleans
"""
import json
import struct
import zipfile
import zlib

import numpy as np

BLOCK = 8000  # entities of a block of a PBF file


def from_table(path, source):
    """Writes a GeoPackage or a File Geodatabase of another file's table."""
    import pyogrio
    driver = {".gpkg": "GPKG", ".gdb": "OpenFileGDB"}[path.suffix]
    meta, table = pyogrio.read_arrow(source)
    name = meta["geometry_name"] or "wkb_geometry"
    pyogrio.write_arrow(table, path, layer=source.stem, driver=driver, geometry_name=name, crs=meta["crs"],
                        geometry_type="MultiPolygon" if driver == "OpenFileGDB" else meta["geometry_type"])


def varints(values):
    """Each value as a varint: all bytes, and where each value ends."""
    values = np.asarray(values, dtype=np.uint64)
    sizes = 1 + sum((values >= np.uint64(1 << 7 * k)).astype(np.int64) for k in range(1, 10))
    ends = np.cumsum(sizes)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    starts = ends - sizes
    for k in range(int(sizes.max()) if len(sizes) else 0):
        has = sizes > k
        byte = (values[has] >> np.uint64(7 * k)) & np.uint64(0x7F)
        out[starts[has] + k] = byte | np.where(sizes[has] > k + 1, 0x80, 0).astype(np.uint64)
    return out.tobytes(), ends


def zigzag(values):
    values = np.asarray(values, dtype=np.int64)
    return ((values << 1) ^ (values >> 63)).astype(np.uint64)


def packed(values):
    return varints(values)[0]


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def message(number, content):
    """A field of bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def integer(number, value):
    return varint(number << 3) + varint(value)


class Strings:
    """The string table of a block."""

    def __init__(self):
        self.numbers = {"": 0}

    def number(self, text):
        return self.numbers.setdefault(text, len(self.numbers))

    def message(self):
        return message(1, b"".join(message(1, text.encode()) for text in self.numbers))


def blob(file, kind, content):
    body = integer(2, len(content)) + message(3, zlib.compress(content))
    head = message(1, kind) + integer(3, len(body))
    file.write(struct.pack(">I", len(head)) + head + body)


def write_block(file, strings, group):
    blob(file, b"OSMData", strings.message() + message(2, group))


def write_city(file, n):
    """n buildings, and streets, places and multipolygons in proportion."""
    rs = np.random.default_rng(5)
    streets, places, relations = n // 4, n // 3, n // 50
    blob(file, b"OSMHeader", message(4, b"OsmSchema-V0.6") + message(4, b"DenseNodes") + message(16, b"bench"))
    sizes = np.concatenate([np.full(n, 4), np.full(streets, 12), np.ones(places, dtype=np.int64)])  # nodes of each thing
    first = np.cumsum(sizes) - sizes
    thing, step = np.repeat(np.arange(len(sizes)), sizes), np.arange(int(sizes.sum())) - np.repeat(first, sizes)
    lon, lat = (rs.uniform(low, high, len(sizes)) for low, high in ((-87.6, -80.0), (24.5, 31.0)))
    along = np.where(thing < n, np.array([0, 1, 1, 0])[np.minimum(step, 3)] * 2e-4, step * 1e-3)
    across = np.where(thing < n, np.array([0, 0, 1, 1])[np.minimum(step, 3)] * 2e-4, rs.uniform(0, 2e-4, len(step)))
    x, y = np.round((lon[thing] + along) * 1e7).astype(np.int64), np.round((lat[thing] + across) * 1e7).astype(np.int64)
    write_nodes(file, x, y, n + streets, first)
    write_ways(file, n, streets, first)
    write_relations(file, relations, n)


def write_nodes(file, x, y, without_tags, first):
    """Dense nodes; those of places have tags."""
    tagged = int(first[without_tags]) if len(first) > without_tags else len(x)
    for start in range(0, len(x), BLOCK):
        stop, strings, tags = min(len(x), start + BLOCK), Strings(), bytearray()
        for i in range(start, stop):
            if i >= tagged:
                for key, value in (("amenity", f"kind {i % 40}"), ("name", f"place {i}")):
                    tags += varint(strings.number(key)) + varint(strings.number(value))
            tags.append(0)
        delta = lambda v: packed(zigzag(np.diff(v[start:stop], prepend=0)))
        dense = message(1, packed(zigzag(np.diff(np.arange(start + 1, stop + 1), prepend=0)))) + message(8, delta(y)) + message(9, delta(x))
        write_block(file, strings, message(2, dense + (message(10, bytes(tags)) if stop > tagged else b"")))


def write_ways(file, n, streets, first):
    for start in range(0, n + streets, BLOCK):
        strings, ways = Strings(), []
        for i in range(start, min(n + streets, start + BLOCK)):
            node = int(first[i]) + 1
            if i < n:
                tags = {"building": ("yes", "house", "garage")[i % 3], "addr:housenumber": str(i % 500)}
                refs = varint(node << 1) + b"\x02\x02\x02" + b"\x05"  # three steps of one, and back to the first
            else:
                tags = {"highway": ("residential", "primary", "track")[i % 3], "name": f"street {i % 3000}", "maxspeed": str(i % 9 * 10)}
                refs = varint(node << 1) + b"\x02" * 11
            keys = b"".join(varint(strings.number(k)) for k in tags)
            values = b"".join(varint(strings.number(v)) for v in tags.values())
            ways.append(message(3, integer(1, i + 1) + message(2, keys) + message(3, values) + message(8, refs)))
        write_block(file, strings, b"".join(ways))


def write_relations(file, relations, n):
    """Multipolygons of two outer rings each: the relation's, and that of the way with tags."""
    for start in range(0, relations, BLOCK):
        strings, found = Strings(), []
        outer = strings.number("outer")
        for i in range(start, min(relations, start + BLOCK)):
            tags = {"type": "multipolygon", "landuse": ("forest", "meadow")[i % 2], "name": f"area {i}"}
            keys = b"".join(varint(strings.number(k)) for k in tags)
            values = b"".join(varint(strings.number(v)) for v in tags.values())
            members = packed(zigzag([i * 40 % n + 1, 7]))
            found.append(message(4, integer(1, i + 1) + message(2, keys) + message(3, values) + message(8, packed([outer, outer])) +
                                 message(9, members) + message(10, packed([1, 1]))))
        write_block(file, strings, b"".join(found))


def write_tracks(file, n):
    """n points of tracks."""
    rs = np.random.default_rng(13)
    file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="bench" xmlns="http://www.topografix.com/GPX/1/1">\n')
    for i in range(n // 20):
        x, y = rs.uniform(-180, 180), rs.uniform(-85, 85)
        file.write(b'<wpt lat="%.7f" lon="%.7f"><ele>%.1f</ele><time>2024-05-%02dT08:00:00Z</time><name>point %d</name><desc>%s</desc>'
                   b"<sym>Flag</sym></wpt>\n" % (y, x, i % 3000, i % 28 + 1, i, b"reached &amp; left" if i % 3 else b"a place"))
    for start in range(0, n, 1000):
        m = min(1000, n - start)
        x, y = (rs.uniform(-80, 80) + np.cumsum(rs.normal(0, 1e-4, m)) for _ in "xy")
        ele, hour = np.cumsum(rs.normal(0, 1, m)) + 500, start // 1000 % 24
        file.write(b"<trk><name>track %d</name><number>%d</number><trkseg>\n" % (start // 1000, start // 1000))
        file.write(b"".join(b'<trkpt lat="%.7f" lon="%.7f"><ele>%.2f</ele><time>2024-05-07T%02d:%02d:%02dZ</time></trkpt>\n'
                            % (y[k], x[k], ele[k], hour, k // 60, k % 60) for k in range(m)))
        file.write(b"</trkseg></trk>\n")
    file.write(b"</gpx>\n")


def write_regions(file, n):
    """About n cells of a grid. Each side is an arc of ten positions."""
    side, rs = int(n ** 0.5), np.random.default_rng(17)
    arcs = []
    for vertical in (False, True):
        for i in range(side + 1):
            for j in range(side):
                bends = rs.integers(-3, 4, 8).tolist()
                steps = [[10, b] for b in [*bends, -sum(bends)]]
                steps[-1][0] += 10
                start = [j * 100, i * 100]
                arcs.append([start[::-1], *[s[::-1] for s in steps]] if vertical else [start, *steps])
    horizontal, vertical = (lambda i, j: i * side + j), (lambda i, j: (side + 1) * side + j * side + i)
    cells = [{"type": "Polygon", "id": i * side + j, "properties": {"name": f"region {i}/{j}", "population": i * j, "share": round((i + 1) / (j + 1), 4)},
              "arcs": [[horizontal(i, j), vertical(i, j + 1), ~horizontal(i + 1, j), ~vertical(i, j)]]} for i in range(side) for j in range(side)]
    scale = [360 / (side * 100), 170 / (side * 100)]
    topology = {"type": "Topology", "transform": {"scale": scale, "translate": [-180, -85]},
                "objects": {"regions": {"type": "GeometryCollection", "geometries": cells}}, "arcs": arcs}
    file.write(json.dumps(topology, separators=(",", ":")).encode())


def stations(n):
    rs = np.random.default_rng(19)
    x, y, value = np.round(rs.uniform(-180, 180, n), 6), np.round(rs.uniform(-85, 85, n), 6), np.round(rs.normal(50, 20, n), 3)
    return zip(range(n), x.tolist(), y.tolist(), value.tolist())


def write_esri(file, n):
    fields = [{"name": name, "type": f"esriFieldType{kind}", "alias": name} for name, kind in
              (("OBJECTID", "OID"), ("name", "String"), ("value", "Double"), ("number", "Integer"), ("seen", "Date"))]
    head = {"objectIdFieldName": "OBJECTID", "geometryType": "esriGeometryPoint", "spatialReference": {"wkid": 4326, "latestWkid": 4326}, "fields": fields}
    file.write(json.dumps(head)[:-1].encode() + b',"features":[\n')
    for i, x, y, value in stations(n):
        feature = {"attributes": {"OBJECTID": i + 1, "name": None if i % 31 == 0 else f"station {i % 1000}", "value": value, "number": i % 9000,
                                  "seen": 1_600_000_000_000 + i * 1000}, "geometry": {"x": x, "y": y}}
        file.write((",\n" if i else "").encode() + json.dumps(feature).encode())
    file.write(b"]}\n")


def write_sheet(file, n):
    types = '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' + "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.{kind}+xml"/>' for part, kind in
        (("workbook", "sheet.main"), ("worksheets/sheet1", "worksheet"), ("styles", "styles"), ("sharedStrings", "sharedStrings")))
    main, office = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relation = '<Relationship Id="rId{}" Type="' + office + '/{}" Target="{}"/>'
    relations = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("[Content_Types].xml", types + '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>')
        z.writestr("_rels/.rels", relations.format(relation.format(1, "officeDocument", "xl/workbook.xml")))
        z.writestr("xl/_rels/workbook.xml.rels", relations.format(relation.format(1, "worksheet", "worksheets/sheet1.xml") +
                   relation.format(2, "styles", "styles.xml") + relation.format(3, "sharedStrings", "sharedStrings.xml")))
        z.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="stations" sheetId="1" r:id="rId1"/></sheets></workbook>')
        z.writestr("xl/styles.xml", f'<styleSheet xmlns="{main}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/>'
                   '</borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/>'
                   "</cellXfs></styleSheet>")
        names = ["id", "lon", "lat", "value", "name", "code", "seen", "ok", *[f"station {i}" for i in range(1000)]]
        z.writestr("xl/sharedStrings.xml", f'<sst xmlns="{main}" uniqueCount="{len(names)}">' + "".join(f"<si><t>{t}</t></si>" for t in names) + "</sst>")
        with z.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(f'<worksheet xmlns="{main}"><sheetData><row r="1">'.encode())
            sheet.write("".join(f'<c r="{c}1" t="s"><v>{i}</v></c>' for i, c in enumerate("ABCDEFGH")).encode() + b"</row>\n")
            for i, x, y, value in stations(n):
                r = i + 2
                sheet.write((f'<row r="{r}"><c r="A{r}"><v>{i}</v></c><c r="B{r}"><v>{x!r}</v></c><c r="C{r}"><v>{y!r}</v></c><c r="D{r}"><v>{value!r}</v></c>'
                             f'<c r="E{r}" t="s"><v>{i % 1000 + 8}</v></c><c r="F{r}" t="inlineStr"><is><t>c{i * 7}</t></is></c>'
                             f'<c r="G{r}" s="1"><v>{40000 + i % 5000}</v></c><c r="H{r}" t="b"><v>{i % 2}</v></c></row>\n').encode())
            sheet.write(b"</sheetData></worksheet>")


WRITERS = {"city.osm.pbf": write_city, "tracks.gpx": write_tracks, "regions.topojson": write_regions, "stations.json": write_esri,
           "stations.xlsx": write_sheet}
