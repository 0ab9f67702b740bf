"""Why something could not run, in PyTorch's own words and in one line."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

_LONGEST: Final = 400
_ADVICE: Final = (
    "Set TORCHDYNAMO_VERBOSE",
    "You can suppress",
    "from user code",
    "Developer debug",
)
_BRACKETS: Final = re.compile(r"\s*\(Triggered internally at .*?\)")


def _one_line(text: str) -> str:
    """Return a message's own lines as one, without what torch says of its settings."""
    kept = []
    for line in _BRACKETS.sub("", text).splitlines():
        if any(line.strip().startswith(advice) for advice in _ADVICE):
            break
        if line.strip():
            kept.append(line.strip())
    joined = " ".join(kept)
    return joined if len(joined) <= _LONGEST else joined[: _LONGEST - 1] + "…"


def reason(error: BaseException, said: Sequence[str] = ()) -> str:
    """Return an error and the warnings before it as one line; warnings are often the reason."""
    parts = [f"{type(error).__name__}: {_one_line(str(error))}".rstrip(": ")]
    parts += dict.fromkeys(_one_line(text) for text in said)
    return "; ".join(parts)


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
    """Collect what is warned of inside, so that it is told with an error and not lost."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield said
        finally:
            said.extend(str(each.message) for each in caught)
