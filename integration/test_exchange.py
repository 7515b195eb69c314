"""Files that clients send for parsing: the tables are those of the same files in a folder, and nothing is kept."""
import gzip
import pathlib
import threading
import time
import zipfile

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from conftest import ticket
from exchanging import answer, begin, exchange, pieces, send
from samples import SAMPLES
from serving import Server, vibeflight
from test_cancel import together, wait_until_at_most
from test_formats import LAYERS

MIB = 1 << 20
FORMATS = {".csv": "csv", ".kml": "kml", ".kmz": "kml", ".gml": "gml", ".shp": "shapefile", ".dbf": "dbf", ".wkt": "wkt", ".geojson": "geojson"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder that is served: files of all formats, those of several files zipped."""
    folder, loose = tmp_path_factory.mktemp("exchanged"), tmp_path_factory.mktemp("loose")
    for sample in SAMPLES:
        path = folder / sample.name
        if path.suffix not in (".shp", ".dbf"):
            sample.write(path)
            continue
        sample.write(loose / sample.name)
        with zipfile.ZipFile(folder / f"{sample.name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for part in sorted(loose.glob(path.stem + ".*")):
                archive.write(part, part.name)
                part.unlink()
    for name, text in LAYERS.items():
        (folder / name).write_text(text)
    vibeflight("gen", "wkt", "--features", 3000, "-o", folder / "polygons.wkt")
    vibeflight("gen", "mixed", "--features", 3000, "-o", folder / "mixed.geojson")
    return folder


@pytest.fixture(scope="module")
def served(files):
    with Server(files) as server:
        yield server


NAMES = [s.name + ".zip" * s.name.endswith((".shp", ".dbf")) for s in SAMPLES] + ["polygons.wkt", "mixed.geojson"]


@pytest.mark.parametrize("name", NAMES)
def test_same_as_a_file(files, served, name):
    client = served.client()
    options = next((s.options for s in SAMPLES if s.name == name), {})
    stem = name.removesuffix(".zip")
    format = FORMATS.get(pathlib.Path(stem).suffix, "shapefile")
    file = (files / name).read_bytes()
    want = client.do_get(ticket(name, options=options)).read_all()
    for more in ({}, {"size": len(file)}):
        table, facts = exchange(client, file, format=format, options=options, **more)
        assert table.equals(want, check_metadata=True)
        assert facts["rows"] == want.num_rows and facts["format"] == format
    again, _ = exchange(client, file, format=format, options=options, size=len(file), shape=facts["shape"])
    assert again.equals(want, check_metadata=True)


def test_layers_and_packed_files(files, served):
    client = served.client()
    for name in LAYERS:
        file = (files / name).read_bytes()
        first, facts = exchange(client, file, format=FORMATS[pathlib.Path(name).suffix])
        assert len(facts["layers"]) > 1
        for layer in facts["layers"]:
            table, _ = exchange(client, gzip.compress(file), name=name + ".gz", layer=layer)
            assert table.equals(client.do_get(ticket(f"{name}#{layer}")).read_all(), check_metadata=True)
        assert first.equals(client.do_get(ticket(name)).read_all(), check_metadata=True)


def test_an_error_in_the_middle(files, served):
    """The position is that in the file, even if bytes are still in flight."""
    file = (files / "mixed.geojson").read_bytes()
    at = file.index(b'"Feature"', len(file) // 2)
    broken = file[:at] + b'"Faeture"' + file[at + 9:]
    (files / "broken.geojson").write_bytes(broken)
    client = served.client()
    with pytest.raises(pa.ArrowInvalid) as want:
        client.do_get(ticket("broken.geojson")).read_all()
    words = str(want.value).split("broken.geojson: ")[1].split(". gRPC")[0]
    for command in ({"format": "geojson"}, {"name": "mine.geojson", "size": len(broken)}):
        with pytest.raises(pa.ArrowInvalid) as got:
            exchange(client, broken, **command)
        assert f"{command.get('name', 'exchange')}: {words}" in str(got.value)


def test_rows_come_while_bytes_go(tmp_path):
    """With a size and a shape, the first batch arrives before the last byte is sent."""
    vibeflight("gen", "buildings", "--size", "20MB", "-o", tmp_path / "b.geojson")
    file = (tmp_path / "b.geojson").read_bytes()
    with Server(tmp_path, "--batch-rows", "4096") as server:
        client = server.client()
        want = client.do_get(ticket("b.geojson")).read_all()
        _, facts = exchange(client, file, format="geojson")
        writer, reader = begin(client, format="geojson", size=len(file), shape=facts["shape"])
        half = len(file) // 2
        for batch in pieces(file[:half]):
            writer.write_batch(batch)
        first = reader.read_chunk().data
        threading.Thread(target=send, args=(writer, pieces(file[half:]))).start()
        rest, facts = answer(reader)
        assert pa.concat_tables([pa.Table.from_batches([first]), rest]).equals(want)
        assert facts["rows"] == want.num_rows and "shape" not in facts


def leave_while_sending(uri, file):
    client = flight.connect(uri)
    try:
        writer, reader = begin(client, format="geojson", size=len(file))
        send(writer, list(pieces(file))[:-1])
        reader.cancel()
    finally:
        client.close()


def leave_with_the_answer(uri, file):
    client = flight.connect(uri)
    try:
        writer, reader = begin(client, format="geojson")
        send(writer, pieces(file))
        reader.read_chunk()
        reader.cancel()
    finally:
        client.close()


@pytest.mark.parametrize("leave", [leave_while_sending, leave_with_the_answer])
@pytest.mark.parametrize("times", [64, pytest.param(2000, marks=pytest.mark.long)])
def test_clients_that_leave_leave_nothing(data, leave, times):
    file = (data / "large.geojsonl").read_bytes()[:5 * MIB].rpartition(b"\n")[0]
    with Server(data) as server:
        together(lambda: leave(server.uri, file), times=32, at_once=16)
        time.sleep(0.5)
        files, memory = server.open_files(), server.resident_bytes()
        together(lambda: leave(server.uri, file), times=times, at_once=16)
        assert wait_until_at_most(lambda: server.action("stats")["sent"], 0) == 0
        assert wait_until_at_most(server.open_files, files + 2) <= files + 2
        assert wait_until_at_most(server.resident_bytes, memory + 64 * MIB) <= memory + 64 * MIB
        stats = server.action("stats")
        assert stats["tables"] == 0 and stats["cache"]["tables"] == 0 and stats["cache"]["writing_bytes"] == 0
        exchange(server.client(), file, format="geojson")


@pytest.mark.long
def test_memory_is_bounded(tmp_path):
    """200 MB, and a table of half of that, with 64 MiB for tables: the rest is in the cache folder during the call."""
    vibeflight("gen", "buildings", "--size", "200MB", "-o", tmp_path / "b.geojson")
    file = (tmp_path / "b.geojson").read_bytes()
    with Server(tmp_path, "--memory", "64MiB") as server:
        client = server.client()
        want = client.do_get(ticket("b.geojson")).read_all()
        for command in ({}, {"size": len(file)}):
            with server.resident_peak() as peak:
                table, facts = exchange(client, file, format="geojson", **command)
            assert table.equals(want)
            assert peak() < 320 * MIB
        with server.resident_peak() as peak:
            table, _ = exchange(client, file, format="geojson", size=len(file), shape=facts["shape"])
        assert table.equals(want)
        assert peak() < 320 * MIB
