"""Checks the licences in a release's SBOM against the list of allowed ones, and prints them as the table of docs/reference/licences.md."""

import json
import sys
from pathlib import Path

# Licences under which a program of this licence may contain a module. The names are SPDX's.
ALLOWED = {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "Unlicense", "Zlib"}
# Beginnings of modules' names, and their licence. The detector takes these files for BSD-Source-Code, but their text is that of BSD-3-Clause.
READ = {"golang.org/x/": "BSD-3-Clause"}


def main() -> int:
    sbom = json.loads(Path(sys.argv[1]).read_text())
    refused = []
    print("# Licences\n\nThe Go modules in `vibeflight` for Linux, from the SBOM of `make release`. `make audit` writes this page, and refuses a module "
          "that has\nnone of these licences: " + ", ".join(sorted(ALLOWED)) + ".\n\n| module | version | licence |\n| --- | --- | --- |")
    for component in sorted(sbom["components"], key=lambda c: c["name"]):
        name = component["name"]
        found = {entry["license"].get("id", entry["license"].get("name", "")) for entry in component.get("evidence", {}).get("licenses", [])}
        found |= {entry["license"].get("id", "") for entry in component.get("licenses", [])} - {""}
        for beginning, licence in READ.items():
            if name.startswith(beginning):
                found = {licence}
        # A file may have several; one that is allowed is enough, since the detector lists similar texts too.
        if not found & ALLOWED:
            refused.append(f"{name}: {', '.join(sorted(found)) or 'unknown'}")
        print(f"| {name} | {component.get('version', '')} | {', '.join(sorted(found & ALLOWED)) or 'unknown'} |")
    for line in refused:
        print(f"audit: licence not allowed: {line}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
