"""`kill -9` of any part of a fleet at random moments, while clients read: no row is wrong, and reads succeed on retry.

Each round adds files that no replica has seen, kills one part, starts it again, and counts the parses. VIBEFLIGHT_KILLS is the number of
rounds; VIBEFLIGHT_SEED repeats the choices of a run.
"""
import collections
import json
import os
import random
import re
import threading
import time

import fleet
import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from conftest import bits, ticket
from serving import Server

REPLICAS, READERS, NEW = 4, 8, 3
BOX = [-30, -40, 60, 20]
# What an error that is not a broken connection must name: the part that is away.
PARTS = re.compile(r"PostgreSQL|the store of the fleet|--store|--cache-store|shared cache|bucket|replica", re.IGNORECASE)
# The result of a query was on a replica that has died and is back.
LOST = re.compile(r"the handle is unknown")
# What clients get from HAProxy when the server of a call in progress dies.
CUT = re.compile(r"RST_STREAM|Stream removed|Received http2 header with status: 50[234]")

pytestmark = pytest.mark.skipif(bool(fleet.missing()), reason=fleet.missing())


def write(path, number):
    with open(path.with_suffix(".tmp"), "w", encoding="utf-8") as f:
        f.write("n,name,lon,lat\n")
        f.writelines(f"{n},name {n * number % 977},{(n * 37 + number) % 3600 / 10 - 180},{n % 1700 / 10 - 85}\n" for n in range(3000 + number % 50))
    path.with_suffix(".tmp").rename(path)


def whole(client, name):
    return bits(client.do_get(ticket(name)).read_all())


def box(client, name):
    return bits(client.do_get(ticket(name, bbox=BOX)).read_all())


def query(client, name):
    return bits(sql.ask(client, f'SELECT n, name FROM "{name}" WHERE n % 7 = 3 ORDER BY n'))


def endpoints(client, name):
    """The way of an engine: the rows of each endpoint, here from where they were planned."""
    info = client.get_flight_info(flight.FlightDescriptor.for_path(name))
    return bits(pa.concat_tables([client.do_get(e.ticket).read_all() for e in info.endpoints]))


def describe(client, name):
    (result,) = client.do_action(flight.Action("describe", name.encode()))
    found = json.loads(result.body.to_pybytes())
    return found["rows"], found["bbox"], [c["name"] for c in found["columns"]]


READS = [whole, box, query, endpoints, describe]


class Load:
    """Clients that read until the end, each answer compared with that of one server."""

    def __init__(self, f, expected, seed):
        self.fleet, self.expected = f, expected
        self.names = []  # that may be read; the newest last
        self.failures, self.reads, self.retries = [], 0, collections.Counter()
        self._over, self._lock = threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(random.Random(f"{seed} {n}"),)) for n in range(READERS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join(timeout=120)
            if thread.is_alive():
                self.failures.append("a read hangs")

    def _run(self, choices):
        while not self._over.is_set() and not self.failures:
            names = self.names[-NEW:] if choices.random() < 0.6 else self.names
            self.read(choices.choice(READS), choices.choice(names), choices)

    def read(self, read, name, choices, replica=None, seconds=90):
        """One read with its retries, each at a replica or at the balancer."""
        deadline = time.monotonic() + seconds
        while True:
            balanced = replica is None and choices.random() < 0.3
            uri = self.fleet.balancer.uri if balanced else (replica or choices.choice(self.fleet.replicas)).uri
            try:
                with flight.connect(uri) as client:
                    found = read(client, name)
            except (flight.FlightError, pa.ArrowException, OSError) as e:
                expected = isinstance(e, flight.FlightUnavailableError) or PARTS.search(str(e)) or (balanced and CUT.search(str(e)))
                if not expected and not (read is query and LOST.search(str(e))):
                    self.failures.append(f"{read.__name__} of {name} at {uri}: {type(e).__name__}: {e}")
                    return
                if time.monotonic() > deadline:
                    self.failures.append(f"{read.__name__} of {name} at {uri} after {seconds} s of retries: {e}")
                    return
                with self._lock:
                    self.retries[re.sub(r"[\d.:]+", "#", f"{type(e).__name__} {str(e)[:120]}")] += 1
                time.sleep(0.02 + 0.2 * choices.random())
                continue
            with self._lock:
                self.reads += 1
            if found != self.expected[read.__name__, name]:
                self.failures.append(f"WRONG: {read.__name__} of {name} at {uri}: {found}, want {self.expected[read.__name__, name]}")
            return


def counts(f):
    """Parses, and parses without a lease because the store was away, of each running replica."""
    found = {}
    for replica in f.alive:
        for _ in range(3):
            try:
                stats = replica.action("stats")
                found[replica.id] = stats["parses"], stats["leases"]["unavailable"]
                break
            except (flight.FlightError, OSError):
                time.sleep(0.1)
    return found


@pytest.mark.parametrize("kills", [4, pytest.param(500, marks=pytest.mark.long)])
def test_kills(tmp_path_factory, kills):
    kills = int(os.environ.get("VIBEFLIGHT_KILLS", kills))
    seed = os.environ.get("VIBEFLIGHT_SEED") or random.randrange(10**9)
    choices = random.Random(f"{seed}")
    print(f"VIBEFLIGHT_SEED={seed}")
    folder = tmp_path_factory.mktemp("chaos")
    rounds = [[f"c{k:04d}-{i}.csv" for i in range(NEW)] for k in range(kills + 1)]
    for number, name in enumerate(n for names in rounds for n in names):
        write(folder / name, number)
    with Server(folder, *sql.FLAGS) as server:
        client = server.client()
        expected = {(read.__name__, name): read(client, name) for names in rounds for name in names for read in READS}
    with fleet.Fleet(folder, REPLICAS) as f:
        victims = [*f.replicas, *f.replicas, f.postgres, f.bouncer, f.balancer, *([f.bucket] if f.bucket else [])]
        load = Load(f, expected, seed)
        load.names = list(rounds[0])
        killed, extra, lost = {}, 0, 0
        with load:
            for name in rounds[0]:
                for replica in f.replicas:
                    load.read(whole, name, choices, replica)
            for number, names in enumerate(rounds[1:]):
                victim = choices.choice(victims)
                before = counts(f)
                load.names = [*load.names, *names]
                time.sleep(choices.uniform(0, 0.5))
                dead = {victim.id: counts(f).get(victim.id)} if isinstance(victim, fleet.Replica) else {}
                victim.kill()
                label = getattr(victim, "id", victim.name)
                killed[label] = killed.get(label, 0) + 1
                time.sleep(choices.uniform(0, 1.5))
                victim.start()
                for name in names:  # so that the files of this round are parsed
                    for replica in f.replicas:
                        load.read(whole, name, choices, replica)
                assert load.failures == [], f"round {number}, {label} was killed:\n" + "\n".join(load.failures[:5]) + f.logs()
                parses, alone = parsed(before, counts(f), dead)
                extra += max(parses - NEW, 0)
                # A death may leave tables nowhere: these files are parsed once more when they are read next, in this round or later.
                lost += NEW if dead or victim is f.bucket else 0
                assert parses <= NEW + lost + alone, f"round {number}, {label} was killed: {parses} parses of {NEW} files, {alone} without a lease\n{f.logs()}"
                lost -= max(parses - NEW - alone, 0)
        assert load.failures == [], load.failures[:5]
        # Each replica gives each table as one server does.
        for name in (n for names in rounds for n in names):
            load.read(whole, name, choices, choices.choice(f.replicas))
        assert load.failures == [], load.failures[:5]
        print("\n".join(f"{count:6} {reason}" for reason, count in load.retries.most_common(20)))
        print(f"{kills} kills ({', '.join(f'{k}: {v}' for k, v in sorted(killed.items()))}), "
              f"{load.reads} reads, {load.retries.total()} retries, 0 wrong; {extra} files parsed again")


def parsed(before, after, dead):
    """The parses between two counts, and those without a lease. A replica that died counts until its death, and from its start."""
    totals = [0, 0]
    for replica, now in after.items():
        for i in range(2):
            if replica in dead:
                last, first = dead[replica] or (0, 0), before.get(replica, (0, 0))
                totals[i] += now[i] + max(last[i] - first[i], 0)
            else:
                totals[i] += now[i] - before.get(replica, (0, 0))[i]
    return totals
