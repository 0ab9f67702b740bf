"""The trace-event format: cut into chunks, decoded fast, and forgivingly where that fails."""

import gc
import re
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event as StopEvent
from typing import Any, Final

import msgspec

from tracetui.errors import LoadCancelledError, TraceFormatError
from tracetui.model.builder import TraceBuilder
from tracetui.model.strings import clean_text
from tracetui.model.trace import Origin, Trace
from tracetui.readers.arguments import ChunkTable, FileArguments
from tracetui.readers.base import Progress, Publish
from tracetui.readers.decode import EVENTS, RAW_EVENTS, Arguments, Columns, Event
from tracetui.readers.forgiving import LooseScan, loose_events, parsed
from tracetui.readers.pytorch import devices, producer, whole
from tracetui.readers.source import ByteSource

_CHUNK_BYTES: Final = 1 << 20
_MAX_HEAD_BYTES: Final = 64 << 20
"""How much may stand before the list of events."""
_MAX_TAIL_BYTES: Final = 64 << 20
_BASE_TIME: Final = "baseTimeNanoseconds"
_CUT: Final = re.compile(rb'\}\s*,\s*\{\s*"(?:ph|name|cat|pid|tid|ts|args)"\s*:')
_CUT_WINDOW: Final = 64 << 10
_HEAD_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_LIST_FOLLOWS: Final = re.compile(rb"\s*:\s*(\S)")
_FIRST_PUBLISH_S: Final = 0.25
_PUBLISH_SHARE: Final = 8
"""A published trace may cost one part in this many of the load."""
_RAW_ARGUMENTS: Final = ("dims", "old_dims", "types", "values", "strides", "grid", "block")
_ARGUMENT_KEYS: Final = {
    field.encode_name: field.name for field in msgspec.structs.fields(Arguments)
}


class ChromeReader:
    """Reads one file; an object is used once."""

    name = "Chrome trace"

    def __init__(self, path: Path, publish: Publish | None, stop: StopEvent | None) -> None:
        self._path = path
        self._publish = publish
        self._stop = stop
        self._builder = TraceBuilder()
        self._source = ByteSource(path, self._builder.report)
        self._columns = Columns(self._builder)
        self._chunks = ChunkTable()
        self._blocks: Iterator[bytes] = self._source.blocks()
        self._text = b""
        """Text that has been read and not yet decoded."""
        self._offset = 0
        """Where ``_text`` begins in the unpacked text."""
        self._n_events = 0
        self._is_eof = False
        self._is_bare_list = False
        self._started_s = time.perf_counter()
        self._next_publish_s = self._started_s + _FIRST_PUBLISH_S
        self.arguments = FileArguments(path, self._chunks, is_compressed=self._source.is_compressed)
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
            is_list_over = self._read_events()
            if not self._builder.report.is_stopped:
                self._read_tail(is_list_over=is_list_over)
            elif not self._n_events:
                raise LoadCancelledError("stopped before there was anything to show")
            trace = self._build()
        finally:
            if was_enabled:
                gc.enable()
        self._refuse_if_nothing(trace)
        return trace

    def _build(self) -> Trace:
        builder = self._builder
        return builder.build(
            Origin(
                path=clean_text(str(self._path)),
                n_bytes=self._source.n_bytes_total,
                format=self.name,
                producer=producer(builder.metadata, {key.category for key in builder.keys}),
                is_compressed=self._source.is_compressed,
            )
        )

    def _refuse_if_nothing(self, trace: Trace) -> None:
        report = trace.report
        skipped = report.skipped.total() if hasattr(report.skipped, "total") else 0
        if self._is_bare_list and report.n_events and skipped == report.n_events:
            raise TraceFormatError("a JSON list, but none of its members is a trace event")

    def _fill(self, n_bytes: int) -> None:
        """Read on until ``n_bytes`` are at hand or the file is over."""
        pieces, size = [self._text], len(self._text)
        while size < n_bytes and not self._is_eof:
            block = next(self._blocks, None)
            if block is None:
                self._is_eof = True
            else:
                pieces.append(block)
                size += len(block)
        self._text = b"".join(pieces)

    def _drop(self, n_bytes: int) -> None:
        self._text = self._text[n_bytes:]
        self._offset += n_bytes

    def _read_head(self) -> None:
        if self._source.n_bytes_total == 0:
            raise TraceFormatError("file is empty (0 bytes)")
        self._fill(4)
        if not self._source.is_compressed:
            with self._path.open("rb") as file:
                self._offset = 3 if file.read(3) == b"\xef\xbb\xbf" else 0
        n_wanted = _CHUNK_BYTES
        while True:
            self._fill(n_wanted)
            place = self._list_start()
            if place is not None:
                break
            if self._is_eof or n_wanted > _MAX_HEAD_BYTES:
                raise TraceFormatError('no "traceEvents" list in it: not a Chrome trace')
            n_wanted *= 4
        key_start, list_start = place
        if key_start:
            self._take_metadata(self._text[:key_start].rstrip().rstrip(b",") + b"}")
        self._drop(list_start)

    def _list_start(self) -> tuple[int, int] | None:
        """Return where the key and where the members of the list begin, or ``None`` for "later"."""
        stripped = self._text.lstrip()
        if not stripped:
            if self._is_eof:
                raise TraceFormatError("nothing but white space in it")
            return None
        skipped = len(self._text) - len(stripped)
        if stripped[:1] == b"[":
            self._is_bare_list = True
            return 0, skipped + 1
        if stripped[:1] != b"{":
            shown = clean_text(stripped[:12].decode("utf-8", "replace"))
            raise TraceFormatError(f"not JSON: it starts with {shown!r}")
        return self._key_place(skipped)

    def _key_place(self, skipped: int) -> tuple[int, int] | None:
        depth = 0
        for token in _HEAD_TOKEN.finditer(self._text, skipped):
            word = token.group()
            if word in (b"{", b"["):
                depth += 1
            elif word in (b"}", b"]"):
                depth -= 1
                if depth == 0:
                    raise TraceFormatError('a JSON object without a "traceEvents" list')
            elif depth == 1 and word == b'"traceEvents"':
                follows = _LIST_FOLLOWS.match(self._text, token.end())
                if follows is None:
                    return None
                if follows.group(1) == b"[":
                    return token.start(), follows.end()
                if follows.group(1) != b",":
                    raise TraceFormatError('"traceEvents" is not a list')
        return None

    def _take_metadata(self, raw: bytes) -> None:
        try:
            values = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            values, _ = parsed(raw)
        if not isinstance(values, dict):
            if raw.strip(b" \t\r\n{},"):
                self._builder.report.notes.append("metadata that cannot be read")
            return
        builder = self._builder
        builder.metadata.update(_clean(values))
        builder.base_ns = whole(builder.metadata.get(_BASE_TIME), 0)
        builder.devices = devices(builder.metadata)

    def _read_events(self) -> bool:
        """Decode chunk after chunk; return whether the list's end was seen."""
        n_wanted = _CHUNK_BYTES
        while True:
            if self._stop is not None and self._stop.is_set():
                self._builder.report.is_stopped = True
                return False
            self._fill(n_wanted)
            cut = self._cut()
            if cut and self._decoded_fast(self._text[:cut]):
                self._drop(cut)
                self._text_after_comma()
                n_wanted = _CHUNK_BYTES
            elif n_wanted == _CHUNK_BYTES and not self._is_eof:
                # A cut inside a string, or damage: glued to the next piece it tells which.
                n_wanted = 2 * _CHUNK_BYTES
                continue
            else:
                before = len(self._text)
                scan = self._decode_loosely(is_last=self._is_eof)
                if scan.is_list_over:
                    return True
                if self._is_eof and (scan.is_cut_off or not self._text.strip()):
                    return False
                n_wanted = _CHUNK_BYTES if len(self._text) < before else 2 * n_wanted
            self._tell()

    def _text_after_comma(self) -> None:
        rest = self._text.lstrip()
        if rest[:1] == b",":
            self._drop(len(self._text) - len(rest) + 1)

    def _cut(self) -> int:
        """Return where the last whole event at hand seems to end, or 0."""
        text, low = self._text, max(len(self._text) - _CUT_WINDOW, 0)
        while True:
            found = 0
            for match in _CUT.finditer(text, low):
                found = match.start() + 1
            if found or low == 0:
                return found
            low = max(low - 16 * _CUT_WINDOW, 0)

    def _decoded_fast(self, chunk: bytes) -> bool:
        """Decode a chunk as a whole list: only if that works was the cut a true one."""
        listed = b"[" + chunk + b"]"
        try:
            events = EVENTS.decode(listed)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        raw = None
        if any(event.ph == "C" for event in events):
            raw = [bytes(member) for member in RAW_EVENTS.decode(listed)]
        self._chunks.add(self._offset, len(chunk), self._n_events)
        self._columns.take(events, self._n_events, raw)
        self._n_events += len(events)
        return True

    def _decode_loosely(self, *, is_last: bool) -> LooseScan:
        scan, report = LooseScan(), self._builder.report
        text = self._text
        for loose in loose_events(text, scan, is_last=is_last):
            raw = text[loose.start : loose.end]
            self._chunks.add(self._offset + loose.start, len(raw), self._n_events)
            if loose.repaired:
                report.repaired[loose.repaired] += 1
            if loose.record is None:
                report.skipped[loose.skipped or "malformed event"] += 1
                report.n_events += 1
            else:
                event = _strict_event(raw) or _event(loose.record)
                self._columns.take([event], self._n_events, [_dumped(loose.record)])
            self._n_events += 1
        self._drop(scan.position)
        report.is_truncated |= scan.is_cut_off
        return scan

    def _read_tail(self, *, is_list_over: bool) -> None:
        """Take the metadata after the list, and read to the end: a checksum may stand there."""
        report = self._builder.report
        if not is_list_over:
            if not self._is_bare_list:
                report.is_truncated = True
            return
        self._fill(_MAX_TAIL_BYTES)
        rest = self._text.strip()
        if self._is_bare_list:
            if rest:
                report.notes.append("text after the list ignored")
        elif not rest.endswith(b"}"):
            report.is_truncated = True
        elif rest.lstrip(b",").strip() != b"}":
            self._take_metadata(b"{" + rest.lstrip(b", \t\r\n"))
        self._text = b""
        while next(self._blocks, None) is not None:
            pass
        self._is_eof = True

    def _tell(self) -> None:
        """Publish what there is, if it is time; costly traces are published more rarely."""
        now = time.perf_counter()
        if self._publish is None or now < self._next_publish_s or self._is_eof:
            return
        self._publish(self._build(), self.progress(is_complete=False))
        cost_s = time.perf_counter() - now
        self._next_publish_s = time.perf_counter() + max(_FIRST_PUBLISH_S, cost_s * _PUBLISH_SHARE)

    def progress(self, *, is_complete: bool) -> Progress:
        """Return how far the load has come."""
        return Progress(
            n_bytes_read=self._source.n_bytes_read,
            n_bytes_total=self._source.n_bytes_total,
            n_events=self._n_events,
            elapsed_s=time.perf_counter() - self._started_s,
            is_complete=is_complete,
        )


def _dumped(record: dict[str, Any]) -> bytes:
    return msgspec.json.encode(record)


def _strict_event(raw: bytes) -> Event | None:
    """Return a valid event as the fast path reads it, so that equal shapes stay equal."""
    try:
        return EVENTS.decode(b"[" + raw + b"]")[0]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _event(record: dict[str, Any]) -> Event:
    """Return a loosely read record as the fast path would have."""
    given = record.get("args")
    arguments = None
    if isinstance(given, dict):
        values: dict[str, Any] = {}
        for key, name in _ARGUMENT_KEYS.items():
            if key in given:
                value = given[key]
                is_raw = name in _RAW_ARGUMENTS
                values[name] = msgspec.Raw(msgspec.json.encode(value)) if is_raw else value
        arguments = Arguments(**values)
    return Event(
        **{key: record.get(key) for key in ("ph", "cat", "name", "pid", "tid", "id")},
        ts=_time_text(record.get("ts")),
        dur=_time_text(record.get("dur")),
        args=arguments,
    )


def _time_text(value: object) -> msgspec.Raw:
    return msgspec.Raw(value.encode("ascii", "replace") if isinstance(value, str) else b"")


def _clean(value: Any) -> Any:
    """Return metadata with every text cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(key)): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    return value
