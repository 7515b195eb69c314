"""Tables in device memory, with a server whose card is emulated by files: what is mapped has the values of pyarrow, and nothing wrong is read."""

import array
import base64
import contextlib
import ctypes
import datetime
import decimal
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import weakref

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import flight

import vibeflight
from vibeflight import device
from vibeflight.device.capsule import CDeviceArray, _pointer
from vibeflight.device.layout import shape_of

POINT = pa.struct([pa.field("x", pa.float64(), nullable=False), pa.field("y", pa.float64(), nullable=False)])
POLYGONS = pa.list_(pa.field("polygons", pa.list_(pa.field("rings", pa.list_(pa.field("vertices", POINT))))))
SHAPES = [[[[{"x": 0.5, "y": -0.0}, {"x": 1.0, "y": 2.0}], []]], None, [], [[[{"x": float("inf"), "y": 7.0}]], []]]

COLUMNS = {
    "bool": pa.array([True, None, False, True]),
    "int8": pa.array([1, -128, None, 127], pa.int8()),
    "uint64": pa.array([0, 1, 2, 2**64 - 1], pa.uint64()),
    "int64": pa.array([None, -(2**63), 5, 6], pa.int64()),
    "float": pa.array([1.5, None, float("-inf"), -0.0], pa.float32()),
    "double": pa.array([1.5, 2.5, 1e300, -0.0]),
    "utf8": pa.array(["", "ä", None, "long enough"]),
    "empty": pa.array(["", "", "", ""]),
    "large_utf8": pa.array(["a", None, "", "b"], pa.large_string()),
    "binary": pa.array([b"\0\1", b"", None, b"z"]),
    "large_binary": pa.array([b"\0\1", b"", None, b"z"], pa.large_binary()),
    "fixed_binary": pa.array([b"abc", b"def", None, b"ghi"], pa.binary(3)),
    "date": pa.array([datetime.date(1969, 7, 20), None, datetime.date(2026, 1, 1), datetime.date(1, 1, 1)]),
    "time": pa.array([0, 1, None, 3], pa.time64("us")),
    "timestamp": pa.array([0, -1, None, 2**40], pa.timestamp("us", "UTC")),
    "duration": pa.array([0, -1, None, 2**40], pa.duration("ms")),
    "decimal": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-9.99"), decimal.Decimal(0)], pa.decimal128(20, 2)),
    "list": pa.array([[1, None], [], None, [3]], pa.list_(pa.int32())),
    "large_list": pa.array([["a"], [], None, ["b", None]], pa.large_list(pa.string())),
    "fixed_list": pa.array([[1.0, 2.0], None, [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float64(), 2)),
    "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 4, "b": None}]),
    "null": pa.nulls(4),
    "point": pa.array([{"x": 1.0, "y": 2.0}, None, {"x": 3.0, "y": 4.0}, {"x": 5.0, "y": 6.0}], POINT),
    "polygons": pa.array(SHAPES, POLYGONS),
}
SCHEMA = pa.schema([pa.field(name, column.type, metadata={"k": name}) for name, column in COLUMNS.items()], metadata={"of": "the table"})
BATCH = pa.record_batch(list(COLUMNS.values()), schema=SCHEMA)


def laid_out(schema, batches, allocations=2):
    """Returns what a server says of batches, and the contents of its allocations."""
    content = [bytearray() for _ in range(allocations)]
    said = []

    def walk(a, shape, nodes, buffers, turn):
        storage = a.storage if isinstance(a, pa.ExtensionArray) else a
        nodes.append([len(a), a.null_count])
        own = storage.buffers()[: len(shape.buffers)]
        for at, b in enumerate(own):
            where = content[(turn + at) % allocations]
            data = b"" if b is None or (at == 0 and a.null_count == 0) else b.to_pybytes()
            buffers.append([(turn + at) % allocations, len(where), len(data)])
            where += data.ljust(-(-len(data) // 64) * 64 + 64, b"\0")
        t = storage.type
        children = [storage.field(i) for i in range(t.num_fields)] if pa.types.is_struct(t) else [storage.values] if shape.children else []
        for child, its in zip(children, shape.children, strict=True):
            walk(child, its, nodes, buffers, turn + 1)

    for batch in batches:
        nodes, buffers = [], []
        for column, field in zip(batch.columns, schema, strict=True):
            walk(column, shape_of(field), nodes, buffers, 0)
        said.append({"rows": batch.num_rows, "nodes": nodes, "buffers": buffers})
    description = {
        "device": {"ordinal": 0, "uuid": "GPU-0", "type": "host"},
        "schema": base64.b64encode(schema.serialize().to_pybytes()).decode(),
        "allocations": [{"bytes": len(piece)} for piece in content],
        "batches": said,
    }
    return description, [bytes(piece) for piece in content]


class Card:
    """A server's socket for files: a client that sends a key gets what the test offers."""

    def __init__(self, folder):
        self.path = str(folder / "v.sock")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path + ".share")
        self.listener.listen()
        self.mark, self.leases, self.keys = b"D", [], []
        self.threads = [threading.Thread(target=self._serve, daemon=True)]
        self.threads[0].start()

    def offer(self, description, content, *, cut=None):
        answer = description if isinstance(description, bytes) else json.dumps(description).encode()
        self.answer, self.content = (len(answer).to_bytes(4, "little") + answer)[:cut], content

    def _serve(self):
        while True:
            try:
                lease, _ = self.listener.accept()
            except OSError:
                return
            self.leases.append(lease)
            self.keys.append(lease.makefile("rb").readline())
            files = [os.memfd_create("allocation") for _ in self.content]
            for file, piece in zip(files, self.content, strict=True):
                os.write(file, piece)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
            lease.sendmsg([self.mark], rights)
            with contextlib.suppress(BrokenPipeError):
                lease.sendall(self.answer)
            for file in files:
                os.close(file)
            if self.answer[:4] != len(self.answer[4:]).to_bytes(4, "little"):
                lease.close()

    def take(self, columns=None):
        table = device._taken(self.path + ".share", "0" * 32, "v1")
        if columns is not None:
            table._select(columns)
        return table

    def close(self):
        with contextlib.suppress(OSError):  # it is closed
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for lease in self.leases:
            lease.close()


@pytest.fixture
def card(tmp_path):
    card = Card(tmp_path)
    yield card
    card.close()


def closed(lease, seconds=10):
    """Whether the client has closed the connection."""
    lease.settimeout(seconds)
    return lease.recv(1) == b""


@pytest.mark.parametrize("allocations", [1, 2, 5])
@pytest.mark.parametrize(
    "batches",
    [[BATCH], [BATCH, BATCH.slice(0, 0), BATCH], [], [BATCH.slice(0, 0)]],
    ids=["one", "several", "none", "no rows"],
)
def test_values(card, allocations, batches):
    batches = [pa.record_batch([pa.concat_arrays([c]) if len(c) else c for c in b.columns], schema=SCHEMA) for b in batches]
    card.offer(*laid_out(SCHEMA, batches, allocations))
    with card.take() as table:
        got, want = table.arrow(), pa.Table.from_batches(batches, SCHEMA)
        assert table.num_rows == want.num_rows
        assert [batch.num_rows for batch in table.batches] == [batch.num_rows for batch in batches]
    got.validate(full=True)
    assert got.schema.equals(SCHEMA, check_metadata=True)
    assert got.equals(want)
    assert card.keys == [b"0" * 32 + b"\n"]


def test_bits(card):
    """NaNs and zeros keep their bits."""
    bits = np.array([0x7FF8000000000001, 0xFFF0000000000001, 0x8000000000000000], np.uint64)
    batch = pa.record_batch({"v": pa.array(bits.view(np.float64))})
    card.offer(*laid_out(batch.schema, [batch]))
    table = card.take()
    assert np.asarray(table.arrays("v")[0]).view(np.uint64).tolist() == bits.tolist()
    assert table.arrow().column("v").chunk(0).buffers()[1].to_pybytes()[:24] == bits.tobytes()


def test_columns(card):
    card.offer(*laid_out(SCHEMA, [BATCH]))
    table = card.take(["polygons", "int8"])
    assert table.arrow().equals(pa.Table.from_batches([BATCH]).select(["polygons", "int8"]))
    assert table.schema.metadata == SCHEMA.metadata
    with pytest.raises(KeyError, match="nothing"):
        card.take(["nothing"])


def test_arrays(card):
    card.offer(*laid_out(SCHEMA, [BATCH, BATCH]))
    table = card.take()
    first, second = table.arrays("double")
    assert np.asarray(first).tolist() == np.asarray(second).tolist() == [1.5, 2.5, 1e300, -0.0]
    assert not np.asarray(first).flags.writeable
    assert np.asarray(table.arrays("uint64")[0]).tolist() == [0, 1, 2, 2**64 - 1]
    assert np.asarray(table.arrays("timestamp", nulls=True)[0])[3] == 2**40
    assert np.asarray(table.arrays("polygons", "x", nulls=True)[0]).tolist() == [0.5, 1.0, float("inf")]
    rings = COLUMNS["polygons"].values.values
    assert np.asarray(table.arrays("polygons", "rings", nulls=True)[0]).tolist() == rings.offsets.to_pylist()
    assert np.asarray(table.arrays("polygons", nulls=True)[0]).tolist() == COLUMNS["polygons"].offsets.to_pylist()
    assert np.asarray(table.arrays("polygons", "polygons", nulls=True)[0]).tolist() == COLUMNS["polygons"].values.offsets.to_pylist()
    assert np.asarray(table.arrays("point", "y", nulls=True)[0]).tolist()[2:] == [4.0, 6.0]
    for path, error, text in [
        (("int64",), ValueError, "int64 has nulls"),
        (("point", "y"), ValueError, "point.y has nulls"),
        (("bool",), TypeError, "bool is not an array of numbers"),
        (("utf8",), TypeError, "string is not"),
        (("decimal",), TypeError, "decimal128"),
        (("struct",), TypeError, "struct"),
        (("none",), KeyError, "no 'none'"),
        (("double", "x"), KeyError, "no 'x'"),
        (("polygons", "z"), KeyError, "no 'z'"),
    ]:
        with pytest.raises(error, match=text):
            table.arrays(*path, nulls=error is not ValueError)


def test_interface_of_cuda():
    """What CuPy, PyTorch and Numba read, and that the memory lives as long."""
    memory = device.Memory([1 << 40], None, lambda: ended.append(True), device_id=3)
    ended = []
    values = device.DeviceArray(memory, (1 << 40) + 64, 7, "<f8")
    assert values.__cuda_array_interface__ == {"shape": (7,), "typestr": "<f8", "data": ((1 << 40) + 64, False), "version": 3}
    assert not hasattr(values, "__array_interface__")
    del memory
    assert not ended
    del values
    assert ended


def structure(capsule):
    return CDeviceArray.from_address(_pointer(capsule, b"arrow_device_array"))


def test_structures_of_cuda():
    """Addresses, device and event of arrays on a card, which are never read here, and the release of a moved child after its parent."""
    ended = []
    memory = device.Memory([1 << 40, 1 << 41], None, lambda: ended.append(True), device_id=3)
    memory.event.value = 1 << 20
    description, content = laid_out(SCHEMA, [BATCH])
    node = device.batch_of(description["batches"][0], shape_of(pa.field("batch", pa.struct(list(SCHEMA)))), [len(piece) for piece in content])
    schema, capsule = device.DeviceBatch(SCHEMA, node, memory).__arrow_c_device_array__()
    assert pa.Schema._import_from_c_capsule(schema).equals(SCHEMA, check_metadata=True)
    root = structure(capsule)
    assert (root.device_type, root.device_id, list(root.reserved)) == (2, 3, [0, 0, 0])
    assert ctypes.c_void_p.from_address(root.sync_event).value == 1 << 20
    assert (root.array.length, root.array.null_count, root.array.offset, root.array.n_buffers, root.array.n_children) == (4, 0, 0, 1, len(COLUMNS))
    kind, array_type = type(root.array), ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    at = SCHEMA.get_field_index("utf8")
    child = kind.from_address(ctypes.cast(root.array.children, ctypes.POINTER(ctypes.c_void_p))[at])
    validity, offsets, data = ctypes.cast(child.buffers, ctypes.POINTER(ctypes.c_void_p))[0:3]
    assert all(address >> 40 in (1, 2) and address % 64 == 0 for address in (validity, offsets, data))
    moved = kind.from_buffer_copy(child)
    child.release = None
    del memory, node
    array_type(root.array.release)(ctypes.addressof(root.array))
    assert root.array.release is None
    del capsule
    assert not ended
    assert moved.length == 4
    assert ctypes.cast(moved.buffers, ctypes.POINTER(ctypes.c_void_p))[1] == offsets
    array_type(moved.release)(ctypes.addressof(moved))
    assert ended


def test_capsules_that_are_not_taken(card):
    card.offer(*laid_out(SCHEMA, [BATCH]))
    table = card.take()
    memory = weakref.ref(table._memory())
    capsules = [table.batches[0].__arrow_c_device_array__() for _ in range(10)]
    table.close()
    assert memory() is not None
    del capsules
    assert memory() is None


def test_unknown_arguments(card):
    card.offer(*laid_out(SCHEMA, [BATCH]))
    batch = card.take().batches[0]
    batch.__arrow_c_device_array__(None, stream=None)
    with pytest.raises(NotImplementedError, match="stream"):
        batch.__arrow_c_device_array__(stream=7)


def test_lease_ends_with_the_last_array(card):
    card.offer(*laid_out(SCHEMA, [BATCH]))
    with card.take() as table:
        column = table.arrow().column("int8")
        values = np.asarray(table.arrays("double")[0])
    with pytest.raises(ValueError, match="closed"):
        table.arrow()
    with pytest.raises(BlockingIOError):
        card.leases[0].recv(1, socket.MSG_DONTWAIT)
    assert column.to_pylist() == COLUMNS["int8"].to_pylist()
    del column
    with pytest.raises(BlockingIOError):
        card.leases[0].recv(1, socket.MSG_DONTWAIT)
    assert values[2] == 1e300
    del values
    assert closed(card.leases[0])


def test_garbage(card):
    card.offer(*laid_out(SCHEMA, [BATCH]))
    card.take()
    assert closed(card.leases[0])


def test_release_in_other_threads(card):
    card.offer(*laid_out(SCHEMA, [BATCH]))
    table = card.take()
    tables = [[table.arrow()] for _ in range(16)]
    table.close()
    threads = [threading.Thread(target=held.clear) for held in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert closed(card.leases[0])


def test_server_that_is_killed(card):
    """What was mapped stays; nothing more is taken."""
    card.offer(*laid_out(SCHEMA, [BATCH]))
    table = card.take()
    rows = table.arrow()
    card.leases[0].close()
    for call in (table.arrow, lambda: table.batches, lambda: table.arrays("double")):
        with pytest.raises(vibeflight.Error, match="ended the lease"):
            call()
    assert rows.equals(pa.Table.from_batches([BATCH]))


def test_no_leak(card):
    card.offer(*laid_out(SCHEMA, [BATCH]))
    idle = len(os.listdir("/proc/self/fd"))
    for _ in range(int(os.environ.get("VIBEFLIGHT_KILLS", "20"))):
        with card.take() as table:
            table.arrow()
        assert closed(card.leases[-1])
        card.leases.pop().close()
    assert len(os.listdir("/proc/self/fd")) <= idle + 1


CLIENT = """
import sys, pyarrow as pa
from vibeflight import device
table = device._taken(sys.argv[1], "0" * 32, "v1")
column = table.arrow().column(0)
kept = table.batches[0].__arrow_c_device_array__()
pa.kept = table.arrow()  # to the end of the interpreter
print(table.num_rows, flush=True)
if sys.argv[2] == "wait":
    sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["exit", "wait"])
def test_process_that_ends(card, how):
    """At its exit, or killed: the lease is gone, and nothing crashes."""
    card.offer(*laid_out(SCHEMA, [BATCH]))
    path = {**os.environ, "PYTHONPATH": str(pathlib.Path(vibeflight.__file__).parents[1])}
    command = [sys.executable, "-c", CLIENT, card.path + ".share", how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=path) as client:
        assert client.stdout.readline() == b"4\n", client.stderr.read()
        if how == "wait":
            client.kill()
    assert client.returncode == (0 if how == "exit" else -9)
    assert closed(card.leases[0])


def changed(description, path, value):
    """A copy of a description with one value changed."""
    copy = json.loads(json.dumps(description))
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return copy


GOOD, CONTENT = laid_out(SCHEMA, [BATCH])
SIZE = GOOD["allocations"][0]["bytes"]
DOUBLE = next(i for i, (_, _, size) in enumerate(GOOD["batches"][0]["buffers"]) if size == 0)  # the first validity without nulls

WRONG = {
    "allocation beyond": (("batches", 0, "buffers", 1), [9, 0, 64]),
    "offset beyond": (("batches", 0, "buffers", 1), [0, SIZE, 64]),
    "length beyond": (("batches", 0, "buffers", 1), [0, 0, SIZE + 1]),
    "overflow": (("batches", 0, "buffers", 1), [0, 2**63 - 64, 2**63 - 1]),
    "too large for an int64": (("batches", 0, "buffers", 1), [0, 0, 2**64 + 64]),
    "negative offset": (("batches", 0, "buffers", 1), [0, -64, 64]),
    "negative allocation": (("batches", 0, "buffers", 1), [-1, 0, 64]),
    "negative length": (("batches", 0, "buffers", 1), [0, 0, -1]),
    "not aligned": (("batches", 0, "buffers", 1), [0, 1, 64]),
    "too short": (("batches", 0, "buffers", 3), [0, 0, 3]),
    "validity is missing": (("batches", 0, "buffers", 0), [0, 0, 0]),
    "two numbers": (("batches", 0, "buffers", 1), [0, 0]),
    "text": (("batches", 0, "buffers", 1), "abc"),
    "float": (("batches", 0, "buffers", 1), [0, 0.0, 64]),
    "boolean": (("batches", 0, "buffers", 1), [False, 0, 64]),
    "null": (("batches", 0, "buffers", 1), None),
    "buffers are missing": (("batches", 0, "buffers"), []),
    "buffers too many": (("batches", 0, "buffers"), [*GOOD["batches"][0]["buffers"], [0, 0, 0]]),
    "nodes are missing": (("batches", 0, "nodes"), GOOD["batches"][0]["nodes"][:-1]),
    "nodes too many": (("batches", 0, "nodes"), [*GOOD["batches"][0]["nodes"], [0, 0]]),
    "length of a column": (("batches", 0, "nodes", 0), [5, 1]),
    "length of all": (("batches", 0, "rows"), 3),
    "negative rows": (("batches", 0, "rows"), -4),
    "rows that are text": (("batches", 0, "rows"), "4"),
    "huge": (("batches", 0, "nodes", 0), [2**62, 0]),
    "nulls beyond": (("batches", 0, "nodes", 0), [4, 5]),
    "negative nulls": (("batches", 0, "nodes", 0), [4, -1]),
    "child too short": (("batches", 0, "nodes", len(GOOD["batches"][0]["nodes"]) - 1), [0, 0]),
    "batches": (("batches",), {"rows": 1}),
    "batch": (("batches", 0), []),
    "no batches": (("batches",), None),
    "allocations": (("allocations",), [{"bytes": -1}, {"bytes": 64}]),
    "allocation of text": (("allocations",), [{"bytes": "1"}, {"bytes": 64}]),
    "allocation too large": (("allocations", 0, "bytes"), SIZE + 1),
    "file too many": (("allocations",), GOOD["allocations"][:1]),
    "file too few": (("allocations",), [*GOOD["allocations"], {"bytes": 0}]),
    "schema": (("schema",), "AAAA"),
    "schema not base64": (("schema",), "ß"),
    "no schema": (("schema",), None),
    "other schema": (("schema",), base64.b64encode(pa.schema({"a": pa.int8()}).serialize().to_pybytes()).decode()),
    "type of column": (("schema",), base64.b64encode(pa.schema({"a": pa.dictionary(pa.int8(), pa.string())}).serialize().to_pybytes()).decode()),
    "device": (("device",), None),
    "handle": (("device", "type"), "cuda"),
}
MALFORMED = (ValueError, KeyError, TypeError, AttributeError, OSError, vibeflight.Error)


@pytest.mark.parametrize("case", WRONG)
def test_wrong_descriptions(card, case):
    card.offer(changed(GOOD, *WRONG[case]), CONTENT)
    with pytest.raises(MALFORMED):
        card.take()
    assert closed(card.leases[0])


@pytest.mark.parametrize("number", [-1, 0, 1, 63, 2**31, 2**63 - 1, 2**63, 2**64, 1.5, None, "1", []])
def test_each_number(card, number):
    """Whichever number of a batch is another one: an error, or arrays within the allocations."""
    shape = shape_of(pa.field("batch", pa.struct(list(SCHEMA))))
    sizes = [len(piece) for piece in CONTENT]
    for kind, width in (("nodes", 2), ("buffers", 3)):
        for i in range(len(GOOD["batches"][0][kind])):
            for j in range(width):
                said = changed(GOOD, ("batches", 0, kind, i, j), number)["batches"][0]
                with contextlib.suppress(ValueError):
                    within(device.batch_of(said, shape, sizes), sizes)


def within(node, sizes):
    for at, (bits, more) in enumerate(node.shape.buffers):
        buffer = node.buffers[at]
        if buffer is None:
            assert node.length == 0 or bits == 0 or (at == 0 and node.null_count == 0)
            continue
        allocation, offset, size = buffer
        assert offset >= 0 and offset + size <= sizes[allocation]
        assert size * 8 >= (node.length + more) * bits
    for child in node.children:
        assert child.length >= node.length * node.shape.factor
        within(child, sizes)


@pytest.mark.parametrize(
    ("mark", "description", "cut"),
    [(b"D", b"", None), (b"D", b"{", None), (b"D", b"[" * 100_000, None), (b"D", b"\xff", None), (b"D", GOOD, 2), (b"D", GOOD, 100), (b"F", GOOD, None)],
)
def test_wrong_answers(card, mark, description, cut):
    card.mark = mark
    card.offer(description, CONTENT, cut=cut)
    with pytest.raises((*MALFORMED, RecursionError)):
        card.take()


def test_no_driver(card):
    """Without CUDA on this machine the error names it."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pass
    else:
        pytest.skip("this machine has CUDA")
    card.offer({**GOOD, "device": {"ordinal": 0, "uuid": "GPU-" + "0" * 32, "type": "cuda"}, "event": "", "allocations": [], "batches": []}, [])
    with pytest.raises(vibeflight.Error, match="no driver of CUDA"):
        card.take()


class Known(Exception):
    pass


def test_libcudf_lacks_types(card, monkeypatch):
    class Table:
        @staticmethod
        def from_arrow(batch):
            raise Known(batch.schema.names)

    monkeypatch.setitem(sys.modules, "pylibcudf", type("pylibcudf", (), {"Table": Table}))
    card.offer(*laid_out(SCHEMA, [BATCH]))
    for name in ("large_binary", "fixed_binary", "fixed_list", "large_list", "time"):
        with pytest.raises(TypeError, match=f"{name}: libcudf has no type"):
            card.take([name]).pylibcudf()
    with pytest.raises(Known, match="polygons"):
        card.take(["int8", "polygons", "decimal", "null"]).pylibcudf()


def test_binary_for_libcudf(card, monkeypatch):
    """It gets lists of bytes, without a copy."""
    monkeypatch.setitem(sys.modules, "pylibcudf", type("pylibcudf", (), {"Table": type("Table", (), {"from_arrow": pa.record_batch})}))
    card.offer(*laid_out(SCHEMA, [BATCH]))
    got = card.take(["int8", "binary"]).pylibcudf()
    got.validate(full=True)
    assert got.column("int8").equals(COLUMNS["int8"])
    assert got.column("binary").to_pylist() == [None if value is None else list(value) for value in COLUMNS["binary"].to_pylist()]


class Flight(flight.FlightServerBase):
    """A server with the action share-device."""

    def __init__(self, card):
        super().__init__(f"grpc+unix://{card.path}")
        self.bodies = []

    def do_action(self, context, action):
        assert action.type == "share-device"
        self.bodies.append(json.loads(action.body.to_pybytes()))
        yield json.dumps({"key": "f" * 32, "version": "v7", "rows": 4, "bytes": 1}).encode()


def test_selection(card):
    """From the name of a table to its memory."""
    with Flight(card) as server, vibeflight.connect(f"unix://{card.path}") as connection:
        card.offer(*laid_out(SCHEMA, [BATCH]))
        with connection.table("a.geojson", columns=["double", "utf8"], options={"crs": "EPSG:4326"}).device() as table:
            assert table.arrow().equals(pa.Table.from_batches([BATCH]).select(["double", "utf8"]))
            assert (table.version, table.num_rows) == ("v7", 4)
        assert card.keys == [b"f" * 32 + b"\n"]
        assert server.bodies == [{"name": "a.geojson", "options": {"crs": "EPSG:4326"}}]
        card.offer(changed(GOOD, *WRONG["offset beyond"]), CONTENT)
        with pytest.raises(vibeflight.Error, match=r"a\.geojson: the server describes the memory wrongly.*no buffer of 4 values"):
            connection.table("a.geojson").device()
        card.mark = b"F"
        with pytest.raises(vibeflight.Unavailable, match="no device memory: it has none"):
            connection.table("a.geojson").device()
        card.close()
        with pytest.raises(vibeflight.Unavailable, match="no device memory"):
            connection.table("a.geojson").device()


@pytest.mark.parametrize("selection", [{"bbox": (0, 0, 1, 1)}, {"rows": (0, 1)}, {"limit": 1}, {"where": "a"}, {"geometry_encoding": "wkb"}, {"crs": "x"}])
def test_parts(tmp_path, selection):
    with vibeflight.connect(f"unix://{tmp_path}/v.sock") as connection, pytest.raises(ValueError, match="whole tables"):
        connection.table("a.geojson", **selection).device()


def test_other_machines(server):
    with pytest.raises(ValueError, match="unix socket"):
        server.table("large.csv").device()
