"""The real recordings that have independent exact values, for the tests that compare with them."""

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.conftest import SHARED

_SUFFIX = ".golden.json"
SKIPPED_WITHOUT = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the shared traces and known answers are not beside this checkout"
)


def goldens(section: str) -> list[Any]:
    """Return a parameter (trace name, values) for each recording whose answers have a section."""
    found = []
    for path in sorted((SHARED / "goldens").glob(f"*{_SUFFIX}")):
        values = json.loads(path.read_text(), parse_float=Decimal)["values"]
        if section in values:
            name = path.name.removesuffix(_SUFFIX)
            found.append(pytest.param((name, values[section]), id=name))
    return found


def nanoseconds(microseconds: Decimal | int) -> int:
    """Return exact microseconds as nanoseconds."""
    return int(Decimal(microseconds) * 1000)
