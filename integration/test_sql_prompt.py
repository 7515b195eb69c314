"""The prompt of `vibeflight sql` in a pseudo-terminal: what a person types, and what is shown."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import termios
import time

import pytest
from serving import BINARY

PROMPT = "vibeflight> "


class Terminal:
    """A pseudo-terminal with a program in it."""

    def __init__(self, *args, env, rows=40, columns=120):
        self.shown = ""
        ours, theirs = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.fd = ours
        self.process = subprocess.Popen(
            [str(BINARY), "sql", *args], stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)

    def expect(self, pattern, seconds=60):
        """Waits for a text after what was expected before, and gives all up to it."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.shown)):
            assert time.monotonic() < end, f"{pattern!r} is not in {self.shown!r}"
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    more = os.read(self.fd, 1 << 16)
                except OSError:  # the program has ended
                    more = b""
                assert more, f"the program ended before {pattern!r}: {self.shown!r}"
                self.shown += more.decode(errors="replace")
        before, self.shown = self.shown[:found.end()], self.shown[found.end():]
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Ctrl-D, and the exit status."""
        self.type("\x04")
        with contextlib.suppress(OSError):
            while os.read(self.fd, 1 << 16):
                pass
        return self.process.wait(timeout=30)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.fd)


@pytest.fixture
def environment(tmp_path):
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"), "TERM": "xterm"}


@pytest.fixture(params=["folder", "server"])
def terminal(request, data, server, environment):
    where = [str(data / "world")] if request.param == "folder" else ["--server", server.uri]
    t = Terminal(*where, env=environment)
    yield t
    t.close()


def test_statements_over_lines(terminal):
    terminal.expect(PROMPT)
    terminal.type("SELECT count(*) AS n\r")
    terminal.expect(r"\.\.\. ")
    terminal.type("FROM countries;\r")
    assert "177" in terminal.expect(r"rows: 1\r\n")
    terminal.expect(PROMPT)
    assert terminal.end() == 0


def test_long_results_say_how_many_rows_there_are(terminal):
    terminal.expect(PROMPT)
    terminal.type("SELECT name FROM countries;\r")
    terminal.expect(r"rows: the first 100 of 177, \\limit ROWS shows more, \\o FILE writes all")


def test_errors_show_the_place_and_the_prompt_goes_on(terminal):
    terminal.expect(PROMPT)
    terminal.type("SELECT nam FROM countries;\r")
    shown = terminal.expect(r"\^\r\n")
    assert 'line 1: Referenced column "nam" not found' in shown and "  SELECT nam FROM countries" in shown
    terminal.expect(PROMPT)
    terminal.type("SELECT 40 + 2 AS answer;\r")
    terminal.expect("42")


def test_commands(terminal, tmp_path):
    terminal.expect(PROMPT)
    terminal.type("\\d countries\r")
    assert re.search(r"pop_est +\w+", terminal.expect(r"rows: \d+\r\n"))
    terminal.expect(PROMPT)
    terminal.type(f"\\o {tmp_path}/names.csv\r")
    terminal.expect("the next result goes to")
    terminal.expect(PROMPT)
    terminal.type("SELECT name FROM countries;\r")
    terminal.expect("rows: 177")
    assert "Fiji" in (tmp_path / "names.csv").read_text()
    terminal.expect(PROMPT)
    terminal.type("\\q\r")
    assert terminal.process.wait(timeout=30) == 0


def test_completion(terminal):
    terminal.expect(PROMPT)
    terminal.type("SELECT count(*) FROM countr\t")
    terminal.expect("countries")
    terminal.type("\x03")  # the table has a stem and a name, so both are offered
    terminal.expect(PROMPT)
    terminal.type("SELE\t * FROM (SELECT 'é' AS x);\r")
    terminal.expect("é")
    terminal.expect(r"rows: 1\r\n")


def test_ctrl_c_cancels_the_query_only(terminal):
    terminal.expect(PROMPT)
    terminal.type("SELECT sum(a.range * b.range % 7) FROM range(10000000) a, range(10000000) b;\r")
    terminal.expect(r"sql +\d+s")  # it runs, for hours
    terminal.type("\x03")
    terminal.expect("the query is cancelled")
    terminal.expect(PROMPT)
    terminal.type("SELECT\r")
    terminal.expect(r"\.\.\. ")
    terminal.type("\x03")  # what is being written is forgotten
    terminal.expect(PROMPT)
    terminal.type("SELECT 40 + 2 AS answer;\r")
    terminal.expect("42")
    assert terminal.end() == 0


def test_type_ahead(terminal):
    terminal.expect(PROMPT)
    terminal.type("SELECT 40 + 2 AS answer;\rSELECT 50 +\r3 AS answer;\r")
    terminal.expect(r"42[^;]*rows: 1\r\n")
    terminal.type("SELECT 60 + 4 AS answer;\r")
    terminal.expect(r"53[^;]*rows: 1\r\n")
    terminal.expect(r"64[^;]*rows: 1\r\n")
    assert terminal.end() == 0


def test_a_terminal_without_a_size_is_one_of_80_columns(data, environment):
    t = Terminal(str(data / "world"), env=environment, rows=0, columns=0)
    try:
        t.expect(PROMPT)
        t.type("SELECT 40 + 2 AS answer;\r\x1b[A\r")
        t.expect(r"42[^;]*rows: 1\r\n")
        t.expect(r"42[^;]*rows: 1\r\n")
        t.type("SELECT count(*) FROM countr\t;\r")
        t.expect("177")
        assert t.end() == 0
        assert struct.unpack("HHHH", fcntl.ioctl(t.fd, termios.TIOCGWINSZ, bytes(8)))[:2] == (0, 0)
    finally:
        t.close()


def test_history(data, environment, tmp_path):
    path = tmp_path / "state" / "vibeflight" / "history"
    for again in (False, True):
        t = Terminal(str(data / "world"), env=environment)
        try:
            t.expect(PROMPT)
            t.type("\x1b[A\r" if again else "SELECT 40 + -- two\r2 AS answer;\r")
            t.expect("42")
            assert t.end() == 0
        finally:
            t.close()
    assert set(path.read_text().splitlines()) == {"SELECT 40 + /* two */ 2 AS answer;"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_server_that_is_not_there(environment):
    t = Terminal("--server", "grpc://127.0.0.1:1", env=environment)
    try:
        t.expect("no answer: .*is the server running")
        assert t.process.wait(timeout=30) == 1
    finally:
        t.close()
