"""Allocations of a server in this process: on a GPU by CUDA IPC, or as mapped files."""

from __future__ import annotations

import base64
import contextlib
import ctypes
import functools
import mmap
import os
import socket
import uuid
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from ..errors import Error

HOST, CUDA = 1, 2  # ArrowDeviceType
PEERS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS


class Memory:
    """Addresses of allocations. close is called when nothing refers to the memory any more; at the end of the process the system has that effect.

    device_id  -1: the host
    event      the CUevent after which the memory is written
    """

    def __init__(self, bases: Sequence[int], lease: socket.socket | None, close: Callable[[], object], device_id: int = -1) -> None:
        self.bases, self.device_id, self.device_type = bases, device_id, HOST if device_id < 0 else CUDA
        self.event, self._lease = ctypes.c_void_p(), lease
        weakref.finalize(self, close).atexit = False

    def address(self, buffer: tuple[int, int, int] | None) -> int | None:
        return None if buffer is None else self.bases[buffer[0]] + buffer[1]

    def check(self) -> None:
        """Raises an Error if the server has ended the lease: it may have freed the memory."""
        with contextlib.suppress(BlockingIOError):
            with contextlib.suppress(ConnectionError):
                if self._lease is None or self._lease.recv(1, socket.MSG_PEEK):
                    return
            raise Error("the server has ended the lease of this table: ask for it again")

    def waited(self) -> Memory:
        """The same, when it is written."""
        if self.event:
            with _context(self.device_id):
                _call("cuEventSynchronize", self.event)
        return self

    def on_host(self, sizes: Sequence[int]) -> Memory:
        """A copy of a GPU's memory, or the same."""
        if self.device_type == HOST:
            return self
        buffers = [pa.allocate_buffer(size) for size in sizes]
        with _context(self.waited().device_id):
            for buffer, base, size in zip(buffers, self.bases, sizes, strict=True):
                _call("cuMemcpyDtoH_v2", ctypes.c_void_p(buffer.address), ctypes.c_uint64(base), ctypes.c_size_t(size))
        return Memory([buffer.address for buffer in buffers], None, buffers.clear)


def mapped(sizes: Sequence[int], files: Sequence[int], lease: socket.socket) -> Memory:
    """Maps files of these sizes. The caller closes their descriptors."""
    if len(files) != len(sizes) or any(os.fstat(file).st_size < size for file, size in zip(files, sizes, strict=True)):
        raise ValueError(f"{len(files)} files have not the bytes of the allocations, {sizes}")
    content = [pa.py_buffer(mmap.mmap(file, size, prot=mmap.PROT_READ) if size else b"") for file, size in zip(files, sizes, strict=True)]
    owned = contextlib.ExitStack()
    owned.callback(lease.close)
    owned.callback(content.clear)
    return Memory([piece.address for piece in content], lease, owned.close)


def opened(gpu: str, handles: Sequence[str], event: str, lease: socket.socket) -> Memory:
    """Opens allocations of another process on a GPU, `GPU-` and its UUID."""
    ordinal, bases = _ordinal(gpu), list[int]()
    memory = Memory(bases, lease, lambda: _close(ordinal, bases, written, lease), ordinal)
    written = memory.event
    with _context(ordinal):
        for handle in handles:
            _call("cuIpcOpenMemHandle_v2", ctypes.byref(base := ctypes.c_uint64()), _Handle.of(handle), ctypes.c_uint(PEERS))
            bases.append(base.value)
        _call("cuIpcOpenEventHandle", ctypes.byref(written), _Handle.of(event))
    return memory


def _close(ordinal: int, bases: Sequence[int], event: ctypes.c_void_p, lease: socket.socket) -> None:
    """Closes the allocations when all kernels that were launched have ended. A driver that is gone has done it."""
    with contextlib.suppress(Error), _context(ordinal):
        _call("cuCtxSynchronize")
        for base in bases:
            _call("cuIpcCloseMemHandle", ctypes.c_uint64(base))
        if event:
            _call("cuEventDestroy_v2", event)
    lease.close()


class _Handle(ctypes.Structure):
    """CUipcMemHandle and CUipcEventHandle, which are passed by value."""

    _fields_ = (("reserved", ctypes.c_ubyte * 64),)

    @staticmethod
    def of(encoded: str) -> _Handle:
        return _Handle.from_buffer_copy(base64.b64decode(encoded, validate=True))


@functools.cache
def _driver() -> Any:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as e:
        raise Error(f"there is no driver of CUDA: {e}") from None
    if (code := driver.cuInit(0)) != 0:
        raise Error(f"cuInit: error {code} of CUDA")
    return driver


def _call(name: str, *arguments: Any) -> None:
    if (code := getattr(_driver(), name)(*arguments)) != 0:
        _driver().cuGetErrorName(code, ctypes.byref(text := ctypes.c_char_p()))
        raise Error(f"{name}: error {code} of CUDA, {(text.value or b'unknown').decode()}")


@functools.cache
def _primary(ordinal: int) -> ctypes.c_void_p:
    """The context that libraries of this process share. It is kept to the end of the process."""
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context := ctypes.c_void_p()), ordinal)
    return context


@contextlib.contextmanager
def _context(ordinal: int) -> Iterator[None]:
    """Makes the context of a GPU the thread's own for the calls of its body."""
    _call("cuCtxPushCurrent_v2", _primary(ordinal))
    try:
        yield
    finally:
        _call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


def _ordinal(gpu: str) -> int:
    """The number that this process has for a GPU; the server may have another one, by CUDA_VISIBLE_DEVICES."""
    wanted, found = uuid.UUID(gpu.partition("-")[2]).bytes, ctypes.create_string_buffer(16)
    _call("cuDeviceGetCount", ctypes.byref(count := ctypes.c_int()))
    for ordinal in range(count.value):
        _call("cuDeviceGetUuid_v2", found, ordinal)
        if found.raw == wanted:
            return ordinal
    raise Error(f"the table is on {gpu}, which this process does not see: look at CUDA_VISIBLE_DEVICES")
