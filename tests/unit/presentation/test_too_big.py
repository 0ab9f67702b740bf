"""What is asked before a file that does not fit is read."""

from tracetui.model.portion import WHOLE, Portion, Shortage
from tracetui.presentation.too_big import question, refusal
from tracetui.units import BYTES_PER_GIB

_SHORT = Shortage(
    n_file_bytes=4 * BYTES_PER_GIB,
    n_needed_bytes=5 * BYTES_PER_GIB // 2,
    n_free_bytes=BYTES_PER_GIB,
    n_events_that_fit=7_300_000,
)


def test_refusal_names_sizes_and_the_options_that_read_a_part() -> None:
    assert refusal(_SHORT) == (
        "4.0 GiB that need about 2.5 GiB of memory; 1.0 GiB are free. Read a part of it with"
        " tracetui report --first N, --device-only, --window START:END or --steps A:B,"
        " or all of it with --anyway"
    )


def test_question_offers_parts_then_all_then_nothing() -> None:
    asked = question("big.json", _SHORT)
    assert asked.title == (
        "big.json: 4.0 GiB that need about 2.5 GiB of memory; 1.0 GiB are free. What to read?"
    )
    assert asked.rows == (
        "the first 7,300,000 events, about what fits",
        "the first 3 steps, with what they launched",
        "device rows only: kernels, copies, memsets",
        "all of it anyway; the machine may swap",
        "nothing",
    )
    assert [asked.answer(row) for row in range(5)] == [
        Portion(n_events=7_300_000),
        Portion(n_steps=3),
        Portion(is_device_only=True),
        WHOLE,
        None,
    ]
    assert asked.answer(None) is None


def test_no_events_are_offered_where_none_fit() -> None:
    asked = question("big.json", Shortage(4, 3, 2, 0))
    assert len(asked.offers) == 4
    assert all(offer.portion is None or offer.portion.n_events is None for offer in asked.offers)
