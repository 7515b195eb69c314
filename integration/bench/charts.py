"""Draws the charts of docs/performance.md from results/*.json, as SVG: the same results give the same bytes."""
import io
import re

import matplotlib
from matplotlib.figure import Figure

OURS, DUCKDB, GDAL, OTHER = "#2563eb", "#f59e0b", "#6b7280", "#94a3b8"
# Texts stay texts; the white ground is for pages in dark colors too.
STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "vibeflight", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False, "axes.edgecolor": "#9ca3af", "ytick.left": False,
    "text.color": "#111827", "axes.labelcolor": "#374151", "xtick.color": "#374151", "ytick.color": "#111827",
}


def charts(results, pick):
    """The texts of the pictures by their names in docs/images. results are those of render.load by kind; pick finds a run."""
    cpu, gpu, formats, wire = (results[kind]["runs"] for kind in ["files", "gpu", "formats", "wire"])

    def core(file, peer):
        run = pick(cpu, file=file, peer=peer, threads=1)
        return run and run["mb_per_cpu_second"]

    def device(file, engine):
        run = pick(gpu, file=file, engine=engine, again=False)
        return run and run["gb_per_second"]

    def more(file, peer):
        run = pick(formats, file=file, peer=peer, threads=1)
        return run and run["mb_per_cpu_second"]

    def sent(way, server):
        over, streams = way
        return pick(wire, over=over, streams=streams, server=server)["mb_per_second"]

    files = list(dict.fromkeys(run["file"] for run in cpu))
    on_gpu = [file for file in files if device(file, "cuda")]
    others = list(dict.fromkeys(run["file"] for run in formats))
    ways = list(dict.fromkeys((run["over"], run["streams"]) for run in wire))
    return {
        "chart-parsing.svg": bars("Parsing, one core", "MB per CPU-second", files, {
            ("vibeflight", OURS): [core(file, "vibeflight") for file in files],
            ("DuckDB", DUCKDB): [core(file, "duckdb") for file in files],
            ("GDAL", GDAL): [core(file, "pyogrio") for file in files],
        }, {(run["file"], "DuckDB"): " without geometry" for run in cpu if run["peer"] == "duckdb" and not run["geometry"]}),
        "chart-gpu.svg": bars("Parsing on a GPU and on 16 cores", "GB per second", on_gpu, {
            ("NVIDIA H200", OURS): [device(file, "cuda") for file in on_gpu],
            ("16 cores", OTHER): [device(file, "cpu") for file in on_gpu],
        }),
        "chart-formats.svg": bars("More formats, one core", "MB per CPU-second", others, {
            ("vibeflight", OURS): [more(file, "vibeflight") for file in others],
            ("GDAL", GDAL): [more(file, "pyogrio") for file in others],
        }),
        "chart-wire.svg": bars("Sending a table", "MB per second", [f"{over}, {streams} stream{'s' * (streams > 1)}" for over, streams in ways], {
            ("vibeflight", OURS): [sent(way, "vibeflight") for way in ways],
            ("pyarrow's C++ server", OTHER): [sent(way, "pyarrow") for way in ways],
        }),
    }


def bars(title, unit, names, series, notes=None):
    """A chart of horizontal bars: a group for each name, a bar for each series, with its value after it. None has no bar.

    notes has what follows the value of a name and the label of a series.
    """
    height = 0.8 / len(series)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 0.75 + len(names) * (0.09 + 0.155 * len(series))), layout="constrained", facecolor="white")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
        axes = figure.subplots()
        for i, ((label, color), values) in enumerate(series.items()):
            at = [(row + i * height, value, (notes or {}).get((name, label), "")) for row, (name, value) in enumerate(zip(names, values)) if value is not None]
            drawn = axes.barh([y for y, _, _ in at], [value for _, value, _ in at], height=0.92 * height, color=color, label=label)
            axes.bar_label(drawn, [f"{value:,}{note}" for _, value, note in at], padding=2, fontsize=7)
        axes.set_yticks([row + 0.4 - height / 2 for row in range(len(names))], names)
        axes.invert_yaxis()
        axes.set_xlabel(unit)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.margins(x=0.08, y=0.01)
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
        axes.legend(frameon=False, loc="lower right")
        picture = io.StringIO()
        figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r"[ \t]+$", "", picture.getvalue(), flags=re.M)
