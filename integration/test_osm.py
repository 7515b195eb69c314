"""OpenStreetMap PBF has the layers that GDAL gives: the same rows in the same order, values and positions, bit for bit."""
import pathlib
import random

import osmfile
import pyogrio
import pytest
from conftest import ticket
from gdal import GEOMETRY, assert_same_column, assert_same_geometry
from serving import Server

LAYERS = ["points", "lines", "multilinestrings", "multipolygons", "other_relations"]
GDALS = pathlib.Path(__file__).parent.parent.parent / "shared/data/gdal/osm"
GDALS_FILES = sorted(GDALS.glob("*.pbf"))
SEEDS = range(6)
TAGS = [("name", "x"), ("highway", "primary"), ("highway", "platform"), ("building", "yes"), ("area", "yes"), ("area", "no"), ("source", "s"),
        ("created_by", "JOSM"), ("note", "n"), ("natural", "water"), ("foo:bar", 'a"b\\c'), ("openGeoDB:x", "1"), ("layer", "-1"), ("layer", " 3x"),
        ("bridge", "yes"), ("tunnel", "true"), ("railway", "rail"), ("public_transport", "platform"), ("ele", "7"), ("attribution", "a"),
        ("admin_level", "4"), ("time", "t"), ("fixme", "f"), ("ref", "\u00e9")]
ROLES = ["outer", "outer", "inner", "", "subarea", "forward"]
KINDS = ["multipolygon", "multipolygon", "boundary", "route", "multilinestring", "site", "restriction"]


class Random(random.Random):
    """Random objects on a grid of nodes, so that rings touch, nest and lack parts."""

    def __init__(self, seed):
        super().__init__(seed)
        self.side, self.step = self.choice([3, 4, 6]), self.choice([0.001, 0.0000003, 1.0])

    def tags(self, more):
        tags = {}
        while self.random() < more:
            key, value = self.choice(TAGS)
            tags.setdefault(key, value)
        return tags

    def node(self, x, y):
        return 10 + 2 * (y * self.side + x)

    def nodes(self):
        at = [(x, y) for y in range(self.side) for x in range(self.side) if self.random() > 0.03]
        return [(self.node(x, y), 10 + x * self.step, 20 + y * self.step, self.tags(0.3)) for x, y in at]

    def rectangle(self):
        (x, right), (y, top) = (sorted(self.sample(range(self.side), 2)) for _ in range(2))
        ring = [*((i, y) for i in range(x, right)), *((right, i) for i in range(y, top)), *((i, top) for i in range(right, x, -1)),
                *((x, i) for i in range(top, y, -1))]
        if self.random() < 0.5:
            ring = [(i, j) for i, j in ring if i in (x, right) and j in (y, top)]
        start = self.randrange(len(ring))
        ring = ring[start:] + ring[:start]
        return [self.node(*p) for p in ring[::self.choice([1, -1])]]

    def lines(self):
        """A ring as one way or as several."""
        ring = self.rectangle()
        if self.random() < 0.1:
            return [[ring[0], ring[1], ring[0]]]
        ring.append(ring[0])
        if self.random() < 0.5:
            return [ring]
        cuts = [0, *sorted(self.sample(range(1, len(ring) - 1), self.randint(1, len(ring) - 2))), len(ring) - 1]
        parts = [ring[a:b + 1][::self.choice([1, -1])] for a, b in zip(cuts, cuts[1:])]
        return parts[:-1] if self.random() < 0.15 else parts

    def file(self):
        ways, relations = [(50, [10], {"highway": "primary"}), (51, [10, 10], {"building": "yes"})], []
        ways.append((52, [99999, self.node(0, 0), self.node(1, 1), 99999], {"building": "yes"}))
        for id in range(1000, 1000 + self.randint(1, 8)):
            first = 100 + len(ways)
            for _ in range(self.choice([1, 1, 2, 3, 5])):
                ways += [(100 + len(ways) + i, line, self.tags(0.7)) for i, line in enumerate(self.lines())]
            members = [("way", way, self.choice(ROLES)) for way in range(first, 100 + len(ways))]
            self.shuffle(members)
            members += self.choice([[], [], [("way", 99999, "outer")], [("node", self.node(0, 0), "label"), ("relation", 1000, "x")], members[:1]])
            own = self.choice([self.tags(0.5), self.tags(0.5), {}, {"created_by": "x"}])
            relations.append((id, members, {"type": self.choice(KINDS), **own} if self.random() < 0.95 else own))
        return osmfile.pbf(self.nodes(), ways, relations, dense=self.random() < 0.8, packing=self.choice(["zlib", "raw"]), each=self.choice([3, 8000]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("osm")
    for seed in SEEDS:
        (folder / f"{seed}.osm.pbf").write_bytes(Random(seed).file())
    for path in GDALS_FILES:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "zero.pbf").write_bytes(osmfile.pbf([(2, 0, 0, {}), (1, 1, 1, {})], [(1, [1, 2], {"highway": "road"})], packing="zstd"))
    return folder


@pytest.fixture(scope="module")
def client(folder):
    with Server(folder) as server:
        yield server.client()


def assert_same_layers(folder, client, name):
    for layer in LAYERS:
        ours = client.do_get(ticket(f"{name}#{layer}", geometry_encoding="wkb", options={"tags": "hstore"})).read_all()
        ours.validate(full=True)
        _, theirs = pyogrio.read_arrow(folder / name, layer=layer)
        assert ours.column_names == [*theirs.column_names[:-1], "geometry"]
        for column in ours.column_names[:-1]:
            assert_same_column(column, ours[column], theirs[column])
        assert_same_geometry(ours["geometry"], theirs[GEOMETRY])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # GDAL's, about rings
@pytest.mark.parametrize("seed", SEEDS)
def test_same_layers(folder, client, seed):
    assert_same_layers(folder, client, f"{seed}.osm.pbf")


@pytest.mark.skipif(not GDALS_FILES, reason=f"no files in {GDALS}")
def test_gdals_files(folder, client):
    for path in GDALS_FILES:
        assert_same_layers(folder, client, path.name)


def test_zero_and_unsorted(client):
    """Nodes are found at longitude and latitude 0, and in any order."""
    assert client.do_get(ticket("zero.pbf#lines", geometry_encoding="wkt")).read_all()["geometry"].to_pylist() == ["LINESTRING (1 1, 0 0)"]


def test_columns(client):
    """The option columns says which keys have one."""
    table = client.do_get(ticket("zero.pbf#lines", options={"columns": "surface, highway", "tags": "none"})).read_all()
    assert table.column_names == ["osm_id", "surface", "highway", "z_order", "geometry"]
    assert table["highway"].to_pylist() == ["road"]
