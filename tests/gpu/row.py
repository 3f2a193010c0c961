"""One line of run.sh's table from the JSON of a run; with --numbers, a trace's optimizer as options of run."""
import json
import os
import sys

if sys.argv[1] == "--numbers":
    numbers = json.load(open(sys.argv[2]))["optimizer"]
    betas = ",".join(str(beta) for beta in numbers["betas"])
    print(f"--learning-rate {numbers['lr']} --betas {betas} --eps {numbers['eps']} --weight-decay {numbers['weight_decay']}")
    sys.exit()

if sys.argv[1] == "--head":
    import datetime
    import subprocess

    def said(*command):
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    gpus = said("nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,power.limit", "--format=csv,noheader")
    print(json.dumps({"date": datetime.date.today().isoformat(), "gpus": gpus.splitlines(),
                      "wirewise": said(sys.argv[2], "--version")}))
    sys.exit()

name, rc, seconds, document, errors = sys.argv[1:]
try:
    run = json.load(open(document))
except ValueError:
    lines = [line for line in open(errors).read().splitlines() if line.strip()]
    print(f"{name:36} rc {rc} {seconds} s: {lines[-1][:200] if lines else 'no output'}")
    sys.exit()
measured, predicted, losses = run["measured"], run["predicted"], [step["loss"] for step in run["steps"]]


expected = json.load(open(os.environ["EXPECTED"]))["losses"] if os.environ.get("EXPECTED") else []
worst = max((abs(got / said - 1) for got, said in zip(losses, expected)), default=0)


def pair(key, unit, digits):
    got, said = measured[key] / unit, predicted[key] / unit
    return f"{got:.{digits}f}/{said:.{digits}f} ({100 * (said / got - 1):+.1f} %)"


print(f"{name:36} rc {rc} {seconds} s: ms {pair('step_seconds', 1e-3, 1)} tok/s {measured['tokens_per_second_per_gpu']:.0f} "
      f"mfu {measured['mfu'] or 0:.3f} GB allocated {pair('peak_allocated_bytes', 1e9, 2)} device {pair('device_used_bytes', 1e9, 2)} "
      f"losses {losses[0]:.5f} .. {losses[-1]:.5f}"
      + (f", trace within {worst:.1e}" if expected else ""))
