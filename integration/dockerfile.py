"""Reads the Dockerfile, and builds its images without a registry: by buildah where it is installed, else step by step below a chroot.

The images that it begins from can't be pulled here. This machine stands in for them, if it is a Debian with Go, Python and a C compiler: their file
system is this machine's /usr, read-only. So the steps, the files that they copy and the configuration are tested, and the contents of the
Go and Python images are not.
"""
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import container
from container import Mount
from serving import ROOT

PATH = "/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What of /etc a build reads.
ETC = ("alternatives", "ssl", "ca-certificates.conf", "pip.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf",
       "debian_version", "os-release", "resolv.conf", "hosts", "mime.types")


@dataclasses.dataclass
class Stage:
    name: str
    base: str
    steps: list  # of (instruction, its text)


@dataclasses.dataclass
class Image:
    """A built image: its files, and its configuration by the names of the OCI's image specification."""

    root: pathlib.Path
    config: dict

    @property
    def environment(self):
        return dict(variable.split("=", 1) for variable in self.config["Env"])


def parse(text):
    """The stages of a Dockerfile. A stage without a name has its number."""
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    stages = []
    for line in filter(None, map(str.strip, text.splitlines())):
        instruction, rest = line.split(None, 1)
        if instruction == "FROM":
            base, *alias = rest.split()
            stages.append(Stage(alias[1] if alias else str(len(stages)), base, []))
        else:
            stages[-1].steps.append((instruction, rest))
    return stages


def pairs(text):
    """The pairs of an ENV, ARG or LABEL."""
    return dict(word.split("=", 1) for word in shlex.split(text))


def needed(stages, target):
    """The names of the stages that a target is made from, in their order."""
    by_name, found, todo = {s.name: s for s in stages}, set(), [target]
    while todo:
        name = todo.pop()
        if name in by_name and name not in found:
            found.add(name)
            stage = by_name[name]
            todo += [stage.base, *(m[1] for _, rest in stage.steps if (m := re.match(r"--from=(\S+)", rest)))]
    return [s.name for s in stages if s.name in found]


def configuration(stages, target):
    """What the Dockerfile says of how a target is run, with the configuration of the stages that it begins from."""
    by_name = {s.name: s for s in stages}
    stage = by_name[target]
    config = configuration(stages, stage.base) if stage.base in by_name else {"Env": [], "Labels": {}, "ExposedPorts": []}
    for instruction, rest in stage.steps:
        match instruction:
            case "ENV":
                config["Env"] = config["Env"] + [f"{k}={v}" for k, v in pairs(rest).items()]
            case "LABEL":
                config["Labels"] = config["Labels"] | pairs(rest)
            case "EXPOSE":
                config["ExposedPorts"] = config["ExposedPorts"] + rest.split()
            case "ENTRYPOINT" | "CMD":
                config[instruction.title()] = json.loads(rest)
            case "USER":
                config["User"] = rest
            case "HEALTHCHECK":
                flags, test = rest.split("CMD ", 1)
                config["Healthcheck"] = {"Test": ["CMD", *json.loads(test)], "Flags": flags.split()}
    return config


def copy_context(folder):
    """Writes to a folder what a build sends: the files that git tracks, or would, without those of .dockerignore."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    patterns = [line.strip("/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    for name in names.split("\0"):
        source = ROOT / name
        if not name or not source.is_file() or any(fnmatch.fnmatch(name + "/", p.replace("**", "*") + "/*") or name == p for p in patterns):
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, folder / name)


def stand_in(folder):
    """Writes the folders of a Debian to which this machine's /usr is mounted."""
    folder.mkdir(exist_ok=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (folder / name).symlink_to(f"usr/{name}")
    for name in ("usr", "root/go/pkg/mod", "root/.cache/go-build", "opt/wheels", "var/lib/dpkg", "etc"):
        (folder / name).mkdir(parents=True)
    (folder / "tmp").mkdir(mode=0o1777)
    (folder / "tmp").chmod(0o1777)
    for name in ETC:
        source = pathlib.Path("/etc", name)
        if source.is_dir():
            shutil.copytree(source, folder / "etc" / name, symlinks=True)
        elif source.exists():
            shutil.copy2(source, folder / "etc" / name)


def build_mounts():
    """This machine's programs, and the caches of Go, so that a build compiles what has changed."""
    own = {k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"}  # the tests' folder has no cache of Go
    go = {name: subprocess.run(["go", "env", name], env=own, capture_output=True, text=True, check=True).stdout.strip() for name in ("GOMODCACHE", "GOCACHE")}
    for folder in go.values():
        os.makedirs(folder, exist_ok=True)
    mounts = [Mount("/usr", "/usr"), Mount("/var/lib/dpkg", "/var/lib/dpkg"),
              Mount(go["GOMODCACHE"], "/root/go/pkg/mod", read_only=False), Mount(go["GOCACHE"], "/root/.cache/go-build", read_only=False)]
    return mounts + [Mount(p, p) for p in ("/opt/wheels",) if os.path.isdir(p)]


def build_environment():
    """Variables of the images that the Dockerfile begins from, and those by which this machine reaches packages."""
    passed = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "GOPROXY", "GOSUMDB", "GONOSUM")) or k.lower().endswith("_proxy")}
    return {"PATH": PATH, "HOME": "/root", "GOFLAGS": "-pgo=off"} | passed


class Buildah:
    """Builds images by buildah, without privileges beyond root's and without a daemon."""

    name = "buildah"

    def __init__(self, folder):
        self.folder, self.stages = folder, parse((ROOT / "Dockerfile").read_text())
        self.context = folder / "context"
        copy_context(self.context)
        stand_in(folder / "debian")
        for base in {s.base for s in self.stages} - {"scratch"} - {s.name for s in self.stages}:
            made = self.buildah("from", "scratch")
            self.buildah("copy", "--quiet", made, folder / "debian", "/")
            variables = [a for k, v in build_environment().items() for a in ("--env", f"{k}={v}")]
            self.buildah("config", *variables, made)
            self.buildah("commit", "--quiet", "--rm", made, f"docker.io/library/{base}")

    def buildah(self, *arguments):
        storage = ["--root", self.folder / "storage", "--runroot", self.folder / "run", "--storage-driver", "vfs"]
        done = subprocess.run(["buildah", *map(str, storage), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"buildah {arguments[0]}: {done.stderr[-3000:]}")
        return done.stdout.strip()

    def build(self, target, tags):
        """The image of a target. Only the stages that it needs are built, as by BuildKit; this version of buildah would build all above it."""
        text = (self.context / "Dockerfile").read_text()
        wanted = needed(self.stages, target)
        parts = re.split(r"^(?=FROM )", text, flags=re.M)
        kept = [part for part, stage in zip(parts[1:], self.stages, strict=True) if stage.name in wanted]
        (self.folder / "Dockerfile").write_text(parts[0] + "".join(kept))
        volumes = [a for m in build_mounts() for a in ("--volume", f"{m.source}:{m.target}:{'ro' if m.read_only else 'rw'}")]
        self.buildah("bud", "--quiet", "--isolation", "chroot", "--pull-never", "--format", "docker", "--target", target, "--build-arg", f"TAGS={tags}",
                     *volumes, "-t", target, "-f", self.folder / "Dockerfile", self.context)
        made = self.buildah("from", "--pull-never", f"localhost/{target}")
        found = json.loads(self.buildah("inspect", "--type", "image", f"localhost/{target}"))
        config = found["Docker"]["config"]
        return Image(pathlib.Path(self.buildah("mount", made)), config)


class Chroot:
    """Runs the steps of the Dockerfile below a chroot."""

    name = "chroot"

    def __init__(self, folder):
        self.folder, self.stages, self.built = folder, parse((ROOT / "Dockerfile").read_text()), {}
        self.context = folder / "context"
        copy_context(self.context)

    def build(self, target, tags):
        for name in needed(self.stages, target):
            if name not in self.built:
                self.built[name] = self.stage(next(s for s in self.stages if s.name == name), {"TAGS": tags})
        return Image(self.built[target], configuration(self.stages, target))

    def stage(self, stage, arguments):
        root = self.folder / f"stage-{stage.name}"
        if stage.base in self.built:
            subprocess.run(["cp", "-a", "--reflink=auto", self.built[stage.base], root], check=True)
        else:
            root.mkdir()
            if stage.base != "scratch":
                stand_in(root)
        work, env = "/", build_environment()
        if stage.base in self.built:
            work = next((rest for i, rest in reversed(self.all_steps(stage.base)) if i == "WORKDIR"), "/")
        for instruction, rest in stage.steps:
            match instruction:
                case "WORKDIR":
                    work = rest
                    (root / work.lstrip("/")).mkdir(parents=True, exist_ok=True)
                case "ARG":
                    env |= {k: arguments.get(k, v) for k, v in pairs(rest).items()}
                case "COPY":
                    self.copy(root, work, rest)
                case "RUN":
                    script = f"cd {work} && {rest}"
                    done = container.run(root, ["/bin/sh", "-c", script], env, mounts=build_mounts(), user=0, read_only=False)
                    if done.returncode:
                        raise RuntimeError(f"RUN {rest}: {done.stdout[-2000:]}{done.stderr[-3000:]}")
        return root

    def all_steps(self, name):
        """The steps of a stage and of those that it begins from."""
        found = next((s for s in self.stages if s.name == name), None)
        return self.all_steps(found.base) + found.steps if found else []

    def copy(self, root, work, rest):
        words = rest.split()
        source = self.context
        if words[0].startswith("--from="):
            source = self.built[words.pop(0).removeprefix("--from=")]
        *names, target = words
        place = root / os.path.join(work, target).lstrip("/")
        for name in names:
            path = source / name.lstrip("/")
            if path.is_dir():
                place.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "-a", "--reflink=auto", f"{path}/.", place], check=True)
            else:
                into = place / path.name if target.endswith("/") else place
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, into)
