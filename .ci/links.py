#!/usr/bin/env python3
"""Checks that every relative link in the tree's Markdown leads to a file that exists, and to a heading where it names one."""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


def headings(path):
    """The anchors of a page, as GitHub makes them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    found = re.findall(r"^#+\s+(.*?)\s*$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in found}


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root, check=True, capture_output=True, text=True).stdout
    pages = [root / p for p in listed.split("\0") if p and (root / p).exists()]
    links, dead = 0, []
    for page in pages:
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            if not file.is_relative_to(root) or not file.exists():
                dead.append(f"{page.relative_to(root)}: {target}: no such file")
            elif anchor and anchor not in headings(file):
                dead.append(f"{page.relative_to(root)}: {target}: no such heading")
    print("\n".join(dead + [f"docs: {links} links on {len(pages)} pages, {len(dead)} dead"]))
    sys.exit(bool(dead))


if __name__ == "__main__":
    main()
