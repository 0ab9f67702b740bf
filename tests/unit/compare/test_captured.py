"""What a capture wrote into its trace, whole and damaged."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.compare.recordings import mlp, op, steps_of
from tracetui.compare.captured import KEY, captured, captures
from tracetui.compare.comparison import comparison
from tracetui.compare.notes import notes
from tracetui.compare.spread import Verdict


def with_record(trace, record):
    """Return a trace with a capture's record, encoded as the capture does it."""
    text = record if isinstance(record, str) else base64.b64encode(json.dumps(record).encode())
    return replace(
        trace, metadata={**trace.metadata, KEY: text if isinstance(text, str) else text.decode()}
    )


RECORD = {
    "schema": 1,
    "workload": "mlp",
    "variant": "eager",
    "timing": {"runs_ns": [100, 120, 110], "median_ns": 110},
    "equality": {"is_equal": True, "tolerance": 0.1},
}


def test_a_whole_record():
    found = captured(with_record(steps_of(mlp()), RECORD))

    assert found is not None
    assert (found.workload, found.variant, found.is_equal) == ("mlp", "eager", True)
    assert found.unprofiled_ns.tolist() == [100, 120, 110]


def test_no_record():
    assert captured(steps_of(mlp())) is None


@pytest.mark.parametrize(
    "damaged",
    ["", "not base64!", base64.b64encode(b"\xff\xfe").decode(), base64.b64encode(b"[1]").decode()],
)
def test_a_damaged_record_is_none(damaged):
    assert captured(with_record(steps_of(mlp()), damaged)) is None


@pytest.mark.parametrize(
    "timing",
    [
        None,
        5,
        [],
        {},
        {"runs_ns": None},
        *({"runs_ns": [value]} for value in ("2", 0, True, 1.5, 10**30)),
    ],
)
def test_damaged_times_are_no_times(timing):
    found = captured(with_record(steps_of(mlp()), {**RECORD, "timing": timing}))

    assert found is not None
    assert len(found.unprofiled_ns) == 0


def test_text_of_a_record_steers_no_terminal():
    found = captured(with_record(steps_of(mlp()), {**RECORD, "variant": "\x1b[31mred"}))

    assert found is not None
    assert found.variant is not None
    assert "\x1b" not in found.variant


def repeat_of(variant, number, ops=None):
    """Return one of several captures of a variant."""
    return with_record(
        steps_of(ops or mlp()), {**RECORD, "variant": variant, "repeat": number, "parameters": {}}
    )


def test_repeats_of_a_variant_go_together():
    traces = [repeat_of(v, n) for n in (1, 2) for v in ("eager", "compiled")]

    assert captures(traces) == ((0, 2), (1, 3))
    assert captures([*traces, steps_of(mlp())]) == ((0, 2), (1, 3), (4,))


def test_repeats_of_one_variant_alone_are_compared():
    assert captures([repeat_of("eager", n) for n in (1, 2)]) == ((0,), (1,))
    assert captures([steps_of(mlp())] * 2) == ((0,), (1,))


def test_steps_of_all_captures_count():
    slow = [*mlp(), op("aten::add", ("add", 100_000))]
    lead, *more = (repeat_of("eager", n) for n in (1, 2, 3))
    other, *others = (repeat_of("slow", n, slow) for n in (1, 2, 3))
    found = comparison(lead, other, repeats=(more, others))

    assert found.gpu is not None
    assert len(found.gpu.baseline_samples) == 3
    assert found.gpu.verdict is Verdict.SLOWER
    assert found.n_captures == (3, 3)
    assert any(note.startswith("A is 3 captures") for note in notes(found))


def test_times_without_the_profiler_decide():
    random = np.random.default_rng(2)

    def timed(median_ns):
        runs = (random.normal(1, 0.01, 30) * median_ns).astype(int).tolist()
        record = {**RECORD, "timing": {"runs_ns": runs}}
        return with_record(steps_of(mlp()), record)

    found = comparison(timed(1_000_000), timed(1_300_000))

    assert found.unprofiled is not None
    assert found.unprofiled.verdict is Verdict.SLOWER
    assert comparison(timed(1_000_000), steps_of(mlp())).unprofiled is None
