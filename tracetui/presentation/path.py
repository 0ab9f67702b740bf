"""The critical path and the tax of compiling, a line each."""

from typing import Final

import numpy as np

from tracetui.analysis.compile_tax import CompileTax
from tracetui.analysis.critical_path import CriticalPath, PathClass
from tracetui.format import TimeUnit, count, duration

PATH_NAMES: Final = {
    PathClass.COMPUTE: "kernels",
    PathClass.COMMUNICATION: "communication",
    PathClass.COPY: "copies",
    PathClass.LAUNCH: "launch",
    PathClass.KERNEL_GAP: "between kernels",
    PathClass.OPERATOR: "operators",
    PathClass.RUNTIME: "runtime calls",
    PathClass.DATA: "loading data",
    PathClass.UNTRACED: "Python and untraced",
    PathClass.SYNC: "returning from waits",
}
"""What each class of the path is called, everywhere."""
_LEAST_RATIO: Final = 0.005
"""A class of less than this is not worth its place in a line."""


def path_texts(path: CriticalPath) -> tuple[str, ...]:
    """Return the classes of a path with their shares, the longest first."""
    by_class, total_ns = path.class_ns(), path.total_ns
    return tuple(
        f"{PATH_NAMES[PathClass(place)]} {by_class[place] / total_ns * 100:.1f} %"
        for place in np.argsort(-by_class, kind="stable").tolist()
        if total_ns and by_class[place] >= _LEAST_RATIO * total_ns
    )


def compile_texts(tax: CompileTax, unit: TimeUnit = TimeUnit.AUTO) -> tuple[str, ...]:
    """Return what compiling costs, in pieces of one line."""
    texts = []
    n_calls = len(tax.calls)
    if tax.per_call_ns is not None:
        cost = duration(tax.per_call_ns, unit)
        of_many = f"{cost} a call, median of {count(n_calls)}"
        texts.append(f"its one call {cost}" if n_calls == 1 else of_many)
        lookup_ns, prologue_ns = tax.calls.lookup_ns, tax.calls.prologue_ns
        texts.append(f"guards {duration(int(np.median(lookup_ns)), unit)}")
        texts.append(f"prologue {duration(int(np.median(prologue_ns)), unit)}")
        texts.append(f"wrappers {duration(int(np.median(tax.calls.rest_ns)), unit)}")
    if tax.n_recompiles:
        times = "once" if tax.n_recompiles == 1 else f"{count(tax.n_recompiles)} times"
        texts.append(f"compiled anew {times}")
    if tax.compile_ns:
        texts.append(f"compiling {duration(tax.compile_ns, unit)}")
    if tax.record_ns:
        texts.append(f"recording CUDA graphs {duration(tax.record_ns, unit)}")
    return tuple(texts)
