"""GeoPackage. The files are those of the reader's own tests."""
import datetime
import pathlib

from .case import ERROR, NEW_YEAR, UTC, Difference

UNDEFINED = ('GEOGCS["Undefined geographic SRS",DATUM["unknown",SPHEROID["unknown",6378137,298.257223563]],PRIMEM["Greenwich",0],'
             'UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AXIS["Latitude",NORTH],AXIS["Longitude",EAST]]')
FILES = pathlib.Path(__file__).parent.parent.parent / "readers/gpkg/testdata"


def file(name, stem, ours, gdal, columns=True):
    return Difference(name, (FILES / f"{stem}.gpkg").read_bytes(), ours, gdal, "gpkg", columns=columns)


DIFFERENCES = [
    file("row ids", "layers", {"fid": ("int64", [5]), "geometry": ["LINESTRING (1 2, 3 4)"]}, {"geometry": ["LINESTRING (1 2, 3 4)"]}, columns=False),
    file("numbers of the smaller types", "numbers", {"half": ("double", [0.1]), "small": ("int32", [7])}, {"half": ("float", [0.10000000149011612]), "small": ("int16", [7])}),
    file("finer than a millisecond", "numbers", {"at": ("timestamp[us, tz=UTC]", [NEW_YEAR.replace(microsecond=1, tzinfo=UTC)])},
         {"at": ("timestamp[ms, tz=UTC]", [NEW_YEAR.replace(tzinfo=UTC)])}),
    file("column that is computed", "numbers", {"twice": ("int64", [14])}, {"sum": ("int64", [8]), "twice": ("int64", [14])}),
    file("text in a column of integers", "bad-text-value", ERROR, {"a": ("int64", [0])}),
    file("fraction in a column of integers", "bad-real-value", ERROR, {"a": ("int64", [1])}),
    file("integer beyond its type", "bad-wide-value", ERROR, {"a": ("int32", [1215752191])}),
    file("boolean of two", "bad-bool-value", ERROR, {"a": ("bool", [True])}),
    file("impossible date", "bad-date-value", ERROR, {"a": ("date32[day]", [datetime.date(2020, 3, 1)])}),
    file("bytes that are not a geometry", "bad-magic", ERROR, {"geometry": ["POINT (1 2)", None]}),
    file("extended geometry", "bad-extended", ERROR, {"geometry": ["POINT (1 2)"]}),
    file("view", "bad-view", ERROR, {"a": ("string", [])}),
    file("without rowid", "bad-rowid", ERROR, {"a": ("string", []), "b": ("int64", [])}),
    file("undefined reference system", "undefined", {"crs": None}, {"crs": UNDEFINED}),
]
