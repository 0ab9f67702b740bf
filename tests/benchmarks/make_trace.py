"""Writes a big trace in the layout that torch.profiler writes, for the benchmarks."""

from pathlib import Path

_STEP_NS = 2_000_000


def _event(category: str, name: str, pid: str, tid: str, ts_ns: int, dur_ns: int, args: str) -> str:
    start, length = (f"{ns // 1000}.{ns % 1000:03d}" for ns in (ts_ns, dur_ns))
    return (
        f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid},\n'
        f'    "ts": {start}, "dur": {length},\n    "args": {{\n      {args}\n    }}\n  }}'
    )


def _step(number: int, start_ns: int, first_id: int) -> list[str]:
    """Return one step: an annotation over 40 linear layers, each with a launch and a kernel."""
    events = [
        _event(
            "user_annotation",
            f"ProfilerStep#{number}",
            "77",
            "77",
            start_ns,
            1_900_000,
            f'"External id": {first_id},"Record function id": 0, "Ev Idx": {first_id}',
        )
    ]
    for layer in range(40):
        at, uid = start_ns + 1_000 + layer * 45_137, first_id + 1 + layer * 3
        shape = f'"Input Dims": [[{64 * (1 + layer % 4)}, 768], [3072, 768], [3072]]'
        events += [
            _event(
                "cpu_op",
                name,
                "77",
                "77",
                at + inset,
                40_011 - 2 * inset,
                f'"External id": {uid + k},"Record function id": 0, {shape}, '
                f'"Input type": ["float", "float", "float"], "Ev Idx": {uid + k}',
            )
            for k, (name, inset) in enumerate((("aten::linear", 0), ("aten::addmm", 3_003)))
        ]
        events.append(
            _event(
                "cuda_runtime",
                "cudaLaunchKernel",
                "77",
                "77",
                at + 9_001,
                5_007,
                f'"External id": {uid + 1}, "cbid": 211, "correlation": {uid}',
            )
        )
        events.append(
            _event(
                "kernel",
                f"ampere_sgemm_128x{32 * (1 + layer % 4)}_tn",
                "0",
                "7",
                at + 20_003,
                38_009,
                f'"External id": {uid + 1}, "queued": 0, "device": 0, "context": 1, "stream": 7, '
                f'"correlation": {uid}, "registers per thread": 122, "shared memory": 33792, '
                '"blocks per SM": 1.777778, "warps per SM": 14.222222, "grid": [24, 8, 1], '
                '"block": [256, 1, 1], "est. achieved occupancy %": 22',
            )
        )
    return events


def write_trace(path: Path, n_bytes: int) -> int:
    """Write a trace of about ``n_bytes`` and return how many events it has."""
    n_events = size = number = 0
    with path.open("w", encoding="ascii") as file:
        size += file.write(
            '{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "Benchmark GPU"}],\n'
            '  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": 1790857026000000000,\n'
            '  "traceEvents": [\n'
        )
        while size < n_bytes:
            events = _step(number, 5_220_574_176_349_503 + number * _STEP_NS, 1 + number * 200)
            size += file.write((",\n" if number else "") + ",\n".join(events))
            n_events += len(events)
            number += 1
        file.write('\n  ],\n  "traceName": "benchmark.json"\n}\n')
    return n_events
