"""One peer reads one file once, in a process of its own:   peers.py PEER FILE [COORDINATES]   prints a JSON line.

The clock runs from the open file to the whole table in memory, geometry and every attribute. Imports are outside of it, and so is
counting the positions afterwards, which shows that the peer has read the same file. A peer has one thread, or any number as "PEER, all cores".
"""
import json
import os
import pathlib
import resource
import sys
import time
import typing

import shapely

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from differences.csv import SETTINGS  # noqa: E402

ALL_CORES = ", all cores"


class Reader(typing.NamedTuple):
    version: str
    read: typing.Callable  # gives a table
    rows: typing.Callable  # of the table
    shapes: typing.Callable | None  # the table's geometry as Shapely objects; None: the peer leaves coordinates in columns, or there is no geometry


def pyogrio_reader(path, _):
    """GDAL through pyogrio, as Arrow: geometry is WKB. Types of CSV are guessed from the first megabyte: over the whole file takes a third longer."""
    import pyogrio
    path.with_suffix(".gfs").unlink(missing_ok=True)  # what GDAL found about GML in an earlier read
    settings = {k: v for k, v in SETTINGS.items() if k != "AUTODETECT_SIZE_LIMIT"} if path.suffix == ".csv" else {}

    layer = path.name.partition("#")[2] or None
    path = path.with_name(path.name.partition("#")[0])

    def shapes(found):
        meta, table = found
        return shapely.from_wkb(table[meta["geometry_name"] or "wkb_geometry"].to_numpy())

    return Reader(f"pyogrio {pyogrio.__version__}, GDAL {pyogrio.__gdal_version_string__}", lambda: pyogrio.read_arrow(path, layer=layer, **settings),
                  lambda found: len(found[1]), None if path.suffix in (".dbf", ".xlsx") else shapes)


def duckdb_reader(path, threads):
    """DuckDB into a table of its own, which has GEOMETRY for GeoJSON and WKT. Points of two columns need an extension that its wheel has not."""
    import duckdb
    con = duckdb.connect()
    if threads:
        con.execute(f"SET threads={threads}")
    source, geometry = {
        ".geojson": ("SELECT * FROM read_json(?)", None),
        ".geojsonl": ("SELECT * FROM read_json(?)", None),
        ".csv": ("SELECT * REPLACE (wkt::GEOMETRY AS wkt) FROM read_csv(?)" if path.stem == "wkt" else "SELECT * FROM read_csv(?)", "wkt"),
        ".wkt": ("SELECT wkt::GEOMETRY AS wkt FROM read_csv(?, columns={'wkt': 'VARCHAR'}, header=false, delim='|', quote='', escape='')", "wkt"),
    }[path.suffix]

    def read():
        con.execute(f"CREATE TEMP TABLE t AS {source}", [str(path)])
        return con

    def shapes(con):
        name = geometry or next(row[0] for row in con.execute("DESCRIBE t").fetchall() if row[1].startswith("GEOMETRY"))
        return shapely.from_wkb(con.sql(f'SELECT ST_AsWKB("{name}") AS g FROM t').to_arrow_table()["g"].to_numpy())

    return Reader(f"DuckDB {duckdb.__version__}", read, lambda con: con.execute("SELECT count(*) FROM t").fetchone()[0],
                  None if path.name == "points.csv" else shapes)


def pandas_reader(path, _):
    """The usual way to read CSV with GeoPandas: pandas, then points from two columns."""
    import geopandas
    import pandas

    def read():
        frame = pandas.read_csv(path)
        return geopandas.GeoDataFrame(frame, geometry=geopandas.points_from_xy(frame.lon, frame.lat))

    return Reader(f"pandas {pandas.__version__}, GeoPandas {geopandas.__version__}", read, len, lambda frame: frame.geometry.to_numpy())


def polars_reader(path, threads):
    """Polars: coordinates stay columns, dates are found."""
    if threads:
        os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars
    return Reader(f"Polars {polars.__version__}", lambda: polars.read_csv(path, try_parse_dates=True), len, None)


def geoarrow_reader(path, threads):
    """pyarrow reads the text, geoarrow-c the WKT in it."""
    import geoarrow.pyarrow as ga
    import pyarrow
    import pyarrow.csv as csv
    options = csv.ReadOptions(use_threads=not threads)

    def read():
        table = csv.read_csv(path, read_options=options)
        at = table.schema.get_field_index("wkt")
        return table.set_column(at, "wkt", ga.as_geoarrow(ga.as_wkt(table["wkt"]), ga.polygon()))

    return Reader(f"pyarrow {pyarrow.__version__}, geoarrow-c", read, len,
                  lambda table: shapely.from_wkb(pyarrow.chunked_array([c.storage for c in ga.as_wkb(table["wkt"]).chunks]).to_numpy()))


def shapely_reader(path, _):
    """Shapely, which is GEOS, line by line."""
    return Reader(f"Shapely {shapely.__version__}, GEOS {shapely.geos_version_string}", lambda: shapely.from_wkt(path.read_text().splitlines()), len,
                  lambda shapes: shapes)


READERS = {"pyogrio": pyogrio_reader, "duckdb": duckdb_reader, "pandas": pandas_reader, "polars": polars_reader, "geoarrow": geoarrow_reader,
           "shapely": shapely_reader}


def peak_anonymous():
    """Peak resident memory minus the present file mappings: close to the peak of anonymous memory."""
    status = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
    kib = lambda name: int(status[name].split()[0])
    return (kib("VmHWM") - kib("RssFile")) * 1024


def cpu_seconds():
    """User and system time of all threads so far; os.times has a resolution of only 10 ms."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(peer, path):
    """Reads once and returns the measurements, and the geometry, or None for a peer without one."""
    threads = 0 if peer.endswith(ALL_CORES) else 1
    reader = READERS[peer.removesuffix(ALL_CORES)](path, threads)
    before, start = cpu_seconds(), time.perf_counter()
    table = reader.read()
    seconds, after = time.perf_counter() - start, cpu_seconds()
    peak = peak_anonymous()
    shapes = None if reader.shapes is None else reader.shapes(table)
    return {
        "peer": peer, "version": reader.version, "file": str(path), "rows": reader.rows(table),
        "positions": None if shapes is None else int(shapely.count_coordinates(shapes)), "seconds": seconds,
        "cpu_seconds": after - before, "rss_anon_peak": peak,
    }, shapes


def main():
    peer, path = sys.argv[1], pathlib.Path(sys.argv[2])
    result, shapes = measure(peer, path)
    if len(sys.argv) > 3 and shapes is not None:  # the coordinates, for the comparison bit by bit
        import numpy
        numpy.save(sys.argv[3], shapely.get_coordinates(shapes, include_z=True))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
