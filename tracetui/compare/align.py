"""Longest common subsequence of two sequences of keys."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_MOST_EDITS: Final = 600
"""Beyond so many edits the exact search gives way to anchors that occur once on each side."""


def aligned(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return places with equal keys, ascending on both sides, as many as can be.

    Exact by the greedy search for the shortest edit script (Myers, "An O(ND) difference algorithm",
    1986) while the sides differ little; beyond that, keys that occur once on both sides divide the
    sequences first, and stretches without such a key stay unaligned but for their equal ends.
    """
    found: list[tuple[int, int]] = []
    todo = [(0, len(first), 0, len(second))]
    while todo:
        low_a, high_a, low_b, high_b = todo.pop()
        while low_a < high_a and low_b < high_b and first[low_a] == second[low_b]:
            found.append((low_a, low_b))
            low_a, low_b = low_a + 1, low_b + 1
        while low_a < high_a and low_b < high_b and first[high_a - 1] == second[high_b - 1]:
            high_a, high_b = high_a - 1, high_b - 1
            found.append((high_a, high_b))
        if low_a == high_a or low_b == high_b:
            continue
        pairs = _shortest_edit(first[low_a:high_a], second[low_b:high_b])
        if pairs is not None:
            found += [(low_a + a, low_b + b) for a, b in pairs]
            continue
        anchors = _unique_anchors(first[low_a:high_a], second[low_b:high_b])
        edges = [(-1, -1), *anchors, (high_a - low_a, high_b - low_b)]
        found += [(low_a + a, low_b + b) for a, b in anchors]
        if anchors:
            todo += [
                (low_a + a + 1, low_a + next_a, low_b + b + 1, low_b + next_b)
                for (a, b), (next_a, next_b) in pairwise(edges)
            ]
    return sorted(found)


def _shortest_edit(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return the aligned places, or ``None`` if the sides differ by too many edits."""
    n, m = len(first), len(second)
    limit = min(n + m, _MOST_EDITS)
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(limit + 1):
        trail.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]
            )
            a = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            b = a - diagonal
            while a < n and b < m and first[a] == second[b]:
                a, b = a + 1, b + 1
            reach[diagonal] = a
            if a >= n and b >= m:
                return _walked_back(trail, n, m)
    return None


def _walked_back(trail: list[dict[int, int]], a: int, b: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for edits in range(len(trail) - 1, -1, -1):
        reach = trail[edits]
        diagonal = a - b
        down = diagonal == -edits or (
            diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]
        )
        before = diagonal + 1 if down else diagonal - 1
        from_a = reach[before] if edits else 0
        from_b = from_a - before if edits else 0
        while a > from_a and b > from_b:
            a, b = a - 1, b - 1
            found.append((a, b))
        a, b = from_a, from_b
    return found


def _unique_anchors(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return the longest ascending run of keys that occur once on each side."""
    once_a, once_b = (
        {key for key, count in Counter(keys).items() if count == 1} for keys in (first, second)
    )
    place_b = {key: place for place, key in enumerate(second) if key in once_b}
    pairs = [(a, place_b[key]) for a, key in enumerate(first) if key in once_a and key in place_b]
    tops: list[int] = []
    before: list[int] = []
    for at, (_, b) in enumerate(pairs):
        low, high = 0, len(tops)
        while low < high:
            middle = (low + high) // 2
            if pairs[tops[middle]][1] < b:
                low = middle + 1
            else:
                high = middle
        before.append(tops[low - 1] if low else -1)
        tops[low:] = [at, *tops[low + 1 :]]
    found: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]
