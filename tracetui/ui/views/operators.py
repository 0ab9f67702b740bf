"""The operators: a call tree in one of three shapes, or a flat table by name."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from textual.binding import Binding, BindingType

from tracetui.format import count
from tracetui.model.arrays import NO_ID
from tracetui.presentation.operators import OperatorTable, OperatorTree, Shape
from tracetui.presentation.tree import Tree
from tracetui.ui.state import Workspace
from tracetui.ui.views.table_view import ColumnsView
from tracetui.ui.widgets.line_list import ListLine


class OperatorsView(ColumnsView[OperatorTree | OperatorTable]):
    """A virtual tree, or a virtual table, with host and device columns."""

    name_id: ClassVar[str] = "operators"
    title_text: ClassVar[str] = "Operators"
    short_title: ClassVar[str] = "Ops"
    key: ClassVar[str] = "3"

    waiting: ClassVar[str] = "Computing the operators …"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right", "expand", "Open"),
        Binding("h,left", "collapse", "Close, or go to the parent"),
        Binding("e", "expand_branch", "Open down to the first branch"),
        Binding("equals_sign", "expand_all", "Open all"),
        Binding("minus", "collapse_all", "Close all"),
        Binding("H", "heaviest", "Go to the heaviest child"),
        Binding("x", "hide", "Hide what launches no kernel"),
        Binding("F", "flat", "Tree, or flat table by name"),
        Binding("I", "instances", "Call by call, or merged by path"),
        Binding("M", "equal_siblings", "Equal siblings as one row"),
        Binding("B", "shapes", "Tell input shapes apart"),
    ]

    def __init__(self) -> None:
        """Start without a tree, merged by path."""
        super().__init__()
        self._shape = Shape.PATHS
        self._tree_shape = Shape.PATHS
        self._by_shape = False
        self._rows = np.empty(0, np.int64)

    @property
    def shape(self) -> Shape:
        """Return how the calls are put together."""
        return self._shape

    def kept_layout(self) -> dict[str, Any]:
        """Return order, columns, tree or table, and what is told apart or hidden."""
        hides = self._content is not None and self._content.hides_without_kernels
        return {
            **super().kept_layout(),
            "shape": self._shape.name,
            "tree_shape": self._tree_shape.name,
            "by_shape": self._by_shape,
            "hides": hides,
        }

    def lay_out(self, layout: Mapping[str, Any]) -> None:
        """Take this layout with the first content."""
        shapes = Shape.__members__
        self._shape = shapes.get(str(layout.get("shape")), self._shape)
        self._tree_shape = shapes.get(str(layout.get("tree_shape")), self._tree_shape)
        self._by_shape = layout.get("by_shape") is True
        super().lay_out(layout)

    def _take_layout(self, content: OperatorTree | OperatorTable) -> None:
        if self._wanted.get("hides") is True:
            content.toggle_without_kernels()
        super()._take_layout(content)

    def content_of(self, workspace: Workspace) -> Callable[[], OperatorTree | OperatorTable]:
        """Return what makes the tree, or the table."""
        trace, scope, by_shape = workspace.trace, workspace.scope, self._by_shape
        if self._shape is Shape.NAMES:
            return partial(OperatorTable.of, trace, scope, by_shape=by_shape)
        return partial(OperatorTree.of, trace, self._shape, scope, by_shape=by_shape)

    def take_over(
        self, old: OperatorTree | OperatorTable, new: OperatorTree | OperatorTable
    ) -> None:
        """Keep the order, and what is hidden."""
        if isinstance(old, OperatorTree) and isinstance(new, OperatorTree):
            new.sort_like(old)
        elif isinstance(old, OperatorTable) and isinstance(new, OperatorTable):
            new.table.sort_like(old.table)
        if old.hides_without_kernels:
            new.toggle_without_kernels()

    def settle(self, slice_id: int, *, is_first: bool) -> None:
        """Show the selection in another shape, wherever the keys go."""
        self._follow(slice_id, opens=not is_first)

    def show_content(self) -> None:
        """List the rows that are open."""
        if isinstance(self._content, OperatorTree):
            self._rows = self._content.tree.rows()
        elif self._content is not None:
            self._rows = np.arange(self._content.n_rows())
        self.show_rows()

    def _node(self) -> int:
        return int(self._rows[self.rows.cursor]) if len(self._rows) else NO_ID

    def _branch(self) -> tuple[OperatorTree, Tree, int] | None:
        """Return the tree and the node under the cursor, if there is one."""
        node = self._node()
        if not isinstance(self._content, OperatorTree) or node == NO_ID:
            return None
        return self._content, self._content.tree, node

    def _go_to(self, node: int) -> None:
        """Show the rows and put the cursor on a node, or on its nearest parent in sight."""
        self.show_content()
        if len(self._rows):
            place = int(np.searchsorted(self._rows, node, side="right")) - 1
            self.rows.cursor = max(place, 0)

    def follow_selection(self, slice_id: int) -> None:
        """Open what is above the selected slice and go there, unless the cursor is here."""
        if not self.rows.has_focus:
            self._follow(slice_id, opens=True)

    def _follow(self, slice_id: int, *, opens: bool) -> None:
        if isinstance(self._content, OperatorTree):
            node = self._content.node_of(slice_id)
            if node != NO_ID:
                if opens:
                    self._content.tree.reveal(node)
                self._go_to(node)
        elif self._content is not None:
            place = self._content.place_of_slice(slice_id)
            if place >= 0:
                self.rows.cursor = place

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
        return NO_ID if self._content is None else self._content.slice_at(int(self._rows[row]))

    def name_of_row(self, row: int) -> str:
        """Return an operator's full name."""
        return "" if self._content is None else self._content.name(int(self._rows[row]))

    def pane_lines(self, row: int) -> list[str]:
        """Return the details of a row's first call."""
        if self._content is None or row >= len(self._rows):
            return []
        lines = self.details_of(self._content.trace, self.slice_of(row))
        n_calls = self._content.n_calls(int(self._rows[row]))
        return (
            [*lines[:1], f"the first of {count(n_calls)} calls", *lines[1:]]
            if n_calls > 1
            else lines
        )

    def action_expand(self) -> None:
        """Open the row; an open one leads to its first child."""
        if (branch := self._branch()) is None:
            return
        _, tree, node = branch
        if tree.is_open[node] and tree.has_children(node):
            self.rows.cursor += 1
        else:
            tree.is_open[node] = True
            self._go_to(node)

    def action_collapse(self) -> None:
        """Close the row; a closed one leads to its parent."""
        if (branch := self._branch()) is None:
            return
        _, tree, node = branch
        if tree.is_open[node] and tree.has_children(node):
            tree.is_open[node] = False
            self._go_to(node)
        elif (parent := tree.parent(node)) != NO_ID:
            self._go_to(parent)

    def action_expand_branch(self) -> None:
        """Open down to the first node with more than one child."""
        if (branch := self._branch()) is not None:
            self._go_to(branch[1].open_to_branch(branch[2]))

    def action_expand_all(self) -> None:
        """Open every row."""
        if (branch := self._branch()) is not None:
            branch[1].open_all()
            self._go_to(branch[2])

    def action_collapse_all(self) -> None:
        """Close every row; the cursor goes to the root it was below."""
        if (branch := self._branch()) is not None:
            branch[1].close_all()
            self._go_to(branch[2])

    def action_heaviest(self) -> None:
        """Go to the child with the most device time, or host time where there is none."""
        if (branch := self._branch()) is None:
            return
        content, tree, node = branch
        calls = content.calls
        weight = calls.device_total_ns if calls.has_device else calls.total_ns
        child = tree.heaviest_child(node, weight)
        if child != NO_ID:
            tree.is_open[node] = True
            self._go_to(child)

    def action_hide(self) -> None:
        """Hide what launches no kernel, or show it again."""
        if self._content is None:
            return
        node = self._node()
        self._content.toggle_without_kernels()
        if isinstance(self._content, OperatorTree) and node != NO_ID:
            self._go_to(node)
        else:
            self.show_content()

    def _change_shape(self, shape: Shape) -> None:
        if shape is not Shape.NAMES:
            self._tree_shape = shape
        self._shape = shape
        self.compute_anew()

    def action_flat(self) -> None:
        """Change between the tree and the table by name."""
        self._change_shape(self._tree_shape if self._shape is Shape.NAMES else Shape.NAMES)

    def action_instances(self) -> None:
        """Change between merged paths and single calls."""
        is_merged = self._shape in (Shape.PATHS, Shape.NAMES)
        self._change_shape(Shape.CALLS if is_merged else Shape.PATHS)

    def action_equal_siblings(self) -> None:
        """Show the equal siblings among single calls as one row, or one by one."""
        is_on = self._shape is Shape.EQUAL_SIBLINGS
        self._change_shape(Shape.CALLS if is_on else Shape.EQUAL_SIBLINGS)

    def action_shapes(self) -> None:
        """Tell calls of one name with other input shapes apart, or not."""
        self._by_shape = not self._by_shape
        self._change_shape(self._shape)

    def reorder(self, change: Callable[[], None]) -> None:
        """Put the rows in another order; in a tree the cursor stays on its row."""
        content, slice_id = self._content, self._selected()
        change()
        self.show_content()
        if isinstance(content, OperatorTree):
            found = np.flatnonzero(content.calls.slice_id == slice_id)
            if len(found):
                self._go_to(int(found[0]))

    def _selected(self) -> int:
        node = self._node()
        return NO_ID if self._content is None or node == NO_ID else self._content.slice_at(node)
