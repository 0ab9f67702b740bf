"""FLOP and bytes in closed form, by hand."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.literal import Row, annotation, trace_of
from tracetui.analysis.cost import (
    MODELS,
    AttentionShape,
    Inputs,
    Operand,
    UnmodelledError,
    convolution_flop,
    cost_of,
    counted_sums,
    operator_costs,
    product_flop,
)

HALF, FLOAT = "c10::Half", "float"


def inputs(
    dims: list[Any],
    types: str | list[str] = FLOAT,
    values: list[Any] | None = None,
    strides: Any = (),
) -> Inputs:
    """Return inputs whose tensors all have one type unless a list says otherwise."""
    if isinstance(types, str):
        types = [types if isinstance(d, list) and d else "Scalar" for d in dims]
    given_values = [""] * len(dims) if values is None else [str(value) for value in values]
    return Inputs(dims, types, given_values, strides)


# Matrix products


def test_a_product_is_two_mnk_and_reads_and_writes_each_matrix_once():
    cost = cost_of("aten::mm", inputs([[3, 5], [5, 7]], HALF))

    assert cost.flop == 2 * 3 * 5 * 7
    assert cost.n_bytes == 2 * (3 * 5 + 5 * 7 + 3 * 7)
    assert (cost.precision, cost.is_matrix) == ("fp16", True)


def test_a_bias_costs_bytes_and_no_flop():
    cost = cost_of("aten::addmm", inputs([[7], [3, 5], [5, 7], [], []]))

    assert cost.flop == 210
    assert cost.n_bytes == 4 * (7 + 15 + 35 + 21)


def test_a_bias_that_is_repeated_by_stride_is_read_once():
    dims: list[Any] = [[3, 7], [3, 5], [5, 7]]

    cost = cost_of("aten::addmm", inputs(dims, strides=[[0, 1], [5, 1], [7, 1]]))

    assert cost.n_bytes == 4 * (7 + 15 + 35 + 21)


@pytest.mark.parametrize(
    ("name", "dims", "flop"),
    [
        ("aten::bmm", [[2, 3, 5], [2, 5, 7]], 420),
        ("aten::baddbmm", [[2, 3, 7], [2, 3, 5], [2, 5, 7]], 420),
        ("aten::addbmm", [[3, 7], [2, 3, 5], [2, 5, 7]], 420),
        ("aten::linear", [[2, 3, 5], [7, 5], [7]], 420),
        ("aten::linear", [[5], [7, 5]], 70),
        ("aten::matmul", [[2, 3, 5], [5, 7]], 420),
        ("aten::matmul", [[4, 1, 3, 5], [2, 5, 7]], 4 * 2 * 210),
        ("aten::matmul", [[5], [5, 7]], 70),
        ("aten::matmul", [[3, 5], [5]], 30),
        ("aten::mv", [[3, 5], [5]], 30),
        ("aten::addmv", [[3], [3, 5], [5]], 30),
        ("aten::dot", [[5], [5]], 10),
    ],
)
def test_every_form_of_product(name: str, dims: list[Any], flop: int):
    assert cost_of(name, inputs(dims)).flop == flop


def test_a_complex_multiplication_is_eight_real_operations_with_its_addition():
    assert cost_of("aten::mm", inputs([[3, 5], [5, 7]], "c10::complex<float>")).flop == 4 * 210


def test_eight_bit_products_write_wider_results():
    whole = cost_of("aten::_int_mm", inputs([[3, 5], [5, 7]], "signed char"))
    scaled = cost_of("aten::_scaled_mm", inputs([[3, 5], [5, 7]], "c10::Float8_e4m3fn"))

    assert (whole.n_bytes, whole.precision) == (15 + 35 + 4 * 21, "int8")
    assert (scaled.n_bytes, scaled.precision) == (15 + 35 + 2 * 21, "fp8")


def test_a_product_of_the_multilayer_perceptron_everybody_measures():
    """8192 x 768 x 3072 is 38.7 GFLOP, as published with the A100 captures."""
    assert product_flop(8192, 768, 3072) == 38_654_705_664


# Attention


def test_attention_is_two_products_and_half_of_them_if_causal():
    q = k = v = [2, 3, 16, 8]
    whole = cost_of(
        "aten::_scaled_dot_product_flash_attention",
        inputs([q, k, v, [], [], []], HALF, ["", "", "", 0.0, False, False]),
    )
    causal = cost_of(
        "aten::_scaled_dot_product_flash_attention",
        inputs([q, k, v, [], [], []], HALF, ["", "", "", 0.0, True, False]),
    )

    assert whole.flop == 4 * 2 * 3 * 16 * 16 * 8
    assert causal.flop * 2 == whole.flop
    assert whole.n_bytes == 2 * 4 * (2 * 3 * 16 * 8)


def test_causal_attention_over_more_keys_than_queries_counts_whole():
    shape = AttentionShape(6, 4, 16, 8, 8, is_causal=True)

    assert shape.forward_flop == 4 * 6 * 4 * 16 * 8


def test_the_backward_pass_is_five_products():
    dims = [[2, 3, 16, 8]] * 5 + [[2, 3, 16], [], [], [], [], [], []]
    values = [""] * 6 + ["", "", "16", "16", "0.", "False"]

    cost = cost_of("aten::_scaled_dot_product_flash_attention_backward", inputs(dims, HALF, values))

    assert cost.flop == 5 * 2 * 2 * 3 * 16 * 16 * 8
    assert cost.n_bytes == 2 * 8 * (2 * 3 * 16 * 8)


def test_widths_of_keys_and_values_may_differ():
    shape = AttentionShape(1, 10, 20, 3, 7)

    assert shape.forward_flop == 2 * 10 * 20 * (3 + 7)
    assert shape.backward_flop == 2 * 10 * 20 * (3 * 3 + 2 * 7)


def test_length_before_heads():
    dims = [[2, 16, 3, 8], [2, 20, 3, 8], [2, 20, 3, 8]] + [[]] * 8
    values = ["", "", "", "", "", "16", "20", "0.", "False", "False", ""]

    assert cost_of("aten::_flash_attention_forward", inputs(dims, HALF, values)).flop == (
        4 * 2 * 3 * 16 * 20 * 8
    )


def test_fewer_heads_of_keys_cost_fewer_bytes_and_no_less_flop():
    values = ["", "", "", "", "0.", "False", "", "True"]
    dims: list[Any] = [[1, 8, 16, 4], [1, 2, 16, 4], [1, 2, 16, 4], [], [], [], [], []]

    cost = cost_of("aten::scaled_dot_product_attention", inputs(dims, FLOAT, values))

    assert cost.flop == 4 * 8 * 16 * 16 * 4
    assert cost.n_bytes == 4 * (2 * 8 * 16 * 4 + 2 * 2 * 16 * 4)


def test_packed_sequences_are_not_guessed():
    dims = [[32, 3, 8]] * 3 + [[5], [5]] + [[]] * 6
    types = [HALF] * 3 + ["int", "int"] + ["Scalar"] * 6

    with pytest.raises(UnmodelledError, match="packed"):
        cost_of("aten::_flash_attention_forward", inputs(dims, types))


# Convolutions


def convolution(
    x: list[int], weight: list[int], *, stride: int = 1, padding: int = 0, dilation: int = 1,
    groups: int = 1, transposed: bool = False, output_padding: int = 0,
) -> Inputs:  # fmt: skip
    """Return the inputs of ``aten::convolution`` with equal numbers for both axes."""
    values = ["", "", ""] + [f"[{n}, {n}]" for n in (stride, padding, dilation)]
    values += [str(transposed), f"[{output_padding}, {output_padding}]", str(groups)]
    types = [FLOAT, FLOAT, ""] + ["ScalarList"] * 3 + ["Scalar", "ScalarList", "Scalar"]
    return Inputs([x, weight, *[[]] * 7], types, values)


@pytest.mark.parametrize(
    ("given_inputs", "out"),
    [
        (convolution([8, 3, 32, 32], [16, 3, 3, 3], padding=1), (8, 16, 32, 32)),
        (convolution([8, 3, 32, 32], [16, 3, 3, 3], stride=2), (8, 16, 15, 15)),
        (convolution([1, 4, 9, 9], [6, 2, 3, 3], groups=2, dilation=2), (1, 6, 5, 5)),
    ],
)
def test_a_convolution_is_two_multiplications_an_output_for_each_weight_it_meets(
    given_inputs: Inputs, out: tuple[int, ...]
):
    weight = given_inputs.dims[1]

    cost = cost_of("aten::convolution", given_inputs)

    n_out, n_x, n_weight = (
        Operand(tuple(s)).n_elements for s in (out, given_inputs.dims[0], weight)
    )
    assert cost.flop == 2 * n_out * n_weight // weight[0]
    assert cost.n_bytes == 4 * (n_out + n_x + n_weight)


def test_a_transposed_convolution_meets_its_weights_from_the_input():
    cost = cost_of(
        "aten::convolution",
        convolution([2, 4, 5, 5], [4, 3, 3, 3], stride=2, transposed=True, output_padding=1),
    )

    assert cost.flop == 2 * (2 * 4 * 5 * 5) * (3 * 3 * 3)
    # (5 - 1) * 2 + (3 - 1) + 1 + 1 = 12
    assert cost.n_bytes == 4 * (2 * 4 * 25 + 4 * 3 * 9 + 2 * 3 * 12 * 12)


@pytest.mark.parametrize(
    ("mask", "n_gradients"),
    [("[True, True, False]", 2), ("[False, True, True]", 1), ("[False, False, True]", 0)],
)
def test_a_backward_convolution_counts_the_gradients_it_is_asked_for(mask: str, n_gradients: int):
    gradient, x, weight = [8, 32, 16, 16], [8, 16, 16, 16], [32, 8, 3, 3]
    values = ["", "", "", "[32]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2", mask]

    cost = cost_of(
        "aten::convolution_backward", inputs([gradient, x, weight, *[[]] * 8], FLOAT, values)
    )

    assert cost.flop == n_gradients * 2 * (8 * 32 * 16 * 16) * (8 * 3 * 3)


def test_words_for_padding():
    same = Inputs(
        [[1, 1, 9, 9], [1, 1, 3, 3], *[[]] * 5],
        [FLOAT, FLOAT, "", "ScalarList", "", "ScalarList", "Scalar"],
        ["", "", "", "[1, 1]", "same", "[1, 1]", "1"],
    )

    assert cost_of("aten::conv2d", same).flop == 2 * 81 * 9


def test_a_convolution_without_its_stride_is_not_guessed():
    old = Inputs([[32, 3, 224, 224], [64, 3, 7, 7], *[[]] * 6])

    with pytest.raises(UnmodelledError, match="concrete"):
        cost_of("aten::cudnn_convolution", old)


@given(st.integers(1, 5), st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_groups_divide_the_work(groups: int, spatial: list[int]):
    whole = convolution_flop(spatial, [4 * groups, 3 * groups, 3], 2)
    grouped = convolution_flop(spatial, [4 * groups, 3, 3], 2)

    assert whole == groups * grouped


# Elementwise and the rest


@pytest.mark.parametrize(
    ("name", "dims", "types", "flop", "n_bytes"),
    [
        ("aten::add", [[4, 5], [5], []], FLOAT, 20, 4 * (20 + 5 + 20)),
        ("aten::mul_", [[4, 5], []], [HALF, "double"], 20, 2 * 40),
        ("aten::mul", [[4, 5], []], ["int", "double"], 20, 4 * 40),
        ("aten::eq", [[4, 5], [4, 5]], ["long int"] * 2, 20, 8 * 40 + 20),
        ("aten::add", [[6], [6], []], [HALF, FLOAT, "Scalar"], 6, 6 * (2 + 4 + 4)),
        ("aten::where", [[6], [6], [6]], ["bool", HALF, HALF], 6, 6 * (1 + 2 + 2 + 2)),
        ("aten::relu", [[3, 2]], FLOAT, 6, 48),
        ("aten::exp", [[10]], FLOAT, 40, 80),
        ("aten::threshold_backward", [[6], [6], []], FLOAT, 6, 72),
        ("aten::_softmax", [[4, 8], [], []], HALF, 3 * 32, 2 * 64),
        ("aten::native_layer_norm", [[4, 8], [], [8], [8], []], HALF, 7 * 32, 2 * (64 + 16)),
        ("aten::fill_", [[6], []], FLOAT, 0, 24),
        ("aten::copy_", [[6], [6], []], [HALF, FLOAT, "Scalar"], 0, 6 * 2 + 6 * 4),
        ("aten::embedding", [[100, 8], [2, 3]], [HALF, "long int"], 0, 6 * 8 + 2 * 2 * 48),
    ],
)
def test_elementwise(name: str, dims: list[Any], types: Any, flop: int, n_bytes: int):
    cost = cost_of(name, inputs(dims, types))

    assert (cost.flop, cost.n_bytes) == (flop, n_bytes)
    assert not cost.is_matrix


def test_a_result_handed_in_is_no_operand():
    cost = cost_of("aten::add", inputs([[6], [6], [], [6]]))

    assert cost.n_bytes == 4 * 18


@pytest.mark.parametrize(
    ("name", "values", "n_bytes"),
    [
        ("aten::sum", ["", "[0]", "False", ""], 4 * (12 + 4)),
        ("aten::sum", ["", "[-1]", "True", ""], 4 * (12 + 3)),
        ("aten::sum", ["", "", "False", ""], 4 * (12 + 1)),
        ("aten::argmax", ["", "1", "False"], 4 * 12 + 8 * 3),
        ("aten::max", ["", "1", "False"], 4 * 12 + (4 + 8) * 3),
    ],
)
def test_a_reduction_reads_all_and_writes_what_is_left(name: str, values: list[str], n_bytes: int):
    dims: list[Any] = [[3, 4], *[[]] * (len(values) - 1)]

    cost = cost_of(name, inputs(dims, FLOAT, values))

    assert (cost.flop, cost.n_bytes) == (12, n_bytes)


@pytest.mark.parametrize(
    ("name", "n_bytes"),
    [
        ("aten::avg_pool2d", 4 * (2 * 64 + 2 * 16)),
        ("aten::max_pool2d_with_indices", 4 * (2 * 64 + 2 * 16) + 8 * 32),
    ],
)
def test_pooling_looks_at_a_window_for_each_output(name: str, n_bytes: int):
    """8 x 8 by windows of 3 x 3, two apart and padded by one: (8 + 2 - 2 - 1) // 2 + 1 = 4."""
    dims: list[Any] = [[1, 2, 8, 8], *[[]] * 5]
    values = ["", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"]

    cost = cost_of(name, inputs(dims, FLOAT, values))

    assert (cost.flop, cost.n_bytes) == (9 * 32, n_bytes)


def test_a_step_of_an_optimizer_reads_and_writes_state_of_32_bits():
    lists = [[[3, 4], [5]]] * 4
    types = ["TensorList"] * 6

    adam = cost_of("aten::_fused_adamw_", Inputs([*lists, [], [[], []]], types))
    plain = cost_of("aten::_fused_sgd_", Inputs([*lists[:2], []], types))

    assert (adam.flop, adam.n_bytes) == (13 * 17, 7 * 4 * 17)
    assert (plain.flop, plain.n_bytes) == (2 * 17, 3 * 4 * 17)


def test_an_operator_over_lists_is_its_elementwise_self():
    lists = [[[3, 4], [5]]] * 2

    cost = cost_of("aten::_foreach_add_", Inputs([*lists, []], ["TensorList"] * 2 + ["Scalar"]))

    assert (cost.flop, cost.n_bytes) == (17, 3 * 4 * 17)


def test_without_types_there_are_no_bytes():
    cost = cost_of("aten::mm", Inputs([[3, 5], [5, 7]]))

    assert (cost.flop, cost.n_bytes, cost.precision) == (210, None, None)


def test_an_operator_without_a_model_says_so():
    with pytest.raises(UnmodelledError, match="no model"):
        cost_of("aten::fft_fft", inputs([[4]]))


# Fused kernels


def test_a_fused_elementwise_kernel_moves_each_buffer_once():
    """Packed gate and up projections: half the elements come out that go in."""
    dims: list[Any] = [[8, 4096, 8192], [32768, 8192], []]

    cost = cost_of(
        "triton_poi_fused__unsafe_view_mul_silu_2",
        inputs(dims, "c10::BFloat16", ["", "", 268435456]),
    )

    assert cost.n_bytes == 2 * 2 * 268435456
    assert cost.flop == 268435456 * (1 + 4)


def test_a_fused_reduction_goes_over_both_axes():
    dims: list[Any] = [[8, 64], [64], [8, 64], [], []]

    cost = cost_of("triton_red_fused_add_mean_0", inputs(dims, HALF, ["", "", "", 8, 64]))

    assert cost.flop == 8 * 64 * 2
    assert cost.n_bytes == 2 * (512 + 64 + 512)


def test_a_fused_look_up_does_not_read_the_whole_table():
    dims: list[Any] = [[6], [50000, 64], [6, 64], []]
    types = ["long int", FLOAT, FLOAT, "Scalar"]

    cost = cost_of("triton_poi_fused_embedding_1", inputs(dims, types, ["", "", "", 384]))

    assert cost.n_bytes == 6 * 8 + 2 * 4 * 384


def test_a_fused_matrix_product():
    dims: list[Any] = [[3, 5], [5, 7], [3, 7]]

    cost = cost_of("triton_tem_fused_mm_3", inputs(dims, HALF))

    assert (cost.flop, cost.is_matrix) == (210, True)


def test_a_fused_kernel_whose_buffers_are_not_recorded_is_not_guessed():
    with pytest.raises(UnmodelledError, match="buffers"):
        cost_of("graph_0_cpp_fused_gelu_mul_0", Inputs([]))


# Which operators count


def product(name: str, ts_ns: int, dur_ns: int, *shapes: list[int]) -> Row:
    """Return a slice with float matrices."""
    types = json.dumps([FLOAT] * len(shapes))
    return Row(name, ts_ns, dur_ns, shape=json.dumps(shapes), types=types)


def test_only_the_deepest_operator_with_a_model_counts():
    trace = trace_of(
        product("aten::linear", 0, 100, [3, 5], [7, 5]),
        product("aten::matmul", 10, 80, [3, 5], [5, 7]),
        product("aten::mm", 20, 60, [3, 5], [5, 7]),
        Row("aten::resolve_conj", 30, 10),
    )

    costs = operator_costs(trace)

    assert costs.is_counted.tolist() == [False, False, True, False]
    assert costs.flop[:3].tolist() == [210, 210, 210]
    assert np.isnan(costs.flop[3])
    assert costs.total_flop() == 210


def test_a_copy_inside_a_product_is_part_of_it():
    trace = trace_of(
        product("aten::addmm", 0, 100, [7], [3, 5], [5, 7]),
        product("aten::copy_", 10, 20, [3, 7], [3, 7]),
    )

    assert operator_costs(trace).is_counted.tolist() == [True, False]


def test_products_inside_attention_count_in_its_place_and_so_do_their_neighbours():
    values = json.dumps(["", "", "", "", "0.", "False"])
    shape = json.dumps([[2, 4, 8], [2, 4, 8], [2, 4, 8], [], [], []])
    types = json.dumps([FLOAT] * 3 + ["", "Scalar", "Scalar"])
    trace = trace_of(
        Row("aten::scaled_dot_product_attention", 0, 100, shape=shape, types=types, values=values),
        product("aten::mul", 5, 5, [2, 4, 8]),
        product("aten::bmm", 20, 10, [2, 4, 8], [2, 8, 4]),
    )

    costs = operator_costs(trace)

    assert costs.flop[0] == 4 * 2 * 4 * 4 * 8
    assert costs.is_counted.tolist() == [False, True, True]


def test_sums_by_group_leave_out_what_does_not_count_and_bytes_that_are_not_known():
    untyped = Row("aten::mm", 200, 10, shape="[[3,5],[5,7]]")
    trace = trace_of(
        annotation("step", 0, 1000),
        product("aten::linear", 10, 50, [3, 5], [7, 5]),
        product("aten::mm", 20, 30, [3, 5], [5, 7]),
        untyped,
    )
    group = np.where(trace.slices.depth == 0, -1, 0).astype(np.int64)

    sums = counted_sums(trace, group, 1)

    assert sums.flop.tolist() == [420]
    assert sums.has_flop.tolist() == [True]
    assert sums.has_bytes.tolist() == [False]


def test_what_could_not_be_said_is_told_by_reason():
    trace = trace_of(Row("aten::mm", 0, 10), Row("aten::mm", 20, 10), Row("aten::view", 40, 10))

    costs = operator_costs(trace)

    assert costs.abstained == (("aten::mm", "input shapes are not recorded", 2),)
    assert not costs.is_counted.any()


def test_a_trace_of_nothing():
    costs = operator_costs(trace_of())

    assert costs.total_flop() == 0
    assert costs.abstained == ()


def test_a_wrapper_that_cannot_say_is_no_loss_where_the_operator_in_it_counts():
    trace = trace_of(
        Row("aten::linear", 0, 100),
        product("aten::mm", 10, 80, [3, 5], [5, 7]),
        Row("aten::mm", 200, 9),
    )

    assert operator_costs(trace).abstained == (("aten::mm", "input shapes are not recorded", 1),)


def test_of_silent_operators_inside_one_another_the_innermost_is_named():
    trace = trace_of(
        Row("aten::conv2d", 0, 100),
        Row("aten::convolution", 10, 80),
        Row("aten::cudnn_convolution", 20, 9),
    )

    assert [name for name, _, _ in operator_costs(trace).abstained] == ["aten::cudnn_convolution"]


SHAPES = st.lists(st.integers(-1, 9), max_size=5)
TYPES = st.sampled_from([FLOAT, HALF, "long int", "bool", "Scalar", "ScalarList", "TensorList", ""])
VALUES = st.sampled_from(
    ["", "0", "-1", "1", "True", "False", "[0, 0]", "[1, 1]", "[]", "same", "x"]
)
CALLS = st.lists(st.tuples(SHAPES | st.lists(SHAPES, max_size=3), TYPES, VALUES), max_size=12)


@given(st.sampled_from(sorted(MODELS)), CALLS)
def test_any_inputs_have_a_cost_or_a_reason(name: str, call: list[tuple[Any, str, str]]):
    dims, types, values = ([part[i] for part in call] for i in range(3))

    try:
        cost = cost_of(name, Inputs(dims, types, values))
    except UnmodelledError:
        return
    assert cost.flop >= 0
    assert cost.n_bytes is None or cost.n_bytes >= 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["aten::linear", "aten::mm", "aten::add", "aten::copy_", "aten::view"]),
            st.integers(0, 100),
            st.integers(0, 100),
        ),
        max_size=12,
    )
)
def test_no_operator_counts_inside_another_that_counts(calls: list[tuple[str, int, int]]):
    trace = trace_of(*(product(name, ts, dur, [4, 4], [4, 4]) for name, ts, dur in calls))

    counted = operator_costs(trace).is_counted

    parent = trace.slices.parent_id
    for row in np.flatnonzero(counted).tolist():
        above = int(parent[row])
        while above >= 0:
            assert not counted[above]
            above = int(parent[above])


def test_sizes_beyond_any_device_are_not_believed():
    with pytest.raises(UnmodelledError, match="unexpected"):
        cost_of("aten::mm", inputs([[1 << 40, 1 << 40], [1 << 40, 1 << 40]]))
