"""The listener of --http: TLS, logins, pages of other sites, limits, the audit log, kill, and the end of the server."""
import base64
import http.client
import json
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

import pyarrow as pa
import pyarrow.flight as flight
import pytest
from serving import BINARY, Server, free_port
from test_login import Files, access_token, certificates, issuer  # noqa: F401  fixtures
from test_metrics import until

ROWS = 2_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("http")
    with open(folder / "rows.csv", "w") as f:
        f.write("n,text\n")
        f.writelines(f"{n},{n:090d}\n" for n in range(ROWS))
    (folder / "small.csv").write_text("n\n1\n2\n")
    return folder


class Web(Server):
    """A server with --http, on a port of its own."""

    def __init__(self, data, *flags, address="127.0.0.1", tls=None, **more):
        self.port = free_port()
        self.scheme = "https" if tls else "http"
        super().__init__(data, f"--http={address}:{self.port}", *flags, tls=tls, **more)

    def request(self, path, method="GET", body=None, context=None, **headers):
        """The status, the headers and the body of an answer. A header's name has _ for -."""
        r = urllib.request.Request(f"{self.scheme}://127.0.0.1:{self.port}{path}", method=method, data=body,
                                   headers={k.replace("_", "-"): v for k, v in headers.items()})
        try:
            with urllib.request.urlopen(r, timeout=60, context=context) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as e:
            return e.code, e.headers, e.read()

    def problem(self, path, **more):
        status, headers, body = self.request(path, **more)
        assert headers["Content-Type"] == "application/problem+json", body
        problem = json.loads(body)
        assert problem["status"] == status
        return problem

    def stalled(self, path):
        """A connection whose client has sent a request and reads nothing."""
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", self.port))
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        return s


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def table(body):
    return pa.ipc.open_stream(body).read_all()


@pytest.fixture(scope="module")
def server(folder):
    with Web(folder) as s:
        yield s


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return Files(tmp_path_factory.mktemp("users"))


@pytest.fixture(scope="module")
def logins(folder, files, certificates, issuer):  # noqa: F811
    flags = (*files.flags, "--oidc-issuer", issuer, "--oidc-audience", "geo", "--tls-client-ca", str(certificates / "ca.pem"))
    with Web(folder, *flags, tls=(certificates / "server.pem", certificates / "server.key")) as s:
        s.trust = ssl.create_default_context(cafile=certificates / "ca.pem")
        yield s


class TestLogin:
    def test_every_way(self, logins, files, issuer, certificates):  # noqa: F811
        for credential in basic("alice", "secret"), f"Bearer {files.token}", f"Bearer {access_token(issuer)}":
            status, _, body = logins.request("/v1/tables/small.csv", context=logins.trust, Authorization=credential)
            assert status == 200 and table(body).num_rows == 2
        mutual = ssl.create_default_context(cafile=certificates / "ca.pem")
        mutual.load_cert_chain(certificates / "alice.pem", certificates / "alice.key")
        status, _, body = logins.request("/v1/tables/small.csv", context=mutual)
        assert status == 200, body

    @pytest.mark.parametrize("path", ["/v1/tables", "/v1/tables/small.csv", "/v1/tables/missing"])
    def test_refused(self, logins, path):
        for credential in {}, {"Authorization": basic("alice", "wrong")}, {"Cookie": "vibeflight_session=forged"}:
            status, headers, body = logins.request(path, context=logins.trust, **credential)
            assert status == 401 and json.loads(body)["code"] == "UNAUTHENTICATED"
            assert headers["WWW-Authenticate"].startswith("Bearer")  # Basic would open a dialog of the browser

    def test_session(self, logins):
        status, headers, body = logins.request("/v1/session", "POST", context=logins.trust, Authorization=basic("alice", "secret"))
        assert status == 200 and json.loads(body) == {"user": "alice"}
        cookie, _, attributes = headers["Set-Cookie"].partition("; ")
        assert {"HttpOnly", "Secure", "SameSite=Strict", "Path=/"} == set(attributes.split("; "))
        assert logins.request("/v1/tables", context=logins.trust, Cookie=cookie)[0] == 200
        gone = logins.request("/v1/session", "DELETE", context=logins.trust, Cookie=cookie)
        assert gone[0] == 204 and "Max-Age=0" in gone[1]["Set-Cookie"]

    def test_session_of_another_site(self, logins):
        cookie = logins.request("/v1/session", "POST", context=logins.trust, Authorization=basic("alice", "secret"))[1]["Set-Cookie"].split(";")[0]
        for headers in {"Sec_Fetch_Site": "cross-site"}, {"Origin": "https://evil.example"}:
            problem = logins.problem("/v1/sql", method="POST", body=b'{"query":"SELECT 1"}', context=logins.trust, Cookie=cookie, **headers)
            assert problem["status"] == 403

    def test_without_tls(self, logins):
        with pytest.raises((http.client.HTTPException, OSError)):
            connection = http.client.HTTPConnection("127.0.0.1", logins.port, timeout=10)
            connection.request("GET", "/v1/tables")
            assert connection.getresponse().status == 400  # "Client sent an HTTP request to an HTTPS server."
            raise http.client.HTTPException


class TestOtherSites:
    def test_host(self, server):
        for host in "127.0.0.1", "localhost:8080", "[::1]:8080", "192.0.2.7":
            assert server.request("/v1/tables", Host=host)[0] == 200, host
        for host in "evil.example", "localhost.evil.example", "127.0.0.1.nip.example:80":
            assert server.problem("/v1/tables", Host=host)["status"] == 421, host

    def test_origins(self, folder, server):
        assert server.request("/v1/tables", Origin="https://maps.example")[1]["Access-Control-Allow-Origin"] is None
        with Web(folder, "--http-origin", "https://maps.example", "--http-host", "Data.example") as s:
            assert s.request("/v1/tables", Origin="https://maps.example", Host="data.example")[1]["Access-Control-Allow-Origin"] == "https://maps.example"
            assert s.request("/v1/tables", Origin="https://other.example")[1]["Access-Control-Allow-Origin"] is None
            status, headers, _ = s.request("/v1/sql", "OPTIONS", Origin="https://maps.example", Access_Control_Request_Method="POST")
            assert status == 204 and "POST" in headers["Access-Control-Allow-Methods"]
            post = {"method": "POST", "body": b'{"query":"SELECT 1 AS one"}'}
            assert table(s.request("/v1/sql", Origin="https://maps.example", **post)[2]).num_rows == 1
            assert s.problem("/v1/sql", Origin="https://other.example", **post)["status"] == 403


def test_addresses(folder):
    """An address that others can reach needs TLS and a login."""
    done = subprocess.run([BINARY, "serve", "--data", str(folder), "--http=0.0.0.0:0", "--listen", f"127.0.0.1:{free_port()}"], capture_output=True, text=True, timeout=30)
    assert done.returncode != 0 and "--insecure" in done.stderr


def test_metrics_need_a_login_where_others_can_reach_them(folder, files):
    with Web(folder, *files.flags, "--insecure") as s:
        assert s.request("/metrics")[0] == 200  # on loopback
    with Web(folder, *files.flags, "--insecure", address="0.0.0.0") as s:
        assert s.problem("/metrics")["status"] == 401
        assert s.request("/healthz")[0] == 200
        status, _, body = s.request("/metrics", Authorization=basic("alice", "secret"))
        assert status == 200 and b"vibeflight_catalog_entries 2" in body


def test_calls_are_logged_and_counted(folder, tmp_path):
    log = tmp_path / "audit.jsonl"
    with Web(folder, "--audit", str(log), "--max-result-rows", "100000") as s:
        assert s.request("/v1/tables/small.csv?columns=n&limit=1", User_Agent="a test")[0] == 200
        assert s.request("/v1/sql", "POST", b'{"query":"SELECT 7 AS seven"}')[0] == 200
        assert s.problem("/v1/sql", method="POST", body=b'{"query":"SELECT"}')["status"] == 400
        with pytest.raises(http.client.IncompleteRead):  # the rows until then were sent
            s.request("/v1/tables/rows.csv")
        until("four lines", lambda: log.exists() and len(log.read_text().splitlines()) == 4)
        first, second, third, last = map(json.loads, log.read_text().splitlines())
        assert (first["method"], first["entry"], first["columns"], first["rows"], first["code"]) == ("http.table", "small.csv", ["n"], 1, "OK")
        assert first["user_agent"] == "a test" and first["bytes"] > 0 and first["address"].startswith("127.0.0.1:")
        assert (second["method"], second["sql"], second["rows"]) == ("http.sql", "SELECT 7 AS seven", 1)
        assert (third["sql"], third["code"]) == ("SELECT", "INVALID_ARGUMENT")
        assert last["code"] == "RESOURCE_EXHAUSTED" and "--max-result-rows" in last["error"]
        assert b'method="http.table"' in s.request("/metrics")[2]


def test_logins_are_logged(folder, files, tmp_path):
    log = tmp_path / "audit.jsonl"
    with Web(folder, *files.flags, "--audit", str(log)) as s:
        for password in "secret", "wrong":
            s.request("/v1/session", "POST", Authorization=basic("alice", password))
        until("two lines", lambda: log.exists() and len(log.read_text().splitlines()) == 2)
        first, second = map(json.loads, log.read_text().splitlines())
        assert (first["method"], first["user"], first["code"]) == ("http.session", "alice", "OK")
        assert (second["method"], second["code"]) == ("http.session", "UNAUTHENTICATED")


def test_kill_ends_an_answer_that_is_not_read(server):
    with server.stalled("/v1/tables/rows.csv") as client:
        def listed():
            return [q for q in server.action("queries")["queries"] if q["method"] == "http.table" and q["bytes"] > 0]
        (call,) = until("one call", listed)
        assert call["name"] == "rows.csv"
        assert server.action("kill", json.dumps({"id": call["id"]}).encode())["killed"] == 1
        until("no call", lambda: not listed())
        assert read_all(client)[-5:] != b"0\r\n\r\n"  # the end of a complete body


def read_all(client):
    client.settimeout(30)
    body = b""
    try:
        while part := client.recv(1 << 20):
            body = (body + part)[-100:]
    except ConnectionResetError:
        pass
    return body


def test_too_many_streams(folder):
    with Web(folder, "--max-streams", "2") as s:
        clients = []

        def full():
            clients.append(s.stalled("/v1/tables/rows.csv"))
            time.sleep(0.2)
            return s.request("/v1/tables/small.csv")[0] == 429

        try:
            until("both", full)
            problem = s.problem("/v1/tables/small.csv")
            assert "--max-streams" in problem["detail"] and problem["code"] == "RESOURCE_EXHAUSTED"
        finally:
            for c in clients:
                c.close()
        until("a free slot", lambda: s.request("/v1/tables/small.csv")[0] == 200)


class TestEnd:
    def test_answers_in_progress_are_complete(self, folder):
        with Web(folder, "--drain", "30s") as s:
            with s.stalled("/v1/tables/rows.csv") as client:
                until("the call", lambda: s.action("queries")["queries"])
                s.process.send_signal(signal.SIGTERM)
                until("the refusal", lambda: s.request("/v1/tables/small.csv")[0] == 503)
                assert s.problem("/v1/tables/small.csv")["code"] == "UNAVAILABLE"
                assert s.request("/readyz")[0] == 503
                assert read_all(client).endswith(b"0\r\n\r\n")
            assert s.process.wait(timeout=60) == 0

    def test_clients_that_do_not_read(self, folder):
        with Web(folder, "--drain", "1s") as s:
            clients = [s.stalled("/v1/tables/rows.csv") for _ in range(4)]
            until("the calls", lambda: len(s.action("queries")["queries"]) >= 4)
            s.process.send_signal(signal.SIGTERM)
            assert s.process.wait(timeout=60) == 0
            for c in clients:
                c.close()


def test_slow_readers_do_not_hold_others(folder):
    """256 clients that do not read, and one that does."""
    with Web(folder, "--user-calls", "1000") as s:  # they are one user
        s.request("/v1/tables/rows.csv?limit=1")
        before = s.resident_bytes()
        clients = [s.stalled("/v1/tables/rows.csv") for _ in range(256)]
        try:
            until("all of them", lambda: len([q for q in s.action("queries")["queries"] if q["method"] == "http.table" and q["bytes"]]) >= 250, 120)
            assert table(s.request("/v1/tables/small.csv")[2]).num_rows == 2
            assert s.client().do_get(flight.Ticket("small.csv")).read_all().num_rows == 2
            assert s.resident_bytes() - before < 400 << 20  # a copy of the table for each would be 50 GB
        finally:
            for c in clients:
                c.close()


def test_a_client_that_leaves_ends_its_query(server):
    body = json.dumps({"query": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range + b.range) = 0"}).encode()
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall(b"POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    running = lambda: [q for q in server.action("queries")["queries"] if q["method"] == "http.sql"]  # noqa: E731
    assert until("the query", running)[0]["sql"].startswith("SELECT count(*)")
    client.close()
    until("its end", lambda: not running())
