"""The rules, in the order in which they are tried; each is one module and knows no other."""

from typing import Final

from tracetui.diagnosis.finding import Rule
from tracetui.diagnosis.rules.cold_step import ColdStep
from tracetui.diagnosis.rules.hidden_copy import HiddenCopy

RULES: Final[tuple[Rule, ...]] = (
    HiddenCopy(),
    ColdStep(),
)
