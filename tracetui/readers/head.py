"""Where in a file the list of events begins."""

import re
from typing import Final, NamedTuple

from tracetui.errors import TraceFormatError
from tracetui.model.strings import clean_text

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_LIST_FOLLOWS: Final = re.compile(rb"\s*:\s*(\S)")


class ListPlace(NamedTuple):
    """Where the list of events stands in the text."""

    key_start: int
    """Where its key begins; 0 where the list is all there is."""
    first_member: int
    is_bare: bool


def list_place(text: bytes, *, is_whole: bool) -> ListPlace | None:
    """Return where the list of events is, or ``None`` for "later than this text".

    Args:
        text: The file's beginning.
        is_whole: Whether nothing comes after ``text``.

    Raises:
        TraceFormatError: If there can be no such list.
    """
    stripped = text.lstrip()
    if not stripped:
        if is_whole:
            raise TraceFormatError("nothing but white space in it")
        return None
    skipped = len(text) - len(stripped)
    if stripped[:1] == b"[":
        return ListPlace(0, skipped + 1, is_bare=True)
    if stripped[:1] != b"{":
        shown = clean_text(stripped[:12].decode("utf-8", "replace"))
        raise TraceFormatError(f"not JSON: it starts with {shown!r}")
    return _keyed_place(text, skipped)


def _keyed_place(text: bytes, start: int) -> ListPlace | None:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        word = token.group()
        if word in (b"{", b"["):
            depth += 1
        elif word in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                raise TraceFormatError('a JSON object without a "traceEvents" list')
        elif depth == 1 and word == b'"traceEvents"':
            follows = _LIST_FOLLOWS.match(text, token.end())
            if follows is None:
                return None
            if follows.group(1) == b"[":
                return ListPlace(token.start(), follows.end(), is_bare=False)
            if follows.group(1) != b",":
                raise TraceFormatError('"traceEvents" is not a list')
    return None
