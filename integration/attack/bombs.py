"""Files that are small, or small when compressed, but expensive: wide, deep, long, and with many rows."""
import contextlib
import io
import zipfile

import pyarrow as pa

PACKINGS = ("", ".gz", ".zst", ".zip")


def repeated(head, unit, count, tail=b"", block=1 << 20):
    """head, count times unit, and tail, in blocks of about block bytes."""
    yield head
    whole = max(1, block // len(unit))
    for at in range(0, count, whole):
        yield unit * min(whole, count - at)
    yield tail


def keys(count):
    """A feature with count properties."""
    yield b'{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{'
    for at in range(0, count, 10_000):
        yield b",".join(b'"k%d":%d' % (i, i) for i in range(at, min(at + 10_000, count))) + (b"," if at + 10_000 < count else b"")
    yield b"}}]}"


def header(count):
    """A CSV file of count columns and one row."""
    yield b",".join(b"c%d" % i for i in range(count)) + b"\n"
    yield b",".join([b"1"] * count) + b"\n"


FEATURE = b'{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"a":'
PLACEMARK = b'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>'


def bombs(size):
    """Names and contents. size is the number of bytes of the long ones; the others are as expensive."""
    return {
        "wide.geojson": lambda: keys(size // 1000),
        "wide.csv": lambda: header(size // 1000),
        "deep.geojson": lambda: repeated(FEATURE, b"[", size // 8, b"1"),
        "deep-coordinates.geojson": lambda: repeated(
            b'{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":', b"[", size // 8),
        "deep.kml": lambda: repeated(PLACEMARK, b"<Folder>", size // 64),
        "deep.wkt": lambda: repeated(b"", b"GEOMETRYCOLLECTION(", size // 64),
        "long.geojson": lambda: repeated(FEATURE + b'"', b"x", size, b'"}}]}'),
        "long.csv": lambda: repeated(b"a,b\n1,", b"x", size, b"\n"),
        "long.kml": lambda: repeated(PLACEMARK + b"<Placemark><name>", b"x", size, b"</name></Placemark></Document></kml>"),
        "long.wkt": lambda: repeated(b"LINESTRING(0 0", b",1 1", size // 4, b")\n"),
        "long-rows.csv": lambda: repeated(b"a\n", b"x" * 20_000 + b"\n", size // 20_000),
        "rows.csv": lambda: repeated(b"a\n", b"1\n", size // 6),
        "rows.geojson": lambda: repeated(
            b'{"type":"FeatureCollection","features":[', b'{"type":"Feature","geometry":null,"properties":{"a":1}},', size // 56,
            b'{"type":"Feature","geometry":null,"properties":{"a":1}}]}'),
        "rows.kml": lambda: repeated(PLACEMARK, b"<Placemark/>", size // 12, b"</Document></kml>"),
    }


def write(path, blocks, packing=""):
    """Writes a bomb, packed as the end of its name says."""
    with open(path, "wb") as f, contextlib.ExitStack() as stack:
        out = f
        if packing == ".zip":
            z = stack.enter_context(zipfile.ZipFile(f, "w", zipfile.ZIP_DEFLATED, compresslevel=1))
            out = stack.enter_context(z.open(path.name.removesuffix(packing), "w", force_zip64=True))
        elif packing:
            codec = {".gz": "gzip", ".zst": "zstd"}[packing]
            out = stack.enter_context(pa.CompressedOutputStream(pa.PythonFile(f, "w"), codec))
        for block in blocks:
            out.write(block)


def text(blocks):
    """The whole content."""
    out = io.BytesIO()
    for block in blocks:
        out.write(block)
    return out.getvalue()
