"""Comparisons of real recordings, against figures worked out from the files by other means."""

from decimal import Decimal

import pytest

from tests.golden.recordings import SKIPPED_WITHOUT, goldens
from tracetui.compare.comparison import comparison
from tracetui.compare.kinds import MatchKind
from tracetui.compare.sentence import answer
from tracetui.compare.spread import Verdict
from tracetui.readers import read_trace

pytestmark = SKIPPED_WITHOUT


@pytest.fixture
def opened(shared):
    return lambda path: read_trace(shared / path, use_cache=False)


def us(text):
    return int(Decimal(text) * 1000)


def test_case_74_unfused_against_fused(opened):
    a, b = (opened(f"cases/74-compare-fused-unfused/{name}.json") for name in "ab")
    there, back = comparison(a, b), comparison(b, a)

    assert there.gpu is not None
    assert there.wall is not None
    assert (there.gpu.baseline_ns, there.gpu.candidate_ns) == (us(26), us(24))
    assert there.gpu.ratio == pytest.approx(1 - 0.0769, abs=5e-5)
    assert (there.kernels.baseline, there.kernels.candidate) == (2, 2)
    assert (there.wall.baseline_ns, there.wall.candidate_ns) == (us(120), us(80))
    rows = {row.name: (row.baseline_ns, row.candidate_ns) for row in there.operators}
    assert rows == {
        "aten::addmm": (us(30), us(20)),
        "aten::linear": (us(40), None),
        "aten::gelu": (us(20), None),
        "Torch-Compiled Region: 0/0": (None, us(60)),
        "triton_poi_fused_gelu_0": (None, us(15)),
    }
    addmm = next(row for row in there.operators if row.name == "aten::addmm")
    assert (addmm.baseline_gpu_ns, addmm.candidate_gpu_ns) == (us(20), us(20))
    kernels = {row.name: (row.baseline_ns, row.candidate_ns) for row in there.kernel_names}
    assert kernels == {
        "sm80_xmma_gemm_f32": (us(20), us(20)),
        "gelu_kernel": (us(6), None),
        "triton_poi_fused_gelu_0": (None, us(4)),
    }
    assert sum(row.delta_ns for row in there.kernel_names) == there.gpu.delta_ns == us(-2)
    assert {match.kind: match.delta_ns for match in there.matches} == {
        MatchKind.SAME: 0,
        MatchKind.SWAPPED: us(-2),
    }
    assert back.gpu is not None
    assert back.gpu.delta_ns == us(2)


def test_case_75_different_step_counts(opened):
    a, b = (opened(f"cases/75-compare-different-step-counts/{name}.json") for name in "ab")

    per_step, total = comparison(a, b), comparison(a, b, per="total")
    assert per_step.gpu is not None
    assert total.gpu is not None
    assert (per_step.gpu.baseline_ns, per_step.gpu.candidate_ns) == (us(10), us(10))
    assert (total.gpu.baseline_ns, total.gpu.candidate_ns) == (us(20), us(40))
    calls = comparison(a, b, "aten::mm", "call")
    assert calls.gpu is not None
    assert (calls.gpu.baseline_ns, calls.gpu.candidate_ns) == (us(10), us(10))


def test_a_graph_replay_changes_nothing_on_a_busy_gpu(opened):
    a, b = (opened(f"traces/luatil__torch-profile__trace_0{number}.json") for number in (4, 5))
    found = comparison(a, b)

    # Device work launched in each step, the cold one left out: 22.60 and 22.72 ms.
    assert found.gpu is not None
    assert found.wall is not None
    assert round(found.gpu.baseline_ns / 1e6, 2) == 22.60
    assert round(found.gpu.candidate_ns / 1e6, 2) == 22.72
    assert found.gpu.verdict in (Verdict.NO_CHANGE, Verdict.INCONCLUSIVE)
    assert found.wall.verdict in (Verdict.NO_CHANGE, Verdict.INCONCLUSIVE)
    assert (found.launches.baseline, found.launches.candidate) == (202, 17)
    assert found.host_runs_ahead == (True, True)
    text = answer(found)
    assert "Launches fall from 202 to 17 a step." in text
    assert "3.7" not in text
    # All 248 pieces of work of the baseline are found again; the graph adds two copies of its inputs
    # and two fills.
    kinds = [match.kind for match in found.matches]
    assert (kinds.count(MatchKind.NEW_COPY), kinds.count(MatchKind.ONLY_CANDIDATE)) == (2, 2)
    assert all(match.candidate for match in found.matches)
    assert len(found.matches) == 252


def test_ranks_of_one_job_differ_in_waiting_for_each_other(opened):
    name = "traces/facebookresearch__param__dlrm_worker{}.json.gz"
    found = comparison(opened(name.format(0)), opened(name.format(1)))

    assert found.wall is not None
    assert found.wall_waterfall is not None
    parts = {part.name: part.delta_ns for part in found.wall_waterfall.parts}
    assert max(parts, key=lambda name: abs(parts[name])) == "exposed communication"
    assert parts["exposed communication"] > 0.9 * found.wall.delta_ns
    assert sum(parts.values()) + found.wall_waterfall.residual_ns == found.wall.delta_ns


@pytest.mark.parametrize("name", [pytest.param(p.values[0][0], id=p.id) for p in goldens("raw")])
def test_a_real_recording_against_itself_is_no_change(name, opened, shared):
    if not (shared / "traces" / name).is_file():
        pytest.skip("no recording of this name")
    found = comparison(opened(f"traces/{name}"), opened(f"traces/{name}"))

    spreads = [found.gpu, found.host, found.wall]
    assert {spread.verdict for spread in spreads if spread is not None} == {Verdict.NO_CHANGE}
    assert {match.kind for match in found.matches} <= {MatchKind.SAME}
    assert found.differences == ()
    for waterfall in (found.gpu_waterfall, found.host_waterfall, found.wall_waterfall):
        if waterfall is not None:
            assert all(part.delta_ns == 0 for part in waterfall.parts)
            assert waterfall.residual_ns == 0
