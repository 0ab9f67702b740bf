"""Arrows from one slice to another."""

from dataclasses import dataclass

from tracetui.model.arrays import Int32s


@dataclass(frozen=True, slots=True, eq=False)
class FlowTable:
    """Every arrow whose two ends were found; one row for each pair of start and finish."""

    category_id: Int32s
    """Into ``Trace.categories``: ``ac2g`` for launch to device work, ``fwdbwd`` for autograd."""
    from_id: Int32s
    to_id: Int32s

    def __len__(self) -> int:
        return len(self.from_id)
