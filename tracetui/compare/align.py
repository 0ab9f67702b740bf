"""Longest common subsequence of two sequences of keys."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

_MOST_EDITS: Final = 160
"""Beyond so many edits the exact search gives way to anchors."""


def aligned(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return places with equal keys, ascending on both sides, as many as can be.

    Keys that one side lacks are passed over. What is left is aligned exactly, by the greedy search
    for the shortest edit script (Myers, "An O(ND) difference algorithm", 1986), while it differs
    little; beyond that, keys that occur equally often on both sides divide it first, and a stretch
    without such keys stays unaligned but for its equal ends.
    """
    shared = set(first).intersection(second)
    places = [
        [place for place, key in enumerate(keys) if key in shared] for keys in (first, second)
    ]
    keys_a, keys_b = [first[at] for at in places[0]], [second[at] for at in places[1]]
    return [(places[0][a], places[1][b]) for a, b in _aligned(keys_a, keys_b)]


def _aligned(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
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
        anchors = _anchors(first[low_a:high_a], second[low_b:high_b])
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
    if abs(n - m) > _MOST_EDITS:
        return None
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


def _anchors(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return the longest ascending run of keys that occur equally often on both sides."""
    keys = np.array([*first, *second], np.int64)
    n = len(first)
    _, code = np.unique(keys, return_inverse=True)
    counts = np.bincount(code[:n], minlength=len(keys)), np.bincount(code[n:], minlength=len(keys))
    is_even = (counts[0] == counts[1])[code]
    # Sorted by key and place, the same occurrences of each key lie equally far into its run.
    rows = np.flatnonzero(is_even)
    of_first, of_second = rows[rows < n], rows[rows >= n]
    ordered = [side[np.argsort(code[side], kind="stable")] for side in (of_first, of_second)]
    by_first = np.argsort(ordered[0])
    pairs = list(
        zip(ordered[0][by_first].tolist(), (ordered[1][by_first] - n).tolist(), strict=True)
    )
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for at, (_, b) in enumerate(pairs):
        place = bisect_left(ends, b)
        before.append(tops[place - 1] if place else -1)
        ends[place : place + 1] = [b]
        tops[place : place + 1] = [at]
    found: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]
