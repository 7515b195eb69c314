"""The tutorial's and the README's blocks, pasted one after another into a shell and a Python from a clean folder, give what they show.

The folder is a copy of the tree without what git ignores. So that nothing is built a second time, three things are reused: bin/vibeflight, and
in .venv, which is a new environment, the packages of ours. `make build` therefore compiles nothing (GO=true), and `make sample` finds its
environment up to date. All else is done as the page says, with the text of the page; only the port differs where 8815 is in use.
"""
import doctest
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig

import pytest
from serving import BINARY, ROOT, free_port

PORT = 8815
CLONE = "git clone https://github.com/vibeflight/vibeflight\ncd vibeflight\n"  # what the copy is in place of
PYTHON = ".venv/bin/python\n"  # a block that ends so begins a session, which the blocks of Python that follow belong to
# A reader who pastes one block after another gives a server time to start.
WAIT = "for try in {1..100}; do (exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null && break; sleep 0.1; done\n"
MARK = "\x1e"  # printed after each block
BLOCK = re.compile(r"^```(sh|python|text)\n(.*?)^```", re.M | re.S)


@pytest.fixture
def clean(tmp_path):
    """The tree as a clone has it, with the binary and the packages of this one."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    folder = tmp_path / "vibeflight"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "bin").mkdir()
    (folder / "bin" / "vibeflight").symlink_to(BINARY)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    (packages,) = folder.glob(".venv/lib/python*/site-packages")
    (packages / "reused.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    (folder / ".venv" / ".installed").touch()
    return folder


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial/map-in-geopandas.md"])
def test_session(clean, page):
    text = (ROOT / page).read_text(encoding="utf-8")
    script, shown = script_of(text)
    printed = run(script, clean)
    assert len(printed) == len(shown) + 1, printed
    checker = doctest.OutputChecker()
    for (block, want), got in zip(shown, printed):
        if want is not None:
            assert checker.check_output(want, got, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), f"{page}:\n{block}gave\n{got}and shows\n{want}"
    if "tutorial" in page:
        picture = (clean / "world.png").read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) > 20_000


def script_of(text):
    """All blocks of a page as one script of a shell, and each block with the output that the page shows after it, or None."""
    blocks = BLOCK.findall(text)
    assert any(language == "sh" and block.startswith(CLONE) for language, block in blocks)
    script, shown, session = [], [], None
    for number, (language, block) in enumerate(blocks):
        if language == "text":
            continue
        follows = blocks[number + 1] if number + 1 < len(blocks) else (None, None)
        if language == "sh":
            if session:
                script.append(in_python(session))
                session = None
            block = block.removeprefix(CLONE)
            if block.endswith(PYTHON):
                session, block = [], block.removesuffix(PYTHON)
            script.append(f"{block}printf '\\036'\n")
            if "&\n" in block:
                script.append(WAIT % PORT)
        else:
            assert session is not None, f"no Python is started before\n{block}"
            session.append(block)
        shown.append((block, follows[1] if follows[0] == "text" else None))
    if session:
        script.append(in_python(session))
    return "".join(script), shown


def in_python(blocks):
    """The blocks, pasted into an interactive Python; -i because no terminal is there."""
    pasted = "".join(f"{block}print({MARK!r}, end='')\n" for block in blocks)
    return f"{PYTHON.strip()} -i -q <<'PASTED'\n{pasted}PASTED\n"


def run(script, folder):
    """What the script's blocks print. Processes that it leaves running are ended."""
    if in_use(PORT):
        listen = f"127.0.0.1:{(port := free_port())}"
        script = script.replace(f"127.0.0.1:{PORT}", listen).replace(WAIT % PORT, WAIT % port)
    else:
        listen = f"127.0.0.1:{PORT}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VIBEFLIGHT_", "PYTHON"))}
    environment |= {"GO": "true", "CUDA": "off", "VIBEFLIGHT_LISTEN": listen, "COLUMNS": "120", "XDG_CACHE_HOME": str(folder.parent / "cache")}
    with open(folder.parent / "printed", "w+b") as printed, open(folder.parent / "errors", "w+b") as errors:
        shell = subprocess.Popen(["bash", "-eu", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=errors, start_new_session=True)
        try:
            status = shell.wait(timeout=120)
        finally:
            try:
                os.killpg(shell.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        printed.seek(0)
        errors.seek(0)
        said = errors.read().decode()
        assert status == 0 and "Traceback" not in said, said
        return printed.read().decode().split(MARK)


def in_use(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0
