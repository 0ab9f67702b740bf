from tests.literal import kernel, trace_of
from tracetui.diagnosis.rules.layout_change import LayoutChange

_TO = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(...)"
_BACK = "void cudnn::ops::nhwcToNchwKernel<float, float, float, true, false>(...)"


def test_turning_tensors_around_a_convolution_is_found():
    trace = trace_of(kernel(_TO, 0, 10), kernel("cutlass_conv", 10, 70), kernel(_BACK, 80, 20))
    (found,) = LayoutChange().check(trace)

    assert found.summary == (
        "Convolutions change their tensors' layout: 2 kernels took 30 ns, 30.0 % of device time"
    )
    assert found.gain_ns == 30
    assert "channels_last" in found.change


def test_a_little_of_it_is_left_alone():
    assert not list(LayoutChange().check(trace_of(kernel(_TO, 0, 1), kernel("conv", 1, 99))))
