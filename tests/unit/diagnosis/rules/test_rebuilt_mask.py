from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.rebuilt_mask import RebuiltMask


def _calls(n: int, *, inside: str = ""):
    """Calls of 100 ns, each with a mask of 10."""
    rows: list[Row | tuple[str, int, int]] = []
    for turn in range(n):
        t = turn * 100
        if inside:
            rows.append((inside, t, 40))
        rows += [
            Row("aten::tril", t + 10, 10, shape="[[4096,4096],[]]"),
            Row("aten::bmm", t + 40, 60, shape="[[8,64,64],[8,64,64]]"),
        ]
    return trace_of(*rows)


def test_the_same_triangle_on_each_call():
    trace = _calls(5)
    (found,) = RebuiltMask().check(trace)

    # From 10 to 500: 50 of 490.
    assert (
        found.summary == "aten::tril builds the same mask 5 times: 50 ns, 10.2 % of the recording"
    )
    assert found.gain_ns == 50
    assert "register_buffer" in found.change


def test_on_a_device_its_kernels_count():
    rows = []
    for turn in range(3):
        t = turn * 100
        rows += [
            Row("aten::triu", t, 50, shape="[[64,64],[]]"),
            launch(t + 5, 5, turn + 1),
            kernel("triu_tril_kernel", 1_000 + t, 20, turn + 1),
            kernel("gemm", 1_020 + t, 80),
        ]
    (found,) = RebuiltMask().check(trace_of(*rows))

    assert found.gain_ns == 60
    assert "20.0 % of device time" in found.summary


def test_twice_is_not_on_each_call():
    assert not list(RebuiltMask().check(_calls(2)))


def test_what_attention_builds_itself_is_its_own_affair():
    assert not list(RebuiltMask().check(_calls(5, inside="aten::scaled_dot_product_attention")))
