"""What comparing costs and how often it errs: ``python -m tests.benchmarks.compare [SLICES …]``.

Prints the processor time of comparing two recordings of so many slices each (10,000 to 300,000 when none is
given), as many equal steps and as one long step, and the error rates of verdicts on pure noise.
"""

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.compare.comparison import comparison
from tracetui.compare.spread import Verdict, spread
from tracetui.model.arrays import Int64s
from tracetui.model.trace import Trace

_SIZES = (10_000, 30_000, 100_000, 300_000)
_LAYER_SLICES = 11
_LAYERS_PER_STEP = 40
_LAYER_NS = 10_000
_TRIALS = 1_000


def layer(at_ns: int, number: int, *, is_fused: bool) -> Iterator[Row]:
    """Yield one layer: a linear of three operators, and gelu and mul apart or as one kernel."""
    fused = f"triton_poi_fused_gelu_mul_{number % _LAYERS_PER_STEP}"
    tail = (fused,) if is_fused else ("aten::gelu", "aten::mul")
    yield Row("aten::linear", at_ns, 4_000)
    yield Row("aten::t", at_ns + 100, 500)
    yield Row("aten::mm", at_ns + 1_000, 2_500, shape=f"[[{64 * (1 + number % 4)},768],[768,768]]")
    yield launch(at_ns + 1_500, 500, at_ns + 1)
    yield kernel(f"gemm_{number % 4}", at_ns + 2_000, 4_000, at_ns + 1)
    for place, name in enumerate(tail):
        start_ns = at_ns + 5_000 + 2_000 * place
        yield Row(name, start_ns, 1_500)
        yield launch(start_ns + 500, 500, at_ns + 2 + place)
        yield kernel(name, start_ns + 1_000, 1_000, at_ns + 2 + place)


def recording(n_slices: int, *, is_fused: bool, layers_per_step: int) -> Trace:
    """Return a recording of about so many slices; fused, of as many layers and so of fewer slices."""
    rows: list[Row] = []
    n_layers = n_slices // _LAYER_SLICES + 1
    for step, first in enumerate(range(0, n_layers, layers_per_step), 1):
        numbers = range(first, min(first + layers_per_step, n_layers))
        for number in numbers:
            in_step = number - first
            rows += layer(number * _LAYER_NS, in_step, is_fused=is_fused and in_step % 3 == 0)
        rows.append(annotation(f"ProfilerStep#{step}", first * _LAYER_NS, len(numbers) * _LAYER_NS))
    return trace_of(*rows)


def growth(sizes: tuple[int, ...]) -> None:
    """Print the seconds of each size and the power with which they grow."""
    for title, layers_per_step in (("steps of 400 slices", _LAYERS_PER_STEP), ("one step", 10**9)):
        print(f"{title}, a third of the layers fused in the candidate")
        before: tuple[int, float] | None = None
        for n_slices in sizes:
            baseline, candidate = (
                recording(n_slices, is_fused=is_fused, layers_per_step=layers_per_step)
                for is_fused in (False, True)
            )
            start = time.process_time()
            found = comparison(baseline, candidate)
            seconds = time.process_time() - start
            power = ""
            if before is not None:
                grown = np.log(seconds / before[1]) / np.log(n_slices / before[0])
                power = f", grows with the power {grown:.2f}"
            before = n_slices, seconds
            print(
                f"  {n_slices:9,} slices each: {seconds:6.2f} s, {len(found.matches):,} matches{power}"
            )


def error_rates() -> None:
    """Print how often verdicts on noise alone are wrong, and how often a real 10 % is found."""
    random = np.random.default_rng(99)
    kinds: dict[str, Callable[[int], Int64s]] = {
        "normal, 2 %": lambda n: (random.normal(1e6, 2e4, n)).astype(np.int64),
        "normal, 20 %": lambda n: np.maximum(random.normal(1e6, 2e5, n), 1e4).astype(np.int64),
        "skewed": lambda n: (random.lognormal(0, 0.2, n) * 1e6).astype(np.int64),
        "with outliers": lambda n: (
            random.normal(1e6, 2e4, n) * np.where(random.random(n) < 0.1, 3, 1)
        ).astype(np.int64),
    }
    print(f"verdicts on noise alone, of {_TRIALS:,}: slower · faster; and on a true +10 %: slower")
    for title, drawn in kinds.items():
        for n in (2, 3, 5, 10, 30, 100):
            null = [spread(drawn(n), drawn(n)).verdict for _ in range(_TRIALS)]
            real = [
                spread(drawn(n), (drawn(n) * 1.1).astype(np.int64)).verdict for _ in range(_TRIALS)
            ]
            wrong = [null.count(verdict) / _TRIALS for verdict in (Verdict.SLOWER, Verdict.FASTER)]
            power = real.count(Verdict.SLOWER) / _TRIALS
            print(f"  {title:14} n = {n:3}: {wrong[0]:6.1%} · {wrong[1]:6.1%}; {power:6.1%}")


def main() -> None:
    """Print both."""
    growth(tuple(int(word) for word in sys.argv[1:]) or _SIZES)
    error_rates()


if __name__ == "__main__":
    main()
