"""Listing, info, schema and actions: everything about entries before a row is sent."""
import json
import os
import time

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from cases import FILES
from serving import Server

ACTIONS = {"refresh", "evict", "describe", "stats"}


def names(client, **criteria):
    listed = client.list_flights(json.dumps(criteria).encode() if criteria else b"")
    return sorted(b"/".join(info.descriptor.path).decode() for info in listed)


def path(name):
    return flight.FlightDescriptor.for_path(*name.split("/"))


def action(client, kind, body=None):
    """An action's results, each a JSON value."""
    results = client.do_action(flight.Action(kind, json.dumps(body).encode() if body is not None else b""))
    return [json.loads(r.body.to_pybytes()) for r in results]


def test_every_file_is_listed(client):
    assert names(client) == sorted([*FILES, "large.geojsonl", "world/countries.geojson"])


def test_criteria(client):
    assert names(client, prefix="kinds/") == sorted(n for n in FILES if n.startswith("kinds/"))
    assert names(client, format="geojson", prefix="l") == ["large.geojsonl", "lines.geojsonl"]
    assert names(client, prefix="no such") == []


def test_listing_does_not_parse(data):
    with Server(data) as server:
        infos = {b"/".join(i.descriptor.path): i for i in server.client().list_flights()}
        info = infos[b"world/countries.geojson"]
        assert (info.total_records, info.schema) == (-1, None)


@pytest.mark.parametrize("name", sorted(set(FILES) - {"broken.geojson", "ring.geojson"}) + ["world/countries.geojson"])
def test_info_schema_and_data_agree(client, name):
    info = client.get_flight_info(path(name))
    reader = client.do_get(info.endpoints[0].ticket)
    table = reader.read_all()
    table.validate(full=True)
    for schema in (info.schema, client.get_schema(path(name)).schema):
        assert schema.equals(table.schema, check_metadata=True)
    assert info.total_records == table.num_rows
    about = json.loads(info.app_metadata)
    assert {"format", "engine", "crs", "bbox", "geometry_types", "bytes_read", "parse_seconds", "cached"} <= about.keys()


def test_path_with_slashes_in_one_component(client):
    one = client.get_flight_info(flight.FlightDescriptor.for_path("world/countries.geojson"))
    assert one.total_records == 177


def test_command_descriptor(client):
    command = {"name": "grid.geojson", "columns": ["n"], "limit": 3}
    info = client.get_flight_info(flight.FlightDescriptor.for_command(json.dumps(command)))
    assert info.schema.names == ["n"] and info.total_records == 3
    assert client.do_get(info.endpoints[0].ticket).read_all()["n"].to_pylist() == [0, 1, 2]


def test_large_table_is_split(client):
    info = client.get_flight_info(path("large.geojsonl"))
    assert info.total_records == 300_000
    assert 2 <= len(info.endpoints) <= 16
    tables = [client.do_get(e.ticket).read_all() for e in info.endpoints]
    sizes = [t.num_rows for t in tables]
    assert sum(sizes) == 300_000 and all(s % 65_536 == 0 for s in sizes[:-1])
    whole = client.do_get(flight.Ticket("large.geojsonl")).read_all()
    assert pa.concat_tables(tables).equals(whole)
    assert whole["n"].to_pylist() == list(range(300_000))


def test_batches_have_65536_rows(client):
    sizes = [chunk.data.num_rows for chunk in client.do_get(flight.Ticket("large.geojsonl"))]
    assert sizes[:-1] == [65_536] * (len(sizes) - 1) and sum(sizes) == 300_000


def test_actions_are_listed(client):
    assert ACTIONS <= {a.type for a in client.list_actions()}


def test_describe(client):
    (said,) = action(client, "describe", {"name": "world/countries.geojson"})
    assert said["format"] == "geojson" and said["crs"]
    assert said["geometry_types"] == ["MultiPolygon", "Polygon"]
    assert said["bbox"] == pytest.approx([-180, -90, 180, 83.64513])


def test_describe_counts_what_is_odd(data):
    odd = data / "odd.geojson"
    odd.write_text('{"type":"FeatureCollection","features":[{"type":"Feature","extra":1,"properties":{"n":1e1},"geometry":'
                   '{"type":"Polygon","coordinates":[[[0,0,1,9],[1,0,1],[1,1,1]]]}}]}')
    try:
        with Server(data) as server:
            client = server.client()
            (said,) = action(client, "describe", {"name": "odd.geojson"})
            about = json.loads(client.get_flight_info(path("odd.geojson")).app_metadata)
    finally:
        odd.unlink()
    assert about["ignored_ordinates"] == 1
    assert said["ignored_ordinates"] == 1


def test_stats_and_evict(client):
    client.do_get(flight.Ticket("grid.geojson")).read_all()
    (before,) = action(client, "stats")
    assert before["tables"] > 0
    action(client, "evict", {"name": "grid.geojson"})
    assert client.do_get(flight.Ticket("grid.geojson")).read_all().num_rows == 100


@pytest.mark.parametrize("engine", ["auto", "cpu"])
def test_stats_say_who_parses(data, engine):
    with Server(data, "--engine", engine) as server:
        server.client().do_get(flight.Ticket("grid.geojson")).read_all()
        engines = server.action("stats")["engines"]
    assert engines["choice"] == "cpu" if engine == "cpu" else engines["choice"].startswith("auto: c")
    for device in engines["devices"]:
        assert device["name"].startswith("GPU ") and device["used_bytes"] <= device["peak_bytes"] <= device["memory_bytes"] and device["faults"] == 0
    assert set(engines["formats"]) == ({"geojson"} if engines["devices"] else set())
    for counts in engines["formats"].values():
        assert {"chunks", "refused", "refused_rows", "faults"} <= set(counts)


def test_the_catalog_follows_its_folder(tmp_path):
    def put(name, n):
        text = json.dumps({"type": "FeatureCollection", "features": [
            {"type": "Feature", "properties": {"n": i}, "geometry": None} for i in range(n)]})
        (tmp_path / "new").write_text(text)
        os.replace(tmp_path / "new", tmp_path / name)

    put("a.geojson", 1)
    with Server(tmp_path) as server:
        client = server.client()
        info = client.get_flight_info(path("a.geojson"))
        assert info.total_records == 1
        put("b.geojson", 2)
        wait_for(lambda: names(client) == ["a.geojson", "b.geojson"])
        put("a.geojson", 3)
        wait_for(lambda: client.get_flight_info(path("a.geojson")).total_records == 3)
        with pytest.raises(pa.ArrowInvalid, match=r"precondition failed.*a\.geojson changed: version \w+ was requested, \w+ is current"):
            client.do_get(info.endpoints[0].ticket).read_all()
        (tmp_path / "b.geojson").unlink()
        wait_for(lambda: names(client) == ["a.geojson"])


def wait_for(true, seconds=10):
    """The folder is watched, so a change is noticed soon, but not immediately."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "not seen in time"
        time.sleep(0.05)


def test_aliases(data, tmp_path):
    (tmp_path / "x.geojson").write_text(FILES["grid.geojson"])
    with Server(f"first={data}", "--data", f"second={tmp_path}") as server:
        listed = names(server.client())
        assert "second/x.geojson" in listed and "first/grid.geojson" in listed
        assert server.client().do_get(flight.Ticket("second/x.geojson")).read_all().num_rows == 100


def test_unix_socket(data, tmp_path):
    with Server(data, listen=f"unix://{tmp_path}/s") as server:
        client = flight.connect(server.uri.replace("unix://", "grpc+unix://"))
        try:
            assert client.do_get(flight.Ticket("grid.geojson")).read_all().num_rows == 100
        finally:
            client.close()
