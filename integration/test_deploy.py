"""What deploy/ has for fleets fits the binary: flags, ports, configurations. Neither Docker nor Kubernetes is needed."""
import json
import os
import re
import subprocess

import fleet
import pyarrow.flight as flight
import pytest
import yaml
from serving import BINARY, ROOT, Server, free_port

COMPOSE = ROOT / "deploy" / "compose"
needs_haproxy = pytest.mark.skipif(not fleet.program("haproxy"), reason="haproxy is not installed here: apt-get install haproxy")


@pytest.fixture(scope="module")
def flags():
    """The flags of serve, without their dashes."""
    text = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", text, re.M))


def unknown(variables, flags):
    """The variables of the server that no flag has."""
    names = {f"VIBEFLIGHT_{flag.upper().replace('-', '_')}" for flag in flags}
    return sorted(name for name in variables if name.startswith("VIBEFLIGHT_") and name not in names)


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((COMPOSE / "fleet.yml").read_text())


@pytest.fixture(scope="module")
def servers(compose):
    return {name: service for name, service in compose["services"].items() if service.get("image") == "vibeflight"}


def test_compose_flags(servers, flags):
    assert len(servers) == 3
    for name, server in servers.items():
        assert unknown(server["environment"], flags) == [], name
        assert server["environment"]["VIBEFLIGHT_REPLICA"] == name
        assert server["environment"]["VIBEFLIGHT_ADVERTISE"] == f"grpc://{name}:8815"
        assert server["command"] == ["serve"]
        assert server["read_only"] and server["cap_drop"] == ["ALL"]
    # Each has a cache folder of its own, and the same files.
    mounts = [dict(v.removesuffix(":ro").rsplit(":", 1)[::-1] for v in server["volumes"]) for server in servers.values()]
    assert len({m["/cache"] for m in mounts}) == 3 and len({m["/data"] for m in mounts}) == 1
    same = [{k: v for k, v in server["environment"].items() if k not in ("VIBEFLIGHT_REPLICA", "VIBEFLIGHT_ADVERTISE")} for server in servers.values()]
    assert same[0] == same[1] == same[2]


def test_compose_names(compose, servers):
    """Hosts, ports, volumes and variables of the file agree with each other."""
    services = compose["services"]
    environment = next(iter(servers.values()))["environment"]
    assert re.search(r"@postgres:5432/vibeflight\?", environment["VIBEFLIGHT_STORE"])
    assert services["postgres"]["environment"]["POSTGRES_DB"] == services["postgres"]["environment"]["POSTGRES_USER"] == "vibeflight"
    bucket, port = re.fullmatch(r"s3://(\w+)\?region=us-east-1&endpoint=http://s3:(\d+)&use_path_style=true", environment["VIBEFLIGHT_CACHE_STORE"]).groups()
    assert f":{port}" in services["s3"]["command"] and services["bucket"]["command"][-1] == f"/buckets/{bucket}"
    (version,) = re.findall(r"versity/versitygw (v\S+)", (ROOT / "integration/stores/go.mod").read_text())
    assert services["s3"]["image"] == f"versity/versitygw:{version}", "the S3 of the tests"
    used = {volume.split(":")[0] for service in services.values() for volume in service["volumes"] if not volume.startswith((".", "$"))}
    assert used == set(compose["volumes"])
    for service in services.values():
        assert set(service.get("depends_on", [])) <= set(services)
        assert all(p.startswith("127.0.0.1:") for p in service.get("ports", [])), "published to this machine only"
    text = (COMPOSE / "fleet.yml").read_text()
    asked = set(re.findall(r"\$\{(\w+)", text))
    assert asked == set(re.findall(r"^#?(\w+)=", (COMPOSE / "fleet.env.example").read_text(), re.M))
    drain = sum(int(re.fullmatch(r"(\d+)s", environment[name])[1]) for name in ("VIBEFLIGHT_DRAIN", "VIBEFLIGHT_DRAIN_DELAY"))
    assert int(next(iter(servers.values()))["stop_grace_period"].removesuffix("s")) >= drain + 10


def test_compose_balancer(compose, servers):
    """HAProxy's configuration names the servers and the ports of fleet.yml."""
    text = (COMPOSE / "haproxy.cfg").read_text()
    environment = next(iter(servers.values()))["environment"]
    ports = {environment["VIBEFLIGHT_LISTEN"].split(":")[1], environment["VIBEFLIGHT_HTTP"].split(":")[1]}
    found = re.findall(r"^ +server (\w+) (\w+):(\d+)", text, re.M)
    assert all(name == host for name, host, _ in found)
    assert {(host, port) for _, host, port in found} == {(name, port) for name in servers for port in ports}
    published = {p.split(":")[-1] for p in compose["services"]["balancer"]["ports"]}
    assert published == set(re.findall(r"^ +bind :(\d+)", text, re.M))


@needs_haproxy
def test_haproxy_accepts_its_configuration(tmp_path):
    """Names of containers are not known here, so the check knows addresses instead."""
    text = re.sub(r"\bserver(\d):", r"127.0.0.\1:", (COMPOSE / "haproxy.cfg").read_text())
    (tmp_path / "haproxy.cfg").write_text(text)
    done = subprocess.run([fleet.program("haproxy"), "-c", "-f", tmp_path / "haproxy.cfg"], capture_output=True, text=True)
    assert done.returncode == 0 and "WARNING" not in done.stderr + done.stdout, done.stderr


@pytest.mark.skipif(bool(fleet.missing()), reason=fleet.missing())
def test_compose_server_starts(servers, tmp_path, monkeypatch):
    """A server with the environment of fleet.yml, but for hosts and folders."""
    environment = dict(servers["server1"]["environment"])
    (tmp_path / "a.csv").write_text("n\n1\n2\n")
    with fleet.Fleet(tmp_path, replicas=0, bouncer=False, balanced=False) as parts:
        http = f"127.0.0.1:{free_port()}"
        environment |= {"VIBEFLIGHT_STORE": parts.postgres.url(), "VIBEFLIGHT_HTTP": http, "VIBEFLIGHT_SQL_WORKERS": "1"}
        if parts.bucket:
            environment |= {**parts.bucket.env, "VIBEFLIGHT_CACHE_STORE": parts.bucket.url}
        else:
            environment["VIBEFLIGHT_CACHE_STORE"] = str(parts.folder / "shared")
        for name in ("VIBEFLIGHT_DATA", "VIBEFLIGHT_CACHE_DIR", "VIBEFLIGHT_LISTEN"):
            del environment[name]  # Server has flags for them
        with Server(tmp_path, env=environment) as server:
            assert server.client().do_get(flight.Ticket("a.csv")).read_all().num_rows == 2
