"""Spark, Ray, Dask and Daft give the rows of one DoGet, each once, also if the server is killed in the middle of their job.

The engines are packages of .venv-distributed, which `make test-distributed` installs.
"""
import datetime
import decimal
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from cutting import Cut
from serving import ROOT, Server

import vibeflight

CLIENT = str(ROOT / "clients" / "python" / "src")
ROWS = 540_000  # three endpoints
CUT_BYTES = 12_000_000  # of about 60 MB
KILLED_COLUMNS = ["n", "name", "ratio", "geometry"]
ADDRESS = "grpc://127.0.0.1:8815"


def engine(module, *more):
    """Skips the tests of an engine that is not installed."""
    missing = [name for name in (module, *more) if importlib.util.find_spec(name) is None]
    if module == "pyspark" and not missing and not shutil.which("java"):
        return pytest.mark.skip(reason="there is no java here, which Spark needs")
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed here: make test-distributed has it")


@pytest.fixture(scope="module", autouse=True)
def importable():
    """The engines' workers find our package."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = CLIENT
    yield
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A GeoParquet file with a column of each type that all engines have, and nulls."""
    folder = tmp_path_factory.mktemp("distributed")
    i = np.arange(ROWS)
    missing = i % 7 == 3
    x, y = i % 3600 / 10 - 180, i // 3600 / 2 - 80
    lines = shapely.linestrings(np.stack([np.stack([x, y], 1), np.stack([x + 0.05, y + i % 5 / 10], 1)], 1))
    lines[missing] = None
    noon = np.datetime64(datetime.datetime(2026, 3, 29, 12), "us")
    columns = {
        "n": pa.array(i, pa.int32()),
        "name": pa.array([f"street {k} ü" for k in range(ROWS)]),
        "ratio": pa.array(i / 3, mask=missing),
        "small": pa.array(i % 100, pa.int16()),
        "big": pa.array(i * 1_000_003_000_000, pa.int64(), mask=missing),
        "unsigned": pa.array(i + 3_000_000_000, pa.uint32()),
        "huge": pa.array(2**64 - 1 - i.astype("uint64"), pa.uint64(), mask=missing),
        "amount": pa.array([decimal.Decimal(k).scaleb(-2) for k in range(ROWS)], pa.decimal128(12, 2)),
        "clock": pa.array(i.astype("int32"), pa.time32("ms")),
        "yes": pa.array(i % 2 == 0, mask=missing),
        "day": pa.array((i % 20_000).astype("datetime64[D]"), pa.date32()),
        "at": pa.array(noon + i.astype("timedelta64[s]"), pa.timestamp("us", "UTC"), mask=missing),
        "local": pa.array(noon + i.astype("timedelta64[ms]"), pa.timestamp("ms")),
        "tags": pa.array([["a", None, str(k % 3)] if k % 4 else None for k in range(ROWS)], pa.list_(pa.string())),
        "blob": pa.array([bytes([k % 256]) * (k % 4) for k in range(ROWS)], pa.binary()),
        "geometry": pa.array(shapely.to_wkb(lines), pa.binary()),
    }
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["LineString"]}}}
    pq.write_table(pa.table(columns).replace_schema_metadata({"geo": json.dumps(geo)}), folder / "streets.parquet", row_group_size=100_000)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def streets(folder, cache):
    """A server over the file."""
    with Server(folder, cache=cache) as server:
        server.client().do_get(pa.flight.Ticket("streets.parquet")).read_all()
        server.wait_until_saved()
        yield server


@pytest.fixture(scope="module")
def whole(streets):
    """whole(**fields) is the table by one DoGet."""
    def read(**fields):
        return streets.client().do_get(pa.flight.Ticket(json.dumps({"name": "streets.parquet", **fields}))).read_all()
    return read


@pytest.fixture
def cut(streets, folder, cache):
    """A server over the same file that is killed once in the middle of a job."""
    with Cut(folder, cache, CUT_BYTES) as c:
        yield c
        assert c.kills == 1, "the job was over before the server was killed"


def check_same(got, want):
    """Whether a table of an engine has the rows of a DoGet, in any order, with the types of the engine."""
    assert got.num_rows == want.num_rows
    assert got.schema.names == want.schema.names
    got, want = (table.take(pa.compute.sort_indices(table["n"])).combine_chunks() for table in (got, want))
    want = want.cast(got.schema)
    for name in want.schema.names:
        assert got[name].equals(want[name]), name


# Spark


@pytest.fixture(scope="module")
def spark():
    """A cluster of two workers with an executor each."""
    pyspark = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        pyspark.SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g").config("spark.task.maxFailures", "1")
        .config("spark.executorEnv.PYTHONPATH", CLIENT).config("spark.sql.session.timeZone", "UTC").getOrCreate()
    )  # fmt: skip
    import vibeflight.spark

    session.dataSource.register(vibeflight.spark.Table)
    yield session
    session.stop()


def spark_frame(spark, uri, **options):
    reader = spark.read.format("vibeflight").option("server", uri)
    for key, value in options.items():
        reader = reader.option(key, value)
    return reader.load("streets.parquet")


@engine("pyspark")
def test_spark(spark, streets, whole):
    frame = spark_frame(spark, streets.uri)
    assert frame.rdd.getNumPartitions() == 3
    assert frame.count() == ROWS
    check_same(frame.toArrow(), whole(geometry_encoding="wkb"))
    geometry = frame.schema["geometry"]
    assert geometry.dataType.simpleString() == "binary" and geometry.metadata["ARROW:extension:name"] == "geoarrow.wkb"
    assert "CRS84" in geometry.metadata["ARROW:extension:metadata"]


@engine("pyspark")
def test_spark_selects(spark, streets, whole):
    bbox = [0, -60, 90, 40]
    frame = spark_frame(spark, streets.uri, columns="n, geometry", bbox="0,-60,90,40")
    check_same(frame.toArrow(), whole(columns=["n", "geometry"], bbox=bbox, geometry_encoding="wkb"))
    assert frame.where("n % 2 = 0").count() == sum(n % 2 == 0 for n in whole(columns=["n"], bbox=bbox)["n"].to_pylist())
    own = spark.read.format("vibeflight").option("server", streets.uri).schema("small LONG, n LONG").load("streets.parquet")
    assert own.toArrow().schema.names == ["small", "n"] and own.agg({"n": "sum"}).collect() == [(ROWS * (ROWS - 1) // 2,)]


@engine("pyspark")
def test_spark_with_filter_pushdown(spark, streets):
    """With it enabled, Spark still evaluates the filters."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        assert spark_frame(spark, streets.uri, columns="n").where("n >= 10 AND n < 15").count() == 5
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


@engine("pyspark")
def test_spark_server_killed(spark, cut, whole):
    frame = spark_frame(spark, cut.uri, columns=",".join(KILLED_COLUMNS))
    check_same(frame.toArrow(), whole(columns=KILLED_COLUMNS, geometry_encoding="wkb"))


@engine("pyspark")
def test_spark_errors(spark, streets):
    with pytest.raises(Exception, match="option table is missing"):
        spark.read.format("vibeflight").load()
    with pytest.raises(Exception, match="streets.parquet"):
        spark.read.format("vibeflight").option("server", streets.uri).load("street.parquet")


# Ray


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=500_000_000, log_to_driver=False)
    import ray.data

    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def ray_table(ray, rows):
    return pa.concat_tables(ray.get(rows.to_arrow_refs()))


@engine("ray")
def test_ray(ray, streets, whole):
    import vibeflight.ray

    rows = vibeflight.ray.read(streets.uri, "streets.parquet")
    assert rows.count() == ROWS
    got, want = ray_table(ray, rows), whole()
    check_same(got, want)
    geometry = got.schema.field("geometry")
    assert geometry.equals(want.schema.field("geometry"), check_metadata=True) and geometry.metadata[b"ARROW:extension:name"] == b"geoarrow.linestring"


@engine("ray")
def test_ray_selects(ray, streets, whole):
    import vibeflight.ray

    rows = vibeflight.ray.read(streets.uri, "streets.parquet", columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb")
    check_same(ray_table(ray, rows), whole(columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb"))
    assert rows.select_columns(["n"]).filter(lambda row: row["n"] % 2 == 0).count() == sum(n % 2 == 0 for n in ray_table(ray, rows)["n"].to_pylist())
    pruned = vibeflight.ray.read(streets.uri, "streets.parquet").select_columns(["small", "n"])
    check_same(ray_table(ray, pruned), whole(columns=["small", "n"]))
    assert len(vibeflight.ray.read(streets.uri, "streets.parquet").limit(10).take_all()) == 10


@engine("ray")
def test_ray_read_tasks(ray, streets):
    import vibeflight.ray

    with vibeflight.connect(streets.uri) as server:
        plan = server.partitions("streets.parquet")
    source = vibeflight.ray.Table(plan)
    tasks = source.get_read_tasks(200, per_task_row_limit=7)
    assert [task.metadata.num_rows for task in tasks] == [partition.rows for partition in plan]
    assert source.estimate_inmemory_data_size() == pytest.approx(plan.info.bytes, rel=0.01)
    assert sum(block.num_rows for block in tasks[0]()) == 7
    one = source.apply_projection({"n": "n"}).get_read_tasks(1)[0]
    assert next(iter(one())).schema.names == ["n"] and one.schema.names == ["n"]


@engine("ray")
def test_ray_server_killed(ray, cut, whole):
    import vibeflight.ray

    rows = vibeflight.ray.read(cut.uri, "streets.parquet", columns=KILLED_COLUMNS)
    check_same(ray_table(ray, rows), whole(columns=KILLED_COLUMNS))


# Dask


@pytest.fixture(scope="module")
def dask():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        yield client


def dask_table(frame, schema):
    """A computed frame with the types of a DoGet; geometries as WKB."""
    columns = {}
    for field in schema:
        if field.name == "geometry":
            columns["geometry"] = pa.array(frame.geometry.to_wkb(), pa.binary())
        else:
            columns[field.name] = pa.Array.from_pandas(frame[field.name], type=field.type)
    return pa.table(columns)


@engine("dask", "dask_geopandas")
def test_dask(dask, streets, whole):
    import vibeflight.dask

    frame = vibeflight.dask.read(streets.uri, "streets.parquet")
    assert frame.npartitions == 3 and frame.known_divisions and len(frame) == ROWS
    got, want = frame.compute(), whole(geometry_encoding="wkb")
    assert got.crs == "OGC:CRS84" and list(got.index) == list(range(ROWS))
    check_same(dask_table(got, want.schema), want)
    assert frame.loc[ROWS - 3 :, "n"].compute().tolist() == [ROWS - 3, ROWS - 2, ROWS - 1]


@engine("dask", "dask_geopandas")
def test_dask_types_do_not_depend_on_the_partition(dask, streets):
    import vibeflight.dask

    frame = vibeflight.dask.read(streets.uri, "streets.parquet")
    types = [frame.get_partition(i).compute().dtypes.to_dict() for i in range(frame.npartitions)]
    assert all(t == frame.dtypes.to_dict() for t in types)
    assert str(types[0]["big"]) == "Int64" and str(types[0]["yes"]) == "boolean"


@engine("dask", "dask_geopandas")
def test_dask_spatial_partitions(dask, streets, whole):
    """They come from the plan, and contain what the partitions have; a box of few partitions leaves the others out."""
    import vibeflight.dask

    frame = vibeflight.dask.read(streets.uri, "streets.parquet")
    boxes = frame.spatial_partitions
    assert boxes.crs == frame.crs and len(boxes) == 3
    for i in range(3):
        assert boxes.iloc[i].covers(shapely.box(*frame.get_partition(i).compute().total_bounds))
    south = frame.cx[:, :-70]
    assert south.npartitions == 1
    assert len(south) == sum(1 for line in shapely.from_wkb(whole(geometry_encoding="wkb")["geometry"].to_numpy()) if line is not None and line.bounds[1] <= -70)


@engine("dask", "dask_geopandas")
def test_dask_selects(dask, streets, whole):
    import vibeflight.dask

    frame = vibeflight.dask.read(streets.uri, "streets.parquet", columns=["n", "geometry"], bbox=[0, -60, 90, 40])
    want = whole(columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb")
    check_same(dask_table(frame.compute(), want.schema), want)
    plain = vibeflight.dask.read(streets.uri, "streets.parquet", columns=["n", "small"])
    assert type(plain).__module__.startswith("dask.") and plain["small"].sum().compute() == (np.arange(ROWS) % 100).sum()
    assert vibeflight.dask.read(streets.uri, "streets.parquet")["n"].sum().compute() == ROWS * (ROWS - 1) // 2


@engine("dask", "dask_geopandas")
def test_dask_reads_the_columns_that_are_used(streets):
    import vibeflight.dask

    expression = vibeflight.dask.read(streets.uri, "streets.parquet")["n"].optimize(fuse=False).expr
    assert [part.columns for part in expression.walk() if not part.dependencies()] == [["n"]]


@engine("dask", "dask_geopandas")
def test_dask_server_killed(dask, cut, whole):
    import vibeflight.dask

    want = whole(columns=KILLED_COLUMNS, geometry_encoding="wkb")
    check_same(dask_table(vibeflight.dask.read(cut.uri, "streets.parquet", columns=KILLED_COLUMNS).compute(), want.schema), want)


# Daft


@engine("daft")
def test_daft(streets, whole):
    import vibeflight.daft

    frame = vibeflight.daft.read(streets.uri, "streets.parquet")
    assert frame.count_rows() == ROWS
    got, want = frame.to_arrow(), whole()
    check_same(got, want)
    assert got.schema.field("geometry").metadata == want.schema.field("geometry").metadata


@engine("daft")
def test_daft_selects(streets, whole):
    import daft

    import vibeflight.daft

    frame = vibeflight.daft.read(streets.uri, "streets.parquet", columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb")
    check_same(frame.to_arrow(), whole(columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb"))
    all_rows = vibeflight.daft.read(streets.uri, "streets.parquet")
    assert all_rows.where((daft.col("small") == 5) | (daft.col("n") == 7)).select("name").count_rows() == ROWS // 100 + 1
    assert all_rows.select("small", "n").limit(10).to_arrow().num_rows == 10
    assert all_rows.agg(daft.col("n").sum()).to_pydict() == {"n": [ROWS * (ROWS - 1) // 2]}


@engine("daft")
def test_daft_server_killed(cut, whole):
    import vibeflight.daft

    check_same(vibeflight.daft.read(cut.uri, "streets.parquet", columns=KILLED_COLUMNS).to_arrow(), whole(columns=KILLED_COLUMNS))


# All


@pytest.mark.parametrize(
    "page", [pytest.param("spark", marks=engine("pyspark")), pytest.param("ray", marks=engine("ray")),
             pytest.param("dask", marks=engine("dask", "dask_geopandas")), pytest.param("daft", marks=engine("daft"))]
)  # fmt: skip
def test_page(server, page):
    """The blocks of Python of a page run, one after another, in a process of their own."""
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks and ADDRESS in text
    environment = {**os.environ, "PYTHONPATH": CLIENT, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks).replace(ADDRESS, server.uri)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for shown in re.findall(r"^```text\n(.*?)^```", text, re.M | re.S):
        assert shown in done.stdout


@engine("dask", "dask_geopandas")
def test_a_changed_file_ends_the_job(tmp_path):
    """A frame stays with the version of its plan."""
    import vibeflight.dask

    (tmp_path / "a.csv").write_text("n\n1\n2\n")
    with Server(tmp_path) as server:
        frame = vibeflight.dask.read(server.uri, "a.csv")
        assert len(frame) == 2
        (tmp_path / "a.csv").write_text("n\n3\n4\n5\n")
        server.action("refresh")
        time.sleep(0.1)
        with pytest.raises(vibeflight.FileChanged):
            frame.compute(scheduler="sync")
