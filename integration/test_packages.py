"""The wheel and the packages of build/wheels and build/release, installed where there is neither compiler, Go nor make. `make test-packages` makes them
and runs this; a machine without root or debootstrap skips what needs a clean root."""
import hashlib
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WHEELS, RELEASE = ROOT / "build" / "wheels", ROOT / "build" / "release"
CLEAN = ROOT / "build" / "root"
pytestmark = pytest.mark.long
MACHINE = {"x86_64": ("x86_64", "amd64"), "aarch64": ("aarch64", "arm64")}.get(platform.machine())

SERVES_AND_PRINTS = r"""
set -e
cd /tmp/session
echo 'name,x,y
Bern,7.45,46.95
Oslo,10.75,59.91' >places.csv
rm -f ready s.sock
/tmp/venv/bin/vibeflight serve --data . --listen unix:///tmp/session/s.sock --cache-dir /tmp/session/cache --log-level info 2>log &
server=$!
for i in $(seq 300); do
	[ -S s.sock ] && break
	sleep 0.1
done
/tmp/venv/bin/python -c '
import vibeflight
with vibeflight.connect("unix:///tmp/session/s.sock") as server:
    frame = server.table("places.csv").geopandas()
    print(type(frame).__name__)
    print(frame)
    print(server.sql("SELECT name, ST_Area(ST_Buffer(geometry, 1)) > 3 AS area FROM places ORDER BY name").pandas())
'
kill $server
wait $server || true
"""


@pytest.fixture(scope="module")
def wheel():
    found = sorted(WHEELS.glob(f"*manylinux*{MACHINE[0]}.whl")) if MACHINE else []
    if not found:
        pytest.skip("no wheel for this machine: make wheels")
    return found[-1]


@pytest.fixture(scope="module")
def release():
    if not (RELEASE / "SHA256SUMS").exists():
        pytest.skip("no release: make release")
    return RELEASE


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """A Debian with Python and nothing to compile with, as a folder for chroot."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("a clean root needs root and debootstrap")
    if not (CLEAN / "made").exists():
        shutil.rmtree(CLEAN, ignore_errors=True)
        made = subprocess.run(["debootstrap", "--variant=minbase", "--include=python3,python3-venv,ca-certificates", "bookworm", CLEAN],
                              capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip(f"no clean root: {made.stdout.strip().splitlines()[-1:]}")
        (CLEAN / "made").touch()
    work = CLEAN / "tmp"
    shutil.rmtree(work)
    (work / "session").mkdir(parents=True)
    # Names and the registry are reached as on this machine.
    for name in ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", os.environ.get("PIP_CERT", "").lstrip("/")):
        if name and Path("/", name).is_file():
            (CLEAN / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path("/", name), CLEAN / name)
    return CLEAN


def inside(root, script, **environment):
    """Runs a script in a clean root with its own mounts and processes, and returns what it prints."""
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8", **environment}
    env |= {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy") or k in ("PIP_CERT", "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT")}
    command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc=" + str(root / "proc"), "sh", "-c",
               f"mount --bind /dev {root}/dev && exec chroot {root} sh -c \"$1\"", "sh", script]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_is_small(wheel):
    assert wheel.stat().st_size <= 80_000_000


def test_two_commands_in_a_clean_root(clean, wheel):
    shutil.copy(wheel, clean / "tmp")
    said = inside(clean, f"""
set -e
for tool in gcc cc go make; do ! command -v $tool; done
python3 -m venv /tmp/venv
/tmp/venv/bin/pip install -q --only-binary :all: '/tmp/{wheel.name}[geopandas]'
/tmp/venv/bin/vibeflight version
{SERVES_AND_PRINTS}""")
    assert "GeoDataFrame" in said and "POINT (7.45 46.95)" in said, said
    assert said.count("True") == 2, said


def test_debian_package_installs(clean, release):
    package = next(release.glob(f"*{MACHINE[1]}.deb"))
    shutil.copy(package, clean / "tmp")
    said = inside(clean, f"""
set -e
dpkg -i /tmp/{package.name}
vibeflight version
vibeflight doctor --config /etc/vibeflight/vibeflight.toml | head -3
test -s /usr/lib/systemd/system/vibeflight.service
test -s /usr/lib/sysusers.d/vibeflight.conf
dpkg -r vibeflight
test ! -e /usr/bin/vibeflight""")
    assert "vibeflight 0." in said or "vibeflight 1." in said


def test_checksums(release):
    for line in (release / "SHA256SUMS").read_text().splitlines():
        want, name = line.split("  ")
        assert hashlib.sha256((release / name).read_bytes()).hexdigest() == want, name


def test_another_folder_gives_the_same_bytes(release, wheel, tmp_path):
    """A clone of the commit in another folder gives the same program, wheel, archives and packages."""
    if subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT):
        pytest.skip("uncommitted changes: a clone would not have them")
    copy, target = tmp_path / "copy", f"linux-{MACHINE[1]}"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, copy], check=True)
    for folder in (".tools", ".cuda"):
        if (ROOT / folder).exists():
            (copy / folder).symlink_to((ROOT / folder).resolve())
            # .gitignore names folders, not links; a change that Git does not ignore is written into the program.
            with (copy / ".git/info/exclude").open("a") as exclude:
                exclude.write(f"{folder}\n")
    for command in (["packaging/build", target], ["packaging/wheel", target], ["python3", "packaging/release.py"]):
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
    assert (copy / "build" / "wheels" / wheel.name).read_bytes() == wheel.read_bytes()
    for path in sorted((copy / "build" / "release").iterdir()):
        # The formula and the checksums are those of all platforms that were built.
        if path.name not in ("SHA256SUMS", "vibeflight.rb"):
            assert path.read_bytes() == (release / path.name).read_bytes(), path.name
