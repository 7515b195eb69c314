"""Each notebook of docs/tutorial runs, and its cells give what the notebook shows. `make notebooks` writes that again."""
import json

import pytest
from serving import ROOT

nbformat = pytest.importorskip("nbformat", reason="the packages of integration/requirements.lock are older: make notebooks installs them again")
notebooks = pytest.importorskip("notebooks", reason="the packages of integration/requirements.lock are older: make notebooks installs them again")
NEEDED = {"lonboard": "lonboard", "sedona": "sedonadb"}
PATHS = sorted((ROOT / "docs" / "tutorial").glob("*.ipynb"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    pytest.importorskip(NEEDED.get(path.stem, "nbclient"))
    shown = nbformat.read(path, as_version=4)
    ran = notebooks.run(path, tmp_path)
    for want, got in zip(shown.cells, ran.cells, strict=True):
        assert outputs(got) == outputs(want), f"{path.name} shows something else than this gives: make notebooks writes it again\n{want.source}"


def outputs(cell):
    """What a cell gives, without the bytes of pictures: they differ from one version of Matplotlib to the next."""
    text = json.loads(json.dumps(cell.get("outputs", [])))
    for output in text:
        if "image/png" in output.get("data", {}):
            output["data"]["image/png"] = "a picture"
    return text


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_shape(path):
    """A notebook is short, begins with what it is about and ends with what to read next. It keeps text and small pictures only."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert len(notebook.cells) <= 12
    assert notebook.cells[0].source.startswith("# ") and notebook.cells[-1].source.startswith("Read next: ")
    assert path.stat().st_size < 40_000
    assert notebooks.tidy(nbformat.read(path, as_version=4)) == notebook
    columns = {"code": 88, "markdown": 160}
    assert not [line for cell in notebook.cells for line in cell.source.splitlines() if len(line) > columns[cell.cell_type]]


def test_which_notebooks():
    assert {path.stem for path in PATHS} == {"duckdb", "from-pyogrio", "geopandas", "lonboard", "polars", "sedona"}


def test_a_cell_that_fails(tmp_path):
    path = tmp_path / "fails.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), path)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        notebooks.run(path, tmp_path)
