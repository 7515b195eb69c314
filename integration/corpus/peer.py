"""GDAL's table of each file, kept in .corpus/gdal, since GDAL changes less often than the parser."""
import datetime
import json
import os
import pathlib
import re
import signal
import time
import warnings
import zipfile

import pyarrow as pa
import pyogrio
import pyogrio.raw  # before a process is forked, so that no child imports anything

from kinds import holds, is_geodatabase, is_table

SECONDS = 60  # for one file
MEMORY = 4 << 30  # of one process
DRIVERS = {"GeoJSON", "GeoJSONSeq", "CSV", "ESRI Shapefile", "KML", "LIBKML", "GML", "FlatGeobuf", "GPKG", "OpenFileGDB", "OSM", "GPX", "TopoJSON",
           "ESRIJSON", "XLSX"}
WITH_FIDS = {"GPKG", "OpenFileGDB"}  # their files have a column of identifiers, which pyogrio leaves out unless asked
ZONED = {"GPKG", "OpenFileGDB", "OSM", "GPX", "TopoJSON", "ESRIJSON"}
CSV = {  # what vibeflight finds by itself and GDAL needs as an option
    "AUTODETECT_TYPE": "YES", "AUTODETECT_SIZE_LIMIT": "0", "KEEP_GEOM_COLUMNS": "NO",
    "X_POSSIBLE_NAMES": "x,lon,long,lng,longitude,easting", "Y_POSSIBLE_NAMES": "y,lat,latitude,northing",
    "GEOM_POSSIBLE_NAMES": "wkt,wkb,geom,geometry,the_geom,shape",
}
XLSX = {"HEADERS": "FORCE"}  # whether a sheet has a header is a guess, and GDAL's is another one
SETTINGS = {r"\.[ct]sv(\.gz)?$": CSV, r"\.xls[xm]$": XLSX}


def answer(path, folder):
    """GDAL's answer about a file: a dictionary with its layers or its error; their tables are in folder, as N.arrow."""
    kept = folder / "answer.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        found = apart(lambda: read(path, folder))
        whole = kept.with_suffix(".new")
        whole.write_text(json.dumps(found))
        whole.replace(kept)
    return json.loads(kept.read_text())


def apart(work):
    """The result of work in a separate process, which may crash, hang or need too much memory."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(here)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        limit_memory()
        try:
            found = work()
        except BaseException as e:  # whatever a peer raises
            found = {"error": f"{type(e).__name__}: {e}"}
        try:
            os.write(there, json.dumps(found).encode())
        finally:
            os._exit(0)
    os.close(there)
    return waited(child, here)


def limit_memory():
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def waited(child, pipe):
    """The answer that a child writes into a pipe, or how it ended."""
    deadline, text = time.monotonic() + SECONDS, b""
    os.set_blocking(pipe, False)
    while True:
        try:
            piece = os.read(pipe, 1 << 16)
            if not piece:
                break
            text += piece
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                break
            time.sleep(0.001)
    os.close(pipe)
    _, status = os.waitpid(child, 0)
    if text:
        return json.loads(text)
    return {"error": "time limit" if os.WIFSIGNALED(status) and time.monotonic() > deadline else f"crash: status {status}"}


def read(path, folder):
    warnings.simplefilter("ignore")
    source = inside(path) or (f"/vsigzip/{path}" if path.suffix == ".gz" else path)
    settings = next((options for pattern, options in SETTINGS.items() if re.search(pattern, path.name, re.I)), {})
    layers = []
    for number, (name, _) in enumerate(pyogrio.list_layers(source)):
        info = pyogrio.read_info(source, layer=name)
        if info["driver"] not in DRIVERS:
            return {"error": f"read as {info['driver']}"}
        fids = info["driver"] in WITH_FIDS
        meta, table = pyogrio.read_arrow(source, layer=name, return_fids=fids, **settings)
        if info["driver"] in ZONED and any(map(naive, table.schema.types)):
            table = with_zones(table, pyogrio.read_arrow(source, layer=name, return_fids=fids, datetime_as_string=True, **settings)[1])
        geometry = meta["geometry_name"] or "wkb_geometry"
        with pa.OSFile(str(folder / f"{number}.arrow"), "wb") as f, pa.ipc.new_file(f, table.schema) as out:
            out.write_table(table)
        layers.append({"name": name, "rows": table.num_rows, "crs": meta["crs"], "geometry": geometry, "driver": info["driver"],
                       "fid": meta.get("fid_column") or None})
    return {"layers": layers}


def naive(type):
    return pa.types.is_timestamp(type) and type.tz is None


def with_zones(table, texts):
    """A table whose times are instants where GDAL's text of each has an offset: Arrow's columns have the local time and no offset."""
    for i, field in enumerate(table.schema):
        if naive(field.type):
            times = [t and datetime.datetime.fromisoformat(t.replace("/", "-")) for t in texts[field.name].to_pylist()]
            if all(t is None or t.tzinfo is not None for t in times):
                table = table.set_column(i, field.name, pa.array(times, pa.timestamp("ms", "UTC")))
    return table


def inside(path):
    """The File Geodatabase in an archive, which GDAL finds by itself only in .gdb.zip."""
    if path.suffix == ".zip" and path.is_file() and holds(path.read_bytes(), is_geodatabase) and not holds(path.read_bytes(), is_table):
        with zipfile.ZipFile(path) as z:
            return f"/vsizip/{path}/" + next(n for n in z.namelist() if is_geodatabase(n)).rpartition("/")[0]
    return None


def table(folder, number):
    with pa.OSFile(str(pathlib.Path(folder) / f"{number}.arrow")) as f:
        return pa.ipc.open_file(f).read_all()
