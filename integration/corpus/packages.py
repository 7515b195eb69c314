"""Packages by the clients of their registries, and the files in them."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from kinds import FORMATS, GEODATABASE, SIBLINGS, extension, largest

SECONDS = 600  # for one package
READ = FORMATS.keys() | {e for siblings in SIBLINGS.values() for e in siblings}


def archives(cache, package):
    """The archives of a package, in order of their names. They are fetched once, into a folder of their own."""
    folder = cache / "packages" / package["source"] / re.sub(r"[@/:]", "_", f"{package['name']} {package['version']}".strip())
    if not (folder / ".complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        FETCH[package["source"]](package["name"], package["version"], folder)
        (folder / ".complete").touch()
    return sorted(p for p in folder.iterdir() if p.name.endswith(ENDINGS[package["source"]]))


def run(folder, *command, **environment):
    subprocess.run(command, cwd=folder, check=True, timeout=SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                   env={**os.environ, **environment})


def fetch_npm(name, version, folder):
    run(folder, "npm", "pack", "--silent", f"{name}@{version}" if version else name)


def pip(kind):
    def fetch(name, version, folder):
        run(folder, sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", kind, name,
            f"{name}=={version}" if version else name)
    return fetch


def fetch_crate(name, version, folder):
    """Cargo fetches the dependencies of a package: here of one that depends only on this crate."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as project:
        (pathlib.Path(project) / "src").mkdir()
        (pathlib.Path(project) / "src" / "lib.rs").touch()
        (pathlib.Path(project) / "Cargo.toml").write_text(
            f'[package]\nname = "corpus"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n{name} = "{version and "=" + version or "*"}"\n')
        run(project, "cargo", "fetch", "--quiet", CARGO_HOME=home)
        for crate in pathlib.Path(home).glob(f"registry/cache/*/{name}-[0-9]*.crate"):
            shutil.move(crate, folder)


def fetch_go(name, version, folder):
    """The archive of a module, as the module proxy has it."""
    with tempfile.TemporaryDirectory() as cache:
        run(folder, "go", "mod", "download", f"{name}@{version or 'latest'}", GOMODCACHE=cache, GOFLAGS="-modcacherw", GOWORK="off")
        for module in pathlib.Path(cache).glob("cache/download/**/@v/*.zip"):
            shutil.move(module, folder / f"{name.replace('/', '_')}-{module.name}")


def fetch_maven(name, version, folder):
    """The archive of an artifact, GROUP:ARTIFACT, of a version or of its tests: VERSION:jar:tests."""
    with tempfile.TemporaryDirectory() as repository:
        run(folder, "mvn", "-q", "-B", "dependency:get", "-Dtransitive=false", f"-Dmaven.repo.local={repository}", f"-Dartifact={name}:{version}")
        group, artifact = name.split(":")
        for jar in (pathlib.Path(repository) / group.replace(".", "/") / artifact).glob("*/*.jar"):
            shutil.move(jar, folder)


def fetch_debian(name, suite, folder):
    """The source package of a suite, or that of this machine's release."""
    with apt("deb-src", suite) as config:
        run(folder, "apt-get", "source", "--download-only", *["--tar-only"] * bool(suite), "-qq", name, APT_CONFIG=config)


def fetch_deb(name, _version, folder):
    """The binary package that this machine's release has."""
    with apt("deb") as config:
        run(folder, "apt-get", "download", "-qq", name, APT_CONFIG=config)


LISTS = {}  # by type of source and suite, where apt has its lists: they are fetched once a run


@contextlib.contextmanager
def apt(kind, suite=""):
    """A configuration of apt whose sources are those of this machine's Debian, as deb-src or as deb, or another suite of it."""
    root = LISTS.get((kind, suite))
    if root is None:
        root = LISTS[kind, suite] = pathlib.Path(tempfile.mkdtemp(prefix="corpus-apt-"))
        for folder in ("parts", "lists/partial", "cache/archives/partial"):
            (root / folder).mkdir(parents=True)
        for source in pathlib.Path("/etc/apt/sources.list.d").glob("debian*.sources"):
            (root / "parts" / source.name).write_text(sources(source.read_text(), kind, suite))
        for line in (lines.read_text() for lines in [pathlib.Path("/etc/apt/sources.list")] if lines.exists() and not suite):
            (root / "parts" / "machine.list").write_text(re.sub(r"(?m)^deb(-src)?(?=\s)", kind, line))
        (root / "apt.conf").write_text(f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{root}/parts";\n'
                                       f'Dir::State::lists "{root}/lists";\nDir::Cache "{root}/cache";\n')
        run(root, "apt-get", "update", "-qq", APT_CONFIG=str(root / "apt.conf"))
    yield str(root / "apt.conf")


def sources(text, kind, suite):
    """A file of sources with another type, and with its archive's suite only where one is given."""
    text = re.sub(r"(?m)^Types:.*$", f"Types: {kind}", text)
    if suite:
        (text, *_) = (part for part in text.split("\n\n") if "security" not in part)
        text = re.sub(r"(?m)^Suites:.*$", f"Suites: {suite}", text) + "\n"
    return text


FETCH = {
    "npm": fetch_npm, "sdist": pip("--no-binary"), "wheel": pip("--only-binary"),
    "crate": fetch_crate, "go": fetch_go, "maven": fetch_maven, "debian": fetch_debian, "deb": fetch_deb,
}
ENDINGS = {
    "npm": ".tgz", "sdist": (".tar.gz", ".zip"), "wheel": ".whl", "crate": ".crate", "go": ".zip", "maven": ".jar", "deb": ".deb",
    "debian": tuple(f".orig.tar.{e}" for e in ("gz", "xz", "bz2")),
}
VERSION = {
    "npm": r"-([0-9][^/]*)\.tgz$", "sdist": r"-([0-9][^/-]*)\.(?:tar\.gz|zip)$", "wheel": r"^[^-]+-([^-]+)-", "crate": r"-([0-9][^/]*)\.crate$",
    "go": r"-(v[0-9][^/]*)\.zip$", "maven": r"-([0-9][^/]*)\.jar$",
    "deb": r"^[^_]+_([^_]+)_", "debian": r"^[^_]+_(.+)\.orig\.tar",
}


def version_of(source, archive):
    return re.search(VERSION[source], archive.name)[1].replace("%3a", ":")


def members(source, archive):
    """Paths and contents of the files in an archive whose names may be of a known format."""
    if archive.suffix in (".whl", ".zip", ".jar"):
        with zipfile.ZipFile(archive) as z:
            for info in z.infolist():
                if interesting(info.filename, info.file_size):
                    yield info.filename.partition("@")[2].partition("/")[2] if source == "go" else info.filename, z.read(info)
        return
    with contextlib.ExitStack() as stack:
        if source == "deb":
            unpacking = stack.enter_context(subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE))
            tar = stack.enter_context(tarfile.open(fileobj=unpacking.stdout, mode="r|"))
        else:
            tar = stack.enter_context(tarfile.open(archive, mode="r|*"))
        for info in tar:
            if info.isfile() and interesting(info.name, info.size):
                path = info.name.removeprefix("./")
                yield path if source == "deb" else path.partition("/")[2], tar.extractfile(info).read()


def interesting(path, size):
    return 0 < size <= largest(path) and (extension(path.removesuffix(".gz")) in READ or GEODATABASE.search(path) is not None)
