"""Why something could not run, as one line in torch's own words."""

import warnings

from tracetui.capture.reasons import reason, recorded_warnings


def test_reason_is_the_error_and_then_what_was_warned_of():
    error = RuntimeError("No available kernel. Aborting execution.")
    said = [
        "Flash attention has no dropout here (Triggered internally at /build/sdp.cpp:42.)",
        "Flash attention has no dropout here (Triggered internally at /build/sdp.cpp:42.)",
    ]

    assert reason(error, said) == (
        "RuntimeError: No available kernel. Aborting execution.; Flash attention has no dropout here"
    )


def test_reason_is_one_line_without_advice_on_torch_settings():
    error = ValueError(
        "backend='inductor' raised:\nInvalidCxxCompiler: No working C++ compiler found\n\n"
        "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace\nmore"
    )

    assert reason(error) == (
        "ValueError: backend='inductor' raised: InvalidCxxCompiler: No working C++ compiler found"
    )


def test_error_without_a_message_is_its_name():
    assert reason(NotImplementedError()) == "NotImplementedError"


def test_endless_message_is_cut():
    text = reason(RuntimeError("x" * 10_000))

    assert len(text) < 450
    assert text.endswith("…")


def test_warnings_are_recorded_even_when_they_are_errors():
    with recorded_warnings() as said:
        warnings.warn("first", UserWarning, stacklevel=1)
        warnings.warn("second", DeprecationWarning, stacklevel=1)

    assert said == ["first", "second"]
