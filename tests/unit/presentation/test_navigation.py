"""Which step comes next, from what is in sight and where the cursor is."""

import pytest

from tests.literal import annotation, trace_of
from tracetui.analysis.steps import steps
from tracetui.presentation.navigation import next_step
from tracetui.presentation.viewport import Viewport

WHOLE = Viewport.whole(400_000)


@pytest.mark.parametrize(
    ("viewport", "at_ns", "direction", "number"),
    [
        (WHOLE, 0, 1, 1),
        (WHOLE, 150_000, 1, 2),
        (WHOLE, 390_000, 1, 3),
        (WHOLE, 390_000, -1, 3),
        (WHOLE, 250_000, -1, 1),
        (WHOLE, 0, -1, 1),
        # The middle of what is in sight lies in step 2, wherever the cursor is.
        (WHOLE.between(200_000, 300_000), 0, 1, 3),
        (WHOLE.between(200_000, 300_000), 0, -1, 1),
        (WHOLE.between(310_000, 390_000), 0, 1, 3),
    ],
)
def test_steps_follow_what_is_in_sight_or_else_the_cursor(viewport, at_ns, direction, number):
    trace = trace_of(*(annotation(f"ProfilerStep#{n}", n * 100_000, 90_000) for n in (1, 2, 3)),
                     annotation("all", 0, 400_000))  # fmt: skip

    assert next_step(steps(trace), viewport, at_ns, direction).number == number
