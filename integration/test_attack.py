"""Nothing that a client's statement does takes the server down, or disturbs other clients."""
import os
import pathlib
import sys
import threading
import time

import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from serving import Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "attack"))
import statements  # noqa: E402

DEADLINE = 2.0  # seconds, of each statement
MEMORY = 256 << 20
ORDINARY = "SELECT count(*), sum(n) FROM p"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack")
    points = ",".join(
        f'{{"type":"Feature","properties":{{"n":{i}}},"geometry":{{"type":"Point","coordinates":[{i % 90},1]}}}}' for i in range(1000)
    )
    (folder / "p.geojson").write_text(f'{{"type":"FeatureCollection","features":[{points}]}}')
    with Server(folder, "--sql-memory", str(MEMORY), "--drain", "2s", *sql.FLAGS) as server:
        yield server


def workers(server):
    """The server's child processes."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue  # it has ended
            if int(fields[1]) == server.process.pid and fields[0] != "Z":
                found.append(int(entry))
    return found


def attack(client, query):
    """Runs a statement: its rows, or its error."""
    options = flight.FlightCallOptions(timeout=DEADLINE)
    try:
        (endpoint,) = client.get_flight_info(sql.statement(query), options).endpoints
        return client.do_get(endpoint.ticket, options).read_all()
    except (pa.ArrowException, flight.FlightError, OSError) as error:
        return error


class Others:
    """Another client, which asks an ordinary question again and again."""

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
    queries = statements.CRASHES + (statements.SPATIAL_CRASHES if sql.SPATIAL else []) + statements.ENDLESS + statements.HUGE
    run_all(served, queries)
    assert sql.ask(served.client(), ORDINARY).num_rows == 1


def test_denied_statements(served):
    for query, answer in run_all(served, statements.DENIED):
        empty = isinstance(answer, pa.Table) and not [v for column in answer.to_pydict().values() for v in column if v]
        denied = isinstance(answer, Exception) and not isinstance(answer, flight.FlightTimedOutError)
        assert empty or denied, f"{query}: {answer!r}"


@pytest.mark.parametrize("count", [60, pytest.param(5000, marks=pytest.mark.long)])
def test_generated_statements(served, count):
    found = sql.ask(served.client(), statements.FUNCTIONS).to_pylist()
    functions = [(f["name"], f["n"]) for f in found]
    assert len(functions) > 300
    run_all(served, statements.generated(functions, count, seed=29))


def test_workers_end_with_the_server(served, tmp_path):
    (tmp_path / "p.geojson").write_text('{"type":"FeatureCollection","features":[]}')
    for end in ("SIGTERM", "kill -9"):
        with Server(tmp_path, "--drain", "1s", *sql.FLAGS) as server:
            client = server.client()
            busy = threading.Thread(target=attack, args=(client, statements.ENDLESS[0]))
            busy.start()
            while len(pids := workers(server)) == 0:
                time.sleep(0.01)
            time.sleep(0.5)
            if end == "SIGTERM":
                server.process.terminate()
                server.process.wait(timeout=20)
            else:
                server.kill()
            busy.join()
        deadline = time.monotonic() + 10
        while left := [pid for pid in pids if pathlib.Path(f"/proc/{pid}/cmdline").exists() and b"sql-worker" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]:
            assert time.monotonic() < deadline, f"{end}: workers {left} are left"
            time.sleep(0.05)
