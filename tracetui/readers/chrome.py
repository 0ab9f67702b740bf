"""The trace-event format: head, events, tail, and the second process where the file is big."""

import gc
import time
from pathlib import Path
from threading import Event as StopEvent
from typing import Final

from tracetui.errors import LoadCancelledError, TraceFormatError
from tracetui.model.builder import TraceBuilder
from tracetui.model.strings import clean_text
from tracetui.model.trace import Origin, Trace
from tracetui.readers.arguments import FileArguments
from tracetui.readers.base import Progress, Publish
from tracetui.readers.events import CHUNK_BYTES, EventStream
from tracetui.readers.head import list_place
from tracetui.readers.pytorch import producer
from tracetui.readers.second import SecondReader, border_of
from tracetui.readers.sieve import Sieve

_MAX_HEAD_BYTES: Final = 64 << 20
"""How much may stand before the list of events."""
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_PUBLISH_S: Final = 0.25
_GROWTH: Final = 1.5
"""A trace is published when it has grown by so much: then all that are made, and all that is reckoned
from them, cost no more than twice the last, however long the load takes."""


class ChromeReader:
    """Reads one file; an object is used once."""

    name = "Chrome trace"

    def __init__(
        self,
        path: Path,
        publish: Publish | None,
        stop: StopEvent | None,
        sieve: Sieve | None = None,
    ) -> None:
        """Open the file.

        Args:
            path: The file.
            publish: Called with how far the load is, and with what has been read so far.
            stop: Set it to end the load.
            sieve: Chooses what is kept; everything is where it is ``None``.
        """
        self._path = path
        self._sieve = sieve
        self._publish = publish
        self._stop = stop
        self._builder = TraceBuilder()
        self._stream = EventStream(path, self._builder, kept=None if sieve is None else sieve.kept)
        self._second: SecondReader | None = None
        self._is_bare_list = False
        self._started_s = time.perf_counter()
        self._next_publish_s = self._started_s + _PUBLISH_S
        self._n_published = 0
        self.arguments = FileArguments(
            path, self._stream.chunks, is_compressed=self._stream.source.is_compressed
        )
        self._builder.details = self.arguments

    def read(self) -> Trace:
        """Return the trace of the whole file, or of what there was before the user stopped.

        Raises:
            TraceFormatError: If the file holds no list of events.
            LoadCancelledError: If the user stopped before there was anything.
        """
        # The cycle collector would look at every one of the millions of objects again and again.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            self._read_head()
            self._start_second()
            self._read_events()
            if self._builder.report.is_stopped and not self._builder.report.n_events:
                raise LoadCancelledError("stopped before there was anything to show")
            if self._sieve is not None and self._sieve.note:
                self._builder.report.notes.append(self._sieve.note)
                self._builder.report.is_part = True
            trace = self._build(self._builder, is_last=True)
        finally:
            if was_enabled:
                gc.enable()
            if self._second is not None:
                self._second.close()
        self._refuse_if_nothing(trace)
        return trace

    def _build(self, builder: TraceBuilder, *, is_last: bool = False) -> Trace:
        source = self._stream.source
        return builder.build(
            Origin(
                path=clean_text(str(self._path)),
                n_bytes=source.n_bytes_total,
                format=self.name,
                producer=producer(builder.metadata, {key.category for key in builder.keys}),
                is_compressed=source.is_compressed,
            ),
            is_last=is_last,
        )

    def _refuse_if_nothing(self, trace: Trace) -> None:
        report = trace.report
        skipped = sum(report.skipped.values())
        if self._sieve is not None and self._sieve.n_left_out:
            return
        if self._is_bare_list and report.n_events and skipped == report.n_events:
            raise TraceFormatError("a JSON list, but none of its members is a trace event")

    def _read_head(self) -> None:
        stream = self._stream
        if stream.source.n_bytes_total == 0:
            raise TraceFormatError("file is empty (0 bytes)")
        if not stream.source.is_compressed:
            with self._path.open("rb") as file:
                mark = file.read(len(_BYTE_ORDER_MARK))
                stream.offset = len(mark) if mark == _BYTE_ORDER_MARK else 0
        n_wanted = CHUNK_BYTES
        while True:
            stream.fill(n_wanted)
            place = list_place(stream.text, is_whole=stream.is_eof)
            if place is not None:
                break
            if stream.is_eof or n_wanted > _MAX_HEAD_BYTES:
                raise TraceFormatError('no "traceEvents" list in it: not a Chrome trace')
            n_wanted *= 4
        self._is_bare_list = place.is_bare
        if place.key_start:
            stream.take_metadata(stream.text[: place.key_start].rstrip().rstrip(b",") + b"}")
        stream.drop(place.first_member)

    def _start_second(self) -> None:
        if self._sieve is not None:
            # What a part keeps is decided, and counted, in one place.
            return
        border = border_of(self._stream.source)
        if border is None or border <= self._stream.offset + len(self._stream.text):
            return
        try:
            self._second = SecondReader(
                self._path,
                border,
                is_bare_list=self._is_bare_list,
                is_stopped=self._is_stopped,
            )
        except OSError:
            # No process, no temporary file: one process reads it all, only more slowly.
            return
        self._stream.border = (border, self._second.place)

    def _is_stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    def _read_events(self) -> None:
        """Read this process's part, then wait for the other's, then the tail where it is ours."""
        is_over = self._read_own()
        second = self._second
        if second is not None:
            second.join(self._builder, self._stream.chunks)
        if not is_over:
            return
        if second is not None and self._stream.is_handed_over:
            while second.take_next():
                self._tell()
            if second.is_complete:
                return
            if not self._is_stopped():
                place = second.place()
                self._stream.resume(place or 0, second.end_offset, second.end_event)
            if not self._read_own():
                return
        self._stream.read_tail(is_bare_list=self._is_bare_list)

    def _read_own(self) -> bool:
        """Decode up to the end or the border; return whether the user let it."""
        if self._is_stopped():
            self._builder.report.is_stopped = True
            return False
        for _ in self._stream.decode_chunks():
            if self._is_stopped():
                self._builder.report.is_stopped = True
                return False
            if self._sieve is not None and self._sieve.is_full:
                return False
            self._tell()
        return True

    def _tell(self) -> None:
        """Publish how far the load is, if it is time, and the trace, if it has grown enough."""
        if self._second is not None:
            self._second.take_ready()
        now = time.perf_counter()
        if self._publish is None or now < self._next_publish_s:
            return
        progress = self.progress(is_complete=False)
        trace = None
        if progress.n_events >= self._n_published * _GROWTH:
            self._n_published = progress.n_events
            second = self._second
            builder = self._builder if second is None else second.preview(self._builder)
            trace = self._build(builder)
        self._publish(trace, progress)
        self._next_publish_s = time.perf_counter() + _PUBLISH_S

    def progress(self, *, is_complete: bool) -> Progress:
        """Return how far the load has come."""
        source = self._stream.source
        return Progress(
            n_bytes_read=self._n_bytes_read(),
            n_bytes_total=source.n_bytes_total,
            n_events=self._builder.report.n_events + (self._second.n_events if self._second else 0),
            elapsed_s=time.perf_counter() - self._started_s,
            is_complete=is_complete,
        )

    def _n_bytes_read(self) -> int:
        """Return how much of the file was read, by either process."""
        source, second = self._stream.source, self._second
        if second is None or not second.n_file_bytes:
            return source.n_bytes_read
        if not source.is_compressed:
            return min(source.n_bytes_read + second.n_file_bytes, source.n_bytes_total)
        # Packed, the second process unpacks the first part too, to get to its own.
        share = second.border / (source.n_text_bytes or 1)
        skipped = int(source.n_bytes_total * min(share, 1))
        return min(
            source.n_bytes_read + max(second.n_file_bytes - skipped, 0), source.n_bytes_total
        )
