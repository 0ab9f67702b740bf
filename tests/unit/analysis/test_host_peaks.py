"""Rates measured on this machine; the clock is ours where a figure is checked."""

from collections.abc import Callable, Iterator

import pytest

from tracetui.analysis.host_peaks import best_rate, given_rates, measured_peaks


def clock_of(*spans_ns: int) -> Callable[[], int]:
    """Return a clock that lets so much pass between each pair of its readings."""

    def readings() -> Iterator[int]:
        now = 0
        for span in spans_ns:
            yield now
            now += span
            yield now

    steps = readings()
    return lambda: next(steps)


def test_the_fastest_run_counts_and_the_first_only_warms_up():
    runs: list[int] = []

    rate = best_rate(lambda: runs.append(1), 1000, clock_of(500, 200, 300))

    assert rate == 1000 / 200e-9
    assert len(runs) == 4


def test_a_clock_that_stands_still_divides_nothing_by_zero():
    assert best_rate(lambda: None, 10, clock_of(0, 0, 0)) == 10e9


def test_a_measured_host_has_every_roof_and_says_where_from():
    peaks = measured_peaks(side=64, n_bytes=1 << 16)

    assert peaks.flop_per_s("fp32", is_matrix=True) == peaks.vector["fp32"]
    assert peaks.vector["fp32"] > 0
    assert peaks.bytes_per_s is not None
    assert peaks.bytes_per_s > 0
    assert "measured" in peaks.source
    assert peaks.flop_per_s("bf16", is_matrix=True) is None


def test_rates_are_given_or_measured(monkeypatch: pytest.MonkeyPatch):
    small = measured_peaks(side=32, n_bytes=1 << 12)
    monkeypatch.setattr("tracetui.analysis.host_peaks.measured_peaks", lambda: small)

    assert given_rates("bf16=1e12") == {"bf16": 1e12}
    assert given_rates(" host ") == {**small.vector, "bw": small.bytes_per_s}
    with pytest.raises(ValueError, match="wanted"):
        given_rates("hosts")
