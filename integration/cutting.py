"""Kills a server in the middle of a job, and starts it again: a relay between clients and the server counts the bytes that clients get."""
import os
import socket
import tempfile
import threading
import time

from serving import Server

PIECE = 1 << 16


class Cut:
    """A server over data that is killed when clients have got after_bytes, and started again away seconds later at the same address.

    This happens a number of times. flags are those of the server.

    with Cut(data, 10_000_000) as cut:
        vibeflight.connect(cut.uri)
    """

    def __init__(self, data, cache, after_bytes, away=1.0, times=1, flags=()):
        self._data, self._cache, self._after, self._away, self._times = data, cache, after_bytes, away, times
        self._flags = flags
        self._left, self._down = after_bytes, False
        # A unix socket: while the server is away, a client's connection could get its port.
        self._folder = tempfile.TemporaryDirectory(prefix="cut")
        self._socket = os.path.join(self._folder.name, "s")
        self._servers, self._sockets = [], []
        self._lock = threading.Lock()
        self.kills = 0

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"grpc://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()
        for server in self._servers:
            server.__exit__()
        for s in self._sockets:
            s.close()
        self._folder.cleanup()

    def _start(self):
        self._servers.append(Server(self._data, *self._flags, listen=f"unix://{self._socket}", cache=self._cache).__enter__())

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._socket)
            except OSError:  # it is not there
                client.close()
                server.close()
                continue
            self._sockets += [client, server]
            threading.Thread(target=self._copy, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._copy, args=(server, client, True), daemon=True).start()

    def _copy(self, source, target, counted):
        try:
            while piece := source.recv(PIECE):
                target.sendall(piece)
                if counted:
                    self._count(len(piece))
        except OSError:
            pass
        finally:
            for s in (source, target):
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _count(self, n):
        with self._lock:
            if self._down or self.kills == self._times:
                return
            self._left -= n
            if self._left > 0:
                return
            self.kills += 1
            self._left, self._down = self._after, True
        self._servers[-1].kill()
        threading.Thread(target=self._again).start()

    def _again(self):
        time.sleep(self._away)
        self._start()
        self._down = False
