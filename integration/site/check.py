"""What is wrong with the built site: links that lead nowhere, and what a browser would fetch from elsewhere."""
import html.parser
import pathlib
import re
import urllib.parse

FETCHED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href"), ("form", "action")}
NOT_FETCHED = {"canonical", "next", "prev", "alternate", "edit"}


def faults(folder):
    """A line for each fault of the site in a folder."""
    site = {path.relative_to(folder).as_posix(): Page(path) for path in sorted(folder.rglob("*.html"))}
    found = []
    for name, page in site.items():
        for tag, attribute, target, rel in page.links:
            fault = fault_of(folder, site, name, tag, attribute, target, rel)
            if fault:
                found.append(f"{name}: {target}: {fault}")
    for path in sorted(folder.rglob("*.css")):
        for target in re.findall(r"url\(\s*['\"]?(https?:[^)'\"]+)", path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(folder)}: {target}: fetched from another site")
    return found


def fault_of(folder, site, name, tag, attribute, target, rel):
    url = urllib.parse.urlsplit(target)
    if url.scheme in ("http", "https") or url.netloc:
        return "fetched from another site" if (tag, attribute) in FETCHED and not rel & NOT_FETCHED else None
    if url.scheme:
        return None
    path = (folder / name).parent / urllib.parse.unquote(url.path) if url.path else folder / name
    if path.is_dir():
        path /= "index.html"
    path = pathlib.Path(path).resolve()
    if not path.exists():
        return "no such file"
    anchor = urllib.parse.unquote(url.fragment)
    if anchor and path.suffix == ".html" and anchor not in site[path.relative_to(folder.resolve()).as_posix()].anchors:
        return "no such heading"
    return None


class Page(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {"__skip"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        for attribute in ("href", "src", "action"):
            if given.get(attribute):
                self.links.append((tag, attribute, given[attribute], set((given.get("rel") or "").split())))
