"""Metrics, traces, health, the audit log and the slow log of a running server."""
import contextlib
import http.server
import json
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from serving import BINARY, ROOT, Server, free_port

NAME = "points.csv"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metrics")
    (folder / NAME).write_text("n,lon,lat\n" + "".join(f"{i},{i % 360 - 180},{i % 170 - 85}\n" for i in range(200_000)))
    (folder / "bad.geojson").write_text('{"type": "FeatureCollection", "features": [')
    return folder


class Observed(Server):
    """A server with --http, on a port of its own."""

    def __init__(self, data, *flags, **more):
        self.http = f"http://127.0.0.1:{free_port()}"
        super().__init__(data, "--http", self.http.removeprefix("http://"), *flags, **more)

    def get(self, path):
        with urllib.request.urlopen(self.http + path, timeout=10) as answer:
            return answer.read().decode()

    def scrape(self):
        """The samples of /metrics, by name and labels as they are written."""
        return {series: float(value) for series, _, value in
                (line.rpartition(" ") for line in self.get("/metrics").splitlines() if not line.startswith("#"))}


def until(what, condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not so: {what}"
        time.sleep(0.02)
    return found


def read(client, name=NAME, *headers):
    return client.do_get(flight.Ticket(name), flight.FlightCallOptions(headers=list(headers))).read_all()


def run_sql(server, query):
    adbc = pytest.importorskip("adbc_driver_flightsql.dbapi")
    with adbc.connect(server.uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def test_scrape(folder):
    with Observed(folder) as server:
        client = server.client()
        before = server.scrape()
        rows = read(client).num_rows
        read(client)
        with pytest.raises(pa.ArrowException):
            read(client, "none")
        with pytest.raises(pa.ArrowException):
            read(client, "bad.geojson")
        run_sql(server, f'SELECT count(*) FROM "{NAME}"')
        found = until("all calls are counted", lambda: (now := server.scrape())["vibeflight_calls_open"] == 0 and now)
        assert before["vibeflight_catalog_entries"] == 2
        assert found['vibeflight_calls_total{code="OK",method="DoGet"}'] >= 3
        assert found['vibeflight_calls_total{code="NOT_FOUND",method="DoGet"}'] == 1
        assert found['vibeflight_parses_total{engine="cpu",format="csv",outcome="ok"}'] == 1
        assert found['vibeflight_parses_total{engine="cpu",format="geojson",outcome="error"}'] == 1
        assert found['vibeflight_parsed_size_bytes_total{engine="cpu",format="csv"}'] >= (folder / NAME).stat().st_size
        assert found["vibeflight_sent_rows_total"] >= 2 * rows
        assert found["vibeflight_cache_misses_total"] == 2
        assert found['vibeflight_cache_hits_total{tier="memory"}'] >= 1
        assert found["vibeflight_sql_queries_total"] >= 1
        assert found['vibeflight_batches_read_total{reader="ticket"}'] == 8
        assert found['vibeflight_queue_wait_seconds_count{queue="parse"}'] == 2
        assert found['grpc_server_call_duration_seconds_count{grpc_method="arrow.flight.protocol.FlightService/DoGet"}'] >= 4
        assert found["process_cpu_seconds_total"] > 0
        assert len(found) <= 400
        assert NAME not in "".join(found)


def test_off_and_refused(folder):
    """There is no HTTP unless it is asked for, and only on loopback unless --insecure."""
    with Server(folder) as server:
        assert "metrics and health" not in server.log()
    command = [BINARY, "serve", "--data", folder, "--cache-dir", "none", "--listen", f"127.0.0.1:{free_port()}"]
    ended = subprocess.run([*command, "--http", f"0.0.0.0:{free_port()}"], capture_output=True, text=True, timeout=30)
    assert ended.returncode != 0 and "--insecure" in ended.stderr
    ended = subprocess.run([*command, "stray", "argument"], capture_output=True, text=True, timeout=30)
    assert ended.returncode != 0


def test_health_while_draining(folder):
    """/readyz is 503 while the last calls end; /healthz is 200."""
    with Observed(folder, "--drain", "5s") as server:
        assert server.get("/healthz") == server.get("/readyz") == "ok\n"
        reader = server.client().do_get(flight.Ticket(NAME))
        reader.read_chunk()
        server.process.send_signal(signal.SIGTERM)

        def answer():
            try:
                server.get("/readyz")
            except urllib.error.HTTPError as e:
                return e.code, e.read().decode()
            return None

        assert until("not ready", answer) == (503, "draining\n")
        assert server.get("/healthz") == "ok\n"
        reader.read_all()
        assert server.process.wait(20) == 0


@contextlib.contextmanager
def collector():
    """An OTLP receiver: its address, and the bodies that it got, by path."""
    bodies = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            bodies.append((self.path, self.headers["Content-Type"], body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as receiver:
        threading.Thread(target=receiver.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{receiver.server_port}", bodies
        finally:
            receiver.shutdown()


def test_otlp(folder, tmp_path, monkeypatch):
    """Metrics and spans reach a collector; a span continues the client's trace, and the audit log has its ID."""
    with collector() as (address, bodies):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "500")
        with Server(folder, "--audit", tmp_path / "audit") as server:
            read(server.client(), NAME, (b"traceparent", f"00-{TRACE}-{PARENT}-01".encode()))

            def span():
                return next((b for path, _, b in bodies if path == "/v1/traces" and bytes.fromhex(TRACE) in b), None)

            found = until("the span came", span)
            assert bytes.fromhex(PARENT) in found and b"Recv.arrow.flight.protocol.FlightService.DoGet" in found
            metrics = until("metrics came", lambda: [b for path, _, b in bodies if path == "/v1/metrics"])
            assert b"vibeflight.catalog.entries" in metrics[-1] and b"service.name" in metrics[-1]
            assert {kind for _, kind, _ in bodies} == {"application/x-protobuf"}
            read(server.client())
        ids = [line.get("trace_id") for line in audit(tmp_path / "audit")]
        assert ids[0] == TRACE and ids[1] not in (None, TRACE)


def test_collector_away(folder, monkeypatch):
    """A server whose collector does not answer serves, and ends in time."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    with Server(folder) as server:
        assert read(server.client()).num_rows == 200_000
        begin = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0 and time.monotonic() - begin < 10


def audit(file):
    return [json.loads(line) for line in pathlib.Path(file).read_text().splitlines()]


def test_audit_of_each_method(folder, tmp_path):
    file = tmp_path / "audit"
    data = tmp_path / "data"
    shutil.copytree(folder, data)
    with Server(data, "--audit", file, "--writable", f"in={tmp_path / 'in'}") as server:
        client = server.client()
        list(client.list_flights())
        client.get_flight_info(flight.FlightDescriptor.for_path(NAME))
        client.get_schema(flight.FlightDescriptor.for_path(NAME))
        client.list_actions()
        list(client.do_action(flight.Action("stats", b"")))
        read(client, json.dumps({"name": NAME, "columns": ["n"], "bbox": [0, 0, 10, 10]}))
        table = pa.table({"a": [1, 2, 3]})
        writer, _ = client.do_put(flight.FlightDescriptor.for_path("in/t.arrow"), table.schema)
        with writer:
            writer.write_table(table)
        with pytest.raises(pa.ArrowException):
            read(client, "none")
        run_sql(server, "SELECT 1 -- of https://me:secret@host")
    lines = audit(file)
    methods = {line["method"] for line in lines}
    assert methods >= {"ListFlights", "GetFlightInfo", "GetSchema", "ListActions", "DoAction", "DoGet", "DoPut"}, methods
    for line in lines:
        assert line["address"].startswith("127.0.0.1:") and line["user_agent"] and line["ms"] >= 0 and line["time"].endswith("Z")
    get = next(line for line in lines if line["method"] == "DoGet")
    assert get["entry"] == NAME and get["columns"] == ["n"] and get["box"] == [0, 0, 10, 10] and get["code"] == "OK"
    assert get["rows"] > 0 and get["bytes"] > 0 and get["open_ms"] + get["first_batch_ms"] <= get["ms"] and "send_ms" in get
    failed = next(line for line in lines if line["code"] == "NOT_FOUND")
    assert failed["entry"] == "none" and "none" in failed["error"]
    assert any(line.get("sql", "").startswith("SELECT 1") and line["method"] == "DoGet" for line in lines)
    assert "secret" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_audit_rotation(folder, tmp_path):
    """The files are bounded in number and size, and every line is whole."""
    file = tmp_path / "audit"
    with Server(folder, "--audit", file, "--audit-bytes", "64KiB", "--audit-files", "2") as server:
        client = server.client()
        for _ in range(900):
            client.get_schema(flight.FlightDescriptor.for_path(NAME))
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["audit", "audit.1", "audit.2"]
    for name in files:
        assert (tmp_path / name).stat().st_size <= 64 << 10
        assert all(line["method"] == "GetSchema" for line in audit(tmp_path / name))


def test_slow_log(folder):
    """A slow query is logged with DuckDB's plan and how many batches it read. Without --slow, nothing is."""
    query = f'SELECT sum(n) FROM "{NAME}" WHERE n > 150000'
    with Server(folder, "--slow", "1us") as server:
        run_sql(server, query)

        def slow():
            lines = [json.loads(line) for line in server.log().splitlines()]
            return next((x for x in lines if x["message"] == "slow call" and "plan" in x), None)

        found = until("the plan is logged", slow)
        assert found["call"]["sql"] == query and "AGGREGATE" in found["plan"]
        assert found["batches_read"] + found["batches_pruned"] == 4 and found["batches_pruned"] > 0
    with Server(folder) as server:
        run_sql(server, query)
        assert "slow call" not in server.log()


def rules(text):
    """The expressions of a file of alerts, in the subset of YAML that it uses."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if (at := line.find("expr: ")) < 0:
            continue
        expression = line[at + len("expr: "):]
        if expression == ">-":
            rest = (later for later in lines[i + 1:])
            folded = []
            while (later := next(rest)).startswith(" " * (at + 2)):
                folded.append(later.strip())
            expression = " ".join(folded)
        yield expression


def test_dashboard(folder, tmp_path):
    """Prometheus' parser reads each query of the dashboard and each alert, and a server has their metrics."""
    if not shutil.which("go"):
        pytest.skip("no Go to build the PromQL parser")
    dashboard = json.loads((ROOT / "deploy/grafana/vibeflight.json").read_text())
    queries = [t["expr"] for panel in dashboard["panels"] for t in panel.get("targets", [])]
    queries += rules((ROOT / "deploy/prometheus/vibeflight.rules.yml").read_text())
    assert len(queries) > 50
    plain = [q.replace("$__rate_interval", "5m").replace("$instance", ".*") for q in queries]
    parsed = subprocess.run(["go", "run", "."], cwd=ROOT / "integration/promql", input=json.dumps(plain), text=True, capture_output=True)
    assert parsed.returncode == 0, parsed.stderr
    answers = json.loads(parsed.stdout)
    assert [(q, a["error"]) for q, a in zip(queries, answers, strict=True) if "error" in a] == []
    with Observed(folder, "--audit", tmp_path / "audit") as server:
        read(server.client())
        run_sql(server, "SELECT 1")
        found = {re.split(r"[{ ]", series)[0] for series in server.scrape()}
    # Those of GPUs, stores and login need such a server. A test in Go compares the page with what is exported.
    page = set(re.findall(r"^\| `(vibeflight_(?:gpu|store|authentications)\w*)`", (ROOT / "docs/reference/metrics.md").read_text(), re.M))
    unknown = {m for a in answers for m in a["metrics"]} - found - page
    assert unknown == set()
    shown = {m.removesuffix("_bucket") for a in answers for m in a["metrics"]}
    ours = {re.sub("_(bucket|sum|count)$", "", m) for m in found | page if m.startswith("vibeflight_")}
    assert ours - shown == set(), "metrics that no panel shows"
