"""Numbers in process and thread ids."""

import pytest

from tests.literal import Row, trace_of
from tracetui.analysis.kernels import kernel_stats
from tracetui.model.arrays import NO_ID
from tracetui.model.categories import number_in


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("stream 7", 7),
        ("", NO_ID),
        ("-3", NO_ID),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), NO_ID),
        ("9" * 400, NO_ID),
        ("stream " + "9" * 5000, NO_ID),
    ],
)
def test_number_in_an_id(text, number):
    assert number_in(text) == number


def test_a_kernel_on_a_stream_of_an_absurd_number_is_counted():
    trace = trace_of(
        Row("k", 0, 5, "kernel", "9" * 300, "9" * 300), Row("k", 9, 5, "kernel", "0", "7")
    )
    assert kernel_stats(trace).calls.tolist() == [2]
