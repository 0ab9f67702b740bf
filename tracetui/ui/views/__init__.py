"""The tabs of the main screen."""

from typing import Final

from tracetui.ui.views.base import View
from tracetui.ui.views.compare import CompareView
from tracetui.ui.views.findings import FindingsView
from tracetui.ui.views.kernels import KernelsView
from tracetui.ui.views.memory import MemoryView
from tracetui.ui.views.operators import OperatorsView
from tracetui.ui.views.overview import OverviewView
from tracetui.ui.views.roofline import RooflineView
from tracetui.ui.views.scoreboard import ScoreboardView
from tracetui.ui.views.timeline import TimelineView

VIEWS: Final[tuple[type[View], ...]] = (
    OverviewView,
    TimelineView,
    OperatorsView,
    KernelsView,
    CompareView,
    ScoreboardView,
    FindingsView,
    RooflineView,
    MemoryView,
)
"""In the order of their keys."""
