from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.written_out_attention import WrittenOutAttention

_F = '["c10::BFloat16","c10::BFloat16"]'
_Q = "[[8,128,32],[8,32,128]]"
_P = "[[8,128,128],[8,128,32]]"


def _rows(softmax_shape: str = "[[2,4,128,128],[],[]]", last: str = _P):
    return [
        Row("aten::bmm", 0, 100, shape=_Q, types=_F),
        Row("aten::div", 100, 50, shape="[[2,4,128,128],[]]"),
        Row("aten::_softmax", 150, 50, shape=softmax_shape, types='["c10::BFloat16","Scalar",""]'),
        Row("aten::bmm", 200, 100, shape=last, types=_F),
    ]


def test_product_softmax_product_is_attention():
    trace = trace_of(*_rows())
    (found,) = WrittenOutAttention().check(trace)

    # From 100 to 200 of 300; 8 x 128 x 128 elements of 2 bytes are 256 KiB.
    assert found.summary == (
        "Attention is written out once: what runs between its two products takes 100 ns, 33.3 % of"
        " the recording; its scores take 256.0 KiB"
    )
    assert found.gain_ns == 100
    assert "scaled_dot_product_attention" in found.change


def test_on_a_device_the_kernels_between_count():
    rows = [
        *_rows(),
        launch(10, 5, 1), kernel("gemm_a", 1_000, 500, 1),
        launch(110, 5, 2), kernel("div", 1_500, 80, 2),
        launch(160, 5, 3), kernel("softmax", 1_580, 120, 3),
        launch(210, 5, 4), kernel("gemm_b", 1_700, 300, 4),
    ]  # fmt: skip
    trace = trace_of(*rows)
    (found,) = WrittenOutAttention().check(trace)

    assert found.gain_ns == 200
    assert [trace.name_of(each) for each in found.slices] == ["div", "softmax"]


def test_a_softmax_of_something_else_is_no_attention():
    assert not list(WrittenOutAttention().check(trace_of(*_rows(softmax_shape="[[8,1000],[],[]]"))))


def test_a_product_of_something_else_is_no_attention():
    assert not list(WrittenOutAttention().check(trace_of(*_rows(last="[[8,64,64],[8,64,32]]"))))


def test_inside_the_math_backend_another_rule_speaks():
    trace = trace_of(("aten::_scaled_dot_product_attention_math", 0, 400), *_rows())
    assert not list(WrittenOutAttention().check(trace))
