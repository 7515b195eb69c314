"""Profiles the CPU engine over the files of bench.py, for the compiler:   profile.py [--runs N]

Writes cmd/vibeflight/default.pgo, which go build finds there: hot functions are inlined more.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import shapes  # noqa: E402
from serving import ROOT, vibeflight  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=60, help="how often each file is read; a profile has 100 samples a second")
    parser.add_argument("--data", default=ROOT / ".bench", help="where the files lie; they are written once")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        profiles = []
        for name in shapes.PROFILED:
            profiles.append(f"{folder}/{name}.prof")
            vibeflight("bench", shapes.write(name, options.data), "--runs", options.runs, "--workers", 1, "--cpu-profile", profiles[-1])
        merged = subprocess.run(["go", "tool", "pprof", "-proto", *profiles], check=True, stdout=subprocess.PIPE).stdout
    (ROOT / "cmd" / "vibeflight" / "default.pgo").write_bytes(merged)


if __name__ == "__main__":
    main()
