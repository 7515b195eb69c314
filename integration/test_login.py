"""Login by real clients, each in its own ways: pyarrow, ADBC, Polars, DuckDB, JDBC, our command and our Python package."""
import base64
import json
import os
import pickle
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

import adbc_driver_flightsql.dbapi as adbc
import adbc_driver_manager
import polars
import pyarrow.flight as flight
import pytest
import vibeflight
from adbc_driver_flightsql import DatabaseOptions
from logins import Files, command, sign_certificates
from serving import ROOT, Server
from test_sql_jdbc import JARS

NAME = "world/countries.geojson"
TEXT = 'SELECT count(*) FROM "world/countries.geojson"'


@pytest.fixture(scope="module")
def issuer():
    """The URL of an OpenID Connect issuer with the client robot."""
    environment = {k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"} | {"GOFLAGS": "-tags=nocloud"}
    with subprocess.Popen(["go", "run", "-pgo=off", "./integration/issuer"], cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A folder with ca.pem, and certificates signed by it: server, alice and eve, each with a key."""
    folder = tmp_path_factory.mktemp("certificates")
    sign_certificates(folder)
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return Files(tmp_path_factory.mktemp("login"))


@pytest.fixture(scope="module")
def logins(data, files, issuer):
    with Server(data, *files.flags, "--oidc-issuer", issuer, "--oidc-audience", "geo") as s:
        yield s


@pytest.fixture(scope="module")
def mutual(data, files, certificates, issuer):
    """A server with TLS that accepts client certificates too."""
    flags = (*files.flags, "--oidc-issuer", issuer, "--oidc-audience", "geo", "--tls-client-ca", str(certificates / "ca.pem"))
    with Server(data, *flags, tls=(certificates / "server.pem", certificates / "server.key")) as s:
        s.trusted = (certificates / "ca.pem").read_bytes()
        yield s


def access_token(issuer, **parameters):
    form = {"grant_type": "client_credentials", "client_id": "robot", "client_secret": "tin", **parameters}
    with urllib.request.urlopen(issuer + "/token", urllib.parse.urlencode(form).encode()) as answer:
        return json.load(answer)["access_token"]


def with_header(value):
    return flight.FlightCallOptions(headers=[(b"authorization", value if isinstance(value, bytes) else value.encode())])


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def rows(client, options):
    return client.do_get(flight.Ticket(NAME), options).read_all().num_rows


class TestPyarrow:
    def test_basic_token(self, logins):
        client = logins.client()
        pair = client.authenticate_basic_token("alice", "secret")
        assert pair[0] == b"authorization" and pair[1].startswith(b"Bearer vfs_")
        assert rows(client, flight.FlightCallOptions(headers=[pair])) == 177

    def test_headers(self, logins, files, issuer):
        client = logins.client()
        for value in basic("alice", "secret"), basic("alice", "secret").rstrip("="), f"bearer {files.token}", basic("", files.token), f"Bearer {access_token(issuer)}":
            assert rows(client, with_header(value)) == 177

    def test_handler(self, logins):
        """Flight's BasicAuth, in the payload of Handshake."""
        class Handler(flight.ClientAuthHandler):
            token = b""

            def authenticate(self, outgoing, incoming):
                outgoing.write(flight.BasicAuth("alice", "secret").serialize())
                self.token = incoming.read()

            def get_token(self):
                return self.token

        client = logins.client()
        client.authenticate(Handler())
        assert rows(client, flight.FlightCallOptions()) == 177

    @pytest.mark.parametrize("header, text", [
        (None, "no credential"), (basic("alice", "guess"), "wrong user or password"), (basic("eve", "guess"), "wrong user or password"),
        ("Bearer vf_guess", "invalid or was revoked"), ("Bearer none", "invalid"), ("Digest x", "want Basic or Bearer"),
    ])
    def test_refused(self, logins, header, text):
        client = logins.client()
        options = with_header(header) if header else flight.FlightCallOptions()
        for call in (lambda: rows(client, options), lambda: list(client.list_flights(b"", options)), lambda: list(client.list_actions(options)),
                     lambda: client.get_flight_info(flight.FlightDescriptor.for_path(NAME), options)):
            with pytest.raises(flight.FlightUnauthenticatedError, match=text):
                call()

    def test_certificate(self, mutual, certificates):
        def connect(name):
            client = flight.connect(mutual.uri, tls_root_certs=mutual.trusted, cert_chain=(certificates / f"{name}.pem").read_bytes(),
                                    private_key=(certificates / f"{name}.key").read_bytes())
            mutual._clients.append(client)
            return client
        assert rows(connect("alice"), flight.FlightCallOptions()) == 177
        with pytest.raises(flight.FlightUnauthenticatedError, match="may not log in"):
            rows(connect("eve"), flight.FlightCallOptions())
        with pytest.raises(flight.FlightUnauthenticatedError, match="no credential"):
            rows(mutual.client(), flight.FlightCallOptions())
        assert rows(mutual.client(), with_header(basic("alice", "secret"))) == 177


def count(uri, **options):
    """What a query gives by ADBC."""
    with adbc.connect(uri, db_kwargs=options) as connection, connection.cursor() as cursor:
        cursor.execute(TEXT)
        return cursor.fetchall()


class TestADBC:
    def test_password(self, logins):
        assert count(logins.uri, username="alice", password="secret") == [(177,)]

    def test_header(self, logins, files):
        for value in f"Bearer {files.token}", basic("alice", "secret"):
            assert count(logins.uri, **{DatabaseOptions.AUTHORIZATION_HEADER.value: value}) == [(177,)]

    def test_oauth(self, mutual, issuer):
        """The driver gets an access token itself, and sends it over TLS alone."""
        oauth = "adbc.flight.sql.oauth."
        assert count(mutual.uri, **{
            DatabaseOptions.TLS_ROOT_CERTS.value: mutual.trusted.decode(),
            oauth + "flow": "client_credentials", oauth + "token_uri": issuer + "/token", oauth + "client_id": "robot", oauth + "client_secret": "tin",
        }) == [(177,)]

    @pytest.mark.parametrize("options", [{}, {"username": "alice", "password": "guess"}, {DatabaseOptions.AUTHORIZATION_HEADER.value: "Bearer x"}])
    def test_refused(self, logins, options):
        with pytest.raises(adbc_driver_manager.Error, match="(?i)unauthenticated"):
            count(logins.uri, **options)

    def test_certificate(self, mutual, certificates):
        def options(name):
            return {
                DatabaseOptions.TLS_ROOT_CERTS.value: mutual.trusted.decode(), DatabaseOptions.MTLS_CERT_CHAIN.value: (certificates / f"{name}.pem").read_text(),
                DatabaseOptions.MTLS_PRIVATE_KEY.value: (certificates / f"{name}.key").read_text(),
            }
        assert count(mutual.uri, **options("alice")) == [(177,)]
        with pytest.raises(adbc_driver_manager.Error, match="may not log in"):
            count(mutual.uri, **options("eve"))


def test_polars(logins):
    with adbc.connect(logins.uri, db_kwargs={"username": "alice", "password": "secret"}) as connection:
        assert polars.read_database(TEXT, connection).rows() == [(177,)]


def test_duckdb(logins, files):
    """DuckDB reads the batches that ADBC gets."""
    duckdb = pytest.importorskip("duckdb")
    with adbc.connect(logins.uri, db_kwargs={DatabaseOptions.AUTHORIZATION_HEADER.value: f"Bearer {files.token}"}) as connection, connection.cursor() as cursor:
        cursor.execute('SELECT name, pop_est FROM "world/countries.geojson"')
        batches = cursor.fetch_record_batch()  # noqa: F841  # the query names it
        assert duckdb.sql("SELECT count(*) FROM batches").fetchall() == [(177,)]


class TestPackage:
    def test_ways(self, logins, files, issuer):
        for credential in {"user": "alice", "password": "secret"}, {"token": files.token}, {"token": access_token(issuer)}:
            with vibeflight.connect(logins.uri, **credential) as connection:
                assert connection.table(NAME).arrow().num_rows == 177
                assert [entry.name for entry in connection.list(prefix="world/")] == [NAME]
                assert connection.sql(TEXT).arrow().to_pylist() == [{"count_star()": 177}]

    def test_partitions_have_the_credential(self, logins, files):
        with vibeflight.connect(logins.uri, token=files.token) as connection:
            partitions = pickle.loads(pickle.dumps(connection.partitions(NAME)))
        assert sum(batch.num_rows for partition in partitions for batch in partition.read()) == 177
        assert files.token not in repr(partitions)

    def test_certificate(self, mutual, certificates):
        with vibeflight.connect(mutual.uri, tls_ca=certificates / "ca.pem", tls_client_cert=certificates / "alice.pem",
                                tls_client_key=certificates / "alice.key") as connection:
            assert connection.table(NAME).arrow().num_rows == 177

    def test_refused(self, logins):
        with vibeflight.connect(logins.uri, user="alice", password="guess") as connection, pytest.raises(vibeflight.Unauthenticated, match="wrong user"):
            connection.table(NAME).arrow()
        with pytest.raises(ValueError, match="both of user and password"):
            vibeflight.connect(logins.uri, user="alice")


def test_command(logins, mutual, files, certificates):
    server = ("--server", logins.uri)
    assert NAME in command("ls", *server, "--user", "alice", VIBEFLIGHT_PASSWORD="secret").stdout
    assert "177" in command("sql", *server, TEXT, VIBEFLIGHT_TOKEN=files.token).stdout
    assert "no credential" in command("ls", *server, check=False).stderr
    client = ("--tls-ca", certificates / "ca.pem", "--tls-client-cert", certificates / "alice.pem", "--tls-client-key", certificates / "alice.key")
    assert NAME in command("ls", "--server", mutual.uri, *client).stdout


@pytest.mark.skipif(not shutil.which("java") or not (JARS / ".installed").exists(), reason="the JDBC driver is not here: make java fetches it")
def test_jdbc(logins, files, issuer):
    """The driver gets access tokens itself from version 19 on; here the application does, and passes one as token."""
    url = f"jdbc:arrow-flight-sql://{logins.location}/?useEncryption=false"
    urls = [f"{url}&user=alice&password=secret", f"{url}&token={files.token}", f"{url}&token={access_token(issuer)}", f"{url}&user=alice&password=guess", url]
    done = subprocess.run(["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", f"{JARS}/*", ROOT / "integration" / "jdbc" / "Login.java", *urls],
                          capture_output=True, text=True, timeout=300)
    verdicts = done.stdout.splitlines()
    assert [line[:4] for line in verdicts] == ["ok 1", "ok 1", "ok 1", "no " + verdicts[3][3], "no " + verdicts[4][3]], done.stdout + done.stderr[-2000:]
    assert "wrong user or password" in verdicts[3]


class TestIssuer:
    def test_refused(self, logins, issuer):
        client = logins.client()
        for token, text in (access_token(issuer, aud="other"), "another audience"), (access_token(issuer, seconds="-5"), "has expired"):
            with pytest.raises(flight.FlightUnauthenticatedError, match=text):
                rows(client, with_header(f"Bearer {token}"))
        head, body, signature = access_token(issuer).split(".")
        forged = base64.urlsafe_b64encode(json.dumps({"iss": issuer, "sub": "alice", "aud": "geo", "exp": time.time() + 99}).encode()).decode().rstrip("=")
        with pytest.raises(flight.FlightUnauthenticatedError, match="invalid"):
            rows(client, with_header(f"Bearer {head}.{forged}.{signature}"))


class TestChanges:
    """What a change of the files does, within a second."""

    @pytest.fixture
    def own(self, data, generated, tmp_path):
        files = Files(tmp_path)
        with Server(data, *files.flags, "--data", f"generated={generated}") as server:
            server.files = files
            yield server

    def test_password(self, own):
        client = own.client()
        options = flight.FlightCallOptions(headers=[client.authenticate_basic_token("alice", "secret")])
        assert rows(client, options) == 177
        own.files.edit("user", "passwd", "alice", password="other")
        until_refused(lambda: rows(client, options))
        assert rows(client, with_header(basic("alice", "other"))) == 177

    def test_new_user(self, own):
        client = own.client()
        own.files.edit("user", "add", "bob", password="secret")
        began = time.monotonic()
        while True:
            try:
                assert rows(client, with_header(basic("bob", "secret"))) == 177
                break
            except flight.FlightUnauthenticatedError:
                assert time.monotonic() - began < SOON
                time.sleep(0.05)

    def test_token_ends_streams(self, own):
        """A stream whose client does not read ends too. gRPC of the client would enlarge its buffers to take all of it."""
        client = flight.connect(own.uri, generic_options=[("grpc.http2.bdp_probe", 0)])
        own._clients.append(client)
        options = with_header(f"Bearer {own.files.token}")
        large = flight.Ticket("generated/buildings.geojson")
        total = client.do_get(large, options).read_all().num_rows
        reader = client.do_get(large, options)
        received = reader.read_chunk().data.num_rows
        identity = own.files.edit("token", "ls").splitlines()[1].split()[0]
        own.files.edit("token", "rm", identity)
        began = time.monotonic()
        until_refused(lambda: rows(client, options))
        time.sleep(max(0, began + 1 - time.monotonic()))
        with pytest.raises(flight.FlightUnauthenticatedError, match="revoked during the call"):
            while True:
                received += reader.read_chunk().data.num_rows
        assert received < total


SOON = 20  # seconds; a change takes less than one where the machine is not busy


def until_refused(call):
    """Calls until the call is refused."""
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        try:
            call()
        except flight.FlightUnauthenticatedError:
            return
        time.sleep(0.02)
    raise AssertionError("the call is never refused")


def test_sessions_of_replicas(data, files, tmp_path):
    """A session of a server is valid at another one with the same keys, and not at a third one."""
    keys = tmp_path / "keys"
    keys.write_text("0123456789abcdef0123456789abcdef\n")
    with Server(data, *files.flags, "--session-keys", str(keys)) as first, Server(data, *files.flags, "--session-keys", str(keys)) as second, \
            Server(data, *files.flags) as third:
        options = flight.FlightCallOptions(headers=[first.client().authenticate_basic_token("alice", "secret")])
        assert rows(second.client(), options) == 177
        with pytest.raises(flight.FlightUnauthenticatedError, match="other keys"):
            rows(third.client(), options)
