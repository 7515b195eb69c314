"""Reads the files of `get -o` with GDAL, GeoPandas and DuckDB, and makes each value comparable with the table that was written."""
import datetime
import json
import math
import os
import pickle
import struct
import subprocess
import sys
import typing

import geopandas
import numpy as np
import pandas
import pyarrow as pa
import pyogrio
import shapely
import sql
from serving import ROOT

CSV_OPTIONS = {"GEOM_POSSIBLE_NAMES": "geometry", "KEEP_GEOM_COLUMNS": "NO", "EMPTY_STRING_AS_NULL": "YES"}


class Read(typing.NamedTuple):
    """A reader's result: its columns as lists, its geometries as shapely objects, and its reference system, or ... if the reader does not report it."""
    columns: dict
    shapes: list
    crs: object


def gdal(path):
    """GDAL's own columns, as Arrow."""
    options = CSV_OPTIONS if path.suffix == ".csv" else {}
    meta, table = pyogrio.read_arrow(path, **options)
    name = meta["geometry_name"] or "wkb_geometry"
    shapes = shapely.from_wkb([g for g in table[name].to_pylist()])
    return Read({c: table[c].to_pylist() for c in table.column_names if c != name}, list(shapes), meta["crs"])


def geopandas_file(path):
    options = CSV_OPTIONS if path.suffix == ".csv" else {}
    return of_frame(geopandas.read_file(path, **options))


def geopandas_parquet(path):
    return of_frame(geopandas.read_parquet(path))


def geopandas_arrow(path):
    with pa.memory_map(str(path)) as f:
        table = (pa.ipc.open_file if path.suffix == ".arrow" else pa.ipc.open_stream)(f).read_all()
    return of_frame(geopandas.GeoDataFrame.from_arrow(table))


def of_frame(frame):
    columns = {c: [None if missing(v) else v for v in frame[c]] for c in frame.columns if c != "geometry"}
    return Read(columns, list(frame.geometry), frame.crs)


def missing(v):
    return v is None or v is pandas.NaT or v is pandas.NA or isinstance(v, float) and math.isnan(v)


def duckdb_query(path):
    """What DuckDB reads a file with: of Parquet the geometry comes by its own metadata, of CSV by ST_GeomFromText, of others by the GDAL in its spatial extension."""
    if path.suffix == ".parquet":
        return f"SELECT * REPLACE (ST_AsWKB(geometry) AS geometry), ST_CRS(geometry) AS crs_ FROM read_parquet('{path}')"
    if path.suffix == ".csv":
        text = f"SELECT * FROM read_csv('{path}', header = true, all_varchar = true, allow_quoted_nulls = false)"
        return f"SELECT * REPLACE (ST_AsWKB(ST_GeomFromText(geometry)) AS geometry), NULL AS crs_ FROM ({text})"
    if path.suffix == ".gpkg":
        return f"SELECT * EXCLUDE (geometry, fid), ST_AsWKB(geometry) AS geometry, ST_CRS(geometry) AS crs_ FROM ST_Read('{path}')"
    return f"SELECT * EXCLUDE (geom, OGC_FID), ST_AsWKB(geom) AS geometry, ST_CRS(geom) AS crs_ FROM ST_Read('{path}')"


def of_duckdb(answer):
    if isinstance(answer, str):
        raise RuntimeError(answer)
    columns = {c: answer[c].to_pylist() for c in answer.column_names if c not in ("geometry", "crs_")}
    said = set(answer["crs_"].to_pylist())
    return Read(columns, list(shapely.from_wkb(answer["geometry"].to_pylist())), said.pop() if len(said) == 1 else None)


def duckdb(paths):
    """Answers of the DuckDB for which the spatial extension is made, all by one process: {path: Arrow table, or error as text}."""
    modules = os.pathsep.join([str(sql.FETCHED / "python"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, ROOT / "integration" / "sqlpeer.py"], env={**os.environ, "PYTHONPATH": modules}, check=True, timeout=300,
                          input=pickle.dumps((str(sql.FETCHED / "spatial.duckdb_extension"), {}, [duckdb_query(p) for p in paths])), stdout=subprocess.PIPE)
    _, answers = pickle.loads(done.stdout)
    return {p: a if isinstance(a, str) else pa.ipc.open_stream(a).read_all() for p, a in zip(paths, answers, strict=True)}


def alike(want, got):
    """got as a value of want's kind: a reader may have text where the table has a date or a nested value, and a number where it has an integer. A
    value that can't be converted exactly stays unchanged, and differs."""
    if isinstance(got, np.ndarray):
        got = got.tolist()
    if got is None or want is None or type(want) is type(got) and not isinstance(want, datetime.datetime):
        return comparable(got)
    try:
        if isinstance(got, pandas.Timestamp):
            got = got.to_pydatetime()
        if hasattr(got, "item"):
            got = got.item()
        if isinstance(want, bool):
            return {"true": True, "false": False, 1: True, 0: False}[got]
        if isinstance(want, int):
            return int(got) if int(got) == got or isinstance(got, str) else got
        if isinstance(want, float):
            return comparable(float(got))
        if isinstance(want, datetime.datetime):
            at = got if isinstance(got, datetime.datetime) else datetime.datetime.fromisoformat(got)
            return at if (at.tzinfo is None) == (want.tzinfo is None) else ("another zone", at)
        if isinstance(want, datetime.date):
            at = got if isinstance(got, datetime.datetime) else datetime.datetime.fromisoformat(str(got))
            return at.date() if at == datetime.datetime(at.year, at.month, at.day) else at
        if isinstance(want, datetime.time):
            return got if isinstance(got, datetime.time) else datetime.time.fromisoformat(got)
        if isinstance(want, (list, dict)):
            return json.loads(got) if isinstance(got, str) else got
    except (ValueError, KeyError, TypeError):
        pass
    return got


def comparable(v):
    """A value whose equality is that of its bits."""
    return struct.pack(">d", v) if isinstance(v, float) else v


def values(column):
    """A column's values; nested ones as in JSON."""
    column = column.combine_chunks()
    if isinstance(column.type, pa.BaseExtensionType) and column.type.extension_name == "arrow.json":
        return [None if v is None else json.loads(v) for v in column.cast(pa.string()).to_pylist()]
    return column.to_pylist()


MULTI = {0: (4, shapely.multipoints), 1: (5, shapely.multilinestrings), 3: (6, shapely.multipolygons)}  # by shapely's numbers of kinds


def same_shape(a, b, promoted=False):
    """Equal kinds, parts and ordinates; with promoted, a single one may have become its Multi kind. Emptiness has no dimension."""
    if a is None or b is None:
        return a is b
    kind, many = MULTI.get(shapely.get_type_id(a), (None, None))
    if promoted and shapely.get_type_id(b) == kind and not shapely.is_empty(a):
        a = many([a])
    if shapely.is_empty(a) and shapely.is_empty(b):
        return shapely.get_type_id(b) in (shapely.get_type_id(a), kind if promoted else None)
    return bool(shapely.equals_identical(a, b))
