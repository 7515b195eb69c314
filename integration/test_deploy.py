"""What deploy/ has for fleets fits the binary: flags, ports, configurations. Neither Docker nor Kubernetes is needed."""
import http.client
import json
import re
import shutil
import subprocess
import tomllib

import dockerfile
import fleet
import pyarrow.flight as flight
import pytest
import yaml
from serving import BINARY, ROOT, Server, free_port

COMPOSE = ROOT / "deploy" / "compose"
CHART = ROOT / "deploy" / "helm" / "vibeflight"
RENDERER = ROOT / "build" / "chart"
COMPOSER = ROOT / "build" / "compose"
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


needs_composer = pytest.mark.skipif(not COMPOSER.exists(), reason="build/compose is not here: make compose builds it")


def services(file, *profiles, **variables):
    """The services that docker compose starts for a file and the profiles of its command line."""
    flags = [f for profile in profiles for f in ("--profile", profile)]
    done = subprocess.run([COMPOSER, *flags, file], capture_output=True, text=True, env={"PATH": ""} | variables)
    if done.returncode:
        raise ValueError(done.stderr)
    return json.loads(done.stdout)["services"]


@needs_composer
@pytest.mark.parametrize("profiles, names", [
    ([], {"vibeflight"}),
    (["cpu"], {"vibeflight"}),
    (["gpu"], {"vibeflight-gpu"}),
    (["observed"], {"vibeflight", "prometheus", "grafana"}),
    (["observed-gpu"], {"vibeflight-gpu", "prometheus", "grafana"}),
])
def test_profiles(flags, profiles, names):
    """Each profile has one server, under the name that Prometheus reads, and publishes to this machine only."""
    found = services(ROOT / "docker-compose.yml", *profiles)
    assert set(found) == names
    (server,) = [s for name, s in found.items() if name.startswith("vibeflight")]
    assert server["command"] == ["serve"] and unknown(server["environment"], flags) == []
    assert server["read_only"] and server["cap_drop"] == ["ALL"] and server["security_opt"] == ["no-new-privileges:true"]
    assert "vibeflight" in server["networks"]["default"]["aliases"]
    ports = [p for s in found.values() for p in s.get("ports", [])]
    assert {p["host_ip"] for p in ports} == {"127.0.0.1"}
    assert len({p["published"] for p in ports}) == len(ports)
    assert {int(server["environment"][name].split(":")[1]) for name in ("VIBEFLIGHT_LISTEN", "VIBEFLIGHT_HTTP")} == {p["target"] for p in server["ports"]}
    for service in found.values():
        for volume in service["volumes"]:
            assert volume["type"] == "volume" or volume["source"] == "./data" or (ROOT / volume["source"]).exists(), volume
    stages = {s.name: s for s in dockerfile.parse((ROOT / "Dockerfile").read_text())}
    target = server["build"]["target"]
    assert target == ("cuda" if "gpu" in "".join(profiles) else "sql") and target in stages
    gpus = server.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", [])
    assert bool(gpus) == (target == "cuda")


@needs_composer
def test_compose_variables():
    """Variables of the shell choose the files and the user."""
    found = services(ROOT / "docker-compose.yml", VIBEFLIGHT_FILES="/srv/geo", CONTAINER_USER="1000:1000")["vibeflight"]
    assert found["user"] == "1000:1000" and found["volumes"][0]["source"] == "/srv/geo"


@needs_composer
def test_fleet_compose():
    """The reference implementation reads fleet.yml, and wants its passwords."""
    with pytest.raises(ValueError, match="set it in .env"):
        services(COMPOSE / "fleet.yml")
    assert len(services(COMPOSE / "fleet.yml", POSTGRES_PASSWORD="a", S3_ACCESS_KEY="b", S3_SECRET_KEY="c")) == 7


def test_compose_observers(tmp_path):
    """Prometheus reads /metrics by the name that the server knows, and Grafana finds Prometheus and the dashboard."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    prometheus, grafana = (compose["services"][name] for name in ("prometheus", "grafana"))
    config = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    (name, port) = config["scrape_configs"][0]["static_configs"][0]["targets"][0].split(":")
    environment = compose["x-server"]["environment"]
    assert environment["VIBEFLIGHT_HTTP"].endswith(f":{port}")
    assert all((ROOT / "deploy/prometheus" / rules).exists() for rules in config["rule_files"])
    provisioning = ROOT / "deploy/grafana/provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources/prometheus.yml").read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090" and source["isDefault"]
    assert any(p.endswith(":9090") for p in prometheus["ports"])
    mounted = dict(v.removesuffix(":ro").split(":")[::-1] for v in grafana["volumes"])
    (provider,) = yaml.safe_load((provisioning / "dashboards/vibeflight.yml").read_text())["providers"]
    (dashboard,) = [target for target, source in mounted.items() if source.endswith("vibeflight.json")]
    assert dashboard.rpartition("/")[0] == provider["options"]["path"]
    assert grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] == dashboard
    # A server with these settings answers by that name, and by no other.
    (tmp_path / "a.csv").write_text("n\n1\n")
    address = f"127.0.0.1:{free_port()}"
    with Server(tmp_path, env={"VIBEFLIGHT_HTTP": address, "VIBEFLIGHT_HTTP_HOST": environment["VIBEFLIGHT_HTTP_HOST"], "VIBEFLIGHT_NO_SQL": "true"}):
        for host, status in ((f"{name}:{port}", 200), ("other:8080", 421)):
            connection = http.client.HTTPConnection(address)
            connection.request("GET", "/metrics", headers={"Host": host})
            assert connection.getresponse().status == status
            connection.close()


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed here: apt-get install prometheus")
def test_prometheus_accepts_its_configuration():
    done = subprocess.run(["promtool", "check", "config", ROOT / "deploy/prometheus/prometheus.yml"], capture_output=True, text=True)
    assert done.returncode == 0 and "SUCCESS" in done.stdout and "FAILED" not in done.stdout + done.stderr, done.stderr


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


needs_renderer = pytest.mark.skipif(not RENDERER.exists(), reason="build/chart is not here: make chart builds it")

# Everything that the chart has.
FULL = {
    "replicas": 5,
    "data": {"roots": ["/data", "west=s3://geo/west?region=eu-central-1"], "volume": {"persistentVolumeClaim": {"claimName": "geo", "readOnly": True}}},
    "config": '[[files]]\nmatch = "*.csv"\noptions = { delimiter = ";" }\n',
    "flags": {"max-calls": 2048, "batch-rows": 131072, "on-error": "skip", "dataset": ["a=/data/a/*", "b=/data/b/*"]},
    "env": [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}], "envFrom": [{"secretRef": {"name": "more"}}],
    "imagePullSecrets": [{"name": "registry"}], "store": {"secret": "postgres", "caSecret": "postgres-ca", "timeout": "3s"},
    "cacheStore": {"url": "s3://tables/geo?region=eu-central-1", "bytes": "2TiB", "expiry": "720h", "secret": "bucket"},
    "cache": {"storageClassName": "local-nvme"}, "tls": {"secret": "certificate", "peerCaSecret": "ca", "clientCaSecret": "clients"},
    "login": {"users": {"secret": "users"}, "tokens": {"secret": "tokens"}, "sessionKeys": {"secret": "keys"}, "grants": {"configMap": "grants"},
              "oidc": {"issuer": "https://id.example.org", "audience": "geo"}},
    "service": {"type": "LoadBalancer", "annotations": {"a": "b"}}, "advertise": ["arrow-flight-reuse-connection://?"],
    "gpu": {"count": 2, "runtimeClassName": "nvidia"},
    "autoscaling": {"enabled": True},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "authorization": {"credentials": {"name": "scraper", "key": "token"}}},
    "networkPolicy": {"from": [{"namespaceSelector": {"matchLabels": {"team": "geo"}}}], "monitoring": [{"namespaceSelector": {}}],
                      "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
    "podAnnotations": {"a": "b"}, "podLabels": {"c": "d"}, "nodeSelector": {"disk": "nvme"}, "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}}, "priorityClassName": "high", "serviceAccount": {"annotations": {"role": "geo"}},
}
CASES = {
    "insecure": {"insecure": True},
    "full": FULL,
    "without disks": {"insecure": True, "cache": {"persistent": False}, "podDisruptionBudget": {"enabled": False}, "networkPolicy": {"enabled": False},
                      "serviceAccount": {"create": False}},
}


def render(tmp_path, values, *flags):
    """The manifests of the chart by kind and name, and its notes. Unknown fields of Kubernetes' API are errors."""
    (tmp_path / "values.yaml").write_text(json.dumps(values))
    done = subprocess.run([RENDERER, "--values", tmp_path / "values.yaml", *flags, CHART], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr)
    *manifests, notes = json.loads(done.stdout)
    return {(m["kind"], m["metadata"]["name"]): m for m in manifests}, notes


@needs_renderer
@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_chart(tmp_path, flags, values):
    found, notes = render(tmp_path, values)
    (server,) = [m for (kind, _), m in found.items() if kind == "StatefulSet"]
    name, pod = server["metadata"]["name"], server["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"][0] == "serve"
    assert [a for a in container["args"][1:] if a.removeprefix("--").partition("=")[0] not in flags] == []
    assert unknown([e["name"] for e in container["env"]], flags) == []
    assert notes.startswith(f"The fleet {name} answers at grpc")
    # Not root, nothing to write but its folders, no capabilities.
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 65532
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    # Each mount has its volume, and each file of a flag is in a mount.
    volumes = {v["name"] for v in pod["volumes"]} | {c["metadata"]["name"] for c in server["spec"].get("volumeClaimTemplates", [])}
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    assert set(mounts) == volumes
    for argument in container["args"]:
        for path in re.findall(r"=(/etc/\S+)", argument):
            assert any(path.startswith(mount + "/") for mount in mounts.values()), argument
    # Services, budget, policy and autoscaler are about these pods.
    labels = server["spec"]["template"]["metadata"]["labels"]
    for (kind, _), manifest in found.items():
        spec = manifest.get("spec", {})
        selector = {"Service": spec.get("selector"), "PodDisruptionBudget": spec.get("selector", {}).get("matchLabels"),
                    "NetworkPolicy": spec.get("podSelector", {}).get("matchLabels"), "StatefulSet": spec.get("selector", {}).get("matchLabels")}.get(kind)
        if selector is not None:
            assert selector.items() <= labels.items(), kind
        if kind == "HorizontalPodAutoscaler":
            assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name} and "replicas" not in server["spec"]
    # Clients are sent to a name that the headless Service gives each pod.
    peers = found["Service", server["spec"]["serviceName"]]
    assert peers["spec"]["clusterIP"] == "None" and peers["spec"]["publishNotReadyAddresses"]
    (advertised,) = [a for a in container["args"] if a.startswith("--advertise=grpc")]
    assert f"$(POD_NAME).{peers['metadata']['name']}.$(POD_NAMESPACE).svc.cluster.local:8815" in advertised
    ports = {p["name"] for p in container["ports"]}
    for service in (peers, found["Service", name]):
        assert {p["targetPort"] for p in service["spec"]["ports"]} <= ports
    # The drain fits in the time that Kubernetes gives.
    drain = sum(int(a.partition("=")[2].removesuffix("s")) for a in container["args"] if a.startswith("--drain"))
    assert pod["terminationGracePeriodSeconds"] >= drain + 10
    assert {container[p]["httpGet"]["path"] for p in ("startupProbe", "readinessProbe", "livenessProbe")} == {"/readyz", "/healthz"}


@needs_renderer
def test_chart_values(tmp_path):
    """Values reach their places."""
    found, notes = render(tmp_path, FULL)
    pod = found["StatefulSet", "geo-vibeflight"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    for argument in ("--batch-rows=131072", "--max-calls=2048", "--dataset=b=/data/b/*", "--data=west=s3://geo/west?region=eu-central-1", "--cache-store-expiry=720h",
                     "--advertise=grpc+tls://$(POD_NAME).geo-vibeflight-peers.$(POD_NAMESPACE).svc.cluster.local:8815", "--store-timeout=3s", "--oidc-audience=geo"):
        assert argument in container["args"]
    assert "--insecure" not in container["args"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 2 and pod["runtimeClassName"] == "nvidia"
    assert container["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"
    (store,) = [e for e in container["env"] if e["name"] == "VIBEFLIGHT_STORE"]
    assert store["valueFrom"] == {"secretKeyRef": {"name": "postgres", "key": "url"}}, "the password is in a secret"
    assert {"secretRef": {"name": "bucket"}} in container["envFrom"]
    assert found["ConfigMap", "geo-vibeflight"]["data"]["vibeflight.toml"].strip() == FULL["config"].strip()
    assert found["ServiceMonitor", "geo-vibeflight"]["spec"]["endpoints"][0]["authorization"] == FULL["serviceMonitor"]["authorization"]
    assert [m["type"] for m in found["HorizontalPodAutoscaler", "geo-vibeflight"]["spec"]["metrics"]] == ["Resource", "Pods"]
    assert "*.geo-vibeflight-peers.default.svc.cluster.local" in notes


@needs_renderer
@pytest.mark.parametrize("values, message", [
    ({}, "set tls.secret and a login"),
    ({"tls": {"secret": "t"}, "login": {"users": {"secret": "u"}}}, "sessionKeys"),
    ({"insecure": True, "login": {"grants": {"configMap": "g"}}}, "needs a login"),
    ({"insecure": True, "replica": 3}, "replica"),
    ({"insecure": True, "replicas": 0}, "replicas"),
    ({"insecure": True, "cacheStore": {"url": "ftp://x"}}, "url"),
    ({"insecure": True, "autoscaling": {"metrics": [{"name": "cpu", "averageValue": "1"}]}}, "name"),
])
def test_chart_refuses(tmp_path, values, message):
    with pytest.raises(ValueError, match=message):
        render(tmp_path, values)


def test_chart_metrics():
    """The autoscaler's metrics are those of the server."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    page = (ROOT / "docs/reference/metrics.md").read_text()
    assert all(f"| `{m['name']}` |" in page for m in values["autoscaling"]["metrics"])


def test_chart_schema():
    """values.schema.json knows each value, and no other."""
    def compare(schema, values, path):
        if not schema.get("properties"):
            return
        assert set(schema["properties"]) - {"global"} == set(values), path
        for name, value in values.items():
            compare(schema["properties"][name], value, f"{path}.{name}")

    compare(json.loads((CHART / "values.schema.json").read_text()), yaml.safe_load((CHART / "values.yaml").read_text()), "values")


def test_page(flags):
    """Flags, settings and values that docs/how-to/run-a-fleet.md names exist."""
    page = (ROOT / "docs/how-to/run-a-fleet.md").read_text()
    toml = re.findall(r"^```toml\n(.*?)^```", page, re.M | re.S)
    assert toml and set(tomllib.loads("".join(toml))) <= flags
    known = flags | {"values", "build", "detach", "from-literal", "from-file", "server"}
    assert sorted(set(re.findall(r"--([a-z][a-z0-9-]+)", page)) - known) == []
    assert unknown(re.findall(r"VIBEFLIGHT_[A-Z_]+", page), flags) == []
    metrics = (ROOT / "docs/reference/metrics.md").read_text()
    assert [m for m in set(re.findall(r"`(vibeflight_[a-z_]+)`", page)) if f"| `{m}` |" not in metrics] == []


@needs_renderer
def test_page_values(tmp_path):
    """The values in docs/how-to/run-a-fleet.md are those of a chart that renders."""
    (values,) = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/how-to/run-a-fleet.md").read_text(), re.M | re.S)
    found, _ = render(tmp_path, yaml.safe_load(values))
    assert ("StatefulSet", "geo-vibeflight") in found


def test_containers_page(flags):
    """Variables, targets and profiles that docs/how-to/containers.md names exist."""
    page = (ROOT / "docs/how-to/containers.md").read_text()
    compose = (ROOT / "docker-compose.yml").read_text()
    asked = set(re.findall(r"\$\{(\w+)", compose))
    assert asked == set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.M))
    assert unknown(set(re.findall(r"VIBEFLIGHT_[A-Z_]+", page)) - asked, flags) == []
    stages = {s.name for s in dockerfile.parse((ROOT / "Dockerfile").read_text())}
    assert set(re.findall(r"^\| `(\w+)`.*\| +[\d,]+ MB \|", page, re.M)) | set(re.findall(r"--target (\w+)", page)) <= stages
    profiles = {p for s in yaml.safe_load(compose)["services"].values() for p in s["profiles"]}
    assert set(re.findall(r"--profile ([\w-]+)", page)) <= profiles
    published = {int(p.split(":")[1]) for p in re.findall(r'"(127\.0\.0\.1:\d+:\d+)"', compose)}
    assert published == {int(p) for p in re.findall(r"//127\.0\.0\.1:(\d+)", page)}
