"""A dialect of SQLAlchemy 1.4 and 2: queries and reflection over Flight SQL, by the ADBC driver.

    engine = sqlalchemy.create_engine("vibeflight://127.0.0.1:8815")

An installed package registers the dialect; otherwise importing this module does. The address is vibeflight://USER:PASSWORD@HOST:PORT, whose port is 8815
unless given. These may follow, as ?NAME=VALUE&NAME=VALUE:

    tls           "on": connect by TLS
    tls_ca        a PEM file with the certificates to trust instead of the system's; turns TLS on
    tls_insecure  "on": accept any certificate; turns TLS on; only for tests on your own machine
    token         logs in with an API token or an access token, instead of user and password
    socket        the path of a Unix socket, instead of host and port

A schema is a folder, and main has the files that are in none. Geometries are WKB. The server answers queries only, so there are no transactions.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from sqlalchemy import exc, pool, text, types
from sqlalchemy.dialects import registry
from sqlalchemy.engine import URL, default
from sqlalchemy.sql import compiler

DEFAULT_PORT = 8815
OPTIONS = ("tls", "tls_ca", "tls_insecure", "token", "socket")
NOT_FOUND = 3  # ADBC_STATUS_NOT_FOUND


class Geometry(types.LargeBinary):
    """A column of geometries, whose values are WKB."""

    __visit_name__ = "GEOMETRY"


class TypeCompiler(compiler.GenericTypeCompiler):
    """Writes types as DuckDB calls them."""

    def visit_GEOMETRY(self, type_: Any, **_: Any) -> str:
        return "GEOMETRY"


class Compiler(compiler.SQLCompiler):
    """Writes queries as DuckDB reads them."""

    def limit_clause(self, select: Any, **kw: Any) -> str:
        """LIMIT and OFFSET, each only if there is one: DuckDB has no LIMIT -1."""
        parts = (("LIMIT", select._limit_clause), ("OFFSET", select._offset_clause))
        return "".join(f"\n {word} {self.process(clause, **kw)}" for word, clause in parts if clause is not None)


class Dialect(default.DefaultDialect):
    """What SQLAlchemy knows about a server."""

    name = "vibeflight"
    driver = "adbc"
    default_schema_name = "main"
    default_paramstyle = "qmark"
    statement_compiler = Compiler
    type_compiler = TypeCompiler
    type_compiler_cls = TypeCompiler

    supports_alter = False
    supports_comments = False
    supports_native_boolean = True
    supports_native_decimal = True
    supports_sane_rowcount = False
    supports_statement_cache = True
    div_is_floordiv = False

    @classmethod
    def import_dbapi(cls) -> Any:
        """The module of PEP 249, for SQLAlchemy 2."""
        import adbc_driver_flightsql.dbapi

        return adbc_driver_flightsql.dbapi

    @classmethod
    def dbapi(cls) -> Any:
        """The same for SQLAlchemy 1.4. An instance has the module itself under this name."""
        return cls.import_dbapi()

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        """A connection is closed once it is given back: an open one may end the process with an error."""
        closed: type[pool.Pool] = pool.NullPool
        return closed

    def create_connect_args(self, url: URL) -> tuple[list[str], dict[str, Any]]:
        uri, login = address(url)
        return [uri], {"db_kwargs": login, "autocommit": True}

    def initialize(self, connection: Any) -> None:
        """Asks the server nothing."""

    def do_begin(self, dbapi_connection: Any) -> None:
        """There are no transactions."""

    do_commit = do_rollback = do_begin

    def get_schema_names(self, connection: Any, **_: Any) -> list[str]:
        query = "SELECT schema_name FROM information_schema.schemata WHERE catalog_name = 'vibeflight' ORDER BY 1"
        return list(connection.execute(text(query)).scalars())

    def get_table_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        query = text("SELECT table_name FROM information_schema.tables WHERE table_schema = :schema ORDER BY 1")
        return list(connection.execute(query, {"schema": schema or self.default_schema_name}).scalars())

    def get_columns(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> list[dict[str, Any]]:
        """The columns of a table, which is called as in a query: by its file's name, or by its stem. The file is parsed if it has not been."""
        fields = self._fields(connection, table_name, schema)
        if fields is None:
            raise exc.NoSuchTableError(table_name)
        return [{"name": field.name, "type": type_of(field), "nullable": field.nullable, "default": None} for field in fields]

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> bool:
        return table_name in self.get_table_names(connection, schema) or self._fields(connection, table_name, schema) is not None

    def _fields(self, connection: Any, table_name: str, schema: str | None) -> pa.Schema | None:
        """The schema of a table's rows, as prepared query; None: no such table."""
        quote = self.identifier_preparer.quote_identifier
        name = ".".join(quote(part) for part in (schema, table_name) if part)
        with connection.connection.cursor() as cursor:
            try:
                schema_of_rows: pa.Schema = cursor.adbc_execute_schema(f"SELECT * FROM {name}")
                return schema_of_rows
            except self.import_dbapi().ProgrammingError as error:
                if error.status_code == NOT_FOUND:
                    return None
                raise

    def get_view_names(self, connection: Any, schema: str | None = None, **_: Any) -> list[str]:
        return []

    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> dict[str, Any]:
        return {"constrained_columns": [], "name": None}

    def get_foreign_keys(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> list[Any]:
        return []

    get_indexes = get_unique_constraints = get_check_constraints = get_foreign_keys

    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **_: Any) -> dict[str, Any]:
        return {"text": None}


def address(url: URL) -> tuple[str, dict[str, str]]:
    """Returns the URI of the ADBC driver for an address, and the driver's options."""
    unknown = sorted(set(url.query) - set(OPTIONS))
    if unknown:
        raise exc.ArgumentError(f"{unknown[0]}: no such option; the options are {', '.join(OPTIONS)}")
    query: Mapping[str, Any] = url.query
    login: dict[str, str] = {}
    if url.username is not None:
        login |= {"username": url.username, "password": str(url.password or "")}
    if "token" in query:
        login["adbc.flight.sql.authorization_header"] = f"Bearer {query['token']}"
    if "tls_ca" in query:
        login["adbc.flight.sql.client_option.tls_root_certs"] = pathlib.Path(query["tls_ca"]).read_text(encoding="ascii")
    if "tls_insecure" in query and on(query, "tls_insecure"):
        login["adbc.flight.sql.client_option.tls_skip_verify"] = "true"
    if "socket" in query:
        return f"grpc+unix://{query['socket']}", login
    tls = on(query, "tls") or on(query, "tls_insecure") or "tls_ca" in query
    host = url.host or "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    return f"grpc{'+tls' if tls else ''}://{host}:{url.port or DEFAULT_PORT}", login


def on(query: Mapping[str, Any], name: str) -> bool:
    """Whether an option is "on"."""
    value = query.get(name, "off")
    if value not in ("on", "off"):
        raise exc.ArgumentError(f"{name}: want on or off, have {value!r}")
    return bool(value == "on")


# The types of Arrow that have one of SQLAlchemy without arguments, in this order.
PLAIN: list[tuple[Callable[[pa.DataType], bool], Any]] = [
    (pa.types.is_boolean, types.Boolean),
    (pa.types.is_uint64, types.Numeric),
    (pa.types.is_int64, types.BigInteger),
    (pa.types.is_uint32, types.BigInteger),
    (lambda t: pa.types.is_int8(t) or pa.types.is_int16(t) or pa.types.is_uint8(t), types.SmallInteger),
    (pa.types.is_integer, types.Integer),
    (pa.types.is_floating, types.Float),
    (lambda t: pa.types.is_string(t) or pa.types.is_large_string(t), types.String),
    (lambda t: pa.types.is_binary(t) or pa.types.is_large_binary(t), types.LargeBinary),
    (pa.types.is_date, types.Date),
    (pa.types.is_time, types.Time),
]


def type_of(field: pa.Field[Any]) -> Any:
    """The type of a column. A struct, a map or an interval has none in SQLAlchemy; its values are those of Python."""
    t = field.type
    extension = (field.metadata or {}).get(b"ARROW:extension:name", b"").decode() or getattr(t, "extension_name", "")
    if extension.startswith("geoarrow."):
        return Geometry()
    for matches, sql_type in PLAIN:
        if matches(t):
            return sql_type()
    if pa.types.is_decimal(t):
        return types.Numeric(t.precision, t.scale)
    if pa.types.is_timestamp(t):
        return types.TIMESTAMP(timezone=t.tz is not None)
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return types.ARRAY(type_of(t.value_field))
    return types.NullType()


registry.register("vibeflight", __name__, "Dialect")
registry.register("vibeflight.adbc", __name__, "Dialect")
