"""The calls of CUDA's driver, for which a library with files for memory stands in."""

import base64
import pathlib
import shutil
import subprocess
import sys

import pyarrow as pa
import pytest
from test_device import BATCH, SCHEMA, Card, closed, laid_out

import vibeflight

CLIENT = """
import sys, pyarrow as pa
from vibeflight import Error, device
try:
    table = device._taken(sys.argv[1], "0" * 32, "v1")
    rows = table.arrow()
    values = table.arrays("double")[0].__cuda_array_interface__
    capsules = table.batches[0].__arrow_c_device_array__()
except Error as e:
    sys.exit(str(e))
if sys.argv[2] == "close":
    table.close()
    del table, capsules
    print("closed", file=sys.stderr)
with pa.ipc.new_stream(sys.stdout.buffer, rows.schema) as out:
    out.write_table(rows)
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("driver")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "libcuda.so.1", pathlib.Path(__file__).with_name("fakecuda.c")], check=True)
    return folder


@pytest.fixture
def card(tmp_path):
    card = Card(tmp_path)
    yield card
    card.close()


def handle(path):
    return base64.b64encode(str(path).encode().ljust(64, b"\0")).decode()


def offer(card, folder, uuid="GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1", path=None):
    """Offers a table on the second GPU, with its allocations in files of the client's folder."""
    description, content = laid_out(SCHEMA, [BATCH])
    for i, piece in enumerate(content):
        (folder / f"m{i}").write_bytes(piece)
    allocations = [{"handle": handle(path or f"m{i}"), "bytes": len(piece)} for i, piece in enumerate(content)]
    card.offer({**description, "device": {"ordinal": 0, "uuid": uuid, "type": "cuda"}, "event": handle("ready"), "allocations": allocations}, [])


def run(driver, card, folder, how):
    env = {"PYTHONPATH": str(pathlib.Path(vibeflight.__file__).parents[1]), "LD_LIBRARY_PATH": str(driver)}
    return subprocess.run([sys.executable, "-c", CLIENT, card.path + ".share", how], env=env, cwd=folder, capture_output=True, timeout=60)


def test_calls(driver, card, tmp_path):
    """The second GPU is found by its UUID; everything is opened once, and closed when the last use has ended, after the kernels."""
    offer(card, tmp_path)
    client = run(driver, card, tmp_path, "close")
    assert client.returncode == 0, client.stderr
    with pa.ipc.open_stream(client.stdout) as rows:
        assert rows.read_all().equals(pa.Table.from_batches([BATCH]))
    calls = client.stderr.decode().splitlines()
    assert calls == ["init", "retain 1", "open", "open", "event ready", "wait", "wait", "synchronize", "close", "close", "destroy", "closed"]
    assert closed(card.leases[0])


def test_exit(driver, card, tmp_path):
    """At the end of the process the memory may be closed, or is left to the system."""
    offer(card, tmp_path)
    client = run(driver, card, tmp_path, "exit")
    assert client.returncode == 0, client.stderr
    assert client.stderr.decode().splitlines()[-1] in ("wait", "destroy")
    assert closed(card.leases[0])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"uuid": "GPU-" + "0" * 32}, "the table is on GPU-0000"),
        ({"path": "/nothing"}, "cuIpcOpenMemHandle_v2: error 400 of CUDA, CUDA_ERROR_FAKE"),
    ],
)
def test_errors(driver, card, tmp_path, wrong, text):
    offer(card, tmp_path, **wrong)
    client = run(driver, card, tmp_path, "exit")
    assert client.returncode == 1
    assert text in client.stderr.decode()
    assert closed(card.leases[0])
