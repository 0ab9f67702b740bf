"""Requests: parsed, checked, named, and the same on both sides of a pipe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.capture.spec import CaptureSpec, Resumption, file_part, parsed_settings, value_of
from tracetui.errors import UsageError

SWEPT = CaptureSpec(
    "matmul-add", "out", settings=(("size", (64, 128)), ("dtype", ("fp32", "bf16")))
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("512", 512),
        ("-3", -3),
        ("1e-3", 0.001),
        ("True", True),
        ("false", False),
        ("bf16", "bf16"),
        ("9" * 5000, float("inf")),
    ],
)
def test_texts_become_what_they_mean(text: str, value: object):
    found = value_of(text)

    assert found == value
    assert type(found) is type(value)


def test_lists_keep_order_and_lose_repetitions():
    assert parsed_settings(["seq=512,2048,512", "head-dim=64"]) == {
        "seq": (512, 2048),
        "head_dim": (64,),
    }


@pytest.mark.parametrize("text", ["seq", "=4", "seq=", "seq=1,,2"])
def test_setting_without_name_or_value_is_refused(text: str):
    with pytest.raises(UsageError, match="NAME=VALUE"):
        parsed_settings([text])


def test_parameter_set_twice_is_refused():
    with pytest.raises(UsageError, match="given twice"):
        parsed_settings(["seq=1", "seq=2"])


def test_points_are_every_combination():
    assert SWEPT.points == (
        {"size": 64, "dtype": "fp32"},
        {"size": 64, "dtype": "bf16"},
        {"size": 128, "dtype": "fp32"},
        {"size": 128, "dtype": "bf16"},
    )
    assert CaptureSpec("mlp", "out").points == ({},)


def test_names_tell_what_is_swept_and_repeated_and_nothing_else():
    assert CaptureSpec("mlp", "out").stem({}, "eager", 0) == "mlp_eager"
    one = CaptureSpec("mlp", "out", settings=(("seq", (512,)),), repeats=2)
    assert one.stem({"seq": 512}, "compiled-max-autotune", 1) == "mlp_compiled_max_autotune_r2"
    assert SWEPT.stem(SWEPT.points[1], "eager", 0) == "matmul_add_eager_size64_bf16"
    causal = CaptureSpec("attention", "out", settings=(("causal", (True, False)),))
    assert causal.stem({"causal": False}, "naive", 0) == "attention_naive_no_causal"


def test_names_of_all_traces_differ():
    spec = CaptureSpec("mlp", "out", settings=SWEPT.settings, repeats=3)
    stems = [
        spec.stem(point, variant, repeat)
        for point in spec.points
        for variant in ("eager", "compiled")
        for repeat in range(3)
    ]

    assert len(set(stems)) == len(stems) == 24


def test_own_workload_goes_by_the_name_of_its_file():
    assert CaptureSpec("/some/where/my kernel.py:build", "out").name == "my_kernel"


@given(st.text())
def test_part_of_a_name_has_no_separator_or_space(text: str):
    assert set(file_part(text)) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._"
    )


def test_request_survives_the_pipe():
    spec = CaptureSpec(
        "mlp", "out", ("eager",), SWEPT.settings, "cuda", 2, backward=True, threads=1
    )

    assert CaptureSpec.from_json(spec.to_json()) == spec


def test_too_few_repeats_or_steps_are_refused():
    with pytest.raises(UsageError, match="--repeats 0"):
        CaptureSpec("mlp", "out", repeats=0)
    with pytest.raises(UsageError, match="--steps 2: a trace holds at least 3"):
        CaptureSpec("mlp", "out", steps=2)


def test_resumption_knows_what_is_done_and_what_must_not_be_tried():
    resumption = Resumption().with_finished("mlp_eager").without("fused", {"seq": 4}, "it died")

    again = Resumption.from_json(resumption.to_json())
    assert again == resumption
    assert again.reason_against("fused", {"seq": 4}) == "it died"
    assert again.reason_against("fused", {"seq": 8}) is None
    assert again.reason_against("eager", {"seq": 4}) is None
