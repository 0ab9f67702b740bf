"""The longest common subsequence, against the textbook's table."""

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tracetui.compare.align import aligned

KEYS = st.lists(st.integers(0, 4), max_size=25)


def longest(first, second):
    """Return the length of the longest common subsequence, by dynamic programming."""
    above = [0] * (len(second) + 1)
    for key in first:
        row = [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if key == other else max(above[place + 1], row[place]))
        above = row
    return above[-1]


@given(KEYS, KEYS)
def test_as_many_keys_pair_as_can(first, second):
    pairs = aligned(first, second)

    assert all(first[a] == second[b] for a, b in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    assert len(pairs) == longest(first, second)


def test_long_sequences_that_differ_much_still_align_at_their_anchors():
    generator = random.Random(5)
    shared = list(range(1000, 1200))
    first, second = [], []
    for key in shared:
        first += [generator.randrange(500) for _ in range(5)] + [key]
        second += [generator.randrange(500) for _ in range(5)] + [key]

    pairs = {first[a] for a, b in aligned(first, second)}

    # Noise that happens to agree may win a few places.
    assert len(pairs & set(shared)) > 190


def test_nothing_in_common_aligns_nothing():
    assert aligned(range(2000), range(2000, 4000)) == []
    assert aligned([], [1]) == []
