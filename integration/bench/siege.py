"""Measures what other clients notice of an attack:   siege.py [--statements N] [--queries N] [--attackers N] [--seed N]

Clients send statements that crash DuckDB, go on after an interrupt or take memory, each with a deadline, while another client asks an
ordinary question again and again. Printed are the times of the ordinary queries without and with the attack, the errors that they got,
how long a statement went on after its deadline, and the highest anonymous memory of the server and of its workers.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "attack")]
import sql  # noqa: E402
import statements  # noqa: E402
from attacker import DEADLINE, ORDINARY, Memory, attack, write_points  # noqa: E402
from serving import Server  # noqa: E402

SQL_MEMORY, MEMORY = 256 << 20, 512 << 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--statements", type=int, default=500)
    parser.add_argument("--queries", type=int, default=10_000, help="ordinary ones during the attack, at least")
    parser.add_argument("--attackers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--ask", help=argparse.SUPPRESS)  # the process of the other client: the address of the server
    options = parser.parse_args()
    if options.ask:
        return ask_on(options.ask, options.queries)
    with tempfile.TemporaryDirectory() as folder:
        write_points(pathlib.Path(folder) / "p.geojson")
        with Server(folder, "--sql-memory", str(SQL_MEMORY), "--memory", str(MEMORY), *sql.FLAGS) as server:
            siege(server, options)


def siege(server, options):
    client = server.client()
    functions = [(f["name"], f["n"]) for f in sql.ask(client, statements.FUNCTIONS).to_pylist()]
    queries = statements.known() + list(statements.generated(functions, options.statements, options.seed))
    idle = others(server, options.queries // 5).communicate("end\n")[0]
    overruns, ends = [], {}
    turns = iter(queries)
    lock = threading.Lock()

    def attack_on():
        mine = server.client()
        while True:
            with lock:
                query = next(turns, None)
            if query is None:
                return
            began = time.monotonic()
            answer = attack(mine, query)
            took = time.monotonic() - began
            with lock:
                overruns.append((took - DEADLINE, query))
                kind = type(answer).__name__
                ends[kind] = ends.get(kind, 0) + 1

    asking = others(server, options.queries)
    with Memory(server) as memory:
        threads = [threading.Thread(target=attack_on) for _ in range(options.attackers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    busy = asking.communicate("end\n")[0]
    if server.process.poll() is not None:
        sys.exit(f"the server has ended:\n{server.log()[-2000:]}")
    idle, busy = json.loads(idle), json.loads(busy)
    late, slowest = max(overruns)
    print(f"{len(queries):,} statements of {len(functions)} functions, {options.attackers} at a time, deadline {DEADLINE} s; {ends}\n")
    print("| | without | with the attack | ratio |\n| --- | --: | --: | --: |")
    print(f"| ordinary queries | {len(idle['times']):,} | {len(busy['times']):,} | |")
    print(f"| errors | {len(idle['errors'])} | {len(busy['errors'])} | |")
    for name, at in (("median, ms", 50), ("p99, ms", 99)):
        a, b = (statistics.quantiles(run["times"], n=100)[at - 1] * 1e3 for run in (idle, busy))
        print(f"| {name} | {a:.1f} | {b:.1f} | {b / a:.2f} |")
    print(f"| a statement's time beyond its deadline, s | | {max(0, late):.2f} | |")
    print(f"| anonymous memory of the server, MiB, of {MEMORY >> 20} | | {memory.server >> 20} | |")
    print(f"| of its workers, MiB, of {SQL_MEMORY >> 20} | | {memory.workers >> 20} | |")
    print(f"\nslowest: {slowest[:200]}")
    for error in busy["errors"][:5]:
        print(error)


def others(server, queries):
    """Starts the other client, which ends when it has asked its queries and its input ends."""
    command = [sys.executable, __file__, "--ask", server.uri, "--queries", str(queries)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask_on(uri, queries):
    import pyarrow.flight as flight

    client = flight.connect(uri)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    times, errors = [], []
    while len(times) + len(errors) < queries or not ended.is_set():
        began = time.perf_counter()
        try:
            sql.ask(client, ORDINARY)
            times.append(time.perf_counter() - began)
        except Exception as error:  # noqa: BLE001: each one is a figure
            errors.append(repr(error))
        time.sleep(0.002)
    print(json.dumps({"times": times, "errors": errors}))
    return None


if __name__ == "__main__":
    main()
