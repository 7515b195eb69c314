"""Statements that crash DuckDB, ignore its interrupt, use memory that it does not count, or request forbidden resources.

KNOWN has those that did so once. generated makes more: each function of DuckDB with deep, long, huge and ill-typed arguments.
"""
import random

import sql

# A stack overflow or corrupted memory in DuckDB 1.5.5.
CRASHES = [
    "SELECT json_structure(repeat('[', 2000000) || repeat(']', 2000000))",
    "SELECT json_merge_patch(repeat('{\"a\":', 200000) || '1' || repeat('}', 200000), '{\"a\":1}')",
    "SELECT json_contains(repeat('[', 200000) || repeat(']', 200000), '1')",
    "SELECT json_transform(repeat('[', 20000) || repeat(']', 20000), '\"JSON\"')",
    "SELECT from_json(repeat('[', 20000) || repeat(']', 20000), '[\"JSON\"]')",
]
SPATIAL_CRASHES = [
    "SELECT ST_GeomFromGeoJSON(repeat('{\"type\":\"GeometryCollection\",\"geometries\":[', 60000) || repeat(']}', 60000))",
    "SELECT ST_GeomFromHEXWKB(repeat('010700000001000000', 40) || '0101000000000000000000F03F000000000000F03F')",
]

# Work that continues after an interrupt.
ENDLESS = [
    "SELECT levenshtein(repeat('ab', 400000), repeat('ba', 400000))",
    "SELECT len(list_sort(list_transform(range(30000000), lambda x: hash(x))))",
]

# Memory beyond memory_limit.
HUGE = [
    "SELECT length(lpad('a', 2000000000, 'b'))",
    "SELECT length(repeat('abcdefgh', 400000000))",
    "SELECT len(range(1000000000))",
    "SELECT len(list_resize([1], 1000000000))",
    "SELECT median(i) FROM range(100000000) r(i)",
    "SELECT mode(hash(i)) FROM range(100000000) r(i)",
]

# Files, settings and functions that are not for clients.
DENIED = [
    "SELECT json_serialize_plan('CREATE VIEW v AS SELECT * FROM read_csv(''/etc/passwd'')')",
    "SELECT current_setting('temp_directory')",
    "SELECT value FROM duckdb_settings() WHERE name = 'temp_directory' AND value <> ''",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/**')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT pg_sleep(60)",
]


def known():
    """All statements that once did harm."""
    return CRASHES + (SPATIAL_CRASHES if sql.SPATIAL else []) + ENDLESS + HUGE


LEVELS = (50, 5_000, 500_000)
SIZES = (1_000, 1_000_000, 300_000_000)

FUNCTIONS = """SELECT DISTINCT function_name AS name, len(parameter_types) AS n FROM duckdb_functions()
WHERE function_type IN ('scalar', 'aggregate') AND regexp_full_match(function_name, '[a-z_][a-z0-9_]*') ORDER BY ALL"""


def argument(rnd):
    """An argument that a function may not expect."""
    level, size = rnd.choice(LEVELS), rnd.choice(SIZES)
    return rnd.choice([
        f"repeat('[', {level}) || repeat(']', {level})",
        f"repeat('{{\"a\":', {level}) || '1' || repeat('}}', {level})",
        f"(repeat('[', {level}) || repeat(']', {level}))::JSON",
        f"repeat('010700000001000000', {level}) || '0101000000000000000000F03F000000000000F03F'",
        f"unhex(repeat('010700000001000000', {level}))",
        f"repeat('GEOMETRYCOLLECTION(', {level}) || 'POINT(1 2)' || repeat(')', {level})",
        f"repeat('ab', {size})", f"range({size})", f"{size}", f"-{size}", "9223372036854775807", "-1", "0", "NULL", "''", "'NaN'::DOUBLE",
        "[1, NULL]", "{'a': [1]}", "MAP {1: 2}", "DATE 'infinity'", "INTERVAL 290000 YEARS", "true", "'\\xFF'::BLOB", "'%s%n'", "'(a+)+$'",
    ])


def generated(functions, count, seed):
    """count statements of the functions, pairs of a name and a number of parameters."""
    rnd = random.Random(seed)
    for i in range(count):
        name, n = functions[i % len(functions)] if count >= len(functions) else rnd.choice(functions)
        arguments = ", ".join(argument(rnd) for _ in range(n or rnd.randint(1, 3)))
        yield f"SELECT {name}({arguments})" + rnd.choice(["", "", " FROM p", " FROM range(1000)"])


FILE_FUNCTIONS = ["read_text", "read_blob", "read_csv", "read_csv_auto", "sniff_csv", "read_json", "read_json_auto", "read_ndjson", "read_json_objects",
                  "parquet_scan", "read_parquet", "parquet_metadata", "parquet_schema", "glob", "st_read", "st_read_meta", "sqlite_scan", "query_table"]
SETTINGS = ["temp_directory", "home_directory", "extension_directory", "allowed_directories", "allowed_paths", "secret_directory", "custom_extension_repository"]


def reaching(paths, count, seed):
    """count statements that request files of the host or settings with paths, or that clients may not send."""
    rnd = random.Random(seed)
    for _ in range(count):
        path = rnd.choice(paths)
        path = rnd.choice([path, path + "*", "file://" + path, path.replace("/", "//"), path + "/..", path + "\\0", f"/proc/self/root{path}"])
        function = rnd.choice(FILE_FUNCTIONS)
        select = rnd.choice([
            f"SELECT * FROM {function}('{path}')", f"SELECT * FROM '{path}'", f"SELECT * FROM {function}(['{path}'])",
            f"SELECT (SELECT t FROM {function}('{path}') r(t) LIMIT 1)", f"SELECT current_setting('{rnd.choice(SETTINGS)}')",
            f"SELECT value FROM duckdb_settings() WHERE name = '{rnd.choice(SETTINGS)}'", f"SELECT getenv('{rnd.choice(['HOME', 'PATH'])}')",
            f"SELECT ST_AsText(ST_Transform(ST_Point(1, 2), '+init={path}:1', 'EPSG:4326'))",
            f"SELECT ST_AsText(ST_Transform(ST_Point(1, 2), '+proj=hgridshift +grids={path}', 'EPSG:4326'))",
        ])
        quoted = select.replace("'", "''")
        yield rnd.choice([
            select, select, f"EXPLAIN {select}", f"EXPLAIN ANALYZE {select}", f"SELECT * FROM query('{quoted}')", f"SELECT json_serialize_plan('{quoted}')",
            f"SELECT json_serialize_plan('CREATE VIEW v AS {quoted}')", f"SELECT json_serialize_sql('{quoted}')", f"WITH a AS ({select}) SELECT * FROM a",
            f"CREATE VIEW v AS {select}", f"COPY ({select}) TO '{path}'", f"EXPORT DATABASE '{path}'", f"ATTACH '{path}' AS a", f"LOAD '{path}'",
            f"INSTALL spatial FROM '{path}'", f"SET temp_directory = '{path}'", f"PRAGMA database_list", "SELECT path FROM duckdb_databases()",
        ])
