"""Variants in a table: one row for each trace."""

from collections.abc import Sequence
from dataclasses import dataclass

from tracetui.compare.captured import captured
from tracetui.compare.comparison import peak_bytes
from tracetui.compare.quality import occupied, roof_ratio, tensor_core_ratio
from tracetui.compare.scope import Per, chosen_scope
from tracetui.compare.sides import Side, side
from tracetui.compare.spread import median_ns
from tracetui.compare.waterfall import compile_tax_ns
from tracetui.model.trace import Trace


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One variant; medians over its instances, ``None`` where something was not measured."""

    trace: str
    """The file's path."""
    variant: str | None
    """What the capture calls it."""
    kernels: int | None
    """Pieces of device work, copies and memsets among them."""
    launches: int | None
    copies: int | None
    gpu_ns: int | None
    host_ns: int
    wall_ns: int | None
    unprofiled_ns: int | None
    """The median of the runs without the profiler."""
    tensor_core_ratio: float | None
    """The share of kernel time in kernels whose names tell that they use tensor cores."""
    roof_ratio: float | None
    """The least time that the roofs allow over the time taken."""
    occupancy_ratio: float | None
    """Theoretical, the mean over kernel time."""
    limiter: str | None
    """What limits the kernel that takes most time."""
    compile_tax_ns: int
    peak_bytes: int | None
    is_equal: bool | None
    """Whether its results agree with the reference; ``None`` where nobody compared them."""


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """All rows, over one scope."""

    within: str | None
    per: Per
    rows: tuple[ScoreRow, ...]

    def best(self, column: str) -> tuple[int, ...]:
        """Return the rows with the best value of a column; none where fewer than two have one.

        Args:
            column: A field of ``ScoreRow`` that is a number.
        """
        values = [getattr(row, column) for row in self.rows]
        known = [value for value in values if value is not None]
        if len(known) < 2 or min(known) == max(known):
            return ()
        target = max(known) if column in _MORE_IS_BETTER else min(known)
        return tuple(place for place, value in enumerate(values) if value == target)


_MORE_IS_BETTER = ("tensor_core_ratio", "roof_ratio", "occupancy_ratio")


def scoreboard(
    traces: Sequence[Trace], within: str | None = None, per: Per | None = None
) -> Scoreboard:
    """Return a row for each trace, over what all of them have.

    Raises:
        UsageError: If a trace does not have what ``within`` or ``per`` asks for.
    """
    scope = chosen_scope(traces, within, per)
    return Scoreboard(scope.within, scope.per, tuple(_row(side(each, scope)) for each in traces))


def _row(own: Side) -> ScoreRow:
    record = captured(own.trace)
    walls = own.wall_samples()
    fit = occupied(own)

    def counted(column: str) -> int | None:
        return median_ns(getattr(own, column)[own.kept]) if own.has_device else None

    return ScoreRow(
        trace=own.trace.origin.path,
        variant=None if record is None else record.variant,
        kernels=counted("n_device"),
        launches=counted("n_launches"),
        copies=counted("n_copies"),
        gpu_ns=counted("gpu_ns"),
        host_ns=median_ns(own.host_ns[own.kept]),
        wall_ns=median_ns(walls) if len(walls) else None,
        unprofiled_ns=median_ns(record.unprofiled_ns)
        if record is not None and len(record.unprofiled_ns)
        else None,
        tensor_core_ratio=tensor_core_ratio(own),
        roof_ratio=roof_ratio(own),
        occupancy_ratio=fit.ratio,
        limiter=fit.limiter,
        compile_tax_ns=compile_tax_ns(own),
        peak_bytes=peak_bytes(own.trace),
        is_equal=None if record is None else record.is_equal,
    )
