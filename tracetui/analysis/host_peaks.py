"""What this machine's processor attains, measured: no table knows a host.

A figure from here belongs beside recordings made on the same machine, and nowhere else.
"""

import time
from collections.abc import Callable
from typing import Final

import numpy as np

from tracetui.analysis.device_table import DevicePeaks, parse_peak
from tracetui.units import BYTES_PER_MIB, NS_PER_S

_PRODUCT_SIDE: Final = 1536
"""Large enough that a product is bound by arithmetic on any processor of today."""

_COPY_BYTES: Final = 128 * BYTES_PER_MIB
"""Beyond any cache."""

_N_RUNS: Final = 3


HOST: Final = "host"
"""What stands for a measurement where rates are asked for."""


def given_rates(text: str) -> dict[str, float]:
    """Return the rates that a user names, or those of this machine for ``host``.

    Raises:
        ValueError: If they cannot be understood, with one line that says why.
    """
    if text.strip() != HOST:
        return parse_peak(text)
    peaks = measured_peaks()
    return {**peaks.vector, "bw": peaks.bytes_per_s or 0.0}


def best_rate(
    work: Callable[[], object], amount: int, clock: Callable[[], int] = time.perf_counter_ns
) -> float:
    """Return ``amount`` over the shortest of a few runs, a second; the first run only warms up."""
    work()
    shortest_ns = 0
    for _ in range(_N_RUNS):
        start_ns = clock()
        work()
        taken_ns = max(clock() - start_ns, 1)
        shortest_ns = taken_ns if not shortest_ns else min(shortest_ns, taken_ns)
    return amount * NS_PER_S / shortest_ns


def measured_peaks(side: int = _PRODUCT_SIDE, n_bytes: int = _COPY_BYTES) -> DevicePeaks:
    """Return the roofs of this machine, from matrix products and a copy with NumPy; takes a second.

    A copy reads and writes each byte. The products run on all cores that NumPy's BLAS uses.

    Args:
        side: Rows and columns of the matrices.
        n_bytes: Size of the copied array.
    """
    single = np.ones((side, side), np.float32)
    double = np.ones((side, side), np.float64)
    source, target = np.ones(n_bytes, np.uint8), np.empty(n_bytes, np.uint8)
    flop = 2 * side**3
    rates = {
        "fp32": best_rate(lambda: np.matmul(single, single), flop),
        "fp64": best_rate(lambda: np.matmul(double, double), flop),
    }
    return DevicePeaks(
        name="this host",
        matrix=rates,
        vector=rates,
        bytes_per_s=best_rate(lambda: np.copyto(target, source), 2 * n_bytes),
        source="measured here with NumPy: a product and a copy",
    )
