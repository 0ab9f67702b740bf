"""Kernels that torch.compile generated: their kind, and the operators fused into each.

Inductor writes ``triton_poi_fused_add_relu_0``: the kind of loop, the operators' names joined by
``_``, and a number; its C++ kernels say ``cpp_fused_…``.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tracetui.analysis.kernel_names.fields import KernelName
from tracetui.analysis.kernel_names.operator_words import OPERATORS

_INDUCTOR: Final = re.compile(
    r"^(?:graph_\d+_)?(?:kernel_)?(?:triton_(?P<kind>[a-z]{3})|(?P<cpp>cpp))_fused"
    r"(?:_(?P<operators>[^\d].*?))?(?:_\d+(?:d\w*)?)?(?P<sum>_reduce_k)?$"
)
_UNNAMED: Final = re.compile(
    r"^(?:triton_(?:(?P<kind>poi|red|per|tem|for)_)?|(?P<cpp>(?:graph_\d+_)?(?:kernel_)?cpp_))"
    r"_*\d+(?:d\w*)?$"
)
_KINDS: Final = {
    "poi": ("pointwise", "pointwise"),
    "red": ("reduction", "reduction"),
    "per": ("persistent-reduction", "reduction"),
    "mix": ("mixed-reduction", "reduction"),
    "spl": ("split-scan", "reduction"),
    "tem": ("template", None),
    "for": ("foreach", None),
}
_GEMM_OPERATORS: Final = frozenset(
    [
        "mm",
        "addmm",
        "bmm",
        "baddbmm",
        "_scaled_mm",
        "_grouped_mm",
        "_scaled_grouped_mm",
        "_int_mm",
        "mm_plus_mm",
        "linear",
        "addmv",
        "mv",
    ]
)
_LONGEST_LIST: Final = 4000
"""Beyond this many letters a list of operators is kept whole: inductor never writes so many."""


def inductor_kernel(text: str) -> KernelName | None:
    """Return what the name of a kernel from torch.compile says; ``None`` for any other."""
    found = _INDUCTOR.match(text)
    if found is None:
        return _unnamed(text)
    operators = fused_operators(found["operators"] or "")
    if found["cpp"]:
        return KernelName(origin="inductor-cpp", inductor_kind="cpp", operators=operators)
    inductor_kind, kind = _KINDS.get(found["kind"], (None, None))
    if inductor_kind == "template":
        kind = "reduction" if found["sum"] else _template_kind(operators)
    return KernelName(
        origin="inductor-triton",
        kind=kind,
        inductor_kind=inductor_kind,
        operators=operators,
        split_k=True if found["sum"] else None,
        direction="backward" if "flex_attention_backward" in operators else None,
    )


def _unnamed(text: str) -> KernelName | None:
    """Read ``triton_poi_3`` and ``cpp_0``, of settings that leave the operators out."""
    found = _UNNAMED.match(text)
    if found is None:
        return None
    if found["cpp"]:
        return KernelName(origin="inductor-cpp", inductor_kind="cpp")
    inductor_kind, kind = _KINDS.get(found["kind"] or "", (None, None))
    return KernelName(origin="inductor-triton", kind=kind, inductor_kind=inductor_kind)


def _template_kind(operators: tuple[str, ...]) -> str | None:
    """Return what a template computes: it is named by the product with its epilogue's operators."""
    for operator in operators:
        if operator in _GEMM_OPERATORS:
            return "gemm"
        if operator.startswith("convolution"):
            return "convolution"
        if "attention" in operator:
            return "attention"
    return None


_OUT_OF_ORDER: Final = 5
"""Letters of unknown name that one name out of alphabetical order is worth."""


@dataclass(frozen=True, slots=True)
class _Split:
    """A way to cut the first part of a list: its names, and what speaks against it."""

    words: tuple[str, ...] = ()
    is_last_known: bool = True
    n_unknown: int = 0
    n_out_of_order: int = 0

    @property
    def cost(self) -> tuple[int, int, int]:
        against = self.n_unknown + _OUT_OF_ORDER * self.n_out_of_order
        return against, self.n_unknown, len(self.words)

    def followed_by(self, word: str) -> "_Split":
        """Return this split with one more name that an operator has."""
        late = bool(self.words) and word <= self.words[-1]
        late_names = self.n_out_of_order + late
        return _Split((*self.words, word), n_unknown=self.n_unknown, n_out_of_order=late_names)

    def followed_by_unknown(self, piece: str) -> "_Split":
        """Return this split with one more piece of a name that no operator has."""
        n_unknown = self.n_unknown + len(piece) + 1
        if self.words and not self.is_last_known:
            words = (*self.words[:-1], f"{self.words[-1]}_{piece}")
            late = False
        else:
            words = (*self.words, piece)
            late = bool(self.words) and piece <= self.words[-1]
        return _Split(
            words,
            is_last_known=False,
            n_unknown=n_unknown,
            n_out_of_order=self.n_out_of_order + late,
        )


@lru_cache(maxsize=4096)
def fused_operators(joined: str) -> tuple[str, ...]:
    """Return the operators whose names, joined by ``_``, make this text.

    Dynamic programming over the places where a name may begin. The best split leaves the fewest
    letters to names that no operator has, keeps to the alphabetical order in which inductor joins
    them, and has the fewest names, so that ``gelu_backward`` is one. A stretch that no operator's
    name covers, such as a custom operator's, is given as one name.
    """
    if not joined:
        return ()
    if len(joined) > _LONGEST_LIST:
        return (joined,)
    pieces = joined.split("_")
    # The best split of the first pieces, one for each state of its last name: a known name may
    # not be lengthened, an unknown one may.
    best: list[dict[bool, _Split]] = [{} for _ in range(len(pieces) + 1)]
    best[0][True] = _Split()

    def offered(place: int, split: _Split) -> None:
        kept = best[place].get(split.is_last_known)
        if kept is None or split.cost < kept.cost:
            best[place][split.is_last_known] = split

    for start in range(len(pieces)):
        for split in best[start].values():
            offered(start + 1, split.followed_by_unknown(pieces[start]))
            for end in range(start + 1, min(start + _MOST_PIECES, len(pieces)) + 1):
                word = "_".join(pieces[start:end])
                if word in OPERATORS:
                    offered(end, split.followed_by(word))
    return min(best[-1].values(), key=lambda split: split.cost).words


_MOST_PIECES: Final = max(name.count("_") + 1 for name in OPERATORS)
