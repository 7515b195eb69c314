"""Private servers: one for files of this machine, started and ended with this process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType

from .channel import Channel
from .connection import Connection, workers_of
from .login import Login
from .process import Process
from .result import Settings

Path = str | os.PathLike[str]


def serve(
    data: Path | Iterable[Path] | Mapping[str, Path] = ".",
    *,
    cache_dir: Path | None = None,
    engine: str | None = None,
    arguments: Sequence[str] = (),
    workers: int | None = None,
    progress: bool | None = None,
    timeout: float | None = None,
) -> Server:
    """Starts a server for this process alone, and returns a connection to it. Close it, or use it in a with statement; else it ends with this process.

    data       a folder, a file, or a URL of a folder in an object store; or several of them; or a dict of them by the alias that begins their names
    cache_dir  folder where parsed tables are kept; default: the user's cache, so that a file is parsed once; "none": no cache
    engine     auto, cpu or cuda
    arguments  more arguments of `vibeflight serve`, such as ["--writable", "new", "--http", "127.0.0.1:0"]
    workers, progress, timeout  as in connect

    The server listens on a unix socket in a private folder, or where there are none on a port of this machine with a token. Each call starts a server of
    its own. One that does not start is NotStarted, with what it printed.
    """
    given = [("", data)] if isinstance(data, (str, os.PathLike)) else list(data.items()) if isinstance(data, Mapping) else [("", path) for path in data]
    options = [option for alias, path in given for option in ("--data", f"{alias}={located(path)}" if alias else located(path))]
    if cache_dir is not None:
        options += ["--cache-dir", "none" if os.fspath(cache_dir) == "none" else located(cache_dir)]
    if engine is not None:
        options += ["--engine", engine]
    settings = Settings(workers_of(workers), progress)
    return started([*options, *map(str, arguments)], settings, timeout)


def located(path: Path) -> str:
    """The absolute path of a file or folder; a URL is itself."""
    text = os.fsdecode(path)
    return text if "://" in text else os.path.abspath(os.path.expanduser(text))


def started(arguments: Sequence[str], settings: Settings, timeout: float | None = None) -> Server:
    """Starts a server with arguments of `vibeflight serve`."""
    return Server(Process(arguments), settings, timeout)


class Server(Connection):
    """What serve gives: a connection to a server of this process. Its close ends the server too.

    The server also ends when nothing refers to it and to what its methods gave.
    """

    def __init__(self, process: Process, settings: Settings, timeout: float | None = None) -> None:
        login = Login() if process.token is None else Login(f"Bearer {process.token}")
        channel = Channel(process.address, timeout=timeout, login=login)
        channel.owner = process
        super().__init__(channel, settings)
        self._process = process

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<vibeflight.Server at {self.location}{'' if self.is_running() else ', ended'}>"

    @property
    def pid(self) -> int:
        """The number of the server's process."""
        return self._process.pid

    @property
    def token(self) -> str | None:
        """What other clients of this machine log in with. None: location is a unix socket, which only this user can open."""
        return self._process.token

    @property
    def console(self) -> str | None:
        """URL of the pages for people, if arguments have --http."""
        return self._process.console

    def log(self) -> str:
        """Returns the warnings and errors of the server, a JSON object per line."""
        return self._process.log()

    def is_running(self) -> bool:
        """Whether the server has not ended."""
        return self._process.is_running()

    def close(self) -> None:
        """Closes the connection and ends the server. Transfers in progress end with an error."""
        super().close()
        self._process.end()
