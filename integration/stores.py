"""Starts the object stores of build/stores for the tests: S3, GCS, Azure and plain HTTP on loopback, over a folder.

with stores.S3(folder, "--public") as s:
    s.url, s.endpoint, s.bucket, s.access_key, s.secret_key, s.env

Replace a file of the folder by a rename: a store never shows half of a write. A store that cannot run on this machine skips the
test that starts it, with the reason; VIBEFLIGHT_STORES=require makes that a failure, and another value names the program.
"""
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Store:
    """A store that runs until the end of its `with`. Its attributes are those of the line that it prints."""

    kind = None

    def __init__(self, folder, *flags):
        self.command = [str(program()), self.kind, "--root", str(folder), *map(str, flags)]

    def __enter__(self):
        if not pathlib.Path(self.command[0]).exists():
            missing(self.kind, f"{self.command[0]} is missing: make stores")
        self._log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)
        try:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{' '.join(self.command)} ended:\n{self.log()}")
            announcement = json.loads(line)
            if "skip" in announcement:
                missing(self.kind, announcement["skip"])
        except BaseException:
            self.__exit__()
            raise
        self.url = announcement["url"]
        self.endpoint = announcement["endpoint"]
        self.bucket = announcement.get("bucket")
        self.region = announcement.get("region")
        self.access_key = announcement.get("access_key")
        self.secret_key = announcement.get("secret_key")
        self.env = announcement.get("env", {})
        return self

    def __exit__(self, *_):
        self.process.stdin.close()  # by which it ends
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self._log.close()

    def log(self):
        """What the store wrote on standard error."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")


class S3(Store):
    """versitygw. Flags: --bucket b, --public, --versioning, --region r, --latency 10ms."""

    kind = "s3"


class S3Keys(S3):
    """versitygw with small GeoJSON objects that are made when they are read, 1,000 in each folder."""

    def __init__(self, keys, *flags):
        self.command = [str(program()), self.kind, "--backend", "memory", "--keys", str(keys), *map(str, flags)]


class Moto(Store):
    """moto, another S3, with copies of the files. It does not check signatures."""

    kind = "moto"


class GCS(Store):
    """fake-gcs-server. Flags: --bucket b, --latency 10ms."""

    kind = "gcs"


class Azure(Store):
    """azurite, with copies of the files. Flags: --bucket container, --public."""

    kind = "azure"


class HTTP(Store):
    """A web server. Flags: --no-ranges, --no-etag, --no-last-modified, --gzip, --latency 10ms."""

    kind = "http"


def program():
    """The path of the program that runs the stores."""
    named = os.environ.get("VIBEFLIGHT_STORES")
    return pathlib.Path(named) if named and named != "require" else ROOT / "build" / "stores"


def missing(kind, reason):
    """Skips the test, or fails it where stores are required."""
    import pytest  # benchmarks start stores without it
    if os.environ.get("VIBEFLIGHT_STORES") == "require":
        pytest.fail(f"{kind}: {reason}")
    pytest.skip(f"{kind}: {reason}")
