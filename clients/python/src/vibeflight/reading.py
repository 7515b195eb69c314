"""From a file to its table in one call."""

from __future__ import annotations

import os
import posixpath
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsFloat, SupportsIndex
from urllib.parse import unquote, urlsplit, urlunsplit

from .connection import workers_of
from .result import Settings
from .selection import Selection
from .server import Server, started

FOLDERS_THAT_ARE_FILES = (".gdb",)


def read(
    source: str | os.PathLike[str],
    *,
    layer: str | None = None,
    columns: Iterable[str] | str | None = None,
    bbox: Iterable[SupportsFloat] | None = None,
    rows: Sequence[SupportsIndex] | None = None,
    limit: SupportsIndex | None = None,
    options: Mapping[str, Any] | None = None,
    crs: str | None = None,
    **selection: Any,
) -> Selection:
    """Returns the table of a file of this machine, or of a URL, to be had as any kind of object: `read("roads.shp", bbox=…).geopandas()`.

    source     path of a file, of a .gdb folder, or its URL: s3://, gs://, az://, https://
    selection  the other arguments of Connection.table, where all of them are described

    A private server of this process parses the file when its rows or their description are needed: the first call starts it, and later calls use it too. It
    keeps parsed tables in the user's cache. A path where nothing is raises FileNotFoundError; a file of no known format is NotFound, a malformed one Invalid.
    """
    server, name = _located(os.path.expanduser(os.fsdecode(source)))
    return server.table(name, layer=layer, columns=columns, bbox=bbox, rows=rows, limit=limit, options=options, crs=crs, **selection)


def _located(source: str) -> tuple[Server, str]:
    """The server that reads a file, and the file's name there."""
    if "://" in source:
        return _of_url(source)
    path = os.path.abspath(source)
    os.stat(path)
    if os.path.isdir(path) and not path.lower().endswith(FOLDERS_THAT_ARE_FILES):
        raise IsADirectoryError(f"{source} is a folder: vibeflight.serve({source!r}) serves the files in it")
    path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    drive, below = os.path.splitdrive(path)
    root = drive + os.sep
    name = _escaped(below.lstrip(os.sep).replace(os.sep, "/"))
    return _server(("--unlisted", root)), name if drive else "/" + name


def _of_url(url: str) -> tuple[Server, str]:
    """The folder of a URL is not listed, but for siblings that only its list has. The query of a web server's URL may sign this file alone."""
    parts = urlsplit(url)
    folder, key = posixpath.split(parts.path)
    signed = bool(parts.query) and parts.scheme in ("http", "https")
    root = url if signed else urlunsplit(parts._replace(path=folder.rstrip("/") + "/", fragment=""))
    flag = "--data" if key.lower().endswith(".shp") and not signed else "--unlisted"
    return _server((flag, root)), _escaped(unquote(key))


def _escaped(path: str) -> str:
    """The path as a name of the catalog: #, % and bytes that are not UTF-8 are written as %XX."""
    text = path.replace("%", "%25").replace("#", "%23")
    return "".join(f"%{ord(c) - 0xDC00:02X}" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in text)


_servers: dict[tuple[str, str], Server] = {}
_lock = threading.Lock()


def _server(root: tuple[str, str]) -> Server:
    """The server of this process for a root: one for the files of this machine, one for each folder of a store."""
    with _lock:
        server = _servers.get(root)
        if server is None or not server.is_running():
            _servers[root] = server = started(root, Settings(workers_of(None), None))
        return server


def _forget() -> None:
    """In a forked process: connections of its parent can't be used."""
    global _servers, _lock
    _servers, _lock = {}, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
