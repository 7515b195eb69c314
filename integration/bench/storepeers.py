"""One reader reads one object of a store once, in a process of its own:   storepeers.py READER URL [BOX]   prints a JSON line.

The environment has the store's address and credentials, as integration/stores.py gives them. The clock runs from the first request to the whole result in
memory. Imports and connections to a server of our own are outside of it. Every reader has all cores.
"""
import contextlib
import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

FETCHED = ROOT / ".duckdb"  # what `make spatial` fetches
EXTENSIONS = {"httpfs": FETCHED / "peers" / "httpfs.duckdb_extension", "spatial": FETCHED / "spatial.duckdb_extension"}
COLUMNS = ["id", "name", "height", "geometry"]
# One request may bring as much as one of ours, and what was fetched is kept.
TUNED = {"CPL_VSIL_CURL_CHUNK_SIZE": str(8 << 20), "CPL_VSIL_CURL_CACHE_SIZE": str(1 << 30), "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
         "CPL_VSIL_CURL_USE_HEAD": "YES", "GDAL_HTTP_MULTIPLEX": "NO", "GDAL_CACHEMAX": "512"}


class Missing(Exception):
    """What a reader needs is not on this machine."""


@contextlib.contextmanager
def clock(result):
    """Measures the reading; Reader functions enter it."""
    cpu, start = time.process_time(), time.perf_counter()
    yield
    result["seconds"], result["cpu_seconds"] = time.perf_counter() - start, time.process_time() - cpu


def endpoint():
    return os.environ["AWS_ENDPOINT_URL_S3"]


def key(url):
    """bucket/key of an s3:// URL."""
    return url.removeprefix("s3://").partition("?")[0]


def duckdb(*extensions):
    """A connection that reads s3://."""
    sys.path.insert(0, str(FETCHED / "python"))
    import duckdb
    connection = duckdb.connect()
    for name in extensions:
        path = EXTENSIONS[name]
        if not path.exists():
            raise Missing(f"{path}: make spatial fetches it")
        connection.execute(f"LOAD '{path}'")
    connection.execute("CREATE SECRET (TYPE s3, KEY_ID $id, SECRET $secret, REGION $region, ENDPOINT $endpoint, URL_STYLE 'path', USE_SSL false)", {
        "id": os.environ["AWS_ACCESS_KEY_ID"], "secret": os.environ["AWS_SECRET_ACCESS_KEY"], "region": os.environ["AWS_REGION"],
        "endpoint": endpoint().removeprefix("http://")})
    return connection, f"DuckDB {duckdb.__version__}"


def duckdb_bytes(url, _, result):
    """httpfs: the object as one text, without a parse."""
    connection, result["version"] = duckdb("httpfs")
    with clock(result):
        (length,) = connection.execute("SELECT sum(octet_length(content)) FROM read_blob($1)", [f"s3://{key(url)}"]).fetchone()
    result["bytes"] = int(length)


def duckdb_features(url, _, result):
    """httpfs and spatial: GDAL's GeoJSON driver reads through DuckDB's file system."""
    connection, result["version"] = duckdb("httpfs", "spatial")
    with clock(result):
        connection.execute("CREATE TEMP TABLE t AS SELECT * FROM ST_Read($1)", [f"s3://{key(url)}"])
    result["rows"] = connection.execute("SELECT count(*) FROM t").fetchone()[0]


def duckdb_box(url, box, result):
    """httpfs: statistics of the covering column prune row groups."""
    connection, result["version"] = duckdb("httpfs")
    xmin, ymin, xmax, ymax = box
    where = f"bbox.xmin <= {xmax} AND bbox.xmax >= {xmin} AND bbox.ymin <= {ymax} AND bbox.ymax >= {ymin}"
    with clock(result):
        table = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM read_parquet($1) WHERE {where}", [f"s3://{key(url)}"]).arrow()
        table = table.read_all() if hasattr(table, "read_all") else table
    result["rows"] = table.num_rows


def gdal(url, result, settings):
    os.environ.update(settings, AWS_S3_ENDPOINT=endpoint().removeprefix("http://"), AWS_HTTPS="NO", AWS_VIRTUAL_HOSTING="FALSE")
    import pyogrio
    result["version"] = f"pyogrio {pyogrio.__version__}, GDAL {pyogrio.__gdal_version_string__}"
    with clock(result):
        _, table = pyogrio.read_arrow(f"/vsis3/{key(url)}")
    result["rows"] = table.num_rows


def gdal_features(url, _, result):
    """/vsis3 with GDAL's defaults: chunks of 16 KiB that grow, a cache of 16 MiB."""
    gdal(url, result, {})


def gdal_features_tuned(url, _, result):
    """/vsis3 with chunks of 8 MiB and a cache that holds the object."""
    gdal(url, result, TUNED)


def gdal_box(url, box, result):
    import pyogrio
    if "Parquet" not in pyogrio.list_drivers():
        raise Missing("the GDAL of pyogrio's wheels has no Parquet driver")
    os.environ.update(TUNED, AWS_S3_ENDPOINT=endpoint().removeprefix("http://"), AWS_HTTPS="NO", AWS_VIRTUAL_HOSTING="FALSE")
    result["version"] = f"pyogrio {pyogrio.__version__}, GDAL {pyogrio.__gdal_version_string__}"
    with clock(result):
        _, table = pyogrio.read_arrow(f"/vsis3/{key(url)}", bbox=tuple(box))
    result["rows"] = table.num_rows


def arrow_files():
    import pyarrow
    from pyarrow import fs
    files = fs.S3FileSystem(access_key=os.environ["AWS_ACCESS_KEY_ID"], secret_key=os.environ["AWS_SECRET_ACCESS_KEY"], region=os.environ["AWS_REGION"],
                            endpoint_override=endpoint(), scheme="http")
    return files, f"pyarrow {pyarrow.__version__}"


def arrow_box(url, box, result):
    """pyarrow.dataset over S3FileSystem, with a filter on the covering column."""
    import pyarrow.dataset as ds
    from pyarrow import compute as pc
    files, result["version"] = arrow_files()
    xmin, ymin, xmax, ymax = box
    west, south, east, north = (pc.field("bbox", side) for side in ("xmin", "ymin", "xmax", "ymax"))
    where = (west <= xmax) & (east >= xmin) & (south <= ymax) & (north >= ymin)
    with clock(result):
        table = ds.dataset(key(url), filesystem=files).to_table(columns=COLUMNS, filter=where)
    result["rows"] = table.num_rows


def our_box(url, box, result):
    """A server without a cached table; a client that has connected asks it for the box. CPU time and memory are those of the server."""
    from pyarrow import flight
    from serving import BINARY, Server, vibeflight
    if not BINARY.exists():
        raise Missing(f"{BINARY}: make build")
    result["version"] = vibeflight("version").split("\n")[0]
    bucket, _, name = key(url).partition("/")
    log = os.environ["STORE_LOG"]
    with Server(f"s3://{bucket}?{url.partition('?')[2]}", "--no-sql") as server:
        client = server.client()
        client.wait_for_available(timeout=20)
        result["log_start"] = os.stat(log).st_size  # what comes before is the list of the folder
        before = server_cpu(server.process.pid)
        with clock(result):
            table = client.do_get(flight.Ticket(json.dumps({"name": name, "bbox": box}).encode())).read_all()
        result["cpu_seconds"] = server_cpu(server.process.pid) - before
        result["rss_peak"] = status(server.process.pid, "VmHWM")
        assert table.column_names == COLUMNS, table.column_names
    result["rows"] = table.num_rows


def server_cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def status(pid, name):
    """A size in /proc/PID/status, in bytes."""
    lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


READERS = {
    "duckdb-bytes": duckdb_bytes, "duckdb-features": duckdb_features, "gdal-features": gdal_features, "gdal-features-tuned": gdal_features_tuned,
    "duckdb-box": duckdb_box, "arrow-box": arrow_box, "gdal-box": gdal_box, "vibeflight-box": our_box,
}


def main():
    reader, url = sys.argv[1:3]
    box = json.loads(sys.argv[3]) if len(sys.argv) > 3 else None
    result = {}
    try:
        READERS[reader](url, box, result)
        result.setdefault("rss_peak", status("self", "VmHWM"))
    except (Missing, ImportError) as missing:
        result = {"skipped": str(missing)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
