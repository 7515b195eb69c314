"""The command line and the server: the same tables from files and from servers, limits, refusals, exit status."""
import json
import signal
import subprocess

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from conftest import ticket
from serving import BINARY, Server, free_port, vibeflight


def read_file(path):
    with pa.memory_map(str(path)) as f:
        return pa.ipc.open_file(f).read_all()


def status(*arguments):
    """Exit status and stderr of a command that is expected to fail."""
    done = subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", ["grid.geojson", "mixed.geojson", "kinds/polygon_xyz.geojson", "types.geojson", "empty.geojson"])
def test_get_from_a_file_and_from_a_server(data, server, read, tmp_path, name):
    vibeflight("get", data / name, "-o", tmp_path / "file.arrow")
    vibeflight("get", name, "--server", server.uri, "-o", tmp_path / "server.arrow")
    want = read(name)
    for path in ("file.arrow", "server.arrow"):
        got = read_file(tmp_path / path)
        assert got.schema.equals(want.schema, check_metadata=True) and got.equals(want), path


def test_get_selects(data, read, tmp_path):
    vibeflight("get", data / "grid.geojson", "--columns", "name,n", "--bbox", "0,0,3,1", "--limit", 5, "-o", tmp_path / "x.arrows")
    with pa.memory_map(str(tmp_path / "x.arrows")) as f:
        got = pa.ipc.open_stream(f).read_all()
    assert got.equals(read("grid.geojson", columns=["name", "n"], bbox=[0, 0, 3, 1], limit=5))


def test_info_and_ls(data, server):
    said = json.loads(vibeflight("info", data / "world" / "countries.geojson", "--json"))
    assert (said["rows"], said["geometry_types"]) == (177, ["MultiPolygon", "Polygon"])
    assert "countries.geojson" in vibeflight("ls", "--server", server.uri)


def test_gen_is_the_same_each_time(tmp_path):
    for name in ("a", "b"):
        vibeflight("gen", "mixed", "--features", 1000, "-o", tmp_path / f"{name}.geojson")
    assert (tmp_path / "a.geojson").read_bytes() == (tmp_path / "b.geojson").read_bytes()


def test_exit_status(data, tmp_path):
    assert status("get", tmp_path / "absent.geojson")[0] == 1
    assert status("get")[0] == 2
    assert status("serve", "--data", data, "--no-such-flag")[0] == 2
    code, said = status("get", data / "broken.geojson", "-o", tmp_path / "x.arrow")
    assert code == 1 and "byte" in said
    assert not (tmp_path / "x.arrow").exists()


def test_no_gpu_engine_is_said(data):
    code, said = status("serve", "--data", data, "--engine", "cuda")
    assert code != 0 and "cpu" in said


def test_other_addresses_are_refused(data):
    code, said = status("serve", "--data", data, "--listen", f"0.0.0.0:{free_port()}")
    assert code != 0 and "--insecure" in said


def test_insecure_is_taken_at_its_word(data):
    with Server(data, "--insecure", listen=f"0.0.0.0:{free_port()}") as server:
        server.uri = server.uri.replace("0.0.0.0", "127.0.0.1")
        assert server.client().do_get(ticket("grid.geojson")).read_all().num_rows == 100


def test_termination(data):
    with Server(data) as server:
        server.client().do_get(ticket("grid.geojson")).read_all()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=20) == 0


@pytest.mark.parametrize("flags,text,words", [
    (["--max-depth", "8"], '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"a":[[[[[[1]]]]]]}}]}',
     ["--max-depth", "8"]),
    (["--max-file-bytes", "100"], '{"type":"FeatureCollection","features":[' + " " * 200 + "]}", ["--max-file-bytes", "100"]),
    (["--max-feature-bytes", "1000"],
     '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"a":"' + "x" * 2_000_000 + '"}}]}',
     ["--max-feature-bytes", "1000"]),
])
def test_limits(tmp_path, flags, text, words):
    (tmp_path / "x.geojson").write_text(text)
    with Server(tmp_path, *flags) as server:
        with pytest.raises((pa.ArrowException, flight.FlightError)) as e:
            server.client().do_get(ticket("x.geojson")).read_all()
    assert "resource exhausted" in str(e.value).lower() or "RESOURCE_EXHAUSTED" in str(e.value)
    for word in ["x.geojson", *words]:
        assert word in str(e.value)


def test_skip_for_the_whole_server(data):
    with Server(data, "--on-error", "skip") as server:
        assert server.client().do_get(ticket("ring.geojson")).read_all().num_rows == 1
