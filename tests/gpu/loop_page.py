"""Writes the page of the loop from its data: tests/gpu/loop_page.py LOOP.jsonl TERMS.jsonl > page."""
import json
import sys

loop, terms = ([json.loads(line) for line in open(file)] for file in sys.argv[1:3])
head, runs = loop[0], [row for row in loop if "run" in row]
NAMES = {"data-sheet": "data sheet", "h200-sxm": "shipped", "calibrated": "calibrated"}


def error(predicted, measured):
    return f"{100 * (predicted / measured - 1):+.1f} %"


print(f"""# The loop on two H200, before and after

`bench` -> `calibrate` -> `plan`, against native steps that the calibration has not seen: {head["gpus"][0]}, {head["date"]},
measured by `tests/gpu/loop.py`. Errors are predicted / measured - 1. *Data sheet*: nothing measured. *Shipped*: the committed profile,
fitted to PyTorch's steps of another day. *Calibrated*: the shipped profile after `calibrate` on the samples of that hour's `bench`
(kernels of Mistral-7B and Qwen3-1.7B, collectives, contention). Written by

```sh
wirewise calibrate BENCH.jsonl --base calibration/profiles/h200-sxm.json --out calibrated.json
tests/gpu/loop_predict.py WIREWISE LOOP.jsonl "data sheet=data-sheet" shipped=h200-sxm calibrated=calibrated.json
tests/gpu/loop_page.py LOOP.jsonl TERMS.jsonl > LOOP.md
```

from the files beside this page.

## Step time

| run | measured | """ + " | ".join(next(iter(runs))["predicted"]) + " |")
profiles = list(runs[0]["predicted"])
print("| --- | ---: |" + " ---: |" * len(profiles))
for row in runs:
    measured = row["run"]["measured"]["step_seconds"]
    print(f"| {row['id']} | {measured * 1e3:.1f} ms | " + " | ".join(error(row["predicted"][p], measured) for p in profiles) + " |")

print("\n| wire | runs | " + " | ".join(f"{p}: mean, worst" for p in profiles) + " |\n| --- | ---: |" + " ---: |" * len(profiles))
for wire in ["nvlink", "host_memory", "tcp_socket", "all"]:
    chosen = [row for row in runs if wire in (row["wire"], "all")]
    cells = []
    for p in profiles:
        errors = [abs(row["predicted"][p] / row["run"]["measured"]["step_seconds"] - 1) for row in chosen]
        cells.append(f"{100 * sum(errors) / len(errors):.1f} %, {100 * max(errors):.1f} %")
    print(f"| {wire} | {len(chosen)} | " + " | ".join(cells) + " |")

print("""
Order by step time, every pair of one shape and wire that differs by more than 5 %:
""")
for p in profiles:
    right, wrong, groups = 0, [], {}
    for row in runs:
        groups.setdefault((row["id"].split("-b")[0], row["wire"]), []).append(row)
    for members in groups.values():
        for i, a in enumerate(members):
            for b in members[:i]:
                ma, mb = (r["run"]["measured"]["step_seconds"] for r in (a, b))
                if abs(ma - mb) > 0.05 * min(ma, mb):
                    if (ma < mb) == (a["predicted"][p] < b["predicted"][p]):
                        right += 1
                    else:
                        wrong.append(f"{a['id']} / {b['id']}")
    print(f"- {p}: {right} right, {len(wrong)} wrong" + (": " + "; ".join(wrong) if wrong else ""))

print("\n## Term by term\n\nSums over the ops of one rank's step, ms; terms overlap. Each profile's run was its own: its measured step stands in its column.")
for identity in dict.fromkeys(row["id"] for row in terms):
    rows = {NAMES[row["profile"]]: row for row in terms if row["id"] == identity}
    print(f"\n### {identity}\n\n| term | measured | " + " | ".join(rows) + " |\n| --- | ---: |" + " ---: |" * len(rows))
    last = list(rows.values())[-1]
    print("| step | | " + " | ".join(f"{r['predicted_step_seconds'] * 1e3:.1f} of {r['measured_step_seconds'] * 1e3:.1f} "
                                      f"({error(r['predicted_step_seconds'], r['measured_step_seconds'])})" for r in rows.values()) + " |")
    for term in last["terms"]:
        name, measured = term["term"], term["measured_seconds"]
        if measured < 2e-4:
            continue
        cells = []
        for row in rows.values():
            own = next(t for t in row["terms"] if t["term"] == name)
            cells.append(f"{own['predicted_seconds'] * 1e3:.2f} ({error(own['predicted_seconds'], own['measured_seconds'])})")
        print(f"| {name} | {measured * 1e3:.2f} | " + " | ".join(cells) + " |")
