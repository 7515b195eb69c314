"""The images of the Dockerfile: what it says fits the binary, and what it builds runs on a read-only root as a user that no file names."""
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import container
import dockerfile
import naturalearth
import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from container import UNKNOWN_USER, ContainedServer, Mount
from serving import BINARY, ROOT

TARGETS = ("sql", "cuda", "minimal")
# Object stores take minutes to compile; the images that people use have them.
TAGS = "nocloud"
# A query that needs more than this memory, and the variables for it.
LARGE = "SELECT max(n) AS n FROM (SELECT row_number() OVER (ORDER BY md5(i::VARCHAR)) AS n FROM range(2000000) t(i))"
SMALL = {"VIBEFLIGHT_SQL_MEMORY": "64MiB", "VIBEFLIGHT_SQL_THREADS": "1"}
COUNTRIES = "SELECT name, ST_Area(geometry) AS area FROM countries ORDER BY area DESC LIMIT 3"


@pytest.fixture(scope="module")
def stages():
    return dockerfile.parse((ROOT / "Dockerfile").read_text())


def test_stages(stages):
    """Each stage begins from one above it, or from an image with a version, and copies from stages above it."""
    above = set()
    for stage in stages:
        assert stage.base in above | {"scratch"} or re.fullmatch(r"\w+:\d[\w.-]+", stage.base), stage.name
        assert {m[1] for i, rest in stage.steps if i == "COPY" and (m := re.match(r"--from=(\S+)", rest))} <= above, stage.name
        above.add(stage.name)
    assert set(TARGETS) <= above
    assert stages[-1].base == "sql" and not stages[-1].steps, "without --target, it is the image with SQL"


@pytest.mark.parametrize("target", TARGETS)
def test_configuration(stages, target):
    """Users, commands and variables of an image are those that the binary knows."""
    config = dockerfile.configuration(stages, target)
    flags = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", config["User"]), "a number, for runAsNonRoot of Kubernetes"
    command, *arguments = config["Cmd"]
    assert command == "serve"
    assert {a for a in arguments if a.startswith("--")} <= set(re.findall(r"--[\w-]+", flags))
    variables = dockerfile.Image(None, config).environment
    assert {f"--{v.removeprefix('VIBEFLIGHT_').lower().replace('_', '-')}" for v in variables if v.startswith("VIBEFLIGHT_")} <= set(re.findall(r"--[\w-]+", flags))
    assert subprocess.run([BINARY, *config["Healthcheck"]["Test"][2:], "--help"], capture_output=True).returncode == 0
    assert {p.split("/")[0] for p in config["ExposedPorts"]} == {"8815", "8080"}


def test_ignored(stages):
    """A build does not send what git ignores: tools, caches, data."""
    ignored = [line for line in (ROOT / ".gitignore").read_text().splitlines() if line.startswith("/")]
    assert set(ignored) <= set((ROOT / ".dockerignore").read_text().splitlines())


# Below: images that are built. A build takes minutes where Go's cache is empty.

def builder_class():
    return dockerfile.Buildah if shutil.which("buildah") else dockerfile.Chroot


def reason():
    """Why nothing can be built here; "" if it can."""
    if os.geteuid():
        return "root is needed, for chroot and mounts"
    missing = [name for name in ("unshare", "chroot", "go", "gcc", "dpkg-query") if not shutil.which(name)]
    return f"not installed here: {', '.join(missing)}" if missing else ""


built = [pytest.mark.long, pytest.mark.skipif(bool(reason()), reason=reason())]


def marked(test):
    for mark in built:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    made = builder_class()(tmp_path_factory.mktemp("build"))
    print(f"images are built by {made.name}")
    return made


@pytest.fixture(scope="module")
def images(builder):
    """images(target) is the image of a target, which is built once."""
    found = {}

    def image(target):
        if target not in found:
            found[target] = builder.build(target, TAGS)
        return found[target]
    return image


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder that every user may read: that of a container does not own it. The folders of pytest are closed to others, but it is mounted."""
    folder = tmp_path_factory.mktemp("files")
    naturalearth.write_countries(folder / "world" / "countries.geojson")
    (folder / "numbers.csv.gz").write_bytes(gzip.compress(b"n\n1\n2\n"))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


@pytest.fixture
def cache(tmp_path):
    """A new volume, as a runtime makes it from the image's folder: anybody may write."""
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def mounts(files, cache):
    return [Mount(files, "/data"), Mount(cache, "/cache", read_only=False), Mount.tmpfs("/tmp")]


def lines(server, level):
    """The messages of a server's log of a level."""
    return [e for e in map(json.loads, server.log().splitlines()) if e["level"] == level]


def is_confined(server, pid=None):
    status = server.status(pid)
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {str(UNKNOWN_USER)} and not status["Groups"]
    assert {int(status[f"Cap{which}"], 16) for which in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {0}
    assert status["NoNewPrivs"] == "1"
    return status


@marked
def test_sql_and_spatial(images, files, cache):
    """Flight and SQL with ST_ functions by a user that no file names, and statements go on when a worker is killed."""
    image = images("sql")
    assert not (image.root / "etc" / "passwd").exists()
    with ContainedServer(image, mounts=mounts(files, cache)) as server:
        client = server.client()
        is_confined(server)
        options = {m[0]: m[1].split(",") for m in re.findall(r"^\S+ \S+ \S+ \S+ (\S+) (\S+)", pathlib.Path(f"/proc/{server.pid()}/mountinfo").read_text(), re.M)}
        assert "ro" in options["/"] and "ro" in options["/data"] and "rw" in options["/cache"]
        areas = sql.ask(client, COUNTRIES)
        assert areas.num_rows == 3 and all(a > 0 for a in areas["area"].to_pylist())
        table = client.do_get(flight.Ticket("world/countries.geojson")).read_all()
        assert table.num_rows == 177
        server.wait_until_saved()
        health = server.check_health()
        assert (health.stdout, health.returncode) == ("SERVING\n", 0), health.stderr
        # The sandbox of workers works inside of that of the container.
        (worker, *_) = server.workers()
        assert is_confined(server, worker)["Seccomp"] == "2"
        killed = server.workers()
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while len(lines(server, "warn")) < len(killed) and time.monotonic() < deadline:  # it has noticed
            time.sleep(0.01)
        assert sql.ask(client, COUNTRIES).equals(areas)
        assert worker not in server.workers()
        assert [e["message"] for e in lines(server, "warn")] == ["a worker for SQL has crashed"] * len(killed)
        assert lines(server, "error") == []
    assert server.process.returncode == 0, "process 1 ends by SIGTERM"
    saved = [p for p in (cache / "vibeflight").rglob("*.arrow")]
    assert saved and {p.stat().st_uid for p in saved} == {UNKNOWN_USER}
    assert server.check_health().returncode == 1, "nobody answers"


@marked
def test_spill(images, files, cache):
    """A query that memory can't hold is written to the volume."""
    with ContainedServer(images("sql"), mounts=mounts(files, cache), env=SMALL) as server:
        assert sql.ask(server.client(), LARGE)["n"].to_pylist() == [2_000_000]
        (ready,) = [e for e in lines(server, "info") if e["message"] == "SQL is ready"]
        assert ready["spills_to"].startswith("/cache/vibeflight/spill/")


@marked
def test_without_volumes(images, files):
    """Nothing is writable at all: tables are parsed and queries run, and the log says what is missed."""
    with ContainedServer(images("sql"), mounts=[Mount(files, "/data")], env=SMALL) as server:
        with pytest.raises(pa.ArrowInvalid, match="--sql-memory"):
            sql.ask(server.client(), LARGE)
        assert sql.ask(server.client(), COUNTRIES).num_rows == 3
        assert server.client().do_get(flight.Ticket("world/countries.geojson")).read_all().num_rows == 177
        assert server.check_health().returncode == 0
        assert {e["message"].split(":")[0] for e in lines(server, "warn")} == {"there is no cache on disk", "SQL queries can't spill"}


@marked
def test_temporary_folder(images, files):
    """A packed file is unpacked to /tmp where there is no cache."""
    with ContainedServer(images("sql"), mounts=[Mount(files, "/data"), Mount.tmpfs("/tmp")]) as server:
        assert server.client().do_get(flight.Ticket("numbers.csv.gz")).read_all()["n"].to_pylist() == [1, 2]


@marked
def test_tls_and_login(images, files, cache, certificate, tmp_path):
    """With TLS and a login, secrets are read from a mount, and the health check finds out."""
    secrets = tmp_path / "secrets"
    secrets.mkdir(mode=0o755)
    for path in certificate:
        shutil.copy(path, secrets / path.name)
    subprocess.run([BINARY, "user", "add", "--users", secrets / "users", "ann"], input="correct horse\n", text=True, capture_output=True, check=True)
    for path in secrets.iterdir():
        os.chown(path, UNKNOWN_USER, UNKNOWN_USER)
    env = {"VIBEFLIGHT_USERS": "/etc/vibeflight/users", "VIBEFLIGHT_TLS_CERT": "/etc/vibeflight/cert.pem", "VIBEFLIGHT_TLS_KEY": "/etc/vibeflight/key.pem"}
    with ContainedServer(images("sql"), mounts=[*mounts(files, cache), Mount(secrets, "/etc/vibeflight")], env=env) as server:
        health = server.check_health()
        assert (health.stdout, health.returncode) == ("SERVING\n", 0), health.stderr
        with flight.connect(f"grpc+tls://{server.location}", tls_root_certs=certificate[0].read_bytes()) as client:
            with pytest.raises(flight.FlightUnauthenticatedError):
                client.do_get(flight.Ticket("world/countries.geojson")).read_all()
            options = flight.FlightCallOptions(headers=[client.authenticate_basic_token("ann", "correct horse")])
            assert client.do_get(flight.Ticket("world/countries.geojson"), options).read_all().num_rows == 177


@marked
def test_volume_of_another_user(images, files, cache):
    """A volume that another user has filled is not used, and the log says why."""
    (cache / "vibeflight").mkdir(mode=0o700)
    os.chown(cache / "vibeflight", 65532, 65532)
    with ContainedServer(images("sql"), mounts=mounts(files, cache)) as server:
        assert sql.ask(server.client(), COUNTRIES).num_rows == 3
        assert any("permission denied" in e.get("error", "") for e in lines(server, "warn"))


@marked
def test_command_line(images, files):
    """The image is the command line, too: files are read without a server."""
    image = images("sql")
    run = lambda *argv: container.run(image.root, [*image.config["Entrypoint"], *argv], image.environment | {"HOME": "/"}, mounts=[Mount(files, "/data")])  # noqa: E731
    done = run("sql", "--csv", "SELECT count(*) AS n FROM countries WHERE ST_Area(geometry) > 0", "/data/world/countries.geojson")
    assert (done.stdout.split(), done.returncode) == (["n", "177"], 0), done.stderr
    doctor = run("doctor", "--data", "/data").stdout
    assert "ok  spatial    /usr/lib/vibeflight/spatial.duckdb_extension" in doctor
    outside = subprocess.run([BINARY, "doctor"], capture_output=True, text=True, env=os.environ | {"VIBEFLIGHT_CACHE_DIR": "none"}).stdout
    assert re.search(r"SQL workers .*", doctor)[0] == re.search(r"SQL workers .*", outside)[0], "the kernel's protections of workers"


@marked
@pytest.mark.parametrize("target, most", [("sql", 150e6), ("cuda", 160e6), ("minimal", 60e6)])
def test_size(images, target, most):
    """The size that registries store and clients fetch: layers are packed by gzip."""
    root = images(target).root
    packed = subprocess.run(f"tar -C {root} -c . | gzip -6 | wc -c", shell=True, capture_output=True, text=True, check=True)
    unpacked = sum(p.stat().st_size for p in root.rglob("*") if p.is_file() and not p.is_symlink())
    print(f"{target}: {int(packed.stdout) / 1e6:.0f} MB packed, {unpacked / 1e6:.0f} MB unpacked, with tags {TAGS}")
    assert int(packed.stdout) < most


@marked
def test_cuda(images, files, cache):
    """Without a driver the image with kernels parses on the CPU, and says so."""
    image = images("cuda")
    tags = re.search(r"-tags=(\S+)", subprocess.run(["go", "version", "-m", image.root / "vibeflight"], capture_output=True, text=True, check=True).stdout)[1]
    assert {"cuda", "images"} <= set(tags.split(","))
    assert {"NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"} <= set(image.environment)
    assert (image.root / "etc" / "debian_version").exists(), "the NVIDIA Container Toolkit looks for it"
    with ContainedServer(image, mounts=mounts(files, cache)) as server:
        is_confined(server)
        (chosen,) = [e for e in lines(server, "info") if e["message"] == "the engine is chosen"]
        assert chosen["engine"].startswith("auto: cpu, because no GPU: no CUDA driver library") and chosen["devices"] == []
        assert sql.ask(server.client(), COUNTRIES).num_rows == 3
        assert server.client().do_get(flight.Ticket("world/countries.geojson")).read_all().num_rows == 177


@marked
def test_minimal(images, files, cache):
    """The image without SQL serves tables, and refuses SQL."""
    with ContainedServer(images("minimal"), mounts=mounts(files, cache)) as server:
        is_confined(server)
        assert server.client().do_get(flight.Ticket("world/countries.geojson")).read_all().num_rows == 177
        with pytest.raises(pa.ArrowNotImplementedError, match="SQL"):
            sql.ask(server.client(), "SELECT 1")
        assert server.check_health().returncode == 0


@marked
@pytest.mark.skipif(not shutil.which("buildah"), reason="buildah is not installed here: apt-get install buildah")
def test_builders_agree(images, tmp_path):
    """buildah and the steps below a chroot give the same files and the same configuration."""
    image, other = images("minimal"), dockerfile.Chroot(tmp_path).build("minimal", TAGS)
    assert contents(image.root) == contents(other.root)
    for name in ("User", "Entrypoint", "Cmd"):
        assert image.config[name] == other.config[name], name
    assert other.environment.items() <= image.environment.items()
    assert other.config["Labels"].items() <= image.config["Labels"].items()
    assert image.config["Healthcheck"]["Test"] == other.config["Healthcheck"]["Test"]
    assert {p.split("/")[0] for p in image.config["ExposedPorts"]} == set(other.config["ExposedPorts"])


def contents(root):
    """The files and folders of an image by their names, with modes and digests, without the places for mounts that a runtime makes."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if name.parts[0] not in ("proc", "sys", "dev"):
            found[str(name)] = oct(path.lstat().st_mode), hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return found
