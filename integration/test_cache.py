"""Parsed tables on disk: a server that starts again serves them without parsing, whatever has happened to the files meanwhile."""
import concurrent.futures
import json
import os
import pathlib
import struct

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.flight as flight
import pyarrow.parquet
import pytest
from cached import about, files, fill, read
from cases import FILES
from conftest import bits, ticket
from serving import Server, vibeflight

SEVERAL = ["kinds/polygon_xyz.geojson", "mixed.geojson", "types.geojson", "empty.geojson", "nulls.geojson", "lines.geojsonl",
           "world/countries.geojson", "large.geojsonl"]


def test_a_restart_parses_nothing(data, tmp_path):
    want = fill(data, tmp_path, *SEVERAL)
    with Server(data, cache=tmp_path) as server:
        for name in SEVERAL:
            assert about(server, name)["cached"] is True, name
            assert bits(read(server, name)) == want[name], name
        stats = server.action("stats")
    assert (stats["parses"], stats["cache"]["loads"], stats["cache"]["saves"]) == (0, len(SEVERAL), 0)


def test_the_first_read_is_not_cached(data, tmp_path):
    with Server(data, cache=tmp_path) as server:
        assert [about(server, "grid.geojson")["cached"] for _ in range(2)] == [False, True]
        server.wait_until_saved()
    with Server(data, cache=tmp_path) as server:
        assert about(server, "grid.geojson")["cached"] is True
        stats = server.action("stats")
    assert (stats["parses"], stats["cache"]["loads"]) == (0, 1)


@pytest.mark.parametrize("selection", [
    {"rows": [70_000, 200_000], "columns": ["n"]}, {"limit": 65_537}, {"geometry_encoding": "wkb"}, {"coords": "interleaved"},
    {"compression": "zstd"},
])
def test_selections_of_a_restarted_server(data, large_cache, read_large, selection):
    with Server(data, cache=large_cache) as server:
        assert bits(read(server, "large.geojsonl", **selection)) == bits(read_large(**selection))
        assert server.action("stats")["parses"] == 0


@pytest.fixture(scope="module")
def large_cache(data, tmp_path_factory):
    cache = tmp_path_factory.mktemp("large")
    fill(data, cache, "large.geojsonl")
    return cache


@pytest.fixture(scope="module")
def read_large(data):
    """read_large(**fields) returns the answer of a server without a cache."""
    with Server(data, cache="") as server:
        assert "cache" not in server.action("stats")
        yield lambda **fields: read(server, "large.geojsonl", **fields)


def test_endpoints_of_a_restarted_server(data, large_cache, read_large):
    with Server(data, cache=large_cache) as server:
        info = server.client().get_flight_info(flight.FlightDescriptor.for_path("large.geojsonl"))
        assert len(info.endpoints) >= 2
        parts = pa.concat_tables(server.client().do_get(e.ticket).read_all() for e in info.endpoints)
        assert bits(parts) == bits(read_large())


def boxes(bounds, n):
    """Boxes within the bounds, from points to a third of them, from a fixed seed; and one of everything, one of nothing."""
    xmin, ymin, xmax, ymax = bounds
    rs = np.random.default_rng(5)
    corner = np.column_stack([rs.uniform(xmin, xmax, n), rs.uniform(ymin, ymax, n)])
    size = np.array([xmax - xmin, ymax - ymin]) * np.geomspace(1e-5, 0.3, n)[:, None]
    yield from np.hstack([corner, corner + size]).tolist()
    yield [xmin, ymin, xmax, ymax]
    yield [xmax + 1, ymax + 1, xmax + 2, ymax + 2]


@pytest.mark.parametrize("name", ["buildings.geojson", "mixed.geojson"])
def test_boxes_of_a_restarted_server(generated, tmp_path, name):
    """The spatial index finds the rows that GeoPandas finds by a full scan."""
    fill(generated, tmp_path, name)
    with Server(generated, cache=tmp_path) as server:
        whole = read(server, name)
        bounds = geopandas.GeoDataFrame.from_arrow(whole).geometry.bounds.to_numpy()
        for box in boxes((np.nanmin(bounds[:, 0]), np.nanmin(bounds[:, 1]), np.nanmax(bounds[:, 2]), np.nanmax(bounds[:, 3])), 20):
            # NaN, of a null or empty geometry, compares false.
            meets = (bounds[:, 0] <= box[2]) & (bounds[:, 2] >= box[0]) & (bounds[:, 1] <= box[3]) & (bounds[:, 3] >= box[1])
            assert read(server, name, bbox=box).equals(whole.filter(pa.array(meets))), box
        assert server.action("stats")["parses"] == 0


def test_a_box_reads_little_of_the_file(data, large_cache):
    """A batch without a row that meets the box is not read."""
    (file,) = files(large_cache)
    with Server(data, cache=large_cache) as server:
        assert read(server, "large.geojsonl", bbox=[200, 0, 201, 1]).num_rows == 0
        little = server.action("stats")["cache"]["bytes_checked"]
        read(server, "large.geojsonl")
        assert little < server.action("stats")["cache"]["bytes_checked"] <= file.stat().st_size


def test_any_arrow_reader_opens_the_file(data, tmp_path):
    want = fill(data, tmp_path, *SEVERAL)
    found = set()
    for file in files(tmp_path):
        with pa.memory_map(str(file)) as f:
            found.add(bits(pa.ipc.open_file(f).read_all()))
    assert found == set(want.values())


def footer(file):
    """Start of the footer, by the tail of the file."""
    (at,) = struct.unpack("<Q", file.read_bytes()[-30:-22])
    return at


DAMAGE = {  # which byte is flipped, and what a client asks that must notice it
    "message": (lambda file: footer(file) // 4, {}),
    "index": (lambda file: footer(file) - 256, {"bbox": [-180, -90, 0.5, 90]}),  # some rows of each batch: otherwise the index is not used
    "footer": (lambda file: footer(file) + 1000, {}),
    "tail": (lambda file: file.stat().st_size - 20, {}),
    "last byte": (lambda file: file.stat().st_size - 1, {}),
}


@pytest.mark.parametrize("place", DAMAGE)
def test_a_damaged_file_is_parsed_again(data, tmp_path, place):
    at, fields = DAMAGE[place]
    fill(data, tmp_path, "large.geojsonl")
    with Server(data, cache=tmp_path) as server:
        want = bits(read(server, "large.geojsonl", **fields))
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    with open(file, "r+b") as f:
        f.seek(at(file))
        f.write(bytes([whole[at(file)] ^ 0x10]))
    with Server(data, cache=tmp_path) as server:
        assert bits(read(server, "large.geojsonl", **fields)) == want
        server.wait_until_saved()
        stats = server.idle_statistics()
        assert (stats["parses"], stats["cache"]["damaged"]) == (1, 1)
        assert "is damaged; the file is parsed again" in server.log()
    assert files(tmp_path) == [file] and file.read_bytes()[:footer(file)] == whole[:footer(file)]


def test_a_file_that_was_cut_off_is_parsed_again(data, tmp_path):
    want = fill(data, tmp_path, "large.geojsonl")
    (file,) = files(tmp_path)
    for size in (0, 45, file.stat().st_size // 2, file.stat().st_size - 1):
        os.truncate(file, size)
        with Server(data, cache=tmp_path) as server:
            assert bits(read(server, "large.geojsonl")) == want["large.geojsonl"]
            server.wait_until_saved()
            assert server.action("stats")["cache"]["damaged"] == 1, size


def test_a_damaged_database_is_set_aside(data, tmp_path):
    want = fill(data, tmp_path, "grid.geojson")
    (tmp_path / "catalog.sqlite").write_bytes(b"no database" * 1000)
    with Server(data, cache=tmp_path) as server:
        assert bits(read(server, "grid.geojson")) == want["grid.geojson"]
        server.wait_until_saved()
    assert len(list(tmp_path.glob("catalog.sqlite.broken-*"))) == 1
    with Server(data, cache=tmp_path) as server:
        assert about(server, "grid.geojson")["cached"] is True


def test_a_changed_file_is_parsed_again(tmp_path):
    served, cache = tmp_path / "data", tmp_path / "cache"
    served.mkdir()
    file = served / "a.geojson"
    file.write_text(FILES["grid.geojson"])
    fill(served, cache, "a.geojson")
    file.write_text(FILES["grid.geojson"].replace("cell 7\"", "cell X\""))  # the same size
    with Server(served, cache=cache) as server:
        assert "cell X" in read(server, "a.geojson")["name"].to_pylist()
        assert server.idle_statistics()["parses"] == 1


def test_a_file_with_another_time_is_read_and_not_parsed(tmp_path):
    served, cache = tmp_path / "data", tmp_path / "cache"
    served.mkdir()
    file = served / "a.geojson"
    file.write_text(FILES["grid.geojson"])
    want = fill(served, cache, "a.geojson")
    os.utime(file, (1e9, 1e9))
    with Server(served, cache=cache) as server:
        assert bits(read(server, "a.geojson")) == want["a.geojson"]
        stats = server.action("stats")
    assert (stats["parses"], stats["cache"]["loads"]) == (0, 1)


def test_of_a_sequence_that_grew_the_tail_is_parsed(data, tmp_path):
    served, cache = tmp_path / "data", tmp_path / "cache"
    served.mkdir()
    file = served / "a.geojsonl"
    file.write_bytes((data / "large.geojsonl").read_bytes())
    fill(served, cache, "a.geojsonl")
    with open(file, "a") as f:
        f.writelines('{"type":"Feature","properties":{"n":%d,"new":"%d"},"geometry":null}\n' % (-i, i) for i in range(70_000))
    with Server(served, cache="") as server:
        want = bits(read(server, "a.geojsonl"))
    with Server(served, cache=cache) as server:
        assert bits(read(server, "a.geojsonl")) == want
        server.wait_until_saved()
        assert server.action("stats")["cache"]["extensions"] == 1
    with Server(served, cache=cache) as server:
        assert bits(read(server, "a.geojsonl")) == want
        assert server.action("stats")["parses"] == 0


PLACES = 60_000
COLUMNAR = {"places.fgb": None, "places.parquet": ["height", "geometry"]}


@pytest.fixture(scope="module")
def columnar(tmp_path_factory):
    """The same polygons in the order of a Hilbert curve, as FlatGeobuf with an index and as GeoParquet in small row groups."""
    folder = tmp_path_factory.mktemp("columnar")
    vibeflight("gen", "buildings", "--features", PLACES, "-o", folder / "places.geojson")
    vibeflight("get", folder / "places.geojson", "-o", folder / "places.fgb")
    vibeflight("get", folder / "places.fgb", "-o", folder / "whole.parquet")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(folder / "whole.parquet"), folder / "places.parquet", row_group_size=4096)
    for name in ("places.geojson", "whole.parquet"):
        (folder / name).unlink()
    return folder


@pytest.mark.parametrize("name", COLUMNAR)
def test_of_a_lost_table_a_box_reads_what_it_needs(columnar, tmp_path, name):
    """The same rows and types as those of the whole table, and a part of the bytes."""
    with Server(columnar, "--batch-rows", "2048", cache=tmp_path) as server:
        xmin, ymin, _, _ = about(server, name)["bbox"]
        fields = {"bbox": [xmin, ymin, xmin + 0.2, ymin + 0.2], **({"columns": COLUMNAR[name]} if COLUMNAR[name] else {})}
        want = read(server, name, **fields)
        assert 0 < want.num_rows < PLACES / 10
        server.wait_until_saved()
    for file in files(tmp_path):
        file.unlink()
    with Server(columnar, "--batch-rows", "2048", cache=tmp_path) as server:
        before = bytes_read(server)
        got = read(server, name, **fields)
        took = bytes_read(server) - before
        stats = server.action("stats")
        info = server.client().get_flight_info(command({"name": name, **fields}))
        counted = server.action("stats")
    assert bits(got) == bits(want)
    assert (stats["parses"], stats["cache"]["parts"]) == (0, 1)
    assert took < (columnar / name).stat().st_size / 4
    assert (info.total_records, counted["parses"], counted["cache"]["parts"]) == (want.num_rows, 0, 2)


def test_a_lost_table_is_described_without_a_parse(data, tmp_path):
    """The answer is unchanged, and clients that read its endpoints one after the other make the server parse the file once."""
    path = flight.FlightDescriptor.for_path("large.geojsonl")
    want = fill(data, tmp_path, "large.geojsonl")["large.geojsonl"]
    with Server(data, cache=tmp_path) as server:
        before = server.client().get_flight_info(path)
        columns = command({"name": "large.geojsonl", "columns": ["n"], "limit": 70_000})
        some = server.client().get_flight_info(columns)
    for file in files(tmp_path):
        file.unlink()
    with Server(data, cache=tmp_path) as server:
        assert server.client().get_schema(path).schema.equals(before.schema, check_metadata=True)
        info = server.client().get_flight_info(path)  # from here on the file is parsed
        assert described(info) == described(before)
        assert json.loads(info.app_metadata) == json.loads(before.app_metadata) | {"cached": False}
        assert described(server.client().get_flight_info(columns)) == described(some)
        parts = pa.concat_tables(server.client().do_get(e.ticket).read_all() for e in info.endpoints)
        stats = server.idle_statistics()
    assert bits(parts) == want
    assert (stats["parses"], stats["cache"]["loads"]) == (1, 0)


def command(fields):
    return flight.FlightDescriptor.for_command(json.dumps(fields))


def described(info):
    """A FlightInfo without the fields about the cache and the duration of the parse."""
    return (info.schema.serialize().to_pybytes(), info.total_records, info.total_bytes, [e.ticket.ticket for e in info.endpoints],
            json.loads(info.app_metadata) | {"cached": None, "parse_seconds": None})


def bytes_read(server):
    """Bytes that the server's process has read from files and sockets."""
    return int(pathlib.Path(f"/proc/{server.process.pid}/io").read_text().split()[1])


def test_equal_files_share_a_table(tmp_path):
    served, cache = tmp_path / "data", tmp_path / "cache"
    served.mkdir()
    for name in ("a.geojson", "b.geojson"):
        (served / name).write_text(FILES["grid.geojson"])
    fill(served, cache, "a.geojson", "b.geojson")
    assert len(files(cache)) == 1


def test_64_clients_parse_once(data, tmp_path):
    with Server(data, cache=tmp_path) as server:
        clients = [flight.connect(server.uri) for _ in range(64)]
        try:
            with concurrent.futures.ThreadPoolExecutor(64) as pool:
                tables = list(pool.map(lambda client: client.do_get(ticket("large.geojsonl")).read_all(), clients))
        finally:
            for client in clients:
                client.close()
        assert {t.num_rows for t in tables} == {300_000} and all(t.equals(tables[0]) for t in tables)
        stats = server.idle_statistics()
    assert (stats["parses"], stats["misses"], stats["hits"] + stats["shared"]) == (1, 1, 63)


@pytest.mark.skipif(not hasattr(flight.FlightClient, "poll_flight_info"),
                    reason="pyarrow's client has no PollFlightInfo; flightsrv's Go tests call it")
def test_poll(generated):
    with Server(generated) as server:
        descriptor = flight.FlightDescriptor.for_path("buildings.geojson")
        while (poll := server.client().poll_flight_info(descriptor)).descriptor:
            assert 0 <= poll.progress <= 1
        assert poll.progress == 1 and poll.info.total_records > 0
