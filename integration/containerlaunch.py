"""Becomes a program of a container, as its argument says, a JSON object: container.py writes it. It runs in its own namespaces of mounts and processes."""
import ctypes
import json
import os
import pathlib
import subprocess
import sys

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38


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
