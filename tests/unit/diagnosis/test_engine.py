from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tests.literal import kernel, trace_of
from tracetui.diagnosis.engine import Abstention, checked, findings
from tracetui.diagnosis.finding import Finding, Saving, Severity
from tracetui.diagnosis.needs import DEVICE_WORK, Need
from tracetui.diagnosis.rules import RULES
from tracetui.diagnosis.rules.tensor_cores_lost import TensorCoresLost
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Says:
    """A rule that always finds the first slice."""

    name: str
    gain_ns: int | None
    severity: Severity = Severity.LOW
    about: str = "a test"
    needs: tuple[Need, ...] = ()

    def check(self, trace: Trace) -> Iterator[Finding]:
        where = np.array([0], np.int64)
        saving = None
        if self.gain_ns is not None:
            saving = Saving(where, where + 1_000, where + self.gain_ns, "by hand")
        yield Finding(self.name, self.severity, "Something is wrong", where, "Change it", saving)


@dataclass(frozen=True, slots=True)
class Fails:
    """A rule with a fault: it finds one thing and then raises."""

    name: str = "fails"
    about: str = "a test"
    needs: tuple[Need, ...] = ()

    def check(self, trace: Trace) -> Iterator[Finding]:
        yield from Says("found-before", 5).check(trace)
        raise ZeroDivisionError("by nothing")


_TRACE = trace_of(("aten::mm", 0, 1_000))


def test_the_graver_comes_first_then_what_saves_more():
    rules = (
        Says("unknown", None, Severity.MEDIUM),
        Says("small", 10, Severity.HIGH),
        Says("grave", None, Severity.HIGH),
        Says("slight", 5),
        Says("large", 500, Severity.HIGH),
    )

    found = checked(_TRACE, rules).found
    assert [each.rule for each in found] == ["large", "small", "grave", "unknown", "slight"]


def test_a_rule_that_fails_is_reported_and_the_others_are_heard():
    result = checked(_TRACE, (Says("first", 1), Fails(), Says("last", 2)))

    assert [each.rule for each in result.found] == ["found-before", "last", "first"]
    assert result.abstained == (Abstention("fails", "failed: ZeroDivisionError: by nothing", ""),)
    assert result.n_rules == 3


def test_what_a_rule_lacks_is_said_with_the_flag():
    result = checked(_TRACE, (Says("needy", 1, needs=(DEVICE_WORK,)),))

    assert not result.found
    assert result.abstained == (Abstention("needy", "no device activity", "ProfilerActivity.CUDA"),)


def test_a_device_of_unknown_generation_is_not_judged_for_its_tensor_cores():
    known = trace_of(kernel("ampere_sgemm_128x64_nn", 0, 10))
    unknown = trace_of(kernel("my_kernel", 0, 10))

    assert not checked(known, (TensorCoresLost(),)).abstained
    (abstained,) = checked(unknown, (TensorCoresLost(),)).abstained
    assert abstained.reason.startswith("no generation of the device")


def test_all_rules_are_asked_and_an_empty_trace_is_no_trouble():
    result = findings(trace_of())

    assert result.n_rules == len(RULES)
    assert not result.found
    assert not [each for each in result.abstained if each.reason.startswith("failed")]
