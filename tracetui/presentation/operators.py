"""The operators: a call tree as rows of text, and the same calls as a flat table by name."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from tracetui.analysis.call_tree import (
    CallTree,
    calls_tree,
    equal_siblings_tree,
    paths_tree,
    sorted_tree,
)
from tracetui.analysis.host_table import HostTable, host_table
from tracetui.analysis.links import links
from tracetui.format import NOT_MEASURED, TimeUnit, count
from tracetui.model.arrays import NO_ID, Bools, Int8s, Int32s, Int64s
from tracetui.model.slices import SliceKind
from tracetui.model.strings import StringTable
from tracetui.model.trace import Trace
from tracetui.presentation.scope import Scope
from tracetui.presentation.table import (
    Column,
    Table,
    Tabled,
    in_sight,
    laid_out,
    more_columns,
    time_column,
)
from tracetui.presentation.tree import Tree, indent

_MAX_INDENT: Final = 24
_AUTO_OPEN_ROWS: Final = 400
"""A merged tree this small is opened as a whole."""
_COUNT_WIDTH: Final = 9
_KIND_WIDTH: Final = 12


class Shape(Enum):
    """How the calls are put together."""

    PATHS = "merged by path"
    CALLS = "by instance"
    EQUAL_SIBLINGS = "by instance, equal siblings as one"
    NAMES = "by name"


class Sums(Protocol):
    """Columns that a tree and a flat table have in common."""

    @property
    def shapes(self) -> StringTable:
        """Return the texts of the shapes."""

    @property
    def has_device(self) -> bool:
        """Return whether the trace holds device work."""

    @property
    def name_id(self) -> Int32s:
        """Return names."""

    @property
    def shape_id(self) -> Int32s:
        """Return shapes."""

    @property
    def kind(self) -> Int8s:
        """Return kinds."""

    @property
    def calls(self) -> Int64s:
        """Return calls."""

    @property
    def total_ns(self) -> Int64s:
        """Return host time."""

    @property
    def self_ns(self) -> Int64s:
        """Return host self time."""

    @property
    def device_total_ns(self) -> Int64s:
        """Return device time."""

    @property
    def device_self_ns(self) -> Int64s:
        """Return device self time."""

    @property
    def n_kernels(self) -> Int64s:
        """Return device slices."""


@lru_cache(maxsize=4_096)
def shape_text(text: str) -> str:
    """Return input shapes for people: ``[8192,768]x[768,3072]`` of ``[[8192,768],[768,3072],[]]``.

    Scalars and absent inputs, which have no extent, are left out.
    """
    try:
        shapes = json.loads(text)
    except ValueError:
        return text
    return "x".join(_extents(shape) for shape in shapes if shape) or "[]"


def _extents(shape: Any) -> str:
    return json.dumps(shape, separators=(",", ":"))


def _sum_columns(sums: Sums, unit: TimeUnit) -> tuple[Column, ...]:
    """Return the columns beside the name."""

    def times(title: str, values: Int64s, *, is_measured: bool = True) -> Column:
        return time_column(title, values, unit, is_measured=is_measured)

    def kernels(row: int) -> str:
        return count(int(sums.n_kernels[row])) if sums.has_device else NOT_MEASURED

    def kind(row: int) -> str:
        return SliceKind(int(sums.kind[row])).name.lower()

    device = sums.has_device
    return (
        Column("calls", lambda row: count(int(sums.calls[row])), sums.calls, width=_COUNT_WIDTH),
        times("CPU total", sums.total_ns),
        times("CPU self", sums.self_ns),
        times("GPU total", sums.device_total_ns, is_measured=device),
        times("GPU self", sums.device_self_ns, is_measured=device),
        Column("kernels", kernels, sums.n_kernels, width=_COUNT_WIDTH),
        Column("kind", kind, sums.kind, is_number=False, width=_KIND_WIDTH),
    )


def _name_of(names: StringTable, sums: Sums, row: int) -> str:
    shape_id = int(sums.shape_id[row])
    name = names[int(sums.name_id[row])]
    return name if shape_id == NO_ID else f"{name}  {shape_text(sums.shapes[shape_id])}"


@dataclass(slots=True, eq=False)
class OperatorTree:
    """A call tree, what of it is open, and how its rows read."""

    trace: Trace
    scope: Scope
    shape: Shape
    by_shape: bool
    calls: CallTree
    tree: Tree
    unit: TimeUnit = TimeUnit.AUTO
    sort_column: int | None = None
    """Which column siblings are sorted by; ``None`` is the tree's own order."""
    is_inverted: bool = False
    hides_without_kernels: bool = False
    hidden: frozenset[int] = frozenset()
    """The columns that are not shown; the first, the name, always is."""
    columns: tuple[Column, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Write the columns."""
        self.columns = _tree_columns(self.calls, self.unit)

    @classmethod
    def of(
        cls,
        trace: Trace,
        shape: Shape = Shape.PATHS,
        scope: Scope | None = None,
        *,
        by_shape: bool = False,
    ) -> "OperatorTree":
        """Return the tree of a part of a trace, its first branches open.

        Raises:
            UsageError: If the filter of the scope cannot be understood.
        """
        scope = scope or Scope()
        calls = _tree(trace, shape, scope, by_shape=by_shape)
        tree = Tree.closed(calls.depth, calls.subtree_end)
        if len(calls.depth) <= _AUTO_OPEN_ROWS:
            tree.open_all()
        else:
            tree.is_open[:] = calls.depth < 1
        return cls(trace, scope, shape, by_shape, calls, tree)

    @property
    def summary(self) -> str:
        """Return what the view found, in one line."""
        calls = self.calls
        n_calls = int(calls.calls.sum())
        if not len(calls):
            return _nothing(self.scope)
        how = self.shape.value + (" and input shapes" if self.by_shape else "")
        text = f"{count(n_calls)} host slices in {count(len(calls))} rows{self.scope.words}, {how}"
        if not calls.has_device:
            return f"{text}; CPU only: no GPU activity in this file"
        idle = int(calls.calls[calls.n_kernels == 0].sum())
        hidden = ", hidden" if self.hides_without_kernels else ""
        return f"{text}; {count(idle)} launch no kernel{hidden}"

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        self.unit = unit
        self.columns = _tree_columns(self.calls, unit)

    def toggle_without_kernels(self) -> None:
        """Hide what launches no kernel, or show it again."""
        self.hides_without_kernels = not self.hides_without_kernels and self.calls.has_device
        self.tree.is_hidden[:] = self.hides_without_kernels & (self.calls.n_kernels == 0)

    def sort_by_next(self, width: int) -> None:
        """Sort siblings by the next of the columns in sight, at last in the tree's own order."""
        later = [
            column
            for column in in_sight(self.columns, self.hidden, width)
            if column > (self.sort_column or 0)
        ]
        self.sort_column = later[0] if later else None
        self.is_inverted = False
        self._arrange()

    def invert(self) -> None:
        """Turn the order of siblings round."""
        self.is_inverted = not self.is_inverted
        self._arrange()

    @property
    def sorting(self) -> tuple[int | None, bool]:
        """Return the column that siblings are sorted by, if any, and whether it is turned round."""
        return self.sort_column, self.is_inverted

    def sort_as(self, column: int, *, is_inverted: bool) -> None:
        """Sort siblings by a column."""
        self.sort_column, self.is_inverted = column, is_inverted
        self._arrange()

    def sort_like(self, other: "OperatorTree") -> None:
        """Sort siblings as another tree does."""
        if (other.sort_column, other.is_inverted) != (self.sort_column, self.is_inverted):
            self.sort_column, self.is_inverted = other.sort_column, other.is_inverted
            self._arrange()

    def _arrange(self) -> None:
        key: npt.NDArray[Any]
        if self.sort_column is None:
            # The own order: of time where rows are calls, else of host time.
            is_by_time = self.shape is not Shape.PATHS
            key = -self.calls.slice_id.astype(np.int64) if is_by_time else self.calls.total_ns
        else:
            key = self.columns[self.sort_column].key.astype(np.int64)
        self.calls, order = sorted_tree(self.calls, -key if self.is_inverted else key)
        tree = Tree.closed(self.calls.depth, self.calls.subtree_end)
        tree.is_open[:] = self.tree.is_open[order]
        tree.is_hidden[:] = self.tree.is_hidden[order]
        self.tree = tree
        self.columns = _tree_columns(self.calls, self.unit)

    def header(self, width: int) -> str:
        """Return the column titles; the one that siblings are sorted by is marked."""
        shown = in_sight(self.columns, self.hidden, width)
        mark = "▴" if self.is_inverted else "▾"
        titles = [
            f"{self.columns[column].title}{mark if column == self.sort_column else ''}"
            for column in shown
        ]
        own = mark if self.sort_column is None and self.is_inverted else ""
        more = more_columns(len(self.columns) - 1 - len(shown))
        widths = [self.columns[column].width for column in shown]
        return laid_out(f"operator{own}{more}", titles, widths, width, lead="  ")

    def line(self, node: int, width: int) -> str:
        """Return one row."""
        calls = self.calls
        if int(calls.subtree_end[node]) == node + 1:
            mark = " "
        else:
            mark = "▾" if self.tree.is_open[node] else "▸"
        space = indent(int(calls.depth[node]), _MAX_INDENT)
        times = int(calls.times[node])
        shown = in_sight(self.columns, self.hidden, width)
        return laid_out(
            self.label(node),
            [self.columns[column].cell(node) for column in shown],
            [self.columns[column].width for column in shown],
            width,
            lead=f"{space}{mark} " + (f"{count(times)}x " if times > 1 else ""),
        )

    def label(self, node: int) -> str:
        """Return a row's name, with its input shapes where rows are told apart by them."""
        if not self.by_shape:
            return self.name(node)
        return _name_of(self.trace.names, self.calls, node)

    def name(self, node: int) -> str:
        """Return a row's full name."""
        return self.trace.names[int(self.calls.name_id[node])]

    def n_calls(self, node: int) -> int:
        """Return how many calls a row adds up."""
        return int(self.calls.calls[node])

    def slice_at(self, node: int) -> int:
        """Return a row's first call."""
        return int(self.calls.slice_id[node])

    def node_of(self, slice_id: int) -> int:
        """Return the row of a slice, or ``NO_ID``; a kernel's row is its operator's."""
        wanted = _host_slice(self.trace, slice_id)
        if wanted == NO_ID:
            return NO_ID
        found = np.flatnonzero(self.calls.slice_id == wanted)
        if len(found):
            return int(found[0])
        same_name = np.flatnonzero(self.calls.name_id == self.trace.slices.name_id[wanted])
        is_merged = self.shape is not Shape.CALLS
        return int(same_name[0]) if is_merged and len(same_name) else NO_ID


@dataclass(slots=True, eq=False)
class OperatorTable(Tabled):
    """The calls by name, sortable by each column."""

    trace: Trace
    scope: Scope
    by_shape: bool
    sums: HostTable
    table: Table
    unit: TimeUnit = TimeUnit.AUTO
    hides_without_kernels: bool = False

    @classmethod
    def of(
        cls, trace: Trace, scope: Scope | None = None, *, by_shape: bool = False
    ) -> "OperatorTable":
        """Return the flat table of a part of a trace.

        It starts with the most device time, or host time where there is none.

        Raises:
            UsageError: If the filter of the scope cannot be understood.
        """
        scope = scope or Scope()
        sums = host_table(trace, scope.sums(trace), scope.calls(trace), by_shape=by_shape)
        columns = _flat_columns(trace, sums, TimeUnit.AUTO)
        first = "GPU self" if sums.has_device else "CPU self"
        start = next(place for place, column in enumerate(columns) if column.title == first)
        return cls(trace, scope, by_shape, sums, Table(columns, sort_column=start))

    @property
    def summary(self) -> str:
        """Return what the view found, in one line."""
        if not len(self.sums):
            return _nothing(self.scope)
        n_calls = int(self.sums.calls.sum())
        how = "by name and input shapes" if self.by_shape else "by name"
        text = (
            f"{count(n_calls)} host slices in {count(len(self.sums))} rows{self.scope.words}, {how}"
        )
        if not self.sums.has_device:
            return f"{text}; CPU only: no GPU activity in this file"
        hidden = ", those that launch no kernel hidden" if self.hides_without_kernels else ""
        return text + hidden

    def set_unit(self, unit: TimeUnit) -> None:
        """Write times in another unit."""
        self.unit = unit
        self.table.columns = _flat_columns(self.trace, self.sums, unit)

    def toggle_without_kernels(self) -> None:
        """Hide what launches no kernel, or show it again."""
        self.hides_without_kernels = not self.hides_without_kernels and self.sums.has_device
        self.table.keep(self.sums.n_kernels > 0 if self.hides_without_kernels else None)

    def name(self, place: int) -> str:
        """Return a row's full name."""
        return self.trace.names[int(self.sums.name_id[self.row_at(place)])]

    def n_calls(self, place: int) -> int:
        """Return how many calls a row adds up."""
        return int(self.sums.calls[self.row_at(place)])

    def slice_at(self, place: int) -> int:
        """Return a row's first call."""
        return int(self.sums.slice_id[self.row_at(place)])

    def place_of_slice(self, slice_id: int) -> int:
        """Return where the row of a slice stands, or -1; a kernel's row is its operator's."""
        wanted = _host_slice(self.trace, slice_id)
        if wanted == NO_ID:
            return -1
        same: Bools = self.sums.name_id == self.trace.slices.name_id[wanted]
        if self.by_shape:
            same = same & (self.sums.shape_id == self.trace.slices.shape_id[wanted])
        found = np.flatnonzero(same)
        return self.table.place_of(int(found[0])) if len(found) else -1


def _tree_columns(sums: Sums, unit: TimeUnit) -> tuple[Column, ...]:
    """Return the columns of a tree; the first stands for the names, which the tree writes.

    The kind of a row is told by where it stands.
    """
    order = np.arange(len(sums.name_id))
    return (Column("operator", str, order, is_number=False), *_sum_columns(sums, unit)[:-1])


def _flat_columns(trace: Trace, sums: HostTable, unit: TimeUnit) -> tuple[Column, ...]:
    def name(row: int) -> str:
        return _name_of(trace.names, sums, row)

    names = np.array([name(row) for row in range(len(sums))], dtype=str)
    return (Column("operator", name, names, is_number=False), *_sum_columns(sums, unit))


def _tree(trace: Trace, shape: Shape, scope: Scope, *, by_shape: bool) -> CallTree:
    sums, chosen = scope.sums(trace), scope.calls(trace)
    if shape is Shape.CALLS:
        return calls_tree(trace, sums, chosen)
    build: Callable[..., CallTree] = (
        equal_siblings_tree if shape is Shape.EQUAL_SIBLINGS else paths_tree
    )
    return build(trace, sums, chosen, by_shape=by_shape)


def _host_slice(trace: Trace, slice_id: int) -> int:
    """Return a host slice itself, a device slice's owner, ``NO_ID`` for neither."""
    if not 0 <= slice_id < len(trace.slices):
        return NO_ID
    owner = int(links(trace).owner_id[slice_id])
    return owner if owner >= 0 else slice_id


def _nothing(scope: Scope) -> str:
    if scope.is_whole:
        return "0 PyTorch operators in this file"
    return f"0 host slices{scope.words}"
