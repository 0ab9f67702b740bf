"""``tracetui run`` from outside: the script stays itself, and its trace says what it did."""

import base64
import contextlib
import gzip
import json
import os
import pty
import re
import signal
import subprocess
import sys
import sysconfig
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch

TRAIN = """
    import sys
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(int(sys.argv[1])):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
"""
ENDLESS = """
    import time
    import torch
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    try:
        for number in range(1_000_000):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            if number == 3:
                print("ready", flush=True)
            time.sleep(0.001)
    finally:
        print("cleaned up", flush=True)
"""


@dataclass
class Ran:
    """What a finished command left behind."""

    status: int
    out: str
    err: str
    folder: Path

    @property
    def traces(self) -> list[str]:
        folder = self.folder / "traces"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def trace(self, name: str) -> dict[str, Any]:
        with gzip.open(self.folder / "traces" / name) as file:
            loaded: dict[str, Any] = json.load(file)
        return loaded

    def names(self, name: str) -> list[str]:
        events = [event for event in self.trace(name)["traceEvents"] if event.get("ph") == "X"]
        return [str(event["name"]) for event in sorted(events, key=lambda event: event["ts"])]

    def steps(self, name: str) -> list[str]:
        return [each for each in self.names(name) if re.fullmatch(r"ProfilerStep#\d+", each)]

    def metadata(self, name: str) -> dict[str, Any]:
        decoded: dict[str, Any] = json.loads(base64.b64decode(self.trace(name)["tracetui"]))
        return decoded


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tracetui", "run", *arguments]


def environment(**extra: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("VIRTUAL_ENV", "CONDA_PREFIX", "RANK")
    }
    root = str(Path(__file__).resolve().parents[2])
    return {**kept, "PYTHONPATH": root, **extra}


def write(folder: Path, source: str, name: str = "script.py") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source), encoding="utf-8")


def run(folder: Path, *arguments: str, **extra: str) -> Ran:
    done = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(**extra),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr, folder)


def run_and_send(folder: Path, signals: list[signal.Signals], *arguments: str) -> Ran:
    """Send signals to the command alone once the script is ready, then wait for its end."""
    with subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        for number in signals:
            process.send_signal(number)
        out, err = process.communicate(timeout=300)
        return Ran(process.returncode, line + out, err, folder)


def test_a_whole_run_keeps_output_arguments_and_exit_status_and_marks_each_step(tmp_path):
    write(tmp_path, TRAIN + "    print(sys.argv, __name__)\n    sys.exit(3)\n")

    ran = run(tmp_path, "script.py", "4", "--", "--out")

    assert ran.status == 3
    assert ran.out == "['script.py', '4', '--', '--out'] __main__\n"
    assert ran.err.splitlines() == [
        (
            "tracetui: traces/script.json.gz: 4 steps, none timed without the profiler;"
            " open it: tracetui traces/script.json.gz"
        )
    ]
    assert ran.steps("script.json.gz") == [f"ProfilerStep#{number}" for number in range(4)]
    assert ran.names("script.json.gz").count("Optimizer.step#SGD.step") == 4


def test_what_follows_the_last_step_is_no_step(tmp_path):
    write(tmp_path, TRAIN + "    torch.ones(3).cumsum(0)\n")

    ran = run(tmp_path, "script.py", "2")

    names = ran.names("script.json.gz")
    assert names.index("Outside step#2") < names.index("aten::cumsum")
    assert ran.metadata("script.json.gz")["steps"] == 2


def test_a_window_is_timed_before_it_is_recorded(tmp_path):
    write(tmp_path, TRAIN)

    ran = run(tmp_path, "--steps", "3", "script.py", "30")

    metadata = ran.metadata("script.json.gz")
    timing = metadata["timing"]
    # One cold step, ten timed, one in which the profiler is prepared: the first recorded is #12.
    assert ran.steps("script.json.gz") == ["ProfilerStep#12", "ProfilerStep#13", "ProfilerStep#14"]
    assert len(timing["runs_ns"]) == 10
    assert min(timing["runs_ns"]) <= timing["p10_ns"] <= timing["median_ns"] <= timing["p90_ns"]
    assert metadata["boundary"] == "optimizer"
    assert "3 steps, median " in ran.err
    assert "(10 timed, p10 " in ran.err


def test_a_module_of_a_package_runs_with_the_current_folder_on_its_path(tmp_path):
    write(tmp_path, "", "pack/__init__.py")
    write(tmp_path, "VALUE = 5", "beside.py")
    write(
        tmp_path,
        """
        import sys
        import torch
        import beside
        from . import __name__ as package
        print(package, beside.VALUE, sys.argv[1:])
        torch.ones(2)
        """,
        "pack/__main__.py",
    )

    ran = run(tmp_path, "-m", "pack", "a")

    assert (ran.status, ran.out) == (0, "pack 5 ['a']\n")
    assert ran.traces == ["pack.json.gz"]


def test_an_exception_in_the_middle_of_a_step_prints_its_own_traceback_and_leaves_a_trace(tmp_path):
    write(
        tmp_path,
        """
        import torch
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for number in range(9):
            model(torch.ones(1, 2)).sum().backward()
            if number == 2:
                raise ValueError("boom")
            optimizer.step()
        """,
    )
    alone = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    ran = run(tmp_path, "script.py")

    assert ran.status == alone.returncode == 1
    assert ran.err.startswith(alone.stderr)
    assert len(ran.err.splitlines()) == len(alone.stderr.splitlines()) + 1
    assert ran.steps("script.json.gz") == ["ProfilerStep#0", "ProfilerStep#1"]


def test_a_syntax_error_looks_as_python_shows_it(tmp_path):
    write(tmp_path, "import torch\nprint('hi'\n")
    alone = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    ran = run(tmp_path, "script.py")

    assert ran.status == 1
    assert ran.err.startswith(alone.stderr)
    assert ran.traces == []


def test_an_import_error_of_the_script_is_its_own(tmp_path):
    write(tmp_path, "import torch, no_such_module_here\n")

    ran = run(tmp_path, "script.py")

    assert ran.status == 1
    assert "ModuleNotFoundError: No module named 'no_such_module_here'" in ran.err
    assert "tracetui/capture" not in ran.err


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl+c", "SIGTERM"]
)
def test_a_signal_ends_the_script_cleanly_and_the_trace_is_written(tmp_path, number, status):
    write(tmp_path, ENDLESS)

    ran = run_and_send(tmp_path, [number], "script.py")

    assert ran.status == status
    assert ran.out == "ready\ncleaned up\n"
    assert len(ran.steps("script.json.gz")) >= 4


def test_a_script_whose_parent_is_killed_still_writes_its_trace(tmp_path):
    write(tmp_path, ENDLESS)

    # Its streams stay open until the script has ended too.
    ran = run_and_send(tmp_path, [signal.SIGKILL], "script.py")

    assert ran.status == -signal.SIGKILL
    assert ran.out == "ready\ncleaned up\n"
    assert ran.steps("script.json.gz")


def test_a_signal_starts_the_window_which_ends_after_its_steps(tmp_path):
    write(
        tmp_path,
        ENDLESS.replace("1_000_000", "400").replace("number == 3", "number == 40"),
    )

    ran = run_and_send(tmp_path, [signal.SIGUSR2], "--on-signal", "--steps", "2", "script.py")

    assert ran.status == 0
    first, second = (int(name.partition("#")[2]) for name in ran.steps("script.json.gz"))
    assert second == first + 1 > 40
    assert len(ran.metadata("script.json.gz")["timing"]["runs_ns"]) == 10


def test_enter_on_the_terminal_starts_the_window_and_ctrl_c_still_ends_the_script(tmp_path):
    write(tmp_path, ENDLESS)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execve(sys.executable, command("--on-key", "--steps", "2", "script.py"), environment())

    shown = b""
    for key in (b"\n", b"\x03"):
        # The second key comes when the file is there, with the script still running.
        mark = b"ready" if key == b"\n" else None
        while mark is not None and mark not in shown:
            shown += os.read(terminal, 4096)
        while mark is None and not any((tmp_path / "traces").glob("script.json.gz")):
            time.sleep(0.05)
        os.write(terminal, key)
    with contextlib.suppress(OSError):  # the terminal's end, once the script has gone
        while block := os.read(terminal, 4096):
            shown += block

    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    assert b"traces/script.json.gz: 2 steps, median " in shown


def test_a_duration_ends_the_recording_while_the_script_goes_on(tmp_path):
    write(tmp_path, ENDLESS.replace("1_000_000", "1500"))

    ran = run(tmp_path, "--duration", "0.2", "--start-after", "3", "script.py")

    assert ran.status == 0
    assert 1 <= len(ran.steps("script.json.gz")) < 1400


def test_an_explicit_step_takes_over_from_the_optimizer(tmp_path):
    write(
        tmp_path,
        """
        import torch
        import tracetui
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(20):
            for _ in range(2):
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            tracetui.step()
        """,
    )

    ran = run(tmp_path, "--steps", "3", "--start-after", "4", "script.py")

    names = ran.names("script.json.gz")
    assert ran.metadata("script.json.gz")["boundary"] == "tracetui.step"
    assert ran.steps("script.json.gz") == ["ProfilerStep#4", "ProfilerStep#5", "ProfilerStep#6"]
    assert names.count("Optimizer.step#SGD.step") == 6


def test_a_step_begins_with_the_forward_of_a_module_and_every_module_can_be_marked(tmp_path):
    write(tmp_path, TRAIN)

    ran = run(
        tmp_path, "--step-module", "Sequential", "--modules", "--start-after", "2", "script.py", "5"
    )

    names = ran.names("script.json.gz")
    # The third forward begins the first recorded step, and the last one ends with the script.
    assert ran.steps("script.json.gz") == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]
    assert names.count("nn.Module: Sequential_0") == 3
    assert names.count("nn.Module: Linear_0") == names.count("nn.Module: Linear_1") == 3
    assert names.count("nn.Module: ReLU_0") == 3


def test_only_the_first_optimizer_bounds_steps(tmp_path):
    write(
        tmp_path,
        """
        import torch
        models = [torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)]
        optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
        for _ in range(3):
            for model, optimizer in zip(models, optimizers):
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
        """,
    )

    ran = run(tmp_path, "script.py")

    assert len(ran.steps("script.json.gz")) == 3


def test_threads_are_recorded_and_waited_for(tmp_path):
    write(
        tmp_path,
        """
        import threading, time
        import torch
        def work():
            time.sleep(0.2)
            torch.ones(3).cumsum(0)
        threading.Thread(target=work).start()
        """,
    )

    ran = run(tmp_path, "script.py")

    assert "aten::cumsum" in ran.names("script.json.gz")


def test_a_profiler_inside_the_script_keeps_its_result_and_ours_is_dropped(tmp_path):
    write(
        tmp_path,
        """
        import torch
        from torch.profiler import profile
        torch.ones(2).sum()
        with profile() as inner:
            torch.ones(3).cumsum(0)
        print(sum(event.name == "aten::cumsum" for event in inner.events()))
        """,
    )

    ran = run(tmp_path, "script.py")

    assert (ran.status, ran.out) == (0, "1\n")
    assert len(ran.err.splitlines()) == 1
    assert "another torch profiler was started inside the recording" in ran.err
    assert ran.traces == []


def test_a_profiler_that_already_runs_is_left_alone(tmp_path):
    write(
        tmp_path,
        """
        import torch, tracetui
        from torch.profiler import profile
        with profile() as inner:
            for _ in range(5):
                torch.ones(3).cumsum(0)
                tracetui.step()
        print(sum(event.name == "aten::cumsum" for event in inner.events()))
        """,
    )

    ran = run(tmp_path, "--steps", "1", "--start-after", "2", "script.py")

    assert (ran.status, ran.out) == (0, "5\n")
    assert "nothing was recorded: a torch profiler already runs" in ran.err


def test_leaving_at_once_keeps_its_status_and_its_trace(tmp_path):
    write(tmp_path, "import os, torch\ntorch.ones(2)\nos._exit(7)\n")

    ran = run(tmp_path, "script.py")

    assert ran.status == 7
    assert ran.err.splitlines() == [
        (
            "tracetui: traces/script.json.gz: no step was marked;"
            " open it: tracetui traces/script.json.gz"
        )
    ]
    assert "aten::ones" in ran.names("script.json.gz")


def test_what_a_script_did_before_it_became_another_program_is_kept(tmp_path):
    write(
        tmp_path,
        """
        import os, sys, torch
        torch.ones(2)
        other = "import signal; print(signal.getsignal(signal.SIGINT)); raise SystemExit(5)"
        os.execl(sys.executable, sys.executable, "-c", other)
        """,
    )

    ran = run(tmp_path, "script.py")

    assert ran.status == 5
    assert "default_int_handler" in ran.out  # ctrl+c still ends it
    became, written = ran.err.splitlines()
    assert became == (
        f"tracetui: the script became {sys.executable}: what that does is not recorded"
    )
    assert written.startswith("tracetui: traces/script.json.gz: ")
    assert "aten::ones" in ran.names("script.json.gz")


def test_what_a_forked_child_leaves_at_once_is_not_the_end(tmp_path):
    write(
        tmp_path,
        """
        import os, torch
        torch.ones(2)
        if (pid := os.fork()) == 0:
            os._exit(3)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        torch.ones(3).cumsum(0)
        """,
    )

    ran = run(tmp_path, "script.py")

    assert ran.out == "3\n"
    assert "aten::cumsum" in ran.names("script.json.gz")


def test_a_crash_is_named(tmp_path):
    write(tmp_path, "import os, signal, torch\nos.kill(os.getpid(), signal.SIGKILL)\n")

    ran = run(tmp_path, "script.py")

    assert ran.status == 128 + signal.SIGKILL
    assert ran.err == "tracetui: SIGKILL ended the script at once: what was recorded is lost\n"


def test_children_that_are_not_captured_are_counted_and_loaders_are_not(tmp_path):
    write(
        tmp_path,
        """
        import multiprocessing, os, subprocess, sys
        import torch
        from torch.utils.data import DataLoader
        def work():
            pass
        if __name__ == "__main__":
            list(DataLoader(list(range(4)), num_workers=1))
            subprocess.run([sys.executable, "-c", "pass"])
            subprocess.run(["true"])
            child = multiprocessing.get_context("fork").Process(target=work)
            child.start()
            child.join()
            print(child.exitcode)
            if (pid := os.fork()) == 0:
                os._exit(0)
            os.waitpid(pid, 0)
        """,
    )

    ran = run(tmp_path, "script.py")

    assert (ran.status, ran.out) == (0, "0\n")
    assert "3 child processes of the script were not captured" in ran.err


def test_each_rank_writes_its_own_file(tmp_path):
    write(tmp_path, TRAIN)

    ran = run(tmp_path, "script.py", "1", RANK="3")

    assert ran.traces == ["script_rank3.json.gz"]


def test_a_second_run_takes_nobodys_place(tmp_path):
    write(tmp_path, "import torch\ntorch.ones(2)\n")

    run(tmp_path, "script.py")
    ran = run(tmp_path, "script.py")

    assert ran.traces == ["script.json.gz", "script_2.json.gz"]


def test_a_full_disk_is_said_and_the_script_stands(tmp_path):
    # A limit on the size of files fails the same way, in the midst of the export.
    write(
        tmp_path,
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        + textwrap.dedent(TRAIN),
    )

    ran = run(tmp_path, "script.py", "20")

    assert ran.status == 0
    assert len(ran.err.splitlines()) == 1
    assert "bytes are free there" in ran.err
    assert ran.traces == []


def test_a_folder_that_cannot_be_made_is_said_before_the_script_runs(tmp_path):
    write(tmp_path, "print('ran')\n")
    (tmp_path / "taken").write_text("a file")

    ran = run(tmp_path, "--out", "taken/traces", "script.py")

    assert (ran.status, ran.out) == (2, "")
    assert ran.err == "tracetui: taken/traces: not a directory\n"


def test_a_script_that_is_over_before_the_window_says_how_to_begin_sooner(tmp_path):
    write(tmp_path, TRAIN)

    ran = run(tmp_path, "--steps", "3", "script.py", "4")

    assert ran.status == 0
    assert ran.err == (
        "tracetui: nothing was recorded: the script made 4 steps, and the recording would have"
        " begun after 12; --start-after 1 begins sooner\n"
    )


def test_fewer_steps_than_asked_for_are_kept_and_said(tmp_path):
    write(tmp_path, TRAIN)

    ran = run(tmp_path, "--steps", "10", "--start-after", "2", "script.py", "6")

    said, written = ran.err.splitlines()
    assert said == "tracetui: the script made 4 of the 10 steps to record after the first 2"
    assert written.startswith("tracetui: traces/script.json.gz: 4 steps, ")
    assert ran.steps("script.json.gz") == [f"ProfilerStep#{number}" for number in range(2, 6)]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((), "no optimizer made one and tracetui.step() was not called"),
        (("--step-explicit",), "tracetui.step() was not called"),
        (("--step-module", "Net"), "no forward of a Net was called"),
    ],
)
def test_steps_that_nobody_makes_are_said_with_what_would(tmp_path, options, why):
    write(tmp_path, "import torch\ntorch.ones(3).cumsum(0)\n")

    ran = run(tmp_path, "--steps", "3", *options, "script.py")

    assert (ran.status, ran.traces) == (0, [])
    assert ran.err == (
        f"tracetui: nothing was recorded: no step was seen, since {why}; name a module with"
        " --step-module, or leave --steps and --start-after out\n"
    )


def test_a_script_without_torch_is_left_as_it_is(tmp_path):
    write(tmp_path, "import sys\nsys.exit('bye')\n")

    ran = run(tmp_path, "script.py")

    assert ran.status == 1
    assert ran.err.splitlines() == [
        "bye",
        "tracetui: the script never imported torch: there was nothing to record",
    ]


def write_python(folder: Path, path_of_packages: str) -> str:
    """Write a Python that sees no installed package but those in one folder."""
    shim = folder / "python"
    shim.write_text(f'#!/bin/sh\nPYTHONPATH="{path_of_packages}" exec "{sys.executable}" -S "$@"\n')
    shim.chmod(0o755)
    return str(shim)


def test_a_python_without_torch_is_named(tmp_path):
    write(tmp_path, "import torch\n")
    python = write_python(tmp_path, "")

    ran = run(tmp_path, "--python", python, "script.py")

    assert ran.status == 2
    assert re.fullmatch(
        r"tracetui: \S+ has no torch: name a Python that has it with --python, or activate"
        r" its environment\n",
        ran.err,
    )


def test_the_scripts_python_needs_torch_and_not_tracetui_whose_modules_hide_no_others(tmp_path):
    # Only paths are put in reach, so that an editable installation is not.
    packages = str(Path(sysconfig.get_path("purelib")))
    python = write_python(tmp_path, packages)
    write(tmp_path, "VALUE = 7\n", "session.py")
    write(
        tmp_path,
        """
        import session, torch, tracetui
        torch.ones(3).cumsum(0)
        tracetui.step()
        print(session.VALUE)
        """,
    )

    ran = run(tmp_path, "--python", python, "script.py")

    assert (ran.status, ran.out) == (0, "7\n")
    assert "aten::cumsum" in ran.names("script.json.gz")


def test_compiled_code_is_recorded_without_new_graph_breaks_or_warnings(tmp_path):
    write(
        tmp_path,
        """
        import warnings
        warnings.simplefilter("error")
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(4, 1)
            def forward(self, x):
                return torch.relu(self.inner(x))
        model = torch.compile(Net(), backend="eager", fullgraph=True)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(20):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
        """,
    )

    ran = run(tmp_path, "--steps", "3", "--modules", "--step-module", "Net", "script.py")

    assert ran.status == 0, ran.err
    assert len(ran.steps("script.json.gz")) == 3
    assert len(ran.err.splitlines()) == 1
