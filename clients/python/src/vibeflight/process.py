"""A server that belongs to this process, and ends with it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import re
import secrets
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from typing import IO, Any

from .binary import binary
from .errors import NotStarted
from .share import SUFFIX

END_SECONDS = 30.0  # a server that has not ended by then is killed; it ends calls in progress, and writes its cache
SOCKET_PATH = re.compile(r"/[A-Za-z0-9._/+-]{1,99}")  # sun_path of macOS has 104 bytes, and a URI needs no escapes
LOG_LINES = 8  # of a server that did not start, in the error
LOG_BYTES = 1 << 20  # of a log that are read
READY = re.compile(r"serving .* at (?P<address>\S+)")
CONSOLE = re.compile(r"console at (?P<url>\S+)")
# Settings of the environment that describe the machine. The others are of a server that other programs use.
KEPT = ("CACHE_DIR", "CACHE_BYTES", "MEMORY", "ENGINE", "GPUS", "WORKERS", "DUCKDB_EXTENSIONS", "SQL_MEMORY")


class Process:
    """A running server. Its standard input is a pipe: the system closes it if this process ends, however it ends, and the server ends then.

    address  for connect
    token    logs in; None: a unix socket in a folder that only this user can open needs no login
    console  URL of the pages for people; None: the server has none
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.token: str | None = None
        self.console: str | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the server
        self._folder = _private_folder()
        socket = None if self._folder is None else f"unix://{self._folder}/s"
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="vibeflight-")
            self.token, arguments = _with_login(self._folder, arguments)
        command = [binary(), "serve", *arguments, "--listen", socket or "127.0.0.1:0", "--exit-with-stdin", "--log-level", "warn", "--log-format", "json"]
        try:
            self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=_environment(), **_detached())
        except OSError as e:
            self._clean()
            raise NotStarted(f"{command[0]}: {e.strerror or e}") from e
        assert self._child.stdin is not None and self._child.stdout is not None
        self._finalizer = weakref.finalize(self, _end, self._child, self._child.stdin, self._child.stdout, self._log, self._folder)
        self._finalizer.atexit = False  # the pipe closes then, and nobody waits for the server
        _RUNNING.add(self)
        self.address = self._wait_until_ready(self._child.stdout)

    def _wait_until_ready(self, output: IO[bytes]) -> str:
        """Reads what the server prints when it listens: its address. A server that ends instead is NotStarted."""
        try:
            for line in output:
                text = line.decode(errors="replace").strip()
                if console := CONSOLE.fullmatch(text):
                    self.console = console["url"]
                elif ready := READY.fullmatch(text):
                    return ready["address"]
            self._child.wait()
            raise NotStarted(self._failure())
        except BaseException:
            self.end()
            raise

    def _failure(self) -> str:
        """What the server printed last. Its own error is one line, which begins with its name."""
        lines = self.log().strip().splitlines()[-LOG_LINES:]
        if lines and lines[-1].startswith("vibeflight: "):
            return lines[-1].removeprefix("vibeflight: ").replace(" (see vibeflight serve --help)", "")
        return "\n".join([f"the server ended with status {self._child.returncode}", *lines])

    @property
    def pid(self) -> int:
        return self._child.pid

    def is_running(self) -> bool:
        return self._child.poll() is None

    def log(self) -> str:
        """What the server has logged: warnings and errors, a JSON object per line, the last mebibyte of it."""
        if self._log.closed:
            return ""
        size = os.fstat(self._log.fileno()).st_size
        # The server writes at the same offset of the file, which must stay where it is.
        return _read_at(self._log, max(0, size - LOG_BYTES)).decode(errors="replace")

    def end(self) -> None:
        """Ends the server and waits for it."""
        self._finalizer()

    def _clean(self) -> None:
        self._log.close()
        _remove(self._folder)


_RUNNING: weakref.WeakSet[Process] = weakref.WeakSet()


def _let_go() -> None:
    """In a forked process: the pipes are those of the parent, after which the servers must not outlive it."""
    for process in list(_RUNNING):
        process._finalizer.detach()
        if process._child.stdin is not None:
            process._child.stdin.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _end(child: subprocess.Popen[bytes], stdin: IO[bytes], stdout: IO[bytes], log: IO[bytes], folder: str | None) -> None:
    with contextlib.suppress(OSError):
        stdin.close()
    try:
        child.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    stdout.close()
    log.close()
    _remove(folder)


def _remove(folder: str | None) -> None:
    """Removes what a private folder may have. The server has removed the rest, unless it was killed."""
    if folder is None:
        return
    for name in ("s", "s" + SUFFIX, "tokens"):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, name))
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _private_folder() -> str | None:
    """Returns a new folder that only this user can open, for a unix socket; None where there can be none."""
    if os.name == "nt":
        return None
    for below in (tempfile.gettempdir(), "/tmp"):
        if SOCKET_PATH.fullmatch(f"{below}/vibeflight-12345678/s") and os.access(below, os.W_OK | os.X_OK):
            return tempfile.mkdtemp(prefix="vibeflight-", dir=below)
    return None


def _with_login(folder: str, arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Returns a new token, and arguments with which the server accepts no other login: other users of the machine reach a port too."""
    token = "vf_" + secrets.token_urlsafe(32)
    path = os.path.join(folder, "tokens")
    digest = hashlib.sha256(token.encode()).hexdigest()
    pathlib.Path(path).write_text(json.dumps({"sha256": digest, "user": "owner"}) + "\n", encoding="utf-8")
    return token, [*arguments, "--tokens", path]


def _environment() -> dict[str, str]:
    kept = {f"VIBEFLIGHT_{name}" for name in KEPT}
    return {name: value for name, value in os.environ.items() if name in kept or not name.startswith("VIBEFLIGHT_")}


def _detached() -> dict[str, Any]:
    """Arguments of Popen so that Ctrl-C, which a terminal sends to all processes of a job, does not end the server."""
    if os.name == "nt":
        return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    return {"start_new_session": True}


def _read_at(file: IO[bytes], offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), LOG_BYTES, offset)
    file.seek(offset)
    return file.read(LOG_BYTES)
