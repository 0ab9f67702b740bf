"""The operators and the kernels as plain lists."""

from dataclasses import replace
from typing import ClassVar

from tracetui.model.trace import Trace
from tracetui.presentation.overview import OverviewLine, kernel_lines, operator_lines
from tracetui.ui.views.overview import OverviewView


def _leading_to_timeline(lines: tuple[OverviewLine, ...]) -> tuple[OverviewLine, ...]:
    return tuple(replace(line, view="timeline") if line.view else line for line in lines)


class PlainOperatorsView(OverviewView):
    """Every operator and annotation, the costliest first."""

    name_id: ClassVar[str] = "operators"
    title_text: ClassVar[str] = "Operators"
    short_title: ClassVar[str] = "Ops"

    def lines_of(self, trace: Trace, width: int, *, ascii_only: bool) -> tuple[OverviewLine, ...]:
        """Return the operators."""
        del ascii_only
        return _leading_to_timeline(operator_lines(trace, width))


class PlainKernelsView(OverviewView):
    """Every kernel, the costliest first."""

    name_id: ClassVar[str] = "kernels"
    title_text: ClassVar[str] = "Kernels"
    short_title: ClassVar[str] = "Kern"

    def lines_of(self, trace: Trace, width: int, *, ascii_only: bool) -> tuple[OverviewLine, ...]:
        """Return the kernels."""
        del ascii_only
        return _leading_to_timeline(kernel_lines(trace, width))
