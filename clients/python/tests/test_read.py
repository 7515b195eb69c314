"""From a file to its table in one call: paths, folders that are files, archives, URLs, errors."""

import functools
import http.server
import importlib.resources
import os
import pathlib
import shutil
import threading
import zipfile

import geopandas
import pyogrio
import pytest

import vibeflight
from vibeflight import reading

NATURAL_EARTH = importlib.resources.files("pyogrio") / "tests/fixtures/naturalearth_lowres"
POINT = '{"type": "Feature", "properties": {"n": 1}, "geometry": {"type": "Point", "coordinates": [1, 2]}}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("read")
    shutil.copytree(str(NATURAL_EARTH), folder / "shapes")
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        for part in pathlib.Path(str(NATURAL_EARTH)).iterdir():
            archive.write(part, part.name)
    frame = pyogrio.read_dataframe(folder / "shapes" / "naturalearth_lowres.shp")
    pyogrio.write_dataframe(frame, folder / "world.gdb", layer="areas", driver="OpenFileGDB", geometry_type="MultiPolygon")
    pyogrio.write_dataframe(frame.head(3), folder / "world.gdb", layer="few", driver="OpenFileGDB", geometry_type="MultiPolygon")
    return folder


@pytest.fixture(scope="module", autouse=True)
def ended():
    """The servers of this process end with these tests."""
    yield
    for server in reading._servers.values():
        server.close()
    reading._servers.clear()


def test_a_file_as_any_object(data):
    countries = vibeflight.read(data / "world/countries.geojson", columns=["name", "geometry"], bbox=[-10, 35, 20, 45])
    assert isinstance(countries, vibeflight.Selection)
    assert countries.info.rows == len(countries.geopandas()) == countries.arrow().num_rows == countries.polars().height
    assert countries.duckdb().columns == ["name", "geometry"]
    assert "".join(sorted(countries.pandas()["name"])).startswith("AlbaniaAlgeria")


def test_a_filter(data):
    """The private server has what filters need."""
    large = vibeflight.read(data / "world/countries.geojson", where="continent = 'Africa' AND pop_est > 60000000")
    assert sorted(large.pandas()["name"]) == ["Dem. Rep. Congo", "Egypt", "Ethiopia", "Nigeria"]


def test_one_server_for_all_files(data, folder, monkeypatch):
    monkeypatch.chdir(data)
    first = vibeflight.read("grid.geojson", columns="n")
    second = vibeflight.read(str(folder / "shapes/naturalearth_lowres.shp"))
    assert first.arrow().num_rows == 100 and second.info.rows == 177
    assert first._channel is second._channel and len([key for key in reading._servers if key == ("--unlisted", "/")]) == 1


def test_shapefiles_with_their_siblings(folder):
    frame = vibeflight.read(folder / "shapes/naturalearth_lowres.shp").geopandas()
    want = geopandas.read_file(folder / "shapes/naturalearth_lowres.shp")
    assert frame["name"].tolist() == want["name"].tolist() and frame.crs.to_epsg() == want.crs.to_epsg() == 4326
    with pytest.raises(vibeflight.NotFound, match=r"naturalearth_lowres.dbf\": belongs to .*naturalearth_lowres.shp"):
        assert vibeflight.read(folder / "shapes/naturalearth_lowres.dbf").info


def test_folders_that_are_files(folder):
    assert vibeflight.read(folder / "world.gdb", layer="few").arrow().num_rows == 3
    assert vibeflight.read(folder / "world.gdb/", layer="areas", limit=5).geopandas().shape[0] == 5


def test_archives(folder):
    assert len(vibeflight.read(folder / "packed.zip").geopandas()) == 177


@pytest.mark.parametrize("name", ["50% #1.geojson", ".hidden.geojson", "bröd ☃.geojson", ".config/x.geojson", b"caf\xe9.geojson"], ids=repr)
def test_names(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text(POINT)
    except OSError:
        pytest.skip("the file system has no such names")
    assert vibeflight.read(path).arrow()["n"].to_pylist() == [1]


def test_links_and_home(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "real/x.geojson").write_text(POINT)
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "file.geojson").symlink_to(tmp_path / "real/x.geojson")
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (tmp_path / "folder/x.geojson", tmp_path / "file.geojson", "~/real/x.geojson"):
        assert vibeflight.read(path).info.rows == 1


def test_a_file_that_changes(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("n\n1\n")
    assert vibeflight.read(path).arrow()["n"].to_pylist() == [1]
    path.write_text("n\n1\n2\n3\n")
    assert vibeflight.read(path).arrow()["n"].to_pylist() == [1, 2, 3]


def test_errors(data, tmp_path):
    with pytest.raises(vibeflight.Invalid, match=r"wrong.csv: csv: byte 19, line 3, record 1") as caught:
        vibeflight.read(data / "wrong.csv").arrow()
    assert str(data / "wrong.csv") in str(caught.value)
    with pytest.raises(FileNotFoundError):
        vibeflight.read(tmp_path / "none.geojson")
    with pytest.raises(IsADirectoryError, match=r"vibeflight\.serve"):
        vibeflight.read(data)
    (tmp_path / "notes.md").write_text("# Notes")
    with pytest.raises(vibeflight.NotFound, match=r"notes.md\": not a known format"):
        vibeflight.read(tmp_path / "notes.md").arrow()
    with pytest.raises(TypeError, match="unexpected keyword"):
        vibeflight.read(data / "grid.geojson", colour="red")


def test_a_server_that_is_gone_is_started_again(data):
    before = vibeflight.read(data / "grid.geojson")
    before._channel.owner._child.kill()
    before._channel.owner._child.wait()
    assert vibeflight.read(data / "grid.geojson").info.rows == 100


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_urls(folder):
    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    try:
        (folder / "a b.geojson").write_text(POINT)
        url = f"http://127.0.0.1:{serving.server_port}"
        assert vibeflight.read(f"{url}/a%20b.geojson").arrow()["n"].to_pylist() == [1]
        assert vibeflight.read(f"{url}/a%20b.geojson?signature=x").arrow()["n"].to_pylist() == [1]
        assert len(vibeflight.read(f"{url}/packed.zip").geopandas()) == 177
        assert vibeflight.read(f"{url}/shapes/naturalearth_lowres.shp", columns="name").arrow().num_rows == 177
        with pytest.raises(vibeflight.NotFound):
            vibeflight.read(f"{url}/none.geojson").arrow()
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()
