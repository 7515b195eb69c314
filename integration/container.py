"""Runs a program in the root of a container image, as container runtimes do it by their strictest options, and without one: with mounts of its own,
below a root that is read-only, as a user that no file names, without capabilities. It shares this machine's network. It needs root.

    with ContainedServer(image, mounts=[Mount(data, "/data")]) as server:
        server.client().do_get(...)
"""
import ctypes
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys

UNKNOWN_USER = 123456789
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38


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
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable, __file__, json.dumps(spec)]


def run(root, argv, env, **options):
    """Runs a program to its end and returns what subprocess.run does, with its output as text."""
    return subprocess.run(command(root, argv, env, **options), capture_output=True, text=True)


def server_class():
    """ContainedServer. The launcher below, which has no other modules, does not need it."""
    from serving import Server, free_port

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

    return ContainedServer


def children(pid):
    """The child processes of a process."""
    return [int(p) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for p in (task / "children").read_text().split()]


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


def launch(spec):
    """Becomes the program of the specification. The process is alone in its namespaces of mounts and processes."""
    root = pathlib.Path(spec["root"])
    mount("--make-rprivate", "/")
    mount("--bind", root, root)
    for folder in ("proc", "sys", "dev"):
        (root / folder).mkdir(exist_ok=True)
    mount("-t", "proc", "proc", root / "proc")
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root / "dev")
    for device in DEVICES:
        (root / "dev" / device).touch()
        mount("--bind", f"/dev/{device}", root / "dev" / device)
    (root / "dev" / "fd").symlink_to("/proc/self/fd")
    for source, target, read_only in spec["mounts"]:
        place = root / target.lstrip("/")
        if not place.exists():  # as runtimes do
            place.mkdir(parents=True) if not source or os.path.isdir(source) else (place.parent.mkdir(parents=True, exist_ok=True), place.touch())
        if not source:
            mount("-t", "tmpfs", "-o", "mode=1777,nosuid,nodev,noexec", "tmpfs", place)
            continue
        mount("--bind", source, place)
        if read_only:
            mount("-o", "remount,bind,ro", place)
    if spec["read_only"]:
        mount("-o", "remount,bind,ro", root)
    os.chroot(root)
    os.chdir("/")
    if spec["user"]:
        drop_privileges(spec["user"])
    os.execve(spec["argv"][0], spec["argv"], spec["env"])


def drop_privileges(user):
    """Becomes the user, of a group of the same number, and loses all capabilities for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    last = int(pathlib.Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last + 1):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    launch(json.loads(sys.argv[1]))
