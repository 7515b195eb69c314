"""Reads the corpus with vibeflight and with GDAL, and reports where the tables differ.

    python integration/corpus/compare.py --out build/corpus [--only gml] [--binary bin/vibeflight] [--files DIR]

Writes report.tsv, a line per file, and summary.txt. Both are the same for the same binary and corpus. A format that the binary does not
read is skipped, and named in the summary.
"""
import argparse
import collections
import csv
import hashlib
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.flight as flight

import peer
from fetch import CACHE, FILES, chosen, folder_of, table
from kinds import CATALOG
from tables import differences

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import serving  # noqa: E402

MODES = ("fail", "null", "repair")
SECONDS = 60
OPTIONS = {"xlsx": {"header": "true", "keep_geometry_columns": "true", "geometry": "none"}}  # as GDAL reads it: peer.XLSX
COLUMNS = ["format", "path", "gdal", *MODES, *(f"{m}_verdict" for m in MODES), "deviations"]


def corpus():
    """Format and path below FILES of each file, in the order of the manifest."""
    for line in table("manifest.tsv"):
        if line["format"] not in ("", "prj"):
            yield line["format"], entry(f"{folder_of(line['package'])}/{line['path']}")


def local(folder):
    """Format and path of each file of another folder."""
    files = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
    for path, format, _ in chosen(Contents(files)):
        if format != "prj":
            yield format, entry(path)


class Contents(dict):
    """Files that are read when asked for."""

    def __getitem__(self, path):
        return super().__getitem__(path).read_bytes()


def entry(path):
    """What the server and GDAL know a file as: a File Geodatabase is its folder."""
    folder, _, name = path.rpartition("/")
    return folder if name == CATALOG else path


class Ours:
    """A server over the corpus, and its tables."""

    def __init__(self, server):
        self.server, self.client = server, server.client()
        self.options = flight.FlightCallOptions(timeout=SECONDS)

    def formats(self, files):
        """The formats of which the server lists a file."""
        listed = {info.descriptor.path[0].decode() for info in self.client.list_flights() if info.descriptor.path}
        return {format for format, path in files if path.replace("%", "%25").replace("#", "%23") in listed}

    def layers(self, format, path, mode):
        """Names and tables of a file's layers, and the deviations counted."""
        name = path.replace("%", "%25").replace("#", "%23")
        request = {"name": name, "options": {"on_error": mode, **OPTIONS.get(format, {})}}
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


def ask(ours, format, path, mode):
    """Layers and deviations, or the message of the error."""
    try:
        return *ours.layers(format, path, mode), None
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


def answers(files):
    """Where GDAL's answers about the files of a folder are kept."""
    if files == FILES:
        return CACHE / "gdal"
    return CACHE / "gdal-local" / hashlib.sha256(str(files).encode()).hexdigest()[:16]


def compare(ours, files, format, path):
    folder = answers(files) / path
    theirs = peer.answer(files / path, folder)
    line = {"format": format, "path": path, "gdal": f"{rows(theirs['layers'])} rows" if "layers" in theirs else theirs["error"].replace("\n", " ")}
    error = None
    for mode in MODES:
        if mode == "fail" or error is not None:  # what fail reads, the other modes read equally: readers/all tests that
            layers, deviations, error = ask(ours, format, path, mode)
        line[mode] = f"{rows(layers)} rows" if error is None else error
        line[f"{mode}_verdict"] = verdict(layers, error, theirs, folder)
        line["deviations"] = deviations
    return line


def write_summary(lines, skipped, out):
    print(f"{len(lines)} files", file=out)
    for format, count in sorted(skipped.items()):
        print(f"{count} files of format {format} were skipped: {serving.BINARY.name} does not list them", file=out)
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
    arguments.add_argument("--files", type=pathlib.Path, help="a folder to compare instead of the corpus")
    given = arguments.parse_args()
    serving.BINARY = given.binary
    given.out.mkdir(parents=True, exist_ok=True)
    lines, skipped = [], collections.Counter()
    folder = given.files.resolve() if given.files else FILES
    files = [f for f in (local(folder) if given.files else corpus()) if not given.only or f[0] in given.only]
    with serving.Server(folder, cache="") as server, open(given.out / "report.tsv", "w", encoding="utf-8", newline="") as f:
        report = csv.DictWriter(f, COLUMNS, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, escapechar="\\")
        report.writeheader()
        ours = Ours(server)
        known = ours.formats(files)
        for format, path in files:
            if format not in known:
                skipped[format] += 1
                continue
            lines.append(compare(ours, folder, format, path))
            report.writerow({k: str(v).replace("\t", " ") for k, v in lines[-1].items()})
            f.flush()
    with open(given.out / "summary.txt", "w", encoding="utf-8") as f:
        write_summary(lines, skipped, f)
    write_summary(lines, skipped, sys.stdout)


if __name__ == "__main__":
    main()
