"""A recording with nothing wrong in it: the device is kept busy with fused work, the host is ahead."""

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.model.device import DeviceSpec, Geometry
from tracetui.model.trace import Trace

A100 = DeviceSpec(
    index=0,
    name="NVIDIA A100-SXM4-80GB",
    total_bytes=80 * 2**30,
    compute_major=8,
    compute_minor=0,
    n_sms=108,
    warp_size=32,
    max_threads_per_block=1024,
    max_threads_per_sm=2048,
    registers_per_sm=65536,
    shared_bytes_per_sm=167936,
)
GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
FLASH = (
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false,"
    " cutlass::bfloat16_t>, true>(pytorch_flash::Flash_fwd_params)"
)
FUSED = "triton_poi_fused__unsafe_view_gelu_mul_0"
N_STEPS = 3
N_LAYERS = 10
STEP_NS = 10_000_000

_GEOMETRY = Geometry((864, 1, 1), (256, 1, 1), 128, 49152, 0.5, 8.0, 64.0)
_BF16 = '["c10::BFloat16","c10::BFloat16"]'


def _layer(step: int, layer: int) -> list[Row]:
    """Return a product, an attention and a fused kernel, launched a step ahead of the device."""
    host_ns = step * STEP_NS + 10_000 + layer * 100_000
    device_ns = step * STEP_NS + 500_000 + layer * 950_000
    number = (step * N_LAYERS + layer) * 3 + 1
    return [
        Row("aten::mm", host_ns, 20_000, shape="[[8192,768],[768,3072]]", types=_BF16),
        launch(host_ns + 5_000, 5_000, number),
        kernel(GEMM, device_ns, 500_000, number),
        Row(
            "aten::_scaled_dot_product_flash_attention",
            host_ns + 30_000,
            20_000,
            shape="[[4,16,4096,64],[4,16,4096,64],[4,16,4096,64],[],[],[],[]]",
            types='["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","",""]',
        ),
        launch(host_ns + 35_000, 5_000, number + 1),
        kernel(FLASH, device_ns + 501_000, 300_000, number + 1),
        Row("triton_poi_fused__unsafe_view_gelu_mul_0", host_ns + 60_000, 20_000),
        launch(host_ns + 65_000, 5_000, number + 2, name="cuLaunchKernel"),
        kernel(FUSED, device_ns + 802_000, 147_000, number + 2),
    ]


def healthy_trace() -> Trace:
    """Return three steps of ten layers, 94 % of the device's time in use.

    The host needs a tenth of each step to launch it; the device never runs dry.
    """
    rows = [
        annotation(f"ProfilerStep#{step + 2}", step * STEP_NS, STEP_NS) for step in range(N_STEPS)
    ]
    rows += [
        row for step in range(N_STEPS) for layer in range(N_LAYERS) for row in _layer(step, layer)
    ]
    return trace_of(*rows, devices=[A100])
