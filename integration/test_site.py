"""The project's page: where its links lead, what the check of links finds, and the built site in a browser."""
import json
import subprocess
import sys

import pytest
from serving import ROOT
from test_console import CHROMIUM, WEB, missing

sys.path.insert(0, str(ROOT / "integration" / "site"))
import check  # noqa: E402
import navigation  # noqa: E402
import pages  # noqa: E402

PYTHON = ROOT / ".venv-site" / "bin" / "python"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not (ROOT / ".venv-site" / ".installed").exists():
        pytest.skip(".venv-site is not here: make site installs it")
    folder = tmp_path_factory.mktemp("site") / "site"
    done = subprocess.run([PYTHON, ROOT / "integration" / "site" / "build.py", "--out", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_site_is_complete(site):
    """Each page of docs/ is there, and search knows it."""
    places = {place.partition("#")[0].removesuffix(".md") + ".html" for place in pages.places_of(ROOT).values()}
    assert {path.relative_to(site).as_posix() for path in site.rglob("*.html")} == places
    known = (site / "search.js").read_text(encoding="utf-8")
    assert "Malformed rows and values" in known and "From a clone to a map in GeoPandas" in known


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_site_in_a_browser(site):
    done = subprocess.run(["node", "site.mjs", json.dumps({"site": str(site), "chromium": CHROMIUM})], cwd=WEB, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


def test_navigation_has_every_page():
    """A page that docs/README.md does not name could not be found."""
    def places(entries):
        for entry in entries:
            if isinstance(entry, str):
                yield entry
            else:
                yield from [entry[1]] if isinstance(entry[1], str) else places(entry[1])

    listed = list(places(navigation.of(ROOT)))
    assert len(listed) == len(set(listed))
    assert {place.partition("#")[0] for place in pages.places_of(ROOT).values()} - set(listed) == {"documentation.md"}


@pytest.mark.parametrize("source, target, want", [
    ("README.md", "docs/how-to/cache.md", "how-to/cache.md"),
    ("README.md", "docs/README.md#how-to-guides", "documentation.md#how-to-guides"),
    ("docs/how-to/cache.md", "../README.md", "../documentation.md"),
    ("docs/how-to/cache.md", "../../README.md#formats", "../index.md#formats"),
    ("docs/explanation/cache.md", "../adr/README.md", "../adr/index.md"),
    ("docs/explanation/cache.md", "../images/console-map.png", "../images/console-map.png"),
    ("docs/README.md", "../clients/python/README.md#errors", "clients/python.md#errors"),
    ("docs/how-to/cache.md", "../changes/35-crs.md", "../changes/index.md#35-crs"),
    ("docs/how-to/cache.md", "../../catalog/tree/tree.go", f"{pages.REPOSITORY}/blob/main/catalog/tree/tree.go"),
    ("docs/how-to/cache.md", "../../catalog", f"{pages.REPOSITORY}/tree/main/catalog"),
])
def test_links(source, target, want):
    places = pages.places_of(ROOT)
    assert pages.linked(f"[a `b`]({target})", ROOT, source, places[source], places) == f"[a `b`]({want})"


@pytest.mark.parametrize("text", ["`[a](b.md)`", "```\n[a](b.md)\n```", "[a](https://example.com/b.md)", "[a](#b)"])
def test_text_without_links_of_the_tree(text):
    assert pages.linked(text, ROOT, "README.md", "index.md", {}) == text


@pytest.mark.parametrize("body, want", [
    ('<a href="b.html#x">', []),
    ('<a href="b.html#y">', ["a.html: b.html#y: no such heading"]),
    ('<a href="c.html">', ["a.html: c.html: no such file"]),
    ('<a href="https://example.com/">', []),
    ('<img src="https://example.com/a.png">', ["a.html: https://example.com/a.png: fetched from another site"]),
    ('<script src="//example.com/a.js">', ["a.html: //example.com/a.js: fetched from another site"]),
    ('<link rel="stylesheet" href="https://example.com/a.css">', ["a.html: https://example.com/a.css: fetched from another site"]),
])
def test_check(tmp_path, body, want):
    (tmp_path / "a.html").write_text(body)
    (tmp_path / "b.html").write_text('<h2 id="x">')
    assert check.faults(tmp_path) == want


def test_notebook_as_markdown():
    cells = [
        {"cell_type": "markdown", "source": ["# A\n", "text"]},
        {"cell_type": "code", "source": ["1 + 1"], "outputs": [{"output_type": "execute_result", "data": {"text/plain": ["2"]}}]},
        {"cell_type": "code", "source": ["print('a')"], "outputs": [{"output_type": "stream", "text": ["a\n"]}]},
    ]
    assert pages.markdown({"cells": cells}) == "# A\ntext\n\n```python\n1 + 1\n```\n\n```text\n2\n```\n\n```python\nprint('a')\n```\n\n```text\na\n```\n"
