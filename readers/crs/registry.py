"""Writes data/: the coordinate reference systems of PROJ's database, in the pyproj wheel that
integration/requirements.lock names. pyarrow packs them. Run it in this folder:

    ../../.venv/bin/python registry.py

Equal versions of pyproj and pyarrow give equal bytes. It takes some minutes. Three files:

    index.zst        text. Line 1 and 2: of each block of definitions.bin and of wkt.bin, the
                     number of its first system, ":", its offset in the file. Then a line a system,
                     by authority and code, fields between tabs: authority, code, kind, number of
                     axes, flags ("n": the axes are north, then east; "d": deprecated), the name,
                     other names. After an empty line: a datum or ellipsoid a line, all its names.
    definitions.bin  blocks of zstd: PROJJSON, a line a system
    wkt.bin          blocks of zstd: the WKT 1 of ESRI, a tab, the WKT 1 of GDAL, a line a system
"""
import json
import re
import sqlite3
import warnings
from pathlib import Path

import pyarrow as pa
import pyproj
from pyproj import CRS
from pyproj.database import query_crs_info

warnings.simplefilter("ignore")

AUTHORITIES = ("EPSG", "ESRI", "IAU_2015", "IGNF", "OGC")
BLOCK_BYTES = 256 << 10
KINDS = {
    "GEOGRAPHIC_2D_CRS": "geographic", "GEOGRAPHIC_3D_CRS": "geographic", "GEODETIC_CRS": "geocentric",
    "GEOCENTRIC_CRS": "geocentric", "PROJECTED_CRS": "projected", "VERTICAL_CRS": "vertical",
    "COMPOUND_CRS": "compound",
}  # fmt: skip
DATA = Path(__file__).parent / "data"
DATABASE = sqlite3.connect(Path(pyproj.datadir.get_data_dir()) / "proj.db")
PACKED = pa.Codec("zstd", compression_level=19)


def aliases(tables):
    """The other names of objects, by authority and code."""
    query = f"SELECT auth_name, code, alt_name FROM alias_name WHERE table_name IN ({','.join('?' * len(tables))}) ORDER BY source, alt_name"
    found = {}
    for authority, code, name in DATABASE.execute(query, tables):
        found.setdefault((authority, code), []).append(name)
    return found


def wkt1(crs, version):
    try:
        return re.sub(r"[\t\r\n]+", " ", crs.to_wkt(version) or "")
    except pyproj.exceptions.CRSError:
        return ""  # WKT 1 cannot say it


def line(crs, info, other):
    """The line of a system in the index, and its WKT."""
    axes = [a.direction.lower() for a in crs.axis_info]
    kind = KINDS[info.type.name]
    flags = ("n" if axes[:2] == ["north", "east"] and kind != "geocentric" else "") + ("d" if info.deprecated else "")
    texts = [wkt1(crs, "WKT1_ESRI"), wkt1(crs, "WKT1_GDAL")]
    names = [info.name, *other.get((info.auth_name, info.code), [])]
    names += [m[1] for t in texts if (m := re.match(r'\w+\["([^"]*)"', t))]
    fields = [info.auth_name, info.code, kind, str(len(axes)), flags, *dict.fromkeys(names)]
    return "\t".join(fields), "\t".join(texts)


def packed(path, lines):
    """Writes lines in blocks, and gives the first line of the index on them."""
    out, blocks, start, size = b"", [], 0, 0
    for i, text in enumerate(lines):
        size += len(text.encode()) + 1
        if size >= BLOCK_BYTES or i == len(lines) - 1:
            blocks.append(f"{start}:{len(out)}")
            out += PACKED.compress(("\n".join(lines[start : i + 1]) + "\n").encode(), asbytes=True)
            start, size = i + 1, 0
    path.write_bytes(out)
    return " ".join(blocks)


def main():
    DATA.mkdir(exist_ok=True)
    other = aliases(["geodetic_crs", "projected_crs", "vertical_crs", "compound_crs"])
    systems, definitions, texts = [], [], []
    for authority in AUTHORITIES:
        found = query_crs_info(authority, allow_deprecated=True)
        for info in sorted(found, key=lambda info: (int(info.code) if info.code.isdigit() else 0, info.code)):
            crs = CRS.from_authority(authority, info.code)
            system, text = line(crs, info, other)
            systems.append(system)
            texts.append(text)
            definitions.append(json.dumps(crs.to_json_dict(), ensure_ascii=False, separators=(",", ":")))
    head = [packed(DATA / "definitions.bin", definitions), packed(DATA / "wkt.bin", texts)]
    datums = []
    for table in ("geodetic_datum", "vertical_datum", "ellipsoid"):
        other = aliases([table])
        for authority, code, name in DATABASE.execute(f"SELECT auth_name, code, name FROM {table} ORDER BY auth_name, code"):
            names = list(dict.fromkeys([name, *other.get((authority, code), [])]))
            if len(names) > 1 and authority in AUTHORITIES:
                datums.append("\t".join(names))
    index = "\n".join([*head, *systems, "", *datums]) + "\n"
    (DATA / "index.zst").write_bytes(PACKED.compress(index.encode(), asbytes=True))
    print(len(systems), "systems,", len(datums), "datums and ellipsoids")
    print({p.name: p.stat().st_size for p in sorted(DATA.iterdir())})


if __name__ == "__main__":
    main()
