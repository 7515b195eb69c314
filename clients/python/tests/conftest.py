"""A server over small files and one that has several endpoints; the helpers of integration/ start it."""

import os
import tempfile
import time

import naturalearth
import pytest
import sql
from cases import FILES
from serving import BINARY, Server

import vibeflight

LARGE_ROWS = 1_200_000  # five endpoints


@pytest.fixture(scope="session", autouse=True)
def below_the_tests_folder(tmp_path_factory):
    """Temporary folders, caches of servers among them, lie below pytest's own."""
    folder = tmp_path_factory.mktemp("temp")
    os.environ.setdefault("VIBEFLIGHT_BINARY", str(BINARY))
    before = tempfile.tempdir, os.environ.get("XDG_CACHE_HOME")
    tempfile.tempdir, os.environ["XDG_CACHE_HOME"] = str(folder), str(folder / "cache")
    yield
    tempfile.tempdir = before[0]
    os.environ.pop("XDG_CACHE_HOME") if before[1] is None else os.environ.update(XDG_CACHE_HOME=before[1])


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name in ("grid.geojson", "broken.geojson", "empty.geojson", "types.geojson", "crs/mercator.geojson", "crs/utm.geojson"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(FILES[name], encoding="utf-8")
    naturalearth.write_countries(folder / "world" / "countries.geojson")
    (folder / "gaps.csv").write_text("id,yes\n9007199254740993,true\n,\n3,false\n")
    folders = (f"<Folder><name>{layer}</name><Placemark><name>{name}</name></Placemark></Folder>" for layer, name in (("Stops", "a"), ("50% #1", "b")))
    (folder / "two.kml").write_text(f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{"".join(folders)}</Document></kml>')
    (folder / "wrong.csv").write_text("n,lon,lat\n1,2,3\n2,3\n")
    with open(folder / "large.csv", "w", encoding="utf-8") as f:
        f.write("n,lon,lat\n")
        f.writelines(f"{i},{i % 3600 / 10 - 180},{i % 1700 / 10 - 85}\n" for i in range(LARGE_ROWS))
    return folder


@pytest.fixture(scope="session")
def running(data):
    """The server, with batches that are small."""
    with Server(data, "--batch-rows", "4096", *sql.FLAGS) as s:
        yield s


@pytest.fixture(scope="session")
def plain(running):
    """pyarrow's own client of it."""
    return running.client()


@pytest.fixture
def server(running):
    """Ours."""
    with vibeflight.connect(running.uri) as connection:
        yield connection


def soon(true, seconds=10):
    """Waits until true() is."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "not seen in time"
        time.sleep(0.02)
