"""A batch as the structures of Arrow's C device data interface.

pyarrow's wheels know no device but the processor, and would read the buffers of what they export. So pyarrow exports an empty array that owns the memory,
for each array of the tree, and what it says of itself is overwritten. pyarrow's release callback frees it, in any thread and when the interpreter ends.
"""

from __future__ import annotations

import ctypes
from typing import Any

import pyarrow as pa

from .layout import Node
from .memory import Memory


class CArray(ctypes.Structure):
    """ArrowArray, its pointers as numbers."""

    _fields_ = [(name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")] + [
        (name, ctypes.c_void_p) for name in ("buffers", "children", "dictionary", "release", "private_data")
    ]


class CDeviceArray(ctypes.Structure):
    """ArrowDeviceArray. sync_event is the address of a CUevent."""

    _fields_ = [
        ("array", CArray), ("device_id", ctypes.c_int64), ("device_type", ctypes.c_int32), ("sync_event", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 3),
    ]  # fmt: skip


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def capsules(schema: pa.Schema, batch: Node, memory: Memory) -> tuple[object, object]:
    """Returns an ArrowSchema and an ArrowDeviceArray. The memory lives until the last of the arrays is released, moved ones too."""
    owned: list[object] = [memory]
    owner = pa.Array.from_buffers(pa.uint8(), 0, [None, pa.foreign_buffer(ctypes.addressof(memory.event), 0, owned)])
    _, capsule = owner.__arrow_c_device_array__()
    root = CDeviceArray.from_address(_pointer(capsule, b"arrow_device_array"))
    root.device_type, root.device_id, root.reserved = memory.device_type, memory.device_id, (0, 0, 0)
    root.sync_event = ctypes.addressof(memory.event) if memory.event else None
    _describe(root.array, batch, memory, owner, owned)
    return schema.__arrow_c_schema__(), capsule


def _describe(array: CArray, node: Node, memory: Memory, owner: Any, owned: list[object]) -> None:
    """Overwrites an array that owner has exported. owned keeps what it points to."""
    bases, n = memory.bases, len(node.children)
    buffers = (ctypes.c_void_p * len(node.buffers))(*[bases[buffer[0]] + buffer[1] if buffer else None for buffer in node.buffers])
    array.length, array.null_count = node.length, node.null_count
    array.n_buffers, array.buffers = len(node.buffers), ctypes.addressof(buffers)
    owned.append(buffers)
    if n > 0:
        children = (CArray * n)()
        first, size = ctypes.addressof(children), ctypes.sizeof(CArray)
        pointers = (ctypes.c_void_p * n)(*range(first, first + n * size, size))
        owned += children, pointers
        for child, its, at in zip(children, node.children, pointers, strict=True):
            owner._export_to_c(at)
            _describe(child, its, memory, owner, owned)
        array.n_children, array.children = n, ctypes.addressof(pointers)
