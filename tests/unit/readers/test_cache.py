from dataclasses import fields

import numpy as np
import pytest

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.model.details import NoArguments
from tracetui.model.device import Geometry, OccupancyLimits
from tracetui.model.slices import SliceTable
from tracetui.readers import cache


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(b"x" * 200_000)
    trace = trace_of(annotation("fwd", 0, 50), launch(1, 2, 5), kernel("gemm", 4, 5, 5))
    assert cache.store(trace, path, {"chunks": [1, 2]})
    return path, trace


def test_an_entry_gives_back_the_trace_and_the_argument_state(stored):
    path, trace = stored

    entry = cache.lookup(path)
    assert entry is not None
    again = entry.trace(NoArguments())

    assert entry.argument_state == {"chunks": [1, 2]}
    assert again.tracks == trace.tracks
    assert again.names.texts == trace.names.texts
    assert again.report.flagged == trace.report.flagged
    for column in fields(SliceTable):
        old, new = getattr(trace.slices, column.name), getattr(again.slices, column.name)
        assert old.dtype == new.dtype
        assert np.array_equal(old, new)
        assert not new.flags.writeable


def test_an_entry_keeps_what_limits_the_occupancy(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(b"x" * 200_000)
    limits = OccupancyLimits(3, ("WARPS", "REGS"), blocks_by_registers=3)
    geometry = Geometry((8, 1, 1), (128, 1, 1), 32, 0, 0.5, 1.0, None, limits)
    trace = trace_of(Row("k", 0, 10, "kernel", "0", "7", geometry=geometry))
    assert cache.store(trace, path, {})

    entry = cache.lookup(path)
    assert entry is not None
    assert entry.trace(NoArguments()).geometries == (geometry,)


def test_an_entry_does_not_hold_once_the_file_has_changed(stored):
    path, _ = stored
    path.write_bytes(b"x" * 100_000 + b"y" + b"x" * 99_999)

    assert cache.lookup(path) is None


@pytest.mark.parametrize("keep", [0, 5, 40, 300, -1])
def test_an_entry_that_was_cut_off_is_as_good_as_none(stored, keep):
    path, _ = stored
    (entry,) = cache.cache_folder().glob("*.columns")
    entry.write_bytes(entry.read_bytes()[:keep])

    assert cache.lookup(path) is None


def test_a_flipped_byte_in_the_header_is_noticed(stored):
    path, _ = stored
    (entry,) = cache.cache_folder().glob("*.columns")
    data = bytearray(entry.read_bytes())
    data[100] ^= 1
    entry.write_bytes(data)

    assert cache.lookup(path) is None


def test_the_entries_unused_for_longest_go_first(stored, tmp_path, monkeypatch):
    path, trace = stored
    (old_entry,) = cache.cache_folder().glob("*.columns")
    monkeypatch.setattr(cache, "MAX_TOTAL_BYTES", old_entry.stat().st_size + 100)
    other = tmp_path / "other.json"
    other.write_bytes(b"z")

    assert cache.store(trace, other, {})

    assert cache.lookup(path) is None
    assert cache.lookup(other) is not None


def test_a_folder_that_cannot_be_written_costs_the_cache_only(tmp_path, monkeypatch):
    blocker = tmp_path / "file"
    blocker.write_bytes(b"")
    monkeypatch.setattr(cache, "cache_folder", lambda: blocker / "below")
    path = tmp_path / "trace.json"
    path.write_bytes(b"x")

    assert not cache.store(trace_of(("a", 0, 1)), path, {})
