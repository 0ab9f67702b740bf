"""The list of events, chunk by chunk: decoded fast, and forgivingly where that fails."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from tracetui.model.builder import TraceBuilder
from tracetui.model.strings import clean_text
from tracetui.readers.arguments import ChunkTable
from tracetui.readers.columns import Columns
from tracetui.readers.decode import EVENTS, NO_MEMBERS, RAW_EVENTS, Event, Kept, arguments
from tracetui.readers.forgiving import LooseScan, loose_events, parsed
from tracetui.readers.pytorch import add_metadata
from tracetui.readers.source import ByteSource

CHUNK_BYTES: Final = 1 << 20
_MAX_TAIL_BYTES: Final = 64 << 20
_CUT: Final = re.compile(rb'\}\s*,\s*\{\s*"(?:ph|name|cat|pid|tid|ts|args)"\s*:')
_CUT_WINDOW: Final = 64 << 10
_LOOSE_BYTES: Final = 16 << 10
"""How much is read event by event before the fast path is tried again."""
_DAMAGE_AT: Final = re.compile(r"\(byte (\d+)\)")
_MAX_ENTRIES: Final = 8
"""How many places are tried for a true beginning of an event."""


class EventStream:
    """A file's text from some place on, and the builder that its events go to."""

    def __init__(
        self, path: Path, builder: TraceBuilder, *, start: int = 0, kept: Kept | None = None
    ) -> None:
        """Open the file.

        Args:
            path: The file.
            builder: Takes what is read.
            start: Where in the unpacked text to begin.
            kept: Chooses among the events; all are taken where it is ``None``.
        """
        self.builder = builder
        self.source = ByteSource(path, builder.report)
        self.chunks = ChunkTable()
        self.text = b""
        """Text that has been read and not yet decoded."""
        self.offset = start
        """Where ``text`` begins in the unpacked text."""
        self.next_event = 0
        """The number of the next event: higher than all before it."""
        self.is_eof = False
        self.is_list_over = False
        self.border: tuple[int, Callable[[], int | None]] | None = None
        """Whoever reads the rest: from where at the earliest, and a function that waits for the
        exact place, or for the news that there is none."""
        self.is_handed_over = False
        self._beyond = b""
        self._damage_at = 0
        """Where in ``text`` the decoder stopped last; 0 where it did not say."""
        self._columns = Columns(builder, kept)
        self._blocks: Iterator[bytes] = self.source.blocks(start)

    def fill(self, n_bytes: int) -> None:
        """Read on until ``n_bytes`` are at hand or the text is over."""
        pieces, size = [self.text], len(self.text)
        while size < n_bytes and not self.is_eof:
            block = next(self._blocks, None)
            if block is None:
                self.is_eof = True
            else:
                pieces.append(block)
                size += len(block)
        self.text = b"".join(pieces)
        if self.border is not None:
            self._stop_at_border(*self.border)

    def drop(self, n_bytes: int) -> None:
        """Go on by ``n_bytes``."""
        self.text = self.text[n_bytes:]
        self.offset += n_bytes

    def _stop_at_border(self, earliest: int, place_of: Callable[[], int | None]) -> None:
        if self.offset + len(self.text) < earliest:
            return
        self.border = None
        place = place_of()
        if place is None:
            return
        self.fill(place - self.offset)
        n_own = place - self.offset
        if len(self.text) < n_own:
            return
        self._beyond = self.text[n_own:]
        # What is left is a list of its own, whose last event ends where the other's first begins.
        self.text = self.text[:n_own].rstrip(b" \t\r\n,") + b"]"
        self.is_eof = self.is_handed_over = True

    def resume(self, border: int, place: int, next_event: int) -> None:
        """Take back what was handed over at ``border``, from ``place`` on."""
        self.text, self.offset, self._beyond = self._beyond, border, b""
        self.is_eof = self.is_handed_over = self.is_list_over = False
        self.next_event = next_event
        while self.offset < place and not self.is_eof:
            self.fill(1)
            self.drop(min(place - self.offset, len(self.text)))
        self._skip_comma()

    def enter(self) -> int | None:
        """Find a true beginning of an event and decode the chunk that begins there.

        Returns:
            Its place in the unpacked text, or ``None`` if there is none nearby. Only text that
            decodes as a whole list proves that it began outside of a string.
        """
        self.fill(2 * CHUNK_BYTES)
        last = self._cut()
        for _, match in zip(range(_MAX_ENTRIES), _CUT.finditer(self.text), strict=False):
            first = self.text.index(b"{", match.start() + 1)
            if first >= last:
                return None
            self.next_event = place = self.offset + first
            end = last
            if not self._decode_fast(first, end):
                # Damage further on says nothing of the beginning.
                end = self._cut(self._damage_at)
                if end <= first or not self._decode_fast(first, end):
                    continue
            self.drop(end)
            self._skip_comma()
            return place
        return None

    def decode_chunks(self) -> Iterator[None]:
        """Decode chunk after chunk, up to the list's end or the text's; yield after each."""
        n_wanted = CHUNK_BYTES
        while True:
            self.fill(n_wanted)
            cut = self._cut()
            if cut and self._decode_fast(0, cut):
                self.drop(cut)
                self._skip_comma()
                n_wanted = CHUNK_BYTES
            elif n_wanted == CHUNK_BYTES and not self.is_eof:
                # A cut inside a string, or damage: glued to the next piece it tells which.
                n_wanted = 2 * CHUNK_BYTES
                continue
            else:
                before = len(self.text)
                self._decode_before_damage()
                scan = self._decode_loosely(is_last=self.is_eof)
                if scan.is_list_over:
                    self.is_list_over = True
                    return
                if self.is_eof and (scan.is_cut_off or not self.text.strip()):
                    return
                n_wanted = CHUNK_BYTES if len(self.text) < before else 2 * n_wanted
            yield

    def _skip_comma(self) -> None:
        rest = self.text.lstrip()
        if rest[:1] == b",":
            self.drop(len(self.text) - len(rest) + 1)

    def _cut(self, end: int | None = None) -> int:
        """Return where the last whole event before ``end`` seems to end, or 0."""
        text = self.text
        high = len(text) if end is None else end
        low = max(high - _CUT_WINDOW, 0)
        while True:
            found = 0
            for match in _CUT.finditer(text, low, high):
                found = match.start() + 1
            if found or low == 0:
                return found
            low = max(low - 16 * _CUT_WINDOW, 0)

    def _decode_fast(self, start: int, cut: int) -> bool:
        """Decode a chunk as a whole list: only if that works was the cut a true one."""
        listed = b"".join((b"[", memoryview(self.text)[start:cut], b"]"))
        self._damage_at = 0
        try:
            events = EVENTS.decode(listed)
            self._columns.take(
                events,
                self.next_event,
                lambda: [bytes(member) for member in RAW_EVENTS.decode(listed)],
            )
        except msgspec.DecodeError as error:
            place = _DAMAGE_AT.search(str(error))
            self._damage_at = start + int(place.group(1)) - 1 if place else 0
            return False
        except (UnicodeDecodeError, RecursionError):
            return False
        self.chunks.add(self.offset + start, cut - start, self.next_event)
        self.next_event += len(events)
        return True

    def _decode_before_damage(self) -> None:
        """Decode fast what stands before the place that stopped the decoder."""
        cut = self._cut(self._damage_at) if self._damage_at > 0 else 0
        if cut and self._decode_fast(0, cut):
            self.drop(cut)
            self._skip_comma()

    def _decode_loosely(self, *, is_last: bool) -> LooseScan:
        """Decode some events, one after the other; behind the damage it goes faster again."""
        scan, report = LooseScan(), self.builder.report
        text = self.text
        events: list[Event] = []
        encoded: list[bytes] = []
        first_event = self.next_event
        for loose in loose_events(text, scan, is_last=is_last):
            raw = text[loose.start : loose.end]
            if loose.repaired:
                report.repaired[loose.repaired] += 1
            if loose.record is None:
                report.skipped[loose.skipped or "malformed event"] += 1
                report.n_events += 1
            else:
                self.chunks.add(self.offset + loose.start, len(raw), self.next_event)
                events.append(_strict_event(raw) or _event(loose.record))
                encoded.append(msgspec.json.encode(loose.record))
                self.next_event += 1
            if loose.end > _LOOSE_BYTES:
                break
        if events:
            self._columns.take(events, first_event, encoded.copy)
        self.drop(scan.position)
        if not scan.is_list_over:
            self._skip_comma()
        report.is_truncated |= scan.is_cut_off
        return scan

    def take_metadata(self, raw: bytes) -> None:
        """Take what stands beside the list, given as a JSON object."""
        try:
            values = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            values, _ = parsed(raw)
        if isinstance(values, dict):
            add_metadata(self.builder, _clean(values))
        elif raw.strip(b" \t\r\n{},"):
            self.builder.report.notes.append("metadata that cannot be read")

    def read_tail(self, *, is_bare_list: bool) -> None:
        """Take the metadata after the list, and read to the end: a checksum may stand there."""
        report = self.builder.report
        if not self.is_list_over:
            report.is_truncated |= not is_bare_list
            return
        self.fill(_MAX_TAIL_BYTES)
        rest = self.text.strip()
        if is_bare_list:
            if rest:
                report.notes.append("text after the list ignored")
        elif not rest.endswith(b"}"):
            report.is_truncated = True
        elif rest.lstrip(b",").strip() != b"}":
            self.take_metadata(b"{" + rest.lstrip(b", \t\r\n"))
        self.text = b""
        while next(self._blocks, None) is not None:
            pass
        self.is_eof = True


def _strict_event(raw: bytes) -> Event | None:
    """Return a valid event as the fast path reads it, so that equal shapes stay equal."""
    try:
        event = EVENTS.decode(b"[" + raw + b"]")[0]
        arguments([event.args])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return event


def _event(record: dict[str, Any]) -> Event:
    """Return a loosely read record as the fast path would have."""
    given = record.get("args")
    return Event(
        **{key: record.get(key) for key in ("ph", "cat", "name", "pid", "tid", "id")},
        ts=_time_text(record.get("ts")),
        dur=_time_text(record.get("dur")),
        args=msgspec.Raw(msgspec.json.encode(given)) if isinstance(given, dict) else NO_MEMBERS,
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
