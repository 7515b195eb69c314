"""Every block of Python and shell in these pages of docs/how-to runs; test_client_programs.py does docs/how-to/clients, test_sessions.py the README and the tutorial."""
import re
import subprocess
import sys

import geopandas
import pyarrow as pa
import pytest
from conftest import ticket
from serving import BINARY, ROOT, Server

sys.path.insert(0, str(ROOT / "integration" / "bench"))
import render  # noqa: E402

ADDRESS = "grpc://127.0.0.1:8815"


def blocks(page, language):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def test_clients_page_in_a_shell(server, tmp_path):
    (block,) = blocks("docs/how-to/clients.md", "sh")
    (tmp_path / "bin").symlink_to(BINARY.parent)
    done = subprocess.run(["sh", "-eu", "-c", block.replace(ADDRESS, server.uri)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "world/countries.geojson" in done.stdout
    assert geopandas.read_parquet(tmp_path / "europe.parquet").shape == (13, 2)


def test_cache_page(data, tmp_path, monkeypatch, capsys):
    """Its block opens the tables that a server has left."""
    (block,) = blocks("docs/explanation/cache.md", "python")
    with Server(data, cache=tmp_path / "cache") as server:
        server.client().do_get(ticket("grid.geojson")).read_all()
        server.wait_until_saved()
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/explanation/cache.md", "exec"), {})
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


def test_performance_page():
    """The pages and the README's figures are what integration/bench/render.py makes of the results."""
    assert (ROOT / "docs/performance.md").read_text(encoding="utf-8") == render.page(), "make performance writes it again"
    assert (ROOT / "README.md").read_text(encoding="utf-8") == render.readme(), "make performance writes it again"
    assert (ROOT / "docs/explanation/fleet-simulation.md").read_text(encoding="utf-8") == render.fleet_page(), "make performance writes it again"
    assert len(render.page().splitlines()) <= 220 and len(render.readme().splitlines()) <= 100


@pytest.mark.parametrize("page", sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]))
def test_lines_of_pages(page):
    """No line of a page has more than 160 columns."""
    long = [number for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1) if len(line) > 160]
    assert not long, f"lines {long} of {page}"
