import pytest

from tests.healthy import A100
from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.tensor_cores_lost import TensorCoresLost
from tracetui.model.device import DeviceSpec

_US = 1_000
_PLAIN = "ampere_sgemm_128x64_nn"
_LARGE = "[[8192,768],[768,3072]]"


def _product(
    name: str = _PLAIN,
    shape: str | None = _LARGE,
    device: DeviceSpec = A100,
    us: int = 300,
    other_us: int = 700,
):
    """A product and other work."""
    return trace_of(
        Row("aten::mm", 0, 10_000, shape=shape, types='["float","float"]'),
        launch(1_000, 2_000, 1),
        kernel(name, 20 * _US, us * _US, 1),
        kernel("vectorized_elementwise_kernel", 1_000 * _US, other_us * _US),
        devices=[device],
    )


def test_an_sgemm_on_a_device_with_tensor_cores():
    trace = _product()
    (found,) = TensorCoresLost().check(trace)

    assert found.summary == (
        "Tensor cores stand idle: 1 product in fp32 ran without them for 300.00 µs, 30.0 % of device"
        " time"
    )
    assert "set_float32_matmul_precision" in found.change
    assert [trace.name_of(each) for each in found.slices] == [_PLAIN]
    # TF32 is 156 to 19.5 TFLOP/s, 8 times as fast; half of that makes 300 us to 75. Memory would
    # take 4 x (8192 x 768 + 768 x 3072 + 8192 x 3072) bytes / 2.039 TB/s = 66 us.
    assert found.gain_ns == 225_000


def test_a_product_gets_no_faster_than_its_memory():
    (found,) = TensorCoresLost().check(_product(us=120, other_us=100))

    n_bytes = 4 * (8192 * 768 + 768 * 3072 + 8192 * 3072)
    assert found.gain_ns == int(120_000 - n_bytes / 2.039e12 * 1e9)


def test_a_card_whose_tf32_is_no_faster_needs_another_format():
    card = DeviceSpec(0, "NVIDIA GeForce RTX 3060", compute_major=8, compute_minor=6)
    (found,) = TensorCoresLost().check(_product(device=card))

    assert (
        found.change
        == 'Run the products in bf16 under torch.autocast("cuda", dtype=torch.bfloat16)'
    )
    # Twice as fast by the data sheet, of which half is no gain at all.
    assert found.gain_ns is None


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param(
            _product("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"), id="bf16"
        ),
        pytest.param(
            _product(
                "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
            ),
            id="TF32",
        ),
        pytest.param(_product(shape="[[4,4096],[4096,4096]]"), id="skinny"),
        pytest.param(_product("ampere_sgemm_32x32_sliced1x4_tn", None), id="narrow tile"),
        pytest.param(_product(us=20), id="small share"),
        pytest.param(_product("dgemm_128x64"), id="fp64"),
        pytest.param(
            _product(device=DeviceSpec(0, "AMD Instinct MI300X", compute_major=9)), id="AMD"
        ),
        pytest.param(
            _product(device=DeviceSpec(0, "NVIDIA GeForce GTX 1660", compute_major=7)),
            id="none there",
        ),
        pytest.param(_product(device=DeviceSpec(0, "Tesla P100", compute_major=6)), id="too old"),
    ],
)
def test_where_nothing_is_lost_it_is_silent(trace):
    assert not list(TensorCoresLost().check(trace))


def test_without_shapes_a_long_kernel_with_a_wide_tile_is_large():
    assert list(TensorCoresLost().check(_product(shape=None)))


def test_before_tf32_convolutions_count_and_autocast_is_the_change():
    v100 = DeviceSpec(0, "Tesla V100-SXM2-32GB", compute_major=7, compute_minor=0)
    (found,) = TensorCoresLost().check(
        _product("volta_scudnn_128x64_relu_interior_nn_v1", None, device=v100)
    )

    assert "torch.autocast" in found.change
    assert "TF32" not in found.change
