"""A parser of arguments whose errors are one line, and the values that several subcommands take."""

import argparse
from typing import Final, NoReturn

from tracetui.errors import UsageError

EXIT_FINE: Final = 0
EXIT_FAILED: Final = 1
"""A check or a gate did not hold."""
EXIT_UNUSABLE: Final = 2
STDIN: Final = "-"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage: one line tells what was wrong."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def shown(text: str) -> str:
    """Return a file's name, or what a user typed, as it may be printed on a terminal."""
    from tracetui.model.strings import clean_text

    return clean_text(text)


def row_limit(text: str) -> int:
    """Return how many rows to print.

    Raises:
        argparse.ArgumentTypeError: If the text is no number from 0.
    """
    try:
        limit = int(text)
    except ValueError:
        limit = -1
    if limit < 0:
        raise argparse.ArgumentTypeError(f"{shown(text)!r} is no number of rows (0 is all)")
    return limit
