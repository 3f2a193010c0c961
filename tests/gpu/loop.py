"""The loop on a machine with two or more GPUs: bench, calibrate, and native steps of other shapes, strategies and wires
predicted by the data sheet, by the shipped profile and by the calibrated one.

    tests/gpu/loop.py FOLDER-OF-BINARIES OUTPUT-FOLDER [--machine NAME] [--bench FILE] [--base PROFILE] [--quick]

Writes bench.jsonl, profile.json and loop.jsonl (a run and its predictions each), and prints the errors. Nothing that is
predicted here is a sample of a calibration: "calibrated" sees `bench` alone, "taught" a few short runs besides.
"""
import json
import os
import shutil
import subprocess
import sys
import time

from loop_predict import WIRES, predicted

binaries, out = sys.argv[1:3]
tool = os.path.join(binaries, "wirewise")


def option(name, default=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


machine = option("--machine", "h200-x2")
ALL = ["ddp", "zero1", "zero2", "fsdp", "fsdp_shard_grad_op"]
# model, layers (None: its own), sequence, micro-batch, accumulation, strategies by wire
SHAPES = [
    ("mistral-7b", 16, 4096, 1, 1, {"nvlink": ALL, "host_memory": ALL, "tcp_socket": ALL}),
    ("mistral-7b", 8, 2048, 3, 2, {"nvlink": ["fsdp", "zero1"]}),
    ("llama-3.1-8b", 8, 8192, 1, 1, {"nvlink": ["fsdp", "zero2"], "host_memory": ["fsdp"]}),
    ("llama-3.2-1b", None, 2048, 4, 1, {"nvlink": ALL, "host_memory": ["ddp", "fsdp", "zero2"], "tcp_socket": ["ddp", "fsdp"]}),
    ("qwen3-0.6b", None, 1024, 8, 1, {"nvlink": ["ddp", "fsdp", "zero1"], "host_memory": ["fsdp_shard_grad_op"]}),
    ("tinyllama-1.1b", None, 2048, 2, 2, {"nvlink": ["ddp", "fsdp"]}),
]


def call(words, environment=None, limit=240):
    done = subprocess.run([tool, *words], capture_output=True, text=True, timeout=limit,
                          env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout, done.stderr.strip().splitlines()[-1:] or [""]


def prepared():
    bench = option("--bench")
    if not bench:
        bench, begin = os.path.join(out, "bench.jsonl"), time.time()
        rc, _, said = call(["bench", "--out", bench, "--machine", machine, "--format", "json", "--quiet"], limit=300)
        count = sum(1 for _ in open(bench)) if os.path.exists(bench) else 0
        print(f"bench: rc {rc}, {count} samples, {time.time() - begin:.0f} s {said[0]}", flush=True)
    profile = os.path.join(out, "profile.json")
    base = ["--base", option("--base")] if option("--base") else []  # else the GPU's data sheet
    rc, text, said = call(["calibrate", bench, *base, "--out", profile, "--format", "json"])
    open(os.path.join(out, "calibrate.json"), "w").write(text)
    print(f"calibrate: rc {rc} {said[0]}", flush=True)
    return profile if os.path.exists(profile) else None


# What `run --calibrate` sees after that: a few steps of the benched model, shorter than any that is predicted.
TAUGHT = [("nvlink", "ddp"), ("nvlink", "fsdp"), ("host_memory", "ddp"), ("host_memory", "fsdp_shard_grad_op"),
          ("tcp_socket", "ddp"), ("tcp_socket", "fsdp")]


def taught(profile):
    taught_profile = os.path.join(out, "profile_taught.json")
    shutil.copy(profile, taught_profile)
    for wire, strategy in TAUGHT:
        rc, text, said = call(["run", "--model", "mistral-7b", "--set", "num_hidden_layers=6", "--sequence-length", "2048",
                               "--micro-batch", "1", "--max-grad-norm", "1", "--strategy", strategy, "--gpus", "2",
                               "--backend", "cuda", "--steps", "4", "--learning-rate", "2e-5", "--format", "json", "--quiet",
                               "--calibrate", taught_profile], WIRES[wire])
        open(os.path.join(out, f"taught_{wire}_{strategy}.json"), "w").write(text)
        after = json.loads(text)["calibration"]["next_step_seconds"] if rc == 0 else None
        run = json.loads(text) if rc == 0 else None
        print(f"taught {wire} {strategy}: rc {rc} {said[0][-200:]}" + (
            f" measured {run['measured']['step_seconds'] * 1e3:.1f} predicted {run['predicted']['step_seconds'] * 1e3:.1f}"
            f" next {after * 1e3:.1f} ms" if run else ""), flush=True)
    return taught_profile


profiles = {"data sheet": "data-sheet", "shipped": "h200-sxm"}
calibrated = prepared()
if calibrated:
    profiles["calibrated"] = calibrated
    profiles["taught"] = taught(calibrated)
errors = {name: {} for name in profiles}
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(out, "loop.jsonl"), "w") as rows:
    rows.write(subprocess.run([sys.executable, os.path.join(here, "row.py"), "--head", tool], capture_output=True, text=True).stdout)
    for model, layers, sequence, micro, accumulation, strategies in SHAPES:
        for wire, names in strategies.items():
            for strategy in names[:1] if "--quick" in sys.argv else names:
                words = ["--model", model, "--sequence-length", str(sequence), "--micro-batch", str(micro),
                         "--gradient-accumulation", str(accumulation), "--max-grad-norm", "1", "--strategy", strategy,
                         "--gpus", "2"] + (["--set", f"num_hidden_layers={layers}"] if layers else [])
                steps = "3" if wire == "tcp_socket" else "6"
                rc, text, said = call(["run", *words, "--backend", "cuda", "--steps", steps, "--learning-rate", "2e-5",
                                       "--format", "json", "--quiet"], WIRES[wire])
                name = f"{model}-L{layers or 'all'}-s{sequence}-b{micro}x{accumulation}-{strategy}-{wire}"
                if rc:
                    print(f"{name}: rc {rc} {said[0]}", flush=True)
                    continue
                run = json.loads(text)
                measured = run["measured"]["step_seconds"]
                row = {"id": name, "wire": wire, "run": run, "predicted": {}}
                line = f"{name:62} {measured * 1e3:8.1f} ms"
                for profile, file in profiles.items():
                    seconds, _ = predicted(tool, words, file, wire, machine)
                    row["predicted"][profile] = seconds
                    if seconds:
                        errors[profile][name] = (wire, measured, seconds)
                        line += f"  {profile} {100 * (seconds / measured - 1):+6.1f} %"
                rows.write(json.dumps(row) + "\n")
                print(line, flush=True)

for profile, all_ in errors.items():
    for wire in [*WIRES, "all"]:
        found = [abs(p / m - 1) for w, m, p in all_.values() if wire in (w, "all")]
        if found:
            print(f"{profile:11} {wire:12} {len(found):3} runs: mean {100 * sum(found) / len(found):5.1f} %, worst {100 * max(found):5.1f} %")
    # Ranking: pairs of one shape and wire whose measured times differ by more than 5 %.
    right = wrong = 0
    groups = {}
    for name, value in all_.items():
        shape = name.rsplit("-", 2)[0]
        groups.setdefault((shape, value[0]), []).append(value)
    for members in groups.values():
        for i, (_, m1, p1) in enumerate(members):
            for _, m2, p2 in members[:i]:
                if abs(m1 - m2) > 0.05 * min(m1, m2):
                    right, wrong = (right + 1, wrong) if (m1 < m2) == (p1 < p2) else (right, wrong + 1)
    print(f"{profile:11} order of pairs more than 5 % apart: {right} right, {wrong} wrong")
