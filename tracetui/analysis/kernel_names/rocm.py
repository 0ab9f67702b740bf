"""Kernels of AMD's libraries: Tensile in rocBLAS and hipBLASLt, Composable Kernel, MIOpen."""

import re
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName, TensorCores, dtype_of
from tracetui.analysis.kernel_names.templates import arguments_of, dtypes_among, integers_among
from tracetui.analysis.kernel_names.words import first_group

_TENSILE: Final = re.compile(
    r"^(?:Custom_)?Cijk_(?P<a>A[a-z]+)_(?P<b>B[a-z]+)_(?P<types>[A-Z0-9]+)(?P<rest>(?:_\w*)?)$"
)
_TILE: Final = re.compile(r"_MT(\d+x\d+)x(\d+)")
_INSTRUCTION: Final = re.compile(r"_MI\d+x\d+x\d+(?:x\d+)?(?=_|$)")
_FULL_INSTRUCTION: Final = re.compile(r"_MI(\d+x\d+x\d+)x\d+(?=_|$)")
_THREAD_TILE: Final = re.compile(r"_TT\d+_\d+")
_ISA: Final = re.compile(r"_ISA([0-9a-f]+)")
_SPLIT: Final = re.compile(r"_GSU(\d+)(?=_|$)")
_STREAM_K: Final = re.compile(r"_SK[1-9]\d*(?=_|$)")
_LAYOUTS: Final = {"Ailk": "n", "Alik": "t", "Bljk": "n", "Bjlk": "t"}
_LETTER: Final = re.compile(r"I8|F8N?|B8N?|[SDCZHBIX]")
_LETTERS: Final = {
    "S": "fp32",
    "D": "fp64",
    "C": "complex64",
    "Z": "complex128",
    "H": "fp16",
    "B": "bf16",
    "X": "tf32",
    "I8": "int8",
    "I": "int32",
    "F8": "fp8_e4m3",
    "F8N": "fp8_e4m3",
    "B8": "fp8_e5m2",
    "B8N": "fp8_e5m2",
}
_BATCHED_ONE_FORMAT: Final = re.compile(r"[SDCZH]B")

_IMPLICIT_GEMM: Final = re.compile(
    r"^igemm_(?P<direction>fwd|bwd|wrw)_(?P<path>gtc\w*?)_(?P<layout>nhwc|nchw)_"
    r"(?P<dtype>bf16|fp16|fp32|int8)_\w*?_bt(?P<tile>\d+x\d+)x(?P<k>\d+)(?P<rest>\w*)"
)
_WARP_INSTRUCTION: Final = re.compile(r"_wt(\d+x\d+x\d+)")
_GLOBAL_SPLIT: Final = re.compile(r"_gkgs(?=_|$)")
_MIOPEN: Final = re.compile(
    r"^(?P<convolution>miopenSp3AsmConv|naive_conv|gcnAsmConv|MIOpenConv|xdlops_conv|gridwise_convolution)"
    r"|^(?P<layout>batched_transpose_\d+x\d+|Im2d2Col|Col2Im2d|transpose_NCHW2CNHW|SubTensorOpWithTransform)"
    r"|^(?P<pointwise>(?:Sub|Op)Tensor(?:Op|Fwd)?With\w+|OpTensor\w+|Op[1-5]dTensor\w*|MIOpenNeuronFwd|MIOpenActive)"
    r"|^(?P<norm>MIOpenBatchNorm|MIOpenLayerNorm|BatchNorm(?:Fwd|Bwd))"
    r"|^(?P<pool>mloPooling)|^(?P<softmax>SoftmaxForward|SoftmaxBackward)"
)
_MOVED_FORMAT: Final = re.compile(r"_(half|float)$|_gfx\w+?_(fp16|fp32)(?=_|$)")

_CK_CONVOLUTION: Final = re.compile(r"kernel_\w*?conv_(?P<direction>fwd|bwd)")
_CK_GRID: Final = re.compile(r"Gridwise\w*Gemm\w*")
_CK_PRODUCT: Final = re.compile(r"gemm", re.IGNORECASE)
_MATRIX_PATH: Final = re.compile(r"xdl|mfma|wmma", re.IGNORECASE)


def rocm_kernel(text: str) -> KernelName | None:
    """Return what the name of a kernel from AMD's libraries says; ``None`` for any other."""
    for family in (_tensile, _implicit_gemm, _miopen, _composable):
        found = family(text)
        if found is not None:
            return found
    return None


def _tensile(text: str) -> KernelName | None:
    """Read ``Cijk_Alik_Bljk_BBS_BH_…_MT128x96x128_MI16x16x1_…_ISA942_…``.

    The order of a matrix's indices says whether it is transposed: l is the one that is summed, and
    the first is the one that runs fastest. The letters after it are the formats of the operands,
    the result and the computation. GSU is how many ways K is split, SK the stream-K that does so.
    """
    found = _TENSILE.match(text)
    if found is None:
        return None
    rest = found["rest"]
    operand, accumulator = _tensile_formats(found["types"])
    tile, split = _TILE.search(rest), _SPLIT.search(rest)
    a, b = _LAYOUTS.get(found["a"]), _LAYOUTS.get(found["b"])
    split_k = int(split.group(1)) > 1 if split else None
    cores: TensorCores = "unknown"
    if _INSTRUCTION.search(rest):
        cores = "yes"
    elif _THREAD_TILE.search(rest):
        cores = "no"
    return KernelName(
        origin="hipblaslt" if "_UserArgs" in rest else "tensile",
        arch=f"gfx{isa}" if (isa := first_group(_ISA, rest)) else None,
        dtype_in=operand,
        dtype_acc=accumulator,
        mma=first_group(_FULL_INSTRUCTION, rest),
        tile=tile.group(1) if tile else None,
        tile_k=int(tile.group(2)) if tile else None,
        layout=a + b if a and b else None,
        split_k=True if _STREAM_K.search(rest) else split_k,
        kind="gemm",
        tensor_cores=cores,
    )


def _tensile_formats(types: str) -> tuple[str | None, str | None]:
    """Return the operands' and the computation's format: ``BBS`` is bf16, bf16, fp32.

    ``SB`` is a batched problem all in fp32; ``F8B8BS`` gives A and B one format each.
    """
    if _BATCHED_ONE_FORMAT.fullmatch(types):
        return _LETTERS[types[0]], _LETTERS[types[0]]
    letters = _LETTER.findall(types)
    if "".join(letters) != types:
        return None, None
    if len(letters) == 3:
        return _LETTERS[letters[0]], _LETTERS[letters[2]]
    if len(letters) == 4:
        a, b = _LETTERS[letters[0]], _LETTERS[letters[1]]
        return a if a == b else None, _LETTERS[letters[3]]
    return (_LETTERS[letters[0]],) * 2 if len(letters) == 1 else (None, None)


def _implicit_gemm(text: str) -> KernelName | None:
    """Read MIOpen's ``igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_…_gkgs``.

    ``gtcx`` kernels run on the matrix cores, with the instruction that ``wt`` names; ``gkgs``
    splits K. The passes are forward, input gradient and filter gradient (wrw).
    """
    found = _IMPLICIT_GEMM.match(text)
    if found is None:
        return None
    is_matrix = found["path"].startswith("gtcx")
    return KernelName(
        origin="miopen",
        dtype_in=dtype_of(found["dtype"]),
        mma=first_group(_WARP_INSTRUCTION, found["rest"]) if is_matrix else None,
        tile=found["tile"],
        tile_k=int(found["k"]),
        layout=found["layout"],
        split_k=True if _GLOBAL_SPLIT.search(found["rest"]) else None,
        kind="convolution",
        direction="forward" if found["direction"] == "fwd" else "backward",
        tensor_cores="yes" if is_matrix else "unknown",
    )


def _miopen(text: str) -> KernelName | None:
    """Read MIOpen's hand-written kernels, whose names say little more than what they do."""
    found = _MIOPEN.match(text)
    if found is None:
        return None
    word = next(name for name, value in found.groupdict().items() if value)
    moved = first_group(_MOVED_FORMAT, text)
    return KernelName(
        origin="miopen",
        dtype_in=dtype_of(moved) if moved else None,
        kind="copy" if word == "layout" else word,
        tensor_cores="unknown" if word == "convolution" else "no",
    )


def _composable(text: str) -> KernelName | None:
    """Read Composable Kernel's device operations.

    ``GridwiseGemmMultiD_xdl_cshuffle_v3<layouts, types, …, block, M, N, K, …>``: the formats of A,
    B and the sum come first, and after the block's threads its tile. The older ``MultipleD`` gives
    the depth of its prefetch before them.
    """
    if "ck::tensor_operation" not in text and "ck_tile::" not in text:
        return None
    convolution = _CK_CONVOLUTION.search(text)
    if convolution is None and not _CK_PRODUCT.search(text):
        return None
    grid = _CK_GRID.search(text)
    arguments = arguments_of(text, grid.group()) if grid else []
    formats, sizes = dtypes_among(arguments), integers_among(arguments)
    skipped = {"GridwiseGemmMultiD_xdl_cshuffle_v3": 1, "GridwiseGemmMultipleD_xdl_cshuffle": 2}
    first = skipped.get(grid.group(), len(sizes)) if grid else 0
    tile = sizes[first : first + 3]
    return KernelName(
        origin="composable-kernel",
        dtype_in=formats[0] if len(set(formats[:2])) == 1 else None,
        dtype_acc="fp32" if "float" in arguments else None,
        tile=f"{tile[0]}x{tile[1]}" if len(tile) == 3 else None,
        tile_k=tile[2] if len(tile) == 3 else None,
        kind="convolution" if convolution else "gemm",
        direction=_PASSES[convolution["direction"]] if convolution else None,
        tensor_cores="yes" if _MATRIX_PATH.search(text) else "unknown",
    )


_PASSES: Final = {"fwd": "forward", "bwd": "backward"}
