"""The texts that docs/how-to/troubleshooting.md quotes are those of the program: in the code, and of the commands that give them here."""
import json
import os
import re
import socket
import subprocess

import pyarrow as pa
import pyarrow.flight as flight
import pytest
import sql
from serving import BINARY, ROOT, Server

PAGE = (ROOT / "docs/how-to/troubleshooting.md").read_text(encoding="utf-8")
QUOTED = dict(re.findall(r"^### ([^\n]*)\n\n```text\n(.*?)\n```", PAGE, re.M | re.S))
QUOTED |= {"a privilege": re.search(r"^you need the privilege .*", PAGE, re.M)[0]}
# Of DuckDB, and texts that are put together from parts: the commands below give them.
COMPOSED = {"Two reference systems do not meet", "There is no GPU", "It is malformed"}
OF_THE_SYSTEM = ("no such file or directory", "address already in use", ": stat ", ": listen tcp ", ": bind: ")


@pytest.fixture(scope="module")
def code():
    """All sources, without the breaks of texts in several lines."""
    listed = subprocess.run(["git", "ls-files", "-z", "*.go", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    sources = [name for name in listed if name and "_test." not in name and not name.startswith("integration/")]
    text = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in sources if (ROOT / name).is_file())
    return re.sub(r'"\s*\+\s*"', "", text).replace('\\"', '"')


@pytest.mark.parametrize("heading", [heading for heading in QUOTED if heading not in COMPOSED])
def test_texts_are_in_the_code(heading, code):
    text = QUOTED[heading]
    for of_the_system in OF_THE_SYSTEM:
        text = text.replace(of_the_system, "…")
    parts = [part.strip(' ":;') for part in re.split(r'…|\n|"…"', text)]
    missing = [part for part in parts if len(part) > 1 and part not in code]
    assert not missing and any(len(part) > 5 for part in parts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("wrong")
    feature = '{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"Point","coordinates":[%s]}}'
    (at / "good.geojson").write_text(feature % "9,50")
    (at / "broken.geojson").write_text(feature % "9")
    (at / "none.csv").write_text("a,wkt\n1,POINT (1 2)\n")
    (at / "utm.csv").write_text("a,wkt\n1,SRID=25832;POINT (500000 5500000)\n")
    (at / "deep.geojson").write_text('{"type":"Feature","properties":{"a":%s},"geometry":null}' % ("[" * 3000 + "]" * 3000))
    return at


def said(*arguments, **environment):
    """What a command that fails prints at the end."""
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
    assert done.returncode != 0, done.stdout
    return [line for line in done.stderr.splitlines() if line.startswith("vibeflight: ")][-1]


@pytest.fixture(scope="module")
def address(folder):
    with Server(folder) as server:
        yield server


def matches(heading, text):
    pattern = ".*".join(re.escape(part) for part in QUOTED[heading].split("…"))
    assert re.search(pattern, text), f"{heading}: the page says\n{QUOTED[heading]}\nand the program\n{text}"


@pytest.mark.parametrize("heading, arguments", [
    ("The folder is not there", ["serve", "--data", "nowhere"]),
    ("Others could reach the server", ["serve", "--data", "{folder}", "--listen", "0.0.0.0:0"]),
    ("There is no GPU", ["serve", "--data", "{folder}", "--engine", "cuda"]),
    ("No server answers", ["ls", "--server", "grpc://127.0.0.1:1"]),
    ("One side speaks TLS, the other does not", ["ls", "--server", "grpc+tls://{location}"]),
    ("The name is not found", ["get", "god.geojson", "--server", "{uri}"]),
    ("A column is not found", ["get", "good.geojson", "--columns", "nme", "--server", "{uri}"]),
    ("It is malformed", ["get", "broken.geojson", "--server", "{uri}"]),
    ("A limit is in the way", ["get", "deep.geojson", "--server", "{uri}"]),
    ("Only queries are allowed", ["sql", "DELETE FROM good", "--server", "{uri}"]),
    ("The table has no reference system", ["get", "none.csv", "--crs", "EPSG:3857", "--server", "{uri}"]),
    ("The server cannot move the coordinates", ["get", "good.geojson", "--crs", "EPSG:3035", "--server", "{uri}"]),
])
def test_commands_say_so(heading, arguments, folder, address):
    if heading == "There is no GPU" and "no GPU" not in subprocess.run([BINARY, "doctor"], capture_output=True, text=True).stdout:
        pytest.skip("there is a GPU")
    names = {"folder": folder, "uri": address.uri, "location": address.location}
    matches(heading, said(*(argument.format(**names) for argument in arguments)))


def test_a_port_in_use(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        matches("The port is in use", said("serve", "--data", folder, "--listen", f"127.0.0.1:{taken.getsockname()[1]}"))


def test_a_file_that_changed(folder, address):
    ticket = flight.Ticket(json.dumps({"name": "good.geojson", "version": "0" * 32}))
    with pytest.raises(pa.ArrowInvalid) as error:
        address.client().do_get(ticket).read_all()
    matches("The file changed", str(error.value))


@sql.needs_spatial
def test_two_reference_systems(folder):
    with Server(folder, *sql.FLAGS) as server:
        query = "SELECT ST_Intersects(g.geometry, u.geometry) FROM good g, utm u"
        matches("Two reference systems do not meet", said("sql", query, "--server", server.uri))
