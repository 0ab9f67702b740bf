"""One key, one meaning; and the table says what the screens really do."""

from pathlib import Path

from textual.binding import Binding

from tests.ui.driver import running
from tracetui.ui.app import TraceTuiApp
from tracetui.ui.keymap import GLOBAL, KEYS, Key, conflicts, footer_text, keys_of, manual_table
from tracetui.ui.screens.main import MainScreen
from tracetui.ui.views import VIEWS

_TEXTUAL_OWN = {"tab", "shift+tab", "ctrl+q", "ctrl+p", "super+c", "ctrl+c"}


def _names(scope: str) -> set[str]:
    return {name for key in keys_of(scope) for name in key.keys}


def _copy_of(path: Path) -> Path:
    copy = path.with_name(f"copy-of-{path.name}")
    copy.write_bytes(path.read_bytes())
    return copy


def _bound(*owners: type) -> set[str]:
    return {
        name.strip()
        for owner in owners
        for binding in owner.BINDINGS  # type: ignore[attr-defined]
        for name in (binding.key if isinstance(binding, Binding) else binding[0]).split(",")
    }


def test_no_key_means_two_things_in_a_view():
    assert conflicts() == ()


def test_a_key_with_two_meanings_is_found():
    table = (Key(("a",), GLOBAL, "x"), Key(("a",), "timeline", "y"), Key(("b",), "kernels", "z"))
    assert conflicts(table) == ("a in timeline",)


def test_the_global_keys_of_the_table_are_those_of_the_screens():
    assert _names(GLOBAL) == _bound(MainScreen, TraceTuiApp) | {"ctrl+p", "tab"}


async def test_each_views_keys_in_the_table_are_those_that_work_with_its_focus(gpu_file):
    async with running(gpu_file) as driver:
        for view in VIEWS:
            await driver.press(view.key)
            inside = {
                key
                for key, active in driver.app.screen.active_bindings.items()
                if driver.view in active.node.ancestors_with_self
                and not active.binding.action.startswith(("scroll_", "page_"))
            }
            assert inside - _TEXTUAL_OWN - _names(GLOBAL) == _names(view.name_id), view.name_id


async def test_no_view_takes_a_global_key_for_itself(gpu_file):
    async with running(gpu_file) as driver:
        for view in VIEWS:
            await driver.press(view.key)
            taken = {
                key
                for key, active in driver.app.screen.active_bindings.items()
                if driver.view in active.node.ancestors_with_self
            }
            assert taken & _names(GLOBAL) <= _TEXTUAL_OWN


async def test_keys_of_the_two_timelines_work_where_they_are_shown(gpu_file):
    async with running(gpu_file, _copy_of(gpu_file)) as driver:
        await driver.press("5", "v", "v")
        await driver.settle()
        assert driver.view.key_scope == "side by side"
        active = set(driver.app.screen.active_bindings)
        assert _names("side by side") <= active
        assert "align" in driver.text_of("footer")


def test_every_scope_is_a_view_or_a_screen():
    views = {view.name_id for view in VIEWS}
    assert {key.scope for key in KEYS} <= {
        GLOBAL,
        "start",
        "capture",
        "capturing",
        "side by side",
        *views,
    }


def test_footer_names_the_views_own_keys_first_and_always_help_and_quit():
    text = footer_text("overview", 200)
    assert text.startswith("enter open")
    assert text.endswith("? help  q quit")
    for view in VIEWS:
        for width in (20, 40, 80):
            short = footer_text(view.name_id, width)
            assert len(short) <= width
            assert short.endswith("? help  q quit")


def test_manual_has_a_row_for_every_key():
    assert len(manual_table().splitlines()) == len(KEYS) + 2
