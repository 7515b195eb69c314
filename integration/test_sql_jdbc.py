"""The Flight SQL JDBC driver and SchemaCrawler, which jdbc/Probe.java drives: every metadata getter, listings, prepared statements, a crawl."""
import shutil
import subprocess

import pytest
from serving import ROOT

JARS = ROOT / ".java"

pytestmark = [
    pytest.mark.skipif(not shutil.which("java"), reason="there is no java here"),
    pytest.mark.skipif(not (JARS / ".installed").exists(), reason="the JDBC driver is not here: make java fetches it, with mvn"),
]


@pytest.fixture(scope="module")
def probed(server):
    """What Probe.java found: a text for each check, or an AssertionError with the reason."""
    done = subprocess.run(
        ["java", "-Duser.timezone=UTC", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", f"{JARS}/*", ROOT / "integration" / "jdbc" / "Probe.java", server.location],
        capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[-1:] == ["end"], done.stdout[-1000:] + done.stderr[-3000:]
    return {name: (verdict == "ok", text) for verdict, name, *rest in (line.split(" ", 2) for line in lines[:-1]) for text in [" ".join(rest)]}


def test_every_check_passes(probed):
    assert {name: text for name, (ok, text) in probed.items() if not ok} == {}


def test_every_getter_answers(probed):
    getters = [name for name in probed if name.startswith("getter.")]
    assert len(getters) >= 136


@pytest.mark.parametrize("name, want", [
    ("getter.getDatabaseProductName", "vibeflight"), ("getter.isReadOnly", "true"), ("getter.getIdentifierQuoteString", '"'),
    ("getter.getCatalogs", "1 rows"), ("getter.getTableTypes", "1 rows"),
    ("tables.of.schema", "[countries.geojson]"), ("tables.by.pattern", "[countries.geojson]"), ("tables.of.no.type", "[]"), ("schemas", "[world]"),
    ("columns", "[pop_est, continent, name, iso_a3, gdp_md_est, geometry]"), ("columns.types", "[INTEGER, VARCHAR, VARCHAR, VARCHAR, DOUBLE, GEOMETRY]"),
    ("primary.keys", "0"), ("imported.keys", "0"), ("exported.keys", "0"), ("cross.reference", "0"),
    ("login", "1"), ("select.1", "1"), ("count", "177"), ("sum", "7383089462"), ("text", "China"), ("null", "null"), ("double", "0.1"),
    ("decimal", "12345678901234567890.5"), ("date", "2020-02-29"), ("boolean", "true"), ("list", "[1,2,3]"), ("geometry", "1"),
    ("result.metadata", "[name:VARCHAR, pop_est:INTEGER, geometry:VARBINARY, x:DOUBLE]"),
    ("all.rows", "300000"), ("max.rows", "7"), ("two.at.once", "2"), ("update.is.refused", "refused"),
    ("prepared.int", "13"), ("prepared.long", "2"), ("prepared.string", "51"), ("prepared.double", "24"), ("prepared.null", "0"),
    ("prepared.cast", "42"), ("prepared.two", "3"), ("prepared.again", "[51, 47, 0]"), ("prepared.metadata", "name 2"),
    ("prepared.timestamp", "1"), ("prepared.timestamp.zone", "1"), ("prepared.time", "0"), ("prepared.date", "1"), ("prepared.timestamp.value", "1709211600000"),
    ("zone.timestamp", "2024-02-29 12:34:56.0"), ("zone.object", "not implemented"), ("zone.cast", "2024-02-29 12:34:56.0"),
])
def test_check(probed, name, want):
    assert probed[name] == (True, want)


def test_mistakes_are_explained(probed):
    assert 'Referenced column "nam" not found' in probed["mistake"][1]


def test_schemacrawler_reads_the_catalog(probed):
    """Every table that a file of the folder is, but for those that can't be parsed, which have no columns."""
    tables, _, columns, _ = probed["crawl"][1].split()
    assert int(tables) > 10 and int(columns) > int(tables)
