"""Partitions: what they promise of rows and boxes, pickles, versions, and servers that are lost in the middle of one."""

import itertools
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest
from conftest import LARGE_ROWS, soon
from cutting import Cut
from serving import Server, free_port

import vibeflight
from vibeflight import channel
from vibeflight import partitions as module
from vibeflight.channel import Access, Part
from vibeflight.info import Info
from vibeflight.partitions import Partition, partitions_of

READ = "import pickle, sys; print(sum(batch.num_rows for batch in pickle.load(sys.stdin.buffer).read()))"


def numbers(partition):
    return [n for batch in partition.read() for n in batch["n"].to_pylist()]


def test_together_they_are_the_table(server):
    plan = server.partitions("large.csv")
    table = server.table("large.csv").arrow()
    assert len(plan) == 5 and sum(partition.rows for partition in plan) == LARGE_ROWS
    assert plan.schema.equals(table.schema, check_metadata=True)
    assert plan.info.rows == LARGE_ROWS and plan.bytes_per_row == table.nbytes / LARGE_ROWS
    assert pa.Table.from_batches((batch for partition in plan for batch in partition.read()), plan.schema).equals(table)


@pytest.mark.parametrize(
    "selection",
    [{}, {"bbox": [-180, -85, 0, 0]}, {"bbox": [0, 0, 90, 40]}, {"rows": [300_000, 900_000]}, {"rows": [5, 2 * LARGE_ROWS]}, {"limit": 10},
     {"rows": [5, 500_000], "limit": 300_000}, {"rows": [5, 900_000], "bbox": [0, 0, 90, 40]}],
)  # fmt: skip
def test_rows_and_boxes_are_true(server, selection):
    plan = server.partitions("large.csv", **selection)
    for partition in plan:
        points = pa.concat_tables([pa.Table.from_batches(partition.read(), plan.schema)])["geometry"].combine_chunks()
        x, y = (points.storage if isinstance(points, pa.ExtensionArray) else points).flatten()
        xmin, ymin, xmax, ymax = partition.bbox
        assert partition.rows == len(points) or (partition.rows is None and {"rows", "bbox"} <= set(selection))
        assert xmin <= pa.compute.min(x).as_py() and ymin <= pa.compute.min(y).as_py()
        assert xmax >= pa.compute.max(x).as_py() and ymax >= pa.compute.max(y).as_py()
    whole = server.table("large.csv", **selection).arrow()
    assert [n for partition in plan for n in numbers(partition)] == whole["n"].to_pylist()


def test_a_partition_without_rows_is_left_out(server):
    plan = server.partitions("large.csv", bbox=[1000, 0, 1001, 1])
    assert len(plan) == 1 and plan[0].rows == 0 and list(plan[0].read()) == []
    assert len(server.partitions("empty.geojson")) == 1
    parts = [Part(b"{}", (), rows) for rows in (0, 3, None, 0)]
    assert [p.rows for p in partitions_of(parts, pa.schema([]), Info("", 3, None, None, {}), Access("host"), 1)] == [3, None]


def test_what_a_worker_gets(server):
    """It is small, equal after pickling, and read by a process that has nothing else."""
    plan = server.partitions("large.csv")
    text = pickle.dumps(plan[1])
    assert len(text) < 1000 and pickle.loads(text) == plan[1]
    done = subprocess.run([sys.executable, "-c", READ], input=text, env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, check=True)
    assert int(done.stdout) == plan[1].rows
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan and again.schema.equals(plan.schema, check_metadata=True) and again.info == plan.info


def test_select(server):
    (partition,) = server.partitions("grid.geojson")
    (batch,) = partition.select(["name", "n"]).read()
    assert batch.schema.names == ["name", "n"] and partition.select(["n"]).version == partition.version
    with pytest.raises(vibeflight.Invalid, match="nothing"):
        next(partition.select(["nothing"]).read())


def test_a_partition_stays_with_its_version(tmp_path):
    (tmp_path / "a.csv").write_text("n\n1\n2\n")
    with Server(tmp_path) as running, vibeflight.connect(running.uri) as server:
        (partition,) = server.partitions("a.csv")
        assert numbers(partition) == [1, 2]
        (tmp_path / "a.csv").write_text("n\n3\n4\n5\n")
        server.refresh()
        with pytest.raises(vibeflight.FileChanged, match=partition.version):
            numbers(partition)
        assert numbers(server.partitions("a.csv")[0]) == [3, 4, 5]


def test_leaving_early_stops_the_server_s_stream(server):
    batches = server.partitions("large.csv")[0].read()
    next(batches)
    batches.close()
    soon(lambda: not [t for t in threading.enumerate() if t.name.startswith("vibeflight")])


@pytest.fixture
def large(data, tmp_path):
    """A server over the same files that may be killed, and started again at the same address with batches of another size."""
    address, cache = f"unix://{tmp_path}/s", data.parent / "killed"
    started = []

    def start(batch_rows):
        server = Server(data, "--batch-rows", str(batch_rows), listen=address, cache=cache)
        server.__enter__()
        started.append(server)
        return server

    yield start
    for server in started:
        server.__exit__()


@pytest.mark.parametrize("seen", [0, 1, 30])
def test_a_server_that_is_killed_and_restarted(large, seen):
    """Each row is there once, although the batches of the second server begin elsewhere. seen is the number of batches that were read by then."""
    first = large(4096)
    with vibeflight.connect(first.uri) as server:
        partition = server.partitions("large.csv")[2]
        want = numbers(partition)
    batches, got = partition.read(), []
    for _ in range(seen):
        got += next(batches)["n"].to_pylist()
    first.kill()
    restart = threading.Timer(1, large, [5000])
    restart.start()
    for batch in batches:
        got += batch["n"].to_pylist()
    restart.join()
    assert got == want and len(got) == partition.rows


def test_the_next_location(large, running):
    """The first server does not come back; the second one has the same files."""
    first = large(4096)
    with vibeflight.connect(first.uri) as server:
        planned = server.partitions("large.csv", columns=["n"])[0]
    partition = Partition(planned.ticket, (first.uri, running.uri), planned.rows, None, planned.access, retry_seconds=5)
    batches = partition.read()
    got = next(batches)["n"].to_pylist()
    first.kill()
    got += [n for batch in batches for n in batch["n"].to_pylist()]
    assert got == list(range(partition.rows))
    assert numbers(partition) == got


def test_a_server_that_is_killed_again_and_again(data):
    """Four times, each after 1.5 MB of the 6 MB that the partition has."""
    with Cut(data, data.parent / "killed", 1_500_000, away=0.2, times=4) as cut, vibeflight.connect(cut.uri) as server:
        before, partition, *_ = server.partitions("large.csv")
        assert numbers(partition) == list(range(before.rows, before.rows + partition.rows))
        assert cut.kills == 4


def test_a_server_that_hangs(large, running, monkeypatch):
    """It keeps its connections and does nothing."""
    monkeypatch.setattr(channel, "PINGS", tuple((option, min(value, 500)) for option, value in channel.PINGS))
    first = large(4096)
    with vibeflight.connect(first.uri) as server:
        planned = server.partitions("large.csv")[0]
    batches = Partition(planned.ticket, (first.uri, running.uri), planned.rows, None, planned.access).read()
    got = next(batches)["n"].to_pylist()
    first.process.send_signal(signal.SIGSTOP)
    try:
        got += [n for batch in batches for n in batch["n"].to_pylist()]
    finally:
        first.process.send_signal(signal.SIGCONT)
    assert got == list(range(planned.rows))


def test_tls(tmp_path):
    """A worker trusts what the connection trusts."""
    root = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
    program = f"{root}/src/crypto/tls/generate_cert.go"
    environment = {key: value for key, value in os.environ.items() if key != "XDG_CACHE_HOME"}
    subprocess.run(
        ["go", "run", program, "--host", "127.0.0.1", "--ca", "--ecdsa-curve", "P256"], cwd=tmp_path, env=environment, capture_output=True, check=True
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("n\n1\n2\n")
    with Server(tmp_path / "data", tls=(tmp_path / "cert.pem", tmp_path / "key.pem")) as running:
        with vibeflight.connect(running.uri, tls_ca=tmp_path / "cert.pem") as server:
            text = pickle.dumps(server.partitions("a.csv")[0])
        assert numbers(pickle.loads(text)) == [1, 2]


def test_a_server_that_does_not_come_back():
    at = time.monotonic()
    with pytest.raises(vibeflight.Unavailable):
        next(Partition(b"a", (), None, None, Access(f"grpc://127.0.0.1:{free_port()}"), retry_seconds=0.5).read())
    assert 0.5 < time.monotonic() - at < 10


class Scripted(Partition):
    """A partition whose tries are played: each gives batches of some numbers, then ends, or fails with an error. tries is what is left of the script."""

    def _batches(self, place):
        places.append(place)
        numbers, error = tries.pop(0)
        for part in numbers:
            yield part if isinstance(part, pa.RecordBatch) else pa.record_batch({"n": part})
        if error:
            raise error


places: list = []
tries: list = []
LOST = vibeflight.Unavailable("lost")


def played(script, rows=None, locations=(), retry_seconds=60.0):
    places.clear()
    tries[:] = script
    return Scripted(b"a", locations, rows, None, Access("grpc://asked:1"), retry_seconds)


@pytest.fixture
def delays(monkeypatch):
    """The delays, which take no time."""
    slept = []
    monkeypatch.setattr(module.time, "sleep", slept.append)
    return slept


@pytest.mark.parametrize(
    "script",
    [
        [([[0, 1, 2, 3, 4, 5]], None)],
        [([], LOST), ([[0, 1], [2, 3, 4, 5]], None)],
        [([[0, 1, 2]], LOST), ([[0, 1], [2, 3], [4, 5]], None)],  # within a batch
        [([[0, 1]], LOST), ([[0, 1], [2]], LOST), ([[0]], LOST), ([[0, 1, 2, 3, 4, 5]], None)],
        [([[0, 1], [2, 3, 4, 5]], LOST), ([[0, 1, 2], [3, 4, 5]], None)],  # all rows, without the end of the stream
    ],
)
def test_rows_come_once(script, delays):
    batches = list(played(script, rows=6).read())
    assert [n for batch in batches for n in batch["n"].to_pylist()] == list(range(6))
    assert all(batch.num_rows for batch in batches) and not tries


def test_rows_come_once_however_the_tries_end(delays):
    """Random batches, and failures after any number of them; each try has other bounds."""
    rng = random.Random(11)
    for _ in range(300):
        rows, script = rng.randrange(1, 40), []
        for last in [False] * rng.randrange(6) + [True]:
            bounds = [0, *sorted(rng.choices(range(rows + 1), k=rng.randrange(8))), rows]
            batches = [list(range(a, b)) for a, b in itertools.pairwise(bounds) if a < b]
            script.append((batches, None) if last else (batches[: rng.randrange(len(batches) + 1)], LOST))
        partition = played(script, rows=rng.choice([rows, None]), locations=rng.choice([(), ("grpc://a:1", "grpc://b:1", "grpc://c:1")]))
        assert numbers(partition) == list(range(rows)), script


def test_places_take_turns(delays):
    """A delay follows each round, and grows until there is a row again."""
    locations = ("grpc://a:1", "arrow-flight-reuse-connection://?")
    script = [([], LOST)] * 5 + [([[0]], LOST)] + [([], LOST)] + [([[0]], None)]
    assert numbers(played(script, locations=locations)) == [0]
    assert places[:6] == ["grpc://a:1", "grpc://asked:1"] * 3
    assert len(delays) == 3 and 0.05 <= delays[0] <= 0.1 <= delays[1] <= 0.2 and delays[2] <= 0.1


def test_delays_are_bounded():
    assert all(0.05 <= module._delay(n) <= 5 for n in range(1, 2000))


def test_what_is_not_tried_again(delays):
    for error in (vibeflight.FileChanged("a changed"), vibeflight.Invalid("bad"), vibeflight.Internal("oops"), vibeflight.LimitExceeded("--max-streams")):
        with pytest.raises(type(error)):
            list(played([([[0]], error)]).read())
    assert not delays


def test_other_rows_than_planned(delays):
    with pytest.raises(vibeflight.Internal, match="gave 2 rows"):
        list(played([([[0, 1]], None)], rows=3).read())
    with pytest.raises(vibeflight.Internal, match="gave 1 rows"):
        list(played([([[0, 1]], LOST), ([[0]], None)]).read())
    with pytest.raises(vibeflight.FileChanged, match="settings"):
        list(played([([[0, 1]], LOST), ([pa.record_batch({"m": [0, 1, 2]})], None)]).read())
