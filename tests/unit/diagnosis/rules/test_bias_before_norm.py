from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.bias_before_norm import BiasBeforeNorm

_CONVOLUTION = "[[32,3,224,224],[64,3,7,7],[64],[],[],[],[]]"
_WITHOUT_BIAS = "[[32,3,224,224],[64,3,7,7],[],[],[],[],[]]"
_NORM = "[[32,64,112,112],[64],[64],[64],[64],[],[],[],[]]"
_TRAINING = '["","","","","","True","0.1","1e-05","True"]'
_EVALUATING = '["","","","","","False","0.1","1e-05","True"]'


def _layers(
    *,
    convolution: str = _CONVOLUTION,
    then: str = "aten::batch_norm",
    values: str = _TRAINING,
    counting: bool = False,
):
    """Two layers: a convolution of 800 ns, its bias of 150, and a norm of 50."""
    rows = []
    for turn in range(2):
        t, c = turn * 1_000, turn * 3
        rows += [
            Row("aten::conv2d", t, 400, shape=convolution),
            Row("aten::_convolution", t + 10, 380),
            Row("aten::cudnn_convolution", t + 20, 100),
            launch(t + 30, 10, c + 1),
            kernel("implicit_gemm", 10_000 + t, 800, c + 1),
            Row("aten::add_", t + 200, 100),
            launch(t + 210, 10, c + 2),
            kernel("elementwise_kernel", 10_800 + t, 150, c + 2),
            *([Row("aten::add_", t + 410, 50, shape="[[],[],[]]")] if counting else []),
            Row(then, t + 500, 200, shape=_NORM, values=values),
            launch(t + 510, 10, c + 3),
            kernel("bn_fw_tr", 10_950 + t, 50, c + 3),
        ]
    return trace_of(*rows)


def test_a_bias_that_the_norm_takes_away():
    trace = _layers()
    (found,) = BiasBeforeNorm().check(trace)

    assert found.summary == (
        "2 convolutions add a bias that the batch_norm after them takes away: 300 ns, 15.0 % of"
        " device time"
    )
    assert found.gain_ns == 300
    assert "bias=False" in found.change


def test_the_norm_counts_its_batches_in_between():
    (found,) = BiasBeforeNorm().check(_layers(counting=True))
    assert found.gain_ns == 300


def test_a_convolution_without_a_bias_is_as_it_should_be():
    assert not list(BiasBeforeNorm().check(_layers(convolution=_WITHOUT_BIAS)))


def test_a_trained_model_keeps_the_mean_that_its_bias_is_part_of():
    assert not list(BiasBeforeNorm().check(_layers(values=_EVALUATING)))


def test_what_comes_between_may_need_the_bias():
    assert not list(BiasBeforeNorm().check(_layers(then="aten::relu")))


def test_a_norm_of_other_channels_is_another_layers():
    assert not list(
        BiasBeforeNorm().check(_layers(convolution="[[32,3,224,224],[32,3,7,7],[32],[],[],[],[]]"))
    )
