"""Files of users and tokens for servers that want a login, written by our own command."""
import os
import subprocess

from serving import BINARY


class Files:
    """The files of users and tokens of a server, which the command edits: alice has the password "secret", and ci a token."""

    def __init__(self, folder):
        self.users, self.tokens = folder / "users", folder / "tokens"
        self.flags = ("--users", str(self.users), "--tokens", str(self.tokens))
        self.tokens.write_text("")
        self.edit("user", "add", "--groups", "gis", "alice", password="secret")
        self.edit("user", "add", "--no-password", "ci")
        self.token = self.edit("token", "add", "ci").strip()

    def edit(self, what, verb, *arguments, password=None):
        flag = ("--users", self.users) if what == "user" else ("--tokens", self.tokens)
        return command(what, verb, *flag, *arguments, input=password).stdout


def command(*arguments, input=None, check=True, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("VIBEFLIGHT_")}
    done = subprocess.run([str(BINARY), *map(str, arguments)], input=input, capture_output=True, text=True, env=clean | environment)
    assert not check or done.returncode == 0, done.stderr
    return done
