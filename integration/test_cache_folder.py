"""The folder of parsed tables: removed tables, several servers, a full disk, and a path that is not a folder."""
import concurrent.futures
import json

import pyarrow as pa
import pytest
from cached import about, files, fill, read
from conftest import bits
from serving import Server, vibeflight


def test_evict_forgets_the_file_too(data, tmp_path):
    fill(data, tmp_path, "grid.geojson", "mixed.geojson")
    with Server(data, cache=tmp_path) as server:
        want = bits(read(server, "grid.geojson"))
        assert server.action("evict", b"grid.geojson") == {"evicted": 1}
        assert len(files(tmp_path)) == 1
        assert about(server, "grid.geojson")["cached"] is False
        assert bits(read(server, "grid.geojson")) == want
        assert about(server, "mixed.geojson")["cached"] is True
        assert server.idle_statistics()["parses"] == 1


def test_evict_of_what_is_on_disk_alone(data, tmp_path):
    fill(data, tmp_path, "grid.geojson")
    with Server(data, cache=tmp_path) as server:
        assert server.action("evict", b"grid.geojson") == {"evicted": 1}
        assert server.action("evict", b"grid.geojson") == {"evicted": 0}
    assert files(tmp_path) == []


def test_a_server_that_is_told_to_stop_saves_first(generated, tmp_path):
    with Server(generated, cache=tmp_path) as server:
        read(server, "buildings.geojson")
    with Server(generated, cache=tmp_path) as server:
        assert about(server, "buildings.geojson")["cached"] is True
        assert server.action("stats")["parses"] == 0


def test_cache_ls(data, tmp_path):
    fill(data, tmp_path, "grid.geojson", "lines.geojsonl")
    listed = [json.loads(line) for line in vibeflight("cache", "ls", "--json", "--cache-dir", tmp_path).splitlines()]
    assert {(t["file"], t["rows"]) for t in listed} == {(str(data / "grid.geojson"), 100), (str(data / "lines.geojsonl"), 7)}
    assert {t["key"]: t["bytes"] for t in listed} == {f.stem: f.stat().st_size for f in files(tmp_path)}
    assert str(data / "grid.geojson") in vibeflight("cache", "ls", "--cache-dir", tmp_path)


def test_cache_clear_under_a_server(data, tmp_path):
    want = fill(data, tmp_path, "large.geojsonl")
    with Server(data, cache=tmp_path) as server:
        assert bits(read(server, "large.geojsonl")) == want["large.geojsonl"]
        assert vibeflight("cache", "clear", "--cache-dir", tmp_path).startswith("removed 1 table, ")
        assert files(tmp_path) == []
        # It has mapped the file, and continues to use it.
        assert bits(read(server, "large.geojsonl")) == want["large.geojsonl"]
        assert server.action("stats")["parses"] == 0
    with Server(data, cache=tmp_path) as server:
        assert bits(read(server, "large.geojsonl")) == want["large.geojsonl"]
        assert server.idle_statistics()["parses"] == 1
    assert vibeflight("cache", "clear", "--cache-dir", tmp_path).startswith("removed ")


@pytest.mark.parametrize("name", ["grid.geojson", "world/countries.geojson", "large.geojsonl"])
def test_what_was_cleared_is_parsed_once(data, tmp_path, name):
    """The types of such a file are known, so its rows are sent while it is parsed; a client that has received all of them does not end the parse."""
    fill(data, tmp_path, name)
    vibeflight("cache", "clear", "--cache-dir", tmp_path)
    with Server(data, cache=tmp_path) as server:
        first = bits(read(server, name))
        server.wait_until_saved()
        assert bits(read(server, name)) == first
        assert server.action("stats")["parses"] == 1


def test_a_folder_removed_under_a_server(data, tmp_path):
    """Removing tables with rm costs time, nothing else."""
    cache = tmp_path / "cache"
    with Server(data, cache=cache) as server:
        want = bits(read(server, "grid.geojson"))
        server.wait_until_saved()
        for file in files(cache):
            file.unlink()
        (cache / "tables").rmdir()
        assert bits(read(server, "grid.geojson")) == want
        assert read(server, "lines.geojsonl").num_rows == 7
        server.wait_until_saved(2)
    assert len(files(cache)) == 1


def test_two_servers_on_one_folder(data, tmp_path):
    with Server(data, cache=tmp_path) as first, Server(data, cache=tmp_path) as second:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            got = list(pool.map(lambda server: bits(read(server, "large.geojsonl")), (first, second)))
        assert got[0] == got[1]
        for server in (first, second):
            if server.idle_statistics()["parses"]:
                server.wait_until_saved()
        (file,) = files(tmp_path)

        # What the first one parses the second one does not.
        want = bits(read(first, "grid.geojson"))
        first.wait_until_saved(first.idle_statistics()["parses"])
        assert bits(read(second, "grid.geojson")) == want and second.action("stats")["cache"]["loads"] == 1

        first.action("evict", b"large.geojsonl")
        assert not file.exists()
        assert bits(read(second, "large.geojsonl")) == got[0]


def test_a_budget_evicts_what_was_used_longest_ago(data, tmp_path):
    names = ["world/countries.geojson", "grid.geojson", "types.geojson"]
    for name in names:
        fill(data, tmp_path, name)
    room = sum(f.stat().st_size for f in files(tmp_path)) - 1  # for all but one
    with Server(data, "--cache-bytes", str(room), cache=tmp_path) as server:
        assert server.action("stats")["cache"]["evictions"] == 1
        assert about(server, "grid.geojson")["cached"] is about(server, "types.geojson")["cached"] is True
        assert about(server, "world/countries.geojson")["cached"] is False


def test_a_table_that_the_cache_has_no_room_for_is_served(generated, tmp_path):
    with Server(generated, "--cache-bytes", "1MiB", cache=tmp_path) as server:
        assert read(server, "buildings.geojson").num_rows > 0
        with pytest.raises(RuntimeError, match="1 could not be"):
            server.wait_until_saved()
        assert "the parsed table is not in the cache" in server.log()
    assert files(tmp_path) == []


@pytest.mark.parametrize("room,flag", [("1MiB", "--memory"), ("24MiB", "--cache-bytes")])
def test_a_table_that_fits_nowhere_is_refused(generated, tmp_path, room, flag):
    """Its 30 MB are more than --memory, so they go to disk while the file is parsed."""
    with Server(generated, "--memory", "16MiB", "--cache-bytes", room, cache=tmp_path) as server:
        with pytest.raises(pa.ArrowException, match=rf"(?s)resource exhausted.*buildings\.geojson.*{flag}"):
            read(server, "buildings.geojson")
        assert read(server, "mixed.geojson", limit=1).num_rows == 1
    assert not list((tmp_path / "tables").glob(".tmp-*"))


def test_a_folder_that_cannot_be_made_costs_the_cache_alone(data, tmp_path):
    (tmp_path / "file").touch()
    with Server(data, cache=tmp_path / "file" / "cache") as server:
        assert read(server, "grid.geojson").num_rows == 100
        assert "cache" not in server.action("stats")
        assert "there is no cache on disk" in server.log()


def test_no_cache_leaves_no_file(data, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Server(data, cache="") as server:
        read(server, "grid.geojson")
        assert "cache" not in server.action("stats")
    assert list(tmp_path.iterdir()) == []


def test_without_a_cache_a_table_that_has_left_the_memory_is_known(generated):
    """Its rows are sent while it is parsed again, and are those of a table that is parsed first."""
    name, asks = "buildings.geojson", [{}, {"columns": ["height"]}, {"columns": ["name", "geometry"]}]
    with Server(generated, cache="") as server:
        want = [bits(read(server, name, **ask)) for ask in asks]
    with Server(generated, "--memory", "1MiB", cache="") as server:
        read(server, name)
        assert [bits(read(server, name, **ask)) for ask in asks] == want
        parses = server.idle_statistics()["parses"]
        assert about(server, name)["cached"] is False
        assert bits(read(server, name)) == want[0]
        assert server.idle_statistics()["parses"] == parses + 1  # one for both
