#!/usr/bin/env python3
"""Writes what one training step of small Hugging Face models does on one GPU, op by op.

    python3 pytorch_trace.py CASES.json MODELS_FOLDER OUT.json.gz [SECONDS]

For each case (model file, overrides, sequence length, micro-batch): every tensor that autograd saves in forward, with the
module that saved it; every aten op of forward, loss and backward with its inputs, outputs and what it left allocated; and the
caching allocator's own events of an undisturbed step. Nothing of wirewise is needed. Needs torch and transformers.
"""
import gc
import gzip
import json
import os
import sys
import time
import traceback

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from transformers import AutoConfig, AutoModelForCausalLM

SHORT = {torch.bfloat16: "bf16", torch.float32: "f32", torch.float16: "f16", torch.int64: "i64", torch.bool: "b",
         torch.int32: "i32", torch.uint8: "u8"}


def text(tensor):
    shape = "x".join(map(str, tensor.shape))
    dense = "" if tensor.is_contiguous() else "~"
    return f"{SHORT.get(tensor.dtype, str(tensor.dtype))}[{shape}]{dense}"


def build(case, folder):
    with open(os.path.join(folder, case["model"])) as file:
        config = json.load(file)
    config.update(case.get("model_overrides", {}))
    for key in ("torch_dtype", "dtype", "auto_map", "architectures"):
        config.pop(key, None)
    config = AutoConfig.for_model(config.pop("model_type"), **config)
    config = getattr(config, "text_config", config)
    config.use_cache = False
    options = dict(dtype=getattr(torch, case.get("dtype", "bfloat16")))
    with torch.device("cuda"):
        try:
            model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa", **options)
        except ValueError:  # some architectures have no scaled_dot_product_attention
            model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", **options)
    if case.get("recompute") == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model.train(), config


class Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.lines = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        result = function(*args, **(kwargs or {}))
        after, peak = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
        inputs = [text(x) for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
        outputs = [text(x) for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor)]
        self.lines.append(f"{str(function).replace('aten.', '').replace('.default', '')} {' '.join(inputs)} -> {' '.join(outputs)} "
                          f"| {before} {after - before:+d} peak {peak - before:+d}")
        return result


def saved_tensors(model, tokens):
    stack, rows, seen = [], [], {}
    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda m, a, name=name: stack.append(name)))
        handles.append(module.register_forward_hook(lambda m, a, o, name=name: (stack.pop(), None)[1]))
    parameters = {p.data_ptr() for p in model.parameters()}

    def pack(tensor):
        storage = tensor.untyped_storage()
        new = storage.data_ptr() not in seen
        number = seen.setdefault(storage.data_ptr(), len(seen))
        kind = "parameter" if tensor.data_ptr() in parameters else "new" if new else "again"
        rows.append(f"{stack[-1] if stack else ''} {text(tensor)} {kind} #{number} {storage.nbytes()}")
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        loss = model(input_ids=tokens, labels=tokens).loss
    for handle in handles:
        handle.remove()
    loss.backward()
    return rows


def allocator_events(model, optimizer, tokens):
    torch.cuda.memory._record_memory_history(max_entries=200000, stacks="python")
    loss = model(input_ids=tokens, labels=tokens).loss
    forward_end = torch.cuda.memory_allocated()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    events = []
    for entry in trace:
        if entry["action"] not in ("alloc", "free_completed", "segment_alloc"):
            continue
        place = ""
        if entry["action"] == "alloc":
            for frame in entry.get("frames", []):
                if "/torch/" not in frame["filename"] or "optim" in frame["filename"] or "functional" in frame["filename"]:
                    place = f"{frame['filename'].split('/')[-1]}:{frame['line']}:{frame['name']}"
                    break
        events.append([entry["action"][0], entry["size"], entry["addr"] % (1 << 40), place])
    return {"forward_end": forward_end, "events": events}


def trace(case, folder):
    model, config = build(case, folder)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    tokens = torch.randint(0, config.vocab_size, (case["micro_batch"], case["sequence_length"]), device="cuda")
    result = {"parameters": sum(p.numel() for p in model.parameters())}
    for _ in range(2):
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    result["base"] = torch.cuda.memory_allocated()
    loss = model(input_ids=tokens, labels=tokens).loss
    result["forward_peak"], result["forward_end"] = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    loss.backward()
    result["backward_peak"], result["backward_end"] = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    optimizer.step()
    result["optimizer_peak"] = torch.cuda.max_memory_allocated()
    optimizer.zero_grad(set_to_none=True)
    del loss
    result["allocator"] = allocator_events(model, optimizer, tokens)
    result["saved"] = saved_tensors(model, tokens)
    optimizer.zero_grad(set_to_none=True)
    log = Log()
    with log:
        loss = model(input_ids=tokens, labels=tokens).loss
        log.lines.append(f"== backward {torch.cuda.memory_allocated()}")
        loss.backward()
        log.lines.append(f"== optimizer {torch.cuda.memory_allocated()}")
    result["ops"] = log.lines
    return result


def main():
    cases_file, folder, out = sys.argv[1:4]
    budget = float(sys.argv[4]) if len(sys.argv) > 4 else 1e9
    import transformers
    began = time.time()
    rows = {"framework": f"torch {torch.__version__}, transformers {transformers.__version__}", "gpu": torch.cuda.get_device_name(),
            "cases": []}
    with open(cases_file) as file:
        cases = json.load(file)
    for case in cases:
        if time.time() - began > budget:
            print("out of time before", case["model"])
            break
        try:
            row = trace(case, folder)
        except Exception:
            row = {"failed": traceback.format_exc()[-1500:]}
        rows["cases"].append({**case, **row})
        print(case["model"], case.get("note", ""), f"{time.time() - began:.1f} s", row.get("failed", "ok")[-300:], flush=True)
        gc.collect()
        torch.cuda.empty_cache()
    with gzip.open(out, "wt") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main()
