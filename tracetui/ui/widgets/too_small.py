"""What stands on a terminal that is too small for anything else."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import RenderResult
from textual.widget import Widget

LEAST_WIDTH: Final = 40
LEAST_HEIGHT: Final = 10


class TooSmall(Widget):
    """Covers its screen while the terminal is smaller than ``LEAST_WIDTH`` x ``LEAST_HEIGHT``.

    What it covers keeps the focus, so that a larger terminal goes on where the smaller one was.
    """

    DEFAULT_CSS: ClassVar[str] = """
    TooSmall {
        layer: above; position: absolute; width: 100%; height: 100%; display: none;
        background: $background;
    }
    """

    def fit(self, width: int, height: int) -> None:
        """Cover the screen of a terminal of this size, or not."""
        self.display = 0 < width < LEAST_WIDTH or 0 < height < LEAST_HEIGHT
        self.refresh()

    def render(self) -> RenderResult:
        """Say how large is large enough."""
        size = self.app.size
        return Text(
            f"tracetui needs at least {LEAST_WIDTH} x {LEAST_HEIGHT}; this terminal has "
            f"{size.width} x {size.height}"
        )
