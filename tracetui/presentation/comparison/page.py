"""What every page of a comparison is: lines that lead to slices of both sides."""

from dataclasses import dataclass
from typing import Protocol

from tracetui.model.arrays import NO_ID
from tracetui.presentation.lit import Span, lit_spans


@dataclass(frozen=True, slots=True)
class PageLine:
    """One line, laid out for a width."""

    text: str
    baseline_id: int = NO_ID
    """The slice of the baseline that shows it, or ``NO_ID``."""
    candidate_id: int = NO_ID
    match: int = NO_ID
    """The match it tells of, by its place in the comparison, or ``NO_ID``."""
    work_class: int | None = None
    """Colours the line as the class of work; ``None`` leaves it plain."""

    @property
    def lit(self) -> tuple[Span, ...]:
        """Return which letters are lit."""
        return lit_spans(self.text)


class Page(Protocol):
    """Lines that are laid out when they come into the window."""

    def n_lines(self, width: int) -> int:
        """Return how many lines there are at a width."""
        ...

    def line(self, row: int, width: int) -> PageLine:
        """Return one line."""
        ...

    def titles(self, width: int) -> str:
        """Return the column titles, or nothing."""
        ...

    def details(self, row: int, width: int) -> list[str]:
        """Return all that is known of a line."""
        ...

    def row_of_match(self, match: int, width: int) -> int | None:
        """Return the first line that tells of a match."""
        ...
