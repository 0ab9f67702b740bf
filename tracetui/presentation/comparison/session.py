"""What a user left at a comparison: notes, names and the place, in small files beside the traces."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from tracetui.compare.comparison import Comparison
from tracetui.compare.scope import Per
from tracetui.compare.words import stable_name
from tracetui.model.strings import clean_text

SUFFIX: Final = ".tracetui"
_SCHEMA: Final = 1
_LONGEST: Final = 2_000
_PACKING: Final = (".gz", ".json", ".zip", ".pt", ".trace")


@dataclass(slots=True)
class PairSession:
    """Notes on a pair of traces, and where the user was."""

    page: int = 0
    match: str = ""
    """The key of the match that was selected."""
    within: str | None = None
    per: Per | None = None
    only_differences: bool = False
    closed: list[int] = field(default_factory=list)
    """Rows of the merged tree that are closed."""
    notes: dict[str, str] = field(default_factory=dict)
    """By the key of a match."""

    @property
    def is_worth_keeping(self) -> bool:
        """Return whether the user wrote anything: a visit alone leaves no file."""
        return bool(self.notes)


def match_keys(compared: Comparison) -> tuple[str, ...]:
    """Return a name for each match that the same match has when the traces are opened again.

    The names of its kernels without what differs from run to run, and a number where they repeat.
    """
    seen: dict[str, int] = {}
    keys = []
    for match in compared.matches:
        sides = [
            "+".join(stable_name(unit.name) for unit in units)
            for units in (match.baseline, match.candidate)
        ]
        base = f"{sides[0]} -> {sides[1]}"
        seen[base] = number = seen.get(base, 0) + 1
        keys.append(f"{base} #{number}")
    return tuple(keys)


def session_path(baseline: str, candidate: str) -> Path:
    """Return where the session of two traces lies: in the baseline's folder, under both names."""
    stems = [_stem(path) for path in (baseline, candidate)]
    return Path(baseline).parent / f"{stems[0]}--{stems[1]}{SUFFIX}"


def _stem(path: str) -> str:
    name = Path(path).name
    while Path(name).suffix in _PACKING and Path(name).stem:
        name = Path(name).stem
    return name


def _content(path: Path) -> dict[str, Any]:
    """Return a file's JSON object, an empty one where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def read_session(path: Path) -> PairSession:
    """Return what was left; nothing where there is no file or one that cannot be read."""
    return pair_session(_content(path))


def pair_session(content: Mapping[str, Any]) -> PairSession:
    """Return what was left, from the JSON object that was made of it; unfit members are passed over."""
    per = content.get("per")
    within = content.get("within")
    notes = content.get("notes")
    closed = content.get("closed")
    return PairSession(
        page=_number(content.get("page")),
        match=_text(content.get("match")),
        within=within if isinstance(within, str) else None,
        per=per if per in get_args(Per) else None,
        only_differences=content.get("only_differences") is True,
        closed=[row for row in closed if isinstance(row, int)] if isinstance(closed, list) else [],
        notes={_text(key): _text(note) for key, note in notes.items()}
        if isinstance(notes, dict)
        else {},
    )


@dataclass(slots=True)
class BoardSession:
    """How the traces of a folder are called, and which of them is the baseline."""

    tags: dict[str, str] = field(default_factory=dict)
    """By the file's name."""
    baseline: str = ""
    """The file's name, or nothing where nobody has named one."""

    @property
    def is_worth_keeping(self) -> bool:
        """Return whether the user named anything."""
        return bool(self.tags or self.baseline)


def board_path(trace: str) -> Path:
    """Return where the names of a folder's traces lie."""
    return Path(trace).parent / f"scoreboard{SUFFIX}"


def read_board(path: Path) -> BoardSession:
    """Return the names that were given; none where there is no file or one that cannot be read."""
    content = _content(path)
    tags = content.get("tags")
    return BoardSession(
        tags={_text(key): _text(tag) for key, tag in tags.items()}
        if isinstance(tags, dict)
        else {},
        baseline=_text(content.get("baseline")),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _text(value: object) -> str:
    return clean_text(value[:_LONGEST]) if isinstance(value, str) else ""


def write_session(path: Path, session: PairSession | BoardSession) -> str:
    """Write the file, or take it away where there is nothing to keep.

    Returns:
        Why that was not possible, in a few words; nothing if it was.
    """
    try:
        if not session.is_worth_keeping:
            path.unlink(missing_ok=True)
            return ""
        content: dict[str, Any] = {"schema": _SCHEMA, **asdict(session)}
        draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        draft.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        draft.replace(path)
    except (OSError, UnicodeError) as error:
        return clean_text(f"{path}: {error.strerror if isinstance(error, OSError) else error}")
    return ""


def tagged(paths: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return what each trace is called: as the user calls it, else by its name."""
    boards = {path.parent: read_board(board_path(str(path))) for path in map(Path, paths)}
    return [
        boards[Path(path).parent].tags.get(Path(path).name) or name
        for path, name in zip(paths, names, strict=True)
    ]


def named_baseline(paths: Sequence[str]) -> int | None:
    """Return which trace its folder has as the baseline, or ``None``."""
    for place, path in enumerate(paths):
        if read_board(board_path(path)).baseline == Path(path).name:
            return place
    return None


def keep_tag(trace: str, tag: str) -> str:
    """Keep what a trace is called; return why that was not possible, or nothing."""
    board = read_board(board_path(trace))
    if tag:
        board.tags[Path(trace).name] = _text(tag)
    else:
        board.tags.pop(Path(trace).name, None)
    return write_session(board_path(trace), board)


def keep_baseline(trace: str) -> str:
    """Keep a trace as its folder's baseline; return why that was not possible, or nothing."""
    board = read_board(board_path(trace))
    board.baseline = Path(trace).name
    return write_session(board_path(trace), board)
