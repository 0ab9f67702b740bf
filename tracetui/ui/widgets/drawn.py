"""What the widgets have in common that draw their lines themselves: one style, one layout for each size.

Beside another kind of widget these come second: Textual takes the style sheet of the first base alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget


class SizedWidget(Widget):
    """Knows whether it is laid out for its size.

    One that is shown again is told its size again, and a new layout would be a second picture; but what
    was laid out while it was hidden was laid out for no size at all.
    """

    _laid_out: Size | None = None

    @property
    def is_laid_out(self) -> bool:
        """Return whether what is shown was laid out for the size that the widget has."""
        return self._laid_out == self.size

    def note_layout(self) -> None:
        """Note that what is shown is laid out for the size of this moment."""
        self._laid_out = self.size


class DrawnWidget(SizedWidget):
    """Looks its style up once for a picture.

    It is gathered from every ancestor, which for each segment cost more than the drawing.
    """

    _style_of_picture: Style | None = None

    @property
    def rich_style(self) -> Style:
        """Return the widget's own style."""
        return self._style_of_picture or super().rich_style

    @contextmanager
    def one_style(self) -> Iterator[None]:
        """Keep the style for as long as one picture takes."""
        before, self._style_of_picture = self._style_of_picture, self.rich_style
        try:
            yield
        finally:
            self._style_of_picture = before

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the lines that are asked for in one style."""
        with self.one_style():
            return super().render_lines(crop)
