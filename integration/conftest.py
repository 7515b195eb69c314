"""One server for the whole run, over a folder that the tests read and never write."""
import json

import naturalearth
import pyarrow.flight as flight
import pytest
from cases import FILES
from serving import Server


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="run the slow sweeps too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="a slow sweep: make test-long runs it"))


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """The folder: small hand-written files, Natural Earth, and one file large enough to be split."""
    folder = tmp_path_factory.mktemp("data")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    naturalearth.write_countries(folder / "world" / "countries.geojson")
    with open(folder / "large.geojsonl", "w", encoding="utf-8") as f:
        f.writelines('{"type":"Feature","properties":{"n":%d},"geometry":{"type":"Point","coordinates":[%r,%r]}}\n'
                     % (i, i % 3600 / 10 - 180, i % 1700 / 10 - 85) for i in range(300_000))
    return folder


@pytest.fixture(scope="session")
def server(data):
    with Server(data) as s:
        yield s


@pytest.fixture(scope="session")
def client(server):
    return server.client()


@pytest.fixture(scope="session")
def read(client):
    """read(name, **fields) gives the whole table of a ticket, checked in full by Arrow."""
    def read(name, **fields):
        table = client.do_get(ticket(name, **fields)).read_all()
        table.validate(full=True)
        return table
    return read


def ticket(name, **fields):
    """A ticket as a person writes it: the name alone, or a JSON object."""
    return flight.Ticket(json.dumps({"name": name, **fields}) if fields else name)
