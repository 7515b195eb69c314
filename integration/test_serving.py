"""Everything around the rows: TLS, locations of endpoints, their expiration, and cancellation."""
import json
import shutil

import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from conftest import bits, make_certificate, ticket
from serving import Server, free_port

REUSE = b"arrow-flight-reuse-connection://?"
INFO = flight.FlightDescriptor.for_path("large.geojsonl")


@pytest.fixture(scope="module")
def encrypted(data, certificate, tmp_path_factory):
    """A server on TCP with TLS and on a socket, which advertises both, and the connection that the client has."""
    address = f"127.0.0.1:{free_port()}"
    socket = f"unix://{tmp_path_factory.mktemp('socket')}/s"
    with Server(data, "--listen", socket, "--advertise", address, "--advertise", socket, "--advertise", REUSE.decode(), *sql.FLAGS,
                listen=address, tls=certificate) as server:
        yield server


def test_tls(encrypted, client):
    own = encrypted.client()
    for kind in ("large.geojsonl", "mixed.geojson"):
        assert bits(own.do_get(ticket(kind)).read_all()) == bits(client.do_get(ticket(kind)).read_all())
    assert sql.ask(own, 'SELECT count(*) FROM "large.geojsonl"').column(0).to_pylist() == [300_000]


def test_who_is_not_let_in(encrypted):
    for uri, options in [(encrypted.uri, {}), (encrypted.uri.replace("grpc+tls", "grpc"), {})]:
        with flight.connect(uri, **options) as stranger, pytest.raises(flight.FlightUnavailableError):
            list(stranger.list_flights())
    with flight.connect(encrypted.uri, disable_server_verification=True) as trusting:
        assert list(trusting.list_flights())


def test_adbc_over_tls(encrypted, certificate):
    import adbc_driver_flightsql.dbapi as adbc
    trust = {"adbc.flight.sql.client_option.tls_root_certs": certificate[0].read_text()}
    with adbc.connect(encrypted.uri, db_kwargs=trust, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute('SELECT count(*) FROM "large.geojsonl"')
        assert cursor.fetchone() == (300_000,)


def test_locations_are_followed(encrypted, client):
    """Each endpoint is fetched from each of its locations, used unchanged."""
    asked = encrypted.client()
    info = asked.get_flight_info(INFO)
    want = client.do_get(ticket("large.geojsonl")).read_all()
    schemes = [location.uri.split(b"://")[0] for location in info.endpoints[0].locations]
    assert schemes == [b"grpc+tls", b"grpc+unix", b"arrow-flight-reuse-connection"]
    assert len(info.endpoints) > 1
    for number in range(len(schemes)):
        parts = []
        for endpoint in info.endpoints:
            uri = endpoint.locations[number].uri
            options = {"tls_root_certs": encrypted.trusted} if uri.startswith(b"grpc+tls") else {}
            there = asked if uri == REUSE else flight.connect(uri.decode(), **options)
            parts.append(there.do_get(endpoint.ticket).read_all())
            if there is not asked:
                there.close()
        assert bits(pa.concat_tables(parts)) == bits(want), schemes[number]
    (endpoint,) = asked.get_flight_info(sql.statement("SELECT 1")).endpoints
    assert endpoint.locations == []  # only this server knows the query


def test_endpoints_do_not_expire(server, client):
    info = client.get_flight_info(INFO)
    assert all(e.expiration_time is None and e.locations == [] for e in info.endpoints)
    for endpoint in info.endpoints:
        (result,) = client.do_action(flight.Action("RenewFlightEndpoint", sql.field(1, endpoint.serialize())))
        assert flight.FlightEndpoint.deserialize(result.body.to_pybytes()) == endpoint
    kinds = {action.type for action in client.list_actions()}
    assert {"CancelFlightInfo", "RenewFlightEndpoint"} <= kinds
    assert not sql.cancel(client, info)  # no work is left for it


def test_an_endpoint_of_a_changed_file(data, tmp_path):
    shutil.copy(data / "mixed.geojson", tmp_path / "a.geojson")
    with Server(tmp_path) as server:
        client = server.client()
        (endpoint,) = client.get_flight_info(flight.FlightDescriptor.for_path("a.geojson")).endpoints
        action = flight.Action("RenewFlightEndpoint", sql.field(1, endpoint.serialize()))
        shutil.copy(data / "types.geojson", tmp_path / "a.geojson")
        for use in (lambda: list(client.do_action(action)), lambda: client.do_get(endpoint.ticket).read_all()):
            with pytest.raises(pa.ArrowInvalid, match="(?i)precondition"):
                use()
        (tmp_path / "a.geojson").unlink()
        with pytest.raises(KeyError):
            list(client.do_action(action))


def test_the_certificate_is_renewed(data, certificate, tmp_path):
    """Connections after the change see the new certificate; old ones continue."""
    files = [tmp_path / name for name in ("cert.pem", "key.pem")]
    for old, file in zip(certificate, files):
        shutil.copy(old, file)
    with Server(data, tls=files) as server:
        old = server.client()
        assert list(old.list_flights())
        make_certificate(tmp_path)
        with flight.connect(server.uri, tls_root_certs=files[0].read_bytes()) as renewed:
            assert len(list(renewed.list_flights())) == len(list(old.list_flights()))
        with flight.connect(server.uri, tls_root_certs=server.trusted) as late, pytest.raises(flight.FlightUnavailableError):
            list(late.list_flights())
        assert json.loads(server.log().splitlines()[-1])["level"] in ("info", "debug")
