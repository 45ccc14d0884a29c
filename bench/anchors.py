#!/usr/bin/env python3
"""What torch on this machine takes for the products of Qwen3-8B and for attention: what ours is put beside. Lines of JSON.

bench/anchors.py [PROGRAM]   times them; PROGRAM is taken and not read
bench/anchors.py --missing   says what this machine lacks for it, or nothing
bench/anchors.py --tiny      on the processor, with small sizes: that it runs

torch.mm is cuBLAS, whose sums have another order for each shape: the difference is what batch invariance costs.
"""

import json
import sys

PRODUCTS = {"query, key, value": (4096, 6144), "attention output": (4096, 4096), "gate and up": (4096, 24576), "down": (12288, 4096)}
ROWS = (1, 4, 16, 64, 128, 256, 512)


def missing():
    try:
        import torch
    except ImportError:
        return "torch is not on this machine"
    return "" if torch.cuda.is_available() else "torch sees no GPU here"


def say(**line):
    print(json.dumps({"part": 0, "anchor": True, **line}), flush=True)


def seconds_of(torch, call, on_gpu, calls):
    """Median of five groups of calls."""
    import time

    call()
    groups = []
    for _ in range(5):
        if on_gpu:
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(calls):
                call()
            end.record()
            end.synchronize()
            groups.append(begin.elapsed_time(end) * 1e-3 / calls)
        else:
            start = time.perf_counter()
            call()
            groups.append(time.perf_counter() - start)
    return sorted(groups)[2]


def time_all(tiny):
    import torch

    device = "cpu" if tiny else "cuda"
    on_gpu = not tiny
    say(what="torch", version=torch.__version__, device="the processor" if tiny else torch.cuda.get_device_name())
    shrink = 64 if tiny else 1
    for name, (inputs, outputs) in PRODUCTS.items():
        i, o = inputs // shrink, outputs // shrink
        # Copies take turns, so that weights come from memory.
        copies = [torch.randn(i, o, device=device).bfloat16() for _ in range(2 if tiny else max(2, (1 << 29) // (2 * i * o)))]
        for rows in ROWS[:2] if tiny else ROWS:
            x = torch.randn(rows, i, device=device).bfloat16()
            turn = iter(range(10**9))
            seconds = seconds_of(torch, lambda: torch.mm(x, copies[next(turn) % len(copies)]), on_gpu, 20)
            say(what="torch.mm", product=name, rows=rows, seconds=seconds, bytes_per_second=2 * i * o / seconds, operations_per_second=2 * rows * i * o / seconds)
    for rows, context in ((1, 64),) if tiny else ((1, 2048), (64, 2048), (64, 8192)):
        q = torch.randn(rows, 32, 1, 128, device=device).bfloat16()
        k, v = (torch.randn(rows, 8, context, 128, device=device).bfloat16() for _ in range(2))
        call = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        seconds = seconds_of(torch, call, on_gpu, 20)
        say(what="scaled_dot_product_attention", rows=rows, context=context, seconds=seconds, bytes_per_second=2 * 2 * rows * 8 * context * 128 / seconds)


def main(arguments):
    if arguments == ["--missing"]:
        print(missing(), end="")
        return 0
    if arguments == ["--tiny"]:
        time_all(tiny=True)
        return 0
    if missing():
        print(f"anchors: {missing()}", file=sys.stderr)
        return 2
    time_all(tiny=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
