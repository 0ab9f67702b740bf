"""What holds for any two traces: the figures of a comparison as properties."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tests.unit.compare.recordings import STEP_NS, compiled_mlp, mlp, op, step_rows, steps_of
from tracetui.compare.comparison import comparison
from tracetui.compare.kinds import MatchKind
from tracetui.compare.scope import Range
from tracetui.compare.spread import Verdict
from tracetui.compare.waterfall import COPIES

SWAPPED_KIND = {
    MatchKind.SLOWER: MatchKind.FASTER,
    MatchKind.FASTER: MatchKind.SLOWER,
    MatchKind.FUSED: MatchKind.SPLIT,
    MatchKind.SPLIT: MatchKind.FUSED,
    MatchKind.ONLY_BASELINE: MatchKind.ONLY_CANDIDATE,
}
ONE_SIDED = {
    MatchKind.ONLY_BASELINE,
    MatchKind.ONLY_CANDIDATE,
    MatchKind.NEW_COPY,
    MatchKind.MOVED_TO_HOST,
}
KERNELS = st.tuples(
    st.sampled_from(("gemm_a", "gemm_b", "gelu", "triton_poi_fused_gelu_mul_0", "Memcpy DtoD")),
    st.integers(100, 9_000),
)
NAMES = st.sampled_from(("aten::mm", "aten::gelu", "aten::mul", "aten::copy_", "aten::add"))
OPS = st.builds(
    op,
    NAMES,
    KERNELS,
    around=st.sampled_from(((), ("aten::linear",), ("Torch-Compiled Region: 0/0",))),
)
HOST_OPS = st.builds(
    op,
    NAMES | st.sampled_from(("graph_0_cpp_fused_gelu_mul_0", "aten::view")),
    around=st.sampled_from(((), ("aten::linear",), ("Torch-Compiled Region: 0/0",))),
    dur_ns=st.integers(1_000, 9_000),
)
STEPS = st.lists(st.lists(OPS, max_size=6), min_size=1, max_size=3)
ANY_STEPS = STEPS | st.lists(st.lists(HOST_OPS, max_size=6), min_size=1, max_size=3)
"""With a device or without."""


def waterfalls(found):
    return [
        (spread, waterfall)
        for spread, waterfall in (
            (found.gpu, found.gpu_waterfall),
            (found.host, found.host_waterfall),
            (found.wall, found.wall_waterfall),
        )
        if waterfall is not None
    ]


def figures(found):
    """Return all that a comparison says, without slice ids."""
    return (
        [
            (spread.baseline_ns, spread.candidate_ns, spread.ci, spread.verdict)
            for spread, _ in waterfalls(found)
        ],
        [
            sorted((part.name, part.delta_ns) for part in waterfall.parts if part.delta_ns)
            for _, waterfall in waterfalls(found)
        ],
        [
            (
                match.kind,
                [unit.name for unit in match.baseline],
                [unit.name for unit in match.candidate],
                match.delta_ns,
                match.is_sure,
            )
            for match in found.matches
        ],
        found.launches,
        found.kernels,
    )


@settings(max_examples=50)
@given(ANY_STEPS, ANY_STEPS, st.sampled_from((None, "step", "total")))
def test_parts_and_residual_add_up_exactly(baseline, candidate, per):
    found = comparison(steps_of(*baseline), steps_of(*candidate), per=per)

    for spread, waterfall in waterfalls(found):
        total = sum(part.delta_ns for part in waterfall.parts) + waterfall.residual_ns
        assert total == spread.delta_ns


@settings(max_examples=50)
@given(st.lists(OPS, max_size=6), st.lists(OPS, max_size=6))
def test_one_step_each_leaves_no_residual(baseline, candidate):
    found = comparison(steps_of(baseline), steps_of(candidate))

    assert [waterfall.residual_ns for _, waterfall in waterfalls(found)] == [
        0 for _ in waterfalls(found)
    ]


@settings(max_examples=50)
@given(ANY_STEPS)
def test_a_trace_against_itself_is_no_change_everywhere(steps):
    found = comparison(steps_of(*steps), steps_of(*steps))

    assert all(spread.verdict is Verdict.NO_CHANGE for spread, _ in waterfalls(found))
    assert {match.kind for match in found.matches} <= {MatchKind.SAME}
    assert all(match.delta_ns == 0 for match in found.matches)
    assert all(part.delta_ns == 0 for _, waterfall in waterfalls(found) for part in waterfall.parts)
    assert found.differences == ()


@settings(max_examples=50)
@given(ANY_STEPS, ANY_STEPS)
def test_exchanged_sides_change_signs_and_nothing_else(baseline, candidate):
    there = comparison(steps_of(*baseline), steps_of(*candidate))
    back = comparison(steps_of(*candidate), steps_of(*baseline))

    for (spread, waterfall), (turned, other) in zip(
        waterfalls(there), waterfalls(back), strict=True
    ):
        assert turned.delta_ns == -spread.delta_ns
        assert turned.verdict is spread.verdict.swapped
        assert other.residual_ns == -waterfall.residual_ns
    keys = [
        sorted(
            (
                sorted(unit.slice_id for unit in first),
                sorted(unit.slice_id for unit in second),
                delta,
                sure,
            )
            for first, second, delta, sure in rows
        )
        for rows in (
            [(m.baseline, m.candidate, m.delta_ns, m.is_sure) for m in there.matches],
            [(m.candidate, m.baseline, -m.delta_ns, m.is_sure) for m in back.matches],
        )
    ]
    assert keys[0] == keys[1]
    by_units = {
        (
            tuple(unit.slice_id for unit in match.candidate),
            tuple(unit.slice_id for unit in match.baseline),
        ): match.kind
        for match in back.matches
    }
    for match in there.matches:
        turned_kind = by_units[
            tuple(unit.slice_id for unit in match.baseline),
            tuple(unit.slice_id for unit in match.candidate),
        ]
        if match.kind in ONE_SIDED:
            assert turned_kind in ONE_SIDED
        else:
            assert turned_kind is SWAPPED_KIND.get(match.kind, match.kind)


def step_rows_of(steps):
    return [
        row
        for place, ops in enumerate(steps)
        for row in step_rows(place + 1, ops, start_ns=place * STEP_NS)
    ]


@settings(max_examples=25)
@given(STEPS, STEPS, st.integers(0, 10**15), st.randoms(use_true_random=False))
def test_time_order_and_thread_names_mean_nothing(baseline, candidate, shift_ns, order):
    rows = step_rows_of(candidate)
    plain = figures(comparison(steps_of(*baseline), trace_of(*rows)))

    def renamed(row: Row) -> Row:
        name = {"1": "31337"}.get(row.tid, row.tid)
        return replace(row, tid=name) if row.category != "kernel" else row

    moved = [replace(renamed(row), ts_ns=row.ts_ns + shift_ns) for row in rows]
    order.shuffle(moved)

    assert figures(comparison(steps_of(*baseline), trace_of(*moved))) == plain


def test_doubling_a_kernel_moves_exactly_its_part():
    plain, doubled = mlp(), mlp()
    doubled[1] = op("aten::gelu", ("vectorized_elementwise_kernel<gelu>", 186_000))
    found = comparison(steps_of(*[plain] * 4), steps_of(*[doubled] * 4))

    assert found.gpu is not None
    assert found.gpu_waterfall is not None
    assert found.gpu.delta_ns == 93_000
    assert {part.name: part.delta_ns for part in found.gpu_waterfall.parts} == {
        "same work": 0,
        "same work, slower": 93_000,
    }
    assert found.gpu_waterfall.residual_ns == 0
    assert [found.matches[place].delta_ns for place in found.differences] == [93_000]


@settings(max_examples=30)
@given(st.data())
def test_more_time_in_one_kernel_moves_its_match_alone(data):
    ops = data.draw(st.lists(OPS, min_size=1, max_size=6))
    place = data.draw(st.integers(0, len(ops) - 1))
    (name, dur_ns), *_ = ops[place].kernels
    slower = list(ops)
    slower[place] = replace(ops[place], kernels=((name, 2 * dur_ns),))
    found = comparison(steps_of(ops), steps_of(slower))

    moved = [match for match in found.matches if match.delta_ns]
    assert [(match.baseline[0].place, match.delta_ns) for match in moved] == [(place, dur_ns)]


@settings(max_examples=50)
@given(host_and_device_rows(), host_and_device_rows())
def test_any_two_recordings_compare(baseline, candidate):
    found = comparison(trace_of(*baseline), trace_of(*candidate))

    for spread, waterfall in waterfalls(found):
        total = sum(part.delta_ns for part in waterfall.parts) + waterfall.residual_ns
        assert total == spread.delta_ns
    both = [unit.place for match in found.matches for unit in match.baseline]
    assert sorted(both) == list(range(len(found.baseline_work.units)))
    both = [unit.place for match in found.matches for unit in match.candidate]
    assert sorted(both) == list(range(len(found.candidate_work.units)))


def test_the_mlp_is_faster_by_what_fusing_saves():
    found = comparison(steps_of(*[mlp()] * 4), steps_of(*[compiled_mlp()] * 4))

    assert found.gpu is not None
    assert found.gpu_waterfall is not None
    assert found.gpu.delta_ns == 89_000 - 93_000 - 92_000
    assert found.gpu.verdict is Verdict.FASTER
    assert {part.name: part.delta_ns for part in found.gpu_waterfall.parts} == {
        "same work": 0,
        "fused": -96_000,
    }
    assert (found.kernels.baseline, found.kernels.candidate) == (5, 4)


def test_a_new_copy_counts_as_copy():
    copy = op("aten::copy_", ("Memcpy DtoD (Device -> Device)", 5_000))
    found = comparison(steps_of(mlp()), steps_of([*mlp(), copy]))

    assert found.gpu_waterfall is not None
    assert [part.delta_ns for part in found.gpu_waterfall.parts if part.name == COPIES] == [5_000]
    assert (found.copies.delta, found.launches.delta) == (1, 0)


def test_wall_time_is_split_by_what_the_device_waited_for():
    def recording(launch_ns):
        # The device runs dry at 1500 and the next call begins later or earlier.
        return trace_of(
            annotation("f", 0, 3_000),
            launch(100, 100, 1),
            kernel("a", 500, 1_000, 1),
            launch(launch_ns, 100, 2),
            kernel("b", launch_ns + 100, 500, 2),
        )

    found = comparison(recording(1_500), recording(2_000), "f", "call")

    assert found.wall_waterfall is not None
    assert {part.name: part.delta_ns for part in found.wall_waterfall.parts} == {
        "computing": 0,
        "idle: launching": 0,
        "idle: waiting for the host": 500,
        "before and after the device works": -500,
    }
    assert found.wall_waterfall.residual_ns == 0


def test_host_time_is_split_by_what_the_host_did():
    found = comparison(steps_of(mlp()), steps_of(compiled_mlp()))
    parts = {
        part.name: (part.baseline_ns, part.candidate_ns) for part in found.host_waterfall.parts
    }

    # Five operators of 8 us lie in two wrappers, less the launch's 0.3 us; all wrappers go.
    assert parts["launch calls"] == (5 * 300, 4 * 300)
    assert parts["compile tax"][0] == 0
    assert parts["compile tax"][1] > 0
    assert parts["operators only in the candidate"][0] == 0
    assert found.host_waterfall.residual_ns == 0


def test_a_host_that_runs_ahead_is_seen():
    def recording(kernel_ns):
        rows = []
        for number in range(4):
            rows += [
                annotation(f"ProfilerStep#{number}", number * 1_000, 900),
                launch(number * 1_000 + 100, 50, number + 1),
                kernel("gemm", 500 + number * kernel_ns, kernel_ns, number + 1),
            ]
        return trace_of(*rows)

    ahead, behind = recording(5_000), recording(100)
    found = comparison(ahead, behind)

    assert found.host_runs_ahead == (True, False)
    # The steps of the first are as long as its kernels, whatever the host does.
    assert found.wall is not None
    assert found.wall.baseline_ns == 5_000


def test_a_range_of_each_side_is_compared():
    trace = steps_of([op("aten::mm", ("gemm", 9_000))], [op("aten::mm", ("gemm", 12_000))])
    first, second = (Range(n * STEP_NS, (n + 1) * STEP_NS) for n in (0, 1))
    found = comparison(trace, trace, (first, second))

    assert found.gpu is not None
    assert (found.gpu.baseline_ns, found.gpu.candidate_ns) == (9_000, 12_000)
    assert [match.kind for match in found.matches] == [MatchKind.SLOWER]
    assert [(each.start_ns, each.end_ns) for each in found.ranges] == [
        (first.start_ns, first.end_ns),
        (second.start_ns, second.end_ns),
    ]


def test_a_device_on_one_side_alone_compares_operators():
    on_device = steps_of([op("aten::mm", ("gemm", 9_000)), op("aten::gelu", ("gelu", 900))])
    on_host = steps_of([op("aten::mm"), op("aten::gelu")])
    found = comparison(on_device, on_host)

    assert found.gpu is None
    assert found.gpu_waterfall is None
    assert [match.baseline[0].name for match in found.matches] == ["aten::mm", "aten::gelu"]


def test_empty_recordings_compare():
    found = comparison(trace_of(), trace_of())

    assert (found.matches, found.host.delta_ns) == ((), 0)


def test_typical_step_stands_for_all():
    generator = random.Random(3)
    steps = [mlp(190_000 + generator.randrange(1_000)) for _ in range(9)]
    odd = [op("aten::mm", ("gemm_128x128", 9))]
    found = comparison(steps_of(*steps, odd), steps_of(*steps, odd))

    # Of the nine steps that count, the first being cold, eight have the common form.
    assert (found.baseline_work.n_alike, len(found.baseline.kept)) == (8, 9)
    assert len(found.matches) == 5
