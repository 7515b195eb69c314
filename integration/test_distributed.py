"""Spark, Ray, Dask and Daft give the rows of one DoGet, each once, also if the server is killed in the middle of their job, and from four replicas of a fleet.

They read a file and a dataset of 290 files with the same rows. Values are compared exactly, and so are types, except for those that an engine lacks: the
table of an engine, such as SPARK, says which type it has in place of each.

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
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import fleet
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
FILE, DATASET = "streets.parquet", "many"
PARTITIONS = {FILE: 3, DATASET: 2}
KILLED_COLUMNS = {FILE: ["n", "name", "ratio", "geometry"], DATASET: ["year", "n", "name", "extra", "geometry"]}
# GeoArrow's lines, as a DoGet has them.
LINES = pa.list_(pa.field("vertices", pa.struct([pa.field("x", pa.float64(), False), pa.field("y", pa.float64(), False)]), False))
both = pytest.mark.parametrize("name", [FILE, DATASET])
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
    table = pa.table(columns).replace_schema_metadata({"geo": json.dumps(geo)})
    (folder / "data").mkdir()
    pq.write_table(table, folder / "data" / FILE, row_group_size=100_000)
    write_parts(folder / "parts", table)
    (folder / "datasets.toml").write_text(f'[[datasets]]\nname = "{DATASET}"\nfiles = "{folder}/parts/**/*.parquet"\nfilename = "file"\n')
    return folder


def write_parts(folder, table):
    """Writes the rows in order: each of four years is one large file, then 70 small ones. One year has a column more, and one file is empty."""
    row = 0
    for year in range(2000, 2004):
        for number, rows in enumerate([100_000] + 70 * [500]):
            part = table.slice(row, rows)
            if year == 2002:
                extra = pa.compute.multiply(part["n"].cast(pa.float64()), 0.5)
                part = part.add_column(part.num_columns - 1, "extra", extra)
            path = folder / f"year={year}" / f"kind=a%20b{number // 40}" / f"{number:03d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(part, path)
            row += rows
    pq.write_table(table.slice(0, 0), folder / "year=2003" / "kind=a%20b1" / "none.parquet")
    assert row == ROWS


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def streets(folder, cache):
    """A server over the file and the dataset."""
    with Server(folder / "data", "--config", str(folder / "datasets.toml"), cache=cache) as server:
        for name in (FILE, DATASET):
            server.client().do_get(pa.flight.Ticket(name)).read_all()
        server.wait_until_saved(6)  # the file, four large ones, and packs of small ones
        yield server


@pytest.fixture(scope="module")
def whole(streets):
    """whole(name, **fields) is a table by one DoGet."""
    def read(name, **fields):
        return streets.client().do_get(pa.flight.Ticket(json.dumps({"name": name, **fields}))).read_all()
    return read


def test_dataset_has_the_rows_of_the_file(whole):
    """What the tests of engines compare with, without an engine."""
    file, dataset = whole(FILE), whole(DATASET)
    assert dataset.schema.names == ["year", "kind", "file", *file.schema.names[:-1], "extra", "geometry"]
    assert dataset.select(file.schema.names).equals(file) and dataset["extra"].null_count == ROWS * 3 // 4
    assert len(set(dataset["file"].to_pylist())) == 284 and set(dataset["kind"].to_pylist()) == {"a b0", "a b1"}


@pytest.fixture
def cut(streets, folder, cache):
    """A server over the same files that is killed once in the middle of a job."""
    with Cut(folder / "data", cache, CUT_BYTES, flags=("--config", str(folder / "datasets.toml"))) as c:
        yield c
        assert c.kills == 1, "the job was over before the server was killed"


def check_same(got, want, types=None):
    """Whether a table of an engine has the rows of a DoGet, in any order. types has the type of the engine for each that it lacks."""
    assert got.num_rows == want.num_rows
    assert got.schema.names == want.schema.names
    engine = {field.name: (types or {}).get(field.type, field.type) for field in want.schema}
    assert {field.name: field.type for field in got.schema} == engine
    got, want = (table.take(pa.compute.sort_indices(table["n"])).combine_chunks() for table in (got, want))
    assert got["n"].to_pylist() == want["n"].to_pylist()  # no row is missing, and none is there twice
    want = want.cast(got.schema)
    for name in want.schema.names:
        assert got[name].equals(want[name]), name


# Spark

SPARK = {
    pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20, 0), pa.time32("ms"): pa.string(), pa.timestamp("ms"): pa.timestamp("us"),
}  # fmt: skip


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


def spark_frame(spark, uri, name=FILE, **options):
    reader = spark.read.format("vibeflight").option("server", uri)
    for key, value in options.items():
        reader = reader.option(key, value)
    return reader.load(name)


@engine("pyspark")
@both
def test_spark(spark, streets, whole, name):
    frame = spark_frame(spark, streets.uri, name)
    assert frame.rdd.getNumPartitions() == PARTITIONS[name]
    assert frame.count() == ROWS
    check_same(frame.toArrow(), whole(name, geometry_encoding="wkb"), SPARK)
    geometry = frame.schema["geometry"]
    assert geometry.dataType.simpleString() == "binary" and geometry.metadata["ARROW:extension:name"] == "geoarrow.wkb"
    assert "CRS84" in geometry.metadata["ARROW:extension:metadata"]


@engine("pyspark")
def test_spark_selects(spark, streets, whole):
    bbox = [0, -60, 90, 40]
    frame = spark_frame(spark, streets.uri, columns="n, geometry", bbox="0,-60,90,40")
    check_same(frame.toArrow(), whole(FILE, columns=["n", "geometry"], bbox=bbox, geometry_encoding="wkb"), SPARK)
    assert frame.where("n % 2 = 0").count() == sum(n % 2 == 0 for n in whole(FILE, columns=["n"], bbox=bbox)["n"].to_pylist())
    own = spark.read.format("vibeflight").option("server", streets.uri).schema("small LONG, n LONG").load(FILE)
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
@both
def test_spark_server_killed(spark, cut, whole, name):
    frame = spark_frame(spark, cut.uri, name, columns=",".join(KILLED_COLUMNS[name]))
    check_same(frame.toArrow(), whole(name, columns=KILLED_COLUMNS[name], geometry_encoding="wkb"), SPARK)


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
@both
def test_ray(ray, streets, whole, name):
    import vibeflight.ray

    rows = vibeflight.ray.read(streets.uri, name)
    assert rows.count() == ROWS
    got, want = ray_table(ray, rows), whole(name)
    check_same(got, want)
    geometry = got.schema.field("geometry")
    assert geometry.equals(want.schema.field("geometry"), check_metadata=True) and geometry.metadata[b"ARROW:extension:name"] == b"geoarrow.linestring"


@engine("ray")
def test_ray_selects(ray, streets, whole):
    import vibeflight.ray

    rows = vibeflight.ray.read(streets.uri, FILE, columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb")
    check_same(ray_table(ray, rows), whole(FILE, columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb"))
    assert rows.select_columns(["n"]).filter(lambda row: row["n"] % 2 == 0).count() == sum(n % 2 == 0 for n in ray_table(ray, rows)["n"].to_pylist())
    pruned = vibeflight.ray.read(streets.uri, FILE).select_columns(["small", "n"])
    check_same(ray_table(ray, pruned), whole(FILE, columns=["small", "n"]))
    assert len(vibeflight.ray.read(streets.uri, FILE).limit(10).take_all()) == 10


@engine("ray")
def test_ray_read_tasks(ray, streets):
    import vibeflight.ray

    with vibeflight.connect(streets.uri) as server:
        plan = server.partitions(FILE)
    source = vibeflight.ray.Table(plan)
    tasks = source.get_read_tasks(200, per_task_row_limit=7)
    assert [task.metadata.num_rows for task in tasks] == [partition.rows for partition in plan]
    assert source.estimate_inmemory_data_size() == pytest.approx(plan.info.bytes, rel=0.01)
    assert sum(block.num_rows for block in tasks[0]()) == 7
    one = source.apply_projection({"n": "n"}).get_read_tasks(1)[0]
    assert next(iter(one())).schema.names == ["n"] and one.schema.names == ["n"]


@engine("ray")
@both
def test_ray_server_killed(ray, cut, whole, name):
    import vibeflight.ray

    rows = vibeflight.ray.read(cut.uri, name, columns=KILLED_COLUMNS[name])
    check_same(ray_table(ray, rows), whole(name, columns=KILLED_COLUMNS[name]))


# Dask

DASK = {
    pa.int16(): "Int16", pa.int32(): "Int32", pa.int64(): "Int64", pa.uint32(): "UInt32", pa.uint64(): "UInt64", pa.bool_(): "boolean",
    pa.float64(): "float64", pa.string(): "string", pa.timestamp("us", "UTC"): "datetime64[us, UTC]", pa.timestamp("ms"): "datetime64[ms]",
}  # fmt: skip


@pytest.fixture(scope="module")
def dask():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        yield client


def dask_table(frame, schema):
    """A computed frame with the types of a DoGet, if it has the dtypes that these become; geometries as WKB. Other types are those of Arrow."""
    columns = {}
    dtypes = {field.name: DASK.get(field.type, f"{field.type}[pyarrow]") for field in schema} | {"geometry": "geometry"}
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == dtypes
    for field in schema:
        if field.name == "geometry":
            columns["geometry"] = pa.array(frame.geometry.to_wkb(), pa.binary())
        else:
            columns[field.name] = pa.Array.from_pandas(frame[field.name], type=field.type)
    return pa.table(columns)


@engine("dask", "dask_geopandas")
@both
def test_dask(dask, streets, whole, name):
    import vibeflight.dask

    frame = vibeflight.dask.read(streets.uri, name)
    assert frame.npartitions == PARTITIONS[name] and frame.known_divisions and len(frame) == ROWS
    got, want = frame.compute(), whole(name, geometry_encoding="wkb")
    assert got.crs == "OGC:CRS84" and list(got.index) == list(range(ROWS))
    check_same(dask_table(got, want.schema), want)
    assert frame.loc[ROWS - 3 :, "n"].compute().tolist() == [ROWS - 3, ROWS - 2, ROWS - 1]


@engine("dask", "dask_geopandas")
@both
def test_dask_types_do_not_depend_on_the_partition(dask, streets, name):
    import vibeflight.dask

    frame = vibeflight.dask.read(streets.uri, name)
    types = [frame.get_partition(i).compute().dtypes.to_dict() for i in range(frame.npartitions)]
    assert all(t == frame.dtypes.to_dict() for t in types)
    assert str(types[0]["big"]) == "Int64" and str(types[0]["yes"]) == "boolean"


@engine("dask", "dask_geopandas")
@both
def test_dask_spatial_partitions(dask, streets, whole, name):
    """They come from the plan, and contain what the partitions have; a box of few partitions leaves the others out."""
    import vibeflight.dask

    frame = vibeflight.dask.read(streets.uri, name)
    boxes = frame.spatial_partitions
    assert boxes.crs == frame.crs and len(boxes) == PARTITIONS[name]
    for i in range(len(boxes)):
        assert boxes.iloc[i].covers(shapely.box(*frame.get_partition(i).compute().total_bounds))
    south = frame.cx[:, :-70]
    assert south.npartitions == 1
    assert len(south) == sum(1 for line in shapely.from_wkb(whole(name, geometry_encoding="wkb")["geometry"].to_numpy()) if line is not None and line.bounds[1] <= -70)


@engine("dask", "dask_geopandas")
def test_dask_selects(dask, streets, whole):
    import vibeflight.dask

    frame = vibeflight.dask.read(streets.uri, FILE, columns=["n", "geometry"], bbox=[0, -60, 90, 40])
    want = whole(FILE, columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb")
    check_same(dask_table(frame.compute(), want.schema), want)
    plain = vibeflight.dask.read(streets.uri, FILE, columns=["n", "small"])
    assert type(plain).__module__.startswith("dask.") and plain["small"].sum().compute() == (np.arange(ROWS) % 100).sum()
    assert vibeflight.dask.read(streets.uri, FILE)["n"].sum().compute() == ROWS * (ROWS - 1) // 2


@engine("dask", "dask_geopandas")
def test_dask_reads_the_columns_that_are_used(streets):
    import vibeflight.dask

    expression = vibeflight.dask.read(streets.uri, FILE)["n"].optimize(fuse=False).expr
    assert [part.columns for part in expression.walk() if not part.dependencies()] == [["n"]]


@engine("dask", "dask_geopandas")
@both
def test_dask_server_killed(dask, cut, whole, name):
    import vibeflight.dask

    want = whole(name, columns=KILLED_COLUMNS[name], geometry_encoding="wkb")
    check_same(dask_table(vibeflight.dask.read(cut.uri, name, columns=KILLED_COLUMNS[name]).compute(), want.schema), want)


# Daft

DAFT = {
    pa.string(): pa.large_string(), pa.binary(): pa.large_binary(), pa.time32("ms"): pa.time64("us"), pa.list_(pa.string()): pa.large_list(pa.large_string()),
    LINES: pa.large_list(pa.struct({"x": pa.float64(), "y": pa.float64()})),
}  # fmt: skip



@engine("daft")
@both
def test_daft(streets, whole, name):
    import vibeflight.daft

    frame = vibeflight.daft.read(streets.uri, name)
    assert frame.count_rows() == ROWS
    got, want = frame.to_arrow(), whole(name)
    check_same(got, want, DAFT)
    assert got.schema.field("geometry").metadata == want.schema.field("geometry").metadata


@engine("daft")
def test_daft_selects(streets, whole):
    import daft

    import vibeflight.daft

    frame = vibeflight.daft.read(streets.uri, FILE, columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb")
    check_same(frame.to_arrow(), whole(FILE, columns=["n", "geometry"], bbox=[0, -60, 90, 40], geometry_encoding="wkb"), DAFT)
    all_rows = vibeflight.daft.read(streets.uri, FILE)
    assert all_rows.where((daft.col("small") == 5) | (daft.col("n") == 7)).select("name").count_rows() == ROWS // 100 + 1
    assert all_rows.select("small", "n").limit(10).to_arrow().num_rows == 10
    assert all_rows.agg(daft.col("n").sum()).to_pydict() == {"n": [ROWS * (ROWS - 1) // 2]}


@engine("daft")
@both
def test_daft_server_killed(cut, whole, name):
    import vibeflight.daft

    check_same(vibeflight.daft.read(cut.uri, name, columns=KILLED_COLUMNS[name]).to_arrow(), whole(name, columns=KILLED_COLUMNS[name]), DAFT)


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


# A fleet


@pytest.fixture(scope="module")
def four(folder):
    """Four replicas over the file and the dataset, with caches of their own."""
    if fleet.missing():
        pytest.skip(fleet.missing())
    with fleet.Fleet(folder / "data", 4, "--config", str(folder / "datasets.toml"), "--no-sql") as f:
        fleet.until("all replicas know each other", lambda: all(r.metric("vibeflight_replicas") == 4 for r in f.replicas), seconds=40)
        yield f


def gets(four):
    """The DoGets that each replica has answered."""
    return {r.id: sum(n for series, n in r.metrics().items() if series.startswith("vibeflight_calls_total{") and "DoGet" in series) for r in four.replicas}


class Kill:
    """Kills a replica a moment after the beginning of its `with`, and starts it again."""

    def __init__(self, replica):
        self._replica, self._thread = replica, threading.Thread(target=self._run)

    def _run(self):
        time.sleep(0.7)
        self._replica.kill()
        time.sleep(2)
        self._replica.start()

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._thread.join()


def spark_over(spark):
    return lambda uri, name: spark_frame(spark, uri, name).toArrow()


def ray_over(ray):
    import vibeflight.ray

    return lambda uri, name: ray_table(ray, vibeflight.ray.read(uri, name, geometry_encoding="wkb"))


def check_fleet(read, four, want, name, types=None):
    """The table of an engine over the replicas is that of one server, also if one of them is killed."""
    uri, before = four.balancer.uri, gets(four)
    check_same(read(uri, name), want, types)
    after = gets(four)
    assert sum(after[r] > before[r] for r in before) > 1 or name != FILE, "one replica served all"
    with Kill(four.replicas[1]):
        check_same(read(uri, name), want, types)


@engine("pyspark")
@both
def test_spark_over_a_fleet(spark, four, whole, name):
    check_fleet(spark_over(spark), four, whole(name, geometry_encoding="wkb"), name, SPARK)


@engine("ray")
@both
def test_ray_over_a_fleet(ray, four, whole, name):
    check_fleet(ray_over(ray), four, whole(name, geometry_encoding="wkb"), name)


@both
def test_a_fleet_without_an_engine(four, whole, name):
    """The endpoints that engines read, by our package, each in a thread."""
    def read(uri, name):
        with vibeflight.connect(uri) as server, ThreadPoolExecutor(4) as pool:
            return pa.concat_tables(pool.map(lambda part: pa.Table.from_batches(part.read()), server.partitions(name, geometry_encoding="wkb")))

    check_fleet(read, four, whole(name, geometry_encoding="wkb"), name)
