"""A capture's events gathered to lines, without a process."""

from typing import Any

from tracetui.capture.spec import CaptureSpec
from tracetui.presentation.capture_live import LiveCapture
from tracetui.presentation.comparison.scores import Awaited

EQUAL = {"is_equal": True, "norm_relative_error": 4.2e-7, "reference": "eager in fp64"}


def _of(variant: str, **swept: Any) -> dict[str, Any]:
    return {"variant": variant, "point": swept, "swept": swept}


def _stage(variant: str, stage: str, **members: Any) -> dict[str, Any]:
    return {"event": "stage", "stage": stage, "left_s": 20.0, **_of(variant), **members}


def _finished(variant: str, repeat: int = 0, **members: Any) -> dict[str, Any]:
    return {
        "event": "finished",
        **_of(variant),
        "repeat": repeat,
        "path": f"/t/mlp_{variant}_r{repeat + 1}.json.gz",
        "median_ns": 1_500_000,
        "p10_ns": 1_400_000,
        "p90_ns": 1_700_000,
        "equality": EQUAL,
        **members,
    }


def _live(repeats: int = 1) -> LiveCapture:
    return LiveCapture(CaptureSpec("mlp", "t", repeats=repeats), ("eager", "compiled", "liger"))


def _lines(live: LiveCapture) -> list[str]:
    return [live.line(row, 100) for row in range(len(live.rows))]


def test_before_the_first_event_all_wait():
    live = _live()

    assert live.summary == "0 of 3 traces complete · starting torch"
    assert [line.split() for line in _lines(live)] == [
        ["·", name, "waits", "for", "its", "turn"] for name in ("eager", "compiled", "liger")
    ]


def test_each_variant_says_what_it_does_and_only_one_does_something():
    live = _live(repeats=2)
    live.take(_stage("eager", "checking"))
    live.take({"event": "prepared", **_of("eager"), "equality": EQUAL, "first_run_ns": 5_000_000})
    live.take(_stage("compiled", "compiling"))

    assert live.summary == "0 of 6 traces complete · compiled: compiling · about 20 s left"
    eager, compiled, _ = _lines(live)
    assert "equal (4.2e-07 of eager in fp64) · first run 5.000 ms, waits for its turn" in eager
    assert compiled.split() == ["▸", "compiled", "compiling"]

    live.take(_stage("eager", "timing", repeat=1, round=2))
    assert _lines(live)[0].split() == [
        "▸",
        "eager",
        "timing",
        "·",
        "repeat",
        "2",
        "of",
        "2",
        "·",
        "round",
        "3",
    ]
    assert _lines(live)[1].split()[0] == "·"


def test_a_result_has_median_spread_agreement_and_how_many_are_left():
    live = _live(repeats=2)
    live.take({"event": "prepared", **_of("eager"), "equality": EQUAL, "first_run_ns": 5_000_000})
    live.take(_finished("eager"))

    line = _lines(live)[0]
    assert line.split()[:4] == ["·", "eager", "1.500", "ms"]
    assert "1.400 ms to 1.700 ms · equal (4.2e-07 of eager in fp64) · 1 of 2 traces" in line
    live.take(_finished("eager", repeat=1))
    assert _lines(live)[0].split()[0] == "✓"
    assert live.paths == ["/t/mlp_eager_r1.json.gz", "/t/mlp_eager_r2.json.gz"]
    assert "/t/mlp_eager_r2.json.gz" in live.rows[0].details


def test_what_cannot_run_keeps_its_reason_and_is_counted_at_the_end():
    live = _live()
    unequal = {**EQUAL, "is_equal": False}
    live.take({"event": "unavailable", **_of("liger"), "reason": "ImportError: no\x1b[31m package"})
    assert live.summary.startswith("0 of 2 traces complete")
    live.take({"event": "prepared", **_of("compiled"), "equality": unequal, "first_run_ns": 5})
    live.take(_finished("compiled"))
    live.take({"event": "note", **_of("compiled"), "note": "the clock changed"})
    live.take({"event": "done", "session": "s", "traces": 1})

    assert live.is_over
    assert live.is_whole
    assert live.summary == (
        "Done: 1 trace is complete, 1 could not run, 1 NOT EQUAL to the reference"
    )
    assert "cannot run: ImportError: no" in _lines(live)[2]
    assert "\x1b" not in _lines(live)[2]
    assert "the clock changed" in live.rows[1].details
    assert "NOT EQUAL" in live.text(100)


def test_how_it_ended():
    stopped, failed, nothing = _live(), _live(), _live()
    stopped.take(_finished("eager"))
    stopped.is_stopping = True
    assert "stopping" in stopped.summary
    stopped.take({"event": "failed", "reason": "interrupted"})
    failed.take(_stage("eager", "building"))
    failed.take({"event": "failed", "reason": "/t: cannot write there: no space left on device"})
    nothing.take({"event": "done", "session": "s", "traces": 0})

    assert stopped.summary == "Stopped: 1 trace is complete"
    assert "no trace was made" in _lines(stopped)[1]
    assert "waits" not in stopped.text(100)
    assert failed.summary.startswith("Failed: /t: cannot write there: no space left on device")
    assert nothing.summary == "No variant could run: 0 traces are complete"
    assert not any(each.is_whole for each in (stopped, failed, nothing))
    assert not any(row.stage for row in failed.rows)


def test_swept_parameters_have_rows_of_their_own():
    spec = CaptureSpec("mlp", "t", settings=(("seq", (512, 1024)), ("dim", (8,))))
    live = LiveCapture(spec, ("eager",))

    assert [row.name for row in live.rows] == ["eager seq=512", "eager seq=1024"]
    live.take({**_finished("eager"), "swept": {"seq": 1024}})
    assert [row.mark for row in live.rows] == ["·", "✓"]


def test_variants_of_ones_own_file_are_known_when_it_starts():
    live = LiveCapture(CaptureSpec("/m/mine.py:build", "t"))
    assert live.rows == []
    assert live.summary == "0 traces are complete · starting torch"

    live.take({"event": "started", "variants": ["slow", "fast"], "points": [{}]})
    live.take({"event": "started", "variants": ["slow", "fast"], "points": [{}]})
    assert [row.name for row in live.rows] == ["slow", "fast"]


def test_the_scoreboard_is_owed_what_runs_what_waits_and_what_cannot_run():
    live = _live()
    live.take(_stage("eager", "timing", repeat=0, round=1))
    live.take({"event": "unavailable", **_of("liger"), "reason": "no liger_kernel"})

    assert list(live.awaited) == [
        Awaited("mlp_eager", "running: timing · round 2", is_coming=True),
        Awaited("mlp_compiled", "waits for its turn", is_coming=True),
        Awaited("mlp_liger", "cannot run: no liger_kernel", is_coming=False),
    ]

    live.take(_finished("eager"))
    live.take({"event": "failed", "reason": "interrupted", "traces": 1})

    assert list(live.awaited) == [
        Awaited("mlp_compiled", "no trace was made", is_coming=False),
        Awaited("mlp_liger", "cannot run: no liger_kernel", is_coming=False),
    ]


def test_a_variant_is_owed_until_its_last_repeat_and_named_by_its_size():
    spec = CaptureSpec("mlp", "t", repeats=2, settings=(("dim", (8, 16)),))
    live = LiveCapture(spec, ("eager",))
    live.take({**_finished("eager"), **_of("eager", dim=8)})

    assert [each.name for each in live.awaited] == ["mlp_eager_dim8", "mlp_eager_dim16"]

    live.take({**_finished("eager", repeat=1), **_of("eager", dim=8)})

    assert [each.name for each in live.awaited] == ["mlp_eager_dim16"]
