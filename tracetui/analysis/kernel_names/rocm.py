"""Kernels of AMD's libraries: Tensile in rocBLAS and hipBLASLt, Composable Kernel, MIOpen, AITER."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, TensorCores

_TENSILE: Final = re.compile(
    r"^Cijk_(?P<a>A[ilk]{3}|A[a-z]+)_(?P<b>B[jlk]{3}|B[a-z]+)_(?P<types>[A-Z0-9]+)(?P<rest>_\w*)?$"
)
_TILE: Final = re.compile(r"_MT(\d+x\d+)x(\d+)")
_INSTRUCTION: Final = re.compile(r"_MI(\d+)x(\d+)x(\d+)(?:x(\d+))?(?=_|$)")
_ISA: Final = re.compile(r"_ISA([0-9a-f]+)")
_SPLIT: Final = re.compile(r"_GSU(\d+)(?=_|$)")
_STREAM_K: Final = re.compile(r"_SK([1-9]\d*)(?=_|$)")
_ROW_MAJOR: Final = {"Ailk": "n", "Alik": "t"}
_COLUMN: Final = {"Bljk": "n", "Bjlk": "t"}
_LETTERS: Final = {
    "S": "fp32",
    "D": "fp64",
    "C": "complex64",
    "Z": "complex128",
    "H": "fp16",
    "B": "bf16",
    "I8": "int8",
    "I": "int32",
    "F8": "fp8_e4m3",
    "B8": "fp8_e5m2",
    "X": "tf32",
}
_LETTER: Final = re.compile(r"I8|F8N?|B8N?|4xi8|[SDCZHBIX]")

_IGEMM: Final = re.compile(
    r"^igemm_(?P<direction>fwd|bwd|wrw)_(?P<kind>gtc\w*?)_(?P<layout>nhwc|nchw)_"
    r"(?P<dtype>bf16|fp16|fp32|int8)_\w*?_bt(?P<tile>\d+x\d+)x(?P<k>\d+)(?P<rest>\w*)"
)
_CK_CONV: Final = re.compile(r"kernel_(?:batched_)?grouped_conv_(?P<direction>fwd|bwd)")


def rocm_kernel(text: str) -> KernelName | None:
    """Return what the name of a kernel from AMD's libraries says; ``None`` for any other."""
    for family in (_tensile, _implicit_gemm, _composable):
        found = family(text)
        if found is not None:
            return found
    return None


def _tensile(text: str) -> KernelName | None:
    """Read ``Cijk_Alik_Bljk_BBS_BH_…_MT128x96x128_MI16x16x1_…_ISA942_…``.

    The order of a matrix's indices says whether it is transposed: l is the one that is summed, and
    the first is the one that runs fastest. The letters after it are the formats of the operands,
    the result and the computation; S alone is fp32 throughout.
    """
    found = _TENSILE.match(text)
    if found is None:
        return None
    rest = found["rest"] or ""
    operand, accumulator = _tensile_formats(found["types"])
    tile, instruction = _TILE.search(rest), _INSTRUCTION.search(rest)
    isa, split = _ISA.search(rest), _SPLIT.search(rest)
    a, b = _ROW_MAJOR.get(found["a"]), _COLUMN.get(found["b"])
    split_k: bool | None = None
    if split is not None:
        split_k = int(split.group(1)) > 1
    if _STREAM_K.search(rest):
        split_k = True
    mma = None
    if instruction is not None and instruction.group(4) is not None:
        mma = "x".join(instruction.group(1, 2, 3))
    cores: TensorCores = (
        "yes" if instruction else "no" if re.search(r"_TT\d+_\d+", rest) else "unknown"
    )
    return KernelName(
        origin="hipblaslt" if "UserArgs" in rest else "tensile",
        arch=f"gfx{isa.group(1)}" if isa else None,
        dtype_in=operand,
        dtype_acc=accumulator,
        mma=mma,
        tile=tile.group(1) if tile else None,
        tile_k=int(tile.group(2)) if tile else None,
        layout=a + b if a and b else None,
        split_k=split_k,
        epilogue="bias" if "_Bias_" in rest and "UserArgs" not in rest else None,
        kind="gemm",
        tensor_cores=cores,
    )


def _tensile_formats(types: str) -> tuple[str | None, str | None]:
    """Return the operands' and the computation's format: ``BBS`` is bf16, bf16, fp32.

    A trailing B, as in ``SB`` or ``HB``, marks a batched problem in one format.
    """
    if len(types) == 2 and types[1] == "B" and types[0] in "SDCZH":
        return _LETTERS[types[0]], _LETTERS[types[0]]
    letters = _LETTER.findall(types)
    if "".join(letters) != types:
        return None, None
    if len(letters) == 1:
        return _LETTERS.get(letters[0]), _LETTERS.get(letters[0])
    if len(letters) == 3:
        return _LETTERS.get(letters[0].rstrip("N")), _LETTERS.get(letters[2])
    return None, None


def _implicit_gemm(text: str) -> KernelName | None:
    """Read MIOpen's ``igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_…_gkgs``.

    ``gtcx`` kernels run on the matrix cores; ``wt`` is their instruction, ``gkgs`` splits K.
    """
    found = _IGEMM.match(text)
    if found is None:
        return None
    instruction = re.search(r"_wt(\d+x\d+x\d+)", found["rest"])
    return KernelName(
        origin="miopen",
        dtype_in={"fp32": "fp32", "fp16": "fp16", "bf16": "bf16", "int8": "int8"}[found["dtype"]],
        mma=instruction.group(1) if instruction else None,
        tile=found["tile"],
        tile_k=int(found["k"]),
        layout=found["layout"],
        split_k=True if re.search(r"_gkgs(?=_|$)", found["rest"]) else None,
        kind="convolution",
        direction="forward" if found["direction"] == "fwd" else "backward",
        tensor_cores="yes" if found["kind"].startswith("gtcx") else "unknown",
    )


def _composable(text: str) -> KernelName | None:
    """Read Composable Kernel's device operations, which name the matrix path that they take."""
    is_composable = "2ck16tensor_operation" in text or "ck::tensor_operation" in text
    if not (is_composable or "ck_tile" in text):
        return None
    convolution = _CK_CONV.search(text)
    is_product = convolution is not None or re.search(r"gemm", text, re.IGNORECASE) is not None
    if not is_product:
        return None
    direction = convolution["direction"] if convolution else None
    return KernelName(
        origin="composable-kernel",
        kind="convolution" if convolution else "gemm",
        direction={"fwd": "forward", "bwd": "backward"}.get(direction or ""),
        tensor_cores="yes" if re.search(r"xdl|mfma|wmma", text) else "unknown",
    )
