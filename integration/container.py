"""Runs a program in the root of a container image, as container runtimes do it by their strictest options, and without one: with mounts of its own,
below a root that is read-only, as a user that no file names, without capabilities. It shares this machine's network. It needs root.

    with ContainedServer(image, mounts=[Mount(data, "/data")]) as server:
        server.client().do_get(...)
"""
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys

from serving import Server, free_port

UNKNOWN_USER = 123456789
LAUNCHER = pathlib.Path(__file__).with_name("containerlaunch.py")


@dataclasses.dataclass
class Mount:
    """A folder or file of this machine, or with tmpfs an empty folder, at a path of the container."""

    source: str
    target: str
    read_only: bool = True

    @classmethod
    def tmpfs(cls, target):
        return cls("", target, read_only=False)


def command(root, argv, env, mounts=(), user=UNKNOWN_USER, read_only=True):
    """The command line that runs argv in the container. User 0 keeps its capabilities, as in a build."""
    spec = {"root": str(root), "argv": [str(a) for a in argv], "env": env, "mounts": [(str(m.source), m.target, m.read_only) for m in mounts],
            "user": user, "read_only": read_only}
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable, str(LAUNCHER), json.dumps(spec)]


def run(root, argv, env, **options):
    """Runs a program to its end and returns what subprocess.run does, with its output as text."""
    return subprocess.run(command(root, argv, env, **options), capture_output=True, text=True)


class ContainedServer(Server):
    """A server that runs as an image's configuration says, except for its address, which is on loopback."""

    def __init__(self, image, *, mounts, env=None, user=UNKNOWN_USER):
        super().__init__("", cache="", listen=f"127.0.0.1:{free_port()}")
        env = {"VIBEFLIGHT_DATA": "/data", "VIBEFLIGHT_LISTEN": self.location} | (env or {})
        self.image, self.mounts, self.user, self.variables = image, mounts, user, image.environment | {"HOME": "/"} | env
        self.command = command(image.root, [*image.config["Entrypoint"], "serve"], self.variables, mounts=mounts, user=user)

    def __exit__(self, *_):
        if self.process.poll() is None and (pid := self.pid()):
            os.kill(pid, signal.SIGTERM)
            self.process.wait(timeout=30)
        super().__exit__()

    def pid(self):
        """The server, which is process 1 of its namespace."""
        found = children(self.process.pid)
        return found[0] if found else None

    def status(self, pid=None):
        """The fields of /proc/PID/status of a process of the container, by default of the server."""
        lines = pathlib.Path(f"/proc/{pid or self.pid()}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def workers(self):
        """The processes that run SQL."""
        return [pid for pid in children(self.pid()) if b"sql-worker" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]

    def check_health(self):
        """Runs the command of the image's health check, as a runtime does: with the container's environment."""
        test = self.image.config["Healthcheck"]["Test"]
        assert test[0] == "CMD"
        return run(self.image.root, test[1:], self.variables, mounts=self.mounts, user=self.user)


def children(pid):
    """The child processes of a process."""
    return [int(p) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for p in (task / "children").read_text().split()]
