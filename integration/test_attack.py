"""No statement of a client crashes the server or disturbs other clients."""
import contextlib
import itertools
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from serving import Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "attack"))
import bombs  # noqa: E402
import statements  # noqa: E402
from attacker import ORDINARY, Memory, attack, workers, write_points  # noqa: E402

MEMORY = 256 << 20
SLACK = 256 << 20  # beyond a limit of memory


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack")
    write_points(folder / "p.geojson")
    with Server(folder, "--sql-memory", str(MEMORY), "--drain", "2s", *sql.FLAGS) as server:
        yield server


class Others:
    """Another client, which repeats an ordinary query."""

    def __init__(self, server):
        self._client = server.client()
        self._done = threading.Event()
        self.asked, self.errors = 0, []
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _ask(self):
        while not self._done.is_set():
            try:
                assert sql.ask(self._client, ORDINARY).to_pylist() == [{"count_star()": 1000, "sum(n)": 499500}]
                self.asked += 1
            except Exception as error:  # noqa: BLE001: each one is what the test is about
                self.errors.append(repr(error))
            time.sleep(0.05)


def run_all(server, queries):
    client = server.client()
    with Others(server) as others:
        answers = [(query, attack(client, query)) for query in queries]
    assert server.process.poll() is None, server.log()[-2000:]
    assert not others.errors
    assert others.asked > 0
    return answers


def test_known_statements(served):
    run_all(served, statements.known())
    assert sql.ask(served.client(), ORDINARY).num_rows == 1


def test_denied_statements(served):
    for query, answer in run_all(served, statements.DENIED):
        empty = isinstance(answer, pa.Table) and not [v for column in answer.to_pydict().values() for v in column if v]
        denied = isinstance(answer, Exception) and not isinstance(answer, flight.FlightTimedOutError)
        assert empty or denied, f"{query}: {answer!r}"


REACHING = [150, pytest.param(5000, marks=pytest.mark.long)]


def reach(folder, count, around):
    """A client requests files and paths of the host. around wraps the statements, and receives the workers' processes."""
    data, cache, secret = folder / "data", folder / "cache", folder / "secret.csv"
    data.mkdir()
    write_points(data / "p.geojson")
    secret.write_text("confidential\nconfidential\n")
    with Server(data, "--sql-workers", "1", *sql.FLAGS, cache=cache) as server:
        client = server.client()
        sql.ask(client, ORDINARY)
        pids = workers(server)
        assert len(pids) == 1
        with around(pids):
            for query in statements.reaching([str(secret), str(cache), "/etc/passwd", "/proc/self/environ"], count, seed=29):
                answer = attack(client, query)
                if isinstance(answer, pa.Table):
                    told = str(answer.to_pydict())
                    # A query that is serialized, or explained, repeats its own text.
                    for word in ("confidential", "root:x:", "LANG=", str(folder)):
                        assert word not in told or word in query, f"{query}: {told[:300]}"
        assert workers(server) == pids


@pytest.mark.parametrize("count", REACHING)
def test_files_are_out_of_reach(tmp_path, count):
    """No statement has a file's content or a path of the host for its answer."""
    reach(tmp_path, count, contextlib.nullcontext)


@pytest.mark.skipif(not shutil.which("strace"), reason="there is no strace")
@pytest.mark.parametrize("count", REACHING)
def test_workers_open_no_file(tmp_path, count):
    """A worker opens no file of the host while it runs statements, except those with which Go and DuckDB query the machine."""
    tracers = []
    reach(tmp_path, count, lambda pids: tracers.append(Tracer(pids)) or tracers[0])
    for path in tracers[0].opened():
        assert re.fullmatch(OPENED, path), f"a worker opened {path}"


# What the C library, Go and DuckDB read of the machine.
OPENED = r"/proc/(self/)?(meminfo|cpuinfo|stat|statm|cgroup|mountinfo|maps)|/sys/(devices|fs/cgroup|kernel/mm)/.*|/dev/u?random|/etc/localtime"


class Tracer:
    """Notes the files that processes open, by strace."""

    def __init__(self, pids):
        self._pids = pids
        self._log = tempfile.NamedTemporaryFile("r")

    def __enter__(self):
        calls = "trace=open,openat,openat2,connect,execve"
        command = ["strace", "-f", "-e", calls, "-o", self._log.name, *(f"-p{pid}" for pid in self._pids)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert "attached" in self._process.stderr.readline()
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.communicate()

    def opened(self):
        """The paths that were opened."""
        return re.findall(r'(?:open|openat|openat2|connect|execve)\([^"]*"([^"]*)".*\) = [0-9]', self._log.read())


@pytest.mark.parametrize("count", [60, pytest.param(5000, marks=pytest.mark.long)])
def test_generated_statements(served, count):
    found = sql.ask(served.client(), statements.FUNCTIONS).to_pylist()
    functions = [(f["name"], f["n"]) for f in found]
    assert len(functions) > 300
    run_all(served, statements.generated(functions, count, seed=29))


def test_statements_take_no_memory(served):
    with Memory(served) as memory:
        run_all(served, statements.HUGE)
    assert memory.workers < MEMORY + SLACK
    assert memory.server < SLACK


@pytest.mark.parametrize("count", [1200, pytest.param(10_000, marks=pytest.mark.long)])
def test_prepared_statements_and_results_of_one_client(served, count):
    """A client that prepares and abandons any number of statements does not disturb others: its oldest ones are dropped."""
    greedy = served.client()
    oldest = greedy.get_flight_info(sql.statement("SELECT 0 FROM p")).endpoints[0].ticket
    with Others(served) as others, Memory(served) as memory:
        for number in range(count * 2):
            if number % 2:
                sql.prepare(greedy, f"SELECT {number}")
            else:
                greedy.get_flight_info(sql.statement(f"SELECT {number} FROM p"))
    assert not others.errors
    assert others.asked > 0
    assert memory.server < SLACK
    with pytest.raises((pa.ArrowException, flight.FlightError)):
        greedy.do_get(oldest).read_all()


@pytest.mark.parametrize("name", [name for name in bombs.bombs(0) if name.startswith(("wide", "deep", "long"))])
@pytest.mark.parametrize("packing", bombs.PACKINGS)
def test_bombs(tmp_path, name, packing, request):
    """A file's cost stays within --memory, and ends with the client's call."""
    size = (1 << 30) if request.config.getoption("--long") else (48 << 20)
    if packing in (".zst", ".zip") and not request.config.getoption("--long"):
        pytest.skip("a slow sweep: make test-long runs it")
    budget = size // 2
    path = tmp_path / (name + packing)
    bombs.write(path, bombs.bombs(size)[name](), packing)
    with Server(tmp_path, "--memory", str(budget), "--drain", "1s") as server, Memory(server) as memory:
        client = server.client()
        for seconds in (0.3, 120.0):  # a client that leaves, and one that stays
            try:
                for _ in client.do_get(flight.Ticket(path.name), flight.FlightCallOptions(timeout=seconds)):
                    pass
            except (pa.ArrowException, flight.FlightError, OSError):
                pass
        wait_until_idle(server)
        assert server.process.poll() is None
    assert memory.server < budget + SLACK


def wait_until_idle(server):
    """Waits until the server takes no CPU time."""
    def spent():
        fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    before, deadline = spent(), time.monotonic() + 60
    while True:
        time.sleep(0.5)
        now = spent()
        if now - before <= 5:  # hundredths of a second
            return
        assert time.monotonic() < deadline, "the server still works without clients"
        before = now


@pytest.mark.parametrize("rounds", [1, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("end", ["SIGTERM", "kill -9", "kill -9 of workers"])
def test_nothing_is_left(tmp_path, end, rounds):
    """However a server or its workers end, in the middle of any statement, no process and no spilled file is left."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    write_points(data / "p.geojson")
    queries = itertools.cycle(statements.known() + [ORDINARY, SPILLING])
    for query in itertools.islice(queries, rounds * 4 if rounds == 1 else rounds):
        with Server(data, "--drain", "1s", "--sql-memory", str(64 << 20), *sql.FLAGS, cache=cache) as server:
            client = server.client()
            busy = threading.Thread(target=attack, args=(client, query))
            busy.start()
            while not (pids := workers(server)):
                time.sleep(0.01)
            time.sleep(random.random() / 2)
            if end == "SIGTERM":
                server.process.terminate()
                server.process.wait(timeout=20)
            elif end == "kill -9":
                server.kill()
            else:
                killed = workers(server)
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            busy.join()
            if end == "kill -9 of workers":
                wait_until_gone(killed)
                attack(client, ORDINARY)  # may get a dead worker that the server has not noticed yet
                assert sql.ask(client, ORDINARY).num_rows == 1
        wait_until_gone(pids)
        left = [path for path in cache.rglob("worker-*/*") if path.is_file()]
        assert not left, f"{query}: {left}"


# A statement that writes more than its memory holds to its spill folder.
SPILLING = "SELECT count(*) FROM (SELECT DISTINCT hash(i) h, hash(i + 1) g FROM range(8000000) r(i))"


def wait_until_gone(pids):
    def runs(pid):
        try:
            return b"sql-worker" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    deadline = time.monotonic() + 10
    while left := [pid for pid in pids if runs(pid)]:
        assert time.monotonic() < deadline, f"workers {left} are left"
        time.sleep(0.05)
