"""Starts bin/vibeflight for the tests, the demo and the benchmark, and stops it whatever happens."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pyarrow.flight as flight

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "bin" / "vibeflight"
READY = "listening on"  # in the log line that reports that the server is ready


class Server:
    """A `vibeflight serve` over the folder data, on a loopback port of its own unless listen says otherwise.

    tls is a pair of files, its certificate, which its clients trust, and the key. cache is its cache folder, "" for none. Unless it is given, the server has one of its own that goes with it: never the user's. env has variables in addition to those of this process.

    with Server(folder) as server:
        server.client().do_get(...)
    """

    def __init__(self, data, *flags, listen=None, cache=None, tls=None, env=None):
        self.location = listen or f"127.0.0.1:{free_port()}"
        self.uri = self.location if self.location.startswith("unix:") else f"grpc{'+tls' if tls else ''}://{self.location}"
        self.trusted = pathlib.Path(tls[0]).read_bytes() if tls else None
        if tls:
            flags = (*flags, "--tls-cert", str(tls[0]), "--tls-key", str(tls[1]))
        self._own_cache = tempfile.TemporaryDirectory(prefix="vibeflight-cache-") if cache is None else None
        cache = self._own_cache.name if cache is None else cache
        self.command = [str(BINARY), "serve", "--data", str(data), "--cache-dir", str(cache), "--listen", self.location, *flags]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("VIBEFLIGHT_")}
        # A spatial extension of this machine's user would change answers.
        self.environment |= {"VIBEFLIGHT_DUCKDB_EXTENSIONS": "none"} | (env or {})
        self._clients = []
        self._asking = None  # the client of action

    def __enter__(self):
        self._log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdout=self._log, stderr=self._log, env=self.environment)
        try:
            self._wait_until_ready(seconds=30)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for client in self._clients:
            client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._log.close()
        if self._own_cache:
            self._own_cache.cleanup()

    def _wait_until_ready(self, seconds):
        deadline = time.monotonic() + seconds
        while READY not in self.log():
            if self.process.poll() is not None:
                raise RuntimeError(f"{' '.join(self.command)} ended with status {self.process.returncode}:\n{self.log()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"{' '.join(self.command)} is not ready after {seconds} s:\n{self.log()}")
            time.sleep(0.01)

    def client(self):
        """A client that is closed together with the server."""
        uri = f"grpc+{self.uri}" if self.uri.startswith("unix:") else self.uri
        client = flight.connect(uri, tls_root_certs=self.trusted) if self.trusted else flight.connect(uri)
        self._clients.append(client)
        return client

    def action(self, kind, body=b""):
        """An action's answer, a JSON value."""
        if self._asking is None:
            self._asking = self.client()
        (result,) = self._asking.do_action(flight.Action(kind, body))
        return json.loads(result.body.to_pybytes())

    def idle_statistics(self, seconds=30):
        """The statistics once no file is being parsed: its last rows may be sent before the parse ends and is counted."""
        deadline = time.monotonic() + seconds
        while (stats := self.action("stats"))["parsing"]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{stats['parsing']} files are still being parsed:\n{self.log()[:2000]}")
            time.sleep(0.01)
        return stats

    def wait_until_saved(self, tables=1, seconds=30):
        """Waits until the given number of tables is in the cache: tables are saved in the background."""
        deadline = time.monotonic() + seconds
        while (cache := self.action("stats")["cache"])["saves"] < tables:
            if cache["save_errors"] or time.monotonic() > deadline:
                raise RuntimeError(f"{cache['saves']} of {tables} tables are saved, {cache['save_errors']} could not be:\n{self.log()[:2000]}")
            time.sleep(0.01)

    def kill(self):
        """Kills the server, without a chance to clean up."""
        self.process.kill()
        self.process.wait()

    def log(self):
        """All that the server has printed."""
        return os.pread(self._log.fileno(), 1 << 24, 0).decode(errors="replace")

    def resident_bytes(self):
        """Anonymous resident memory."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("no RssAnon")

    @contextlib.contextmanager
    def resident_peak(self):
        """Records anonymous resident memory: calling the context's value returns the peak so far."""
        highest, done = 0, threading.Event()

        def look():
            nonlocal highest
            while not done.is_set():
                highest = max(highest, self.resident_bytes())
                done.wait(0.005)

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            yield lambda: highest
        finally:
            done.set()
            watcher.join()

    def open_files(self):
        """The number of open file descriptors of the server."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def free_port():
    """A loopback port that was free a moment ago."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def vibeflight(*arguments):
    """Runs a command of the binary and returns its output."""
    done = subprocess.run([str(BINARY), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"vibeflight {arguments[0]}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout
