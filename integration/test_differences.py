"""Each difference of DIFFERENCES.md, with both answers."""
import json
import math
import pathlib
import re

import pyogrio
import pyproj
import pytest
import shapely
from conftest import ticket
from differences import BY_FORMAT
from gdal import GEOMETRY, is_json, plain
from serving import Server

ALL = [(title, d) for title, differences in BY_FORMAT.items() for d in differences]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The files in two folders: GDAL writes a schema next to each GML file that it reads."""
    ours, theirs = tmp_path_factory.mktemp("ours"), tmp_path_factory.mktemp("theirs")
    for folder in (ours, theirs):
        for title, difference in ALL:
            (folder / title).mkdir(exist_ok=True)
            difference.write(folder / title)
    with Server(ours) as server:
        yield server.client(), theirs


def outcome(read):
    """The result of a read in a comparable form: an error, or columns with their types and values."""
    try:
        return columns(*read())
    except Exception as e:  # any kind of error of a peer, such as a string that is not UTF-8
        return f"error: {e}"


def columns(table, geometry, crs):
    found = {"crs": crs}
    for name, column in zip(table.column_names, table.columns):
        if name in found:
            raise ValueError(f"two columns {name}")
        if name == geometry:
            shapes = [None if b is None else shapely.from_wkb(b, on_invalid="ignore") for b in plain(column).to_pylist()]
            found["geometry"] = [s if s is None else s.wkt for s in shapes]
        else:
            kind = "json" if is_json(column) else re.sub("item: | not null", "", str(column.type))
            found[name] = (kind, plain(column).to_pylist())
    return found


def matches(got, want, others):
    if isinstance(want, str):
        return isinstance(got, str) and re.search(want, got) is not None
    return not isinstance(got, str) and all(k in got and same(got[k], v) for k, v in want.items()) and (
        others or want.keys() >= got.keys() - {"geometry", "crs"})


def same(got, want):
    """Equality of nested values in which NaN equals NaN and -0.0 is not 0."""
    if isinstance(want, float) and isinstance(got, float):
        return math.copysign(1, got) == math.copysign(1, want) and (got == want or math.isnan(got) and math.isnan(want))
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)):
        return len(got) == len(want) and all(map(same, got, want))
    return got == want


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # GDAL's, about what it repairs
@pytest.mark.parametrize("title,difference", ALL, ids=[f"{title}: {d.name}" for title, d in ALL])
def test_difference(served, title, difference):
    client, theirs = served
    name = f"{title}/{difference.file}"

    def read_ours():
        table = client.do_get(ticket(name, geometry_encoding="wkb")).read_all()
        if "geometry" not in table.column_names:
            return table, None, None
        crs = json.loads(table.schema.field("geometry").metadata.get(b"ARROW:extension:metadata") or "{}").get("crs")
        return table, "geometry", crs and pyproj.CRS(crs).to_string()

    def read_theirs():
        meta, table = pyogrio.read_arrow(theirs / name, **difference.settings)
        return table, meta["geometry_name"] or GEOMETRY, meta["crs"]

    ours, gdal = outcome(read_ours), outcome(read_theirs)
    assert matches(gdal, difference.gdal, difference.columns), gdal
    assert matches(ours, difference.ours, difference.columns), ours


def test_every_difference_is_written_down():
    page = (pathlib.Path(__file__).parent / "DIFFERENCES.md").read_text(encoding="utf-8")
    written = {title: re.findall(r"^\| `([^`]+)` \|", rows, re.M) for title, rows in re.findall(r"^## (\w+)\n(.*?)(?=^## )", page, re.M | re.S)}
    assert written == {title: [d.name for d in differences] for title, differences in BY_FORMAT.items()}
