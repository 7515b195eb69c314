"""GeoParquet with a covering column: a bbox of a file that was never parsed reads only the row groups that it meets."""
import json
import random
import struct

import pyarrow as pa
import pytest
from pyarrow import flight, parquet
from serving import Server

GROUP, GROUPS = 5_000, 40


def write(path, types=("Point",), kinds=(1,), boxes=pa.float32(), statistics=True, seed=8):
    """Points along x, a row group for each 9 degrees. kinds are those of the file in truth: 1 points, 2 lines."""
    rng, points, xs, ys = random.Random(seed), [], [], []
    for i in range(GROUP * GROUPS):
        x, y = -180 + 9 * (i // GROUP) + 9 * rng.random(), rng.uniform(-80, 80)
        kind = kinds[i % len(kinds)]
        points.append(struct.pack("<BIdd", 1, 1, x, y) if kind == 1 else struct.pack("<BIIdddd", 1, 2, 2, x, y, x, y))
        xs.append(x)
        ys.append(y)
    x, y = pa.array(xs).cast(boxes), pa.array(ys).cast(boxes)
    table = pa.table({
        "n": pa.array(range(len(xs)), pa.int64()), "name": [f"row {i}" for i in range(len(xs))],
        "bbox": pa.StructArray.from_arrays([x, y, x, y], ["xmin", "ymin", "xmax", "ymax"]), "geometry": pa.array(points, pa.binary()),
    })
    covering = {"bbox": {k: ["bbox", k] for k in ("xmin", "ymin", "xmax", "ymax")}}
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {
        "geometry": {"encoding": "WKB", "geometry_types": list(types), "covering": covering}}}
    table = table.replace_schema_metadata({"geo": json.dumps(geo)})
    parquet.write_table(table, path, row_group_size=GROUP, write_statistics=statistics)
    return xs, ys


def read(client, **ticket):
    table = client.do_get(flight.Ticket(json.dumps(ticket).encode())).read_all()
    table.validate(full=True)
    return table


BOX = [10.0, -30.0, 14.0, 40.0]


@pytest.mark.parametrize("boxes", [pa.float32(), pa.float64()], ids=str)
def test_only_row_groups_of_the_bbox_are_read(tmp_path, boxes):
    xs, ys = write(tmp_path / "p.parquet", boxes=boxes)
    want = [i for i, (x, y) in enumerate(zip(xs, ys)) if BOX[0] <= x <= BOX[2] and BOX[1] <= y <= BOX[3]]
    with Server(tmp_path, "--batch-rows", "8192") as server:
        client = server.client()
        command = json.dumps({"name": "p.parquet", "bbox": BOX})
        info = client.get_flight_info(flight.FlightDescriptor.for_command(command))
        assert info.total_records == len(want)
        part = read(client, name="p.parquet", bbox=BOX)
        assert part["n"].to_pylist() == want and part.schema.names == ["n", "name", "geometry"]
        assert info.schema.equals(part.schema, check_metadata=True)
        stats = server.action("stats")
        assert stats["cache"]["parts"] >= 2 and stats["parses"] == 0
        names = read(client, name="p.parquet", bbox=BOX, columns=["name"], limit=7)
        assert names["name"].to_pylist() == [f"row {i}" for i in want[:7]]
        whole = read(client, name="p.parquet")  # parses the file
        assert whole.num_rows == GROUP * GROUPS and whole.schema.equals(part.schema, check_metadata=True)
        assert read(client, name="p.parquet", bbox=BOX).equals(part)


@pytest.mark.parametrize("case", ["no statistics", "no types", "other types"])
def test_a_file_that_does_not_say_is_parsed(tmp_path, case):
    types, kinds = {"no types": ((), (1,)), "other types": (("Point",), (1, 2))}.get(case, (("Point",), (1,)))
    xs, ys = write(tmp_path / "p.parquet", types=types, kinds=kinds, statistics=case != "no statistics")
    want = [i for i, (x, y) in enumerate(zip(xs, ys)) if BOX[0] <= x <= BOX[2] and BOX[1] <= y <= BOX[3]]
    with Server(tmp_path, "--batch-rows", "8192") as server:
        client = server.client()
        if case == "other types":  # found out while rows are read, once
            with pytest.raises(pa.ArrowInvalid, match="geometries of kind"):
                read(client, name="p.parquet", bbox=BOX)
        assert read(client, name="p.parquet", bbox=BOX)["n"].to_pylist() == want
        assert server.action("stats")["parses"] == 1


@pytest.mark.parametrize("lies", [False, True])
def test_a_dataset_of_such_files_is_planned_without_a_parse(tmp_path, lies):
    (tmp_path / "data").mkdir()
    (tmp_path / "parts").mkdir()
    want = []
    for k in range(3):
        xs, ys = write(tmp_path / f"parts/{k}.parquet", seed=k, kinds=(1, 2) if lies and k == 1 else (1,))
        want += [(k, i) for i, (x, y) in enumerate(zip(xs, ys)) if BOX[0] <= x <= BOX[2] and BOX[1] <= y <= BOX[3]]
    flags = ("--dataset", f"many={tmp_path}/parts/*.parquet", "--batch-rows", "8192")
    with Server(tmp_path / "data", *flags) as server:
        client = server.client()
        info = client.get_flight_info(flight.FlightDescriptor.for_path("many"))
        assert info.total_records == 3 * GROUP * GROUPS and server.action("stats")["parses"] == 0
        if lies:  # found out while rows are read, once
            with pytest.raises(pa.ArrowInvalid, match="changed while it was read"):
                read(client, name="many", bbox=BOX)
        part = read(client, name="many", bbox=BOX)
        assert part["n"].to_pylist() == [i for _, i in want]
        assert server.action("stats")["parses"] == (1 if lies else 0)
        whole = read(client, name="many")
        assert whole.num_rows == 3 * GROUP * GROUPS and whole.schema.equals(part.schema, check_metadata=True)
        assert server.idle_statistics()["parses"] == 3
