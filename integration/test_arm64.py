"""The program and the tests of formats, compiled for arm64 and run by qemu's user mode. `make test-arm64` runs this; another processor skips it without
qemu-aarch64-static (Debian's qemu-user-static)."""
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "dist" / "linux-arm64" / "vibeflight"
QEMU = [] if platform.machine() == "aarch64" else [shutil.which("qemu-aarch64-static")]
# Packages below readers: assembly for arm64, and arithmetic that compilers for arm64 fuse.
PACKAGES = ["internal/positions", "internal/fields", "internal/extent", "internal/trig", "internal/curve", "crs/project", "arrowipc", "csv", "dbf",
            "esrijson", "filegdb", "flatgeobuf", "geojson", "gml", "gpkg", "gpx", "kml", "osmpbf", "parquet", "shapefile", "topojson", "wkt", "xlsx"]

pytestmark = [pytest.mark.long, pytest.mark.skipif(QEMU == [None], reason="no qemu-aarch64-static")]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """GNU's C and C++ libraries for arm64, from Debian's packages for cross compilers."""
    if not QEMU:
        return Path("/")
    for packaged in ("/usr/aarch64-linux-gnu",):
        if Path(packaged, "lib/libstdc++.so.6").exists():
            return Path(packaged)
    if not shutil.which("apt-get"):
        pytest.skip("no libraries for arm64")
    folder = tmp_path_factory.mktemp("arm64")
    for package in ("libc6-arm64-cross", "libstdc++6-arm64-cross", "libgcc-s1-arm64-cross"):
        fetched = subprocess.run(["apt-get", "download", "-q", package], cwd=folder, capture_output=True, text=True)
        if fetched.returncode != 0:
            pytest.skip(f"{package} could not be fetched: {fetched.stderr.strip().splitlines()[-1:]}")
        subprocess.run(["dpkg-deb", "-x", next(folder.glob(f"{package}_*.deb")), folder], check=True)
    return folder / "usr" / "aarch64-linux-gnu"


def run(libraries, *command, **more):
    qemu = [*QEMU, "-L", str(libraries)] if QEMU else []
    return subprocess.run([*qemu, *map(str, command)], capture_output=True, text=True, timeout=1200, **more)


@pytest.mark.skipif(not PROGRAM.exists(), reason="no program for arm64: packaging/build linux-arm64")
def test_program(libraries, tmp_path):
    said = run(libraries, PROGRAM, "version", "--check")
    assert "linux/arm64" in said.stdout and "DuckDB" in said.stdout, said
    (tmp_path / "places.csv").write_text("name,x,y\nBern,7.45,46.95\n")
    said = run(libraries, PROGRAM, "info", tmp_path / "places.csv")
    assert said.returncode == 0 and "POINT" in said.stdout.upper(), said
    said = run(libraries, PROGRAM, "doctor")
    assert "DuckDB" in said.stdout, said


@pytest.mark.parametrize("name", PACKAGES)
def test_format(libraries, name, tmp_path):
    test = tmp_path / "format.test"
    env = {**os.environ, "GOOS": "linux", "GOARCH": "arm64", "CGO_ENABLED": "0", "GOFLAGS": "-tags=nocloud"}
    subprocess.run(["go", "test", "-pgo=off", "-c", "-o", test, f"./readers/{name}"], check=True, cwd=ROOT, env=env)
    done = run(libraries, test, "-test.short", errors="replace", cwd=ROOT / "readers" / name)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
