"""The countries of Natural Earth, public domain, out of the pyogrio package: real data with nothing more to download."""
import importlib.resources
import pathlib

import pyogrio


def write_countries(path):
    """Writes the 177 countries as a GeoJSON FeatureCollection, by GDAL, and gives path."""
    shapefile = importlib.resources.files("pyogrio") / "tests/fixtures/naturalearth_lowres/naturalearth_lowres.shp"
    frame = pyogrio.read_dataframe(str(shapefile))
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pyogrio.write_dataframe(frame, str(path), driver="GeoJSON")
    return path


if __name__ == "__main__":
    import sys
    print(write_countries(sys.argv[1]))
