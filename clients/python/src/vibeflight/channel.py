"""Calls to the server: its address, a connection to each location that has rows, and translated errors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import Any, NamedTuple, TypeVar

from pyarrow import flight

from .errors import Unavailable, translated
from .login import Login

T = TypeVar("T")

PORT = 8815
RETRY_SECONDS = 0.3  # gRPC itself retries a lost address after 0.1 s
SIGNAL_SECONDS = 0.1  # a library with a handler of its own for interrupts, as Polars, may keep one from ending a wait: so none is longer
LANES = 4  # connections to one place; more are no faster on two cores
PINGS = (
    ("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 10_000), ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
)  # fmt: skip
LOST_SECONDS = 10.0  # a location that was not reached is the last choice for so long
CONNECT_MS = 5000  # for a location; the default of gRPC is 20 s
REUSE = "arrow-flight-reuse-connection:"  # a location that means the current connection


class Part(NamedTuple):
    """An endpoint: a ticket, and the locations that accept it. Without locations that is the server that gave it.

    rows and bbox describe what the ticket gives; None: not known.
    """

    ticket: bytes
    locations: tuple[str, ...] = ()
    rows: int | None = None
    bbox: tuple[float, float, float, float] | None = None


class Access(NamedTuple):
    """How to reach a server: the arguments of a Channel, for another process."""

    server: str
    tls_ca: bytes | None = None
    tls_insecure: bool = False
    timeout: float | None = None
    login: Login = Login()


def location(server: str) -> str:
    """Returns the address for pyarrow. `host`, `host:port`, `grpc://…`, `grpc+tls://…`, `grpc+unix:///path` and `unix:///path` are understood."""
    if "://" not in server:
        server = "grpc://" + server
    scheme, _, rest = server.partition("://")
    if scheme in ("unix", "grpc+unix"):
        return "grpc+unix://" + rest
    if scheme not in ("grpc", "grpc+tcp", "grpc+tls"):
        raise ValueError(f"{server!r}: want host:port, grpc://host:port, grpc+tls://host:port or unix:///path")
    host = rest.rstrip("/")
    if not host:
        raise ValueError(f"{server!r}: has no host")
    has_port = ":" in (host.rpartition("]")[2] if host.startswith("[") else host)
    return f"{scheme}://{host}" if has_port else f"{scheme}://{host}:{PORT}"


class Channel:
    """Connections that are made when they are needed, and closed together. Its methods may be called by several threads.

    watched asks the server regularly whether it is there: one that hangs, or whose machine is gone, is Unavailable after a while.

    There are several lanes to a place, each a connection of its own: what comes over one connection is taken off it by one thread at a time.
    """

    def __init__(
        self,
        server: str,
        *,
        tls_ca: bytes | None = None,
        tls_insecure: bool = False,
        timeout: float | None = None,
        login: Login = Login(),  # noqa: B008  # it does not change
        watched: bool = False,
    ) -> None:
        self.location = location(server)
        self.access = Access(self.location, tls_ca, tls_insecure, timeout, login)
        self._options: dict[str, Any] = {
            "generic_options": [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000), *(PINGS if watched else ())]
        }
        if tls_ca is not None:
            self._options["tls_root_certs"] = tls_ca
        if tls_insecure:
            self._options["disable_server_verification"] = True
        if login.certificate is not None:
            self._options["cert_chain"], self._options["private_key"] = login.certificate
        self._call = flight.FlightCallOptions(timeout=timeout, headers=login.headers)  # type: ignore[arg-type]  # it wants bytes
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, int], flight.FlightClient] = {}
        self._lost: dict[str, float] = {}  # locations that were not reached, and when
        self._closed = False
        self.owner: object | None = None  # lives as long as this: the process of a private server
        self.client()

    def client(self, at: str | None = None, lane: int = 0) -> flight.FlightClient:
        """The connection to a location, the server's own unless another is named. Lanes beyond the last are the first ones again."""
        at, lane = at or self.location, lane % LANES
        with self._lock:
            if self._closed:
                raise ValueError(f"the connection to {self.location} is closed")
            if (at, lane) not in self._clients:
                self._clients[at, lane] = flight.connect(at, **self._options_of(at, lane))
            return self._clients[at, lane]

    def _options_of(self, at: str, lane: int) -> dict[str, Any]:
        """By default gRPC shares one connection between all clients of an address."""
        more: list[tuple[str, int]] = []
        if lane != 0:
            more.append(("grpc.use_local_subchannel_pool", 1))
        if at != self.location:  # there may be another one
            more.append(("grpc.min_reconnect_backoff_ms", CONNECT_MS))
        return {**self._options, "generic_options": [*self._options["generic_options"], *more]}

    def ask(self, call: Callable[[flight.FlightClient, flight.FlightCallOptions], T]) -> T:
        """What a call gives, tried twice where the server is not reached. The call must be one that does no harm when it is made twice.

        It runs in a thread of its own, so that a KeyboardInterrupt is heard while the server parses a file; pyarrow's client can't take such a call back, so
        that its answer is then awaited and dropped behind the back of the caller.
        """
        return interruptible(lambda: _twice(lambda: call(self.client(), self._call)))

    def open(self, part: Part, lane: int = 0) -> flight.FlightStreamReader:
        """The stream of an endpoint, from the first of its locations that answers. None is tried twice, and those that were lost just now come last."""
        at = self._in_order(part.locations)
        for where in at[:-1]:
            try:
                return self._open(part, where, lane)
            except Unavailable:
                if where is not None:
                    with self._lock:
                        self._lost[where] = time.monotonic()
        return self._open(part, at[-1], lane)

    def _in_order(self, locations: Sequence[str]) -> list[str | None]:
        """The locations in the order in which they are tried; None is the connection of the server."""
        since = time.monotonic() - LOST_SECONDS
        with self._lock:
            self._lost = {where: at for where, at in self._lost.items() if at > since}
            ordered = sorted(locations, key=lambda where: where in self._lost)
        return [None if where.startswith(REUSE) else where for where in ordered] or [None]

    def _open(self, part: Part, at: str | None, lane: int) -> flight.FlightStreamReader:
        with translated():
            return self.client(at, lane).do_get(flight.Ticket(part.ticket), self._call)

    def put(self, descriptor: flight.FlightDescriptor, schema: Any) -> tuple[Any, Any]:
        """Returns the writer of an upload and the reader of the response."""
        with translated():
            return self.client().do_put(descriptor, schema, self._call)

    def exchange(self, descriptor: flight.FlightDescriptor) -> tuple[Any, Any]:
        """Returns the writer and the reader of an exchange."""
        with translated():
            return self.client().do_exchange(descriptor, self._call)

    def close(self) -> None:
        """Closes all connections. Streams in progress end with an error."""
        with self._lock:
            clients, self._clients, self._closed = self._clients, {}, True
        for client in clients.values():
            client.close()


def _twice(call: Callable[[], T]) -> T:
    try:
        with translated():
            return call()
    except Unavailable:
        time.sleep(RETRY_SECONDS)
    with translated():
        return call()


def interruptible(call: Callable[[], T]) -> T:
    """Returns the result of call. Python handles signals in its main thread, and not during a call into C++. So another thread calls there."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(call())
        except BaseException as e:  # raised in the calling thread
            answer.set_exception(e)

    threading.Thread(target=run, name="vibeflight call", daemon=True).start()
    while not wait([answer], SIGNAL_SECONDS).done:
        pass
    return answer.result()


def next_batch(reader: Any) -> Any:
    """Returns the next batch of a stream, or None at its end."""
    with translated():
        try:
            return reader.read_chunk().data
        except StopIteration:
            return None
