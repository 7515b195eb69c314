"""Files that GDAL and vibeflight read differently on purpose, with both answers. DIFFERENCES.md has the reasons."""
from . import csv, dbf, esrijson, filegdb, flatgeobuf, geojson, gml, gpkg, gpx, kml, osm, shapefile, topojson, xlsx

BY_FORMAT = {  # in the order of DIFFERENCES.md
    "GeoJSON": geojson.DIFFERENCES,
    "CSV": csv.DIFFERENCES,
    "DBF": dbf.DIFFERENCES,
    "Shapefile": shapefile.DIFFERENCES,
    "FlatGeobuf": flatgeobuf.DIFFERENCES,
    "GeoPackage": gpkg.DIFFERENCES,
    "OpenStreetMap": osm.DIFFERENCES,
    "FileGDB": filegdb.DIFFERENCES,
    "KML": kml.DIFFERENCES,
    "GML": gml.DIFFERENCES,
    "GPX": gpx.DIFFERENCES,
    "XLSX": xlsx.DIFFERENCES,
    "EsriJSON": esrijson.DIFFERENCES,
    "TopoJSON": topojson.DIFFERENCES,
}
