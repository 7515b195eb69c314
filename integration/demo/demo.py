"""The tour: two files, a server over them, a client's view, and timings next to GDAL's. Nothing is left running."""
import json
import pathlib
import statistics
import sys
import tempfile
import textwrap
import time

import geopandas
import pyarrow.flight as flight
import pyogrio

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from naturalearth import write_countries  # noqa: E402
from serving import Server, vibeflight  # noqa: E402

FEATURES = 200_000
ROUNDS = 3
NAME = "florida/buildings.geojson"


def say(text=""):
    print(textwrap.fill(text, 100), flush=True)


def title(text):
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def shown(text):
    print(textwrap.indent(str(text).rstrip(), "    "), flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="vibeflight-demo-") as folder:
        data, cache = pathlib.Path(folder) / "data", pathlib.Path(folder) / "cache"
        title("Two files")
        make_files(data)
        with Server(data, "--log-format", "console", cache=cache) as server:
            tour(server)
            timings(server, data, cache)
    title("Done")
    say("The server has stopped and the files are gone. The same with your own files:")
    shown("bin/vibeflight serve --data DIR")


def make_files(folder):
    countries = write_countries(folder / "world" / "countries.geojson")
    buildings = folder / NAME
    buildings.parent.mkdir(parents=True)
    vibeflight("gen", "buildings", "--features", FEATURES, "-o", buildings)
    say("The countries of Natural Earth, and building footprints that `vibeflight gen` makes up:")
    for path in (countries, buildings):
        shown(f"{path.relative_to(folder)!s:<28}{path.stat().st_size / 1e6:>8.1f} MB")


def tour(server):
    title("A server over them")
    shown("$ bin/vibeflight " + " ".join(server.command[1:]) + "\n" + server.log())

    title("The catalog")
    say("Any Arrow Flight client can ask what there is. Listing reads no file.")
    client = server.client()
    shown("\n".join(sorted(b"/".join(i.descriptor.path).decode() for i in client.list_flights())))

    title("A table's schema")
    say("GetFlightInfo has parsed the file: the schema holds for every row, and is no guess from the first ones.")
    info = client.get_flight_info(flight.FlightDescriptor.for_path("world", "countries.geojson"))
    shown("\n".join(f"{f.name:<12}{extension(f)}" for f in info.schema))
    about = json.loads(info.app_metadata)
    say(f"{info.total_records} rows, {' and '.join(about['geometry_types'])}, {about['crs']}, engine {about['engine']}.")

    title("First rows in GeoPandas")
    say("A ticket is a file's name. The table goes to GeoPandas as it is, reference system included.")
    shown('table = client.do_get(flight.Ticket("world/countries.geojson")).read_all()\nframe = geopandas.GeoDataFrame.from_arrow(table)')
    frame = geopandas.GeoDataFrame.from_arrow(client.do_get(flight.Ticket("world/countries.geojson")).read_all())
    print()
    shown(frame.head().to_string(max_colwidth=34))

    title("Only some columns of some rows")
    ticket = {"name": "world/countries.geojson", "columns": ["name", "pop_est"], "bbox": [-10, 35, 20, 45], "limit": 5}
    say("A ticket can also be JSON, short enough to write by hand:")
    shown(json.dumps(ticket))
    print()
    shown(client.do_get(flight.Ticket(json.dumps(ticket))).read_all().to_pandas().to_string())


def extension(field):
    name = (field.metadata or {}).get(b"ARROW:extension:name")
    return name.decode() if name else str(field.type)


def timings(server, data, cache):
    path = data / NAME
    title(f"The time it takes: {FEATURES:,} buildings, {path.stat().st_size / 1e6:.0f} MB")
    say(f"Measured just now on this machine, medians of {ROUNDS} rounds in turns. Each gives the whole table in this process's memory. "
        "Before each first read the server forgets the file, in memory and on disk. After a restart it opens the table that it has saved.")
    readers = {
        "vibeflight, first read": first(server),
        "vibeflight, read again": again(server),
        "vibeflight, after a restart": restarted(data, cache),
        "pyogrio (GDAL), read_arrow": gdal(path),
    }
    took = {name: [] for name in readers}
    for _ in range(ROUNDS):
        for name, reader in readers.items():
            took[name].append(reader())
    median = {name: statistics.median(t) for name, t in took.items()}
    theirs = median["pyogrio (GDAL), read_arrow"]
    shown("\n".join(f"{name:<30}{t:>8.3f} s{path.stat().st_size / 1e6 / t:>9.0f} MB/s{theirs / t:>8.1f}x" for name, t in median.items()))


def clock(read):
    start = time.perf_counter()
    table = read()
    seconds = time.perf_counter() - start
    assert table.num_rows == FEATURES
    return seconds


def first(server):
    client = server.client()

    def reader():
        list(client.do_action(flight.Action("evict", NAME.encode())))
        parses = server.action("stats")["parses"] + 1
        seconds = clock(lambda: client.do_get(flight.Ticket(NAME)).read_all())
        assert server.action("stats")["parses"] == parses, "this was no first read"
        server.wait_until_saved(parses)  # otherwise the next reader would share the cores with it
        return seconds

    return reader


def again(server):
    client = server.client()
    return lambda: clock(lambda: client.do_get(flight.Ticket(NAME)).read_all())


def restarted(data, cache):
    def reader():
        with Server(data, cache=cache) as server:
            client = server.client()
            list(client.list_flights())  # it is connected
            seconds = clock(lambda: client.do_get(flight.Ticket(NAME)).read_all())
            assert server.action("stats")["parses"] == 0, "the table was not in the cache"
        return seconds

    return reader


def gdal(path):
    return lambda: clock(lambda: pyogrio.read_arrow(path)[1])


if __name__ == "__main__":
    main()
