"""The tabs of the main screen."""

from typing import Final

from tracetui.ui.views.base import View
from tracetui.ui.views.overview import OverviewView
from tracetui.ui.views.plain import PlainKernelsView, PlainOperatorsView
from tracetui.ui.views.timeline import TimelineView

VIEWS: Final[tuple[type[View], ...]] = (
    OverviewView,
    TimelineView,
    PlainOperatorsView,
    PlainKernelsView,
)
"""In the order of their keys, from 1."""
