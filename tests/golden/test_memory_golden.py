"""Memory of real recordings: against torch's own sums, and against a walk through all records."""

import json
from collections import Counter

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.golden.recordings import SKIPPED_WITHOUT
from tests.unit.analysis.test_allocations import maker
from tracetui.analysis.allocations import operator_memory
from tracetui.analysis.memory import memory_use
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

pytestmark = SKIPPED_WITHOUT
_BIG = "AMD-AGI__TraceLens__h100_qwen0.5b.json.gz"
_SMALL = (
    "Gabriellanaro__dtu_mlops__trace.json",
    "sidnb13__torch-profiling-tutorial__transformer_dc3b_a.json",
)
_ORACLE = "cnn_train_memory"


def _read(name: str) -> Trace:
    return read_trace(SHARED / name, use_cache=False)


def _oracle() -> Trace:
    return _read(f"torch-oracle/{_ORACLE}.pt.trace.json")


def test_totals_and_selves_are_torchs() -> None:
    trace = _oracle()
    text = (SHARED / "torch-oracle" / f"{_ORACLE}.oracle.json").read_text()
    table = json.loads(text)["values"]["key_averages"]
    # torch's table has a row for what no operator did, and rows of runtime calls.
    wanted = {
        row["name"]: (row["cpu_memory_usage"], row["self_cpu_memory_usage"])
        for row in table
        if row["name"] != "[memory]"
    }
    use = memory_use(trace)
    assert use is not None
    (curve,) = use.curves
    found = operator_memory(trace, curve, curve.peak())
    ours = {
        trace.names[int(name_id)]: (int(total), int(own))
        for name_id, total, own in zip(
            found.name_id, found.total_bytes, found.self_bytes, strict=True
        )
    }
    assert {name: amounts for name, amounts in wanted.items() if any(amounts)} == {
        name: amounts for name, amounts in ours.items() if any(amounts)
    }
    assert len(ours) > 20


@pytest.mark.parametrize("name", [*(f"traces/{each}" for each in _SMALL), _ORACLE])
def test_the_peaks_holders_are_those_of_a_walk_through_the_records(name: str) -> None:
    trace = _oracle() if name == _ORACLE else _read(name)
    memory, use = trace.memory, memory_use(trace)
    assert use is not None
    for curve in use.curves:
        peak = curve.peak()
        alive: dict[int, tuple[int, int]] = {}
        for record in curve.record.tolist():
            if record > peak.record:
                break
            alive.pop(int(memory.address[record]), None)
            n_bytes = int(memory.n_bytes[record])
            if n_bytes > 0:
                who = maker(trace, asking_on(trace, record))
                alive[int(memory.address[record])] = (who, n_bytes)
        wanted: Counter[str] = Counter()
        for who, n_bytes in alive.values():
            wanted[trace.name_of(who) if who >= 0 else ""] += n_bytes
        found = operator_memory(trace, curve, peak)
        assert found.peak_bytes is not None
        ours = dict(zip(found.name_id.tolist(), found.peak_bytes.tolist(), strict=True))
        assert {trace.names[key]: n for key, n in ours.items() if n} == {
            key: n for key, n in wanted.items() if key and n
        }
        assert found.outside_peak_bytes == wanted[""]
        assert found.before_bytes == peak.n_bytes - wanted.total()


def asking_on(trace: Trace, record: int) -> int:
    """Return the slice of the asking thread, which alone may have asked."""
    track = int(trace.memory.track_id[record])
    ts_ns = int(trace.memory.ts_ns[record])
    found = -1
    first, after = np.searchsorted(trace.slices.track_id, (track, track + 1)).tolist()
    for row in range(first, after):
        if trace.slices.ts_ns[row] <= ts_ns <= trace.slices.end_ns[row]:
            found = row
    return found


def test_nothing_was_released_that_the_big_recording_began_with() -> None:
    trace = _read(f"traces/{_BIG}")
    use = memory_use(trace)
    assert use is not None
    host, device = use.curves
    assert device.peak().n_bytes == 2_088_508_416
    found = operator_memory(trace, device, device.peak())
    # The first record allocates 18,317,312 of a total of 1,003,059,712: 984,742,400 were there.
    assert found.before_bytes == device.start_bytes == 1_003_059_712 - 18_317_312
    assert host.start_bytes == 0
