"""stub.py LIBRARY VERSION…: prints the assembly of a library that has the names of LIBRARY up to these versions, and no code.

A program that is linked with it finds the true library when it starts, also an older one. `--map` prints the linker's version script instead.
"""

import argparse
import re
import subprocess
from collections import defaultdict
from typing import NamedTuple

# A line of `readelf --dyn-syms`: number, value, size, type, binding, visibility, section, name with its default version.
SYMBOL = re.compile(r"\s*\d+: \S+\s+(\S+) (FUNC|OBJECT|TLS)\s+(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +\d+ (\S+)@@(\S+)$")


class Symbol(NamedTuple):
    name: str
    kind: str
    size: int
    version: str


def symbols(library: str, newest: list[str]) -> list[Symbol]:
    lines = subprocess.run(["readelf", "--wide", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout.splitlines()
    found = (SYMBOL.match(line) for line in lines)
    all_symbols = [Symbol(m[3], m[2], int(m[1], 0), m[4]) for m in found if m]
    return sorted(s for s in all_symbols if any(not_newer(s.version, limit) for limit in newest))


def not_newer(version: str, limit: str) -> bool:
    """not_newer compares versions of one name: GLIBCXX_3.4.9 is not newer than GLIBCXX_3.4.24."""
    name, number = version.split("_", 1)
    limit_name, limit_number = limit.split("_", 1)
    return name == limit_name and numbers(number) <= numbers(limit_number)


def numbers(version: str) -> list[int]:
    return [int(part) if part.isdigit() else 1 << 30 for part in version.split(".")]


def assembly(all_symbols: list[Symbol]) -> str:
    text = []
    for s in all_symbols:
        section = {"FUNC": ".text", "OBJECT": '.section .bss,"aw",%nobits', "TLS": '.section .tbss,"awT",%nobits'}[s.kind]
        kind = {"FUNC": "function", "OBJECT": "object", "TLS": "tls_object"}[s.kind]
        size = max(s.size, 1)
        text.append(f"{section}\n.balign 16\n.globl {s.name}\n.type {s.name}, %{kind}\n.size {s.name}, {size}\n{s.name}:\n.zero {size}")
    return "\n".join(text)


def version_script(all_symbols: list[Symbol]) -> str:
    by_version: dict[str, list[str]] = defaultdict(list)
    for s in all_symbols:
        by_version[s.version].append(s.name)
    return "\n".join(f"{version} {{ {'; '.join(names)}; }};" for version, names in sorted(by_version.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("newest", nargs="+", metavar="VERSION")
    parser.add_argument("--map", action="store_true")
    args = parser.parse_args()
    found = symbols(args.library, args.newest)
    print(version_script(found) if args.map else assembly(found))


if __name__ == "__main__":
    main()
