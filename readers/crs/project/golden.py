"""Writes testdata/proj.csv: positions and what PROJ makes of them, in shortest decimals. Run it with a Python that has pyproj.

A line is from,to,x,y,X,Y; inf is where PROJ has no result.
"""
import pathlib
import random

import pyproj

PAIRS = [
    ("4326", "3857"), ("3857", "4326"), ("4326", "32632"), ("32632", "4326"), ("4326", "32718"), ("32718", "4326"), ("4258", "25833"),
    ("25833", "4258"), ("4269", "26917"), ("26917", "4269"), ("3857", "32601"), ("32760", "3857"), ("32632", "32633"), ("25832", "32632"),
    ("25832", "3857"), ("4258", "4326"), ("4979", "3857"),
]
ANGLES = {"4326", "4258", "4269", "4979"}
EACH = 150


def position(rng, system, area):
    """Returns a position in the area of use, or at an edge of what has a result."""
    if rng.random() < 0.15:
        edges = [-180.0, 180.0, 90.0, -90.0, 0.0, -0.0, 91.0, 181.0, 540.0, 573.0, 99.0, 89.9999999, 1e-300] if system in ANGLES else \
            [0.0, -0.0, 5e5, 1e7, 20037508.342789244, 3e7, 6e7, 1.6e7, 1e-300]
        return rng.choice(edges), rng.choice(edges)
    west, south, east, north = area
    return rng.uniform(west, east), rng.uniform(south, north)


def main():
    rng = random.Random(35)
    lines = []
    for source, target in PAIRS:
        to = pyproj.Transformer.from_crs(f"EPSG:{source}", f"EPSG:{target}", always_xy=True)
        projected = pyproj.CRS.from_epsg(source if target in ANGLES else target)
        area = pyproj.CRS.from_epsg(source).area_of_use if source not in ANGLES else projected.area_of_use
        bounds = area.bounds
        if source not in ANGLES:
            bounds = pyproj.Transformer.from_crs("EPSG:4326", f"EPSG:{source}", always_xy=True).transform_bounds(*bounds)
        for _ in range(EACH):
            x, y = position(rng, source, bounds)
            lines.append(",".join([source, target, *map(repr, (x, y, *to.transform(x, y)))]))
    path = pathlib.Path(__file__).parent / "testdata" / "proj.csv"
    path.write_text("\n".join([f"# PROJ {pyproj.proj_version_str}, by golden.py", *lines, ""]))


if __name__ == "__main__":
    main()
