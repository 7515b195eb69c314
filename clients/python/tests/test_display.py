"""What notebooks show: schema, rows, extent on a map, escaped, without a network."""

import json
import math
import re
import xml.etree.ElementTree as ET

import landoutline
import naturalearth
import pyarrow as pa
import pytest
import shapely
import sql

import vibeflight
from vibeflight import display
from vibeflight.display import Summary, crs_of, table_html, tables_html
from vibeflight.extent import in_degrees
from vibeflight.info import Info
from vibeflight.map import _land, _window, drawn


def parsed(html):
    """The elements of a page: it is well-formed, and loads nothing."""
    page = ET.fromstring(html)
    assert not [element for element in page.iter() if element.tag.endswith(("script", "img", "link", "iframe", "style"))]
    assert not re.search(r"url\(|https?://(?!www\.w3\.org/2000/svg)", html)
    return page


def text(html):
    return " ".join(" ".join(parsed(html).itertext()).split())


def test_a_table(server):
    html = server.table("world/countries.geojson")._repr_html_()
    assert "177 rows · 6 columns · OGC:CRS84 · extent -180, -90, 180, 83.64513" in text(html)
    assert "geometry geoarrow.multipolygon yes OGC:CRS84" in text(html) and "<svg" in html and len(html) < 12_000


def test_a_selection_shows_its_box(server):
    html = server.table("world/countries.geojson", bbox=[-10, 35, 20, 45], columns=["name"])._repr_html_()
    assert "13 rows · 1 column ·" in text(html) and "the extent is that of the whole table" in text(html)
    boxes = [e.attrib for e in parsed(html).iter() if e.tag.endswith("rect")]
    assert [boxes[1][at] for at in ("x", "y", "width", "height")] == ["-10", "35", "30", "10"]


def test_other_reference_systems_are_drawn_in_degrees(server):
    html = server.table("crs/utm.geojson")._repr_html_()
    assert "EPSG:32633" in text(html) and "<svg" in html and "<circle" in html
    box = in_degrees(server._channel, (400_000.0, 5_000_000.0, 600_000.0, 5_200_000.0), "EPSG:32633")
    assert box == pytest.approx((13.686, 45.1464, 16.314, 46.9535), abs=1e-3)
    assert in_degrees(server._channel, (0, 0, 1, 1), "EPSG:0") is None
    assert in_degrees(server._channel, (0, 0, 1, 1), None) is None


def test_tables_without_a_position(server):
    for name in ("gaps.csv", "empty.geojson"):
        assert "<svg" not in server.table(name)._repr_html_()


@pytest.mark.skipif(not sql.SPATIAL, reason="DuckDB's spatial extension is not here: make spatial fetches it")
def test_a_query(server):
    query = server.sql("SELECT name, geometry FROM countries WHERE continent = ? ORDER BY 1;", ["Africa"])
    assert "51 rows · 2 columns · OGC:CRS84 · extent -17.62504, -34.81917, 51.13387, 37.34999" in text(query._repr_html_())
    assert "<svg" in query._repr_html_()


def test_queries_without_geometry(server):
    assert "3 rows · 1 column" in text(server.sql("SELECT id FROM gaps -- all")._repr_html_())
    assert "1 row · 1 column a int32" in text(server.sql("SELECT 1 AS a")._repr_html_()).replace("column type nullable CRS ", "")
    assert "1 column" in text(server.sql("EXPLAIN SELECT 1")._repr_html_()) or "2 columns" in text(server.sql("EXPLAIN SELECT 1")._repr_html_())


def test_failures_are_shown(server):
    html = text(server.table("broken.geojson")._repr_html_())
    assert "Invalid: broken.geojson: geojson: byte" in html
    assert "NotFound: no entry" in text(server.sql("SELECT 1 FROM nothing")._repr_html_())


def test_a_server(server, monkeypatch):
    assert "world/countries.geojson geojson" in text(server._repr_html_())
    monkeypatch.setattr(display, "MOST_TABLES", 2)
    html = text(tables_html("x", [Info(name, 3, None, None, {}) for name in "abc"]))
    assert html == "x more than 2 tables name format rows a 3 b 3 more are listed by list(prefix=…)"
    assert "there is no file" in text(tables_html("x", []))
    with vibeflight.connect("grpc://127.0.0.1:1") as nothing:
        assert "Unavailable" in text(nothing._repr_html_())


def test_text_is_escaped():
    odd = '<script>alert("&\'")</script>'
    field = pa.field(odd, pa.binary(), metadata={"ARROW:extension:name": "geoarrow.<b>", "ARROW:extension:metadata": json.dumps({"crs": odd})})
    html = table_html(Summary(odd, pa.schema([field]), 1, odd, (0, 0, 1, 1), (0, 0, 1, 1), notes=[odd]))
    assert text(html).count(odd) == 5 and "<b>" in text(html)
    assert text(tables_html(odd, [Info(odd, None, None, None, {"format": odd})])).count(odd) == 3


def test_many_columns():
    html = text(table_html(Summary("x", pa.schema([(f"c{i}", pa.int8()) for i in range(1000)]))))
    assert "1000 columns" in html and "and 940 more columns" in html and "c999" not in html


@pytest.mark.parametrize("metadata, want", [
    ({"crs": {"id": {"authority": "EPSG", "code": 3857}}}, "EPSG:3857"),
    ({"crs": {"name": "Site grid"}}, "Site grid"),
    ({"crs": "EPSG:4326"}, "EPSG:4326"),
    ({"crs": {}}, None),
    ({}, None),
    ([], None),
], ids=str)  # fmt: skip
def test_crs_of_a_column(metadata, want):
    kinds = {"ARROW:extension:name": "geoarrow.wkb", "ARROW:extension:metadata": json.dumps(metadata)}
    assert crs_of(pa.field("g", pa.binary(), metadata=kinds)) == want
    assert crs_of(pa.field("g", pa.binary())) is None


@pytest.mark.parametrize("extent, want", [
    ((-180, -90, 180, 90), (-180, -90, 360, 180)),
    ((10, 50, 10, 50), (-10, 40, 40, 20)),
    ((170, 80, 171, 81), (140, 70, 40, 20)),
    ((-60, -80, -10, 80), (-180, -90, 360, 180)),
], ids=str)  # fmt: skip
def test_the_part_of_the_world_that_a_map_shows(extent, want):
    assert _window(extent) == pytest.approx(want)


def test_extents_that_can_not_be_drawn():
    assert drawn((0, 0, math.inf, 1)) == drawn((0, math.nan, 1, 1)) == ""
    assert "stroke-dasharray" not in drawn((0, 0, 1, 1), (0, 0, math.inf, 1))


def test_the_outline_is_that_of_natural_earth(tmp_path):
    """As integration/landoutline.py makes it, small, and about the area of all land."""
    assert _land() == landoutline.outline() and len(_land()) < 8000
    rings = []
    for part in _land().split("M")[1:]:
        numbers = [int(n) for n in re.findall(r"-?\d+", part)]
        at, ring = (0, 0), []
        for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
            at = (at[0] + dx, at[1] + dy)
            ring.append(at)
        rings.append(shapely.Polygon(ring).area / landoutline.UNITS**2)
    land = naturalearth.write_countries(tmp_path / "countries.geojson")
    want = shapely.area(shapely.union_all(shapely.from_geojson([json.dumps(f["geometry"]) for f in json.loads(land.read_text())["features"]])))
    assert sum(rings) == pytest.approx(want, rel=0.05)


def test_ipython_shows_both(server):
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed: it comes with lonboard")
    shown, _ = formatters.DisplayFormatter().format(server.table("grid.geojson"))
    assert set(shown) == {"text/plain", "text/html"} and shown["text/plain"] == "<vibeflight.Selection of grid.geojson>"
