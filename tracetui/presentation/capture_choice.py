"""What was chosen of each workload, and what trying its variants taught; kept between sessions."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracetui.capture.catalog import CATALOG, WorkloadEntry
from tracetui.capture.spec import Value
from tracetui.errors import UsageError


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen of one workload; kept while another is looked at."""

    wanted: frozenset[str] | None = None
    """The variants; ``None`` is all that can run."""
    settings: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    """The parameters that are set; the others are as the device is given."""
    backward: bool | None = None
    """``None`` leaves it to the workload."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """Why variants could not run when they were tried, in one Python on one device."""

    where: str = ""
    reasons: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By workload and variant: torch's reason."""

    def of(self, where: str, workload: str) -> Mapping[str, str]:
        """Return the reasons that still hold in a place."""
        return self.reasons.get(workload, {}) if where and where == self.where else {}

    def with_result(self, where: str, workload: str, variant: str, why: str | None) -> "Refusals":
        """Return the same with what a try gave; what was learned elsewhere is forgotten."""
        kept = dict(self.reasons) if where == self.where else {}
        found = {name: each for name, each in kept.get(workload, {}).items() if name != variant}
        if why is not None:
            found[variant] = why
        return Refusals(where, {**kept, workload: found})


@dataclass(frozen=True, slots=True)
class Memory:
    """What the form starts from."""

    general: Mapping[str, Any] = field(default_factory=dict)
    """Workload, device, repeats, steps, folder and Python, where they are known and sound."""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    refusals: Refusals = field(default_factory=Refusals)


@dataclass(slots=True)
class ChoiceStore:
    """Keeps choices in one small JSON file; a damaged or missing one is a new start."""

    folder: Path

    @property
    def path(self) -> Path:
        """Return where the file lies."""
        return self.folder / "capture.json"

    def memory(self) -> Memory:
        """Return what was chosen last; what is no longer possible is left out."""
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            general = {
                name: content[name]
                for name, kind in _GENERAL.items()
                if isinstance(content.get(name), kind)
            }
            return Memory(general, _choices(content["choices"]), _refusals(content["refusals"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return Memory()

    def keep(self, memory: Memory) -> bool:
        """Keep the choices; say whether they could be written."""
        content = {
            **memory.general,
            "choices": {name: _members(each) for name, each in memory.choices.items()},
            "refusals": {
                "where": memory.refusals.where,
                "reasons": {name: dict(each) for name, each in memory.refusals.reasons.items()},
            },
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            draft = self.path.with_suffix(f".{os.getpid()}.tmp")
            draft.write_text(json.dumps(content), encoding="utf-8")
            draft.replace(self.path)
        except (OSError, UnicodeError):
            return False
        return True


_GENERAL = {
    "workload": str,
    "device": str,
    "repeats": int,
    "steps": int,
    "out": str,
    "python": str,
}


def _members(choice: Choice) -> dict[str, Any]:
    return {
        "wanted": None if choice.wanted is None else sorted(choice.wanted),
        "settings": {name: list(values) for name, values in choice.settings.items()},
        "backward": choice.backward,
    }


def _choices(content: Mapping[str, Any]) -> dict[str, Choice]:
    entries = {entry.name: entry for entry in CATALOG}
    return {name: _choice(entries.get(name), each) for name, each in content.items()}


def _choice(entry: WorkloadEntry | None, members: Mapping[str, Any]) -> Choice:
    """Return a choice as it was kept, without what the workload no longer has."""
    settings = {str(name): tuple(values) for name, values in members["settings"].items()}
    wanted = None if members["wanted"] is None else frozenset(map(str, members["wanted"]))
    if entry is not None:
        settings = {name: each for name, each in settings.items() if _is_known(entry, name, each)}
        wanted = None if wanted is None else wanted.intersection(entry.variant_names)
    return Choice(wanted, settings, members["backward"])


def _is_known(entry: WorkloadEntry, name: str, values: tuple[Value, ...]) -> bool:
    try:
        for value in values:
            entry.complete({name: value}, is_cpu=True)
    except UsageError:
        return False
    return bool(values)


def _refusals(content: Mapping[str, Any]) -> Refusals:
    reasons = {
        str(workload): {str(variant): str(why) for variant, why in each.items()}
        for workload, each in content["reasons"].items()
    }
    return Refusals(str(content["where"]), reasons)
