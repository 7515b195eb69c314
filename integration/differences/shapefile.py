"""Shapefiles."""
import struct

from esri import dbf, point, point_zm, polygon, shp, square

from .case import ERROR, Difference


def shapes(name, code, shapes, ours, gdal, attributes=None, cut=0, index=True, **siblings):
    """A shapefile with a column A of the letters a, b, c and so on, a letter for each shape unless attributes says how many."""
    main, shx = shp(code, shapes)
    letters = "abcdefgh"[: len(shapes) if attributes is None else attributes]
    siblings["dbf"] = dbf([("A", "C", 1, 0)], [letter.encode() for letter in letters])
    if index:
        siblings["shx"] = shx
    columns = lambda want: {"A": ("string", list(letters[: len(want["geometry"])])), **want} if isinstance(want, dict) else want
    return Difference(name, main[: len(main) - cut], columns(ours), columns(gdal), "shp", siblings)


SHELL, HOLE = square(0, 0, 4), square(1, 1, 1)[::-1]

DIFFERENCES = [
    shapes("hole of the wrong orientation", 5, [polygon(SHELL, HOLE[::-1])],
           {"geometry": ["POLYGON ((0 0, 0 4, 4 4, 4 0, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1))"]},
           {"geometry": ["MULTIPOLYGON (((0 0, 0 4, 4 4, 4 0, 0 0)), ((1 1, 1 2, 2 2, 2 1, 1 1)))"]}),
    shapes("all orientations wrong", 5, [polygon(SHELL[::-1], HOLE[::-1])],
           {"geometry": ["POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1))"]},
           {"geometry": ["POLYGON ((1 1, 1 2, 2 2, 2 1, 1 1), (0 0, 4 0, 4 4, 0 4, 0 0))"]}),
    shapes("measure after records without", 11, [point_zm(1, 2, 3, -1e39), point_zm(1, 2, 3, 7)],
           {"geometry": ["POINT Z (1 2 3)", "POINT ZM (1 2 3 7)"]}, {"geometry": ["POINT Z (1 2 3)", "POINT Z (1 2 3)"]}),
    shapes("no index", 1, [point(1, 2)], {"geometry": ["POINT (1 2)"]}, "error: .*SHAPE_RESTORE_SHX", index=False),
    shapes("fewer records than shapes", 1, [point(1, 2), point(3, 4)], ERROR, {"geometry": ["POINT (1 2)"]}, attributes=1),
    shapes("more records than shapes", 1, [point(1, 2)], ERROR, {"geometry": ["POINT (1 2)"]}, attributes=2),
    shapes("cut file", 1, [point(1, 2), point(3, 4)], ERROR, {"geometry": ["POINT (1 2)", None]}, cut=5),
    shapes("shape of another type", 1, [point(1, 2), struct.pack("<i4diii4d", 3, 0, 0, 1, 1, 1, 2, 0, 0, 0, 1, 1)], ERROR,
           {"geometry": ["POINT (1 2)", "LINESTRING (0 0, 1 1)"]}),
]
