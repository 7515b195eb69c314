"""What a server says of a table's memory, checked: which bytes of which allocation are which buffer. It is body type 1 of Arrow's dissociated IPC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import types

from ..errors import Unsupported

ALIGNMENT = 64  # of buffers within an allocation

VALIDITY, OFFSETS, LARGE_OFFSETS, BYTES = (1, 0), (32, 1), (64, 1), (0, 0)


class Shape(NamedTuple):
    """How arrays of a field are stored.

    buffers  bits of an item, and how many items there are beyond the array's length; the size of strings' bytes is not known from the length
    factor   items of the child that each row has at least
    """

    name: str
    type: pa.DataType
    buffers: tuple[tuple[int, int], ...]
    children: tuple[Shape, ...] = ()
    factor: int = 0


class Node(NamedTuple):
    """An array. Its buffers are allocation, offset and length in bytes; None: an empty one, or a validity without nulls."""

    shape: Shape
    length: int
    null_count: int
    buffers: tuple[tuple[int, int, int] | None, ...]
    children: tuple[Node, ...]


def shape_of(field: pa.Field[Any]) -> Shape:
    t, name = field.type, field.name
    while isinstance(t, pa.BaseExtensionType):
        t = t.storage_type
    if types.is_null(t):
        return Shape(name, t, ())
    if types.is_struct(t):
        return Shape(name, t, (VALIDITY,), tuple(shape_of(t.field(i)) for i in range(t.num_fields)), 1)
    if types.is_fixed_size_list(t):
        return Shape(name, t, (VALIDITY,), (shape_of(t.value_field),), t.list_size)
    large = types.is_large_list(t) or types.is_large_string(t) or types.is_large_binary(t)
    if types.is_list(t) or types.is_large_list(t):
        return Shape(name, t, (VALIDITY, LARGE_OFFSETS if large else OFFSETS), (shape_of(t.value_field),))
    if large or types.is_string(t) or types.is_binary(t):
        return Shape(name, t, (VALIDITY, LARGE_OFFSETS if large else OFFSETS, BYTES))
    if types.is_primitive(t) or types.is_decimal(t) or types.is_fixed_size_binary(t):
        return Shape(name, t, (VALIDITY, (t.bit_width, 0)))
    raise Unsupported(f"{name}: arrays of type {t} are not shared in device memory")


def batch_of(said: Any, shape: Shape, sizes: Sequence[int]) -> Node:
    """Reads a batch, whose shape is a struct of all columns. A ValueError says what is wrong. sizes: bytes of the allocations."""
    nodes = iter(numbers([[said["rows"], 0], *said["nodes"]], 2))  # those of the struct come first
    buffers = iter(numbers([[0, 0, 0], *said["buffers"]], 3))
    batch = _node_of(shape, nodes, buffers, sizes)
    if any(column.length != batch.length for column in batch.children) or [*nodes, *buffers]:
        raise ValueError("the arrays are not those of the schema and the number of rows")
    return batch


def _node_of(shape: Shape, nodes: Iterator[Any], buffers: Iterator[Any], sizes: Sequence[int]) -> Node:
    length, null_count = next(nodes, (0, 1))
    own: list[tuple[int, int, int] | None] = []
    least_of_empty = null_count
    for bits, more in shape.buffers:
        buffer = allocation, offset, size = next(buffers, (0, 1, 0))
        if size == 0 and least_of_empty == 0 and offset % ALIGNMENT == 0:
            own.append(None)
        elif size < ((length + more) * bits + 7) >> 3 or offset % ALIGNMENT or (size > 0 and (allocation >= len(sizes) or offset + size > sizes[allocation])):
            raise ValueError(f"{shape.name}: {[*buffer]} is no buffer of {length} values")
        else:
            own.append((allocation, offset, size) if size else None)
        least_of_empty = length
    children = tuple([_node_of(child, nodes, buffers, sizes) for child in shape.children])
    if null_count > length or (shape.factor and any(child.length < length * shape.factor for child in children)):
        raise ValueError(f"{shape.name}: {null_count} nulls and {[child.length for child in children]} values of children for {length} values")
    return Node(shape, length, null_count, tuple(own), children)


def numbers(said: Any, width: int) -> list[list[int]]:
    """Returns lists of that many whole numbers each, which fit an int64."""
    flat: list[Any] = [*chain.from_iterable(said)] if {*map(type, said)} <= {list} else [None]
    if not {*map(type, flat)} <= {int} or not {*map(len, said)} <= {width} or not 0 <= min(flat, default=0) <= max(flat, default=0) < 1 << 63:
        raise ValueError(f"want lists of {width} whole numbers")
    return said  # type: ignore[no-any-return]  # it has just been checked
