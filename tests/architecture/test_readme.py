"""The README cannot lie: what it lists is compared with the code. Run as a program, it writes the tables of keys and of rules anew."""

import argparse
import re
from importlib import import_module
from pathlib import Path

import pytest

from tracetui.cli import view
from tracetui.cli.commands import COMMANDS
from tracetui.diagnosis.rules import RULES
from tracetui.ui.keymap import manual_table

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
_RULES = re.compile(r"(<!-- rules: .*? -->\n).*?(<!-- /rules -->)", re.DOTALL)
_KEYS = re.compile(r"(<!-- keys: .*? -->\n).*?(<!-- /keys -->)", re.DOTALL)


def _with_keys(text: str) -> str:
    return _KEYS.sub(lambda match: f"{match[1]}{manual_table()}\n{match[2]}", text)


def _with_rules(text: str) -> str:
    rows = [f"| `{rule.name}` | {rule.about} |" for rule in RULES]
    table = "\n".join(["| Rule | What it looks for |", "| --- | --- |", *rows])
    return _RULES.sub(lambda match: f"{match[1]}{table}\n{match[2]}", text)


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [
        option
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and option != "--help"
    ]


def test_table_of_keys_is_the_keymap():
    text = README.read_text()

    assert text == _with_keys(text), "run: make keys"


def _command_options() -> list[tuple[str, str]]:
    return [
        (name, option)
        for name, command in COMMANDS.items()
        for option in _options(import_module(command.module).options_parser())
    ]


@pytest.mark.parametrize("option", _options(view.options_parser()))
def test_option_is_listed(option: str):
    assert f"`{option}" in README.read_text()


@pytest.mark.parametrize(("command", "option"), _command_options())
def test_option_of_a_subcommand_is_listed(command: str, option: str):
    assert f"`{command} {option}" in README.read_text()


@pytest.mark.parametrize("page", ["README.md", "tracetui/README.md", "sample_traces/README.md"])
def test_links_lead_somewhere(page: str):
    path = ROOT / page
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_tasks_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    for task in re.findall(r"`?make ([a-z]+)`?$", README.read_text(), re.MULTILINE):
        assert re.search(rf"^{task}:", makefile, re.MULTILINE), task


def test_every_sample_is_described():
    text = (ROOT / "sample_traces" / "README.md").read_text()
    for sample in (ROOT / "sample_traces").glob("*.json.gz"):
        assert f"`{sample.name}`" in text


def test_map_names_every_package():
    text = (ROOT / "tracetui" / "README.md").read_text()
    for entry in (ROOT / "tracetui").iterdir():
        if entry.is_dir() and (entry / "__init__.py").exists():
            assert f"`{entry.name}/`" in text
        elif entry.suffix == ".py" and entry.name != "__init__.py":
            assert f"`{entry.name}`" in text


if __name__ == "__main__":
    README.write_text(_with_rules(_with_keys(README.read_text())))
