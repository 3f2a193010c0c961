#!/usr/bin/env python3
"""Measures real PyTorch training steps in the measured-case format that `wirewise validate` reads.

    torchrun --standalone --nproc-per-node 2 pytorch_steps.py CASES.jsonl MODELS_FOLDER OUT.jsonl [SECONDS]

A case with `"allocator_events": 3` also writes what the caching allocator did in its first three steps, with the
Python line that asked for it, to `OUT.<id>.json.gz`; the steps that are timed come after.

Each line of CASES names a model file, overrides, strategy, batch and precision as wirewise's options do. All cases run
one after another in the same processes; rank 0 appends one row per case to OUT. A case that runs out of memory is
reported as such. The NCCL environment is that of the processes: start once per wire. Stops starting cases after
SECONDS. Needs torch >= 2.6 and transformers; nothing of wirewise.

Peaks: `peak_*` over all steps from the first one on; `steady_peak_allocated_bytes` over the last steps alone.
`host_ms` is how long the host took to issue a step that began on an idle GPU, before it waits for it.
"""
import functools
import gc
import gzip
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (BackwardPrefetch, FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy,
                                    ShardingStrategy, fully_shard)
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoConfig, AutoModelForCausalLM

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32, "fp16": torch.float16}
WARM_UP, TIMED = 4, 6


def build_model(case, folder):
    with open(os.path.join(folder, case["model"])) as file:
        config = json.load(file)
    config.update(case.get("model_overrides", {}))
    for key in ("torch_dtype", "dtype", "auto_map", "architectures"):
        config.pop(key, None)
    config = AutoConfig.for_model(config.pop("model_type"), **config)
    config.use_cache = False
    dtype = DTYPES[case["parameter_dtype"]]
    with torch.device("cuda"):
        try:
            model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
        except ValueError:  # some architectures have no scaled_dot_product_attention
            model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="eager")
    if case.get("recompute", "none") == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model.train(), config


def layers_of(model):
    return max((module for module in model.modules() if isinstance(module, torch.nn.ModuleList)), key=len)


def autocasts(case):
    """FSDP casts what it gathers; elsewhere fp32 weights run under autocast."""
    return case["strategy"] in ("single", "ddp", "zero1") and case["compute_dtype"] != case["parameter_dtype"]


def flat_parameters(model, case):
    """FSDP1: one flat parameter a layer, one for the rest, as Accelerate and llama-cookbook wrap a model."""
    casts = case["compute_dtype"] != case["parameter_dtype"] or case["reduce_dtype"] != case["parameter_dtype"]
    precision = MixedPrecision(param_dtype=DTYPES[case["compute_dtype"]], reduce_dtype=DTYPES[case["reduce_dtype"]],
                               buffer_dtype=DTYPES[case["compute_dtype"]]) if casts else None
    sharding = {"fsdp": ShardingStrategy.FULL_SHARD, "fsdp_shard_grad_op": ShardingStrategy.SHARD_GRAD_OP}
    return FullyShardedDataParallel(
        model, sharding_strategy=sharding[case["strategy"]], mixed_precision=precision,
        auto_wrap_policy=functools.partial(transformer_auto_wrap_policy,
                                           transformer_layer_cls={type(layers_of(model)[0])}),
        backward_prefetch=BackwardPrefetch.BACKWARD_PRE, device_id=torch.cuda.current_device(),
        limit_all_gathers=case.get("limit_all_gathers", True), use_orig_params=case.get("use_orig_params", True))


def parallelise(model, case):
    strategy = case["strategy"]
    if case.get("compile"):
        for layer in layers_of(model):
            layer.compile()
    if strategy in ("ddp", "zero1"):
        return DistributedDataParallel(model, device_ids=[torch.cuda.current_device()],
                                       gradient_as_bucket_view=case.get("gradient_as_bucket_view", True))
    if case.get("fsdp_version", 2) == 1:
        return flat_parameters(model, case)
    if strategy in ("fsdp", "fsdp_shard_grad_op", "hsdp"):
        world = dist.get_world_size()
        shard = case.get("shard_group", world)
        mesh = init_device_mesh("cuda", (world // shard, shard), mesh_dim_names=("replicate", "shard"))
        mesh = mesh if strategy == "hsdp" else mesh["shard"]
        options = dict(mesh=mesh, reshard_after_forward=strategy != "fsdp_shard_grad_op")
        if case["compute_dtype"] != case["parameter_dtype"] or case["reduce_dtype"] != case["parameter_dtype"]:
            options["mp_policy"] = MixedPrecisionPolicy(param_dtype=DTYPES[case["compute_dtype"]],
                                                        reduce_dtype=DTYPES[case["reduce_dtype"]])
        layers = layers_of(model)
        for layer in layers:
            fully_shard(layer, **options)
        return fully_shard(model, **options)
    return model


def optimizer_of(model, case):
    options = dict(lr=1e-5, fused=True) if case.get("optimizer", "adamw_fused") == "adamw_fused" else dict(
        lr=1e-5, foreach=True)
    if case["strategy"] == "zero1":
        return ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, **options)
    return torch.optim.AdamW(model.parameters(), **options)


def step(model, optimizer, tokens, case):
    accumulation = case.get("gradient_accumulation", 1)
    for index in range(accumulation):
        last = index == accumulation - 1
        if hasattr(model, "set_requires_gradient_sync"):
            model.set_requires_gradient_sync(last or not case.get("no_sync", True))
        quiet = isinstance(model, (DistributedDataParallel, FullyShardedDataParallel)) and not last and case.get("no_sync", True)
        with model.no_sync() if quiet else torch.enable_grad():
            with torch.autocast("cuda", dtype=DTYPES[case["compute_dtype"]], enabled=autocasts(case)):
                loss = model(input_ids=tokens, labels=tokens).loss
            (loss / accumulation if accumulation > 1 else loss).backward()
    if case.get("max_grad_norm"):
        if isinstance(model, FullyShardedDataParallel):
            model.clip_grad_norm_(case["max_grad_norm"])
        else:
            torch.nn.utils.clip_grad_norm_(model.parameters(), case["max_grad_norm"])
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def asked_by(frames):
    """The lines nearest to an allocation that are not the allocator's own."""
    return [f"{os.path.basename(frame['filename'])}:{frame['line']}:{frame['name']}" for frame in frames
            if frame["filename"].endswith(".py")][:4]


def write_allocator_events(path):
    device = torch.cuda.current_device()
    events = torch.cuda.memory._snapshot()["device_traces"][device]
    torch.cuda.memory._record_memory_history(enabled=None)
    if dist.get_rank() != 0:
        return
    with gzip.open(path, "wt") as file:
        for event in events:
            file.write(json.dumps([event["action"], event["addr"], event["size"], event["stream"],
                                   asked_by(event.get("frames", []))]) + "\n")


def measure(case, folder, out):
    recorded = case.get("allocator_events", 0)
    if recorded:
        torch.cuda.memory._record_memory_history(enabled="all", context="all", stacks="python", max_entries=400000)
    model, config = build_model(case, folder)
    parameters = sum(p.numel() for p in model.parameters())
    model = parallelise(model, case)
    optimizer = optimizer_of(model, case)
    torch.manual_seed(dist.get_rank())
    tokens = torch.randint(0, config.vocab_size, (case["micro_batch"], case["sequence_length"]), device="cuda")
    torch.cuda.reset_peak_memory_stats()
    each, host = [], []
    first = 0
    for index in range(WARM_UP + TIMED):
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        if index == WARM_UP:
            first = torch.cuda.max_memory_allocated()
            torch.cuda.reset_peak_memory_stats()
        if recorded and index == recorded:
            write_allocator_events(f"{out}.{case['id']}.json.gz")
        begin = time.perf_counter()
        step(model, optimizer, tokens, case)
        issued = time.perf_counter()
        torch.cuda.synchronize()
        if index >= WARM_UP:
            each.append((time.perf_counter() - begin) * 1e3)
            host.append((issued - begin) * 1e3)
    steady = torch.cuda.max_memory_allocated()
    free, total = torch.cuda.mem_get_info()
    median = sorted(each)[len(each) // 2]
    return {
        "oom": False,
        "parameters": parameters,
        "peak_allocated_bytes": max(first, steady),
        "steady_peak_allocated_bytes": steady,
        "peak_reserved_bytes": torch.cuda.max_memory_reserved(),
        "device_used_bytes": total - free,
        "step_ms": round(median, 3),
        "step_ms_each": [round(value, 2) for value in each],
        "host_ms": round(sorted(host)[len(host) // 2], 3),
        "tokens_per_second_per_gpu": round(case["micro_batch"] * case["sequence_length"] *
                                           case.get("gradient_accumulation", 1) / median * 1e3, 1),
    }


def clean():
    """The next case should find the allocator as a new process would. The process group lets the buffers of the last
    collective go when its watchdog (every 100 ms) has seen it end and another collective is issued."""
    torch._dynamo.reset()
    torch._C._cuda_clearCublasWorkspaces()
    time.sleep(0.25)
    dist.barrier()
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def main():
    cases_file, folder, out = sys.argv[1:4]
    budget = float(sys.argv[4]) if len(sys.argv) > 4 else 1e9
    began = time.time()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    environment = {key: value for key, value in os.environ.items()
                   if key in ("NCCL_NVLS_ENABLE", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE")}
    import transformers
    framework = (f"torch {torch.__version__}, transformers {transformers.__version__}, "
                 f"NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}, attention sdpa")
    with open(cases_file) as file:
        cases = [json.loads(line) for line in file if line.strip()]
    for case in cases:
        if case.get("nccl_env", environment) != environment:
            continue
        late = torch.tensor([time.time() - began > budget], device="cuda", dtype=torch.int32)
        dist.all_reduce(late, op=dist.ReduceOp.MAX)
        if late.item():
            break
        failure = ""
        try:
            row = measure(case, folder, out)
        except torch.cuda.OutOfMemoryError:
            row = {"oom": True}
        except Exception as error:  # a case that cannot run must not end the others
            failure = f"{type(error).__name__}: {error}"[:300]
            row = {"failed": failure}
        clean()
        if dist.get_rank() == 0:
            with open(out, "a") as file:
                file.write(json.dumps({**case, "kind": "training_step", "machine": f"h200-x{dist.get_world_size()}", "runtime": "pytorch",
                                       "nccl_env": environment, "gpus": dist.get_world_size(),
                                       "framework": framework, "measured": row}) + "\n")
            print(case["id"], json.dumps(row)[:220], flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
