"""Keys go first: a load waits between two chunks while one is answered, and only so long."""

import gc
import time
from threading import Thread

from tests.ui.driver import running
from tracetui.ui.courtesy import CourteousStop, Courtesy, uncollected


def test_a_load_waits_while_a_key_is_answered_and_goes_on_at_once_afterwards():
    courtesy = Courtesy(patience_s=30)
    stop, went_on = CourteousStop(courtesy), []
    courtesy.begin()
    load = Thread(target=lambda: went_on.append(stop.is_set()), daemon=True)
    load.start()
    load.join(0.05)
    assert load.is_alive()
    courtesy.end()
    load.join(10)
    assert went_on == [False]


def test_patience_ends():
    courtesy = Courtesy(patience_s=0.01)
    courtesy.begin()
    start = time.monotonic()
    assert not CourteousStop(courtesy).is_set()
    assert 0.01 <= time.monotonic() - start < 10


def test_a_stop_is_a_stop():
    stop = CourteousStop(Courtesy())
    stop.set()
    assert stop.is_set()


def test_the_collector_never_looks_through_what_was_made_meanwhile():
    assert gc.isenabled()
    try:
        with uncollected():
            assert not gc.isenabled()
            made: list[list[int]] = [[]]
        assert gc.isenabled()
        assert not any(each is made for each in gc.get_objects())
    finally:
        gc.unfreeze()
    assert any(each is made for each in gc.get_objects())


async def test_a_key_asks_for_the_way_and_gives_it_back(gpu_file, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(Courtesy, "begin", lambda _self: said.append("begin"))
    monkeypatch.setattr(Courtesy, "end", lambda _self: said.append("end"))
    async with running(gpu_file) as driver:
        said.clear()
        await driver.press("2")
        assert said == ["begin", "end"]
        await driver.press("question_mark", "escape")
        assert said == ["begin", "end"] * 3
