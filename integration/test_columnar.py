"""Files of Arrow and Parquet, by pyarrow, GeoPandas and ourselves: what is served is what GeoPandas reads of them, by tickets and by SQL."""
import decimal

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import shapely
import sql
from conftest import bits, ticket
from serving import Server, vibeflight
from test_command import read_file
from test_export import COUNTRIES, FLAT, same_shapes, shapes

ROWS = 5_000


@pytest.fixture(scope="module")
def frame():
    """Rows of several types with nulls, whose geometries are of two kinds, null and empty ones among them."""
    r = np.random.default_rng(7)
    x, y = r.uniform(-180, 180, ROWS), r.uniform(-90, 90, ROWS)
    boxes = shapely.box(x, y, x + 1, y + 0.5)
    boxes[::7], boxes[::11], boxes[::13] = shapely.points(x[::7], y[::7]), None, shapely.from_wkt("POLYGON EMPTY")
    text = pd.array([None if i % 5 == 0 else f"naïve {i % 40}" for i in range(ROWS)], dtype="string[pyarrow]")
    return geopandas.GeoDataFrame({
        "n": pd.array([None if i % 3 == 0 else i - 100 for i in range(ROWS)], dtype="Int16"), "real": np.where(x > 100, np.nan, y).astype("float32"), "text": text,
        "kind": pd.Categorical([["a", "b", None][i % 3] for i in range(ROWS)]), "when": pd.date_range("2020-01-01", periods=ROWS, freq="97min", tz="Europe/Berlin"),
        "flag": x > 0, "money": pd.array([decimal.Decimal(i) / 100 for i in range(ROWS)], dtype=pd.ArrowDtype(pa.decimal128(12, 2))),
        "tags": pd.Series([None if i % 4 == 0 else ["x"] * (i % 3) for i in range(ROWS)], dtype=object),
    }, geometry=boxes, crs="EPSG:25832")


WRITERS = {
    "lz4.feather": lambda f, p: f.to_feather(p, compression="lz4"),
    "zstd.feather": lambda f, p: f.to_feather(p, compression="zstd", chunksize=700),
    "plain.feather": lambda f, p: f.to_feather(p, compression="uncompressed"),
    "covering.parquet": lambda f, p: f.to_parquet(p, write_covering_bbox=True, row_group_size=999),
    "v1.parquet": lambda f, p: f.to_parquet(p, compression="gzip", data_page_version="1.0", version="1.0", use_dictionary=False),
    "v2.geoparquet": lambda f, p: f.to_parquet(p, compression="lz4", data_page_version="2.0", row_group_size=1234, data_page_size=4096),
    "brotli.pq": lambda f, p: f.to_parquet(p, compression="brotli"),
    "none.parquet": lambda f, p: f.to_parquet(p, compression=None, schema_version="1.0.0"),
    "native.parquet": lambda f, p: f[f.geom_type == "Polygon"].to_parquet(p, geometry_encoding="geoarrow", row_group_size=999),
}


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("columnar")
    for name, write in WRITERS.items():
        write(frame, folder / name)
    points = pa.table({"a": [1, 2, 3]}).append_column(
        pa.field("where", pa.struct([("x", pa.float64()), ("y", pa.float64())]), metadata={"ARROW:extension:name": "geoarrow.point"}),
        pa.array([{"x": 1.0, "y": 2.0}, None, {"x": 3.0, "y": 4.0}]))
    with pa.ipc.new_stream(folder / "points.arrows", points.schema) as stream:
        stream.write_table(points, max_chunksize=2)
    pa.feather.write_feather(pa.table({"a": pa.array([1, None], pa.int8())}), folder / "plain.ipc")
    (folder / "sniffed").write_bytes((folder / "v1.parquet").read_bytes())
    (folder / "broken.parquet").write_bytes((folder / "v1.parquet").read_bytes()[:-100])
    return folder


@pytest.fixture(scope="module")
def lake(folder):
    with Server(folder, *sql.FLAGS) as server:
        yield server


def served(server, name, **fields):
    table = server.client().do_get(ticket(name, **fields)).read_all()
    table.validate(full=True)
    return table


def theirs(folder, name):
    """GeoPandas' own reading, without its index, as Arrow."""
    frame = (geopandas.read_feather if name.endswith(".feather") else geopandas.read_parquet)(folder / name)
    return frame.reset_index(drop=True)


def plain(t):
    """The type that a column of a file becomes."""
    t = t.value_type if pa.types.is_dictionary(t) else t
    return pa.string() if pa.types.is_large_string(t) else t


@pytest.mark.parametrize("name", WRITERS)
def test_as_geopandas_reads_it(lake, folder, name):
    got, want = served(lake, name, geometry_encoding="wkb"), theirs(folder, name)
    assert got.column_names == [*[c for c in want.columns if c != "geometry"], *[c for c in got.column_names if c.startswith("__index")], "geometry"]
    attributes = pa.Table.from_pandas(pd.DataFrame(want.drop(columns="geometry")), preserve_index=False)
    said = (pa.feather.read_table if name.endswith(".feather") else pa.parquet.read_table)(folder / name).schema
    for column in attributes.column_names:
        assert got[column].to_pylist() == attributes[column].to_pylist() or column == "real", column
        assert got[column].type == plain(said.field(column).type), column
    assert np.array_equal(got["real"].to_numpy(), want["real"].to_numpy(), equal_nan=True) and got["real"].type == pa.float32()
    same_shapes(shapes(got["geometry"]), list(want.geometry))
    assert geopandas.GeoDataFrame.from_arrow(got).crs == want.crs


@pytest.mark.parametrize("name", ["covering.parquet", "zstd.feather"])
def test_parts(lake, name):
    """Columns, rows and a box select the same as for any format."""
    whole = served(lake, name)
    assert bits(served(lake, name, columns=["text", "geometry"])) == bits(whole.select(["text", "geometry"]))
    assert served(lake, name, rows=[990, 1010], columns=["n"]).equals(whole.select(["n"]).slice(990, 20))
    box = [0, 0, 20, 20]
    wkb = served(lake, name, geometry_encoding="wkb")
    meets = shapely.intersects(shapely.box(*box), shapely.envelope(shapes(wkb["geometry"])))
    assert 0 < served(lake, name, bbox=box).num_rows == meets.sum()


def test_without_a_cache(folder):
    """The same bytes if only some columns are read."""
    with Server(folder, cache="") as server:
        for name in ("covering.parquet", "lz4.feather", "native.parquet"):
            part = served(server, name, columns=["when", "n"])
            assert bits(part) == bits(served(server, name).select(["when", "n"])), name


def test_other_files(lake):
    points = served(lake, "points.arrows")
    assert points.column_names == ["a", "geometry"] and points["geometry"].to_pylist() == [{"x": 1.0, "y": 2.0}, None, {"x": 3.0, "y": 4.0}]
    assert served(lake, "plain.ipc").equals(pa.table({"a": pa.array([1, None], pa.int8())}))
    assert bits(served(lake, "sniffed")) == bits(served(lake, "v1.parquet"))
    with pytest.raises(pa.ArrowInvalid, match="broken.parquet: parquet: byte .*not complete"):
        served(lake, "broken.parquet")


def test_sql(lake, frame):
    client = lake.client()
    got = sql.ask(client, 'SELECT count(*) AS rows, count(n) AS n, sum(n)::BIGINT AS total, count(DISTINCT kind) AS kinds, max("when") AS last FROM "covering.parquet"').to_pylist()[0]
    assert got["rows"] == ROWS and got["n"] == frame["n"].notna().sum() and got["total"] == frame["n"].sum() and got["kinds"] == 2
    assert pd.Timestamp(got["last"]) == frame["when"].max()
    got = sql.ask(client, 'SELECT text, money, tags, geometry FROM "lz4.feather" WHERE flag AND n > 4000 ORDER BY n')
    chosen = frame[frame["flag"] & (frame["n"] > 4000).fillna(False)]
    assert got["text"].to_pylist() == [None if pd.isna(t) else t for t in chosen["text"]] and got["money"].to_pylist() == chosen["money"].tolist()
    same_shapes(shapes(got["geometry"]), list(chosen.geometry))


def test_sql_cuts_nothing(folder, lake):
    values = pa.table({"d": pa.array([1_234_567_891, None], pa.duration("ns")), "i": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
                       "h": pa.array([np.float16(0.1), None], pa.float16())})
    pa.feather.write_feather(values, folder / "cut.arrow")
    lake.action("refresh")
    got = sql.ask(lake.client(), 'SELECT * FROM "cut.arrow"').to_pylist()
    assert got == [{"d": 1_234_567_891, "i": '{"months":1,"days":2,"nanoseconds":3}', "h": float(np.float16(0.1))}, {"d": None, "i": None, "h": None}]


@pytest.mark.parametrize("extension", ["parquet", "arrow"])
@pytest.mark.parametrize("name", [COUNTRIES, "types.geojson", "mixed.geojson", *FLAT])
def test_round_trip(data, tmp_path, name, extension):
    """What get -o writes is the same table when it is served, to the last bit."""
    out = tmp_path / f"x.{extension}"
    vibeflight("get", data / name, "-o", out)
    vibeflight("get", data / name, "-o", tmp_path / "before.arrow")
    vibeflight("get", out, "-o", tmp_path / "after.arrow")
    assert bits(read_file(tmp_path / "after.arrow")) == bits(read_file(tmp_path / "before.arrow"))
