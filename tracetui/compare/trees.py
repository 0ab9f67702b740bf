"""The operator trees of both sides merged into one: what is in both, and what only in one."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tracetui.compare.comparison import Comparison
from tracetui.compare.units import Node, Unit, Work
from tracetui.model.arrays import NO_ID


@dataclass(slots=True, eq=False)
class TreeSide:
    """What one side has at a place of the merged tree; ``None`` is nothing."""

    slice_id: int
    host_ns: int | None
    """``None`` for device work."""
    gpu_ns: int | None
    """Device work at and below it; ``None`` without a device."""
    n_units: int
    """Pieces of work at and below it."""


@dataclass(slots=True, eq=False)
class MergedNode:
    """An operator, annotation or piece of work of either side or of both."""

    name: str
    shape: str
    baseline: TreeSide | None
    candidate: TreeSide | None
    is_unit: bool
    children: "list[MergedNode]" = field(default_factory=list)

    @property
    def host_delta_ns(self) -> int | None:
        """Return candidate less baseline on the host, a missing side as nothing."""
        return _delta(self.baseline, self.candidate, "host_ns")

    @property
    def gpu_delta_ns(self) -> int | None:
        """Return candidate less baseline on the device."""
        return _delta(self.baseline, self.candidate, "gpu_ns")

    @property
    def weight_ns(self) -> int:
        """Return what the tree is sorted by: the device's difference, else the host's."""
        delta_ns = self.gpu_delta_ns if self.gpu_delta_ns is not None else self.host_delta_ns
        return abs(delta_ns or 0)


def _delta(baseline: TreeSide | None, candidate: TreeSide | None, name: str) -> int | None:
    values = [None if side is None else getattr(side, name) for side in (baseline, candidate)]
    known = [value for value in values if value is not None]
    return (values[1] or 0) - (values[0] or 0) if known else None


def merged_tree(compared: Comparison) -> tuple[MergedNode, ...]:
    """Return the roots of the merged tree of the typical instances, in the baseline's order.

    A piece of work stands under its operator; where several stand for one, each side's stay apart.
    """
    builder = _Merger(compared)
    return tuple(builder.level(compared.baseline_work.roots, compared.candidate_work.roots))


class _Merger:
    def __init__(self, compared: Comparison) -> None:
        self._works = (compared.baseline_work, compared.candidate_work)
        self._by_operator = compared.is_by_operator
        self._nodes = {node.slice_id: node for node in compared.candidate_work.nodes}
        self._partner = dict(compared.node_pairs)
        self._taken = {b for _, b in compared.node_pairs}
        self._units = {
            match.baseline[0].slice_id: match.candidate[0]
            for match in compared.matches
            if len(match.baseline) == len(match.candidate) == 1
        }
        self._taken_units = {unit.slice_id for unit in self._units.values()}
        self._totals = tuple(_totals(work) for work in self._works)

    def level(
        self, first: "tuple[Node | Unit, ...]", second: "tuple[Node | Unit, ...]"
    ) -> Iterator[MergedNode]:
        """Yield the children of one place: the baseline's, then what only the candidate has."""
        for item in first:
            yield self._merged(item)
        for item in second:
            yield from self._left_over(item)

    def _merged(self, item: "Node | Unit") -> MergedNode:
        if isinstance(item, Unit):
            partner = self._units.get(item.slice_id)
            side = None if partner is None else self._side(partner, 1)
            return MergedNode(item.name, "", self._side(item, 0), side, is_unit=True)
        other = self._nodes.get(self._partner.get(item.slice_id, NO_ID))
        candidate = None if other is None else self._side(other, 1)
        node = MergedNode(item.name, item.shape, self._side(item, 0), candidate, is_unit=False)
        below = () if other is None else tuple(other.children)
        node.children.extend(self.level(tuple(item.children), below))
        return node

    def _left_over(self, item: "Node | Unit") -> Iterator[MergedNode]:
        """Yield what only the candidate has; a wrapper whose content has its place is passed by."""
        if isinstance(item, Unit):
            if item.slice_id not in self._taken_units:
                yield MergedNode(item.name, "", None, self._side(item, 1), is_unit=True)
            return
        if item.slice_id in self._taken:
            return
        children = [node for child in item.children for node in self._left_over(child)]
        if children:
            side = self._side(item, 1)
            node = MergedNode(item.name, item.shape, None, side, is_unit=False)
            node.children.extend(children)
            yield node

    def _side(self, item: "Node | Unit", which: int) -> TreeSide:
        if isinstance(item, Unit):
            is_host = self._by_operator
            return TreeSide(
                item.slice_id,
                item.dur_ns if is_host else None,
                None if is_host else item.dur_ns,
                1,
            )
        gpu_ns, n_units = self._totals[which][item.slice_id]
        dur_ns = int(self._works[which].side.trace.slices.dur_ns[item.slice_id])
        return TreeSide(item.slice_id, dur_ns, None if self._by_operator else gpu_ns, n_units)


def _totals(work: Work) -> dict[int, tuple[int, int]]:
    """Return of each operator the time and the number of the pieces of work below it."""
    found: dict[int, tuple[int, int]] = {}
    for node in reversed(work.nodes):
        time_ns = n_units = 0
        for child in node.children:
            if isinstance(child, Unit):
                time_ns, n_units = time_ns + child.dur_ns, n_units + 1
            else:
                below_ns, n_below = found[child.slice_id]
                time_ns, n_units = time_ns + below_ns, n_units + n_below
        found[node.slice_id] = (time_ns, n_units)
    return found
