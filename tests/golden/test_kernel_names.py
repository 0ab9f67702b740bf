"""Every kernel of real recordings is decoded; what stays unknown is a small share of the time."""

from pathlib import Path

import numpy as np
import pytest

from tests.conftest import SHARED
from tracetui.analysis.kernel_names import decode, fused_operators
from tracetui.analysis.kernel_names.operator_words import OPERATORS
from tracetui.analysis.work_class import WorkClass, work_class
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

_SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
_MOST_UNKNOWN_RATIO = 0.02

_TRACES = [
    pytest.param(path, id=path.name.partition(".")[0])
    for folder in (SHARED / "traces", _SAMPLES)
    if folder.is_dir()
    for path in sorted(folder.glob("*.json*"))
    if "oracle" not in path.name
]
_CUSTOM_OPERATORS = {"fmha_v3_fwd"}
"""AITER's: an operator that PyTorch does not have."""


def _time_ns_by_name(trace: Trace) -> dict[str, int]:
    rows = np.flatnonzero(trace.slices.is_device_work())
    name_ids, place = np.unique(trace.slices.name_id[rows], return_inverse=True)
    time_ns = np.bincount(place, trace.slices.dur_ns[rows], len(name_ids))
    return {
        trace.names[name_id]: int(total)
        for name_id, total in zip(name_ids.tolist(), time_ns, strict=True)
    }


@pytest.mark.parametrize("path", _TRACES)
def test_every_kernel_is_decoded(path):
    time_ns = _time_ns_by_name(read_trace(str(path), use_cache=False))
    total_ns = max(sum(time_ns.values()), 1)
    unknown = {name: ns for name, ns in time_ns.items() if decode(name).kind is None}
    unclassed = {name: ns for name, ns in time_ns.items() if work_class(name) is WorkClass.OTHER}
    share = f"{sum(unknown.values()) / total_ns:.3%} unknown"
    share += f", {sum(unclassed.values()) / total_ns:.3%} of class other"
    print(f"{path.name}: {len(time_ns)} names; by time {share}")  # noqa: T201 - the figure is the aim

    assert sum(unknown.values()) <= _MOST_UNKNOWN_RATIO * total_ns, sorted(unknown)


@pytest.mark.parametrize("path", _TRACES)
def test_every_fused_list_is_made_of_operators(path):
    for name in read_trace(str(path), use_cache=False).names:
        operators = decode(name).operators
        assert all(each in OPERATORS | _CUSTOM_OPERATORS for each in operators), name
        assert operators == fused_operators("_".join(operators))
