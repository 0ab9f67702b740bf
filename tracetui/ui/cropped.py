"""An update of a part of the screen that begins where the part begins."""

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate


class CroppedUpdate(ChopsUpdate):
    """Cuts on both sides; Textual cuts at the right alone and sends a widget's line from its beginning."""

    def render_segments(self, console: Console) -> str:
        """Return the text, with escape sequences, that draws the update."""
        pieces: list[str] = []
        for y, left, right in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=True):
                start, after = max(x, left), min(end, right)
                if strip is None or start >= after:
                    continue
                pieces.append(Control.move_to(start, y).segment.text)
                pieces.append(strip.crop(start - x, after - x).render(console))
        return "".join(pieces)
