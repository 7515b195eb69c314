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


def sign_certificates(folder):
    """Writes ca.pem, and certificates signed by it: server, alice and eve, each with a key."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test authority", "-days", "2")
    for name in "server", "alice", "eve":
        openssl("req", *new, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem", "-days", "2", "-copy_extensions", "copy")
