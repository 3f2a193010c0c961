#!/usr/bin/env bash
# Runs the GPU tests and the runs that show the executor at work, and prints one compact table; everything else goes to files.
#   tests/gpu/run.sh FOLDER-OF-BINARIES OUTPUT-FOLDER [SECTION...]
# The folder holds wirewise, libwirewise_cuda.so and test_gpu. Sections: kernels reference tiny single strategies shm sockets
# faults sanitizer bench (all of them when none is named). WIREWISE_SHARED must hold reference/.
set -uo pipefail
bin=$1 out=$2; shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
sections=${*:-kernels reference tiny single strategies shm sockets faults sanitizer bench}
layers=${WIREWISE_LAYERS:-32} steps=${WIREWISE_STEPS:-8} few=${WIREWISE_FEW_STEPS:-3}
size="--set num_hidden_layers=$layers"
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
mkdir -p "$out"

# run NAME OPTIONS...: one `wirewise run`, its JSON into a line of runs.jsonl.
run() {
    local name=$1 rc begin=$SECONDS; shift
    timeout "${WIREWISE_LIMIT:-120}" "$bin/wirewise" run --backend cuda --format json --quiet "$@" >"$out/one.json" 2>"$out/one.err"
    rc=$?
    python3 "$here/row.py" "$name" $rc $((SECONDS - begin)) "$out/one.json" "$out/one.err" | tee -a "$out/table.txt"
    { printf '{"name": "%s", "rc": %d, "run": ' "$name" $rc; if [[ -s $out/one.json ]]; then tr -d '\n' <"$out/one.json"; else printf null; fi; echo '}'; } >>"$out/runs.jsonl"
    { echo "== $name"; cat "$out/one.err"; } >>"$out/errors.log"
}
tests() {  # NAME FILTER
    local begin=$SECONDS
    timeout 200 "$bin/test_gpu" --gtest_color=no --gtest_filter="$2" >"$out/$1.log" 2>&1
    echo "$1: rc $?, $(grep -c '\[       OK' "$out/$1.log") passed, $(grep -c '^\[  FAILED.*ms)' "$out/$1.log") failed, $((SECONDS - begin)) s" | tee -a "$out/table.txt"
}
mistral="--model mistral-7b --sequence-length 4096 --learning-rate 2e-5 --max-grad-norm 1"

python3 "$here/row.py" --head "$bin/wirewise" >>"$out/runs.jsonl"

for section in $sections; do
    case $section in
        kernels) tests kernels '-CudaReference.*' ;;
        reference) tests reference 'CudaReference.*' ;;
        tiny)  # the reference steps through the command itself, each strategy on all GPUs
            for model in llama_tiny qwen3_tiny; do
                folder=$WIREWISE_SHARED/reference/$model
                for strategy in single ddp zero1 zero2 fsdp fsdp_shard_grad_op; do
                    n=$gpus; [[ $strategy == single ]] && n=1
                    EXPECTED=$folder/trace.json run "tiny $model $strategy" --checkpoint "$folder" --tokens "$folder/trace.safetensors" --gpus $n \
                        --strategy $strategy --parameter-dtype fp32 --compute-dtype fp32 \
                        $(python3 "$here/row.py" --numbers "$folder/trace.json")
                done
            done ;;
        single)
            for micro in 1 2 4; do run "single 16 layers micro-batch $micro" $mistral --set num_hidden_layers=16 --strategy single --gpus 1 --micro-batch $micro --steps $steps; done ;;
        strategies)
            for strategy in ddp zero1 zero2 fsdp fsdp_shard_grad_op "hsdp --shard-group 1" "hsdp --shard-group $gpus"; do
                trace=(); [[ $strategy == fsdp ]] && trace=(--trace "$out/fsdp_trace.json")
                run "$layers layers $strategy" $mistral $size --gpus $gpus --strategy $strategy --micro-batch 1 --steps $steps "${trace[@]}"
            done
            run "$layers layers fsdp micro-batch 2" $mistral $size --gpus $gpus --strategy fsdp --micro-batch 2 --steps $steps ;;
        shm) wire=(--nccl-env NCCL_P2P_DISABLE=1) ;;&
        sockets) wire=(--nccl-env NCCL_P2P_DISABLE=1 --nccl-env NCCL_SHM_DISABLE=1) ;;&
        shm | sockets)
            for strategy in ddp zero1 zero2 fsdp fsdp_shard_grad_op; do
                run "$layers layers $strategy over $section" $mistral $size --gpus $gpus --strategy $strategy --steps "$few" "${wire[@]}"
            done ;;
        faults)
            run "more memory than there is" $mistral --gpus 1 --strategy single --micro-batch 64
            (sleep 20; kill -9 "$(pgrep -n -x wirewise)") & run "a rank killed" $mistral --gpus $gpus --strategy fsdp --steps 2000; wait
            (sleep 20; stopped=$(pgrep -n -x wirewise); kill -STOP "$stopped"; sleep 30; kill -9 "$stopped" 2>/dev/null) &
            run "a rank stopped" $mistral --gpus $gpus --strategy fsdp --steps 2000 --timeout 8; wait
            mkdir -p "$out/truncated"; tiny=$WIREWISE_SHARED/reference/llama_tiny
            cp "$tiny/config.json" "$out/truncated/"; head -c 300000 "$tiny/model.safetensors" >"$out/truncated/model.safetensors"
            run "a truncated weights file" --checkpoint "$out/truncated" --gpus $gpus --strategy fsdp
            rm -r "$out/truncated"
            export MASTER_ADDR=127.0.0.1 MASTER_PORT=29555 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2
            RANK=1 LOCAL_RANK=1 timeout 60 "$bin/wirewise" run --backend cuda --checkpoint "$tiny" --strategy fsdp --learning-rate 1e-3 --quiet --format json >/dev/null 2>"$out/rank1.err" &
            RANK=0 LOCAL_RANK=0 run "ranks that disagree" --checkpoint "$tiny" --strategy fsdp --learning-rate 2e-3; wait
            tail -1 "$out/rank1.err" | tee -a "$out/table.txt"
            unset MASTER_ADDR MASTER_PORT WORLD_SIZE LOCAL_WORLD_SIZE ;;
        bench)
            begin=$SECONDS
            "$bin/wirewise" bench --out "$out/bench.jsonl" --quiet >"$out/bench.json" 2>"$out/bench.err"
            echo "bench: rc $?, $(wc -l <"$out/bench.jsonl") samples, $((SECONDS - begin)) s $(tail -1 "$out/bench.err")" | tee -a "$out/table.txt" ;;
        sanitizer)
            # Our kernels alone: their names hold the namespace, the libraries' do not.
            for tool in memcheck racecheck initcheck; do
                begin=$SECONDS
                timeout "${WIREWISE_SANITIZER_LIMIT:-120}" compute-sanitizer --tool $tool --error-exitcode 9 --kernel-name kernel_substring=wirewise \
                    "$bin/test_gpu" --gtest_color=no --gtest_filter='CudaConformance.*:CudaReference.OneStepOfEachStrategy:All/Kernels.*bf16:AttentionKernels.Plain:PlainProducts.*' >"$out/$tool.log" 2>&1
                echo "sanitizer $tool: rc $?, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/$tool.log" | tail -1), $((SECONDS - begin)) s" | tee -a "$out/table.txt"
            done ;;
    esac
done
