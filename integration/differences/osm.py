"""OpenStreetMap PBF. The tables are those of the layer points."""
import osmfile

from .case import ERROR, Difference


def points(name, tags, ours, gdal, lat=2.0):
    nodes = [(1, 1.0, 2.0, {"name": "first"}), (2, 3.0, lat, tags)]
    return Difference(name, osmfile.pbf(nodes), ours, gdal, "pbf", columns=True)


DIFFERENCES = [
    points("other tags", {"ele": "7", "shop": "yes", "note": "n"}, {"other_tags": ("json", [None, '{"ele":"7","shop":"yes","note":"n"}'])},
           {"other_tags": ("string", [None, '"shop"=>"yes"'])}),
    points("text that is not UTF-8", {"name": b"\xff"}, ERROR, "error: .*utf-8"),
    points("node in the north of the pole", {"name": "a"}, ERROR, {"osm_id": ("string", [])}, lat=90.1),
]
