"""Private servers: they start, are found, end with their process, and say why they don't start."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
from conftest import soon
from serving import BINARY

import vibeflight
from vibeflight import binary as finding
from vibeflight import process

SOURCE = pathlib.Path(vibeflight.__file__).parent.parent
POSIX = pytest.mark.skipif(os.name == "nt", reason="there are no unix sockets here")


@pytest.fixture
def world(data):
    """A folder with one file, and one that no format is of."""
    return data / "world"


def folder_of(server):
    """The private folder of a server's socket."""
    return pathlib.Path(server.location.removeprefix("grpc+unix://")).parent


@POSIX
def test_a_private_server(world):
    with vibeflight.serve(world) as server:
        assert [entry.name for entry in server.list()] == ["countries.geojson"]
        assert server.table("countries.geojson", columns="name").arrow().num_rows == 177
        assert server.sql("SELECT count(*) AS n FROM countries").arrow().to_pylist() == [{"n": 177}]
        folder = folder_of(server)
        assert folder.stat().st_mode & 0o777 == 0o700 and server.token is None and server.is_running()
        assert repr(server) == f"<vibeflight.Server at {server.location}>"
    assert not server.is_running() and not folder.exists() and server.log() == ""
    assert repr(server).endswith(", ended>")
    with pytest.raises(ValueError, match="closed"):
        server.list()
    server.close()


def test_each_call_starts_a_server(data, world):
    with vibeflight.serve(world) as first, vibeflight.serve(world) as second:
        assert first.pid != second.pid
        first.close()
        assert second.table("countries.geojson", columns="name").arrow().num_rows == 177


def test_what_is_served(data, world, tmp_path):
    """A file, several, a dict of aliases; the current folder by default."""
    with vibeflight.serve(str(data / "grid.geojson")) as server:
        assert [entry.name for entry in server.list()] == ["grid.geojson"]
    with vibeflight.serve([data / "grid.geojson", world]) as server:
        assert [entry.name for entry in server.list()] == ["countries.geojson", "grid.geojson"]
    with vibeflight.serve({"a": world, "b": data / "grid.geojson"}, cache_dir=tmp_path / "cache", engine="cpu") as server:
        assert [entry.name for entry in server.list()] == ["a/countries.geojson", "b/grid.geojson"]
        assert server.table("b/grid.geojson").info.rows == 100
    assert (tmp_path / "cache").is_dir()
    done = run(world, "print([entry.name for entry in vibeflight.serve(cache_dir='none').list()])")
    assert done.stdout.strip() == "['countries.geojson']", done.stderr


def test_more_arguments(world, tmp_path):
    with vibeflight.serve(world, arguments=["--writable", f"new={tmp_path / 'new'}", "--http", "127.0.0.1:0"]) as server:
        assert server.console.startswith("http://127.0.0.1:")
        server.put("new/copy.arrow", server.table("countries.geojson", columns=["name", "geometry"]))
        assert server.table("new/copy.arrow").info.rows == 177


def test_a_port_with_a_token(world, monkeypatch):
    """Where no unix socket can be had."""
    monkeypatch.setattr(process, "_private_folder", lambda: None)
    with vibeflight.serve(world) as server:
        assert server.location.startswith("grpc://127.0.0.1:") and server.token.startswith("vf_")
        assert server.table("countries.geojson", columns="name").arrow().num_rows == 177
        with vibeflight.connect(server.location) as other, pytest.raises(vibeflight.Unauthenticated):
            other.list()
        with vibeflight.connect(server.location, token=server.token) as other:
            assert len(other.list()) == 1
        folder = pathlib.Path(server._process._folder)
        assert folder.is_dir()
    assert not folder.exists()


@POSIX
def test_a_long_folder_for_temporary_files(world, tmp_path, monkeypatch):
    """A socket's path is short, so that the folder is another one then."""
    long = tmp_path / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(process.tempfile, "tempdir", str(long))
    with vibeflight.serve(world) as server:
        assert folder_of(server).parent == pathlib.Path("/tmp")


def test_a_server_lives_as_long_as_what_it_gave(world):
    countries = vibeflight.serve(world).table("countries.geojson", columns="name")
    assert countries.arrow().num_rows == 177
    ended = countries._channel.owner._child
    del countries
    soon(lambda: ended.poll() is not None)


@pytest.mark.parametrize("arguments, message", [
    ({"data": "/nothing/here"}, r'--data: "/nothing/here": no such file or directory'),
    ({"arguments": ["--frobnicate"]}, "unknown flag: --frobnicate"),
    ({"engine": "gpu"}, '--engine: "gpu" is none of auto, cpu, cuda'),
    ({"data": __file__}, "no file of a known format"),
], ids=str)  # fmt: skip
def test_a_server_that_does_not_start(arguments, message):
    with pytest.raises(vibeflight.NotStarted) as caught:
        vibeflight.serve(**arguments)
    assert message in str(caught.value) and "--help" not in str(caught.value)


def test_a_server_that_dies_at_its_start(tmp_path, monkeypatch):
    """What it printed last is in the error."""
    program = tmp_path / "vibeflight"
    program.write_text("#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10; do echo line $i >&2; done\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv(finding.VARIABLE, str(program))
    with pytest.raises(vibeflight.NotStarted) as caught:
        vibeflight.serve(tmp_path)
    assert str(caught.value).splitlines() == ["the server ended with status 3", *(f"line {i}" for i in range(3, 11))]


def test_the_program_is_found(tmp_path, monkeypatch):
    """The variable, then the package, then the environment's scripts, then PATH."""
    monkeypatch.delenv(finding.VARIABLE)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(finding, "__file__", str(tmp_path / "package" / "binary.py"))
    monkeypatch.setattr(finding.sysconfig, "get_path", lambda _: str(tmp_path / "scripts"))
    with pytest.raises(vibeflight.NotStarted, match="pip install vibeflight"):
        finding.binary()
    for folder in (tmp_path, tmp_path / "scripts", tmp_path / "package" / "bin"):
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / finding.PROGRAM
        program.write_text("")
        program.chmod(0o755)
        assert finding.binary() == str(program)
    monkeypatch.setenv(finding.VARIABLE, str(BINARY))
    assert finding.binary() == str(BINARY)
    monkeypatch.setenv(finding.VARIABLE, str(tmp_path / "none"))
    with pytest.raises(vibeflight.NotStarted, match=r"VIBEFLIGHT_BINARY=.*none: no program is there"):
        finding.binary()


def test_settings_of_the_environment(world, monkeypatch):
    """Those of another server are not for this one, and those of the machine are."""
    for name, value in {"LISTEN": "0.0.0.0:0", "DATA": "/nothing", "USERS": "/nothing", "SERVER": "grpc://nothing", "MEMORY": "lots"}.items():
        monkeypatch.setenv(f"VIBEFLIGHT_{name}", value)
    with pytest.raises(vibeflight.NotStarted, match="VIBEFLIGHT_MEMORY"):
        vibeflight.serve(world)
    monkeypatch.setenv("VIBEFLIGHT_MEMORY", "64MiB")
    with vibeflight.serve(world) as server:
        assert len(server.list()) == 1


def run(folder, program, **options):
    """Runs a program in a Python of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run([sys.executable, "-c", "import vibeflight\n" + program], cwd=folder, env=environment, capture_output=True, text=True, **options)


def start(folder, program):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", "import os, time, vibeflight\n" + program]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


STARTED = "server = vibeflight.serve()\nprint(server.pid, server.location.removeprefix('grpc+unix://'), flush=True)\n"


def gone(pid):
    """Whether a process has ended; one that nobody waited for has too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = pathlib.Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


@POSIX
@pytest.mark.parametrize("end", ["print('end')", "os._exit(3)", "os.kill(os.getpid(), 9)", "time.sleep(600)"], ids=str)
def test_the_server_ends_with_its_process(world, end):
    """However that ends, and nothing of it stays."""
    with start(world, STARTED + end) as child:
        pid, socket = child.stdout.readline().split()
        if end.startswith("time"):
            assert not gone(int(pid))
            child.kill()
        child.wait()
        soon(lambda: gone(int(pid)) and not pathlib.Path(socket).parent.exists(), seconds=30)


@POSIX
def test_a_forked_process_does_not_keep_the_server(world):
    fork = "child = os.fork()\nif child == 0: time.sleep(600)\nprint(child, flush=True)\ntime.sleep(600)"
    with start(world, STARTED + fork) as child:
        pid, socket = child.stdout.readline().split()
        forked = int(child.stdout.readline())
        child.kill()
        try:
            soon(lambda: gone(int(pid)) and not pathlib.Path(socket).parent.exists(), seconds=30)
            assert not gone(forked)
        finally:
            os.kill(forked, signal.SIGKILL)


@POSIX
def test_an_interrupt_of_the_terminal_is_not_for_the_server(world):
    with vibeflight.serve(world) as server:
        assert os.getsid(server.pid) == server.pid != os.getsid(0)


def test_a_server_that_was_killed(world):
    with vibeflight.serve(world) as server:
        os.kill(server.pid, signal.SIGKILL)
        soon(lambda: not server.is_running())
        with pytest.raises(vibeflight.Unavailable):
            server.list()
        folder = folder_of(server)
    assert not folder.exists()
