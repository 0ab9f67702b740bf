"""What every reader owes the rest: a trace with an origin, a report and arguments."""

import json
from pathlib import Path

from tracetui.readers import Progress, read_trace
from tracetui.readers.chrome import ChromeReader


def test_reader_names_itself_and_says_where_the_trace_came_from(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = {"ph": "X", "name": "op", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    path.write_text(json.dumps([event]))
    seen: list[Progress] = []
    trace = read_trace(path, lambda _, progress: seen.append(progress), use_cache=False)
    assert trace.origin.format == ChromeReader.name
    assert trace.origin.path == str(path)
    assert trace.origin.n_bytes == path.stat().st_size
    assert trace.report.n_events == 1
    assert trace.details.event(0) == event
    assert all(progress.n_events <= 1 for progress in seen)
