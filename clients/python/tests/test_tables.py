"""What a table and the parts of it are: always what pyarrow's own client gets for the same ticket."""

import json

import numpy as np
import pytest
from conftest import LARGE_ROWS
from pyarrow import flight

GRID = "grid.geojson"


def by_pyarrow(client, name, **fields):
    return client.do_get(flight.Ticket(json.dumps({"name": name, **fields}))).read_all()


@pytest.mark.parametrize("fields", [
    {},
    {"columns": ["name", "n"]},
    {"bbox": [2, 2, 4, 3.5]},
    {"limit": 7},
    {"limit": 0},
    {"bbox": [2, 2, 9, 9], "limit": 5},
    {"rows": [10, 20]},
    {"rows": [95, 500]},
    {"rows": [10, 20], "limit": 3},
    {"rows": [10, 60], "bbox": [2, 2, 4, 3.5], "limit": 4},
    {"geometry_encoding": "wkb"},
    {"geometry_encoding": "wkt", "columns": ["geometry"]},
    {"coords": "interleaved"},
    {"compression": "zstd"},
], ids=json.dumps)  # fmt: skip
def test_equals_plain_pyarrow(server, plain, fields):
    want = by_pyarrow(plain, GRID, **fields)
    selection = server.table(GRID, **fields)
    got = selection.arrow()
    assert got.schema.equals(want.schema, check_metadata=True)
    assert got.equals(want)
    assert selection.batches().read_all().equals(want)
    assert selection.schema.equals(want.schema, check_metadata=True)
    if selection.info.rows is not None:
        assert selection.info.rows == want.num_rows


def test_rows_of_a_large_table(server, plain):
    """Ranges that lie in one endpoint, over several, and behind the end."""
    for rows in ([0, 1], [4095, 4097], [200_000, 900_001], [LARGE_ROWS - 1, LARGE_ROWS + 10], [LARGE_ROWS, LARGE_ROWS + 1], [5, 5]):
        selection = server.table("large.csv", rows=rows, columns="n")
        want = by_pyarrow(plain, "large.csv", rows=rows, columns=["n"])
        assert selection.arrow().equals(want), rows
        assert selection.info.rows == want.num_rows


def test_what_people_have_at_hand(server):
    """NumPy's numbers, a tuple, one column's name."""
    box = np.array([2, 2, 4, 4], dtype=np.float32)
    assert server.table(GRID, bbox=box, columns="n", limit=np.int64(3)).arrow().column_names == ["n"]
    assert server.table(GRID, rows=(np.int32(1), np.int64(3))).arrow().num_rows == 2


@pytest.mark.parametrize("fields, words", [
    ({"bbox": [1, 2, 3]}, "bbox: want xmin, ymin, xmax, ymax"),
    ({"bbox": [0, 0, float("nan"), 1]}, "all finite"),
    ({"rows": [3]}, "rows: want a start"),
    ({"rows": [3, 2]}, "rows: want a start"),
    ({"layer": "x", "name": "a.kml#b"}, "names a layer already"),
    ({"workers": 0}, "workers: want 1"),
], ids=str)  # fmt: skip
def test_the_wrong_shape_is_not_sent(server, fields, words):
    with pytest.raises(ValueError, match=words):
        server.table(**{"name": GRID, **fields})


def test_layers(server):
    assert server.table("two.kml").arrow()["Name"].to_pylist() == ["a"]
    assert server.table("two.kml", layer="50% #1").arrow()["Name"].to_pylist() == ["b"]
    assert server.describe("two.kml", layer="Stops")["rows"] == 1


def test_options(server):
    assert server.table("wrong.csv", options={"on_error": "skip"}).info.app_metadata["skipped"]["count"] == 1


def test_info(server):
    info = server.table("crs/mercator.geojson").info
    assert (info.name, info.format, info.crs) == ("crs/mercator.geojson", "geojson", "EPSG:3857")
    assert info.rows > 0 and info.bytes > 0 and len(info.bbox) == 4 and info.geometry_types
    assert server.table("empty.geojson").info.bbox is None


def test_nothing_is_asked_before_rows_are(server):
    """Not even for an entry that does not exist."""
    before = server.stats()["parses"]
    selection = server.table("nothing.geojson", columns=["a"])
    assert repr(selection) == "<vibeflight.Selection of nothing.geojson: columns=('a',)>"
    assert server.stats()["parses"] == before


def test_the_list(server, data):
    everything = server.list()
    names = {e.name.partition("#")[0]: e for e in everything}  # the layers of a file that is parsed stand for it
    assert [*names] == sorted(str(p.relative_to(data)) for p in data.rglob("*.*"))
    assert [e.name for e in server.list(prefix="crs/")] == ["crs/mercator.geojson", "crs/utm.geojson"]
    assert [e.name for e in server.list(format="csv")] == ["gaps.csv", "large.csv", "wrong.csv"]
    assert all(e.schema is None and e.rows is None for e in everything if not e.cached)


def test_actions(server, data):
    server.table("crs/utm.geojson").arrow()
    assert server.evict("crs/utm.geojson") == 1
    assert server.evict("crs/utm.geojson") == 0
    assert server.describe("crs/utm.geojson")["name"] == "crs/utm.geojson"
    assert server.refresh() >= len([*data.rglob("*.*")])
