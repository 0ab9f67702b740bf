"""A comparison as JSON for scripts and as Markdown for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from tracetui.compare.comparison import Comparison
from tracetui.compare.kinds import Match, MatchKind
from tracetui.compare.notes import notes
from tracetui.compare.scoreboard import Scoreboard, ScoreRow
from tracetui.compare.sentence import answer, named, signed, signed_percent
from tracetui.compare.spread import Spread
from tracetui.compare.tables import NameRow
from tracetui.compare.units import Unit
from tracetui.compare.waterfall import Waterfall
from tracetui.format import NOT_MEASURED, count, duration, percent, size
from tracetui.reports.json_report import to_json
from tracetui.reports.markdown_report import escaped
from tracetui.reports.report import SCHEMA, Row, Time

_WATERFALLS = (("gpu", "Device time"), ("host", "Host time"), ("wall", "Wall time"))
_PERCENT_DECIMALS = 6
_IN_WORDS = {
    MatchKind.SAME: "the same",
    MatchKind.SLOWER: "the same, slower",
    MatchKind.FASTER: "the same, faster",
    MatchKind.FUSED: "fused",
    MatchKind.SPLIT: "split",
    MatchKind.SWAPPED: "same work, another way",
    MatchKind.ONLY_BASELINE: "only in A",
    MatchKind.ONLY_CANDIDATE: "only in B",
    MatchKind.MOVED_TO_HOST: "moved to the host",
    MatchKind.NEW_COPY: "a new copy",
}
"""What became of some work, for people; JSON has the words of the contract."""


@dataclass(frozen=True, slots=True)
class CompareReport:
    """A baseline and its candidates."""

    comparisons: tuple[Comparison, ...]
    scoreboard: Scoreboard

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the traces' names, the baseline first."""
        return tuple(row.trace for row in self.scoreboard.rows)


def compare_json(report: CompareReport, user_notes: Sequence[str] = ()) -> bytes:
    """Return the report as one JSON object, as the contract of the command line has it.

    Args:
        report: The comparisons.
        user_notes: What a person noted of them; absent where there is nothing.
    """
    return to_json(
        {
            "schema": SCHEMA,
            "baseline": report.paths[0],
            "candidates": list(report.paths[1:]),
            "within": report.scoreboard.within,
            "per": report.scoreboard.per,
            "pairs": [_pair(each) for each in report.comparisons],
            "scoreboard": [_score(row) for row in report.scoreboard.rows],
            **({"user_notes": list(user_notes)} if user_notes else {}),
        }
    )


def _pair(compared: Comparison) -> Row:
    row: Row = {
        "candidate": compared.candidate.trace.origin.path,
        "within": compared.scope.within,
        "per": compared.scope.per,
        "answer": answer(compared),
        "notes": list(notes(compared)),
        "gpu_us": _spread_row(compared.gpu),
        "host_us": _spread_row(compared.host),
        "wall_us": _spread_row(compared.wall),
        "unprofiled_us": None if compared.unprofiled is None else _spread_row(compared.unprofiled),
    }
    for name, waterfall in (
        ("", compared.gpu_waterfall),
        ("host_", compared.host_waterfall),
        ("wall_", compared.wall_waterfall),
    ):
        row[f"{name}waterfall"] = _parts(waterfall)
        row[f"{name}residual_us"] = None if waterfall is None else Time(waterfall.residual_ns)
    row["matches"] = [_match_row(match) for match in compared.matches]
    row["operators"] = [_operator_row(each) for each in compared.operators]
    row["kernels"] = [_name_row(each) for each in compared.kernel_names]
    row["launches"] = {
        "baseline": compared.launches.baseline,
        "candidate": compared.launches.candidate,
        "delta": compared.launches.delta,
    }
    before, after = compared.peak_bytes
    row["peak_bytes"] = {
        "baseline": before,
        "candidate": after,
        "delta": None if before is None or after is None else after - before,
    }
    return row


def _spread_row(spread: Spread | None) -> Row:
    if spread is None:
        return dict.fromkeys(("baseline", "candidate", "delta", "ratio", "ci", "verdict"))
    return {
        "baseline": Time(spread.baseline_ns),
        "candidate": Time(spread.candidate_ns),
        "delta": Time(spread.delta_ns),
        "ratio": None if spread.ratio is None else round(spread.ratio, _PERCENT_DECIMALS),
        "ci": None
        if spread.ci is None
        else [round(bound, _PERCENT_DECIMALS) for bound in spread.ci],
        "verdict": spread.verdict.value,
    }


def _parts(waterfall: Waterfall | None) -> list[Row] | None:
    if waterfall is None:
        return None
    return [{"part": part.name, "delta_us": Time(part.delta_ns)} for part in waterfall.parts]


def _match_row(match: Match) -> Row:
    return {
        "kind": match.kind.value,
        "baseline": [unit.name for unit in match.baseline],
        "candidate": [unit.name for unit in match.candidate],
        "delta_us": Time(match.delta_ns),
        "why": match.why,
        "sure": match.is_sure,
        "baseline_us": Time(match.baseline_ns) if match.baseline else None,
        "candidate_us": Time(match.candidate_ns) if match.candidate else None,
    }


def _time(ns: int | None) -> Time | None:
    return None if ns is None else Time(ns)


def _name_row(row: NameRow) -> Row:
    return {
        "name": row.name,
        "only": _only(row),
        "baseline_calls": row.baseline_calls,
        "candidate_calls": row.candidate_calls,
        "baseline_us": _time(row.baseline_ns),
        "candidate_us": _time(row.candidate_ns),
        "delta_us": Time(row.delta_ns),
    }


def _operator_row(row: NameRow) -> Row:
    return {
        **_name_row(row),
        "baseline_gpu_us": _time(row.baseline_gpu_ns),
        "candidate_gpu_us": _time(row.candidate_gpu_ns),
    }


def _only(row: NameRow) -> str | None:
    if row.candidate_ns is None:
        return "baseline"
    return "candidate" if row.baseline_ns is None else None


def _score(row: ScoreRow) -> Row:
    return {
        "trace": row.trace,
        "variant": row.variant,
        "kernels_per_call": row.kernels,
        "launches_per_call": row.launches,
        "copies_per_call": row.copies,
        "gpu_us": _time(row.gpu_ns),
        "host_us": Time(row.host_ns),
        "wall_us": _time(row.wall_ns),
        "unprofiled_us": _time(row.unprofiled_ns),
        "tensor_core_ratio": row.tensor_core_ratio,
        "roof_ratio": row.roof_ratio,
        "occupancy": row.occupancy_ratio,
        "limiter": row.limiter,
        "compile_tax_us": Time(row.compile_tax_ns),
        "peak_bytes": row.peak_bytes,
        "equal": row.is_equal,
    }


def compare_markdown(report: CompareReport, limit: int = 0) -> str:
    """Return the report as Markdown.

    Args:
        report: The comparisons.
        limit: How many matches each pair shows, the largest differences first; 0 for all.
    """
    lines: list[str] = []
    for compared in report.comparisons:
        lines += _pair_lines(compared, limit)
    lines += _score_lines(report.scoreboard)
    return "\n".join(lines) + "\n"


def _pair_lines(compared: Comparison, limit: int) -> list[str]:
    a, b = (side.trace.origin.path for side in (compared.baseline, compared.candidate))
    within = f"within `{compared.scope.within}`, " if compared.scope.within else ""
    per = "in total" if compared.scope.per == "total" else f"per {compared.scope.per}"
    lines = [
        f"# {escaped(PurePath(a).name)} against {escaped(PurePath(b).name)}",
        "",
        f"A = {escaped(a)}  ",
        f"B = {escaped(b)}  ",
        f"{within}{per}, medians",
        "",
        f"**{escaped(answer(compared))}**",
        "",
        *(f"- {escaped(note)}" for note in notes(compared)),
        "",
        *_table(
            ("", "A", "B", "Δ", "ratio", "95 % interval", "verdict"),
            [
                _spread_cells(title, spread)
                for title, spread in (
                    ("device", compared.gpu),
                    ("host", compared.host),
                    ("wall", compared.wall),
                    ("without the profiler", compared.unprofiled),
                )
                if spread is not None
            ],
        ),
    ]
    for field, title in _WATERFALLS:
        waterfall: Waterfall | None = getattr(compared, f"{field}_waterfall")
        if waterfall is not None:
            lines += _waterfall_lines(title, waterfall)
    shown = [compared.matches[place] for place in compared.differences][: limit or None]
    if shown:
        lines += [
            (
                f"## What differs ({len(shown)} of {len(compared.differences)} differences,"
                f" {len(compared.matches)} matches)"
            ),
            "",
            *_table(
                ("what became of it", "A", "B", "A time", "B time", "Δ", "why"),
                [_match_cells(match) for match in shown],
            ),
        ]
    return lines


def _spread_cells(title: str, spread: Spread) -> list[str]:
    interval = NOT_MEASURED
    if spread.ci is not None:
        interval = " … ".join(signed_percent(bound - 1) for bound in spread.ci)
    return [
        title,
        duration(spread.baseline_ns),
        duration(spread.candidate_ns),
        signed(spread.delta_ns),
        NOT_MEASURED if spread.ratio is None else f"{spread.ratio:.3f}",
        interval,
        spread.verdict.value,
    ]


def _waterfall_lines(title: str, waterfall: Waterfall) -> list[str]:
    rows = [
        [part.name, duration(part.baseline_ns), duration(part.candidate_ns), signed(part.delta_ns)]
        for part in waterfall.parts
    ]
    rows.append(["residual", "", "", signed(waterfall.residual_ns)])
    rows.append(["sum", "", "", signed(waterfall.delta_ns)])
    return [f"## {title}", "", *_table(("part", "A", "B", "Δ"), rows)]


def _match_cells(match: Match) -> list[str]:
    return [
        _IN_WORDS[match.kind] + ("" if match.is_sure else ", not sure"),
        _units_text(match.baseline),
        _units_text(match.candidate),
        duration(match.baseline_ns) if match.baseline else NOT_MEASURED,
        duration(match.candidate_ns) if match.candidate else NOT_MEASURED,
        signed(match.delta_ns),
        match.why,
    ]


def _units_text(units: tuple[Unit, ...]) -> str:
    if not units:
        return NOT_MEASURED
    return named(units)


def _score_lines(board: Scoreboard) -> list[str]:
    per = "in total" if board.per == "total" else f"per {board.per}"
    columns = (
        "trace",
        "kernels",
        "launches",
        "copies",
        "device",
        "host",
        "wall",
        "without profiler",
        "tensor cores",
        "roof",
        "occupancy",
        "limited by",
        "compile tax",
        "peak",
        "equal",
    )
    rows = [
        [
            row.variant or PurePath(row.trace).name,
            count(row.kernels),
            count(row.launches),
            count(row.copies),
            duration(row.gpu_ns),
            duration(row.host_ns),
            duration(row.wall_ns),
            duration(row.unprofiled_ns),
            percent(row.tensor_core_ratio),
            percent(row.roof_ratio),
            percent(row.occupancy_ratio),
            row.limiter or NOT_MEASURED,
            duration(row.compile_tax_ns),
            size(row.peak_bytes),
            {True: "yes", False: "no", None: NOT_MEASURED}[row.is_equal],
        ]
        for row in board.rows
    ]
    return [f"## Scoreboard, {per}", "", *_table(columns, rows)]


def _table(heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = [f"| {' | '.join(heading)} |", f"|{'|'.join('---' for _ in heading)}|"]
    lines += [f"| {' | '.join(escaped(str(cell)) for cell in row)} |" for row in rows]
    return [*lines, ""]
