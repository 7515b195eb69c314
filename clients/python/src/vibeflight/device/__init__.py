"""Tables that a server of this machine parses into device memory, without a copy."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import flight, types

from ..channel import Channel
from ..errors import Error, Unavailable
from ..share import SUFFIX, UNIX, handed, is_stored
from ..ticket import Ticket
from .capsule import capsules
from .layout import Node, Shape, batch_of, numbers, shape_of
from .memory import HOST, Memory, mapped, opened

if TYPE_CHECKING:
    import pylibcudf

MOST_BYTES = 1 << 28  # of a description
# The types that libcudf has no columns for.
FOREIGN = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_fixed_size_list, types.is_large_list, types.is_time)
BYTE = shape_of(pa.field("item", pa.uint8()))


class DeviceArray:
    """Values of a batch, for `cupy.asarray`, `torch.as_tensor` and Numba; in memory of the host, for `numpy.asarray`. Never write them: others share them."""

    def __init__(self, memory: Memory, address: int | None, length: int, typestr: str) -> None:
        self._memory, host = memory, memory.device_type == HOST
        said = {"shape": (length,), "typestr": typestr, "data": (address or 0, host), "version": 3}
        setattr(self, "__array_interface__" if host else "__cuda_array_interface__", said)


class DeviceBatch:
    """A batch of a DeviceTable, for pylibcudf and others that take Arrow's `__arrow_c_device_array__`. They wait for the event that says it is written."""

    def __init__(self, schema: pa.Schema, node: Node, memory: Memory) -> None:
        self.schema, self.num_rows = schema, node.length
        self._node, self._memory = node, memory

    def __arrow_c_device_array__(self, requested_schema: object | None = None, **kwargs: Any) -> tuple[object, object]:
        """The schema and the arrays as capsules; no value is cast. The memory stays until they are released."""
        if any(value is not None for value in kwargs.values()):
            raise NotImplementedError(f"unknown arguments: {[*kwargs]}")
        self._memory.check()
        return capsules(self.schema, self._node, self._memory)


class DeviceTable:
    """A table in device memory. The server keeps it until this is closed and nothing uses the memory any more, for an hour at most.

    version  of the file
    """

    def __init__(self, schema: pa.Schema, version: str, nodes: Sequence[Node], sizes: Sequence[int], memory: Memory) -> None:
        self.schema, self.version, self.num_rows = schema, version, sum(node.length for node in nodes)
        self._nodes, self._sizes, self._open = nodes, sizes, [memory]

    def __enter__(self) -> DeviceTable:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the memory back. What other libraries have taken keeps it until they let go."""
        self._open.clear()

    def _memory(self) -> Memory:
        if not self._open:
            raise ValueError("the table is closed")
        self._open[0].check()
        return self._open[0]

    @property
    def batches(self) -> list[DeviceBatch]:
        return [DeviceBatch(self.schema, node, self._memory()) for node in self._nodes]

    def pylibcudf(self) -> pylibcudf.Table:
        """The rows as a table of libcudf. One batch is not copied, but for booleans; several are joined by a copy on the GPU.

        libcudf has no binary columns: they are lists of bytes, WKB too.
        """
        import pylibcudf

        memory = self._memory()
        batches = [DeviceBatch(*_for_cudf(self.schema, node), memory) for node in self._nodes if node.length > 0]
        if not batches:
            return pylibcudf.Table.from_arrow(self.schema.empty_table())
        tables = [pylibcudf.Table.from_arrow(batch) for batch in batches]
        return tables[0] if len(tables) == 1 else pylibcudf.concatenate.concatenate(tables)

    def arrays(self, column: str, *path: str, nulls: bool = False) -> list[DeviceArray]:
        """The values of a column, an array for each batch: numbers as they are, dates and times as integers, of lists the offsets.

        path   names of children: `arrays("geometry", "x")` has coordinates; lists on the way need not be named
        nulls  permits nulls, where the array has any value; without it they are a ValueError
        """
        memory = self._memory().waited()
        return [_array(node, (column, *path), nulls, memory) for node in self._nodes]

    def arrow(self) -> pa.Table:
        """A copy of the rows on the host."""
        memory = self._memory().on_host(self._sizes)
        batches = [pa.RecordBatch._import_from_c_device_capsule(*capsules(self.schema, node, memory)) for node in self._nodes]
        for batch in batches:
            batch.validate()
        return pa.Table.from_batches(batches, self.schema)

    def _select(self, columns: Sequence[str]) -> None:
        self.schema = pa.schema([self.schema.field(column) for column in columns]).with_metadata(self.schema.metadata)
        self._nodes = [node._replace(children=tuple(_child(node, column) for column in columns)) for node in self._nodes]


def _child(node: Node, name: str) -> Node:
    """The child of a name, of a list's items too."""
    found = next((child for child in node.children if child.shape.name == name), None)
    if found is None and len(node.shape.buffers) == 2 and node.children:
        return _child(node.children[0], name)
    if found is None:
        raise KeyError(f"there is no {name!r} in {node.shape.type}")
    return found


def _array(node: Node, path: Sequence[str], nulls: bool, memory: Memory) -> DeviceArray:
    for name in path:
        node = _child(node, name)
        if node.null_count > 0 and not nulls:
            raise ValueError(f"{'.'.join(path)} has nulls: pylibcudf() keeps them; nulls=True gives the values that are there")
    t = node.shape.type
    if len(node.shape.buffers) != 2 or not (types.is_primitive(t) or types.is_nested(t)) or types.is_boolean(t):
        raise TypeError(f"{'.'.join(path)}: {t} is not an array of numbers")
    bits, more = node.shape.buffers[1]
    kind = "f" if types.is_floating(t) else "u" if types.is_unsigned_integer(t) else "i"
    return DeviceArray(memory, memory.address(node.buffers[1]), node.length + more if node.buffers[1] else 0, f"<{kind}{bits // 8}")


def _for_cudf(schema: pa.Schema, batch: Node) -> tuple[pa.Schema, Node]:
    """Binary columns become lists of bytes, whose buffers are the same."""
    for at, column in enumerate(batch.children):
        if types.is_binary(column.shape.type):
            data = column.buffers[2]
            content = Node(BYTE, data[2] if data else 0, 0, (None, data), ())
            listed = column._replace(shape=shape_of(pa.field(column.shape.name, pa.list_(pa.uint8()))), buffers=column.buffers[:2], children=(content,))
            schema = schema.set(at, pa.field(column.shape.name, pa.list_(pa.uint8())))
            batch = batch._replace(children=(*batch.children[:at], listed, *batch.children[at + 1 :]))
        else:
            _check_for_cudf(column.shape, column.shape.name)
    return schema, batch


def _check_for_cudf(shape: Shape, column: str) -> None:
    if any(foreign(shape.type) for foreign in FOREIGN):
        raise TypeError(f"{column}: libcudf has no type for {shape.type}: leave the column out by columns=")
    for child in shape.children:
        _check_for_cudf(child, column)


def shared(channel: Channel, selected: Ticket) -> DeviceTable:
    """Has the server of this machine parse a table on its GPU, and opens the memory."""
    if not channel.location.startswith(UNIX):
        raise ValueError(f"{channel.location}: device memory is shared within a machine: connect to the server's unix socket")
    if not is_stored(selected):
        raise ValueError("device() has whole tables: it takes no arguments but columns and options")
    said = {"name": selected.name, "options": selected.options}
    body = json.dumps({field: value for field, value in said.items() if value is not None}, ensure_ascii=False).encode()
    (answer,) = channel.ask(lambda client, options: [*client.do_action(flight.Action("share-device", body), options)])
    reply = json.loads(answer.body.to_pybytes())
    try:
        table = _taken(channel.location.removeprefix(UNIX) + SUFFIX, reply["key"], reply["version"])
    except OSError as e:
        raise Unavailable(f"{selected.name}: the server passed no device memory: {e}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
        raise Error(f"{selected.name}: the server describes the memory wrongly: {e!r}") from None
    if selected.columns is not None:
        table._select(selected.columns)
    return table


def _taken(path: str, key: str, version: str) -> DeviceTable:
    lease, mark, files = handed(path, key)
    try:
        with lease.makefile("rb") as answer:
            length = int.from_bytes(answer.read(4), "little")
            content = answer.read(length) if length <= MOST_BYTES else b""
        if mark != b"D" or len(content) < length:
            raise OSError("it has none for this key, or closed the connection")
        said = json.loads(content)
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(said["schema"], validate=True)))
        sizes = [size for (size,) in numbers([[allocation["bytes"]] for allocation in said["allocations"]], 1)]
        shape = shape_of(pa.field("batch", pa.struct(list(schema))))
        nodes = [batch_of(batch, shape, sizes) for batch in said["batches"]]
        lease.setblocking(False)
        if said["device"]["type"] == "host":
            memory = mapped(sizes, files, lease)
        else:
            memory = opened(said["device"]["uuid"], [allocation["handle"] for allocation in said["allocations"]], said["event"], lease)
    except BaseException:
        lease.close()
        raise
    finally:
        for file in files:
            os.close(file)
    return DeviceTable(schema, version, nodes, sizes, memory)
