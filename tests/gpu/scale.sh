#!/usr/bin/env bash
# Collectives and strategies by number of GPUs, on four or eight of one host (two for a dry run); NVLS off.
#   tests/gpu/scale.sh predict WIREWISE OUTPUT [GPUS]    what the planner says, for any machine, before there is one
#   tests/gpu/scale.sh measure FOLDER-OF-BINARIES OUTPUT under ten minutes on eight GPUs
# WIREWISE_MACHINE names the machine of the predictions [hgx-h200-8].
set -uo pipefail
mode=$1 bin=$2 out=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export NCCL_NVLS_ENABLE=0
mkdir -p "$out"
model="--model mistral-7b --sequence-length 2048 --micro-batch 1 --max-grad-norm 1"
shapes() {  # GPUS: NAME|OPTIONS of every run
    echo "fsdp, bf16 parameters|--strategy fsdp"
    echo "fsdp, fp32 parameters|--strategy fsdp --parameter-dtype fp32"
    echo "ddp|--strategy ddp"
    echo "zero1|--strategy zero1"
    echo "zero2|--strategy zero2"
    for group in 2 4; do ((group < $1)) && echo "hsdp, groups of $group|--strategy hsdp --shard-group $group"; done
}
wires=("nvlink|" "host memory|NCCL_P2P_DISABLE=1")

predict() {
    local gpus=${4:-8} machine=${WIREWISE_MACHINE:-hgx-h200-8} count op wire name options pinned
    : >"$out/predictions.jsonl"
    for wire in "${wires[@]}"; do
        pinned=(--nccl-env NCCL_NVLS_ENABLE=0)
        [[ -n ${wire#*|} ]] && pinned+=(--nccl-env "${wire#*|}")
        for ((count = 2; count <= gpus; ++count)); do
            for op in all_reduce all_gather reduce_scatter; do
                "$bin" collective --machine "$machine" --gpus $count --op $op --sweep 1MiB:8GiB "${pinned[@]}" --profile data-sheet --format json --quiet |
                    tr -d '\n' | sed "s/^/{\"wire\": \"${wire%|*}\", \"gpus\": $count, \"op\": \"$op\", \"collective\": /; s/\$/}\n/" >>"$out/predictions.jsonl"
            done
        done
        shapes "$gpus" | while IFS='|' read -r name options; do
            "$bin" plan $model $options --machine "$machine" --gpus "$gpus" "${pinned[@]}" --format json --quiet |
                tr -d '\n' | sed "s/^/{\"wire\": \"${wire%|*}\", \"gpus\": $gpus, \"name\": \"$name\", \"plan\": /; s/\$/}\n/" >>"$out/predictions.jsonl"
        done
    done
}

measure() {
    local gpus begin=$SECONDS wire name options setting
    gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
    python3 "$here/row.py" --head "$bin/wirewise" >"$out/runs.jsonl"
    "$bin/wirewise" topo --live --format json --quiet >"$out/topo.json" || echo "topo: rc $?"
    "$bin/wirewise" bench --measure wires --wires p2p,shm --out "$out/collectives.jsonl" --quiet >/dev/null 2>"$out/bench.err"
    echo "collectives: rc $?, $(wc -l <"$out/collectives.jsonl") samples, $((SECONDS - begin)) s"
    for wire in "${wires[@]}"; do
        setting=(); [[ -n ${wire#*|} ]] && setting=(--nccl-env "${wire#*|}")
        shapes "$gpus" | while IFS='|' read -r name options; do
            timeout 60 "$bin/wirewise" run --backend cuda $model $options --learning-rate 2e-5 --gpus "$gpus" --steps 5 "${setting[@]}" \
                --format json --quiet >"$out/one.json" 2>"$out/one.err" </dev/null
            local rc=$?
            python3 "$here/row.py" "$name, ${wire%|*}" $rc $((SECONDS - begin)) "$out/one.json" "$out/one.err"
            { printf '{"name": "%s", "wire": "%s", "rc": %d, "run": ' "$name" "${wire%|*}" $rc
              if [[ -s $out/one.json ]]; then tr -d '\n' <"$out/one.json"; else printf null; fi; echo '}'; } >>"$out/runs.jsonl"
        done
    done
}

case $mode in
    predict) predict "$@" ;;
    measure) measure ;;
    *) echo "scale.sh: \"$mode\": write predict or measure" >&2; exit 2 ;;
esac
