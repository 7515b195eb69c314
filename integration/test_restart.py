"""The end of a server: restarts under load lose nothing, and no query holds them up. What administrators see and end."""

import contextlib
import json
import signal
import subprocess
import threading
import time

import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from serving import BINARY, Server, vibeflight

CLIENTS = 64
ROWS = 20_000
BOUND = 15  # seconds that an end may take beyond --drain: 10 s for caches and workers, and a busy machine
ENDLESS = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range + b.range) = 0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("restart")
    with open(folder / "rows.csv", "w") as f:
        f.write("n,text\n")
        f.writelines(f"{n},{'x' * 200}\n" for n in range(ROWS))
    return folder


class Reader(threading.Thread):
    """Reads a table again and again, as a client with retries does: it drops what an answer that failed has sent, and asks again."""

    def __init__(self, uri, over):
        super().__init__()
        self.uri, self.over = uri, over
        self.reads = self.retries = 0
        self.failure = None

    def run(self):
        client = flight.connect(self.uri)
        try:
            while not self.over.is_set():
                client = self.read(client)
                self.reads += 1
        except Exception as e:
            self.failure = e
        finally:
            client.close()

    def read(self, client):
        deadline = time.monotonic() + 60
        while True:
            try:
                info = client.get_flight_info(flight.FlightDescriptor.for_path("rows.csv"))
                table = pa.concat_tables([client.do_get(e.ticket).read_all() for e in info.endpoints])
            except flight.FlightUnavailableError:  # the only error for which clients repeat a call by themselves
                if time.monotonic() > deadline:
                    raise
                self.retries += 1
                client.close()
                time.sleep(0.05)
                client = flight.connect(self.uri)
                continue
            assert table["n"].to_pylist() == list(range(ROWS)), "rows are lost or doubled"
            return client


def start(folder, location):
    """Starts a server as soon as the one before has closed its address."""
    deadline = time.monotonic() + 30
    while True:
        server = Server(folder, "--drain", "20s", "--drain-delay", "200ms", listen=location)
        try:
            return server.__enter__()
        except (RuntimeError, ValueError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@pytest.mark.parametrize("restarts", [3, pytest.param(20, marks=pytest.mark.long)])
def test_rolling_restart(folder, restarts):
    servers = [Server(folder, "--drain", "20s", "--drain-delay", "200ms").__enter__()]
    over = threading.Event()
    readers = [Reader(servers[0].uri, over) for _ in range(CLIENTS)]
    try:
        for reader in readers:
            reader.start()
        for _ in range(restarts):
            time.sleep(1)
            servers[-1].process.send_signal(signal.SIGTERM)
            servers.append(start(folder, servers[0].location))
            assert servers[-2].process.wait(timeout=60) == 0
        before = [reader.reads for reader in readers]
        deadline = time.monotonic() + 60
        while any(r.reads <= n and r.is_alive() for r, n in zip(readers, before)) and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        over.set()
        for reader in readers:
            reader.join(timeout=90)
        for server in servers:
            server.__exit__()
    assert [r.failure for r in readers if r.failure] == []
    assert all(r.reads > n for r, n in zip(readers, before)), "each client reads after the last restart"
    print(f"{CLIENTS} clients, {restarts} restarts, {sum(r.reads for r in readers)} reads, {sum(r.retries for r in readers)} retries")


def long_query(server):
    """Begins a query that takes hours, and returns a list that gets its error."""
    errors = []

    def run():
        try:
            sql.ask(client, ENDLESS)
        except (flight.FlightError, pa.ArrowException) as e:
            errors.append(e)

    client = flight.connect(server.uri)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not any(q.get("sql") == ENDLESS and q["method"] == "DoGet" for q in server.action("queries")["queries"]):
        assert time.monotonic() < deadline and not errors, errors
        time.sleep(0.05)
    return thread, errors


def test_a_query_does_not_hold_the_end(folder):
    with Server(folder, "--drain", "1s") as server:
        thread, errors = long_query(server)
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=1 + BOUND) == 0
        assert time.monotonic() - began >= 1
        thread.join(timeout=30)
    assert len(errors) == 1 and isinstance(errors[0], flight.FlightUnavailableError) and "going away" in str(errors[0])


def test_a_second_signal_ends_at_once(folder):
    with Server(folder, "--drain", "10m") as server:
        long_query(server)
        server.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 30
        while "stopping after" not in server.log():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.1)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=BOUND) == -signal.SIGTERM


def test_kill_and_drain_by_the_command_line(folder):
    with Server(folder, "--drain", "1s") as server:
        thread, errors = long_query(server)
        lines = vibeflight("admin", "queries", "--server", server.uri, "--json").splitlines()
        (query,) = [q for q in map(json.loads, lines) if q["method"] == "DoGet"]
        assert (query["user"], query["state"], query["sql"]) == ("127.0.0.1", "running", ENDLESS)
        assert ENDLESS in vibeflight("admin", "queries", "--server", server.uri)
        assert "127.0.0.1" in vibeflight("admin", "sessions", "--server", server.uri)
        assert vibeflight("admin", "kill", "--server", server.uri, query["id"]) == "1 ended\n"
        thread.join(timeout=30)
        assert len(errors) == 1 and "ended by an administrator" in str(errors[0])
        done = subprocess.run([BINARY, "admin", "kill", "--server", server.uri, query["id"]], capture_output=True, text=True)
        assert done.returncode == 1 and query["id"] in done.stderr
        vibeflight("admin", "drain", "--server", server.uri)
        assert server.process.wait(timeout=1 + BOUND) == 0


def test_query_timeout_and_result_rows(folder):
    with Server(folder, "--query-timeout", "500ms", "--max-result-rows", "100") as server:
        client = server.client()
        with pytest.raises(flight.FlightTimedOutError, match="--query-timeout"):
            sql.ask(client, ENDLESS)
        assert sql.ask(client, "SELECT count(*) AS c FROM range(1000)")["c"].to_pylist() == [1000]
        for read in (lambda: sql.ask(client, "SELECT * FROM range(1000)"), lambda: client.do_get(flight.Ticket(b"rows.csv")).read_all()):
            with pytest.raises((flight.FlightError, pa.ArrowException), match="100 of --max-result-rows"):
                read()


@contextlib.contextmanager
def hangups():
    """Programs that are started do not ignore SIGHUP, as they do below nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def test_reload(folder, tmp_path):
    """SIGHUP reads the limits again, and looks at the folders; an invalid file changes nothing."""
    config = tmp_path / "vibeflight.toml"
    config.write_text('[[limits]]\nuser = "127.0.0.1"\nresult-rows = 5\n')
    with hangups(), Server(folder, "--config", str(config)) as server:
        client = server.client()

        def reload(text, words):
            config.write_text(text)
            before = server.log().count(words)
            server.process.send_signal(signal.SIGHUP)
            deadline = time.monotonic() + 30
            while server.log().count(words) == before:
                assert time.monotonic() < deadline and server.process.poll() is None
                time.sleep(0.01)

        def rows():
            return client.do_get(flight.Ticket(b"rows.csv")).read_all().num_rows

        with pytest.raises((flight.FlightError, pa.ArrowException), match="5 of --max-result-rows"):
            rows()
        reload("[[limits]]\nuser = 1\nnothing = 2\n", "not reloaded")
        with pytest.raises((flight.FlightError, pa.ArrowException), match="5 of --max-result-rows"):
            rows()
        (folder / "late.csv").write_text("a\n1\n")
        reload("", '"what":"[[limits]] of')
        assert rows() == ROWS
        assert client.do_get(flight.Ticket(b"late.csv")).read_all().num_rows == 1
