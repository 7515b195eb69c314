"""The stores that tests of remote files start: each serves the files of a folder, and ends with its `with`."""
import gzip
import hashlib
import json
import time
import urllib.error
import urllib.request

import pyarrow
import pyarrow.flight
import pytest
import samples
import serving
import stores


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("text")
    return tmp_path


def status_and_text(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        return e.code, b""


@pytest.mark.parametrize("store, flags, path, want", [
    (stores.HTTP, [], "/a/b.txt", (200, b"text")),
    (stores.S3, [], "/data/a/b.txt", (403, b"")),
    (stores.S3, ["--public"], "/data/a/b.txt", (200, b"text")),
    (stores.GCS, [], "/data/a/b.txt", (200, b"text")),
    (stores.Azure, ["--public"], "/data/a/b.txt", (200, b"text")),
    (stores.Moto, [], "/data/a/b.txt", (403, b"")),
])
def test_store_serves_its_folder_and_ends(folder, store, flags, path, want):
    with store(folder, *flags) as s:
        assert status_and_text(s.endpoint + path) == want
    assert s.process.returncode == 0
    with pytest.raises(urllib.error.URLError) as gone:
        urllib.request.urlopen(s.endpoint + path)
    assert not isinstance(gone.value, urllib.error.HTTPError)


def test_generated_keys():
    with stores.S3Keys(1500, "--public") as s:
        status, page = status_and_text(f"{s.endpoint}/{s.bucket}?list-type=2")
        assert status == 200 and page.count(b"<Key>") == 1000 and b"<IsTruncated>true</IsTruncated>" in page


def test_missing_program_skips(monkeypatch, tmp_path):
    monkeypatch.setenv("VIBEFLIGHT_STORES", str(tmp_path / "none"))
    with pytest.raises(pytest.skip.Exception, match="make stores"), stores.S3(tmp_path):
        pass


def every_format(folder):
    """Writes a small file of every format and packing. Returns the names that a server has for them."""
    for kind, name in [("buildings", "buildings.geojson"), ("points", "points.geojsonl"), ("wkt", "polygons.wkt")]:
        serving.vibeflight("gen", kind, "--features", 3000, "-o", folder / name)
    for name in ["buildings.parquet", "buildings.arrow", "buildings.fgb"]:
        serving.vibeflight("get", folder / "buildings.geojson", "-o", folder / name)
    for sample in samples.SAMPLES:
        if not sample.options:
            sample.write(folder / sample.name)
    with gzip.open(folder / "packed.geojson.gz", "wb") as packed:
        packed.write((folder / "buildings.geojson").read_bytes())
    with serving.Server(folder) as disk:
        return [info.descriptor.path[0].decode() for info in disk.client().list_flights()]


def rows(server, name):
    return server.client().do_get(pyarrow.flight.Ticket(json.dumps({"name": name}).encode())).read_all()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    return folder, every_format(folder)


@pytest.mark.parametrize("store, flags", [(stores.S3, []), (stores.Moto, []), (stores.GCS, []), (stores.Azure, []), (stores.HTTP, []), (stores.HTTP, ["--no-ranges"]),
                                          (stores.HTTP, ["--no-etag"])], ids=lambda v: v.kind if isinstance(v, type) else "".join(v))
def test_same_bytes_from_every_store(files, store, flags, monkeypatch):
    folder, names = files
    with store(folder, *flags) as s, serving.Server(folder) as disk:
        for key, value in s.env.items():
            monkeypatch.setenv(key, value)
        with serving.Server(s.url.replace("azblob://", "az://")) as server:
            listed = [info.descriptor.path[0].decode() for info in server.client().list_flights()]
            assert set(names) - set(listed) == {n for n in names if n.endswith(".zip")}  # their format is not in their name
            for name in names:
                want, got = rows(disk, name), rows(server, name)
                assert got.equals(want), name
                assert got.schema.equals(want.schema, check_metadata=True), name
                assert digest(got) == digest(want), name


def digest(table):
    """The digest of a table as an Arrow stream: what is on the wire, but for its division into batches."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return hashlib.sha256(sink.getvalue()).hexdigest()


def test_replaced_object_is_read_anew(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("x\n1\n")
    with stores.S3(tmp_path) as s:
        for key, value in s.env.items():
            monkeypatch.setenv(key, value)
        with serving.Server(s.url) as server:
            assert rows(server, "a.csv").to_pydict() == {"x": [1]}
            (tmp_path / ".new").write_text("x\n2\n3\n")
            (tmp_path / ".new").rename(tmp_path / "a.csv")
            time.sleep(1.1)  # a description of an object is used for a second
            assert rows(server, "a.csv").to_pydict() == {"x": [2, 3]}
            (tmp_path / "b.csv").write_text("y\n1\n")
            assert rows(server, "b.csv").to_pydict() == {"y": [1]}
            server.action("refresh")
            assert len(list(server.client().list_flights())) == 2
            described = server.action("describe", json.dumps({"name": "a.csv"}).encode())
            assert described["identity"] == "etag"
            statistics = server.idle_statistics()
            assert statistics["parses"] == 3
            (of_store,) = statistics["stores"]
            assert of_store["root"].startswith("s3://data") and of_store["requests"] == 3 and of_store["retries"] == 0


def test_command_line_reads_urls(files, monkeypatch):
    folder, _ = files
    with stores.S3(folder, "--public") as s:
        for key, value in s.env.items():
            monkeypatch.setenv(key, value)
        want = serving.vibeflight("get", folder / "parcels.shp", "--csv")
        url = s.url.replace("?", "/parcels.shp?")
        assert serving.vibeflight("get", url, "--csv") == want
        assert "parcels.shp" in serving.vibeflight("ls", s.url)
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        assert serving.vibeflight("get", url, "--csv") == want  # anonymous
        assert "etag" in serving.vibeflight("info", url)


def test_sql_reads_urls(files, tmp_path, monkeypatch):
    folder, _ = files
    (tmp_path / "part").mkdir()
    for name in ["a.parquet", "part/b.parquet"]:
        (tmp_path / name).write_bytes((folder / "buildings.parquet").read_bytes())
    with stores.S3(tmp_path, "--public") as s:
        for key, value in s.env.items():
            monkeypatch.setenv(key, value)
        options = s.url[s.url.index("?"):]
        for signed in [True, False]:
            if not signed:
                monkeypatch.delenv("AWS_ACCESS_KEY_ID")
                monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
            for pattern, rows_of in [("a.parquet", 3000), ("*.parquet", 3000), ("**/*.parquet", 6000)]:
                answer = serving.vibeflight("sql", f"SELECT count(*) AS n FROM 's3://data/{pattern}{options}'", "--json")
                assert json.loads(answer) == {"n": rows_of}, pattern
