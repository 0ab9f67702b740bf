"""Files into traces: the one way in."""

from pathlib import Path
from threading import Event

from tracetui.errors import LoadCancelledError, TraceFormatError
from tracetui.model.portion import WHOLE, Portion
from tracetui.model.trace import Trace
from tracetui.readers import cache
from tracetui.readers.arguments import FileArguments
from tracetui.readers.base import Progress, Publish
from tracetui.readers.chrome import ChromeReader
from tracetui.readers.sieve import PortionSieve, Survey


def read_trace(
    path: str | Path,
    publish: Publish | None = None,
    stop: Event | None = None,
    *,
    use_cache: bool = True,
    portion: Portion = WHOLE,
) -> Trace:
    """Return the trace in a file, from the cache if that still holds.

    A trace of a part of the file says so in its report's notes, and has nothing to do with the cache.

    Args:
        path: A trace as JSON, plain, gzipped or zipped; the content decides, not the name.
        publish: Called on this thread with how far the load is, and, when that has grown by half, with
            a frozen trace of what has been read so far.
        stop: Set it to end the load; what was read until then is returned.
        use_cache: Whether to look into the cache, and to fill it.
        portion: What to read of it. A window and steps take reading it twice.

    Raises:
        TraceFormatError: If the file cannot be read as a trace, or has none of the steps.
        LoadCancelledError: If ``stop`` was set before anything was read.
    """
    path = Path(path)
    use_cache = use_cache and portion.is_whole
    try:
        if path.is_dir():
            raise TraceFormatError("is a directory")
        if use_cache and path.stat().st_size >= cache.MIN_BYTES:
            entry = cache.lookup(path)
            if entry is not None:
                return entry.trace(FileArguments.from_state(path, entry.argument_state))
        reader = ChromeReader(path, publish, stop, _sieve(path, portion, publish, stop))
        trace = reader.read()
    except OSError as error:
        raise TraceFormatError(error.strerror or str(error)) from error
    if publish is not None:
        publish(trace, reader.progress(is_complete=True))
    is_whole = not (trace.report.is_stopped or trace.report.is_truncated)
    if use_cache and is_whole and trace.origin.n_bytes >= cache.MIN_BYTES:
        cache.store(trace, path, reader.arguments.state())
    return trace


def _sieve(
    path: Path, portion: Portion, publish: Publish | None, stop: Event | None
) -> PortionSieve | None:
    """Return what chooses a part's events; where that takes a reading of its own, do that."""
    if portion.is_whole:
        return None
    if not portion.needs_survey:
        return PortionSieve(portion)
    survey = Survey()
    if ChromeReader(path, publish, stop, survey).read().report.is_stopped:
        raise LoadCancelledError("stopped before there was anything to show")
    return PortionSieve(portion, survey.bounds(portion))


__all__ = ["Progress", "Publish", "read_trace"]
