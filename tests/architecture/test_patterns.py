"""PATTERNS.md names every rule, and none that there is not."""

import re
from pathlib import Path

from tracetui.diagnosis.rules import RULES

PATTERNS = Path(__file__).parents[2] / "tracetui/diagnosis/PATTERNS.md"


def test_the_patterns_name_the_rules():
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+|recompilation)`", PATTERNS.read_text()))
    assert named == {rule.name for rule in RULES}
