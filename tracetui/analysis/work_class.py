"""What sort of work a device slice does."""

from enum import IntEnum
from functools import lru_cache
from typing import Final

import numpy as np

from tracetui.analysis.kernel_names import decode
from tracetui.analysis.memo import once_per_trace
from tracetui.model.arrays import Int8s, frozen
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace


class WorkClass(IntEnum):
    """A sort of device work; the order is that of legends."""

    GEMM = 0
    """Matrix products and convolutions."""
    ATTENTION = 1
    NORM = 2
    """Normalisations and softmax."""
    POINTWISE = 3
    REDUCTION = 4
    """Reductions, scans and sorts."""
    TRITON = 5
    """Generated Triton kernels, whatever they fuse."""
    COPY = 6
    """Copies, fills and changes of layout."""
    COMM = 7
    OTHER = 8


_OF_KIND: Final = {
    "gemm": WorkClass.GEMM,
    "convolution": WorkClass.GEMM,
    "attention": WorkClass.ATTENTION,
    "norm": WorkClass.NORM,
    "softmax": WorkClass.NORM,
    "pointwise": WorkClass.POINTWISE,
    "optimizer": WorkClass.POINTWISE,
    "random": WorkClass.POINTWISE,
    "quantize": WorkClass.POINTWISE,
    "reduction": WorkClass.REDUCTION,
    "sort": WorkClass.REDUCTION,
    "loss": WorkClass.REDUCTION,
    "copy": WorkClass.COPY,
    "comm": WorkClass.COMM,
}


@lru_cache(maxsize=16_384)
def work_class(name: str) -> WorkClass:
    """Return what sort of work a kernel, copy or memset of this name does."""
    said = decode(name)
    if said.origin == "inductor-triton":
        return WorkClass.TRITON
    if said.origin == "cublas" or (said.split_k and said.kind == "reduction"):
        # The second step of a product, such as the sum of its parts, is work of the product.
        return WorkClass.GEMM
    if said.origin == "triton" and said.kind is None:
        return WorkClass.TRITON
    return _OF_KIND.get(said.kind or "", WorkClass.OTHER)


def short_kernel_name(name: str) -> str:
    """Return a readable name: no namespaces, parameters or template noise, but tile and type."""
    return decode(name).short_name


@once_per_trace
def slice_classes(trace: Trace) -> Int8s:
    """Return the class of each slice; host slices are ``OTHER``."""
    slices = trace.slices
    classes = np.full(len(slices), WorkClass.OTHER, np.int8)
    kernels = slices.kind == SliceKind.KERNEL
    name_ids, place = np.unique(slices.name_id[kernels], return_inverse=True)
    of_name = np.array([work_class(trace.names[name_id]) for name_id in name_ids.tolist()], np.int8)
    if len(of_name):
        classes[kernels] = of_name[place]
    classes[(slices.kind == SliceKind.MEMCPY) | (slices.kind == SliceKind.MEMSET)] = WorkClass.COPY
    return frozen(classes)
