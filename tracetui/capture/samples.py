"""Records the bundled samples, each beside what torch itself counts in the same run.

``python -m tracetui.capture.samples OUTDIR`` writes ``NAME.json.gz`` and ``NAME.oracle.json``.
"""

import argparse
import gzip
import logging
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from tracetui.capture.environment import prepare_environment, without_machine

_SEED: Final = 0
_N_STEPS: Final = 3
_N_WARM_UPS: Final = 2

Forward = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """One recording: what runs in a step and the annotation around it."""

    name: str
    annotation: str
    make_forward: Callable[[], Forward]


def _mlp() -> Forward:
    """Return one forward of a gated MLP (GeGLU)."""
    import torch
    from torch.nn import functional

    batch, dim, hidden = 128, 96, 256
    x = torch.randn(batch, dim)
    gate, up = torch.randn(dim, hidden), torch.randn(dim, hidden)
    down = torch.randn(hidden, dim)

    def block(x: Any) -> Any:
        return (functional.gelu(x @ gate, approximate="tanh") * (x @ up)) @ down

    return partial(block, x)


def _mlp_compiled() -> Forward:
    """Return the same forward through ``torch.compile``."""
    import torch

    forward = _mlp()
    assert isinstance(forward, partial)
    return partial(torch.compile(forward.func), *forward.args)


def _attention_inputs() -> tuple[Any, Any, Any]:
    import torch

    shape = (2, 4, 128, 32)
    return torch.randn(shape), torch.randn(shape), torch.randn(shape)


def _attention_naive() -> Forward:
    """Return causal attention spelled out, with its out-of-place mask."""
    import torch

    query, key, value = _attention_inputs()
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    mask = torch.ones(n_queries, n_keys, dtype=torch.bool).triu(1)

    def attend() -> Any:
        scores = (query @ key.transpose(-2, -1)) / query.shape[-1] ** 0.5
        return scores.masked_fill(mask, float("-inf")).softmax(-1) @ value

    return attend


def _attention_sdpa() -> Forward:
    """Return the same attention as one call."""
    from torch.nn import functional

    query, key, value = _attention_inputs()
    return partial(functional.scaled_dot_product_attention, query, key, value, is_causal=True)


SAMPLES: Final = (
    Sample("mlp_eager", "mlp_fwd", _mlp),
    Sample("mlp_compiled", "mlp_fwd", _mlp_compiled),
    Sample("attention_naive", "attn_fwd", _attention_naive),
    Sample("attention_sdpa", "attn_fwd", _attention_sdpa),
)


def _oracle(sample: Sample, averages: Iterable[Any]) -> dict[str, Any]:
    import torch

    rows = [
        {
            "name": row.key,
            "is_annotation": bool(row.is_user_annotation),
            "count": row.count,
            "total_us": round(row.cpu_time_total, 3),
            "self_us": round(row.self_cpu_time_total, 3),
        }
        for row in averages
    ]
    return {
        "trace": f"{sample.name}.json.gz",
        "torch": str(torch.__version__).partition("+")[0],
        "steps": _N_STEPS,
        "key_averages": sorted(rows, key=lambda row: str(row["name"])),
    }


def record(sample: Sample, folder: Path) -> Path:
    """Record one sample into ``folder`` and return the trace's path."""
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function, schedule

    torch.manual_seed(_SEED)
    torch.set_num_threads(1)
    with torch.no_grad():
        forward = sample.make_forward()
        for _ in range(_N_WARM_UPS):
            forward()
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=0, warmup=_N_WARM_UPS, active=_N_STEPS, repeat=1),
            record_shapes=True,
        ) as session:
            for _ in range(_N_WARM_UPS + _N_STEPS):
                with record_function(sample.annotation):
                    forward()
                session.step()
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "trace.json"
        session.export_chrome_trace(str(raw))
        document = without_machine(orjson.loads(raw.read_bytes()))
    target = folder / f"{sample.name}.json.gz"
    # No time stamp and no name in the gzip header: the same trace gives the same bytes.
    target.write_bytes(gzip.compress(orjson.dumps(document), compresslevel=9, mtime=0))
    oracle = _oracle(sample, session.key_averages())
    (folder / f"{sample.name}.oracle.json").write_bytes(
        orjson.dumps(oracle, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    )
    return target


def main(arguments: Sequence[str] | None = None) -> int:
    """Record every sample, or those named."""
    parser = argparse.ArgumentParser(
        prog="python -m tracetui.capture.samples", description="Record the bundled samples."
    )
    parser.add_argument("folder", type=Path, metavar="OUTDIR")
    parser.add_argument("--only", choices=[sample.name for sample in SAMPLES], action="append")
    options = parser.parse_args(arguments)
    prepare_environment()
    try:
        import torch
    except ImportError:
        print("tracetui: recording needs torch: pip install 'tracetui[capture]'", file=sys.stderr)
        return 2
    logging.getLogger("torch").setLevel(logging.ERROR)
    options.folder.mkdir(parents=True, exist_ok=True)
    for sample in SAMPLES:
        if options.only and sample.name not in options.only:
            continue
        torch.compiler.reset()
        print(record(sample, options.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
