"""Many files as one table: pyarrow.flight and SQL, next to one file of the same rows."""
import json
import random

import pyarrow as pa
import pytest
import sql
from pyarrow import flight, parquet
from serving import Server


def feature(rng, n, **more):
    x, y = round(rng.uniform(-180, 180), 5), round(rng.uniform(-85, 85), 5)
    kinds = {
        "Point": [x, y],
        "LineString": [[x, y], [x + 1, y + 1]],
    }
    kind = rng.choice(sorted(kinds))
    geometry = None if n % 17 == 0 else {"type": kind, "coordinates": kinds[kind]}
    return {"type": "Feature", "properties": {"n": n, "name": f"row {n}", **more}, "geometry": geometry}


def write(path, features):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """60 files with columns that differ, and one file of all of their rows."""
    root, rng = tmp_path_factory.mktemp("dataset"), random.Random(3)
    (root / "data").mkdir()
    everything = []
    for i in range(60):
        more = {}
        if i % 7 == 3:
            more["height"] = i / 2
        if i >= 40:
            more["code"] = i if i < 50 else f"c{i}"  # numbers and texts: text in all files
        rows = [feature(rng, 100 * i + k, **more) for k in range(i % 9)]
        write(root / f"parts/year={2000 + i // 20}/{i:03d}.geojson", rows)
        everything += rows
    write(root / "data/one.geojson", everything)
    return root


@pytest.fixture(scope="module")
def server(folder):
    with Server(folder / "data", "--dataset", f"many={folder}/parts/**/*.geojson") as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    return server.client()


def read(client, **ticket):
    table = client.do_get(flight.Ticket(json.dumps(ticket).encode())).read_all()
    table.validate(full=True)
    return table


SELECTIONS = [
    {}, {"limit": 5}, {"rows": [10, 61]}, {"bbox": [-20, -30, 60, 40]}, {"columns": ["geometry", "code"]},
    {"bbox": [0, 0, 90, 80], "rows": [3, 150], "limit": 20}, {"geometry_encoding": "wkt"}, {"geometry_encoding": "wkb", "limit": 40},
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=json.dumps)
def test_rows_are_those_of_one_file(client, selection):
    one = read(client, name="one.geojson", **selection)
    many = read(client, name="many", **selection)
    if "columns" not in selection:
        assert many.schema.names == ["year", *one.schema.names]
        many = many.select(one.schema.names)
    assert many.schema.equals(one.schema, check_metadata=True)
    assert many.to_pydict() == one.to_pydict()


def test_info(client):
    info = client.get_flight_info(flight.FlightDescriptor.for_path("many"))
    table = read(client, name="many")
    assert info.schema.equals(table.schema, check_metadata=True)
    assert info.total_records == table.num_rows == sum(i % 9 for i in range(60))
    (endpoint,) = info.endpoints
    about = json.loads(endpoint.app_metadata)
    whole = json.loads(info.app_metadata)
    assert about == {"rows": table.num_rows, "bbox": whole["bbox"]}
    assert whole["format"] == "dataset" and whole["crs"] == "OGC:CRS84"
    assert client.do_get(endpoint.ticket).read_all().equals(table)
    assert json.loads(endpoint.ticket.ticket)["version"]


def test_listed_and_described(client, server):
    names = [b"/".join(i.descriptor.path).decode() for i in client.list_flights()]
    assert names == ["many", "one.geojson"]
    about = server.action("describe", b"many")
    assert about["dataset"] == {"files": 60} and about["rows"] == 231 and about["columns"][0]["name"] == "year"


def test_partitions(client):
    table = read(client, name="many", partitions={"year": 2001})
    assert set(table["year"].to_pylist()) == {2001} and table.num_rows == sum(i % 9 for i in range(20, 40))
    assert table.schema.field("year").type == pa.int64()
    with pytest.raises(pa.ArrowInvalid, match='partitions.*"year" has integers'):
        read(client, name="many", partitions={"year": "2001"})
    with pytest.raises(pa.ArrowInvalid, match="not a dataset"):
        read(client, name="one.geojson", partitions={"year": 2001})


def test_sql(client, server):
    def ask(query):
        return sql.ask(client, query).to_pylist()

    assert ask("SELECT count(*) AS n FROM many") == [{"n": 231}]
    same = "SELECT n, name, height, code FROM {} ORDER BY n"
    assert ask(same.format("many")) == ask(same.format("one"))
    assert ask("SELECT year, count(*) AS n, sum(n) AS s FROM many GROUP BY year ORDER BY year") == [
        {"year": y, "n": sum(i % 9 for i in range(20 * (y - 2000), 20 * (y - 1999))),
         "s": sum(100 * i + k for i in range(20 * (y - 2000), 20 * (y - 1999)) for k in range(i % 9))} for y in (2000, 2001, 2002)]
    assert ask("SELECT max(n) AS n FROM many WHERE year = 2000") == [{"n": 1900}]


def test_files_not_matched_are_not_served(folder, client):
    (folder / "parts/secret.csv").write_text("a\n1\n")
    for name in (f"{folder}/parts/secret.csv", f"{folder}/parts/year=2000/001.geojson", "parts/year=2000/001.geojson"):
        with pytest.raises(pa.ArrowKeyError):
            read(client, name=name)


def test_changes_without_restart(tmp_path):
    (tmp_path / "data").mkdir()
    rng = random.Random(5)
    for i in range(20):
        write(tmp_path / f"parts/{i}.geojson", [feature(rng, i)])
    with Server(tmp_path / "data", "--dataset", f"many={tmp_path}/parts/*.geojson") as server:
        client = server.client()
        before = client.get_flight_info(flight.FlightDescriptor.for_path("many"))
        assert before.total_records == 20 and server.action("stats")["members_parsed"] == 20
        write(tmp_path / "parts/7.geojson", [feature(rng, 70), feature(rng, 71)])
        write(tmp_path / "parts/99.geojson", [feature(rng, 99, colour="red")])
        (tmp_path / "parts/3.geojson").unlink()
        server.action("refresh")
        now = read(client, name="many")
        assert now.num_rows == 21 and "colour" in now.schema.names
        assert sorted(now["n"].to_pylist()) == sorted(set(range(20)) - {3, 7} | {70, 71, 99})
        assert server.action("stats")["members_parsed"] == 22
        with pytest.raises(pa.ArrowInvalid, match="many changed"):  # the ticket is of another version
            client.do_get(before.endpoints[0].ticket).read_all()


def test_formats_are_mixed_and_errors_name_the_file(tmp_path):
    (tmp_path / "data").mkdir()
    rng = random.Random(6)
    write(tmp_path / "parts/a.geojson", [feature(rng, 1)])
    parquet.write_table(pa.table({"n": pa.array([2, 3], pa.int64()), "name": ["b", None]}), tmp_path / "parts/b.parquet")
    (tmp_path / "parts/c.csv").write_text("n,name\n4,c\n")
    config = tmp_path / "vibeflight.toml"
    config.write_text(f"""
[[datasets]]
name = "mixed"
files = ["{tmp_path}/parts/*"]
filename = "file"
""")
    with Server(tmp_path / "data", "--config", str(config)) as server:
        client = server.client()
        table = read(client, name="mixed")
        assert table["n"].to_pylist() == [1, 2, 3, 4] and table["name"].to_pylist() == ["row 1", "b", None, "c"]
        assert [f.rsplit("/", 1)[1] for f in table["file"].to_pylist()] == ["a.geojson", "b.parquet", "b.parquet", "c.csv"]
        assert table.schema.field("n").type == pa.int64()
        parquet.write_table(pa.table({"n": ["text"]}), tmp_path / "parts/d.parquet")
        server.action("refresh")
        with pytest.raises(pa.ArrowInvalid, match=r'd\.parquet: column "n": it is utf8, where it is int64'):
            read(client, name="mixed")
    config.write_text(config.read_text() + 'on_error = "skip"\n')
    with Server(tmp_path / "data", "--config", str(config)) as server:
        assert read(server.client(), name="mixed")["n"].to_pylist() == [1, 2, 3, 4]
        skipped = server.action("describe", b"mixed")["dataset"]
        assert (skipped["files"], skipped["skipped"]) == (3, 1) and "d.parquet" in skipped["first"][0]["name"]


def test_a_file_that_does_not_fit_leaves_its_pack(tmp_path):
    """The files after the large one are read together; one of them joins neither it nor the dataset."""
    (tmp_path / "data").mkdir()
    (tmp_path / "parts").mkdir()
    texts = [random.Random(n).randbytes(50).hex() for n in range(20_000)]
    parquet.write_table(pa.table({"x": texts, "n": range(20_000)}), tmp_path / "parts/0.parquet", compression="none")
    assert (tmp_path / "parts/0.parquet").stat().st_size > 1 << 20
    parquet.write_table(pa.table({"n": [-1]}), tmp_path / "parts/1.parquet")
    parquet.write_table(pa.table({"x": [2], "n": [-2]}), tmp_path / "parts/2.parquet")
    parquet.write_table(pa.table({"x": ["three"], "n": [-3]}), tmp_path / "parts/3.parquet")
    config = tmp_path / "vibeflight.toml"
    config.write_text(f'[[datasets]]\nname = "some"\nfiles = "{tmp_path}/parts/*"\non_error = "skip"\n')
    with Server(tmp_path / "data", "--config", str(config)) as server:
        table = read(server.client(), name="some", rows=[20_000, 30_000])
        assert table["n"].to_pylist() == [-1, -3] and table["x"].to_pylist() == [None, "three"]
        about = server.action("describe", b"some")["dataset"]
        assert (about["files"], about["skipped"]) == (3, 1) and 'column "x"' in about["first"][0]["reason"]


def test_sql_opens_only_files_that_can_match(tmp_path):
    (tmp_path / "data").mkdir()
    rows = 60_000
    for year in range(2000, 2006):
        folder = tmp_path / f"parts/year={year}"
        folder.mkdir(parents=True)
        folder.joinpath("a.csv").write_text("n,text\n" + "".join(f"{n},text {n} of {year}\n" for n in range(rows)))
    flags = ("--dataset", f"many={tmp_path}/parts/*/*.csv")
    cache = tmp_path / "cache"
    with Server(tmp_path / "data", *flags, cache=cache) as server:
        assert sql.ask(server.client(), "SELECT count(*) AS n FROM many").to_pylist() == [{"n": 6 * rows}]
        server.wait_until_saved(6)
    for query, opened in [
        ("SELECT sum(n) AS s FROM many WHERE year = 2003", 1), ("SELECT sum(n) AS s FROM many WHERE year BETWEEN 2001 AND 2002", 2),
        ("SELECT sum(n) AS s FROM many WHERE year > 2010", 0), ("SELECT sum(n) AS s FROM many", 6),
    ]:
        with Server(tmp_path / "data", *flags, cache=cache) as server:
            total = sql.ask(server.client(), query).to_pylist()[0]["s"]
            assert total == (opened * sum(range(rows)) or None)
            stats = server.action("stats")
            assert (stats["parses"], stats["cache"]["loads"]) == (0, opened), query
