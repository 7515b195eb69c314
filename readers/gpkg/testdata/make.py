"""Writes the files of this folder: python make.py. GDAL wrote gdal.gpkg through pyogrio, SQLite all others."""
import math
import shutil
import sqlite3
import struct
from pathlib import Path

HERE = Path(__file__).parent
XY, XYZ, XYM, XYZM = 0, 1000, 2000, 3000


def head(code, order="<"):
    return struct.pack(order + "BI", order == "<", code)


def numbers(*values, order="<"):
    return struct.pack(f"{order}{len(values)}d", *values)


def count(n, order="<"):
    return struct.pack(order + "I", n)


def point(*xy, dim=XY, order="<"):
    return head(1 + dim, order) + numbers(*xy, order=order)


def line(*positions, dim=XY, code=2):
    return head(code + dim) + count(len(positions)) + b"".join(numbers(*p) for p in positions)


def polygon(*rings, dim=XY):
    return head(3 + dim) + count(len(rings)) + b"".join(count(len(r)) + b"".join(numbers(*p) for p in r) for r in rings)


def several(code, *members, dim=XY):
    return head(code + dim) + count(len(members)) + b"".join(members)


def geometry(wkb, srs=4326, flags=1, envelope=()):
    """The GeoPackage's header, then WKB."""
    order = "<" if flags & 1 else ">"
    return b"GP" + struct.pack(order + "BBi", 0, flags, srs) + numbers(*envelope, order=order) + wkb


def ring(x, y, r, n):
    return [(x + r * math.cos(2 * math.pi * (i % n) / n), y + r * math.sin(2 * math.pi * (i % n) / n)) for i in range(n + 1)]


class Package:
    """A small GeoPackage with the tables that a reader needs."""

    def __init__(self, name, *pragmas, page=512):
        self.path = HERE / name
        for p in HERE.glob(name + "*"):
            p.unlink()
        self.db = sqlite3.connect(self.path, isolation_level=None)
        for pragma in (f"page_size={page}", "application_id=1196444487", "user_version=10400", *pragmas):
            self.db.execute(f"PRAGMA {pragma}")
        self.run("CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INT, definition TEXT, description TEXT)")
        self.run("CREATE TABLE gpkg_contents (table_name, data_type, identifier, description, last_change, min_x, min_y, max_x, max_y, srs_id)")
        self.run("CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INT, z INT, m INT)")
        for row in [("Cartesian", -1, "NONE", -1, "undefined"), ("geographic", 0, "NONE", 0, "undefined"), ("WGS 84", 4326, "EPSG", 4326, "GEOGCS[]")]:
            self.run("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)", row)

    def run(self, sql, values=()):
        self.db.execute(sql, values)

    def table(self, name, columns, kind="features", srs=4326, column="geom"):
        self.run(f'CREATE TABLE "{name}" ({columns})')
        self.register(name, kind, srs, column)

    def register(self, name, kind="features", srs=4326, column="geom"):
        self.run("INSERT INTO gpkg_contents VALUES (?, ?, ?, NULL, NULL, NULL, NULL, NULL, NULL, ?)", (name, kind, name, srs))
        if kind == "features":
            self.run("INSERT INTO gpkg_geometry_columns VALUES (?, ?, 'GEOMETRY', ?, 0, 0)", (name, column, srs))

    def rows(self, name, *rows):
        for row in rows:
            self.run(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(row))})', row)

    def close(self):
        self.db.close()


def simple(name, *geometries, pragmas=()):
    p = Package(name, *pragmas)
    p.table("t", "fid INTEGER PRIMARY KEY, geom BLOB, name TEXT")
    p.rows("t", *((i + 1, g, f"row {i}") for i, g in enumerate(geometries)))
    p.close()


SHAPES = [
    point(1, 2), line((1, 2), (3, 4)), polygon([(0, 0), (4, 0), (4, 4), (0, 0)], [(1, 1), (2, 1), (2, 2), (1, 1)]),
    several(4, point(1, 2), point(3, 4)), several(5, line((1, 2), (3, 4)), line((5, 6), (7, 8))),
    several(6, polygon([(0, 0), (4, 0), (4, 4), (0, 0)]), polygon([(9, 9), (9, 8), (8, 8), (9, 9)])), several(7, point(1, 2), line((1, 2), (3, 4))),
]

simple("kinds.gpkg", *(geometry(s) for s in SHAPES), None, geometry(point(math.nan, math.nan), flags=17), geometry(line(), flags=17), geometry(polygon(), flags=17))
simple("points.gpkg", geometry(point(1, 2)), geometry(point(3, 4, order=">"), flags=0), None, geometry(point(5, 6), flags=3, envelope=(5, 5, 6, 6)),
       geometry(point(7, 8), flags=5, envelope=(7, 7, 8, 8, 0, 0)), geometry(point(9, 10), flags=9, envelope=(9, 9, 10, 10, 0, 0, 0, 0)))
simple("ordinates.gpkg", geometry(point(1, 2, 3, dim=XYZ)), geometry(point(1, 2, 4, dim=XYM)), geometry(point(1, 2, 3, 4, dim=XYZM)), geometry(point(1, 2)))
simple("utf16le.gpkg", geometry(point(1, 2)), pragmas=["encoding='UTF-16le'"])
simple("utf16be.gpkg", geometry(point(1, 2)), pragmas=["encoding='UTF-16be'"])
simple("other-srs.gpkg", geometry(point(1, 2)), geometry(point(3, 4), srs=3857))
simple("bad-magic.gpkg", geometry(point(1, 2)), b"XX" + geometry(point(1, 2))[2:])
simple("bad-extended.gpkg", geometry(point(1, 2), flags=33))
simple("bad-wkb.gpkg", geometry(point(1, 2)), geometry(line((1, 2), (3, 4)))[:-1])
simple("bad-curve.gpkg", geometry(line((0, 0), (1, 1), (2, 0), code=8)))
ARC = [(0, 0), (1, 1), (2, 0)]
CURVES = [
    line(*ARC, code=8), several(9, line(*ARC, code=8), line((2, 0), (3, 0))), several(10, line((0, 0), (2, 0), (0, 0), code=8), polygon()[:0] + line((0.5, 0), (1, 0), (1, 0.5), (0.5, 0))),
    several(11, line(*ARC, code=8), line((5, 5), (6, 6))), several(12, several(10, line((0, 0), (2, 0), (0, 0), code=8)), polygon([(5, 5), (6, 5), (6, 6), (5, 5)])),
    several(7, point(1, 2), line(*ARC, code=8)), line((0, 0, 0), (1, 1, 9), (2, 0, 18), dim=XYM, code=8), line((0, 0, 0), (1, 1, 9), (2, 0, 18), dim=XYZ, code=8), line(code=8), point(7, 7),
]
simple("curves.gpkg", *(geometry(c) for c in CURVES))
(HERE / "curves.options").write_text('{"curves": "linearize"}\n')
simple("bad-compound.gpkg", geometry(several(9, line(*ARC, code=8), line((2, 1), (3, 0)))))
simple("bad-arc.gpkg", geometry(line(*ARC[:2], code=8)))
for name in ["compound", "arc"]:
    (HERE / f"bad-{name}.options").write_text('{"curves": "linearize"}\n')
simple("bad-surface.gpkg", geometry(several(15, polygon([(0, 0), (4, 0), (4, 4), (0, 0)]))))
simple("bad-text.gpkg", geometry(point(1, 2)))
with sqlite3.connect(HERE / "bad-text.gpkg") as db:
    db.execute("UPDATE t SET name = CAST(x'ff41' AS TEXT)")
db.close()

p = Package("types.gpkg")
p.table("t", """id INTEGER PRIMARY KEY AUTOINCREMENT, yes BOOLEAN, tiny TINYINT, small SMALLINT, medium MEDIUMINT, whole INT, big INTEGER, half FLOAT,
    x DOUBLE, y REAL, n NUMERIC, text TEXT(16) NOT NULL DEFAULT 'a', bytes BLOB(9), day DATE, at DATETIME, other VARCHAR(9), never DATETIME""", "attributes")
p.rows("t", (1, 1, -128, 32767, -2**31, 2**53 + 1, -2**63, 0.5, 0.1, 2, 1.5, "é", b"\0\xff", "2024-02-29", "2024-02-29T12:34:56.789Z", "v", None),
       (7, 0, 127, -32768, 2**31 - 1, 0, 2**63 - 1, -0.0, 1e300, 3.25, 7, "", b"", "1969-12-31", "2024-02-29 12:34:56+02:00", 12, None),
       (2**40, None, None, None, None, None, None, None, None, None, None, "𝄞", None, None, None, None, None),
       (2**41, 1, 0, 1, 300, 2**33, 2**47, 1.0, float("inf"), 2**40, 2, "z" * 700, b"b" * 40, "2000-01-01", "2000-01-01", 0.25, None))
p.close()

p = Package("layers.gpkg")
p.table("roads", "geom BLOB, fid INTEGER PRIMARY KEY")
p.table("owners", "name TEXT", "attributes")
p.table("Stops", '"geom" BLOB, [id] INTEGER, `n` TINYINT, CONSTRAINT k PRIMARY KEY (id) /* a comment */', srs=0)
p.run("CREATE TABLE loose (a TEXT)")
p.rows("roads", (geometry(line((1, 2), (3, 4))), 5))
p.rows("owners", ("a",), ("b",))
p.close()

p = Package("loose.gpkg")
p.table("points", "geom BLOB")
p.run("CREATE TABLE loose (a TEXT, b)")
p.rows("points", (geometry(point(1, 2)),), (None,))
p.rows("loose", ("a", 1), ("b", 2.5), (None, "c"))
p.close()

p = Package("default.gpkg")
p.table("t", "fid INTEGER PRIMARY KEY, geom BLOB")
p.rows("t", (1, geometry(point(1, 2))))
for column in ["a TEXT DEFAULT 'it''s'", "b INTEGER DEFAULT -7", "c DOUBLE DEFAULT 1.5e+3", "d BOOLEAN DEFAULT TRUE", "e BLOB DEFAULT x'4142'", "f TEXT", "g TINYINT NOT NULL DEFAULT (3)"]:
    p.run(f"ALTER TABLE t ADD COLUMN {column}")
p.rows("t", (2, geometry(point(3, 4)), "x", 1, 2.5, 0, b"c", "f", 4))
p.close()

p = Package("empty.gpkg")
p.table("t", "fid INTEGER PRIMARY KEY, geom BLOB, at DATETIME, d DATE, n MEDIUMINT")
p.close()

for name, kind in [("deep.gpkg", "auto_vacuum=NONE"), ("vacuum.gpkg", "auto_vacuum=FULL")]:
    p = Package(name, kind)
    p.table("t", "fid INTEGER PRIMARY KEY, geom BLOB, name TEXT, n INTEGER")
    p.rows("t", *((3 * i - 40, geometry(polygon(ring(i, -i, 1, 4 + (i % 20 == 7) * 70))) if i % 9 else None, f"row {i}", i * 10**i if i < 18 else None) for i in range(60)))
    p.run("DELETE FROM t WHERE n = 5")
    p.close()

p = Package("bad-value.gpkg")
p.table("t", "fid INTEGER PRIMARY KEY, geom BLOB, n INTEGER, yes BOOLEAN, at DATETIME, d DATE, m MEDIUMINT, x DOUBLE")
p.rows("t", (1, geometry(point(1, 2)), 1, 1, "2024-01-01T00:00:00Z", "2024-01-01", 1, 1.5), (2, geometry(point(3, 4)), "abc", 2, "soon", "2024-13-01", 2**31, "1,5"))
p.close()
for mode in ["skip", "null"]:
    shutil.copy(HERE / "bad-value.gpkg", HERE / f"{mode}-value.gpkg")
    (HERE / f"{mode}-value.options").write_text(f'{{"on_error": "{mode}"}}\n')
shutil.copy(HERE / "bad-wkb.gpkg", HERE / "null-wkb.gpkg")
(HERE / "null-wkb.options").write_text('{"on_error": "null"}\n')
shutil.copy(HERE / "bad-value.gpkg", HERE / "bad-journal.gpkg")
(HERE / "bad-journal.gpkg-journal").write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(504))

simple("undefined.gpkg", geometry(point(1, 2), srs=0))
with sqlite3.connect(HERE / "undefined.gpkg") as db:
    db.execute("UPDATE gpkg_geometry_columns SET srs_id = 0")
    db.execute("UPDATE gpkg_contents SET srs_id = 0")
db.close()

p = Package("json.gpkg")
p.table("t", "fid INTEGER PRIMARY KEY, a TEXT, b TEXT", "attributes")
p.run("CREATE TABLE gpkg_data_columns (table_name, column_name, mime_type)")
p.run("INSERT INTO gpkg_data_columns VALUES ('t', 'a', 'application/json'), ('t', 'b', 'application/json')")
p.rows("t", (1, '{"x": 1}', "[1]"), (2, None, "no JSON"))
p.close()

p = Package("numbers.gpkg")
p.table("t", "fid INTEGER PRIMARY KEY, half FLOAT, small SMALLINT, at DATETIME, sum INTEGER AS (small + 1) VIRTUAL, twice INTEGER AS (2 * small) STORED", "attributes")
p.run("INSERT INTO t VALUES (3, 0.1, 7, '2020-01-01T00:00:00.000001Z')")
p.close()

# One bad value in each file, which differ from GDAL's answer.
for name, (kind, value) in {"text": ("INTEGER", "abc"), "wide": ("MEDIUMINT", 99999999999), "bool": ("BOOLEAN", 2), "date": ("DATE", "2020-02-30"), "real": ("INTEGER", 1.5)}.items():
    p = Package(f"bad-{name}-value.gpkg")
    p.table("t", f"fid INTEGER PRIMARY KEY, a {kind}", "attributes")
    p.rows("t", (1, value))
    p.close()

for name, sql in {"bad-view.gpkg": "CREATE VIEW t AS SELECT * FROM r", "bad-rowid.gpkg": "CREATE TABLE t (a TEXT PRIMARY KEY, b INT) WITHOUT ROWID"}.items():
    p = Package(name)
    p.run("CREATE TABLE r (a TEXT)")
    p.run(sql)
    p.register("t", "attributes")
    p.close()
p = Package("bad-tiles.gpkg")
p.table("t", "tile BLOB", "tiles")
p.close()

# Trees that are damaged: the child of an interior page is its parent, a leaf, or a page that does not exist; a chain of overflow pages is a circle.
deep = (HERE / "deep.gpkg").read_bytes()
with sqlite3.connect(HERE / "deep.gpkg") as db:
    (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 't'").fetchone()
db.close()
at = (root - 1) * 512
first = struct.unpack(">H", deep[at + 12:at + 14])[0] + at  # of the cells of the interior page
(leaf,) = struct.unpack(">I", deep[first:first + 4])
second = struct.unpack(">H", deep[at + 14:at + 16])[0] + at
chain = next(i for i in range(leaf, len(deep) // 512) if deep[i * 512] == 0 and deep[i * 512:i * 512 + 4] != bytes(4) and deep[i * 512 + 4:i * 512 + 8] != bytes(4))
DAMAGE = {
    "cycle": (first, struct.pack(">I", root)), "twice": (second, struct.pack(">I", leaf)), "page": (first, struct.pack(">I", 9999)),
    "depth": (second, struct.pack(">I", 1)), "chain": (chain * 512, struct.pack(">I", chain + 1)), "cells": ((leaf - 1) * 512 + 3, struct.pack(">H", 300)),
    "type": ((leaf - 1) * 512, bytes([10])), "size": (16, struct.pack(">H", 1000)), "encoding": (56, struct.pack(">I", 4)), "reserved": (20, bytes([33])),
}
for name, (place, damage) in DAMAGE.items():
    (HERE / f"bad-{name}.gpkg").write_bytes(deep[:place] + damage + deep[place + len(damage):])
(HERE / "bad-end.gpkg").write_bytes(deep[:-600])
(HERE / "bad-nothing.gpkg").write_bytes(b"")
(HERE / "bad-format.gpkg").write_bytes(b"GPKG" * 30)

# The connection that writes stays open while its files are copied: a last one to be closed would remove the WAL.
p = Package("wal.gpkg", "journal_mode=WAL", "wal_autocheckpoint=0")
p.table("t", "fid INTEGER PRIMARY KEY, geom BLOB, name TEXT")
p.rows("t", *((i, geometry(point(i, i)), "old") for i in range(1, 9)))
p.run("PRAGMA wal_checkpoint(TRUNCATE)")
p.run("UPDATE t SET name = 'new' WHERE fid = 3")
p.rows("t", *((i, geometry(polygon(ring(i, i, 1, 50))), "in the WAL") for i in range(20, 22)))
copies = {ext: Path(f"{p.path}{ext}").read_bytes() for ext in ["", "-wal"]}
p.close()
for name, wal in {"wal.gpkg": copies["-wal"], "wal-cut.gpkg": copies["-wal"][:-100], "wal-stale.gpkg": b"\0" * 600}.items():
    (HERE / name).write_bytes(copies[""])
    (HERE / f"{name}-wal").write_bytes(wal)

import geopandas
import pyogrio
import shapely

frame = geopandas.GeoDataFrame({"n": [1, 2, 3], "name": ["a", None, "é"], "x": [0.5, -1.25, math.nan]},
                               geometry=[shapely.box(0, 0, 1, 2), shapely.box(5, 5, 7, 8).union(shapely.box(10, 10, 11, 11)), None], crs=25832)
(HERE / "gdal.gpkg").unlink(missing_ok=True)
pyogrio.set_gdal_config_options({"OGR_SQLITE_PRAGMA": "page_size=1024", "OGR_CURRENT_DATE": "2026-11-27T00:00:00.000Z"})
pyogrio.write_dataframe(frame, HERE / "gdal.gpkg", driver="GPKG", layer="boxes", layer_options={"SPATIAL_INDEX": "NO"})
