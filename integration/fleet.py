"""Starts a fleet on this machine for the tests: PostgreSQL, PgBouncer, an S3, replicas of bin/vibeflight and HAProxy.

with fleet.Fleet(folder, replicas=4) as f:
    f.replicas[0].client().do_get(...)
    f.replicas[1].kill()
    f.postgres.kill()
    f.postgres.start()
    f.stats("parses")      # of each replica

Each part keeps its port and its folder: what is stopped or killed can be started again. Where build/stores is missing, the shared
cache is a folder.
"""
import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import pyarrow.flight as flight
import rawclient
import sql
import stores
from serving import ROOT, Server, free_port

USER = "vibeflight"  # of PostgreSQL, and the name of its database
PRESENCE = 15  # seconds after which a silent replica is not alive, and an unrenewed lease is free
POSTGRES_BINARIES = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
BALANCER = ROOT / "deploy" / "compose" / "haproxy.cfg"


def missing():
    """Which packages of a fleet's store are not installed here: a reason to skip, or ""."""
    absent = [] if POSTGRES_BINARIES else ["postgresql"]
    absent += [name for name in ("pgbouncer", "haproxy") if not program(name)]
    return f"{', '.join(absent)} not installed here: apt-get install postgresql pgbouncer haproxy" if absent else ""


def program(name):
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def unprivileged():
    """Arguments of Popen for programs that refuse to run as root."""
    if os.geteuid():
        return {}
    entry = pwd.getpwnam("postgres")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Part:
    """A program of the fleet, which can be stopped, killed and started again with its port and its folder."""

    name = None
    drop_root = False  # it refuses to run as root

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.port = free_port()
        self.process = None
        self._log = open(self.folder / "log", "ab")
        if self.drop_root and unprivileged():
            os.chown(self.folder, unprivileged()["user"], unprivileged()["group"])

    def command(self):
        raise NotImplementedError

    def start(self, seconds=30):
        """Starts the program and waits until it answers. A program that ends meanwhile is started again: its port may not be free yet."""
        deadline = time.monotonic() + seconds
        while True:
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(self.command(), stdout=self._log, stderr=self._log, cwd=self.folder,
                                                **(unprivileged() if self.drop_root else {}))
            if self.answers():
                return self
            if time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{self.name} does not answer after {seconds} s:\n{self.log()[-4000:]}")
            time.sleep(0.05)

    def answers(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, how=signal.SIGTERM):
        if self.running:
            self.process.send_signal(how)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self):
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def close(self):
        self.kill()
        self._log.close()

    def log(self):
        return (self.folder / "log").read_text(errors="replace")


class Postgres(Part):
    """PostgreSQL on a loopback port, without fsync."""

    name = "PostgreSQL"
    drop_root = True

    def __init__(self, folder):
        super().__init__(folder)
        self.binaries = POSTGRES_BINARIES[-1]
        self.data = self.folder / "data"
        subprocess.run([self.binaries / "initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"],
                       check=True, stdout=self._log, stderr=self._log, cwd=self.folder, **unprivileged())

    def command(self):
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.folder, "fsync": "off", "synchronous_commit": "off",
                    "full_page_writes": "off", "max_connections": 200, "shared_buffers": "32MB", "dynamic_shared_memory_type": "mmap"}
        return [str(self.binaries / "postgres"), "-D", str(self.data), *(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))]

    def start(self, seconds=60):
        return super().start(seconds)

    def answers(self):
        return subprocess.run([self.binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-d", "postgres"], check=False).returncode == 0

    def stop(self, how=signal.SIGINT):  # without waiting for clients
        super().stop(how)

    def kill(self):
        """Kills the postmaster and its backends, each of which is a session of its own."""
        if self.process is None:
            return
        backends = children(self.process.pid)
        super().kill()
        for pid in backends:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def query(self, text):
        """The rows of a statement, each a list of texts."""
        done = subprocess.run([self.binaries / "psql", "-X", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", text, self.url()],
                              capture_output=True, text=True, check=True, cwd=self.folder)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def url(self):
        return f"postgres://{USER}@127.0.0.1:{self.port}/postgres?sslmode=disable"


class PgBouncer(Part):
    """PgBouncer between the replicas and PostgreSQL. In transaction mode each transaction may get another session."""

    name = "PgBouncer"
    drop_root = True

    def __init__(self, folder, postgres):
        super().__init__(folder)
        (self.folder / "users").write_text(f'"{USER}" ""\n')
        (self.folder / "pgbouncer.ini").write_text(
            f"[databases]\npostgres = host=127.0.0.1 port={postgres.port} dbname=postgres\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {self.folder}/users\n"
            "pool_mode = transaction\ndefault_pool_size = 10\nmax_client_conn = 500\nserver_login_retry = 1\nlog_connections = 0\nlog_disconnections = 0\n")

    def command(self):
        return [program("pgbouncer"), str(self.folder / "pgbouncer.ini")]

    def url(self):
        return f"postgres://{USER}@127.0.0.1:{self.port}/postgres?sslmode=disable"


class Bucket(Part):
    """An S3 over a folder: versitygw, of build/stores."""

    name = "S3"

    def __init__(self, folder):
        super().__init__(folder)
        self.objects = self.folder / "objects"
        self.objects.mkdir()
        self.url = f"s3://data?region=us-east-1&endpoint=http://127.0.0.1:{self.port}&use_path_style=true"
        self.env = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test-secret", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}

    def start(self, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            store = stores.S3(self.objects, "--port", str(self.port))
            try:
                store.__enter__()
            except RuntimeError:  # the port is not free yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
                continue
            self.process, self._store = store.process, store
            return self

    def stop(self, how=signal.SIGTERM):
        super().stop(how)
        self._store.__exit__()

    def kill(self):
        super().kill()
        if self.process is not None:
            self._store.__exit__()
            self.process = None


class Replica(Part):
    """A server of the fleet with a cache folder of its own. What it has printed outlives its process."""

    name = "replica"

    def __init__(self, folder, number, data, *flags, env=None):
        super().__init__(folder)
        self.id, self.http_port = f"r{number}", free_port()
        self.location = f"127.0.0.1:{self.port}"
        self.uri = f"grpc://{self.location}"
        self.http = f"http://127.0.0.1:{self.http_port}"
        self.starts = 0
        self._data, self._env, self._logs = data, env, ""
        self._flags = ["--http", f"127.0.0.1:{self.http_port}", *flags]
        self._server = None

    def start(self, seconds=60):
        deadline = time.monotonic() + seconds
        while True:
            self._remember()
            self._server = Server(self._data, *self._flags, listen=self.location, cache=self.folder / "cache", env=self._env)
            try:
                self._server.__enter__()
            except (RuntimeError, ValueError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
                continue
            self.process = self._server.process
            self.starts += 1
            return self

    def _remember(self):
        if self._server is not None and not self._server._log.closed:
            self._logs += self._server.log()
            self._server.__exit__()

    def stop(self, how=signal.SIGTERM):
        super().stop(how)
        self._remember()

    def kill(self):
        if self._server is not None:
            super().kill()
            self._remember()

    def log(self):
        return self._logs + (self._server.log() if self._server is not None and not self._server._log.closed else "")

    def client(self):
        return self._server.client()

    def action(self, kind, body=b""):
        return self._server.action(kind, body)

    def ready(self):
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.http}/readyz", timeout=5) as answer:
            return answer.status == 200
        return False

    def metrics(self):
        """The samples of /metrics, by name and labels as they are written."""
        with urllib.request.urlopen(f"{self.http}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))}

    def metric(self, name):
        """The sum of a metric over its labels."""
        return sum(value for series, value in self.metrics().items() if series.partition("{")[0] == name)


class HAProxy(Part):
    """HAProxy with the configuration of deploy/compose, for the replicas of this machine."""

    name = "HAProxy"

    def __init__(self, folder, replicas):
        super().__init__(folder)
        self.tcp_port, self.http_port = free_port(), free_port()
        self.uri, self.tcp_uri, self.http = f"grpc://127.0.0.1:{self.port}", f"grpc://127.0.0.1:{self.tcp_port}", f"http://127.0.0.1:{self.http_port}"
        (self.folder / "haproxy.cfg").write_text(balancer(BALANCER.read_text(), (self.port, self.tcp_port, self.http_port), replicas))

    def command(self):
        return [program("haproxy"), "-db", "-q", "-f", str(self.folder / "haproxy.cfg")]


def balancer(text, ports, replicas):
    """The configuration of deploy/compose for other ports and servers."""
    for shipped, port in zip((8815, 8816, 8080), ports, strict=True):
        text = re.sub(rf"bind :{shipped}\b", f"bind 127.0.0.1:{port}", text)
    text = re.sub(r"^resolvers docker\n(?:    .*\n)+", "", text, flags=re.M).replace("resolvers docker init-addr libc,none ", "")
    lines = []
    for line in text.splitlines():
        if " server1:8815" in line:
            lines += [line.replace("server1:8815", f"127.0.0.1:{r.port}").replace("server1", r.id) for r in replicas]
        elif " server1:8080" in line:
            lines += [line.replace("server1:8080", f"127.0.0.1:{r.http_port}").replace("server1", r.id) for r in replicas]
        elif not re.match(r" *server server\d ", line):
            lines.append(line)
    return "\n".join(lines) + "\n"


class Fleet:
    """All parts. Without bucket the shared cache is a folder; without bouncer the replicas connect to PostgreSQL itself."""

    def __init__(self, data, replicas=4, *flags, bucket=True, bouncer=True, balanced=True, cache_store=True, cache_bytes="1GiB"):
        self._data, self._count, self._flags = data, replicas, flags
        self._bucket = bucket and stores.program().exists()
        self._bouncer, self._balanced, self._cache_store, self._cache_bytes = bouncer, balanced, cache_store, cache_bytes
        self.postgres = self.bouncer = self.bucket = self.balancer = None
        self.replicas = []

    def __enter__(self):
        # Not below pytest's folder, which other users can't enter: PostgreSQL and PgBouncer don't run as root.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vibeflight-fleet-", dir="/tmp"))
        self.folder.chmod(0o755)
        self._parts = []
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self):
        self.postgres = self._add(Postgres(self._make("postgres")))
        if self._bouncer:
            self.bouncer = self._add(PgBouncer(self._make("pgbouncer"), self.postgres))
        env, flags = {}, list(self._flags)
        if self._cache_store and self._bucket:
            self.bucket = self._add(Bucket(self._make("bucket")))
            env, location = self.bucket.env, self.bucket.url
        else:
            location = str(self._make("shared"))
        if self._cache_store:
            flags += ["--cache-store", location, "--cache-store-bytes", self._cache_bytes]
        self.store = (self.bouncer or self.postgres).url()
        for number in range(self._count):
            self.replicas.append(self.new_replica(number, *flags, env=env))
        self._replica_flags, self._env = flags, env
        if self._balanced:
            self.balancer = self._add(HAProxy(self._make("haproxy"), self.replicas))

    def new_replica(self, number, *flags, env=None):
        """Starts one more replica with a folder of its own, and returns it."""
        folder = self._make(f"r{number}")
        replica = Replica(folder, number, self._data, "--store", self.store, "--replica", f"r{number}", "--engine", "cpu",
                          "--memory", "256MiB", "--sql-workers", "2", "--sql-memory", "256MiB", *sql.FLAGS, *flags, env=env)
        replica._flags += ["--advertise", replica.uri]
        return self._add(replica)

    def _make(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def _add(self, part):
        self._parts.append(part)
        return part.start()

    def __exit__(self, *_):
        for part in reversed(self._parts):
            with contextlib.suppress(OSError):
                part.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def alive(self):
        return [r for r in self.replicas if r.running]

    def stats(self, *path):
        """A number of the statistics of each running replica, once nothing is being parsed there."""
        found = {}
        for replica in self.alive:
            value = replica._server.idle_statistics()
            for name in path:
                value = value[name]
            found[replica.id] = value
        return found

    def logs(self):
        """The ends of all logs without the calls that have succeeded, for the message of a failed test."""
        def end(part):
            return "\n".join([line for line in part.log().splitlines() if '"code":"OK"' not in line][-15:])

        return "\n".join(f"== {getattr(part, 'id', part.name)}\n{end(part)}" for part in self._parts)


def children(pid):
    """The processes that a process has started."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
    return found


def until(what, condition, seconds=30):
    """Waits for a condition and returns its value."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not so after {seconds} s: {what}")
        time.sleep(0.05)
    return found


def retry(call, uris, seconds=90):
    """The result of a call with a client, as a client with retries has it: one that is Unavailable is repeated, at the next address."""
    deadline, attempt = time.monotonic() + seconds, 0
    while True:
        client = flight.connect(uris[attempt % len(uris)])
        attempt += 1
        try:
            with client:
                return call(client)
        except flight.FlightUnavailableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(min(0.05 * attempt, 1))


def fetch(endpoint, uri):
    """The rows of an endpoint, from its first location that answers, or from where it came from."""
    uris = [at.uri.decode().replace("grpc+tcp://", "grpc://") for at in endpoint.locations]
    return retry(lambda client: client.do_get(endpoint.ticket).read_all(), [u for u in uris if u.startswith("grpc://")] or [uri])


def poll(replica, path):
    """PollFlightInfo of an entry, which pyarrow's client lacks: its progress, or None for none, and whether it is complete."""
    descriptor = sql.field(3, path.encode())
    message = b"\x08\x01" + descriptor  # type: PATH
    answer = rawclient.unary(replica.location, b"PollFlightInfo", message)
    progress, complete = None, True
    for number, value in fields(answer):
        if number == 2:
            complete = False
        elif number == 3:
            (progress,) = struct.unpack("<d", value)
    return progress, complete


def fields(message):
    """The fields of a Protobuf message: numbers with varints, eight bytes or bytes."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 0x80:
                return value, at

    at = 0
    while at < len(message):
        key, at = varint(at)
        if key & 7 == 0:
            value, at = varint(at)
        else:
            size, at = (8, at) if key & 7 == 1 else varint(at)
            value, at = message[at:at + size], at + size
        yield key >> 3, value
