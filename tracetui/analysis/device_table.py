"""What devices can do at most: dense arithmetic by precision, and memory bandwidth.

All figures are the manufacturers' own for dense matrices. Where a data sheet prints a rate "with
sparsity" half of it stands here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

_TERA: Final = 1e12
_GIGA: Final = 1e9


@dataclass(frozen=True, slots=True)
class DevicePeaks:
    """The roofs of one device."""

    name: str
    """As its maker calls it."""
    matrix: Mapping[str, float]
    """FLOP/s of the matrix units by precision: fp64, tf32, bf16, fp16, fp8, int8 (operations)."""
    vector: Mapping[str, float]
    """FLOP/s without matrix units: fp32, fp64."""
    bytes_per_s: float | None
    source: str
    """The document the figures are from."""
    given: frozenset[str] = field(default_factory=frozenset)
    """What ``--peak`` named; it holds for matrices and otherwise."""

    def flop_per_s(self, precision: str | None, *, is_matrix: bool) -> float | None:
        """Return the roof for arithmetic of a precision, or ``None`` where none is known.

        A precision that the matrix units do not take runs without them.
        """
        if precision is None:
            return None
        if is_matrix and precision in self.matrix:
            return self.matrix[precision]
        if precision in self.vector:
            return self.vector[precision]
        return None


_SHEET = {
    "t4": "NVIDIA T4 datasheet",
    "v100": "NVIDIA V100 datasheet",
    "a10": "NVIDIA A10 datasheet",
    "a10g": "NVIDIA A10G datasheet",
    "a30": "NVIDIA A30 datasheet",
    "a40": "NVIDIA A40 datasheet",
    "a100": "NVIDIA A100 Tensor Core GPU datasheet",
    "l4": "NVIDIA L4 datasheet",
    "l40": "NVIDIA L40 datasheet",
    "l40s": "NVIDIA L40S datasheet",
    "rtx20": "NVIDIA Turing GPU Architecture whitepaper",
    "rtx30": "GeForce RTX 30 specifications; NVIDIA GA102 whitepaper for the tensor cores",
    "rtx40": "GeForce RTX 40 specifications; NVIDIA Ada whitepaper for the tensor cores",
    "rtx50": "GeForce RTX 50 specifications; NVIDIA RTX Blackwell whitepaper for the tensor cores",
    "pro": "NVIDIA RTX professional datasheet of the card",
    "h100": "NVIDIA H100 Tensor Core GPU Architecture whitepaper",
    "h100nvl": "NVIDIA H100 NVL datasheet",
    "h20": "NVIDIA H20 datasheet",
    "h200": "NVIDIA H200 datasheet",
    "gh200": "NVIDIA GH200 Grace Hopper Superchip datasheet",
    "b200": "NVIDIA HGX B200 datasheet, one of eight GPUs",
    "gb200": "NVIDIA GB200 NVL72 datasheet, one of 72 GPUs",
    "b300": "NVIDIA HGX B300 datasheet, one of eight GPUs",
    "amd": "AMD Instinct datasheet of the device",
    "amd-die": "AMD Instinct MI250 series datasheet, halved: a device is one of two dies",
    "gaudi2": "Intel Gaudi 2 whitepaper",
    "gaudi3": "Intel Gaudi 3 AI accelerator whitepaper",
}


def _row(
    pattern: str,
    name: str,
    sheet: str,
    bandwidth_gb: float,
    vector: tuple[float, ...],
    **matrix: float,
) -> tuple[re.Pattern[str], DevicePeaks]:
    """Return a row from TFLOP/s and GB/s as data sheets print them; ``vector`` is fp32, fp64."""
    peaks = DevicePeaks(
        name,
        {precision: rate * _TERA for precision, rate in matrix.items()},
        {
            precision: rate * _TERA
            for precision, rate in zip(("fp32", "fp64"), vector, strict=False)
        },
        bandwidth_gb * _GIGA,
        _SHEET[sheet],
    )
    return re.compile(pattern, re.IGNORECASE), peaks


def _card(
    name: str, sheet: str, bandwidth_gb: float, fp32: float, fp16: float
) -> tuple[re.Pattern[str], DevicePeaks]:
    """Return a GeForce card; products of 16 bits accumulate in 32, at half the advertised rate."""
    rates = {"tf32": fp16 / 2, "bf16": fp16, "fp16": fp16, "int8": 4 * fp16}
    if sheet != "rtx30":
        rates["fp8"] = 2 * fp16
    fp64 = fp32 / 64
    return _row(rf"{name}\b", f"GeForce {name}", sheet, bandwidth_gb, (fp32, fp64), **rates)


_A100: Final = {"tf32": 156, "bf16": 312, "fp16": 312, "int8": 624, "fp64": 19.5}
_HOPPER: Final = {"tf32": 494.7, "bf16": 989.4, "fp16": 989.4, "fp8": 1978.9, "int8": 1978.9}
_MI300X: Final = {
    "fp32": 163.4, "fp64": 163.4, "tf32": 653.7, "bf16": 1307.4, "fp16": 1307.4, "fp8": 2614.9,
    "int8": 2614.9,
}  # fmt: skip

# fmt: off
_TABLE: Final = (
    _row(r"\bT4\b", "NVIDIA T4", "t4", 320, (8.1, 0.253), fp16=65, int8=130),
    _row(r"V100S", "NVIDIA V100S PCIe", "v100", 1134, (16.4, 8.2), fp16=130),
    _row(r"V100.*PCI", "NVIDIA V100 PCIe", "v100", 900, (14, 7), fp16=112),
    _row(r"V100", "NVIDIA V100 SXM2", "v100", 900, (15.7, 7.8), fp16=125),
    _row(r"\bA10G\b", "NVIDIA A10G", "a10g", 600, (35, 0.547), tf32=35, bf16=70, fp16=70, int8=140),
    _row(r"\bA10\b", "NVIDIA A10", "a10", 600, (31.2, 0.488), tf32=62.5, bf16=125, fp16=125, int8=250),
    _row(r"\bA30\b", "NVIDIA A30", "a30", 933, (10.3, 5.2), tf32=82, bf16=165, fp16=165, int8=330, fp64=10.3),
    _row(r"\bA40\b", "NVIDIA A40", "a40", 696, (37.4, 0.584), tf32=74.8, bf16=149.7, fp16=149.7, int8=299.3),
    _row(r"\bA[18]00\b.*80.*PCI|\bA[18]00\b.*PCI.*80", "NVIDIA A100 80GB PCIe", "a100", 1935, (19.5, 9.7), **_A100),
    _row(r"\bA[18]00\b.*80", "NVIDIA A100 80GB SXM", "a100", 2039, (19.5, 9.7), **_A100),
    _row(r"\bA[18]00\b", "NVIDIA A100 40GB", "a100", 1555, (19.5, 9.7), **_A100),
    _row(r"\bL4\b", "NVIDIA L4", "l4", 300, (30.3, 0.473), tf32=60, bf16=121, fp16=121, fp8=242.5, int8=242.5),
    _row(r"\bL40S\b", "NVIDIA L40S", "l40s", 864, (91.6, 1.43), tf32=183, bf16=362, fp16=362, fp8=733, int8=733),
    _row(r"\bL40\b", "NVIDIA L40", "l40", 864, (90.5, 1.41), tf32=90.5, bf16=181, fp16=181, fp8=362, int8=362),
    _row(r"RTX 2080 Ti", "GeForce RTX 2080 Ti", "rtx20", 616, (13.4, 0.42), fp16=53.8, int8=215.2),
    _row(r"RTX A5000", "NVIDIA RTX A5000", "pro", 768, (27.8, 0.434), tf32=55.6, bf16=111.1, fp16=111.1, int8=222.2),
    _row(r"RTX A6000", "NVIDIA RTX A6000", "pro", 768, (38.7, 0.605), tf32=77.4, bf16=154.8, fp16=154.8, int8=309.7),
    _row(r"RTX 6000 Ada", "NVIDIA RTX 6000 Ada", "pro", 960, (91.1, 1.42), tf32=182.1, bf16=364.2, fp16=364.2, fp8=728.5, int8=728.5),
    _row(r"RTX PRO 6000", "NVIDIA RTX PRO 6000", "pro", 1792, (125, 1.95), tf32=251.9, bf16=503.8, fp16=503.8, fp8=1007.6, int8=1007.6),
    _card("RTX 3060 Ti", "rtx30", 448, 16.2, 32.4),
    _card("RTX 3060", "rtx30", 360, 12.7, 25.5),
    _card("RTX 3070 Ti", "rtx30", 608, 21.7, 43.5),
    _card("RTX 3070", "rtx30", 448, 20.3, 40.6),
    _card("RTX 3080 Ti", "rtx30", 912, 34.1, 68.2),
    _card("RTX 3080", "rtx30", 760, 29.8, 59.5),
    _card("RTX 3090 Ti", "rtx30", 1008, 40, 80),
    _card("RTX 3090", "rtx30", 936, 35.6, 71),
    _card("RTX 4060 Ti", "rtx40", 288, 22.1, 44.1),
    _card("RTX 4060", "rtx40", 272, 15.1, 30.2),
    _card("RTX 4070 Ti SUPER", "rtx40", 672, 44.1, 88.2),
    _card("RTX 4070 Ti", "rtx40", 504, 40.1, 80.2),
    _card("RTX 4070 SUPER", "rtx40", 504, 35.5, 71),
    _card("RTX 4070", "rtx40", 504, 29.1, 58.3),
    _card("RTX 4080 SUPER", "rtx40", 736, 52.2, 104.4),
    _card("RTX 4080", "rtx40", 717, 48.7, 97.5),
    _card("RTX 4090", "rtx40", 1008, 82.6, 165.2),
    _card("RTX 5070 Ti", "rtx50", 896, 43.9, 87.9),
    _card("RTX 5070", "rtx50", 672, 30.9, 61.7),
    _card("RTX 5080", "rtx50", 960, 56.3, 112.6),
    _card("RTX 5090", "rtx50", 1792, 104.8, 209.5),
    _row(r"H100.*NVL", "NVIDIA H100 NVL", "h100nvl", 3938, (60, 30), tf32=417.5, bf16=835.5, fp16=835.5, fp8=1670.5, int8=1670.5, fp64=60),
    _row(r"H100.*PCI", "NVIDIA H100 PCIe", "h100", 2039, (51.2, 25.6), tf32=378, bf16=756, fp16=756, fp8=1513, int8=1513, fp64=51.2),
    _row(r"H100", "NVIDIA H100 SXM", "h100", 3350, (66.9, 33.5), **_HOPPER, fp64=66.9),
    _row(r"GH200", "NVIDIA GH200 96GB", "gh200", 4000, (66.9, 33.5), **_HOPPER, fp64=66.9),
    _row(r"H200.*NVL", "NVIDIA H200 NVL", "h200", 4800, (60, 30), tf32=417.5, bf16=835.5, fp16=835.5, fp8=1670.5, int8=1670.5, fp64=60),
    _row(r"H200", "NVIDIA H200", "h200", 4800, (66.9, 33.5), **_HOPPER, fp64=66.9),
    _row(r"H20\b", "NVIDIA H20", "h20", 4000, (44, 1), tf32=74, bf16=148, fp16=148, fp8=296, int8=296),
    _row(r"GB200", "NVIDIA GB200", "gb200", 8000, (80, 40), tf32=1250, bf16=2500, fp16=2500, fp8=5000, int8=5000, fp64=40),
    _row(r"B200", "NVIDIA B200", "b200", 8000, (75, 37), tf32=1125, bf16=2250, fp16=2250, fp8=4500, int8=4500, fp64=37),
    _row(r"B300", "NVIDIA B300", "b300", 8000, (75, 1.25), tf32=1125, bf16=2250, fp16=2250, fp8=4500),
    _row(r"MI100\b", "AMD Instinct MI100", "amd", 1229, (23.1, 11.5), fp32=46.1, bf16=92.3, fp16=184.6, int8=184.6),
    _row(r"MI210", "AMD Instinct MI210", "amd", 1638, (22.6, 22.6), fp32=45.3, fp64=45.3, bf16=181, fp16=181, int8=181),
    _row(r"MI250X", "AMD Instinct MI250X, one die", "amd-die", 1638, (23.95, 23.95), fp32=47.85, fp64=47.85, bf16=191.5, fp16=191.5, int8=191.5),
    _row(r"MI250", "AMD Instinct MI250, one die", "amd-die", 1638, (22.65, 22.65), fp32=45.25, fp64=45.25, bf16=181.05, fp16=181.05, int8=181.05),
    _row(r"MI300A", "AMD Instinct MI300A", "amd", 5300, (122.6, 61.3), fp32=122.6, fp64=122.6, tf32=490.3, bf16=980.6, fp16=980.6, fp8=1961.2, int8=1961.2),
    _row(r"MI300X", "AMD Instinct MI300X", "amd", 5300, (163.4, 81.7), **_MI300X),
    _row(r"MI325X", "AMD Instinct MI325X", "amd", 6000, (163.4, 81.7), **_MI300X),
    _row(r"MI350X", "AMD Instinct MI350X", "amd", 8000, (144.2, 72.1), fp32=144.2, fp64=72.1, bf16=2306.9, fp16=2306.9, fp8=4613.7, int8=4613.7),
    _row(r"MI355X", "AMD Instinct MI355X", "amd", 8000, (157.3, 78.6), fp32=157.3, fp64=78.6, bf16=2516.6, fp16=2516.6, fp8=5033.2, int8=5033.2),
    _row(r"Gaudi ?2|HL-?225", "Intel Gaudi 2", "gaudi2", 2450, (), bf16=432, fp8=865),
    _row(r"Gaudi ?3|HL-?325", "Intel Gaudi 3", "gaudi3", 3700, (14.3,), bf16=1835, fp8=1835),
)
# fmt: on
"""In the order in which they are tried, the more particular patterns first."""

_VARIANTS: Final = re.compile(r"\b(?:laptop|mobile|max-q)\b", re.IGNORECASE)
"""Cards of a desktop card's name that are slower."""


def known_devices() -> tuple[DevicePeaks, ...]:
    """Return every device of the table."""
    return tuple(peaks for _, peaks in _TABLE)


def peaks_of(name: str, total_bytes: int | None = None) -> DevicePeaks | None:
    """Return what a device can do, or ``None`` where it is not known: nothing is guessed.

    Args:
        name: As the driver reports it, "NVIDIA H100 80GB HBM3" for one.
        total_bytes: Its memory, which tells apart what shares a name.
    """
    if _VARIANTS.search(name):
        return None
    for pattern, peaks in _TABLE:
        if pattern.search(name):
            return _by_memory(peaks, total_bytes)
    return None


_BIGGER: Final = {
    "NVIDIA A100 40GB": (60 * 10**9, "NVIDIA A100 80GB SXM", 2039 * _GIGA),
    "NVIDIA GH200 96GB": (110 * 10**9, "NVIDIA GH200 144GB", 4900 * _GIGA),
}
"""What shares its name with a device of more and faster memory: from how many bytes on."""


def _by_memory(peaks: DevicePeaks, total_bytes: int | None) -> DevicePeaks:
    if peaks.name in _BIGGER:
        threshold, name, bytes_per_s = _BIGGER[peaks.name]
        if (total_bytes or 0) > threshold:
            return replace(peaks, name=name, bytes_per_s=bytes_per_s)
    return peaks


_PEAK_KEYS: Final = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")
_BANDWIDTH_KEY: Final = "bw"


def parse_peak(text: str) -> dict[str, float]:
    """Return the rates of ``--peak bf16=989e12,bw=3.35e12``.

    Keys are ``bw`` for bytes a second and the precisions for FLOP a second.

    Raises:
        ValueError: with one line that says what is wrong.
    """
    rates: dict[str, float] = {}
    for part in text.split(","):
        key, equals, number = (piece.strip() for piece in part.partition("="))
        if key not in (*_PEAK_KEYS, _BANDWIDTH_KEY) or not equals:
            known = ", ".join((*_PEAK_KEYS, _BANDWIDTH_KEY))
            raise ValueError(f"KEY=RATE with a key of {known} is wanted, not {part.strip()!r}")
        try:
            rate = float(number)
        except ValueError:
            rate = 0.0
        if not 0 < rate < float("inf"):
            raise ValueError(f"{key} wants a rate above 0, such as 989e12, not {number!r}")
        rates[key] = rate
    return rates


def with_peak(peaks: DevicePeaks | None, rates: Mapping[str, float]) -> DevicePeaks | None:
    """Return the roofs with what the user gave in place of the table's figures.

    A given precision holds with matrix units and without: whoever gives it knows which he means.
    """
    if not rates:
        return peaks
    base = peaks or DevicePeaks("the given device", {}, {}, None, "--peak")
    arithmetic = {key: rate for key, rate in rates.items() if key != _BANDWIDTH_KEY}
    vector = {key: rate for key, rate in arithmetic.items() if key in ("fp32", "fp64")}
    return replace(
        base,
        matrix={**base.matrix, **arithmetic},
        vector={**base.vector, **vector},
        bytes_per_s=rates.get(_BANDWIDTH_KEY, base.bytes_per_s),
        source=f"{base.source}, with --peak" if peaks else "--peak",
        given=frozenset(rates),
    )
