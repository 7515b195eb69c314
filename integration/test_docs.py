"""Each block of Python and shell in these pages of docs/how-to runs. test_client_programs.py does docs/how-to/clients, test_sessions.py the rest."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

import geopandas
import matplotlib
import pyarrow as pa
import pytest
import sql
import vibeflight
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


def test_notebooks_page(data, tmp_path, monkeypatch, capsys):
    """Its blocks follow each other, as the cells of a notebook do."""
    matplotlib.use("agg")
    monkeypatch.setenv("VIBEFLIGHT_BINARY", str(BINARY))
    if sql.SPATIAL:
        monkeypatch.setenv("VIBEFLIGHT_DUCKDB_EXTENSIONS", str(sql.FETCHED))
    monkeypatch.syspath_prepend(str(ROOT / "clients/python/src"))
    shutil.copytree(data / "world", tmp_path / "data/world")
    monkeypatch.chdir(tmp_path)
    cells = {}
    left_out = [name for name in ("lonboard", "sedonadb") if importlib.util.find_spec(name) is None]
    for block in blocks("docs/how-to/notebooks.md", "python"):
        if not any(name in block for name in left_out):
            exec(compile(block, "docs/how-to/notebooks.md", "exec"), cells)
            for line in block.splitlines():
                if line in ("countries", "server", "africa"):
                    assert "vibeflight" in cells[line]._repr_html_()
    cells["server"].close()
    cells["vibeflight"].reading._server(("--unlisted", "/")).close()
    assert "51\n" in capsys.readouterr().out
    if left_out:
        pytest.skip(f"all blocks but those of {' and '.join(left_out)} ran: they are not installed")


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


def test_crs_page(tmp_path):
    """Its commands and its block of Python, on a file of roads and one of points."""
    point = '{"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[10,53.55]}}'
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "roads.geojson").write_text(point)
    (tmp_path / "points.csv").write_text("n,wkt\n1,POINT (566000 5934000)\n")
    for block in blocks("docs/explanation/crs.md", "sh"):
        environment = {**os.environ, "PATH": f"{BINARY.parent}:{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-eu", "-c", block], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert geopandas.read_parquet(tmp_path / "points.parquet").crs == "EPSG:25832"
    assert geopandas.read_file(tmp_path / "roads.fgb").crs == "EPSG:3857"
    (block,) = blocks("docs/explanation/crs.md", "python")
    with Server(tmp_path / "data") as server, vibeflight.connect(server.uri) as connection:
        said = {"server": connection}
        exec(compile(block, "docs/explanation/crs.md", "exec"), said)
        assert (said["table"].info.rows, said["table"].geopandas().crs) == (1, "EPSG:25832")


def test_performance_page():
    """The pages, the charts and the README's figures are what integration/bench/render.py makes of the results."""
    assert (ROOT / "docs/performance.md").read_text(encoding="utf-8") == render.page(), "make performance writes it again"
    assert (ROOT / "README.md").read_text(encoding="utf-8") == render.readme(), "make performance writes it again"
    assert (ROOT / "docs/explanation/fleet-simulation.md").read_text(encoding="utf-8") == render.fleet_page(), "make performance writes it again"
    for name, picture in render.pictures().items():
        assert (ROOT / "docs/images" / name).read_text(encoding="utf-8") == picture, "make performance writes it again"
    assert len(render.page().splitlines()) <= 220 and len(render.readme().splitlines()) <= 100


@pytest.mark.parametrize("page", sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]))
def test_lines_of_pages(page):
    """No line of a page has more than 160 columns."""
    long = [number for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1) if len(line) > 160]
    assert not long, f"lines {long} of {page}"


@pytest.mark.parametrize("page", sorted(path.name for path in ROOT.glob("docs/how-to/*.md")))
def test_first_sentence(page):
    """A guide begins with a sentence that says what its reader gets: not with a table, a list or a command."""
    heading, first, *_ = (ROOT / "docs/how-to" / page).read_text(encoding="utf-8").split("\n\n")
    assert heading.startswith("# ") and re.match(r"[A-Z`].*\.", first, re.S) and not first.startswith("```")
