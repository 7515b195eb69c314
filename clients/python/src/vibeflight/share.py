"""Maps the file of a table that a server on this machine has in its cache, instead of reading a stream."""

from __future__ import annotations

import array
import json
import mmap
import os
import socket
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from pyarrow import flight

from .channel import Channel
from .errors import Error
from .ticket import Ticket, said_in

UNIX = "grpc+unix://"
SUFFIX = ".share"  # the socket for files lies next to that for calls
LEAST_BYTES = 1 << 20  # smaller tables are read as fast
SECONDS = 10.0
MAX_WORKERS, WORKER_BATCHES = 4, 128  # threads that read a file, more of which are slower, and batches that are worth one
MOST_FILES = 253  # that Linux passes with a message


def mapped(channel: Channel, selected: Ticket, parts: Sequence[bytes], schema: pa.Schema, size: int | None) -> pa.Table | None:
    """Returns the rows of a ticket as views of the server's file; None where there is no such file, so that the rows are read as a stream.

    parts   tickets of the endpoints; their version is the table's
    schema  schema of the rows
    size    bytes of the rows, as the server reports them; None: unknown
    """
    if not channel.location.startswith(UNIX) or not is_stored(selected) or len(parts) == 0 or size is None or size < LEAST_BYTES:
        return None
    named = {"name": selected.name, "version": said_in(parts[0]).get("version"), "options": selected.options}
    body = json.dumps({field: value for field, value in named.items() if value is not None}, ensure_ascii=False).encode()
    try:
        answers = channel.ask(lambda client, options: [*client.do_action(flight.Action("share", body), options)])
        key = json.loads(answers[0].body.to_pybytes())["key"]
        content = _take(channel.location.removeprefix(UNIX) + SUFFIX, key)
    except (Error, OSError):  # the stream has the rows, or the error that matters
        return None
    return _table(pa.py_buffer(content), schema)


def _table(content: pa.Buffer, schema: pa.Schema) -> pa.Table:
    """The columns of a schema in an Arrow IPC file, as views of its bytes.

    To read a batch is work for each of its columns, however few bytes are touched, so several threads share it. The schema is the caller's: names of reference
    systems are those that the server is told to use.
    """
    with pa.ipc.open_file(content) as reader:
        own, batches = reader.schema, reader.num_record_batches

    def read(part: range) -> list[pa.RecordBatch]:
        with pa.ipc.open_file(content) as reader:  # of all columns: to include some of them makes Arrow copy them
            return [reader.get_batch(i) for i in part]

    workers = max(1, min(os.cpu_count() or 1, MAX_WORKERS, batches // WORKER_BATCHES))
    parts = [range(batches * k // workers, batches * (k + 1) // workers) for k in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        read_parts = [*(pool.map(read, parts) if workers > 1 else map(read, parts))]
    asked = {field.name: field for field in schema}
    named = pa.schema([asked.get(field.name, field) for field in own]).with_metadata(schema.metadata)
    return pa.Table.from_batches([batch for part in read_parts for batch in part], named).select(schema.names)


def is_stored(t: Ticket) -> bool:
    """Whether a ticket selects whole columns as a file of the cache has them, with geometries in the default encoding."""
    default = t.geometry_encoding in (None, "native") and t.coords in (None, "separated")
    whole = {"name", "columns", "options", "version", "geometry_encoding", "coords", "compression"}
    return default and all(value is None or field in whole for field, value in vars(t).items())


def _take(path: str, key: str) -> mmap.mmap:
    """Gets the file of a key and maps it. The lease, which is the connection, ends with the last buffer that uses the mapping."""
    lease, mark, descriptors = handed(path, key)
    try:
        if mark != b"F" or len(descriptors) != 1:
            raise OSError("the server has no file for this key")
        content = mmap.mmap(descriptors[0], 0, prot=mmap.PROT_READ)
    except BaseException:
        lease.close()
        raise
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    weakref.finalize(content, lease.close)
    return content


def handed(path: str, key: str) -> tuple[socket.socket, bytes, list[int]]:
    """Sends a key. Returns the connection, which is the lease, the first byte of the answer, and the descriptors with it."""
    descriptors = array.array("i")
    lease = socket.socket(socket.AF_UNIX)
    try:
        lease.settimeout(SECONDS)
        lease.connect(path)
        lease.sendall(key.encode() + b"\n")
        mark, messages, _, _ = lease.recvmsg(1, socket.CMSG_LEN(MOST_FILES * descriptors.itemsize))
    except BaseException:
        lease.close()
        raise
    for level, kind, data in messages:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    return lease, mark, descriptors.tolist()
