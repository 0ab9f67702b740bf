"""What every rule owes the rest; the cases are taken from the registry."""

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import SHARED
from tests.golden.recordings import SKIPPED_WITHOUT
from tests.healthy import healthy_trace
from tracetui.diagnosis.engine import checked
from tracetui.diagnosis.finding import Rule
from tracetui.diagnosis.rules import RULES
from tracetui.model.trace import Trace
from tracetui.readers import read_trace

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "sample_traces").glob("*.json.gz"))
RECORDINGS = sorted((SHARED / "traces").glob("*.json*")) + sorted(
    (SHARED / "torch-oracle").glob("*.pt.trace.json")
)

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def _assert_sound(trace: Trace, rule: Rule) -> None:
    result = checked(trace, (rule,))
    assert not [each for each in result.abstained if each.reason.startswith("failed")]
    for found in result.found:
        assert found.rule == rule.name
        for text in (found.summary, found.change):
            assert len(text.split()) >= 5, "a whole sentence"
            assert not text.endswith((".", ",", " ")), "the screen ends the sentence"
            assert "None" not in text
            assert "nan" not in text.split()
        assert found.change[0].isupper()
        assert any(letter.isdigit() for letter in found.summary), "a finding has its figure"
        assert len(found.slices), "a finding has evidence"
        assert len(np.unique(found.slices)) == len(found.slices)
        assert found.slices.min() >= 0
        assert found.slices.max() < len(trace.slices)
        assert (np.diff(trace.slices.ts_ns[found.slices]) >= 0).all()
        if found.saving is not None:
            assert found.saving.how
            assert found.gain_ns is not None
            assert (found.saving.saved_ns >= 0).all()
            assert (found.saving.saved_ns <= found.saving.end_ns - found.saving.start_ns).all()


@each_rule
def test_a_healthy_trace_gives_none(rule: Rule):
    assert not checked(healthy_trace(), (rule,)).found


@each_rule
def test_thresholds_are_fields_of_a_frozen_value(rule: Rule):
    assert {"name", "about", "needs"} <= {field.name for field in fields(rule)}  # type: ignore[arg-type] # every rule is a dataclass
    with pytest.raises(FrozenInstanceError):
        rule.name = "other"  # type: ignore[misc] # that it cannot be set is what is tested


@each_rule
def test_the_readme_names_it(rule: Rule):
    text = (ROOT / "README.md").read_text()
    assert f"| `{rule.name}` | {rule.about} |" in text


def test_names_are_different():
    assert len({rule.name for rule in RULES}) == len(RULES)


@each_rule
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_on_the_samples_it_is_sound(rule: Rule, path: Path):
    _assert_sound(read_trace(path, use_cache=False), rule)


@SKIPPED_WITHOUT
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_on_real_recordings_all_are_sound(path: Path):
    trace = read_trace(path, use_cache=False)
    for rule in RULES:
        _assert_sound(trace, rule)
