"""Measures SQL, and DuckDB over a table of its own: sql.py [--rounds N] [--features N]

The server answers over Flight SQL from the parsed table; DuckDB, of the version that the server holds, answers in this process from a table
that was made of the same rows beforehand. Both give Arrow tables, which are compared row by row before the rounds. They take turns, and the medians count.
"""
import argparse
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import sql  # noqa: E402
from serving import ROOT, Server, vibeflight  # noqa: E402

sys.path.insert(0, str(sql.FETCHED / "python"))
import duckdb  # noqa: E402

QUERIES = {
    "sum": "SELECT sum(height) FROM t",
    "filter with projection": "SELECT rel, height FROM t WHERE height > 20 AND rel % 10 = 3",
    "range": "SELECT rel, height FROM t WHERE height BETWEEN 10 AND 11",
    "group": "SELECT rel % 100 AS g, count(*), max(height) FROM t GROUP BY g ORDER BY g",
    "sum of areas": "SELECT sum(ST_Area(geometry)) FROM t",
    "attributes to the client": "SELECT rel, height, name FROM t",
    "everything to the client": "SELECT * FROM t",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--features", type=int, default=2_000_000)
    options = parser.parse_args()
    if not sql.SPATIAL:
        sys.exit("DuckDB's spatial extension is not here: make spatial fetches it")
    folder = ROOT / ".bench" / "sql"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"buildings-{options.features}.geojson"
    if not path.exists():
        vibeflight("gen", "buildings", "--features", options.features, "-o", path)
    with Server(folder, *sql.FLAGS) as server:
        client = server.client()
        own = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
        own.execute(f"LOAD '{sql.FETCHED / 'spatial.duckdb_extension'}'")
        rows = sql.ask(client, f'SELECT * FROM "{path.name}"')
        server.wait_until_saved(seconds=120)  # parsed tables are saved to the cache in the background
        own.execute("CREATE TABLE t AS SELECT * FROM rows")
        print(f"{rows.num_rows:,} rows, {rows.nbytes / 1e6:.0f} MB; DuckDB {duckdb.__version__}; {options.rounds} rounds; medians, in milliseconds\n")
        print("| query | over Flight SQL | DuckDB's own table | ratio |\n| --- | --: | --: | --: |")
        for name, query in QUERIES.items():
            ours, theirs = [], []
            for number in range(options.rounds + 1):
                a = timed(ours, lambda: sql.reader(client, query.replace("FROM t", f'FROM "{path.name}"')).read_all())
                b = timed(theirs, lambda: own.execute(query).to_arrow_table())
                if number == 0:
                    compare(name, own, a, b)
            a, b = statistics.median(ours[1:]), statistics.median(theirs[1:])  # the first round makes what is kept
            print(f"| {name} | {a * 1e3:.1f} | {b * 1e3:.1f} | {a / b:.2f} |", flush=True)


def timed(times, run):
    start = time.perf_counter()
    table = run()
    times.append(time.perf_counter() - start)
    return table


def compare(name, own, ours, theirs):
    """Equal rows in any order, except for the last bits of sums of floats, which depend on the order of the additions."""
    if ours.num_rows == theirs.num_rows == 1:
        (a,), (b,) = (list(table.to_pylist()[0].values()) for table in (ours, theirs))
        if abs(a - b) > 1e-9 * abs(b):
            sys.exit(f"{name}: {a}, and {b} of DuckDB")
        return
    (other,) = own.execute("SELECT count(*) FROM (FROM ours EXCEPT ALL FROM theirs)").fetchone()
    if other or ours.num_rows != theirs.num_rows or not ours.num_rows:
        sys.exit(f"{name}: {ours.num_rows} rows, and {theirs.num_rows} of DuckDB, {other} of ours are not among them")


if __name__ == "__main__":
    main()
