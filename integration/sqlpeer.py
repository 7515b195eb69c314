"""DuckDB itself, for test_sql_same.py: answers queries over Parquet files, in a process whose duckdb module is of the version that vibeflight holds.

Reads one pickle from stdin, (path of the spatial extension, {table: (path, {column: expression})}, [query]), and writes one to stdout: (version, [IPC stream, or error as text]).
"""
import pickle
import sys

import duckdb
import pyarrow as pa


def main():
    extension, tables, queries = pickle.load(sys.stdin.buffer)
    db = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    db.execute(f"LOAD '{extension}'; SET TimeZone = 'UTC'")
    for name, (path, expressions) in tables.items():
        replaced = ", ".join(f"{expression} AS {column}" for column, expression in expressions.items())
        db.execute(f"CREATE VIEW {name} AS SELECT *{f' REPLACE ({replaced})' if replaced else ''} FROM '{path}'")
    answers = []
    for query in queries:
        try:
            answers.append(stream(db.execute(query).to_arrow_table()))
        except duckdb.Error as e:
            answers.append(str(e))
    pickle.dump((duckdb.__version__, answers), sys.stdout.buffer)


def stream(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


if __name__ == "__main__":
    main()
