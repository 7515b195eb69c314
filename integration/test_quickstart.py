"""`vibeflight quickstart`: the programs that it prints are run as they are printed."""
import os
import re
import signal
import socket
import subprocess
import sys
import threading

import pytest
from serving import BINARY, ROOT

MARK = "──── "


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """What quickstart prints. The ports of serve are taken, by us if by no other program."""
    home = tmp_path_factory.mktemp("home")
    taken = []
    for port in (8815, 8080):
        s = socket.socket()
        taken.append(s)
        try:
            s.bind(("127.0.0.1", port))
            s.listen()
        except OSError:
            continue  # another program has it
    env = {"PATH": f"{BINARY.parent}:{os.environ['PATH']}", "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"),
           "PYTHONPATH": str(ROOT / "clients" / "python" / "src")}
    process = subprocess.Popen([str(BINARY), "quickstart", "sample", "--no-browser"], cwd=home, env=env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    stop = threading.Timer(120, process.kill)
    stop.start()
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("Ctrl-C"):
            break
    yield home, env, "".join(lines)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0, process.stdout.read()
    stop.cancel()
    for s in taken:
        s.close()


def snippets(text):
    """The programs by their titles."""
    parts = re.split(rf"^{MARK}(.*)\n", text.rpartition("Ctrl-C")[0], flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_output(started):
    home, _, text = started
    assert "countries.geojson is written: the countries of Natural Earth, public domain" in text
    assert "grpc://127.0.0.1:8815" not in text and "http://127.0.0.1:8080" not in text, text
    assert (home / "sample" / "countries.geojson").stat().st_size > 100_000
    assert len(snippets(text)) == 4, text


@pytest.mark.parametrize(("begins", "shows"), [
    ("Python with GeoPandas", "Tanzania"), ("Python with Polars", "Asia"), ("SQL", "China"), ("HTTP", '"Fiji"'),
])
def test_snippet(started, begins, shows):
    home, env, text = started
    (program,) = [p for title, p in snippets(text).items() if title.startswith(begins)]
    command = [sys.executable, "-c", program] if begins.startswith("Python") else ["sh", "-c", program]
    got = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert got.returncode == 0 and shows in got.stdout, f"{program}\n{got.stdout}\n{got.stderr}"
