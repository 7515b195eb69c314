"""The programs of docs/how-to/clients: each connects, reads a table by a ticket with a box and columns, runs a query, and prints the same four lines.

The program that runs is the block of the page. Blocks of Python that are not such programs run too. With TLS and a login, a program runs with the lines
that docs/how-to/clients/tls-and-login.md changes.
"""
import difflib
import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest
import sql
from logins import Files, sign_certificates
from serving import ROOT, Server, free_port

PAGES = ROOT / "docs" / "how-to" / "clients"
CLIENTS = ROOT / "integration" / "clients"
NODE = CLIENTS / "javascript"
JARS = ROOT / ".java-flight"
ANSWER = "New Caledonia 279070\nNew Zealand 4510327\nAfrica 51\nAsia 47\n"
ENVIRONMENT = {**os.environ, "CGO_ENABLED": "0", "PYTHONPATH": str(ROOT / "clients" / "python" / "src")}  # as before conftest.py moves the cache folder: Go's own stays
CARGO = shutil.which("cargo") or shutil.which("cargo", path=os.path.expanduser("~/.cargo/bin"))

# The sections whose last block of Python prints the answer.
PROGRAMS = {
    ("python.md", "Our package"), ("python.md", "pyarrow"), ("python.md", "geoarrow-pyarrow"), ("python.md", "polars-st"), ("python.md", "lonboard"),
    ("python.md", "SedonaDB"), ("python.md", "Ibis"), ("sqlalchemy.md", "SQLAlchemy"), ("gdal.md", "pyogrio"),
}
ELSEWHERE = {("sqlalchemy.md", "dbt")}  # test_dbt.py runs it


def sections(page):
    """The text below each heading of a page, up to the next heading."""
    title, found, fenced = "", {}, False
    for line in (PAGES / page).read_text(encoding="utf-8").splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.match(r"#+ (.*)", line)):
            title = heading[1]
        found[title] = found.get(title, "") + line
    return found


def blocks(page, heading, language):
    return re.findall(rf"^```{language}\n(.*?)^```", sections(page)[heading], re.M | re.S)


def program(page, heading, language):
    return blocks(page, heading, language)[-1]


PYTHON = [(page.name, heading, number) for page in sorted(PAGES.glob("*.md")) for heading in sections(page.name)
          if page.name != "tls-and-login.md" and (page.name, heading) not in ELSEWHERE for number in range(len(blocks(page.name, heading, "python")))]


@pytest.fixture(scope="module")
def places(data):
    """A server, as the addresses that pages write and those that it has."""
    web = f"127.0.0.1:{free_port()}"
    with Server(data, "--http", web, *sql.FLAGS) as server:
        yield addresses(server, web)


@pytest.fixture(scope="module")
def locked(data, tmp_path_factory):
    """The same of a server with TLS and logins, with the certificates to trust and a token."""
    folder = tmp_path_factory.mktemp("login")
    sign_certificates(folder)  # rustls wants a certificate that another has signed
    files = Files(folder)
    web = f"127.0.0.1:{free_port()}"
    with Server(data, "--http", web, *files.flags, *sql.FLAGS, tls=(folder / "server.pem", folder / "server.key")) as server:
        yield addresses(server, web) | {"ca.pem": str(folder / "ca.pem"), "TOKEN\"": f"{files.token}\""}


def addresses(server, web):
    host, port = server.location.split(":")
    return {"127.0.0.1:8815": server.location, '"127.0.0.1", 8815': f'"{host}", {port}', "127.0.0.1:8080": web}


def placed(text, places):
    for written, real in places.items():
        text = text.replace(written, real)
    return text


def changed(text, heading):
    """A program with the lines that the page of TLS and logins changes."""
    (change,) = blocks("tls-and-login.md", heading, "diff")
    for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", change, re.M):
        old, new = ("\n".join(line[1:] for line in part.splitlines()) for part in (old, new))
        assert text.count(old) == 1, f"{old}\nis {text.count(old)} times in\n{text}"
        text = text.replace(old, new)
    return text


def run(*command, folder, environment=ENVIRONMENT):
    """What a command prints."""
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


def same(printed):
    """Fails with the difference between what was printed and the answer."""
    assert printed == ANSWER, "\n".join(difflib.unified_diff(ANSWER.splitlines(), printed.splitlines(), "want", "got", lineterm=""))


def run_python(block, folder):
    missing = sorted({name for name in re.findall(r"^(?:import|from) (\w+)", block, re.M) if name != "vibeflight" and importlib.util.find_spec(name) is None})
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed here: requirements.lock has it")
    (folder / "program.py").write_text(block, encoding="utf-8")
    return run(sys.executable, "program.py", folder=folder)


@pytest.mark.parametrize("page, heading, number", PYTHON)
def test_python(places, tmp_path, page, heading, number):
    for vrt in blocks(page, next(iter(sections(page))), "xml"):
        (tmp_path / "countries.vrt").write_text(placed(vrt, places), encoding="utf-8")
    printed = run_python(placed(blocks(page, heading, "python")[number], places), tmp_path)
    if (page, heading) in PROGRAMS and number == len(blocks(page, heading, "python")) - 1:
        same(printed)


def test_programs_are_there():
    assert {(page, heading) for page, heading, _ in PYTHON} >= PROGRAMS


def test_python_with_tls_and_login(locked, tmp_path):
    same(run_python(placed(changed(program("python.md", "Our package", "python"), "Python"), locked), tmp_path))


def test_pyarrow_and_adbc_with_tls_and_login(locked, tmp_path):
    block = program("tls-and-login.md", "Python", "python")
    assert run_python(placed(block, locked), tmp_path) == "177\n(177,)\n"


def go(text, folder):
    (folder / "main.go").write_text(text, encoding="utf-8")
    return run("go", "run", folder / "main.go", folder=ROOT)


needs_go = pytest.mark.skipif(not shutil.which("go"), reason="there is no go here")


@needs_go
def test_go(places, tmp_path):
    same(go(placed(program("go.md", "Go", "go"), places), tmp_path))


@needs_go
def test_go_with_tls_and_login(locked, tmp_path):
    same(go(placed(changed(program("go.md", "Go", "go"), "Go"), locked), tmp_path))


def java(text, folder):
    (folder / "Countries.java").write_text(text, encoding="utf-8")
    return run("java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", f"{JARS}/*", "Countries.java", folder=folder)


def needs_java(test):
    test = pytest.mark.skipif(not (JARS / ".installed").exists(), reason="Arrow's Flight client for Java is not here: make java fetches it, with mvn")(test)
    return pytest.mark.skipif(not shutil.which("java"), reason="there is no java here")(test)


@needs_java
def test_java(places, tmp_path):
    same(java(placed(program("java.md", "Java", "java"), places), tmp_path))


@needs_java
def test_java_with_tls_and_login(locked, tmp_path):
    same(java(placed(changed(program("java.md", "Java", "java"), "Java"), locked), tmp_path))


def javascript(text, folder, **environment):
    """Runs a program of Node in a folder with the packages of integration/clients/javascript."""
    (folder / "node_modules").symlink_to(NODE / "node_modules")
    (folder / "countries.mjs").write_text(text, encoding="utf-8")
    return run("node", "--preserve-symlinks", "--preserve-symlinks-main", "countries.mjs", folder=folder, environment=ENVIRONMENT | environment)


def needs_node(test):
    test = pytest.mark.skipif(not (NODE / "node_modules").exists(), reason="npm ci in integration/clients/javascript installs the packages")(test)
    return pytest.mark.skipif(not shutil.which("node"), reason="there is no node here")(test)


@needs_node
def test_javascript(places, tmp_path):
    same(javascript(placed(program("javascript.md", "JavaScript", "js"), places), tmp_path))


@needs_node
def test_javascript_with_tls_and_login(locked, tmp_path):
    text = changed(program("javascript.md", "JavaScript", "js"), "JavaScript")
    same(javascript(placed(text, locked), tmp_path, NODE_EXTRA_CA_CERTS=locked["ca.pem"]))


def rust(text, folder):
    """Builds a program of Rust into build/clients-rust, with the crates of Cargo.lock, and runs it."""
    shutil.copy(CLIENTS / "rust" / "Cargo.toml", folder)
    shutil.copy(CLIENTS / "rust" / "Cargo.lock", folder)
    (folder / "src").mkdir()
    (folder / "src" / "main.rs").write_text(text, encoding="utf-8")
    return run(CARGO, "run", "--quiet", "--locked", "--target-dir", ROOT / "build" / "clients-rust", folder=folder)


needs_cargo = pytest.mark.skipif(not CARGO, reason="there is no cargo here")


@pytest.mark.long
@needs_cargo
def test_rust(places, tmp_path):
    same(rust(placed(program("rust.md", "Rust", "rust"), places), tmp_path))


@pytest.mark.long
@needs_cargo
def test_rust_with_tls_and_login(locked, tmp_path):
    same(rust(placed(changed(program("rust.md", "Rust", "rust"), "Rust"), locked), tmp_path))


@pytest.mark.skipif(not shutil.which("Rscript"), reason="there is no R here")
def test_r(places, tmp_path):
    (tmp_path / "countries.R").write_text(placed(program("r.md", "R", "r"), places), encoding="utf-8")
    same(run("Rscript", "countries.R", folder=tmp_path))


@pytest.mark.skipif(not shutil.which("ogrinfo"), reason="there is no ogrinfo here")
def test_ogrinfo(places, tmp_path):
    if "HAS_ADBC_DRIVER_MANAGER" not in run("ogrinfo", "--format", "ADBC", folder=tmp_path):
        pytest.skip("GDAL was built without ADBC's driver manager here")
    (vrt,) = blocks("gdal.md", "GDAL", "xml")
    (tmp_path / "countries.vrt").write_text(placed(vrt, places), encoding="utf-8")
    printed = run("ogrinfo", "-q", "countries.vrt", "countries", "-spat", 165, -47, 169, -20, folder=tmp_path)
    assert re.findall(r"name \(String\) = (.*)", printed) == ["New Caledonia", "New Zealand"]
