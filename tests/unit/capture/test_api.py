"""``tracetui.record`` and ``tracetui.step``: what they cost, refuse and write."""

import base64
import gzip
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tracetui
from tracetui.errors import CaptureError

ROOT = Path(__file__).resolve().parents[3]


def python(folder, source):
    """Run a program in a Python of its own: a profiler leaves its mark on a process."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "KINETO_LOG_LEVEL": "6"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def names(path):
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    slices = sorted((e for e in events if e.get("ph") == "X"), key=lambda event: event["ts"])
    return [event["name"] for event in slices]


def test_importing_the_package_loads_neither_torch_nor_a_screen_nor_numpy(tmp_path):
    done = python(
        tmp_path,
        """
        import sys
        import tracetui
        tracetui.step()
        assert tracetui.record and tracetui.step
        print(sorted({"torch", "textual", "rich", "numpy", "pandas"} & set(sys.modules)))
        """,
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_open_returns_the_trace_of_a_file():
    trace = tracetui.open(ROOT / "sample_traces" / "mlp_eager.json.gz")

    assert "aten::mm" in list(trace.names)
    assert len(repr(trace)) < 200
    assert "mlp_eager.json.gz" in repr(trace)


def test_what_the_package_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tracetui.nothing
    assert {"open", "record", "step"} <= set(dir(tracetui))


@pytest.mark.parametrize(
    ("name", "options"),
    [("a/b", {}), ("", {}), ("x", {"steps": 0}), ("x", {"steps": -1}), ("x", {"start_after": -1})],
)
def test_a_recording_that_cannot_be_is_refused_before_anything_runs(name, options):
    with pytest.raises(CaptureError):
        tracetui.record(name, **options)


@pytest.mark.torch
def test_blocks_windows_functions_and_exceptions_each_leave_their_trace(tmp_path):
    done = python(
        tmp_path,
        """
        import tracetui, torch

        with tracetui.record("block") as recording:
            for _ in range(3):
                torch.ones(3).cumsum(0)
                recording.step()
        print(recording.path, recording.notes)

        with tracetui.record("whole") as recording:
            torch.ones(3).cumsum(0)

        with tracetui.record("window", steps=2, start_after=4, folder="own") as recording:
            for _ in range(9):
                torch.ones(3).cumsum(0)
                tracetui.step()
        print(recording.path)

        @tracetui.record("function")
        def double(x):
            '''Doubled.'''
            return x * 2

        print(double.__doc__, [float(double(torch.ones(()))) for _ in range(8)][-1])

        try:
            with tracetui.record("failing"):
                torch.ones(3).cumsum(0)
                raise ValueError("mine")
        except ValueError as error:
            print(error)

        with tracetui.record("block"):
            pass

        @tracetui.record("short", start_after=0)
        def once(x):
            return x.cumsum(0)

        once(torch.ones(3))
        """,
    )

    assert [line.partition("Warning: ")[2] for line in done.stderr.splitlines()] == [
        "tracetui: the script made 1 of the 3 steps to record"
    ]
    assert done.stdout.splitlines() == [
        "traces/block.json.gz ()",
        "own/window.json.gz",
        "Doubled. 2.0",
        "mine",
    ]
    traces = tmp_path / "traces"
    block = names(traces / "block.json.gz")
    assert [each for each in block if each.startswith("ProfilerStep")] == [
        "ProfilerStep#0",
        "ProfilerStep#1",
        "ProfilerStep#2",
    ]
    assert block.count("aten::cumsum") == 3
    assert names(traces / "whole.json.gz").count("ProfilerStep#0") == 1

    window = names(tmp_path / "own" / "window.json.gz")
    assert window.count("aten::cumsum") == 2
    assert {"ProfilerStep#4", "ProfilerStep#5"} <= set(window)

    function = names(traces / "function.json.gz")
    assert function.count("function") == function.count("aten::mul") == 3

    assert "aten::cumsum" in names(traces / "failing.json.gz")
    assert (traces / "block_2.json.gz").exists()
    # The program ended before the third call: what there was is kept.
    assert names(traces / "short.json.gz").count("short") == 1


@pytest.mark.torch
def test_steps_before_the_window_are_timed_and_travel_with_the_trace(tmp_path):
    python(
        tmp_path,
        """
        import tracetui, torch
        with tracetui.record("timed", steps=1, start_after=6) as recording:
            for _ in range(8):
                torch.ones(3).cumsum(0)
                recording.step()
        """,
    )

    with gzip.open(tmp_path / "traces" / "timed.json.gz") as file:
        metadata = json.loads(base64.b64decode(json.load(file)["tracetui"]))
    # Six pass: the first is cold, in the sixth the profiler is prepared.
    assert len(metadata["timing"]["runs_ns"]) == 4
    assert (metadata["workload"], metadata["steps"]) == ("timed", 1)


@pytest.mark.torch
def test_a_recording_inside_another_profiler_warns_and_leaves_it_alone(tmp_path):
    done = python(
        tmp_path,
        """
        import tracetui, torch
        from torch.profiler import profile
        with profile() as outer:
            with tracetui.record("inner") as recording:
                torch.ones(3).cumsum(0)
        print(sum(event.name == "aten::cumsum" for event in outer.events()), recording.path)
        """,
    )

    assert done.stdout == "1 None\n"
    assert "nothing was recorded: a torch profiler already runs" in done.stderr


@pytest.mark.torch
def test_under_tracetui_run_a_recording_is_an_annotation_in_that_of_the_run(tmp_path):
    (tmp_path / "script.py").write_text(
        textwrap.dedent(
            """
            import torch
            import tracetui
            @tracetui.record("double")
            def double(x):
                return x * 2
            with tracetui.record("loop") as recording:
                for _ in range(3):
                    double(torch.ones(3))
                    recording.step()
            print(recording.path)
            """
        )
    )

    done = python(tmp_path, "from tracetui.cli.main import main; main(['run', 'script.py'])")

    assert done.stdout == "None\n"
    found = names(tmp_path / "traces" / "script.json.gz")
    assert found.count("loop") == 1
    assert found.count("double") == 3
    assert [path.name for path in (tmp_path / "traces").iterdir()] == ["script.json.gz"]
