"""Predicts the runs of a loop file anew, with the planner as it is now. Needs no GPU.

    tests/gpu/loop_predict.py WIREWISE LOOP.jsonl NAME=PROFILE... [--machine NAME]
"""
import json
import subprocess
import sys

WIRES = {"nvlink": {}, "host_memory": {"NCCL_P2P_DISABLE": "1"},
         "tcp_socket": {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}}


def predicted(tool, words, profile, wire, machine):
    """Step seconds of `plan`, or None and why not."""
    pinned = [word for pair in {**WIRES[wire], "NCCL_NVLS_ENABLE": "0"}.items() for word in ("--nccl-env", "=".join(pair))]
    done = subprocess.run([tool, "plan", *words, *pinned, "--machine", machine, "--profile", profile, "--format", "json", "--quiet"],
                          capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return None, done.stderr.strip()
    return json.loads(done.stdout)["candidates"][0]["time"]["step_seconds"], ""


def words_of(row):
    inputs, layers = row["run"]["inputs"], row["id"].split("-L")[1].split("-")[0]
    return ["--model", inputs["model"], "--sequence-length", str(inputs["sequence_length"]), "--micro-batch", str(inputs["micro_batch"]),
            "--gradient-accumulation", str(inputs["gradient_accumulation"]), "--max-grad-norm", "1", "--strategy", inputs["strategy"],
            "--gpus", str(inputs["gpus"])] + ([] if layers == "all" else ["--set", f"num_hidden_layers={layers}"])


if __name__ == "__main__":
    tool, file, *rest = sys.argv[1:]
    machine = rest.pop() if "--machine" in rest else "h200-x2"
    profiles = dict(word.split("=", 1) for word in rest if "=" in word)
    rows = [json.loads(line) for line in open(file)]
    for row in rows:
        if "run" not in row:
            continue
        row["predicted"] = {}
        for name, profile in profiles.items():
            seconds, why = predicted(tool, words_of(row), profile, row["wire"], machine)
            if seconds is None:
                sys.exit(f"{row['id']}: {why}")
            row["predicted"][name] = seconds
    with open(file, "w") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
