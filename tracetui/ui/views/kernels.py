"""The kernels: a table, and the distribution of the one under the cursor."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from tracetui.presentation.kernels import KernelTable
from tracetui.ui.state import Workspace
from tracetui.ui.views.table_view import TableView


class KernelsView(TableView[KernelTable]):
    """A virtual table of the kernels by name."""

    name_id: ClassVar[str] = "kernels"
    title_text: ClassVar[str] = "Kernels"
    short_title: ClassVar[str] = "Kern"
    key: ClassVar[str] = "4"

    waiting: ClassVar[str] = "Computing the kernels …"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "copies", "Hide copies and memsets"),
    ]

    def __init__(self) -> None:
        """Start with copies listed."""
        super().__init__()
        self._has_copies = True

    def content_of(self, workspace: Workspace) -> Callable[[], KernelTable]:
        """Return what makes the table."""
        return partial(
            KernelTable.of, workspace.trace, workspace.scope, with_copies=self._has_copies
        )

    def kept_layout(self) -> dict[str, Any]:
        """Return order, columns and whether copies are listed."""
        return {**super().kept_layout(), "has_copies": self._has_copies}

    def lay_out(self, layout: Mapping[str, Any]) -> None:
        """Take this layout with the first content."""
        self._has_copies = layout.get("has_copies") is not False
        super().lay_out(layout)

    def pane_lines(self, row: int) -> list[str]:
        """Return the distribution of a row, then the details of its longest run."""
        if (content := self.content_at(row)) is None:
            return []
        lines = self.details_of(content.trace, self.slice_of(row))
        spread = content.distribution(row, self.details.text_width)
        return [*spread, "", "The longest run", *lines[1:]]

    def action_copies(self) -> None:
        """Hide copies and memsets, or list them again."""
        self._has_copies = not self._has_copies
        self.compute_anew()
