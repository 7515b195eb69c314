"""Writes the coarse outline of land that maps of the Python package draw, from Natural Earth's countries, which are public domain.

One line, a path of SVG: positions are whole numbers of half degrees, with north up.
"""
import importlib.resources
import pathlib
import sys

import pyogrio
import shapely

OUTLINE = pathlib.Path(__file__).resolve().parent.parent / "clients/python/src/vibeflight/land.txt"
UNITS = 2  # in a degree
TOLERANCE = 0.5  # degrees
SMALLEST = 2.0  # square degrees: smaller islands are left out


def outline():
    """The path."""
    shapefile = importlib.resources.files("pyogrio") / "tests/fixtures/naturalearth_lowres/naturalearth_lowres.shp"
    # Borders of neighbors differ by less than a thousandth of a degree.
    land = shapely.union_all(shapely.set_precision(pyogrio.read_dataframe(str(shapefile)).geometry.values, 0.001))
    rings = []
    for polygon in shapely.get_parts(land.simplify(TOLERANCE)):
        if polygon.area >= SMALLEST:
            rings += [polygon.exterior, *(hole for hole in polygon.interiors if shapely.Polygon(hole).area >= SMALLEST)]
    return "".join(path for path in map(path_of, rings) if path)


def path_of(ring):
    """A ring as a move and relative lines; "" if rounding leaves less than a triangle."""
    at, points = None, []
    for x, y in ring.coords[:-1]:
        point = round(x * UNITS), round(y * UNITS)
        if point != at:
            points.append(point)
            at = point
    if len(points) < 3:
        return ""
    steps = [f"{x1 - x0} {y1 - y0}" for (x0, y0), (x1, y1) in zip(points, points[1:])]
    return f"M{points[0][0]} {points[0][1]}l{' '.join(steps)}z".replace(" -", "-")


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else OUTLINE
    path.write_text(outline() + "\n", encoding="ascii")
    print(path, path.stat().st_size, "bytes")
