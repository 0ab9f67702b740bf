"""What ``tracetui run`` is made of, without running anything."""

import pathlib

import pytest

from tracetui.capture.paths import free_path, rank_suffix
from tracetui.capture.runner_children import ChildProcesses, runs_python
from tracetui.capture.step_names import rename_dropped_steps
from tracetui.cli.run import options_parser, run_spec
from tracetui.errors import CaptureError, UsageError
from tracetui.units import NS_PER_S


def spec_of(*arguments):
    return run_spec(options_parser().parse_args(arguments))


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my train.py").write_text("")
    return "my train.py"


def test_options_before_the_script_are_ours_and_those_behind_it_are_its_own(script):
    spec = spec_of("--steps", "3", "--no-shapes", script, "--steps", "9", "--", "-m", "x")

    assert spec.arguments == ("--steps", "9", "--", "-m", "x")
    assert spec.window.n_steps == 3
    assert spec.options["record_shapes"] is False
    assert spec.stem == "my_train"
    assert not spec.is_module


def test_a_module_is_run_by_name_and_keeps_its_options():
    spec = spec_of("-m", "pack.train", "-m", "5")

    assert (spec.name, spec.is_module, spec.arguments) == ("pack.train", True, ("-m", "5"))
    assert spec.stem == "pack.train"
    assert spec.shown == "-m pack.train -m 5"


def test_a_key_takes_the_scripts_input_and_waits_for_it(script):
    spec = spec_of("--on-key", "--duration", "1.5", script)

    assert spec.window.on_signal
    assert not spec.has_input
    assert spec.window.duration_ns == 3 * NS_PER_S // 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.py",),
        (".",),
        (),
        ("--steps", "0", "-m", "x"),
        ("--steps", "many", "-m", "x"),
        ("--duration", "nan", "-m", "x"),
        ("--duration", "0", "-m", "x"),
        ("--start-after", "-1", "-m", "x"),
        ("--on-signal", "--start-after", "3", "-m", "x"),
        ("--step-module", "Net", "--step-explicit", "-m", "x"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_refused_in_one_line(arguments):
    with pytest.raises(UsageError) as error:
        spec_of(*arguments)

    assert len(str(error.value).splitlines()) == 1


def test_a_free_path_is_taken_at_once_and_counts_on(tmp_path):
    names = [free_path(tmp_path / "new", "train", "_rank1").name for _ in range(3)]

    assert names == ["train_rank1.json.gz", "train_2_rank1.json.gz", "train_3_rank1.json.gz"]
    with pytest.raises(CaptureError, match="not a directory"):
        free_path(tmp_path / "new" / "train_rank1.json.gz", "x")


def test_a_rank_is_part_of_the_name_only_where_there_are_ranks():
    assert rank_suffix({"RANK": "12"}) == "_rank12"
    assert rank_suffix({}) == ""
    assert rank_suffix({"RANK": "../x"}) == ""


@pytest.mark.parametrize(
    ("command", "is_python"),
    [
        (["/usr/bin/python3.11", "x.py"], True),
        ("python -c pass", True),
        ([pathlib.Path("/opt/python"), "x.py"], True),
        (["torchrun", "x.py"], True),
        (["g++", "x.cpp"], False),
        (["python", "/site/torch/_inductor/compile_worker/__main__.py"], False),
        ([], False),
    ],
)
def test_only_other_pythons_count_as_programs_that_could_be_captured(command, is_python):
    assert runs_python(command) is is_python


def test_nothing_is_said_of_children_where_there_are_none():
    children = ChildProcesses()
    assert children.line() is None

    children.n_processes = 1
    assert children.line() == (
        "1 child process of the script was not captured: only its own process is"
    )


def test_a_dropped_step_is_renamed_everywhere_and_no_other_is(tmp_path):
    text = b'{"name": "ProfilerStep#1"}, {"name": "ProfilerStep#12"}, {"name": "ProfilerStep#1"}'
    path = tmp_path / "raw"
    path.write_bytes(text)

    rename_dropped_steps(path, ["ProfilerStep#1"])

    assert path.read_bytes() == (
        b'{"name": "Outside step#1"}, {"name": "ProfilerStep#12"}, {"name": "Outside step#1"}'
    )
