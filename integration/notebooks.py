"""Runs the notebooks of docs/tutorial, and writes what their cells give:   notebooks.py [NAME ...]

Each runs in a folder with data/world/countries.geojson, in this Python, with the package and the program of this tree. Of the outputs a notebook keeps
text and small pictures: no HTML, no widgets and no numbers of executions, so that a run changes nothing unless the answers change.
"""
import os
import pathlib
import sys
import tempfile

import naturalearth
import nbclient
import nbformat
import traitlets.config
from serving import BINARY, ROOT

FOLDER = ROOT / "docs" / "tutorial"
KEPT = ("text/plain", "image/png")


def main():
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = FOLDER / f"{name}.ipynb"
            nbformat.write(run(path, pathlib.Path(folder)), path)
            print(path.relative_to(ROOT))


def run(path, folder):
    """The notebook as it is after a run in a folder, where the sample data and its server's cache are written. A cell that fails is an error."""
    naturalearth.write_countries(folder / "data" / "world" / "countries.geojson")
    notebook = nbformat.read(path, as_version=4)
    config = traitlets.config.Config({"KernelManager": {"transport": "ipc", "connection_file": str(folder / "kernel.json")}})
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}, config=config)
    client.execute(env={
        **os.environ, "VIBEFLIGHT_BINARY": str(BINARY), "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": str(ROOT / "clients" / "python" / "src"), "IPYTHONDIR": str(folder / "ipython"), "MPLCONFIGDIR": str(folder / "matplotlib"),
    })
    return tidy(notebook)


def tidy(notebook):
    """The notebook with what it keeps."""
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells, 1):
        cell.id, cell.metadata = f"cell-{number}", {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [output for output in map(kept, cell.outputs) if output]
    return notebook


def kept(output):
    """An output as the notebook keeps it, or None: what a cell writes to standard error is for the person who runs it."""
    if output.output_type == "stream":
        return output if output.name == "stdout" else None
    data = {kind: output.data[kind] for kind in KEPT if kind in output.data}
    if "image/png" in data:
        data = {"text/plain": "a picture", "image/png": data["image/png"]}
    if "application/vnd.jupyter.widget-view+json" in output.data or data.get("text/plain", "").startswith("<"):  # its text has the address of an object
        data = {}
    given = {"data": data, "metadata": {}} | ({"execution_count": None} if output.output_type == "execute_result" else {})
    return nbformat.v4.new_output(output.output_type, **given) if data else None


if __name__ == "__main__":
    main()
