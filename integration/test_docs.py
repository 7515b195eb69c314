"""The pages' own words: every block of Python, Go and shell in docs/how-to/clients.md, cache.md, exchange.md and put.md runs, and the README's session gives what it shows."""
import doctest
import os
import re
import shutil
import subprocess

import geopandas
import pyarrow as pa
import pytest
from conftest import ticket
from serving import BINARY, ROOT, Server

ENVIRONMENT = {**os.environ, "CGO_ENABLED": "0"}  # as it is before conftest.py moves the cache folder: Go's own stays
ADDRESS = "grpc://127.0.0.1:8815"


def blocks(page, language):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("number", range(len(blocks("docs/how-to/clients.md", "python"))))
def test_clients_page(server, number):
    block = blocks("docs/how-to/clients.md", "python")[number]
    assert ADDRESS in block
    exec(compile(block.replace(ADDRESS, server.uri), f"docs/how-to/clients.md, block {number}", "exec"), {})


@pytest.mark.skipif(not shutil.which("go"), reason="there is no go here")
def test_clients_page_in_go(server, tmp_path):
    (block,) = blocks("docs/how-to/clients.md", "go")
    host = ADDRESS.removeprefix("grpc://")
    assert host in block
    (tmp_path / "main.go").write_text(block.replace(host, server.location), encoding="utf-8")
    done = subprocess.run(["go", "run", tmp_path / "main.go"], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "177 pop_est\n"), done.stderr


def test_clients_page_in_a_shell(server, tmp_path):
    (block,) = blocks("docs/how-to/clients.md", "sh")
    (tmp_path / "bin").symlink_to(BINARY.parent)
    done = subprocess.run(["sh", "-eu", "-c", block.replace(ADDRESS, server.uri)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "world/countries.geojson" in done.stdout
    assert geopandas.read_parquet(tmp_path / "europe.parquet").shape == (13, 2)


def test_cache_page(data, tmp_path, monkeypatch, capsys):
    """Its block opens the tables that a server has left."""
    (block,) = blocks("docs/how-to/cache.md", "python")
    with Server(data, cache=tmp_path / "cache") as server:
        server.client().do_get(ticket("grid.geojson")).read_all()
        server.wait_until_saved()
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/how-to/cache.md", "exec"), {})
    assert capsys.readouterr().out == "100 ['n', 'name', 'geometry']\n"


def test_exchange_page(data, server, tmp_path, monkeypatch):
    (block,) = blocks("docs/how-to/parsing-uploads.md", "python")
    (tmp_path / "florida.geojson").write_bytes((data / "grid.geojson").read_bytes())
    monkeypatch.chdir(tmp_path)
    said = {}
    exec(compile(block.replace(ADDRESS, server.uri), "docs/how-to/parsing-uploads.md", "exec"), said)
    assert said["table"].num_rows == 100


def test_put_page(data, tmp_path):
    (block,) = blocks("docs/how-to/storing-tables.md", "python")
    said = {"table": pa.table({"a": [1, 2, 3]})}
    with Server(data, "--writable", str(tmp_path / "stored")) as server:
        exec(compile(block.replace(ADDRESS, server.uri), "docs/how-to/storing-tables.md", "exec"), said)
    assert said["stored"]["name"] == "trips/monday.arrow" and said["stored"]["rows"] == 3


def test_readme_session(server):
    session = "\n".join(blocks("README.md", "pycon"))
    test = doctest.DocTestParser().get_doctest(session.replace(ADDRESS, server.uri), {}, "README.md", "README.md", 0)
    assert test.examples
    # pandas cuts its tables to the terminal's width.
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "120"
    try:
        output = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert runner.run(test, out=output.append).failed == 0, "".join(output)
    finally:
        os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)
