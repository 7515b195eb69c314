"""Reads the corpus with vibeflight and with GDAL, and reports where the tables differ.

    python integration/corpus/compare.py --out build/corpus [--only gml] [--binary bin/vibeflight]

Writes report.tsv, a line per file, and summary.txt. Both are the same for the same binary and corpus.
"""
import argparse
import collections
import csv
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.flight as flight

import peer
from fetch import CACHE, FILES, folder_of, table
from tables import differences

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import serving  # noqa: E402

MODES = ("fail", "null", "repair")
SECONDS = 60
COLUMNS = ["format", "path", "gdal", *MODES, *(f"{m}_verdict" for m in MODES), "deviations"]


def corpus(only):
    """Format and path below FILES of each file, in the order of the manifest."""
    for line in table("manifest.tsv"):
        if line["format"] not in ("", "prj") and (not only or line["format"] in only):
            yield line["format"], f"{folder_of(line['package'])}/{line['path']}"


class Ours:
    """A server over the corpus, and its tables."""

    def __init__(self, server):
        self.server, self.client = server, server.client()
        self.options = flight.FlightCallOptions(timeout=SECONDS)

    def layers(self, path, mode):
        """Names and tables of a file's layers, and the deviations counted."""
        name = path.replace("%", "%25").replace("#", "%23")
        request = {"name": name, "options": {"on_error": mode}}
        facts = self.describe(request)
        deviations = (facts.get("deviations") or {}).get("count", 0)
        found = []
        for layer in facts.get("layers") or [None]:
            escaped = "" if layer is None else "#" + layer.replace("%", "%25").replace("#", "%23")
            ticket = {**request, "name": name + escaped, "geometry_encoding": "wkb"}
            got = self.client.do_get(flight.Ticket(json.dumps(ticket)), self.options).read_all()
            got.validate(full=True)
            found.append((layer, got))
        return found, deviations

    def describe(self, request):
        (result,) = self.client.do_action(flight.Action("describe", json.dumps(request).encode()), self.options)
        return json.loads(result.body.to_pybytes())


def ask(ours, path, mode):
    """Layers and deviations, or the message of the error."""
    try:
        return *ours.layers(path, mode), None
    except (pa.ArrowException, flight.FlightError, OSError) as e:
        return [], 0, str(e).split(". gRPC client debug")[0].replace("\n", " ")[:500]


def rows(layers):
    return sum(layer["rows"] if isinstance(layer, dict) else layer[1].num_rows for layer in layers)


def verdict(layers, error, theirs, folder):
    """equal; differs: its kinds; ours only; GDAL only; none."""
    gdal = theirs.get("layers") or []
    if error is not None:
        return "GDAL only" if rows(gdal) else "none"
    if not gdal:
        return "ours only" if rows(layers) else "none"
    kinds = differences(layers, gdal, folder)
    return f"differs: {', '.join(kinds)}" if kinds else "equal"


def compare(ours, format, path):
    folder = CACHE / "gdal" / path
    theirs = peer.answer(FILES / path, folder)
    line = {"format": format, "path": path, "gdal": f"{rows(theirs['layers'])} rows" if "layers" in theirs else theirs["error"].replace("\n", " ")}
    error = None
    for mode in MODES:
        if mode == "fail" or error is not None:  # what fail reads, the other modes read equally: readers/all tests that
            layers, deviations, error = ask(ours, path, mode)
        line[mode] = f"{rows(layers)} rows" if error is None else error
        line[f"{mode}_verdict"] = verdict(layers, error, theirs, folder)
        line["deviations"] = deviations
    return line


def write_summary(lines, out):
    print(f"{len(lines)} files", file=out)
    for mode in MODES:
        count = collections.Counter((line["format"], line[f"{mode}_verdict"].partition(":")[0]) for line in lines)
        verdicts = ["equal", "differs", "ours only", "GDAL only", "none"]
        print(f"\non_error: {mode}\n{'':12}" + "".join(f"{v:>11}" for v in verdicts), file=out)
        for format in [*sorted({f for f, _ in count}), "all"]:
            of = [sum(n for (f, v), n in count.items() if v == verdict and format in (f, "all")) for verdict in verdicts]
            print(f"{format:12}" + "".join(f"{n:11}" for n in of), file=out)
    alone = [line for line in lines if line["fail_verdict"] == "GDAL only"]
    same = [line for line in alone if line["repair"] == line["gdal"]]
    print(f"\n{len(alone)} files that GDAL alone reads with on_error: fail; with repair {len(same)} have GDAL's rows, "
          f"{len(same) / max(1, len(alone)):.1%}", file=out)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--out", type=pathlib.Path, required=True, help="folder of the report")
    arguments.add_argument("--only", type=lambda v: v.split(","), help="files of these formats: gml,kml")
    arguments.add_argument("--binary", type=pathlib.Path, default=serving.BINARY)
    given = arguments.parse_args()
    serving.BINARY = given.binary
    given.out.mkdir(parents=True, exist_ok=True)
    lines = []
    with serving.Server(FILES, cache="") as server, open(given.out / "report.tsv", "w", encoding="utf-8", newline="") as f:
        report = csv.DictWriter(f, COLUMNS, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, escapechar="\\")
        report.writeheader()
        ours = Ours(server)
        for format, path in corpus(given.only):
            lines.append(compare(ours, format, path))
            report.writerow({k: str(v).replace("\t", " ") for k, v in lines[-1].items()})
            f.flush()
    with open(given.out / "summary.txt", "w", encoding="utf-8") as f:
        write_summary(lines, f)
    write_summary(lines, sys.stdout)


if __name__ == "__main__":
    main()
