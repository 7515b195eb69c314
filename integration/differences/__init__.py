"""Files that GDAL and vibeflight read differently on purpose, with both answers. DIFFERENCES.md has the reasons."""
from . import csv, dbf, flatgeobuf, geojson, gml, kml, osm, shapefile

BY_FORMAT = {  # in the order of DIFFERENCES.md
    "GeoJSON": geojson.DIFFERENCES,
    "CSV": csv.DIFFERENCES,
    "DBF": dbf.DIFFERENCES,
    "Shapefile": shapefile.DIFFERENCES,
    "FlatGeobuf": flatgeobuf.DIFFERENCES,
    "OpenStreetMap": osm.DIFFERENCES,
    "KML": kml.DIFFERENCES,
    "GML": gml.DIFFERENCES,
}
