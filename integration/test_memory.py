"""Tables larger than --memory: they go to disk while they are parsed, and the server's own memory stays bounded."""
import json
import shutil

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from conftest import bits, ticket
from serving import Server, vibeflight

MIB = 1 << 20
WORK = 256 * MIB  # memory of parses and calls in addition to tables: the server's own bound is 192 MiB, plus goroutines, SQLite and gRPC


def test_larger_than_memory(generated, tmp_path):
    with Server(generated, cache="") as server:
        want = bits(server.client().do_get(ticket("buildings.geojson")).read_all())
    for cached in (False, True):
        with Server(generated, "--memory", "16MiB", cache=tmp_path) as server, server.resident_peak() as peak:
            table = server.client().do_get(ticket("buildings.geojson")).read_all()
            assert bits(table) == want
            stats = server.idle_statistics()
            assert table.nbytes > 16 * MIB
            assert (stats["parses"], stats["cache"]["mapped_tables"]) == (0 if cached else 1, 1)
            server.wait_until_saved(stats["parses"])
            assert peak() <= 16 * MIB + WORK


@pytest.mark.long
@pytest.mark.parametrize("size", [5_000_000_000, 20_000_000_000])
def test_many_times_the_memory(tmp_path, size):
    memory = 256 * MIB
    free = shutil.disk_usage(tmp_path).free
    if free < 2 * size:  # the file, and a table of half its size
        pytest.skip(f"{free / 1e9:.0f} GB are free on this disk, {2 * size / 1e9:.0f} are wanted")
    served, cache = tmp_path / "data", tmp_path / "cache"
    served.mkdir()
    try:
        vibeflight("gen", "buildings", "--size", size, "-o", served / "x.geojson")
        for cached in (False, True):
            with Server(served, "--memory", str(memory), cache=cache) as server, server.resident_peak() as peak:
                client = server.client()
                info = client.get_flight_info(flight.FlightDescriptor.for_path("x.geojson"))
                assert json.loads(info.app_metadata)["cached"] is cached
                rows = sum(chunk.data.num_rows for chunk in client.do_get(ticket("x.geojson")))
                assert rows == info.total_records
                server.wait_until_saved(0 if cached else 1, seconds=900)
                print(f"cached {cached}: {rows:,} rows, {info.total_bytes / 1e9:.2f} GB, peak RssAnon {peak() / MIB:.0f} MiB")
                assert peak() <= memory + WORK
                compare_with_file(client, cache)
    finally:
        shutil.rmtree(tmp_path)  # pytest would keep it for three runs


def compare_with_file(client, cache):
    """The first million rows on the wire, compared with those of the cache's file as Arrow reads it."""
    (file,) = (cache / "tables").glob("*.arrow")
    wire = client.do_get(ticket("x.geojson", limit=1_000_000)).read_all()
    with pa.memory_map(str(file)) as f:
        reader = pa.ipc.open_file(f)
        first = pa.Table.from_batches(reader.get_batch(i) for i in range(1_000_000 // 65_536 + 1))
        assert bits(wire) == bits(first.slice(0, 1_000_000))
