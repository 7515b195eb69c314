"""The order of the site's pages: that of the links in docs/README.md."""
import json
import os
import re

import pages

HEADING = re.compile(r"^(#+) (.+)$", re.M)
LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)\)")
# Folders whose pages follow their index in the order of their names.
BELOW = {"docs/adr/README.md": "docs/adr", "docs/notebook/README.md": "docs/notebook"}


def of(root):
    """The site's navigation: a list of (title, page) and (title, list)."""
    places = pages.places_of(root)
    tabs = [("Home", "index.md")]
    for level, title, text in sections((root / "docs" / "README.md").read_text(encoding="utf-8")):
        entries = [entry for name, target in LINK.findall(text) if (entry := entry_of(root, name, target, places))]
        if level == 2:
            tabs.append((title, entries))
        elif level == 3:
            tabs[-1][1].append((title, entries))
    tabs[-1][1].append(("Contributing", places["CONTRIBUTING.md"]))
    return tabs


def sections(text):
    """The parts of a page below its headings of levels 2 and 3."""
    found = list(HEADING.finditer(text))
    for heading, following in zip(found, [*found[1:], None]):
        yield len(heading[1]), heading[2], text[heading.end():following.start() if following else len(text)]


def entry_of(root, title, target, places):
    source = os.path.normpath(os.path.join("docs", target))
    if source not in places:
        return None
    title = title.replace("`", "")
    title, place = title[0].upper() + title[1:], places[source]
    if source not in BELOW:
        return title, place
    folder = root / BELOW[source]
    return title, [place, *((heading(path), places[path.relative_to(root).as_posix()]) for path in sorted(folder.glob("*.md")) if path.name != "README.md")]


def heading(path):
    """The heading of a page."""
    return HEADING.search(path.read_text(encoding="utf-8"))[2].replace("`", "")


def toml(entries):
    """The navigation as a value of TOML."""
    return "[" + ", ".join(entry if isinstance(entry, str) else f"{{{text(entry[0])} = {value(entry[1])}}}"
                           for entry in (text(e) if isinstance(e, str) else e for e in entries)) + "]"


def value(of):
    return text(of) if isinstance(of, str) else toml(of)


def text(of):
    return json.dumps(of, ensure_ascii=False)
