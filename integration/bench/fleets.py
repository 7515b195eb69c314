"""Measures what the simulation of a fleet needs, and real fleets that it is compared with: fleets.py [--replicas 1,2,4] [--json FILE] [--figures FILE]

    .venv/bin/python integration/bench/fleets.py --json integration/bench/results/DATE-fleet.json --figures integration/fleetsim/figures.json
    go run ./integration/fleetsim -compare integration/bench/results/DATE-fleet.json

Costs are CPU times of a server with one core (GOMAXPROCS=1, --workers 1), fitted to a constant and a part in proportion to bytes. Reads are measured in a
closed loop of clients, each a process of its own. Then fleets of such servers, with PostgreSQL and a shared folder, serve the reads of --clients, whose files
have a Zipf distribution: first with empty caches, then with full ones. Clients, servers and PostgreSQL share the cores of this machine, as they do in the
simulation.
"""
import argparse
import contextlib
import datetime
import itertools
import json
import multiprocessing
import os
import pathlib
import platform
import queue
import random
import shutil
import statistics
import sys
import tempfile
import time

from pyarrow import flight

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)  # in place of this folder, whose http.py is not the http of Python
from serving import BINARY, ROOT, Server, vibeflight

GB = 1e9
ONE_CORE = ["--workers", "1", "--engine", "cpu", "--no-sql", "--memory", "512MiB"]
CLASSES = {100: 10, 1500: 4, 12000: 1}  # features of the files that costs are fitted to, and how many there are, times --each
MEDIAN, SIGMA = 1200, 0.9  # features of the files of fleets


def cpu(pid):
    """CPU seconds of a process, in steps of 10 ms."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_all(pids):
    """CPU seconds of processes and of their children that have ended."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


class OneCore(Server):
    """A server that runs on one core at a time."""

    def __enter__(self):
        before = os.environ.get("GOMAXPROCS")
        os.environ["GOMAXPROCS"] = "1"
        try:
            return super().__enter__()
        finally:
            if before is None:
                del os.environ["GOMAXPROCS"]
            else:
                os.environ["GOMAXPROCS"] = before

    def cpu(self):
        return cpu(self.process.pid)


def drain(client, ticket):
    """Reads a stream to its end, and returns the bytes of its batches."""
    return sum(chunk.data.nbytes for chunk in client.do_get(ticket))


class Loop(multiprocessing.get_context("spawn").Process):
    """A client that reads one file after the other, as long as the shared counter has reads left.

    Each read begins at a replica that is drawn. With placed, the rows come from the first location of the endpoint, else from the same replica."""

    def __init__(self, number, job, counter, start, answers):
        super().__init__(daemon=True)
        self.number, self.job, self.counter, self.start_line, self.answers = number, job, counter, start, answers

    def run(self):
        draw = random.Random(1000 * self.job["seed"] + self.number)
        clients = {uri: flight.connect(uri) for uri in self.job["uris"]}
        for client in clients.values():  # connects
            list(client.do_action(flight.Action("stats", b"")))
        weights = list(itertools.accumulate(self.job["weights"]))
        self.start_line.wait()
        own, began, times, size = time.process_time(), time.time(), [], 0
        while True:
            with self.counter.get_lock():
                if not self.counter.value:
                    break
                self.counter.value -= 1
            (name,) = draw.choices(self.job["names"], cum_weights=weights)
            start = time.perf_counter()
            size += self.read(draw.choice(self.job["uris"]), name, clients)
            times.append(time.perf_counter() - start)
        self.answers.put({"began": began, "ended": time.time(), "cpu": time.process_time() - own, "times": times, "bytes": size})

    def read(self, uri, name, clients):
        what = self.job["calls"]
        if what == "get":
            return drain(clients[uri], flight.Ticket(name.encode()))
        info = clients[uri].get_flight_info(flight.FlightDescriptor.for_path(name))
        if what == "info":
            return 0
        size = 0
        for endpoint in info.endpoints:
            at = uri
            if self.job["placed"] and endpoint.locations:
                at = endpoint.locations[0].uri.decode().replace("grpc+tcp://", "grpc://")
            if at not in clients:
                clients[at] = flight.connect(at)
            size += drain(clients[at], endpoint.ticket)
        return size


def loop(uris, names, weights, reads, clients, calls="both", placed=False, seed=1):
    """Runs the reads of a closed loop of clients."""
    context = multiprocessing.get_context("spawn")
    counter, start, answers = context.Value("q", reads), context.Barrier(clients), context.Queue()
    job = {"uris": uris, "names": names, "weights": weights, "calls": calls, "placed": placed, "seed": seed}
    running = [Loop(number, job, counter, start, answers) for number in range(clients)]
    for client in running:
        client.start()
    found = []
    while len(found) < clients:
        try:
            found.append(answers.get(timeout=1))
        except queue.Empty:
            if any(client.exitcode for client in running):
                raise RuntimeError("a client has failed") from None
    for client in running:
        client.join()
    times = sorted(t for answer in found for t in answer["times"])
    seconds = max(answer["ended"] for answer in found) - min(answer["began"] for answer in found)
    return {
        "reads": reads, "seconds": seconds, "per_second": reads / seconds, "mean_seconds": statistics.fmean(times), "p50_seconds": times[len(times) // 2],
        "p99_seconds": times[min(len(times) - 1, len(times) * 99 // 100)], "bytes": sum(answer["bytes"] for answer in found),
        "client_cpu_seconds": sum(answer["cpu"] for answer in found),
    }


def fit(points):
    """Seconds = constant + slope × GB for (GB, seconds), by least squares of the relative errors. Neither is negative."""
    weights = [1 / max(1e-9, seconds) ** 2 for _, seconds in points]
    total = sum(weights)
    x = sum(w * gb for w, (gb, _) in zip(weights, points)) / total
    y = sum(w * seconds for w, (_, seconds) in zip(weights, points)) / total
    spread = sum(w * (gb - x) ** 2 for w, (gb, _) in zip(weights, points))
    slope = max(0, sum(w * (gb - x) * (seconds - y) for w, (gb, seconds) in zip(weights, points)) / spread)
    return max(0, y - slope * x), slope


def supported():
    """Whether bin/vibeflight knows the flags of a fleet, and its store is installed."""
    if not {"--store", "--cache-store"} <= set(vibeflight("serve", "--help").split()):
        return False
    import fleet

    return not fleet.missing()


class Costs:
    """What calls cost on one core, from files of three sizes."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.files = {}
        for features, times in CLASSES.items():
            for number in range(times * options.each):
                name = f"c{features}-{number}.geojson"
                vibeflight("gen", "buildings", "--features", features, "--seed", number + 1, "-o", folder / name)
                self.files.setdefault(features, []).append(name)

    def source_gb(self, features):
        return statistics.fmean((self.folder / name).stat().st_size for name in self.files[features]) / GB

    def first_reads(self, server, saved=None):
        """CPU seconds of the server for the first read of each file, and of what follows it in the background."""
        client, points, self.table_gb, done = server.client(), [], {}, 0
        drain(client, flight.Ticket(b"warm.geojson"))
        for features in CLASSES:
            time.sleep(0.5)
            start, size = server.cpu(), 0
            for name in self.files[features]:
                size += drain(client, flight.Ticket(name.encode()))
            files = len(self.files[features])
            done += files
            if saved:
                saved(server, done + 1)
            server.idle_statistics()
            time.sleep(0.5)  # what is in the background ends
            points.append((server.cpu() - start) / files)
            self.table_gb[features] = size / files / GB
        return points

    def loops(self, server, reads):
        """The costs of calls for tables that are mapped."""
        figures, clients = {}, min(4, 2 * (os.cpu_count() or 1))
        info, get, receive = [], [], []
        for calls, features in [("info", min(CLASSES)), *(("get", features) for features in CLASSES)]:
            names = self.files[features]
            weights = [1.0] * len(names)
            loop([server.uri], names, weights, 20 * clients, clients, calls)
            count = max(200, int(reads / (1 + features / 1000)))
            start = server.cpu()
            run = loop([server.uri], names, weights, count, clients, calls)
            spent = (server.cpu() - start) / count
            own = run["client_cpu_seconds"] / count
            print(f"  {calls} of {features} features: server {spent * 1e3:.3f} ms, client {own * 1e3:.3f} ms, {run['per_second']:.0f} per second", flush=True)
            if calls == "info":
                info = [spent, own]
            else:
                get.append((self.table_gb[features], spent))
                receive.append((self.table_gb[features], own))
        figures["info"], figures["get"], figures["receive"] = info, fit(get), fit(receive)
        return figures

    def measure(self):
        """The figures of the simulation."""
        vibeflight("gen", "buildings", "--features", 10, "-o", self.folder / "warm.geojson")

        def saved(server, tables):
            server.wait_until_saved(tables, seconds=120)

        with OneCore(self.folder, *ONE_CORE, cache="") as server:
            parse = self.first_reads(server)
        with tempfile.TemporaryDirectory(prefix="fleets-") as temp:
            cache, shared = pathlib.Path(temp, "cache"), pathlib.Path(temp, "shared")
            shared.mkdir()
            with OneCore(self.folder, *ONE_CORE, cache=cache) as server:
                save = self.first_reads(server, saved)
            upload = fetch = None
            with store() as url:
                flags = [*ONE_CORE, "--cache-store", str(shared), "--store", url, "--replica"] if url else ONE_CORE
                first, second = (["a"], ["b"]) if url else ([], [])
                if url:  # what leases and records cost is a part of the upload
                    cache = pathlib.Path(temp, "a")
                    with OneCore(self.folder, *flags, *first, cache=cache) as server:
                        upload = self.first_reads(server, uploaded)
                with OneCore(self.folder, *flags, *first, cache=cache) as server:
                    opened = self.first_reads(server)
                    calls = self.loops(server, self.options.calls)
                if url:
                    with OneCore(self.folder, *flags, *second) as server:
                        fetch = self.first_reads(server)
        return self.figures(parse, save, opened, calls, upload, fetch)

    def figures(self, parse, save, opened, calls, upload, fetch):
        tables = [self.table_gb[features] for features in CLASSES]
        sources = [self.source_gb(features) for features in CLASSES]
        read, per_gb = calls["get"]

        def beyond(points, base, at=tables):
            """The cost in addition to others, which are a list or those of a read."""
            return fit([(gb, max(1e-6, a - b)) for gb, a, b in zip(at, points, base)])

        reads = [read + per_gb * gb for gb in tables]
        costs = {"info_seconds": calls["info"][0], "read_seconds": read, "read_seconds_per_gb": per_gb}
        costs["parse_seconds"], costs["parse_seconds_per_gb"] = beyond(parse, reads, sources)
        costs["save_seconds"], costs["save_seconds_per_gb"] = beyond(save, parse)
        costs["open_seconds"], costs["check_seconds_per_gb"] = beyond(opened, reads)
        if upload:
            costs["upload_seconds"], costs["upload_seconds_per_gb"] = beyond(upload, save)
        if fetch:
            costs["fetch_seconds"], costs["fetch_seconds_per_gb"] = beyond(fetch, opened)
        client = {"cpu_call_seconds": calls["receive"][0] + calls["info"][1], "cpu_seconds_per_gb": calls["receive"][1]}
        return {
            "files": {"table_ratio": sum(tables) / sum(sources)}, "costs": {k: float(f"{v:.3g}") for k, v in costs.items()},
            "client": {k: float(f"{v:.3g}") for k, v in client.items()},
        }


def uploaded(server, tables):
    until(lambda: server.action("stats")["shared_cache"]["uploads"] >= tables)


@contextlib.contextmanager
def store():
    """The URL of a PostgreSQL of its own, or None."""
    if not supported():
        yield None
        return
    import fleet

    folder = pathlib.Path(tempfile.mkdtemp(prefix="vibeflight-fleets-", dir="/tmp"))  # PostgreSQL does not run as root
    folder.chmod(0o755)
    postgres = fleet.Postgres(folder)
    try:
        yield postgres.start().url()
    finally:
        postgres.close()
        shutil.rmtree(folder, ignore_errors=True)


def until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not after {seconds} s")
        time.sleep(0.02)


class Alone:
    """One server without a store, where bin/vibeflight has none."""

    def __init__(self, data):
        self.server = OneCore(data, *ONE_CORE)

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *_):
        self.server.__exit__()

    @property
    def servers(self):
        return [self.server]

    def store_cpu(self):
        return 0


def start(data, replicas):
    """A fleet of one-core servers."""
    if not supported():
        if replicas > 1:
            raise RuntimeError("bin/vibeflight knows no --store and --cache-store, or PostgreSQL is not installed")
        return Alone(data)
    import fleet

    class OneCoreFleet(fleet.Fleet):
        def new_replica(self, number, *flags, env=None):
            return super().new_replica(number, *flags, "--workers", "1", "--no-sql", env={**(env or {}), "GOMAXPROCS": "1"})

        @property
        def servers(self):
            return [r._server for r in self.replicas]

        def store_cpu(self):
            return cpu_of_all([self.postgres.process.pid, *fleet.children(self.postgres.process.pid)])

    return OneCoreFleet(data, replicas, bucket=False, bouncer=False, balanced=False)


def counters(f):
    total = {"parses": 0, "fetches": 0, "fetched_bytes": 0, "uploaded_bytes": 0, "waits": 0}
    for server in f.servers:
        stats = server.idle_statistics()
        shared, leases = stats.get("shared_cache") or {}, stats.get("leases") or {}
        total["parses"] += stats["parses"]
        total["fetches"] += shared.get("hits", 0)
        total["fetched_bytes"] += shared.get("fetched_bytes", 0)
        total["uploaded_bytes"] += shared.get("uploaded_bytes", 0)
        total["waits"] += leases.get("waits", 0)
    return total


class Fleets:
    """Real fleets under a closed loop of clients."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        draw = random.Random(7)
        self.names = []
        for number in range(options.files):
            self.names.append(f"f{number:04d}.geojson")
            features = max(1, int(draw.lognormvariate(0, SIGMA) * MEDIAN))
            vibeflight("gen", "buildings", "--features", min(features, 50_000), "--seed", number + 1, "-o", folder / self.names[-1])
        self.sizes = [(folder / name).stat().st_size for name in self.names]
        self.weights = [(rank + 1) ** -options.zipf for rank in range(options.files)]

    def measure(self, replicas, placed):
        options, runs = self.options, []
        with start(self.folder, replicas) as f:
            uris = [server.uri for server in f.servers]
            if len(uris) > 1:
                time.sleep(4)  # the replicas know each other
            before = counters(f)
            for phase, reads in (("empty caches", options.reads), ("full caches", 2 * options.reads)):
                store, spent = f.store_cpu(), [server.cpu() if hasattr(server, "cpu") else cpu(server.process.pid) for server in f.servers]
                run = loop(uris, self.names, self.weights, reads, options.clients, placed=placed, seed=options.seed + len(runs))
                time.sleep(1)
                after = counters(f)
                measured = {**{k: round(v, 6) for k, v in run.items()}, **{name: after[name] - before[name] for name in after}}
                measured["server_cpu_seconds"] = round(sum(cpu(s.process.pid) for s in f.servers) - sum(spent), 3)
                measured["store_cpu_seconds"] = round(f.store_cpu() - store, 3)
                before = after
                warmup = 0 if phase == "empty caches" else options.reads
                config = {
                    "replicas": replicas, "placement": {"kind": "rendezvous" if placed else "random"},
                    "reads": {"count": warmup + reads, "warmup": warmup, "clients": options.clients},
                }
                runs.append({"phase": phase, "config": config, "measured": measured})
                print(f"{replicas} replicas, {config['placement']['kind']}, {phase}: {measured['per_second']:.1f} reads per second, "
                      f"p99 {measured['p99_seconds'] * 1e3:.1f} ms, {measured['parses']} parses, {measured['fetches']} fetches", flush=True)
        return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicas", default="1,2,4")
    parser.add_argument("--placement", default="random,rendezvous")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--reads", type=int, default=2000, help="with empty caches; twice as many follow with full ones")
    parser.add_argument("--zipf", type=float, default=1.0)
    parser.add_argument("--each", type=int, default=20, help="files of the largest size that costs are fitted to; there are more small ones")
    parser.add_argument("--calls", type=int, default=4000, help="of each loop that costs are fitted to")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--figures", type=pathlib.Path, help="figures.json of the simulation, which gets the costs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fleets-") as temp:
        (pathlib.Path(temp) / "costs").mkdir()
        (pathlib.Path(temp) / "files").mkdir()
        costs = Costs(pathlib.Path(temp) / "costs", options).measure()
        print(json.dumps(costs, indent=1), flush=True)
        fleets = Fleets(pathlib.Path(temp) / "files", options)
        runs = []
        for replicas in map(int, options.replicas.split(",")):
            for kind in options.placement.split(","):
                if replicas > 1 or not runs:
                    runs += fleets.measure(replicas, kind == "rendezvous")
        parses = [run["measured"]["store_cpu_seconds"] / run["measured"]["parses"] for run in runs if run["phase"] == "empty caches" and run["measured"]["parses"]]
        costs["costs"]["store_seconds"] = float(f"{statistics.median(parses):.3g}")
        figures = {
            "files": {**costs["files"], "count": options.files, "sizes": fleets.sizes}, "costs": costs["costs"],
            "client": {**costs["client"], "bytes_per_second": 0, "round_trip_seconds": 0, "cores": 0, "on_host": True},
            "host": {"cores": os.cpu_count(), "replicas": max(map(int, options.replicas.split(",")))},
            "replica": {"cores": 1, "parse_slots": 64, "workers": 1, "bytes_per_second": 0, "cache_bytes": 0, "memory_bytes": 0, "disk_bytes_per_second": 0},
            "reads": {"zipf": options.zipf, "rate": 0, "think_seconds": 0, "partial_share": 0, "info": True},
            "shared": {"enabled": supported(), "full": False, "latency_seconds": 0, "bytes_per_second": 0, "replica_bytes_per_second": 0},
            "leases": {"enabled": supported()},
        }
    if options.json:
        options.json.parent.mkdir(exist_ok=True)
        options.json.write_text(json.dumps({
            "date": datetime.date.today().isoformat(), "command": f"integration/bench/fleets.py --clients {options.clients} --files {options.files} --reads {options.reads}",
            "machine": f"{os.cpu_count()} cores, {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB, Linux {platform.release().split('-')[0]}",
            "note": "one-core servers, their clients and PostgreSQL share the cores; the shared cache is a folder", "notebook": None,
            "figures": figures, "runs": runs,
        }, indent=1) + "\n")
    if options.figures:
        kept = json.loads(options.figures.read_text())
        kept["files"]["table_ratio"] = round(costs["files"]["table_ratio"], 3)
        kept["costs"].update(costs["costs"])
        kept["client"].update(costs["client"])
        options.figures.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    if not BINARY.exists():
        sys.exit(f"{BINARY.relative_to(ROOT)} is missing: make build")
    main()
