"""Files that GDAL and vibeflight read differently on purpose, with both answers. DIFFERENCES.md has the reasons."""
from . import csv, dbf, filegdb, flatgeobuf, geojson, gml, kml, shapefile

BY_FORMAT = {  # in the order of DIFFERENCES.md
    "GeoJSON": geojson.DIFFERENCES,
    "CSV": csv.DIFFERENCES,
    "DBF": dbf.DIFFERENCES,
    "Shapefile": shapefile.DIFFERENCES,
    "FlatGeobuf": flatgeobuf.DIFFERENCES,
    "File Geodatabase": filegdb.DIFFERENCES,
    "KML": kml.DIFFERENCES,
    "GML": gml.DIFFERENCES,
}
