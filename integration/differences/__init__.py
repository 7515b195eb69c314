"""What GDAL and we read differently, on purpose: each file, our answer and GDAL's. DIFFERENCES.md says why."""
from . import csv, dbf, flatgeobuf, geojson, gml, kml, shapefile

BY_FORMAT = {  # in the order of DIFFERENCES.md
    "GeoJSON": geojson.DIFFERENCES,
    "CSV": csv.DIFFERENCES,
    "DBF": dbf.DIFFERENCES,
    "Shapefile": shapefile.DIFFERENCES,
    "FlatGeobuf": flatgeobuf.DIFFERENCES,
    "KML": kml.DIFFERENCES,
    "GML": gml.DIFFERENCES,
}
