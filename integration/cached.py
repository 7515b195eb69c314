"""Queries of a server and its cache folder for the tests of the cache."""
import json
import pathlib

import pyarrow.flight as flight
from conftest import bits, ticket
from serving import Server


def read(server, name, **fields):
    return server.client().do_get(ticket(name, **fields)).read_all()


def about(server, name):
    """The metadata of GetFlightInfo."""
    return json.loads(server.client().get_flight_info(flight.FlightDescriptor.for_path(name)).app_metadata)


def files(cache):
    """The files of tables."""
    return sorted((pathlib.Path(cache) / "tables").glob("*.arrow"))


def fill(data, cache, *names):
    """Makes a server parse and save the tables, and returns the bits of each."""
    with Server(data, cache=cache) as server:
        want = {name: bits(read(server, name)) for name in names}
        server.wait_until_saved(len(names))
    return want
