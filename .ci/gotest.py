#!/usr/bin/env python3
"""Reads `go test -json` and prints it for people: one line per package, what failed in full, and at the end how many tests
passed, failed and were skipped, each skip with its reason. Exits with 1 if anything failed.
"""
import collections
import json
import sys


def main():
    counts = collections.Counter()
    output = collections.defaultdict(list)
    skipped = []
    broken = False
    for line in sys.stdin:
        try:
            event = json.loads(line)
        except ValueError:  # a build error of an older toolchain is plain text
            sys.stdout.write(line)
            broken = True
            continue
        action = event["Action"]
        test = event.get("Test")
        key = (event.get("Package") or event.get("ImportPath"), test)
        if action in ("output", "build-output"):
            output[key].append(event["Output"])
            if test is None and action == "build-output":
                sys.stdout.write(event["Output"])
        elif action == "build-fail":
            broken = True
        elif action in ("pass", "fail", "skip"):
            report(action, key, event, output, counts, skipped)
    for package, test, reason in skipped:
        print(f"skipped: {package} {test}: {reason}")
    packages = f", {counts['package']} packages failed" if counts["package"] else ""
    print(f"go test: {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped{packages}")
    if broken or counts["fail"] or counts["package"]:
        sys.exit(1)
    if not counts["pass"]:
        sys.exit("go test: no test ran")


def report(action, key, event, output, counts, skipped):
    package, test = key
    if test is None:  # the package's own result
        elapsed = event.get("Elapsed", 0)
        if action == "fail":
            counts["package"] += 1
            sys.stdout.writelines(output[key])
        note = "no tests" if action == "skip" else f"{elapsed:.1f} s"
        said = [line.split(": ", 1)[1].strip() for line in output[key] if line.startswith("kernels: ")]
        note = "; ".join([note, *said])  # how many of the GPU's kernels the tests launched
        print(f"{'FAIL' if action == 'fail' else 'ok  '} {package} ({note})", flush=True)
        return
    counts[action] += 1
    if action == "fail":
        sys.stdout.writelines(output[key])
    elif action == "skip":
        said = [l.strip() for l in output[key] if not l.lstrip().startswith(("===", "---"))]
        skipped.append((package, test, " ".join(said) or "no reason given"))
    output.pop(key, None)


if __name__ == "__main__":
    main()
