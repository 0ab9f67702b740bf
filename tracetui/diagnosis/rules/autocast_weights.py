"""Weights that autocast turns to half precision on every call, though they never change."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracetui.diagnosis.finding import Finding, Saving, severity_of
from tracetui.diagnosis.needs import OPERATORS, SHAPES, Need
from tracetui.diagnosis.scope import BACKWARD, named, share_of
from tracetui.diagnosis.tensors import tensors_of
from tracetui.format import count, duration, percent
from tracetui.model.arrays import Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.trace import Trace

_LAYERS: Final = re.compile(r"^aten::(linear|conv[123]d)$")
_HALVES: Final = ("fp16", "bf16")


@dataclass(frozen=True, slots=True)
class AutocastWeights:
    """Fires when layers of a model that does not learn convert their weights again and again.

    Autocast shows in an operator that converts its inputs and then calls itself. The weight is the
    second input, and its conversion has its shape. Where there is a backward pass weights change,
    and the rule is silent.
    """

    name: str = "autocast-weights"
    about: str = "weights that autocast converts on each call of a model that does not learn"
    needs: tuple[Need, ...] = (OPERATORS, SHAPES)
    min_share_ratio: float = 0.05
    min_calls: int = 2

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield at most one finding, about all such conversions."""
        if len(named(trace, BACKWARD)):
            return
        casts, precision = _weight_casts(trace)
        share = share_of(trace, casts)
        few = len(casts) < self.min_calls or not len(share.slices)
        if few or share.ratio < self.min_share_ratio:
            return
        yield Finding(
            self.name,
            severity_of(share.ratio),
            f"autocast converts weights from fp32 to {precision} {count(len(casts))} times, on every"
            f" call: {duration(share.cost_ns)}, {percent(share.ratio)} of {share.of_what}",
            share.slices,
            "Convert the model once, with model.to(torch.bfloat16) or model.half(), or keep one"
            " autocast block around all calls so that its cache lasts",
            Saving.of_slices(trace, share.slices, "all of the conversions of weights"),
        )


def _weight_casts(trace: Trace) -> tuple[Int64s, str]:
    """Return the conversions of weights, ascending, and the precision that they go to."""
    slices = trace.slices
    layers = named(trace, _LAYERS, SliceKind.OPERATOR)
    parent = slices.parent_id[layers]
    calls_itself = (parent >= 0) & (slices.name_id[parent] == slices.name_id[layers])
    layers = np.unique(parent[calls_itself])
    copies = np.flatnonzero(slices.name_id == trace.names.find("aten::copy_"))
    casts: Int64s = copies
    for name in ("aten::_to_copy", "aten::to"):
        casts = slices.parent_id[casts].astype(np.int64)
        kept = (casts >= 0) & (slices.name_id[casts] == trace.names.find(name))
        copies, casts = copies[kept], casts[kept]
    layer = slices.parent_id[casts]
    kept = np.isin(layer, layers)
    copies, casts, layer = copies[kept], casts[kept], layer[kept]
    keys = np.column_stack((slices.signature_id[layer], slices.signature_id[copies]))
    _, at, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    told = [_converted(trace, int(layer[row]), int(copies[row])) for row in at.tolist()]
    is_weight = np.array([each is not None for each in told], bool)[kind.reshape(-1)]
    casts, layer = casts[is_weight], layer[is_weight]
    # An input of the weight's shape is converted before it; only the last of a call is the weight.
    order = np.lexsort((slices.ts_ns[casts], layer))
    is_last = np.append(np.diff(layer[order]) != 0, True) if len(order) else order.astype(bool)
    return np.sort(casts[order[is_last]]), next((each for each in told if each is not None), "")


def _converted(trace: Trace, layer: int, copy: int) -> str | None:
    """Return the half precision to which a copy turns the weight of a layer, else ``None``."""
    inputs, (*to_and_from,) = tensors_of(trace, layer), tensors_of(trace, copy)
    if len(inputs) < 2 or len(to_and_from) < 2 or to_and_from[1].shape != inputs[1].shape:
        return None
    wanted = to_and_from[0].precision in _HALVES and to_and_from[1].precision == "fp32"
    return to_and_from[0].precision if wanted else None
