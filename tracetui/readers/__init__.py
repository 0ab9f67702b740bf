"""Files into traces: the one way in."""

from pathlib import Path
from threading import Event

from tracetui.errors import TraceFormatError
from tracetui.model.trace import Trace
from tracetui.readers import cache
from tracetui.readers.arguments import FileArguments
from tracetui.readers.base import Progress, Publish
from tracetui.readers.chrome import ChromeReader


def read_trace(
    path: str | Path,
    publish: Publish | None = None,
    stop: Event | None = None,
    *,
    use_cache: bool = True,
) -> Trace:
    """Return the trace in a file, from the cache if that still holds.

    Args:
        path: A trace as JSON, plain, gzipped or zipped; the content decides, not the name.
        publish: Called on this thread with a frozen trace of what has been read so far.
        stop: Set it to end the load; what was read until then is returned.
        use_cache: Whether to look into the cache, and to fill it.

    Raises:
        TraceFormatError: If the file cannot be read as a trace.
        LoadCancelledError: If ``stop`` was set before anything was read.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise TraceFormatError("is a directory")
        if use_cache and path.stat().st_size >= cache.MIN_BYTES:
            entry = cache.lookup(path)
            if entry is not None:
                return entry.trace(FileArguments.from_state(path, entry.argument_state))
        reader = ChromeReader(path, publish, stop)
        trace = reader.read()
    except OSError as error:
        raise TraceFormatError(error.strerror or str(error)) from error
    if publish is not None:
        publish(trace, reader.progress(is_complete=True))
    is_whole = not (trace.report.is_stopped or trace.report.is_truncated)
    if use_cache and is_whole and trace.origin.n_bytes >= cache.MIN_BYTES:
        cache.store(trace, path, reader.arguments.state())
    return trace


__all__ = ["Progress", "Publish", "read_trace"]
