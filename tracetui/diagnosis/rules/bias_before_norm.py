"""Convolutions that add a bias which the batch normalisation after them takes away again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.analysis.autograd import backward_of
from tracetui.analysis.cost.inputs import Inputs
from tracetui.diagnosis.finding import Finding, Saving, severity_of
from tracetui.diagnosis.needs import DEVICE_WORK, SHAPES, Need
from tracetui.diagnosis.scope import holder_of, named, share_of, top_operators
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import NO_ID, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_CONVOLUTION: Final = re.compile(r"^aten::conv[123]d$")
_ADD: Final = "aten::add_"
_NORM: Final = "aten::batch_norm"
_TRAINING_INPUT: Final = 5
"""Where ``batch_norm`` takes whether it normalises by the batch."""


@dataclass(frozen=True, slots=True)
class BiasBeforeNorm:
    """Fires when a training convolution with a bias is followed at once by ``batch_norm``.

    Normalising by the batch takes its mean away and any constant with it, so the bias changes
    nothing. In evaluation the stored mean is taken away instead, and the rule is silent.
    """

    name: str = "bias-before-norm"
    about: str = "a convolution's bias that the batch normalisation after it takes away"
    needs: tuple[Need, ...] = (DEVICE_WORK, SHAPES)
    min_share_ratio: float = 0.005

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such convolutions."""
        convolutions = convolutions_before_norms(trace)
        adds = np.flatnonzero(trace.slices.name_id == trace.names.find(_ADD))
        adds = adds[holder_of(trace, adds, convolutions) != NO_ID]
        share = share_of(trace, adds)
        if not len(share.slices) or share.ratio < self.min_share_ratio:
            return
        n_layers = len(np.unique(holder_of(trace, adds, convolutions)))
        yield Finding(
            self.name,
            severity_of(share.ratio),
            f"{count(n_layers)} convolutions add a bias that the batch_norm after them takes away:"
            f" {duration(share.cost_ns)}, {percent(share.ratio)} of {share.of_what}",
            share.slices,
            "Build these layers with bias=False; the norm's own bias does its work",
            Saving.of_slices(
                trace, share.slices, "all of the adding; the bias's gradient goes too"
            ),
        )


def convolutions_before_norms(trace: Trace) -> Int64s:
    """Return the convolutions with a bias whose result a training ``batch_norm`` takes at once."""
    slices = trace.slices
    top = top_operators(trace)
    # A norm that learns counts its batches first: a single number, 1 more each time.
    adds = top[slices.name_id[top] == trace.names.find(_ADD)]
    signatures, first_of = np.unique(slices.signature_id[adds], return_index=True)
    numbers = [not tensors_of(trace, each) for each in adds[first_of].tolist()]
    counting = adds[np.isin(slices.signature_id[adds], signatures[np.array(numbers, bool)])]
    top = np.setdiff1d(top, counting)
    is_next = slices.track_id[top[1:]] == slices.track_id[top[:-1]]
    is_next &= slices.name_id[top[1:]] == trace.names.find(_NORM)
    is_convolution = np.isin(top, named(trace, _CONVOLUTION, SliceKind.OPERATOR))[:-1]
    first, second = top[:-1][is_next & is_convolution], top[1:][is_next & is_convolution]
    learns = (backward_of(trace).backward_id[second] != NO_ID).astype(np.int64)
    keys = np.column_stack((slices.signature_id[first], slices.signature_id[second], learns))
    _, at, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    fits = [
        _has_bias(trace, int(first[row]), int(second[row]))
        and _is_training(trace, int(second[row]), is_learning=bool(learns[row]))
        for row in at.tolist()
    ]
    found: Int64s = first[np.array(fits, bool)[kind.reshape(-1)]]
    return found


def _has_bias(trace: Trace, convolution: int, norm: int) -> bool:
    """Return whether a convolution has a bias, and what it makes is what the norm takes."""
    inputs, normed = tensors_of(trace, convolution), tensors_of(trace, norm)
    if len(inputs) != 3 or not normed:
        return False
    given, weight, bias = (each.shape for each in inputs)
    n_channels = weight[0]
    is_same = len(normed[0].shape) == len(given) and normed[0].shape[:2] == (given[0], n_channels)
    return bias == (n_channels,) and is_same


def _is_training(trace: Trace, norm: int, *, is_learning: bool) -> bool:
    """Return whether a norm goes by its batch: as the file says, else if it has a backward."""
    inputs = Inputs.from_signature(trace.signatures[int(trace.slices.signature_id[norm])])
    if inputs.has_value(_TRAINING_INPUT):
        return inputs.flag(_TRAINING_INPUT)
    return is_learning
