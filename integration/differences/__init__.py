"""Files that GDAL and vibeflight read differently on purpose, with both answers. DIFFERENCES.md has the reasons."""
from . import csv, dbf, esrijson, flatgeobuf, geojson, gml, kml, shapefile, topojson

BY_FORMAT = {  # in the order of DIFFERENCES.md
    "GeoJSON": geojson.DIFFERENCES,
    "CSV": csv.DIFFERENCES,
    "DBF": dbf.DIFFERENCES,
    "Shapefile": shapefile.DIFFERENCES,
    "FlatGeobuf": flatgeobuf.DIFFERENCES,
    "KML": kml.DIFFERENCES,
    "GML": gml.DIFFERENCES,
    "EsriJSON": esrijson.DIFFERENCES,
    "TopoJSON": topojson.DIFFERENCES,
}
