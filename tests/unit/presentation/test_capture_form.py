"""The capture's form without a screen: what it lists, what changes mean, what it asks for."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.capture.catalog import CATALOG
from tracetui.capture.client import MachineReport
from tracetui.capture.spec import CaptureSpec
from tracetui.errors import UsageError
from tracetui.presentation.capture_choice import Choice, ChoiceStore, Memory, Refusals
from tracetui.presentation.capture_fields import (
    BACKWARD,
    DEVICE,
    OUT,
    PARAMETER,
    PYTHON,
    REPEATS,
    SETTINGS,
    START,
    STEPS,
    VARIANT,
    WORKLOAD,
    FormRow,
)
from tracetui.presentation.capture_form import CaptureForm
from tracetui.presentation.table import cell_width

CPU = MachineReport("/x/python", "cpu", frozenset(), {"torch": "2.9"})
GPU = MachineReport("/x/python", "cuda", frozenset({"triton"}), {"torch": "2.9"})


def _row(form: CaptureForm, kind: str, name: str = "") -> FormRow:
    return next(row for row in form.rows() if (row.kind, row.name) == (kind, name))


def _form(workload: str = "mlp", machine: MachineReport | None = CPU) -> CaptureForm:
    form = CaptureForm(workload=workload)
    return form if machine is None else form.with_machine(machine)


def test_every_workload_lists_its_variants_and_parameters_in_the_catalogs_order():
    for entry in CATALOG:
        rows = _form(entry.name).rows()

        assert [row.name for row in rows if row.kind == VARIANT] == list(entry.variant_names)
        names = [row.name for row in rows if row.kind == PARAMETER]
        assert names == [each.name for each in entry.parameters]
        assert rows[0].kind == WORKLOAD
        assert rows[-1].kind == START


def test_defaults_are_those_of_the_device_and_both_while_it_is_unknown():
    assert _row(_form(machine=CPU), PARAMETER, "dim").value.split() == ["dim", "256"]
    assert _row(_form(machine=GPU), PARAMETER, "dim").value.split() == ["dim", "768"]
    assert "768 (CPU 256)" in _row(_form(machine=None), PARAMETER, "dim").value
    on_cpu = replace(_form(machine=GPU), device="cpu")
    assert _row(on_cpu, PARAMETER, "dim").value.split() == ["dim", "256"]


def test_variant_whose_package_is_missing_is_grey_says_why_and_cannot_be_chosen():
    form = _form()
    row = _row(form, VARIANT, "liger")

    assert row.is_grey
    assert row.meaning == "cannot run: liger_kernel is not installed in /x/python"
    assert "liger" not in form.wanted
    with pytest.raises(UsageError, match="liger cannot run: liger_kernel is not installed"):
        form.toggled("liger")
    assert not _row(_form(machine=GPU), VARIANT, "fused").is_grey


def test_what_was_left_as_it_is_asks_for_all_so_that_reasons_are_recorded():
    spec = _form().spec()

    assert spec == CaptureSpec("mlp", "traces")


def test_toggling_asks_for_the_chosen_in_order_and_twice_is_as_before():
    form = _form("attention").toggled("sdpa").toggled("flex")

    assert "sdpa" not in form.wanted
    assert form.spec().variants == form.wanted
    assert form.toggled("sdpa").toggled("flex").wanted == _form("attention").wanted


def test_all_and_none_in_turns():
    form = _form("linear")
    none = form.with_all_toggled()

    assert none.wanted == ()
    assert none.error.startswith("no variant is chosen")
    assert _row(none, START).is_grey
    with pytest.raises(UsageError, match="no variant"):
        none.spec()
    assert none.with_all_toggled().wanted == ("eager", "compiled")
    assert none.toggled("eager").with_all_toggled().wanted == ("eager", "compiled")


def test_summary_counts_variants_sizes_repeats_and_traces():
    form = _form("linear")
    assert form.summary == "2 variants of linear: 2 traces into traces; R starts"

    form = form.edited(_row(form, PARAMETER, "batch"), "16, 32,16")
    form = form.edited(_row(form, REPEATS), "3")
    assert form.summary == (
        "2 variants of linear at 2 sizes, 3 times: 12 traces into traces; R starts"
    )
    assert form.spec().settings == (("batch", (16, 32)),)
    assert len(form.spec().points) * len(form.wanted) * form.repeats == 12


@pytest.mark.parametrize(
    ("kind", "name", "text", "said"),
    [
        (PARAMETER, "dim", "0", "a whole number from 1"),
        (PARAMETER, "dim", "1.5", "a whole number from 1"),
        (PARAMETER, "dtype", "int8", "one of fp32, bf16, fp16, fp64"),
        (PARAMETER, "dtype", "fp32,int8", "one of fp32, bf16, fp16, fp64"),
        (REPEATS, "", "0", "a whole number from 1"),
        (REPEATS, "", "many", "a whole number from 1"),
        (REPEATS, "", "9" * 5000, "a whole number from 1"),
        (STEPS, "", "2", "a whole number from 3"),
        (BACKWARD, "", "maybe", "yes or no"),
        (WORKLOAD, "", "nothing", "no workload 'nothing'"),
    ],
)
def test_what_means_nothing_is_refused_in_a_line(kind: str, name: str, text: str, said: str):
    form = _form()

    with pytest.raises(UsageError, match=said) as caught:
        form.edited(_row(form, kind, name), text)
    assert "\n" not in str(caught.value)


def test_an_empty_text_brings_the_default_back():
    form = _form()
    changed = form.edited(_row(form, PARAMETER, "dim"), "512")
    changed = changed.edited(_row(form, REPEATS), "4")
    changed = changed.edited(_row(form, OUT), "elsewhere")
    changed = changed.edited(_row(form, DEVICE), "cuda:1")
    changed = changed.edited(_row(form, BACKWARD), "yes")
    for kind, name in ((PARAMETER, "dim"), (REPEATS, ""), (OUT, ""), (DEVICE, ""), (BACKWARD, "")):
        changed = changed.edited(_row(form, kind, name), "")

    assert changed.spec() == form.spec()


def test_another_python_has_to_be_asked_anew():
    form = _form()
    asked = form.edited(_row(form, PYTHON), "/y/python")

    assert (asked.python, asked.machine) == ("/y/python", None)
    refused = asked.with_problem("/y/python cannot import torch (gone): install it there")
    assert refused.summary.startswith("Cannot start: /y/python cannot import torch")
    assert "cannot import torch" in _row(refused, PYTHON).meaning
    assert refused.with_machine(CPU).error == ""


def test_stepping_goes_through_workloads_formats_sizes_and_answers():
    form = _form()
    assert form.stepped(_row(form, WORKLOAD), 1).workload == "attention"
    assert form.stepped(_row(form, WORKLOAD), -1).workload == "linear"
    assert form.stepped(_row(form, PARAMETER, "dtype"), 1).spec().settings == (
        ("dtype", ("bf16",)),
    )
    assert form.stepped(_row(form, PARAMETER, "seq"), 1).spec().settings == (("seq", (128,)),)
    assert form.stepped(_row(form, PARAMETER, "seq"), -1).spec().settings == (("seq", (32,)),)
    assert form.stepped(_row(form, BACKWARD), 1).spec().backward is True
    assert form.stepped(_row(form, REPEATS), -1).repeats == 1
    assert form.stepped(_row(form, STEPS), -1).steps == 3
    assert form.stepped(_row(form, DEVICE), 1).device == "cpu"
    assert form.stepped(_row(form, VARIANT, "eager"), 1) == form
    on_gpu = _form(machine=GPU)
    assert on_gpu.stepped(_row(on_gpu, DEVICE), -1).device == "cuda"


def test_block_runs_its_backward_unless_told_otherwise():
    form = _form("block")

    assert _row(form, BACKWARD).value == "yes"
    assert form.spec().backward is None
    assert form.stepped(_row(form, BACKWARD), 1).spec().backward is False


def test_a_file_of_ones_own_has_free_parameters_and_no_variants_to_choose():
    form = _form()
    form = form.edited(_row(form, WORKLOAD), "mine.py:build")
    form = form.edited(_row(form, SETTINGS), "n=1,2 kind=fast")

    assert not any(row.kind in (VARIANT, PARAMETER, BACKWARD) for row in form.rows())
    assert form.error == ""
    spec = form.spec()
    assert (spec.variants, spec.backward) == ((), None)
    assert spec.settings == (("n", (1, 2)), ("kind", ("fast",)))
    assert form.text_of(_row(form, SETTINGS)) == "n=1,2 kind=fast"
    assert form.summary.startswith("Each variant of mine.py:build at 2 sizes")


def test_choices_of_a_workload_wait_while_another_is_looked_at():
    form = _form("linear").toggled("compiled")
    other = form.stepped(_row(form, WORKLOAD), 1)

    assert len(other.wanted) > 1
    assert other.stepped(_row(other, WORKLOAD), -1).wanted == ("eager",)


def test_a_refusal_is_told_where_it_was_learned_and_nowhere_else():
    form = _form("attention").with_result("sdpa-cudnn", "RuntimeError: No available kernel")
    row = _row(form, VARIANT, "sdpa-cudnn")

    assert row.is_grey
    assert row.meaning == "could not run last time: RuntimeError: No available kernel"
    assert row.value.startswith("[x]")
    assert form.with_machine(GPU).refusal("sdpa-cudnn") == ""
    assert form.with_result("sdpa-cudnn", None).refusal("sdpa-cudnn") == ""
    assert replace(form, workload="block").refusal("sdpa-cudnn") == ""


def test_kept_and_read_again(tmp_path: Path):
    form = _form("attention").toggled("flex").with_result("sdpa-cudnn", "no kernel")
    form = form.edited(_row(form, PARAMETER, "seq"), "512,2048")
    form = form.edited(_row(form, PARAMETER, "causal"), "false")
    form = replace(form, repeats=2, out="élan", python="/y/python", device="cuda:1")
    store = ChoiceStore(tmp_path / "state")

    assert store.keep(form.memory)
    again = CaptureForm.remembered(store.memory())
    assert again == replace(form, machine=None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"choices": 3, "refusals": {}}',
        '{"choices": {}, "refusals": {"where": "", "reasons": []}}',
        '{"choices": {"mlp": {"wanted": 1, "settings": {}, "backward": null}}, "refusals": {}}',
    ],
)
def test_a_damaged_memory_is_a_new_start(tmp_path: Path, text: str):
    store = ChoiceStore(tmp_path)
    store.path.write_text(text)

    assert CaptureForm.remembered(store.memory()) == CaptureForm()


def test_what_is_no_longer_possible_is_forgotten(tmp_path: Path):
    store = ChoiceStore(tmp_path)
    store.keep(
        Memory(
            {"workload": "gone", "repeats": 0, "steps": 1, "device": "cpu"},
            {
                "mlp": Choice(
                    frozenset({"eager", "gone"}), {"dim": (-1,), "gone": (1,), "seq": (8,)}
                )
            },
            Refusals(),
        )
    )
    form = CaptureForm.remembered(store.memory())

    assert (form.workload, form.repeats, form.steps, form.device) == ("mlp", 1, 3, "cpu")
    assert form.wanted == ("eager",)
    assert form.choice.settings == {"seq": (8,)}


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")

    assert not ChoiceStore(tmp_path / "file").keep(CaptureForm().memory)
    assert ChoiceStore(tmp_path / "nowhere").memory() == Memory()


@given(st.integers(20, 200), st.sampled_from([entry.name for entry in CATALOG]), st.booleans())
def test_no_row_is_wider_than_its_window(width: int, workload: str, is_known: bool):
    form = _form(workload, CPU if is_known else None)

    assert all(cell_width(row.line(width)) <= width for row in form.rows())


@given(st.text(max_size=20))
def test_any_text_is_refused_in_a_line_or_makes_a_request_that_can_be_sent(text: str):
    form = _form()
    for row in form.rows():
        if row.kind in (VARIANT, START):
            continue
        try:
            changed = form.edited(row, text)
            spec = changed.spec()
        except UsageError:
            continue
        assert CaptureSpec.from_json(spec.to_json()) == spec
        json.dumps(changed.memory.general)
