"""The operator tree as rows of text."""

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.call_tree import CallTree, instance_tree, merged_tree
from tracetui.analysis.links import links
from tracetui.format import NOT_MEASURED, count, duration
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.table import cell_width, shortened
from tracetui.presentation.tree import Tree, indent

_TITLES = ("calls", "CPU total", "CPU self", "GPU total", "GPU self", "kernels")
_CELL_WIDTHS = (8, 11, 11, 11, 11, 9)
_MIN_NAME_WIDTH = 12
_MAX_INDENT = 24
_AUTO_OPEN_ROWS = 400
"""A merged tree this small is opened as a whole."""


@dataclass(slots=True, eq=False)
class OperatorTree:
    """A call tree, what of it is open, and how its rows read."""

    trace: Trace
    calls: CallTree
    tree: Tree
    is_merged: bool
    hides_without_kernels: bool = False

    @classmethod
    def of(cls, trace: Trace, *, is_merged: bool) -> "OperatorTree":
        """Return the tree of a trace, its first branches open."""
        calls = merged_tree(trace) if is_merged else instance_tree(trace)
        tree = Tree.closed(calls.depth, calls.subtree_end)
        if len(calls.depth) <= _AUTO_OPEN_ROWS:
            tree.open_all()
        else:
            tree.is_open[:] = calls.depth < 1
        return cls(trace, calls, tree, is_merged)

    @property
    def summary(self) -> str:
        """Return what the view found, in one line."""
        n_calls = int(self.calls.calls.sum())
        if not n_calls:
            return "0 PyTorch operators in this file"
        how = "merged by path" if self.is_merged else "by instance"
        text = f"{count(n_calls)} host slices in {count(len(self.calls.depth))} rows, {how}"
        if not self.calls.has_device:
            return f"{text}; CPU only: no GPU activity in this file"
        idle = int(self.calls.calls[self.calls.n_kernels == 0].sum())
        hidden = ", hidden" if self.hides_without_kernels else ""
        return f"{text}; {count(idle)} launch no kernel{hidden}"

    def toggle_without_kernels(self) -> None:
        """Hide what launches no kernel, or show it again."""
        self.hides_without_kernels = not self.hides_without_kernels and self.calls.has_device
        self.tree.is_hidden[:] = self.hides_without_kernels & (self.calls.n_kernels == 0)

    def header(self, width: int) -> str:
        """Return the column titles."""
        return _laid_out("  operator", _TITLES, width)

    def line(self, node: int, width: int) -> str:
        """Return one row."""
        calls, device = self.calls, self.calls.has_device
        cells = (
            count(int(calls.calls[node])),
            duration(int(calls.total_ns[node])),
            duration(int(calls.self_ns[node])),
            duration(int(calls.device_total_ns[node])) if device else NOT_MEASURED,
            duration(int(calls.device_self_ns[node])) if device else NOT_MEASURED,
            count(int(calls.n_kernels[node])) if device else NOT_MEASURED,
        )
        if int(calls.subtree_end[node]) == node + 1:
            mark = " "
        else:
            mark = "▾" if self.tree.is_open[node] else "▸"
        space = indent(int(calls.depth[node]), _MAX_INDENT)
        name = self.trace.names[int(calls.name_id[node])]
        return _laid_out(f"{space}{mark} {name}", cells, width)

    def name(self, node: int) -> str:
        """Return a row's full name."""
        return self.trace.names[int(self.calls.name_id[node])]

    def node_of(self, slice_id: int) -> int:
        """Return the row of a slice, or ``NO_ID``; a kernel's row is its operator's."""
        if slice_id < 0 or slice_id >= len(self.trace.slices):
            return NO_ID
        owner = int(links(self.trace).owner_id[slice_id])
        wanted = owner if owner >= 0 else slice_id
        found = np.flatnonzero(self.calls.slice_id == wanted)
        if len(found):
            return int(found[0])
        same_name = np.flatnonzero(self.calls.name_id == self.trace.slices.name_id[wanted])
        return int(same_name[0]) if self.is_merged and len(same_name) else NO_ID


def _laid_out(name: str, cells: tuple[str, ...], width: int) -> str:
    """Return the name on the left and as many cells as fit on the right."""
    widths = list(_CELL_WIDTHS)
    while widths and width - sum(widths) < max(_MIN_NAME_WIDTH, width // 3):
        widths.pop()
    name_width = max(width - sum(widths), 1)
    shown = shortened(name, name_width - 1)
    text = shown + " " * (name_width - cell_width(shown))
    return text + "".join(
        cell.rjust(cell_size) for cell, cell_size in zip(cells, widths, strict=False)
    )
