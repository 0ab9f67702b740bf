"""Which work is which: kinds of matches on pairs with known answers."""

import pytest

from tests.unit.compare.recordings import compiled_mlp, mlp, op, steps_of
from tracetui.compare.comparison import comparison
from tracetui.compare.grouping import Proof
from tracetui.compare.kinds import MatchKind


def matched(baseline, candidate, **more):
    """Return what became of one step's work, as (kind, baseline names, candidate names)."""
    found = comparison(steps_of(baseline), steps_of(candidate), **more)
    return [
        (
            match.kind.value,
            tuple(unit.name for unit in match.baseline),
            tuple(unit.name for unit in match.candidate),
        )
        for match in found.matches
    ]


def matches(baseline, candidate):
    return comparison(steps_of(baseline), steps_of(candidate)).matches


def test_a_fused_kernel_stands_for_the_operators_in_its_name():
    found = matched(mlp(), compiled_mlp())

    gelu, mul = "vectorized_elementwise_kernel<gelu>", "vectorized_elementwise_kernel<mul>"
    assert found == [
        ("same", ("gemm_128x128",), ("gemm_128x128",)),
        ("fused", (gelu, mul), ("triton_poi_fused__unsafe_view_gelu_mul_0",)),
        ("same", ("gemm_128x128",), ("gemm_128x128",)),
        ("same", ("gemm_128x256",), ("gemm_128x256",)),
    ]


def test_the_other_way_round_it_is_split():
    kinds = [kind for kind, *_ in matched(compiled_mlp(), mlp())]

    assert sorted(kinds) == ["same", "same", "same", "split"]


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        ("LigerGELUMulFunction", "_geglu_tanh_forward_kernel"),
        ("_GatedActivation", "gated_activation_forward"),
        ("_C::gelu_and_mul", "void vllm::act_and_mul_kernel<c10::BFloat16>"),
    ],
)
def test_a_library_s_gated_activation_stands_for_gelu_and_mul(operator, name):
    fused = [*compiled_mlp()[:2], op(operator, (name, 92_800)), compiled_mlp()[3]]
    found = [match for match in matches(mlp(), fused) if match.kind is not MatchKind.SAME]

    (match,) = found
    assert (match.kind, match.is_sure) == (MatchKind.FUSED, True)
    assert [unit.operator for unit in match.baseline] == ["aten::gelu", "aten::mul"]


def test_a_bias_that_is_added_becomes_a_copy_before_the_product():
    eager = [
        op("aten::mm", ("gemm_nn", 580_000), around=("aten::matmul",)),
        op("aten::add", ("vectorized_elementwise_kernel", 40_000)),
    ]
    compiled = [
        op(
            "aten::addmm",
            ("Memcpy DtoD (Device -> Device)", 33_000),
            ("gemm_nn", 580_000),
            around=("Torch-Compiled Region: 0/0",),
        )
    ]

    assert sorted(matched(eager, compiled)) == [
        ("same", ("gemm_nn",), ("gemm_nn",)),
        (
            "swapped",
            ("vectorized_elementwise_kernel",),
            ("Memcpy DtoD (Device -> Device)",),
        ),
    ]
    assert sorted(kind for kind, *_ in matched(compiled, eager)) == ["same", "swapped"]


def test_two_products_become_one_as_wide_as_both():
    def product(columns, ns):
        return op("aten::mm", ("gemm", ns), shape=f"[[256,768],[768,{columns}]]")

    apart = [product(1024, 9_000), op("aten::gelu", ("gelu", 500)), product(1024, 9_000)]
    packed = [product(2048, 16_000), op("aten::gelu", ("gelu", 500))]
    found = [match for match in matches(apart, packed) if match.kind is not MatchKind.SAME]

    (match,) = found
    assert (match.kind, match.is_sure, match.delta_ns) == (MatchKind.FUSED, True, -2_000)
    assert (match.proof, len(match.baseline)) == (Proof.WIDTH, 2)
    kinds = {match.kind for match in matches(packed, apart)}
    assert kinds == {MatchKind.SPLIT, MatchKind.SAME}


def test_a_loop_that_only_lays_out_for_an_attention_is_not_that_attention():
    attention = "aten::_scaled_dot_product_flash_attention_backward"
    layout = "triton_poi_fused__scaled_dot_product_flash_attention_backward_transpose_2"
    eager = [op(attention, ("flash_bwd", 90_000), around=("FlashBackward0",))]
    compiled = [op(layout, (layout, 700)), op("aten::_flash_bwd", ("flash_bwd", 90_000))]

    assert sorted(matched(eager, compiled)) == [
        ("new-copy", (), (layout,)),
        ("same", ("flash_bwd",), ("flash_bwd",)),
    ]


def test_independent_work_in_another_order_is_found_again():
    def product(name, columns):
        return op("aten::mm", (name, 9_000), shape=f"[[256,768],[768,{columns}]]")

    first, second, third = product("a", 64), product("b", 128), product("c", 256)
    found = matches([first, second, third], [third, first, second])

    assert {match.kind for match in found} == {MatchKind.SAME}
    assert [match.baseline[0].name for match in found] == ["a", "b", "c"]
    assert all(match.baseline[0].name == match.candidate[0].name for match in found)


def test_a_hidden_copy_goes_with_the_operator_that_needed_it():
    copy = op("aten::copy_", ("Memcpy DtoD", 900), around=("aten::masked_fill", "aten::clone"))
    naive = [
        op("aten::div", ("div", 500)),
        copy,
        op("aten::masked_fill_", ("masked_fill", 500), around=("aten::masked_fill",)),
        op("aten::_softmax", ("softmax", 500)),
    ]
    name = "triton_per_fused__softmax_div_masked_fill_0"
    (match,) = matches(naive, [op(name, (name, 800))])

    assert (match.kind, match.is_sure, len(match.baseline)) == (MatchKind.FUSED, True, 4)


def test_layers_fused_in_turn_keep_to_themselves():
    def layer(number, *, is_fused):
        gemm = op("aten::mm", (f"gemm_{number}", 50_000))
        if is_fused:
            name = f"triton_poi_fused_gelu_mul_{number}"
            return [gemm, op(name, (name, 900))]
        return [gemm, op("aten::gelu", ("gelu", 500)), op("aten::mul", ("mul", 600))]

    plain = [each for n in range(4) for each in layer(n, is_fused=False)]
    fused = [each for n in range(4) for each in layer(n, is_fused=True)]
    found = [match for match in matches(plain, fused) if match.kind is MatchKind.FUSED]

    assert [match.candidate[0].name[-1] for match in found] == ["0", "1", "2", "3"]
    assert [[unit.place for unit in match.baseline] for match in found] == [
        [1, 2],
        [4, 5],
        [7, 8],
        [10, 11],
    ]
    assert all(match.is_sure and match.delta_ns == -200 for match in found)


def test_attention_in_one_kernel_stands_for_the_spelled_out_one():
    naive = [
        op("aten::bmm", ("gemm_qk", 50_000), shape="[[64,128,32],[64,32,128]]"),
        op("aten::div", ("div", 9_000)),
        op("aten::copy_", ("Memcpy DtoD (Device -> Device)", 3_000)),
        op("aten::masked_fill_", ("fill", 8_000)),
        op("aten::_softmax", ("softmax_warp_forward", 12_000)),
        op("aten::bmm", ("gemm_pv", 50_000), shape="[[64,128,128],[64,128,32]]"),
    ]
    flash = [
        op(
            "aten::_flash_attention_forward",
            ("flash_fwd_kernel", 30_000),
            around=("aten::scaled_dot_product_attention",),
            shape="[[8,128,8,32],[8,128,8,32],[8,128,8,32]]",
        )
    ]
    (found,) = matches(naive, flash)

    assert (found.kind, found.proof, found.is_sure) == (MatchKind.FUSED, Proof.COMPOSITE, True)
    assert (len(found.baseline), found.delta_ns) == (6, 30_000 - 132_000)


def test_attention_of_another_size_is_not_this_attention():
    naive = [
        op("aten::topk", ("topk", 1_000)),
        op("aten::bmm", ("gemm_qk", 50_000), shape="[[64,128,32],[64,32,128]]"),
        op("aten::_softmax", ("softmax", 12_000)),
        op("aten::bmm", ("gemm_pv", 50_000), shape="[[64,128,128],[64,128,32]]"),
    ]
    flash = [
        op("aten::_flash_attention_forward", ("flash", 30_000), shape="[[3,7,5,11],[3,7,5,11]]")
    ]
    found = matches(naive, flash)

    assert {match.kind for match in found} == {MatchKind.ONLY_BASELINE, MatchKind.ONLY_CANDIDATE}
    assert not any(match.is_sure for match in found)

    # With nothing else to be meant it is offered, and said to be not sure.
    (alone,) = matches(naive[1:], flash)
    assert (alone.kind, alone.is_sure) == (MatchKind.FUSED, False)
    assert alone.why.startswith("not sure: ")


def test_another_kernel_of_the_same_operator_is_swapped_and_says_what_its_name_lost():
    lost = "ampere_sgemm_128x64_nn"
    kept = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_nn"
    (found,) = matches([op("aten::mm", (kept, 10_000))], [op("aten::mm", (lost, 70_000))])

    assert (found.kind, found.is_sure, found.delta_ns) == (MatchKind.SWAPPED, True, 60_000)
    assert "tensor cores lost" in found.why
    assert found.differences


def test_kernels_of_one_operator_are_one_group():
    two = [op("aten::linear", ("gemm_without_bias", 9_000), ("bias_add", 900))]
    one = [op("aten::linear", ("gemm_with_epilogue", 9_300))]
    (found,) = matches(two, one)

    assert (found.kind, found.proof) == (MatchKind.FUSED, Proof.PARENTS)
    assert len(found.baseline) == 2


def test_a_copy_that_was_not_there_is_new():
    copy = op("aten::copy_", ("Memcpy DtoD (Device -> Device)", 5_000))
    plain = [op("aten::mm", ("gemm", 9_000)), op("aten::add", ("add", 900))]
    there = matched(plain, [plain[0], copy, plain[1]])
    back = matched([plain[0], copy, plain[1]], plain)

    assert there[1] == ("new-copy", (), ("Memcpy DtoD (Device -> Device)",))
    assert back[1] == ("only-baseline", ("Memcpy DtoD (Device -> Device)",), ())


def test_an_operator_that_no_longer_launches_moved_to_the_host():
    on_device = [op("aten::mm", ("gemm", 9_000)), op("aten::topk", ("topk", 4_000))]
    on_host = [op("aten::mm", ("gemm", 9_000)), op("aten::topk")]

    assert matched(on_device, on_host)[1] == ("moved-to-host", ("topk",), ())


def test_a_graph_launch_is_looked_through():
    plain = [op("aten::mm", (f"gemm_{n}", 1_000 + n)) for n in range(6)]
    graph = [op("CompiledFunction", *[(f"gemm_{n}", 1_000 + n) for n in range(6)])]

    assert [kind for kind, *_ in matched(plain, graph)] == ["same"] * 6


def test_wrappers_of_any_depth_are_looked_through():
    inner = [op("aten::mm", ("gemm", 9_000)), op("aten::gelu", ("gelu", 900))]
    around = ("outer", "torch::jit::run", "aten::inner")
    wrapped = [op(each.name, *each.kernels, around=around) for each in inner]

    assert [kind for kind, *_ in matched(inner, wrapped)] == ["same", "same"]


def test_repeats_are_told_apart_by_what_they_launch():
    first = [op("aten::linear", (name, 9_000)) for name in ("gate", "up", "down")]
    second = [op("aten::linear", (name, 9_000)) for name in ("gate", "down")]

    assert matched(first, second) == [
        ("same", ("gate",), ("gate",)),
        ("only-baseline", ("up",), ()),
        ("same", ("down",), ("down",)),
    ]


def test_repeats_are_told_apart_by_their_shapes_where_all_kernels_changed():
    def linears(*names, kernel):
        shapes = {"gate": "[[64,768],[768,3072]]", "down": "[[64,3072],[3072,768]]"}
        shapes["up"] = shapes["gate"].replace("768", "512")
        return [op("aten::linear", (f"{kernel}_{n}", 9_000), shape=shapes[n]) for n in names]

    found = matches(
        linears("gate", "up", "down", kernel="fp32"), linears("gate", "down", kernel="bf16")
    )

    assert [
        (
            match.kind.value,
            [unit.name for unit in match.baseline],
            [unit.name for unit in match.candidate],
        )
        for match in found
    ] == [
        ("swapped", ["fp32_gate"], ["bf16_gate"]),
        ("only-baseline", ["fp32_up"], []),
        ("swapped", ["fp32_down"], ["bf16_down"]),
    ]
    assert all(match.is_sure for match in found)


def test_of_three_alike_and_two_nobody_knows_which_is_gone():
    alike = op("aten::linear", ("gemm", 9_000))
    found = matches([alike] * 3, [alike] * 2)

    assert sorted(match.kind.value for match in found) == ["only-baseline", "same", "same"]
    assert [match.is_sure for match in found if match.kind is MatchKind.SAME] == [False, False]


def test_kernels_of_another_device_pair_by_operator():
    nvidia = [
        op("aten::mm", ("ampere_sgemm_128x64_nn", 9_000)),
        op("aten::gelu", ("vectorized_elementwise_kernel", 900)),
    ]
    amd = [
        op("aten::mm", ("Cijk_Ailk_Bljk_SB_MT128x64x16", 8_000)),
        op("aten::gelu", ("elementwise_kernel_gfx942", 800)),
    ]

    assert [kind for kind, *_ in matched(nvidia, amd)] == ["swapped", "swapped"]


def test_neither_name_nor_order_alone_makes_a_match():
    found = matches([op("aten::mm", ("gemm", 9_000))], [op("aten::topk", ("topk", 9_000))])

    assert [match.kind.value for match in found] == ["only-baseline", "only-candidate"]
    assert not any(match.is_sure for match in found)


@pytest.mark.parametrize(
    ("candidate_ns", "kind"),
    [(9_000, "same"), (9_100, "same"), (12_000, "slower"), (6_000, "faster")],
)
def test_one_instance_is_slower_beyond_two_percent(candidate_ns, kind):
    (found,) = matches([op("aten::mm", ("gemm", 9_000))], [op("aten::mm", ("gemm", candidate_ns))])

    assert found.kind.value == kind


def test_a_kernel_within_its_own_spread_is_the_same():
    def steps(*durations_ns):
        return steps_of(*[[op("aten::mm", ("gemm", ns))] for ns in durations_ns])

    # The first step of each is cold.
    noisy = comparison(steps(1, 9_000, 12_000, 8_000), steps(1, 9_500, 11_000, 10_500))
    slower = comparison(steps(1, 9_000, 9_010, 8_990), steps(1, 10_000, 10_010, 9_990))

    assert [match.kind for match in noisy.matches] == [MatchKind.SAME]
    assert [match.kind for match in slower.matches] == [MatchKind.SLOWER]


def test_without_a_device_operators_are_matched():
    naive = [op("aten::gelu"), op("aten::mul"), op("aten::view")]
    fused = [op("graph_0_cpp_fused_gelu_mul_view_0")]

    assert matched(naive, fused) == [
        ("fused", ("aten::gelu", "aten::mul"), ("graph_0_cpp_fused_gelu_mul_view_0",))
    ]


def test_an_operator_that_copies_what_it_needs_is_one_piece_of_work_without_a_device():
    addmm = op("aten::copy_", around=("aten::linear", "aten::addmm"))
    divided = op("aten::copy_", around=("aten::div", "aten::to"))
    cloned = op("aten::copy_", around=("aten::clone",))

    assert matched([addmm, divided, cloned], [addmm, divided, cloned]) == [
        ("same", ("aten::addmm",), ("aten::addmm",)),
        ("same", ("aten::div",), ("aten::div",)),
        ("same", ("aten::copy_",), ("aten::copy_",)),
    ]


def test_slices_of_both_sides_are_named():
    baseline, candidate = steps_of(mlp()), steps_of(compiled_mlp())
    found = comparison(baseline, candidate)

    for match in found.matches:
        for trace, units in ((baseline, match.baseline), (candidate, match.candidate)):
            assert all(trace.name_of(unit.slice_id) == unit.name for unit in units)
    pairs = {(baseline.name_of(a), candidate.name_of(b)) for a, b in found.node_pairs}
    assert pairs == {("aten::mm", "aten::mm")}
