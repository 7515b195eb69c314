"""What a ticket can say: columns, bbox, rows, limit, encodings, compression; and what it can't."""
import json

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from cases import FILES
from conftest import bits, ticket


def test_name_alone_and_json_are_the_same(read, client):
    assert read("grid.geojson").equals(client.do_get(flight.Ticket(b'{"name": "grid.geojson"}')).read_all(), check_metadata=True)


def test_columns_in_this_order(read):
    assert read("grid.geojson").column_names == ["n", "name", "geometry"]
    table = read("grid.geojson", columns=["geometry", "n"])
    assert table.column_names == ["geometry", "n"]
    assert table["n"].to_pylist() == list(range(100))


def test_without_geometry(read):
    table = read("grid.geojson", columns=["name"])
    assert table.column_names == ["name"]
    assert table["name"].to_pylist()[99] == "cell 99"


def test_bbox_is_closed(read):
    assert read("grid.geojson", bbox=[2, 3, 4, 3])["n"].to_pylist() == [32, 33, 34]
    assert read("grid.geojson", bbox=[2.5, 3, 4, 3.9])["n"].to_pylist() == [33, 34]
    assert read("grid.geojson", bbox=[90, 90, 91, 91]).num_rows == 0


def test_bbox_never_matches_null_and_empty(read):
    everything = [-180, -90, 180, 90]
    assert read("kinds/point_xy.geojson", bbox=everything)["row"].to_pylist() == [0, 3]
    assert read("kinds/multipolygon_xy.geojson", bbox=everything)["row"].to_pylist() == [0, 1]


def test_rows_are_clipped(read):
    assert read("grid.geojson", rows=[10, 13])["n"].to_pylist() == [10, 11, 12]
    assert read("grid.geojson", rows=[98, 1000])["n"].to_pylist() == [98, 99]
    assert read("grid.geojson", rows=[500, 1000]).num_rows == 0


def test_limit(read):
    assert read("grid.geojson", limit=2)["n"].to_pylist() == [0, 1]
    empty = read("grid.geojson", limit=0)
    assert empty.num_rows == 0 and empty.schema.equals(read("grid.geojson").schema, check_metadata=True)


def test_order_is_rows_bbox_limit(read):
    table = read("grid.geojson", rows=[20, 60], bbox=[3, 0, 3, 9], limit=2, columns=["n"])
    assert table["n"].to_pylist() == [23, 33]


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_compression(read, compression):
    assert read("large.geojsonl", compression=compression).equals(read("large.geojsonl"))


def test_selections_cut_within_lists(read):
    whole = read("kinds/multipolygon_xyz.geojson", geometry_encoding="wkb")
    for start in range(4):
        for stop in range(start, 5):
            part = read("kinds/multipolygon_xyz.geojson", geometry_encoding="wkb", rows=[start, stop])
            assert part.equals(whole.slice(start, stop - start))


def test_types(read):
    schema = read("types.geojson").schema
    assert {n: schema.field(n).type for n in schema.names if n not in ("geometry", "nested")} == {
        "int": pa.int32(), "wide": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "text": pa.string(), "null": pa.string(),
        "date": pa.date32(), "stamp": pa.timestamp("ms", "UTC"), "local": pa.timestamp("ms"), "time": pa.time32("ms"),
        "list": schema.field("list").type, "mixed": pa.string()}
    assert schema.field("list").type.value_type == pa.int32()
    assert schema.field("mixed").metadata[b"vibeflight.mixed"] == b"true"
    assert schema.names[-1] == "geometry"


def test_values(read):
    rows = read("types.geojson", columns=["int", "wide", "float", "text", "list", "nested", "mixed"]).to_pylist()
    assert rows == [
        {"int": 1, "wide": 2147483648, "float": 0.1, "text": "caf\u00e9 \U0001f600", "list": [1, 2],
         "nested": '{"a":[1,{"b":null}]}', "mixed": "1"},
        {"int": -2147483648, "wide": -9223372036854775808, "float": 5e-324, "text": "", "list": [], "nested": "[]", "mixed": "x"},
        dict.fromkeys(["int", "wide", "float", "text", "list", "nested", "mixed"]),
    ]


BAD = {  # ticket, words that the answer holds
    "unknown field": ({"name": "grid.geojson", "colums": ["n"]}, ["colums"]),
    "unknown option": ({"name": "grid.geojson", "options": {"delimiter": ","}}, ["delimiter"]),
    "unknown column": ({"name": "grid.geojson", "columns": ["nam"]}, ["nam", "name"]),
    "repeated column": ({"name": "grid.geojson", "columns": ["n", "n"]}, ["columns"]),
    "no column": ({"name": "grid.geojson", "columns": []}, ["columns"]),
    "wrong type": ({"name": "grid.geojson", "limit": "1"}, ["limit"]),
    "fraction": ({"name": "grid.geojson", "limit": 1.5}, ["limit"]),
    "negative": ({"name": "grid.geojson", "limit": -1}, ["limit"]),
    "bbox of three": ({"name": "grid.geojson", "bbox": [1, 2, 3]}, ["bbox"]),
    "bbox turned round": ({"name": "grid.geojson", "bbox": [3, 2, 1, 4]}, ["bbox"]),
    "rows turned round": ({"name": "grid.geojson", "rows": [5, 4]}, ["rows"]),
    "encoding": ({"name": "grid.geojson", "geometry_encoding": "ewkb"}, ["geometry_encoding"]),
    "coords": ({"name": "grid.geojson", "coords": "mixed"}, ["coords"]),
    "compression": ({"name": "grid.geojson", "compression": "gzip"}, ["compression"]),
    "no name": ({"columns": ["n"]}, ["name"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_ticket_is_invalid(client, case):
    fields, words = BAD[case]
    with pytest.raises(pa.ArrowInvalid) as e:
        client.do_get(flight.Ticket(json.dumps(fields))).read_all()
    for word in words:
        assert word in str(e.value)


@pytest.mark.parametrize("text", [b"{", b'{"name": "grid.geojson"} x', b'{"name": "grid.geojson", "name": "x"}',
                                  b'{"name": "grid.geojson", "bbox": [NaN, 0, 1, 1]}', b"", b"\xff", b'{"name": 7}'])
def test_malformed_ticket_is_invalid(client, text):
    with pytest.raises(pa.ArrowInvalid, match="ticket"):
        client.do_get(flight.Ticket(text)).read_all()


def test_rows_in_a_command_is_invalid(client):
    with pytest.raises(pa.ArrowInvalid, match="rows"):
        client.get_flight_info(flight.FlightDescriptor.for_command('{"name": "grid.geojson", "rows": [0, 1]}'))


@pytest.mark.parametrize("name", ["gird.geojson", "../data/grid.geojson", "/etc/passwd", "world", "world/../grid.geojson"])
def test_no_such_entry(client, name):
    with pytest.raises(KeyError) as e:
        client.do_get(ticket(name)).read_all()
    assert name in str(e.value)


def test_closest_names(client):
    with pytest.raises(KeyError, match="grid.geojson"):
        client.do_get(ticket("gird.geojson")).read_all()


def test_truncated_file(client):
    with pytest.raises(pa.ArrowInvalid, match=r"broken\.geojson.*byte \d+"):
        client.do_get(ticket("broken.geojson")).read_all()


def test_malformed_coordinate(client):
    at = FILES["ring.geojson"].index("null],[3")
    with pytest.raises(pa.ArrowInvalid, match=rf"ring\.geojson.*byte {at}, line 3, feature 1, geometry"):
        client.do_get(ticket("ring.geojson")).read_all()


def test_skip_reads_past_it(client, read):
    assert read("ring.geojson", options={"on_error": "skip"}).num_rows == 1
    command = json.dumps({"name": "ring.geojson", "options": {"on_error": "skip"}})
    about = json.loads(client.get_flight_info(flight.FlightDescriptor.for_command(command)).app_metadata)
    assert about["skipped"]["count"] == 1 and len(about["skipped"]["first"]) == 1


def test_the_server_survives_all_of_it(client, read):
    assert read("grid.geojson").num_rows == 100


@pytest.mark.parametrize("name", sorted(set(FILES) - {"broken.geojson", "ring.geojson"}) + ["world/countries.geojson"])
def test_compression_of_every_type(read, name):
    """Every type of column, with nulls and without rows, in every encoding of geometry: the same bits as without compression."""
    for encoding in ("native", "wkb", "wkt"):
        want = bits(read(name, geometry_encoding=encoding))
        for compression in ("lz4", "zstd"):
            assert bits(read(name, geometry_encoding=encoding, compression=compression)) == want, (encoding, compression)
