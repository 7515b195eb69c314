"""Tables as HTML for notebooks: schema, rows, extent. It has no scripts, needs no network, and escapes all text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import pyarrow as pa

from .columns import is_geometry
from .info import Info
from .map import Box, drawn

MOST_COLUMNS = 60  # of a table that are listed
MOST_TABLES = 100  # of a server
DIGITS = 7  # of a bound of an extent
CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top"


class Summary(NamedTuple):
    """What is shown of a table.

    rows    None: not known
    crs     of extent
    extent  in units of crs; None: not known, or no position
    map     the extent in degrees of longitude and latitude; None: it can't be drawn
    asked   the box that selects the rows, in degrees; None: no box
    notes   sentences about it
    """

    title: str
    schema: pa.Schema
    rows: int | None = None
    crs: str | None = None
    extent: Box | None = None
    map: Box | None = None
    asked: Box | None = None
    notes: Sequence[str] = ()


def table_html(s: Summary) -> str:
    """The page of a table."""
    facts = [f"{s.rows:,} rows" if s.rows != 1 else "1 row"] if s.rows is not None else []
    facts.append(f"{len(s.schema)} columns" if len(s.schema) != 1 else "1 column")
    if s.crs is not None:
        facts.append(s.crs)
    if s.extent is not None:
        facts.append("extent " + ", ".join(f"{bound:.{DIGITS}g}" for bound in s.extent))
    fields = [(_cell(field.name), _cell(_type(field)), _cell("yes" if field.nullable else "no"), _cell(crs_of(field) or "")) for field in s.schema]
    more = [f"and {len(fields) - MOST_COLUMNS:,} more columns"] if len(fields) > MOST_COLUMNS else []
    columns = _rows(["column", "type", "nullable", "CRS"], fields[:MOST_COLUMNS])
    picture = drawn(s.map, s.asked) if s.map is not None else ""
    return _page(s.title, facts, columns, picture, [*more, *s.notes])


def tables_html(title: str, entries: Iterable[Info]) -> str:
    """The page of a server: its entries, which may be more than are listed."""
    listed: list[tuple[str, ...]] = []
    more = False
    for entry in entries:
        more = len(listed) == MOST_TABLES
        if more:
            break
        listed.append((_cell(entry.name), _cell(entry.format or ""), _cell("" if entry.rows is None else f"{entry.rows:,}")))
    facts = [f"more than {MOST_TABLES} tables" if more else "1 table" if len(listed) == 1 else f"{len(listed)} tables"]
    notes = ["more are listed by list(prefix=…)"] if more else [] if listed else ["there is no file that can be read"]
    return _page(title, facts, _rows(["name", "format", "rows"], listed), "", notes)


def failure_html(title: str, error: Exception) -> str:
    """The page of a table that can't be described."""
    return _page(title, [], f"<pre>{escape(type(error).__name__)}: {escape(str(error))}</pre>", "", ())


def crs_of(field: pa.Field[Any]) -> str | None:
    """The CRS of a geometry column, as AUTHORITY:CODE where it has one; else its name. None: none, or not a geometry."""
    if not is_geometry(field):
        return None
    if isinstance(field.type, pa.BaseExtensionType):
        text: Any = field.type.__arrow_ext_serialize__()  # type: ignore[attr-defined]
    else:
        text = (field.metadata or {}).get(b"ARROW:extension:metadata", b"")
    try:
        crs = json.loads(text or b"{}").get("crs")
    except (ValueError, AttributeError):
        return None
    if isinstance(crs, Mapping):
        code = crs.get("id")
        if isinstance(code, Mapping) and "authority" in code and "code" in code:
            return f"{code['authority']}:{code['code']}"
        return None if crs.get("name") is None else str(crs["name"])
    return None if crs is None else str(crs)


def _type(field: pa.Field[Any]) -> str:
    if isinstance(field.type, pa.BaseExtensionType):
        return field.type.extension_name
    name = (field.metadata or {}).get(b"ARROW:extension:name")
    return str(field.type) if name is None else name.decode(errors="replace")


def _cell(text: str) -> str:
    return f'<td style="{CELL}">{escape(text)}</td>'


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th style="{CELL}">{name}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _page(title: str, facts: Sequence[str], body: str, picture: str, notes: Sequence[str]) -> str:
    return (
        f'<div class="vibeflight"><div><b>{escape(title)}</b></div><div>{escape(" · ".join(facts))}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start">{body}{picture}</div>'
        f"{''.join(f'<div>{escape(note)}</div>' for note in notes)}</div>"
    )
