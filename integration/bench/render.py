"""Renders docs/performance.md with its charts, docs/explanation/fleet-simulation.md and the figures of the README from results/*.json:   render.py [--condense RUNS]

The pages' texts are performance.md.in and fleet-simulation.md.in; each {{ name }} there is a table or a figure made below. README.md has its table between two comments.
--condense prints the medians of a file that `bench.py --json` wrote, in the shape of results/*-files.json; results/README.md describes it.
"""
import argparse
import json
import pathlib
import re
import statistics
import textwrap

import charts

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GB = 1e9
PAGE = ROOT / "docs" / "performance.md"
FLEET_PAGE = ROOT / "docs" / "explanation" / "fleet-simulation.md"
README = ROOT / "README.md"
IMAGES = ROOT / "docs" / "images"
BETWEEN = re.compile(r"(<!-- figures: make performance -->\n).*?(<!-- end of figures -->\n)", re.S)
OTHER_READERS = {"duckdb": "DuckDB", "polars": "Polars", "pandas": "pandas with GeoPandas", "geoarrow": "pyarrow with geoarrow-c", "shapely": "Shapely"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--condense", help="print the medians of the runs in this file")
    options = parser.parse_args()
    if options.condense:
        print(json.dumps(condense(options.condense), indent=1))
        return
    PAGE.write_text(page(), encoding="utf-8")
    FLEET_PAGE.write_text(fleet_page(), encoding="utf-8")
    README.write_text(readme(), encoding="utf-8")
    for name, picture in pictures().items():
        (IMAGES / name).write_text(picture, encoding="utf-8")


def page():
    """The text of docs/performance.md."""
    return fill("performance.md.in", figures())


def fleet_page():
    """The text of docs/explanation/fleet-simulation.md."""
    return fill("fleet-simulation.md.in", fleet())


def fill(template, values):
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: values[found[1]], (HERE / template).read_text(encoding="utf-8"))


def readme():
    """The text of README.md with the figures of today's results."""
    table = figures()["readme"] + "\n"
    return BETWEEN.sub(lambda found: found[1] + table + found[2], README.read_text(encoding="utf-8"))


def pictures():
    """The charts of docs/performance.md, by their names in docs/images."""
    return charts.charts({kind: load(kind) for kind in ["files", "gpu", "formats", "wire"]}, pick)


def load(kind):
    """The newest result of a kind, such as "wire"."""
    (*_, newest) = sorted(HERE.glob(f"results/*-{kind}.json"))
    return {"date": newest.name[:10], **json.loads(newest.read_text(encoding="utf-8"))}


def figures():
    results = {kind: load(kind) for kind in ["files", "gpu", "gpu-aims", "wire", "first-batch", "memory", "sql", "reprojection"]}
    values = {
        "parsing": parsing(results["files"]["runs"], results["gpu"]["runs"]),
        "readers": readers(results["files"]["runs"]),
        "aims": aims(results["gpu-aims"]["runs"]),
        "wire": wire(results["wire"]["runs"]),
        "first_batch": first_batch(results["first-batch"]["runs"]),
        "memory_of_a_parse": memory_of_a_parse(results["files"]["runs"]),
        "memory_of_a_server": memory_of_a_server(results["memory"]["runs"]),
        "sql": sql(results["sql"]["runs"]),
        "reprojection": reprojection(results["reprojection"]),
        "reprojection_differences": reprojection_differences(results["reprojection"]["runs"]),
        "readme": highlights(results),
        "formats": formats(),
    }
    for kind, result in results.items():
        for key in ["date", "machine", "versions", "command"]:
            values[f"{kind.replace('-', '_')}_{key}"] = result.get(key, "")
    return values


def table(head, rows):
    """A table in Markdown. Columns after the first one whose heading starts with > are aligned to the right."""
    rule = ["--:" if cell.startswith(">") else "---" for cell in head]
    lines = [[cell.removeprefix(">") for cell in head], rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def pick(runs, **wanted):
    """The first run with these values, or None."""
    return next((run for run in runs if all(run.get(key) == value for key, value in wanted.items())), None)


def parsing(cpu, gpu):
    rows = []
    for name in dict.fromkeys(run["file"] for run in cpu):
        ours, both = pick(cpu, file=name, peer="vibeflight", threads=1), pick(cpu, file=name, peer="vibeflight", threads=2)
        many, device = (pick(gpu, file=name, engine=engine, again=False) for engine in ["cpu", "cuda"])
        rows.append([
            f"`{name}`", f"**{ours['mb_per_cpu_second']:,}**", per_cpu_second(pick(cpu, file=name, peer="duckdb", threads=1)),
            per_cpu_second(pick(cpu, file=name, peer="pyogrio")), f"{both['megabytes'] / both['seconds']:,.0f}", gigabytes(many), gigabytes(device),
        ])
    return table(["file", ">one core", ">DuckDB", ">GDAL", ">two cores, MB/s", ">16 cores, GB/s", ">GPU, GB/s"], rows)


def per_cpu_second(run):
    return "–" if run is None else f"{run['mb_per_cpu_second']:,}" + ("" if run["geometry"] else " ¹")


def gigabytes(run):
    return "–" if run is None else f"{run['gb_per_second']}"


def readers(cpu):
    rows = []
    for run in cpu:
        if run["peer"] in OTHER_READERS and (run["peer"] != "duckdb" or run["threads"] > 1):
            ours = pick(cpu, file=run["file"], peer="vibeflight", threads=run["threads"])
            rows.append([
                f"`{run['file']}`", OTHER_READERS[run["peer"]] + (", two cores" if run["threads"] > 1 else "") + ("" if run["geometry"] else " ¹"),
                f"{run['mb_per_cpu_second']:,}", f"{run['seconds']:.3f}", f"{ours['seconds']:.3f}",
            ])
    return table(["file", "reader", ">MB per CPU-second", ">seconds", ">vibeflight on as many cores, seconds"], rows)


def aims(runs):
    return table(["file of `gen_buildings.c`", ">GB", ">seconds, three processes", ">aim"], [
        [run["file"], f"{run['gigabytes']:.2f}", ", ".join(f"{seconds:.4f}" for seconds in run["seconds"]), f"{run['aim']:.4f}"] for run in runs
    ])


def wire(runs):
    rows = []
    for ours in runs:
        if ours["server"] != "vibeflight":
            continue
        theirs = pick(runs, over=ours["over"], streams=ours["streams"], server="pyarrow")
        rows.append([
            f"{ours['over']}, {ours['streams']}", f"**{ours['mb_per_second']:,}**", f"{theirs['mb_per_second']:,}", f"{ours['wall_ratio']:.2f}",
            f"{ours['server_cpu_s_per_gb']:.3f}", f"{theirs['server_cpu_s_per_gb']:.3f}", f"{ours['allocated_mb_per_gb']:.2f}",
        ])
    return table(["transport, streams", ">MB/s", ">pyarrow, MB/s", ">time to pyarrow's", ">server CPU s/GB", ">pyarrow, CPU s/GB", ">MB allocated per GB"], rows)


def first_batch(runs):
    return table(["table and connection", "machine", ">milliseconds"], [[run["case"], run["machine"], f"{run['ms']}"] for run in runs])


def formats():
    """Files of containers.py: vibeflight and GDAL, each with one core of its own."""
    if not list(HERE.glob("results/*-formats.json")):
        return "Not measured yet."
    result, rows = load("formats"), []
    for name in dict.fromkeys(run["file"] for run in result["runs"]):
        one, two = (pick(result["runs"], file=name, peer="vibeflight", threads=n) for n in [1, 2])
        gdal = pick(result["runs"], file=name, peer="pyogrio")
        rows.append([
            f"`{name}`", f"{one['megabytes']}", f"{one['cpu_seconds']:.3f}", f"{gdal['cpu_seconds']:.3f}", f"**{gdal['cpu_seconds'] / one['cpu_seconds']:.1f}**",
            f"{two['seconds'] / one['seconds']:.2f}", f"{one['rss_anon_peak_mb']}", f"{gdal['rss_anon_peak_mb']}",
        ])
    head = ["file", ">MB", ">vibeflight, CPU s", ">GDAL, CPU s", ">times", ">two cores", ">vibeflight, MB", ">GDAL, MB"]
    return table(head, rows) + "\n\n" + wrapped(f"{result['date']}, {result['machine']}; {result['versions']}. {result['note']}")


def memory_of_a_parse(cpu):
    rows = []
    for name in dict.fromkeys(run["file"] for run in cpu):
        of = [pick(cpu, file=name, peer=peer, threads=1) for peer in ["vibeflight", "duckdb", "pyogrio"]]
        rows.append([f"`{name}`", f"{of[0]['megabytes']}", *("–" if run is None else f"{run['rss_anon_peak_mb']}" for run in of)])
    return table(["file", ">MB", ">vibeflight", ">DuckDB", ">GDAL"], rows)


def memory_of_a_server(runs):
    return table([">file, GB", ">rows", ">table, GB", ">peak with the parse, MiB", ">peak after a restart, MiB"], [
        [f"{run['gigabytes']}", f"{run['rows']:,}", f"{run['table_gb']:g}", f"{run['parse_mib']}", f"{run['after_restart_mib']}"] for run in runs
    ])


def sql(runs):
    return table(["query", ">milliseconds, two runs", ">ratio to DuckDB's own table"], [
        [run["query"], ", ".join(f"{ms}" for ms in run["ms"]), ", ".join(f"{ratio:.2f}" for ratio in run["ratio"])] for run in runs
    ])


STEPS = {"to-3857": "to Web Mercator", "from-3857": "from Web Mercator", "to-32632": "to UTM", "from-32632": "from UTM"}


def reprojection(result):
    return table(["", ">plain Go", ">AVX2", ">AVX-512", ">NVIDIA H200"], [
        [text, *(f"{result['speed'][f'{step}/{with_}']:,.0f}" for with_ in ["scalar", "avx2", "avx512"]), f"{result['gpu'][step]:,}"] for step, text in STEPS.items()
    ])


def reprojection_differences(runs):
    return table(["from", "to", "ordinate", ">same bits", ">within 1 nm", ">largest difference"], [
        [run["from"], run["to"], name, f"{100 * run[name]['equal']:.2f} %", f"{100 * run[name]['within_1e-9_m']:.2f} %",
         f"{run[name]['max']:.2g}{'°' if run['to'] == 'EPSG:4326' else ' m'}"]
        for run in runs for name in "xy"
    ])


def fleet():
    """What the page of the simulation shows."""
    simulated = load("fleet-simulation")
    parameters = json.loads((ROOT / "integration" / "fleetsim" / "figures.json").read_text(encoding="utf-8"))
    values = {
        "simulated": simulation(simulated["runs"]), "simulated_scenario": scenario(simulated), "costs": costs(parameters),
        "compared": "Real fleets are not measured yet.",
    }
    if list(HERE.glob("results/*-fleet-compared.json")):
        compared = load("fleet-compared")
        values["compared"] = comparison(compared["runs"]) + "\n\n" + wrapped(
            f"{compared['date']}, {compared['machine']}. One-core servers, their clients and PostgreSQL share the cores; the shared cache is a folder. "
            f"Rates, parses and the share of local reads are checked: `fleetsim -compare` fails if one differs by more than {compared['within']:.0%}."
        )
    return values


def wrapped(text):
    return textwrap.fill(text, 150, break_on_hyphens=False)


def scenario(result):
    c = result["parameters"]
    reads, replica, shared = c["reads"], c["replica"], c["shared"]
    return wrapped(
        f"{c['files']['count']:,} files, median {c['files']['median_bytes'] / 1e6:g} MB, popularity with Zipf's exponent {reads['zipf']:g}. For each replica "
        f"{reads['rate']:g} reads per second, {reads['count']:,} in all, of which the first {reads['warmup']:,} are not counted: caches are empty at the start. "
        f"{reads['partial_share']:.0%} of the reads are for {reads['partial_fraction']:.0%} of a table. Each replica has {replica['cores']:g} cores, "
        f"{replica['cache_bytes'] / GB:g} GB of disk, {replica['memory_bytes'] / GB:g} GB of memory for mapped tables and a link of "
        f"{replica['bytes_per_second'] * 8 / 1e9:g} Gbit/s. It dies {c['deaths']['per_replica_hour']:g} times an hour. The shared cache answers after "
        f"{shared['latency_seconds'] * 1e3:g} ms and sends {shared['bytes_per_second'] / GB:g} GB/s at most."
    )


def simulation(runs):
    rows = []
    for run in runs:
        hits, moved = run["hits"], run["bytes"]
        rows.append([
            f"{run['replicas']:,}", run["placement"], f"{hits['mapped'] + hits['disk']:.1%}", f"{hits['shared']:.1%}", f"{hits['parse']:.1%}",
            f"{run['parses_per_file']:.4f}", f"{moved['bucket_to_replicas'] / moved['replicas_to_clients']:.2f}", f"{run['latency_seconds']['p50'] * 1e3:.1f}",
            f"{run['latency_seconds']['p99'] * 1e3:,.0f}", f"{run['utilisation']['cpu']:.1%}", f"{run['utilisation']['busiest_reads']:.1f}",
        ])
    return table([">replicas", "placement", ">local", ">shared", ">parsed", ">parses per file", ">moved", ">median, ms", ">p99, ms", ">CPU", ">busiest"], rows)


def comparison(runs):
    rows = []
    for run in runs:
        digits = 0 if run["quantity"] in ("parses", "tables fetched") else 1
        rows.append([
            str(run["replicas"]), run["placement"], run["caches"], run["quantity"] + ("" if run["checked"] else " ¹"), f"{run['predicted']:,.{digits}f}",
            f"{run['measured']:,.{digits}f}", f"{run['difference']:+.1%}",
        ])
    return table([">replicas", "placement", "caches", "quantity", ">predicted", ">measured", ">difference"], rows) + "\n\n¹ not checked."


def costs(figures):
    rows = []
    for name, what in [
        ("info", "GetFlightInfo of a known table"), ("read", "DoGet of a mapped table"), ("open", "mapping and checking a table"), ("parse", "parse"),
        ("save", "saving to the folder"), ("upload", "upload to a shared folder"), ("fetch", "fetch from a shared folder"),
    ]:
        constant = figures["costs"].get(f"{name}_seconds")
        slope = figures["costs"].get({"open": "check"}.get(name, name) + "_seconds_per_gb")
        rows.append([what, *("–" if x is None else f"{x * scale:.2f}" for x, scale in [(constant, 1e3), (slope, 1)])])
    client = figures["client"]
    rows.append(["a client's calls", f"{client['cpu_call_seconds'] * 1e3:.2f}", f"{client['cpu_seconds_per_gb']:.2f}"])
    rows.append(["PostgreSQL, for a parse", f"{figures['costs']['store_seconds'] * 1e3:.2f}", "–"])
    return table(["what", ">ms for a call", ">s per GB"], rows)


def highlights(results):
    """The four figures of the README."""
    name = "buildings.geojson"
    core, duckdb, gdal = (pick(results["files"]["runs"], file=name, peer=peer, threads=1)["mb_per_cpu_second"] for peer in ["vibeflight", "duckdb", "pyogrio"])
    device = pick(results["gpu"]["runs"], file=name, engine="cuda", again=False)
    tcp, theirs = (pick(results["wire"]["runs"], over="TCP", streams=1, server=server)["mb_per_second"] for server in ["vibeflight", "pyarrow"])
    start = pick(results["first-batch"]["runs"], case="cached table, server restarted")
    return table(["", ">vibeflight", "for comparison"], [
        ["parse GeoJSON polygons, one core", f"{core:,} MB per CPU-second", f"DuckDB {duckdb:,}, GDAL {gdal:,}"],
        ["the same on an NVIDIA H200", f"{device['gb_per_second']} GB/s", f"16 cores {pick(results['gpu']['runs'], file=name, engine='cpu')['gb_per_second']} GB/s"],
        ["send a table over TCP, one stream", f"{tcp / 1000:.1f} GB/s", f"pyarrow's C++ server {theirs / 1000:.1f} GB/s"],
        ["first batch of a cached 1 GB table after a restart", f"{start['ms']} ms", "the file is not parsed"],
    ])


def condense(path):
    """Medians by file and reader of the runs of bench.py --json."""
    runs = [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    condensed = []
    for name, peer in dict.fromkeys((pathlib.Path(run["file"]).name, run["peer"]) for run in runs):
        of = [run for run in runs if (pathlib.Path(run["file"]).name, run["peer"]) == (name, peer)]
        rates = [run["bytes"] / 1e6 / run["cpu_seconds"] for run in of]
        condensed.append({
            "file": name, "megabytes": round(of[0]["bytes"] / 1e6), "peer": peer.removesuffix(", all cores"), "threads": 2 if peer.endswith(", all cores") else 1,
            "seconds": round(statistics.median(run["seconds"] for run in of), 3),
            "cpu_seconds": round(statistics.median(run["cpu_seconds"] for run in of), 3),
            "mb_per_cpu_second": round(statistics.median(rates)),
            "slowest": round(min(rates)), "fastest": round(max(rates)), "rss_anon_peak_mb": round(statistics.median(run["rss_anon_peak"] for run in of) / 1e6),
            "geometry": of[0]["positions"] is not None,
        })
    return condensed


if __name__ == "__main__":
    main()
