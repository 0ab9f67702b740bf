"""What a capture tells while it runs: one JSON object a line, and how long it will still take."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, TextIO

STARTED: Final = "started"
STAGE: Final = "stage"
UNAVAILABLE: Final = "unavailable"
PREPARED: Final = "prepared"
TIMED: Final = "timed"
FINISHED: Final = "finished"
NOTE: Final = "note"
FAILED: Final = "failed"
DONE: Final = "done"
MACHINE: Final = "machine"

BUILDING: Final = "building"
COMPILING: Final = "compiling"
CHECKING: Final = "checking"
WARMING_UP: Final = "warming up"
TIMING: Final = "timing"
RECORDING: Final = "recording"
EXPORTING: Final = "exporting"


@dataclass(slots=True)
class Progress:
    """Writes events; estimates the time left from how long the work so far took.

    Work is counted in units of about a second each, given before it begins. The estimate is what is
    left of them at the pace so far.
    """

    out: TextIO
    n_units: float = 0.0
    _n_done: float = 0.0
    _start_s: float = field(default_factory=monotonic)

    def tell(self, event: str, **members: Any) -> None:
        """Write one event."""
        self.out.write(json.dumps({"event": event, **members}) + "\n")
        self.out.flush()

    def stage(self, stage: str, where: Mapping[str, Any]) -> None:
        """Tell what is being done with which variant."""
        self.tell(STAGE, stage=stage, **where, left_s=self.left_s)

    def advance(self, n_units: float) -> None:
        """Note that some of the work is done."""
        self._n_done += n_units

    @property
    def left_s(self) -> float | None:
        """How many seconds are left, or none while there is no pace yet."""
        if not self._n_done or not self.n_units:
            return None
        pace_s = (monotonic() - self._start_s) / self._n_done
        return round(max(0.0, self.n_units - self._n_done) * pace_s, 1)
