"""The table of devices, held to data sheets."""

import pytest

from tracetui.analysis.device_table import known_devices, parse_peak, peaks_of, with_peak

TERA, GIGA = 1e12, 1e9


@pytest.mark.parametrize(
    ("name", "precision", "tera", "giga"),
    [
        ("Tesla T4", "fp16", 65, 320),
        ("Tesla V100-SXM2-32GB", "fp16", 125, 900),
        ("Tesla V100-PCIE-16GB", "fp16", 112, 900),
        ("NVIDIA A10", "bf16", 125, 600),
        ("NVIDIA A10G", "bf16", 70, 600),
        ("NVIDIA A100-SXM4-40GB", "bf16", 312, 1555),
        ("NVIDIA A100-SXM4-80GB", "bf16", 312, 2039),
        ("NVIDIA A100 80GB PCIe", "bf16", 312, 1935),
        ("NVIDIA A100-PCIE-40GB", "tf32", 156, 1555),
        ("NVIDIA A800-SXM4-80GB", "bf16", 312, 2039),
        ("NVIDIA H200 NVL", "bf16", 835.5, 4800),
        ("NVIDIA L4", "fp8", 242.5, 300),
        ("NVIDIA L40S", "bf16", 362, 864),
        ("NVIDIA GeForce RTX 3060", "bf16", 25.5, 360),
        ("NVIDIA GeForce RTX 3090", "bf16", 71, 936),
        ("NVIDIA GeForce RTX 4090", "bf16", 165.2, 1008),
        ("NVIDIA GeForce RTX 5090", "bf16", 209.5, 1792),
        ("NVIDIA H100 80GB HBM3", "bf16", 989.4, 3350),
        ("NVIDIA H100 PCIe", "bf16", 756, 2039),
        ("NVIDIA H100 NVL", "bf16", 835.5, 3938),
        ("NVIDIA H200", "bf16", 989.4, 4800),
        ("NVIDIA B200", "bf16", 2250, 8000),
        ("NVIDIA GB200", "bf16", 2500, 8000),
        ("NVIDIA B300 SXM6 AC", "bf16", 2250, 8000),
        ("AMD Instinct MI210", "bf16", 181, 1638),
        ("AMD Instinct MI250X/MI250", "bf16", 191.5, 1638),
        ("AMD Instinct MI300X", "bf16", 1307.4, 5300),
        ("AMD Instinct MI325X", "bf16", 1307.4, 6000),
        ("AMD Instinct MI355X", "bf16", 2516.6, 8000),
        ("HL-225", "bf16", 432, 2450),
        ("Gaudi3", "fp8", 1835, 3700),
    ],
)
def test_dense_peaks(name: str, precision: str, tera: float, giga: float):
    peaks = peaks_of(name)

    assert peaks is not None
    assert peaks.matrix[precision] == pytest.approx(tera * TERA)
    assert peaks.bytes_per_s == pytest.approx(giga * GIGA)


def test_memory_tells_apart_what_shares_a_name():
    """Boards are reported under a number of their own; 40 GB and 80 GB differ in bandwidth."""
    small, big = (peaks_of("NVIDIA A100-PG509-200", n) for n in (42_297_524_224, 85 * 10**9))

    assert small is not None
    assert big is not None
    assert (small.bytes_per_s, big.bytes_per_s) == (1555 * GIGA, 2039 * GIGA)


@pytest.mark.parametrize(
    "name",
    [
        "AMD Radeon Graphics",
        "ARTEMIS",
        "",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "Tesla T40",
        "NVIDIA RTX A1000",
    ],
)
def test_a_device_that_is_not_known_has_no_peaks(name: str):
    assert peaks_of(name) is None


def test_every_row_has_a_source_and_no_row_hides_another():
    devices = known_devices()

    assert all(peaks.source and peaks.bytes_per_s for peaks in devices)
    assert len({peaks.name for peaks in devices}) == len(devices)
    for peaks in devices:
        found = peaks_of(peaks.name)
        assert found is not None
        assert found.name == peaks.name


def test_sixteen_bits_are_no_slower_than_thirty_two_and_eight_no_slower_than_sixteen():
    for peaks in known_devices():
        rates = peaks.matrix
        assert rates.get("fp16", rates.get("bf16", 0)) >= rates.get("tf32", 0), peaks.name
        assert rates.get("fp8", rates.get("bf16", 1e30)) >= rates.get("bf16", 0), peaks.name


def test_which_roof_holds():
    peaks = peaks_of("NVIDIA A100-SXM4-80GB")

    assert peaks is not None
    assert peaks.flop_per_s("bf16", is_matrix=True) == 312 * TERA
    assert peaks.flop_per_s("fp32", is_matrix=True) == 19.5 * TERA
    assert peaks.flop_per_s("fp32", is_matrix=False) == 19.5 * TERA
    assert peaks.flop_per_s("bf16", is_matrix=False) is None
    assert peaks.flop_per_s(None, is_matrix=True) is None


def test_given_peaks_replace_the_tables():
    rates = parse_peak("bf16=500e12, bw=2e12")

    known, alone = with_peak(peaks_of("NVIDIA H100 PCIe"), rates), with_peak(None, rates)

    assert known is not None
    assert alone is not None
    assert known.flop_per_s("bf16", is_matrix=True) == 500 * TERA
    assert known.flop_per_s("fp16", is_matrix=True) == 756 * TERA
    assert (known.bytes_per_s, alone.bytes_per_s) == (2e12, 2e12)
    assert alone.flop_per_s("fp16", is_matrix=True) is None
    assert with_peak(None, {}) is None


@pytest.mark.parametrize(
    "text", ["bf16", "bf16=fast", "bf16=-1", "speed=1e12", "bw=inf", "", "bw=nan"]
)
def test_a_peak_that_cannot_be_read_is_explained(text: str):
    with pytest.raises(ValueError, match="not "):
        parse_peak(text)
