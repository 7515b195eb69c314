"""The stores that tests of remote files start: each serves the files of a folder, and ends with its `with`."""
import gzip
import hashlib
import json
import pathlib
import random
import tempfile
import threading
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


def put(path, text):
    """Writes a file as a whole: a store never shows half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        new = pathlib.Path(folder, "new")
        new.write_text(text)
        new.rename(path)


def datasets(folder, **patterns):
    """A configuration of datasets by name."""
    config = folder / "datasets.toml"
    config.write_text("".join(f'[[datasets]]\nname = "{name}"\nfiles = "{pattern}"\n\n' for name, pattern in patterns.items()))
    return config


def pattern_of(store, pattern):
    address, _, options = store.url.replace("azblob://", "az://").partition("?")
    return address.rstrip("/") + "/" + pattern + ("?" + options if options else "")


def features(first, rows, **more):
    return json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"n": n, "name": f"row {n}", **more}, "geometry": {"type": "Point", "coordinates": [n % 180, n % 90]}}
        for n in range(first, first + rows)]})  # fmt: skip


@pytest.mark.parametrize("store", [stores.S3, stores.GCS, stores.Azure, stores.HTTP], ids=lambda s: s.kind)
def test_dataset_of_a_store_is_the_local_one(tmp_path, store, monkeypatch):
    """Of many files: with folders, mixed types, and one that is large. Also after objects were changed, added and removed."""
    parts = tmp_path / "files" / "parts"
    (tmp_path / "data").mkdir()
    for i in range(40):
        put(parts / f"year={2000 + i // 10}" / f"{i:02d}.geojson", features(100 * i, i % 9, **({"code": i if i < 35 else "text"} if i >= 20 else {})))
    put(parts / "year=2001/15a.geojson", features(5000, 12_000, height=1.5))
    put(parts / "year=2004/a.csv", "n,code\n-1,x\n")
    with store(tmp_path / "files") as s:
        for key, value in s.env.items():
            monkeypatch.setenv(key, value)
        config = datasets(tmp_path, local=f"{parts}/**/*.[gc]*", remote=pattern_of(s, "parts/**/*.[gc]*"))
        with serving.Server(tmp_path / "data", "--config", str(config)) as server:
            def compare(rows_of):
                want, got = rows(server, "local"), rows(server, "remote")
                assert got.num_rows == rows_of and got.equals(want) and got.schema.equals(want.schema, check_metadata=True)
                assert digest(got) == digest(want)
                return server.client().get_flight_info(pyarrow.flight.FlightDescriptor.for_path("remote")).endpoints[0].ticket

            few = sum(i % 9 for i in range(40))
            ticket = compare(few + 12_001)
            if store is stores.Azure:  # it has copies of the files
                return
            parsed = server.action("stats")["members_parsed"]
            put(parts / "year=2000/01.geojson", features(9000, 7))
            put(parts / "year=2005/new.geojson", features(9100, 2, colour="red"))
            (parts / "year=2003/32.geojson").unlink()
            server.action("refresh")
            compare(few - 1 + 7 + 2 - 32 % 9 + 12_001)
            assert server.action("stats")["members_parsed"] == parsed + 4  # two of each dataset
            with pytest.raises(pyarrow.ArrowInvalid, match="remote changed"):
                server.client().do_get(ticket).read_all()


@pytest.mark.parametrize("store", [stores.S3, stores.GCS, stores.HTTP], ids=lambda s: s.kind)
def test_object_of_a_dataset_that_is_overwritten(tmp_path, store, monkeypatch):
    """Its rows are all of one version, or the read is an error."""
    (tmp_path / "data").mkdir()
    count, pad = 110_000, "x" * 90  # more than one request

    def write(version):
        put(tmp_path / "files/parts/b.csv", "v,pad\n" + f"{version},{pad}\n" * count)

    put(tmp_path / "files/parts/a.csv", "v,pad\n-1,a\n")
    write(0)
    flags = [] if store is stores.GCS else ["--latency", "20ms"]
    with store(tmp_path / "files", *flags) as s:
        for key, value in s.env.items():
            monkeypatch.setenv(key, value)
        config = datasets(tmp_path, remote=pattern_of(s, "parts/*.csv"))
        with serving.Server(tmp_path / "data", "--config", str(config)) as server:
            whole, failed = 0, 0
            for version in range(1, 13):
                overwrite = threading.Timer(random.Random(version).uniform(0, 0.15), write, [version])
                overwrite.start()
                try:
                    table = rows(server, "remote")
                    assert table.num_rows == count + 1
                    assert len(set(table["v"].to_pylist()[1:])) == 1, "rows of two versions"
                    whole += 1
                except pyarrow.ArrowInvalid as e:
                    assert "changed" in str(e)
                    failed += 1
                overwrite.join()
            assert whole + failed == 12
            server.action("refresh")
            assert set(rows(server, "remote")["v"].to_pylist()[1:]) == {12}
