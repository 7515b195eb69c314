"""The console in a real browser: integration/web drives Chromium by playwright-core, and asserts."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import time
import urllib.request

import geopandas
import pyarrow as pa
import pytest
import sql
from logins import Files
from serving import ROOT, Server, free_port

WEB = ROOT / "integration" / "web"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
BROKEN = '{"type":"FeatureCollection","features":[\n%s,\n%s\n]}'
POINT = '{"type":"Feature","properties":{"a":%s},"geometry":{"type":"Point","coordinates":[%s]}}'
STRINGS, COLUMNS, NAMES = 1000, 100, 50  # of hostile texts


def missing():
    if not shutil.which("node"):
        return "there is no node"
    if not CHROMIUM:
        return "there is no chromium: apt install chromium, or CHROMIUM=/path"
    if not (WEB / "node_modules" / "playwright-core").exists():
        return "integration/web/node_modules is not here: make test-clients installs it"
    return None


pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    """Files for the map: Natural Earth, points, lines, geometries of all kinds, a projected table, and a broken file."""
    at = tmp_path_factory.mktemp("console")
    shutil.copytree(data / "world", at / "world")
    points = random.Random(1)
    with open(at / "points.csv", "w", encoding="utf-8") as f:
        f.write("id,value,lon,lat\n")
        f.writelines(f"{i},{points.gauss(0, 1):.3f},{points.uniform(-170, 170):.5f},{points.uniform(-60, 75):.5f}\n" for i in range(20_000))
    line = '{"type":"Feature","properties":{"n":%d},"geometry":{"type":"LineString","coordinates":[[%d,-60],[%d,70]]}}'
    (at / "lines.geojson").write_text('{"type":"FeatureCollection","features":[%s]}' % ",".join(line % (i, i, i + 5) for i in range(-150, 150, 10)))
    mixed = [
        '{"type":"Point","coordinates":[0,0]}',
        '{"type":"LineString","coordinates":[[-150,0],[150,0]]}',
        '{"type":"GeometryCollection","geometries":[{"type":"Polygon","coordinates":[[[-60,-40],[60,-40],[60,40],[-60,40],[-60,-40]],[[-20,-20],[-20,20],[20,20],[20,-20],[-20,-20]]]}]}',
    ]
    (at / "mixed.geojson").write_text('{"type":"FeatureCollection","features":[%s]}' % ",".join('{"type":"Feature","properties":{},"geometry":%s}' % g for g in mixed))
    (at / "broken.geojson").write_text(BROKEN % (POINT % (1, "1,2"), POINT % (2, "1,")))
    countries = geopandas.read_file(data / "world" / "countries.geojson")
    countries[countries.continent == "Europe"].clip([-10, 35, 40, 70]).to_crs("EPSG:3035").to_parquet(at / "projected.parquet")
    return at


class Console:
    """A server with HTTP and the address of its console."""

    def __init__(self, folder, *flags):
        self.address = f"127.0.0.1:{free_port()}"
        self.base = f"http://{self.address}"
        self.server = Server(folder, "--http", self.address, *sql.FLAGS, *flags)

    def __enter__(self):
        self.server.__enter__()
        while "listening on grpc" not in self.server.log():  # the listener of HTTP is first
            time.sleep(0.01)
        return self

    def __exit__(self, *args):
        self.server.__exit__(*args)

    def run(self, scenario, tmp_path=None, **options):
        """Runs a scenario, and returns what it has measured."""
        options |= {"base": self.base, "chromium": CHROMIUM}
        if tmp_path:
            options["failed"] = str(tmp_path / "failed.png")
        done = subprocess.run(["node", "console.mjs", scenario, json.dumps(options)], cwd=WEB, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def console(folder):
    with Console(folder) as c:
        yield c


@pytest.mark.parametrize("scenario", ["catalog", "error", "table", "tiles", "dark", "server", "accessibility", "keyboard"])
def test_page(console, scenario, tmp_path):
    console.run(scenario, tmp_path)


@sql.needs_spatial
@pytest.mark.parametrize("scenario", ["map", "sql"])
def test_page_with_spatial(console, scenario, tmp_path):
    console.run(scenario, tmp_path)


@sql.needs_spatial
def test_snippets_run(console, tmp_path, monkeypatch):
    """Each snippet gives the 13 rows of the box, without the column that is not selected."""
    texts = console.run("snippets", tmp_path, address=console.server.uri)
    names = {}
    for label in "pyarrow", "GeoPandas", "DuckDB", "Polars":
        exec(compile(texts[label], label, "exec"), names)
    assert (names["table"].num_rows, names["frame"].height) == (13, 13)
    assert names["table"].column_names == names["frame"].columns == ["pop_est", "continent", "name", "iso_a3", "geometry"]
    request = urllib.request.Request(f"{console.base}/v1/sql", json.dumps({"query": texts["SQL"]}).encode())
    assert pa.ipc.open_stream(urllib.request.urlopen(request)).read_all().num_rows == 13
    monkeypatch.chdir(tmp_path)
    subprocess.run(texts["curl"], shell=True, check=True, capture_output=True)
    assert pa.ipc.open_stream((tmp_path / "table.arrows").read_bytes()).read_all().num_rows == 13


def test_login(folder, tmp_path):
    files = Files(tmp_path)
    with Console(folder, *files.flags) as c:
        c.run("login", tmp_path, user="alice", password="secret", token=files.token)


def test_hostile_text_is_shown_as_text(tmp_path, tmp_path_factory):
    """Names of files and columns, values, and texts of errors are full of markup. None of it is read as HTML."""
    at = tmp_path_factory.mktemp("hostile")
    texts = json.loads(subprocess.run(["node", "hostile.mjs", str(STRINGS)], cwd=WEB, capture_output=True, text=True, check=True).stdout)
    features = []
    for i, text in enumerate(texts):
        properties = {"text": text} | ({name: name for name in texts[:COLUMNS]} if i == 0 else {})
        features.append({"type": "Feature", "properties": properties, "geometry": {"type": "Point", "coordinates": [0, 0]}})
    (at / "hostile.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    for i, text in enumerate(texts[:NAMES]):
        name = text.replace("/", "_")
        (at / f"{i} {name}.geojson").write_text(BROKEN % (POINT % (1, "1,2"), POINT % (2, json.dumps(text))))
        (at / f"broken-hostile-{i}.geojson").write_text('{"type":"FeatureCollection","features":[{"type":%s}]}' % json.dumps(text))
    with Console(at) as c:
        c.run("hostile", tmp_path, strings=STRINGS, columns=COLUMNS, names=NAMES)


def test_speed(tmp_path, tmp_path_factory, capsys):
    """The console's size is asserted, its times are printed: they depend on the machine, which has no GPU here."""
    at = tmp_path_factory.mktemp("points")
    points = random.Random(2)
    with open(at / "million.csv", "w", encoding="utf-8") as f:
        f.write("id,lon,lat\n")
        f.writelines(f"{i},{points.uniform(-170, 170):.4f},{points.uniform(-60, 75):.4f}\n" for i in range(1_000_000))
    with Console(at) as c:
        c.server.action("describe", b"million.csv")
        c.server.wait_until_saved()
        measured = c.run("speed", tmp_path, points="million.csv")
    with capsys.disabled():
        print(f"\nconsole: {measured}")


@pytest.mark.skipif(not os.environ.get("VIBEFLIGHT_SCREENSHOTS"), reason="VIBEFLIGHT_SCREENSHOTS=1 writes docs/images")
def test_screenshots(data):
    with Console(data) as c:
        c.run("screenshots", folder=str(pathlib.Path(ROOT) / "docs" / "images"))
