"""One peer reads one file once, in a process of its own:   peers.py PEER FILE   prints a JSON line.

The clock runs from the open file to the whole table in memory, geometry and every attribute. Imports are outside of it, and so is
counting the positions afterwards, which shows that the peer has read what we have read.
"""
import json
import os
import pathlib
import sys
import time

import shapely


def pyogrio_reader(path):
    """GDAL through pyogrio, as Arrow: geometry is WKB."""
    import pyogrio
    return f"pyogrio {pyogrio.__version__}, GDAL {pyogrio.__gdal_version_string__}", lambda: pyogrio.read_arrow(path)[1], (
        lambda table: table["wkb_geometry"])


def duckdb_reader(path):
    """DuckDB's own GeoJSON reader into a table of its own: geometry is GEOMETRY. It reads one file with one thread."""
    import duckdb
    con = duckdb.connect()
    con.execute("SET threads=1")

    def read():
        con.execute("CREATE TEMP TABLE t AS SELECT * FROM read_json(?)", [path])
        return con

    def geometry(con):
        names = [row[0] for row in con.execute("DESCRIBE t").fetchall() if row[1].startswith("GEOMETRY")]
        return con.sql(f'SELECT ST_AsWKB("{names[0]}") AS g FROM t').to_arrow_table()["g"]

    return f"DuckDB {duckdb.__version__}", read, geometry


READERS = {"pyogrio": pyogrio_reader, "duckdb": duckdb_reader}


def peak_anonymous():
    """Peak resident memory less what is mapped from files now: close to the peak of anonymous memory."""
    status = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    kib = lambda name: int(status[name].split()[0])
    return (kib("VmHWM") - kib("RssFile")) * 1024


def measure(peer, path):
    """Reads once and gives what it took, and the geometry column as WKB."""
    version, read, geometry = READERS[peer](path)
    before, start = os.times(), time.perf_counter()
    table = read()
    seconds, after = time.perf_counter() - start, os.times()
    peak = peak_anonymous()
    shapes = shapely.from_wkb(geometry(table).to_numpy())
    return {
        "peer": peer, "version": version, "file": path, "bytes": os.path.getsize(path), "rows": len(shapes),
        "positions": int(shapely.count_coordinates(shapes)), "seconds": seconds,
        "cpu_seconds": after.user + after.system - before.user - before.system, "rss_anon_peak": peak,
    }, shapes


def main():
    peer, path = sys.argv[1:3]
    result, shapes = measure(peer, path)
    if len(sys.argv) > 3:  # the coordinates, for the comparison bit by bit
        import numpy
        numpy.save(sys.argv[3], shapely.get_coordinates(shapes, include_z=True))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
