"""The operators: the call tree, merged by path or call by call."""

from typing import ClassVar

import numpy as np
from textual import work
from textual.binding import Binding, BindingType

from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace
from tracetui.presentation.details import detail_lines
from tracetui.presentation.operators import OperatorTree
from tracetui.ui.state import Workspace
from tracetui.ui.views.listing import ListingView
from tracetui.ui.widgets.line_list import ListLine


class OperatorsView(ListingView):
    """A virtual tree with host and device columns."""

    name_id: ClassVar[str] = "operators"
    title_text: ClassVar[str] = "Operators"
    short_title: ClassVar[str] = "Ops"
    PANE_HEIGHT: ClassVar[int] = 7

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right", "expand", "Open"),
        Binding("h,left", "collapse", "Close, or go to the parent"),
        Binding("e", "expand_branch", "Open down to the first branch"),
        Binding("E", "expand_all", "Open all"),
        Binding("minus", "collapse_all", "Close all"),
        Binding("H", "heaviest", "Go to the heaviest child"),
        Binding("x", "hide", "Hide what launches no kernel"),
        Binding("i", "merge", "Call by call, or merged by path"),
    ]

    def __init__(self) -> None:
        """Start without a tree, merged by path."""
        super().__init__()
        self._is_merged = True
        self._content: OperatorTree | None = None
        self._rows = np.empty(0, np.int64)

    def start_computing(self, workspace: Workspace) -> None:
        """Compute the tree in a thread."""
        if self._content is None or self._content.trace is not workspace.trace:
            self._compute(workspace.trace)

    @work(thread=True, exclusive=True, group="operators")
    def _compute(self, trace: Trace) -> None:
        content = OperatorTree.of(trace, is_merged=self._is_merged)
        self.post_message(self.Computed(trace, content))

    def on_listing_view_computed(self, message: ListingView.Computed) -> None:
        """Show the tree unless another trace has taken its place."""
        if self.workspace is None or message.trace is not self.workspace.trace:
            return
        if isinstance(message.content, OperatorTree):
            self._content = message.content
            self._refresh_rows()
            self.follow_selection(self.workspace.selection)

    def _refresh_rows(self) -> None:
        if self._content is not None:
            self._rows = self._content.tree.rows()
            self.show_rows()

    def _node(self) -> int:
        return int(self._rows[self.rows.cursor]) if len(self._rows) else NO_ID

    def _go_to(self, node: int) -> None:
        """Show the rows and put the cursor on a node."""
        self._refresh_rows()
        place = int(np.searchsorted(self._rows, node))
        if place < len(self._rows) and self._rows[place] == node:
            self.rows.cursor = place

    def follow_selection(self, slice_id: int) -> None:
        """Open what is above the selected slice and go there, unless the cursor is here."""
        if self._content is None or self.rows.has_focus:
            return
        node = self._content.node_of(slice_id)
        if node != NO_ID:
            self._content.tree.reveal(node)
            self._go_to(node)

    def summary(self) -> str:
        """Return what the tree holds."""
        return "Computing the operators …" if self._content is None else self._content.summary

    def titles(self, width: int) -> str:
        """Return the column titles."""
        return "" if self._content is None else self._content.header(width)

    def n_rows(self) -> int:
        """Return how many rows are open."""
        return len(self._rows)

    def line(self, row: int, width: int) -> ListLine:
        """Return one row."""
        if self._content is None or row >= len(self._rows):
            return ListLine("")
        return ListLine(self._content.line(int(self._rows[row]), width))

    def slice_of(self, row: int) -> int:
        """Return the first call of a row."""
        if self._content is None:
            return NO_ID
        return int(self._content.calls.slice_id[int(self._rows[row])])

    def name_of_row(self, row: int) -> str:
        """Return an operator's full name."""
        return "" if self._content is None else self._content.name(int(self._rows[row]))

    def pane_lines(self, row: int, width: int) -> list[str]:
        """Return the details of a row's first call."""
        del width
        return (
            [] if self._content is None else detail_lines(self._content.trace, self.slice_of(row))
        )

    def action_expand(self) -> None:
        """Open the row; an open one leads to its first child."""
        node = self._node()
        if self._content is None or node == NO_ID:
            return
        if self._content.tree.is_open[node] and self._content.tree.has_children(node):
            self.rows.cursor += 1
        else:
            self._content.tree.is_open[node] = True
            self._go_to(node)

    def action_collapse(self) -> None:
        """Close the row; a closed one leads to its parent."""
        node = self._node()
        if self._content is None or node == NO_ID:
            return
        tree = self._content.tree
        if tree.is_open[node] and tree.has_children(node):
            tree.is_open[node] = False
            self._go_to(node)
        elif (parent := tree.parent(node)) != NO_ID:
            self._go_to(parent)

    def action_expand_branch(self) -> None:
        """Open down to the first node with more than one child."""
        node = self._node()
        if self._content is not None and node != NO_ID:
            self._go_to(self._content.tree.open_to_branch(node))

    def action_expand_all(self) -> None:
        """Open every row."""
        node = self._node()
        if self._content is not None and node != NO_ID:
            self._content.tree.open_all()
            self._go_to(node)

    def action_collapse_all(self) -> None:
        """Close every row."""
        if self._content is not None:
            self._content.tree.close_all()
            self._refresh_rows()

    def action_heaviest(self) -> None:
        """Go to the child with the most device time, or host time where there is none."""
        node = self._node()
        if self._content is None or node == NO_ID:
            return
        calls = self._content.calls
        weight = calls.device_total_ns if calls.has_device else calls.total_ns
        child = self._content.tree.heaviest_child(node, weight)
        if child != NO_ID:
            self._content.tree.is_open[node] = True
            self._go_to(child)

    def action_hide(self) -> None:
        """Hide what launches no kernel, or show it again."""
        if self._content is not None:
            self._content.toggle_without_kernels()
            self._refresh_rows()

    def action_merge(self) -> None:
        """Change between merged paths and single calls."""
        self._is_merged = not self._is_merged
        if self.workspace is not None:
            self._compute(self.workspace.trace)
