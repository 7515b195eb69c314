"""The pages of the site: Markdown of the tree, with links that hold in the site."""
import json
import os
import pathlib
import re
import shutil

REPOSITORY = "https://github.com/vibeflight/vibeflight"
# Pages from outside of docs/, and those of docs/ that have another place in the site, by their paths in the tree.
PLACES = {
    "README.md": "index.md",
    "docs/README.md": "documentation.md",
    "CONTRIBUTING.md": "contributing.md",
    "clients/python/README.md": "clients/python.md",
    "integration/DIFFERENCES.md": "differences.md",
}
CHANGES = "changes/index.md"
CODE = re.compile(r"^(```|~~~).*?^\1|(`+)(?!`).+?(?<!`)\2(?!`)", re.M | re.S)
TARGET = re.compile(r"\]\(([^)\s]+)\)")


def write(root, folder):
    """Writes the pages of the tree, and their images, below a folder."""
    places = places_of(root)
    for source, place in places.items():
        path = root / source
        if place.startswith(CHANGES):
            continue
        text = markdown(json.loads(path.read_text(encoding="utf-8"))) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
        save(folder / place, linked(text, root, source, place, places))
    save(folder / CHANGES, changes(root, places))
    shutil.copytree(root / "docs" / "images", folder / "images")


def save(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def places_of(root):
    """Where each page of the tree is in the site, by its path in the tree."""
    places = dict(PLACES)
    for path in sorted([*root.glob("docs/**/*.md"), *root.glob("docs/**/*.ipynb")]):
        source, below = path.relative_to(root).as_posix(), path.relative_to(root / "docs").as_posix()
        if below.startswith("changes/"):
            places[source] = CHANGES if path.name == "README.md" else f"{CHANGES}#{path.stem}"
        else:
            index = path.name == "README.md"
            places.setdefault(source, below.removesuffix("README.md") + "index.md" if index else str(pathlib.PurePosixPath(below).with_suffix(".md")))
    return places


def linked(text, root, source, place, places):
    """The text of a page with its links as they lead from its place in the site."""
    code = [found.span() for found in CODE.finditer(text)]

    def link(found):
        target = found[1]
        if re.match(r"[a-z]+:|#", target) or any(start <= found.start() < end for start, end in code):
            return found[0]
        return f"]({destination(target, root, source, place, places)})"

    return TARGET.sub(link, text)


def destination(target, root, source, place, places):
    """Where a link of a page leads in the site: to another page, an image or a file of the repository."""
    name, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(source), name))
    if path in places:
        to, _, own = places[path].partition("#")
        anchor = anchor or own
    elif path.startswith("docs/images/"):
        to = path.removeprefix("docs/")
    else:
        kind = "tree" if (root / path).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{path}" + (f"#{anchor}" if anchor else "")
    return os.path.relpath(to, os.path.dirname(place) or ".") + (f"#{anchor}" if anchor else "")


def changes(root, places):
    """All changes on one page, those of the newest issue first."""
    text = ["# Changes", "What users notice, by the number of the issue, newest first."]
    files = [path for path in root.glob("docs/changes/*.md") if path.name != "README.md"]
    for path in sorted(files, key=lambda path: (-int(path.stem.partition("-")[0]), path.stem)):
        title, _, rest = path.read_text(encoding="utf-8").partition("\n")
        source = path.relative_to(root).as_posix()
        text.append(f'## {title} {{ #{path.stem} }}')
        text.append(linked(rest.strip(), root, source, CHANGES, places))
    return "\n\n".join(text) + "\n"


def markdown(notebook):
    """A notebook as Markdown: its texts, its code, and what the code printed or returned."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        parts += [shown for output in cell["outputs"] if (shown := of_output(output))]
    return "\n\n".join(parts) + "\n"


def of_output(output):
    if output["output_type"] == "stream":
        return fenced(output["text"])
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img src="data:image/png;base64,{"".join(data["image/png"]).strip()}" alt="what the cell drew">'
    return fenced(data["text/plain"]) if "text/plain" in data else ""


def fenced(lines):
    return f"```text\n{''.join(lines).rstrip()}\n```"
