"""A second process that reads the latter part of a big file, while the first reads the other.

The first process starts it, meets it at the border that the second has proved, and takes its parts as
they come. Where that fails, at any moment, the first goes on from where the last part ended.
"""

import gc
import os
import queue
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import IO, Final

import tracetui.readers
from tracetui.model.builder import TraceBuilder
from tracetui.readers.arguments import ChunkTable
from tracetui.readers.events import EventStream
from tracetui.readers.parts import Part, PartTaker, PartWriter, received, send
from tracetui.readers.source import ByteSource

MIN_TEXT_BYTES: Final = 20_000_000
"""From this size two processes are faster than one."""
_HEAD_START: Final = 6_000_000
"""What the first process reads while the second starts."""
_CHUNKS_PER_PART: Final = 8
_POLL_S: Final = 0.05
_PROGRAM: Final = "from tracetui.readers.second import main; main()"


def n_free_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def border_of(source: ByteSource) -> int | None:
    """Return from where on a second process should read, or ``None`` if one is enough."""
    n_bytes = source.n_text_bytes
    if n_bytes is None or n_bytes < MIN_TEXT_BYTES or n_free_cores() < 2:
        return None
    return (n_bytes + _HEAD_START) // 2


class SecondReader:
    """The first process's hold on the second.

    Parts wait here until the first process has read its own: rows and numbers are then those of one
    process that read it all, whoever was faster.
    """

    def __init__(
        self, path: Path, border: int, *, is_bare_list: bool, is_stopped: Callable[[], bool]
    ) -> None:
        """Start it.

        Args:
            path: The file.
            border: From where in the unpacked text it reads, at the earliest.
            is_bare_list: Whether the file is a list and nothing else.
            is_stopped: Whether the user wants no more.
        """
        self.border = border
        self.is_complete = False
        self.n_file_bytes = 0
        self.n_events = 0
        self.end_offset = self.end_event = border
        self._waiting: list[Part] = []
        self._taker: PartTaker | None = None
        self._place: int | None = None
        self._is_stopped = is_stopped
        self._folder = tempfile.TemporaryDirectory(prefix="tracetui-", ignore_cleanup_errors=True)
        self._columns = Path(self._folder.name) / "columns"
        self._parts: queue.SimpleQueue[Part | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _PROGRAM, path, str(border), str(int(is_bare_list))),
                self._columns,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": _python_path()},
        )
        self._receiver = Thread(target=self._receive, daemon=True)
        self._receiver.start()

    def _receive(self) -> None:
        pipe = self._process.stdout
        if pipe is None:
            return
        with pipe:
            part = received(pipe)
            while part is not None:
                self._parts.put(part)
                part = received(pipe)
        self._parts.put(None)

    def _next(self, *, waits: bool) -> bool:
        """Take the next part, and return whether there was one.

        A process that has died is as one that the user stopped: it has no next part.
        """
        while not self.is_complete and not self._is_stopped():
            try:
                part = self._parts.get(timeout=_POLL_S) if waits else self._parts.get_nowait()
            except queue.Empty:
                if waits:
                    continue
                return False
            if part is None:
                self._parts.put(None)
                return False
            self._take(part)
            return True
        return False

    def _take(self, part: Part) -> None:
        self._place = part.first_offset
        self.end_offset, self.end_event = part.end_offset, part.end_event
        self.n_file_bytes = part.n_file_bytes
        self.is_complete = part.is_last
        if self._taker is None:
            self._waiting.append(part)
            self.n_events += part.report.n_events
        else:
            self._taker.take(part)

    def place(self) -> int | None:
        """Wait until it has found its first event, and return where that begins."""
        if self._place is None:
            self._next(waits=True)
        return self._place

    def take_ready(self) -> None:
        """Take what it has read by now."""
        while self._next(waits=False):
            pass

    def take_next(self) -> bool:
        """Wait for more and take it; ``False`` when no more will come."""
        return self._next(waits=True)

    def join(self, builder: TraceBuilder, chunks: ChunkTable) -> None:
        """Add what has been read, and from now on what is being read, to what the first process read.

        Args:
            builder: Takes the rows.
            chunks: Takes where in the file they stand.
        """
        self._taker = PartTaker(builder, chunks, self._columns)
        for part in self._waiting:
            self._taker.take(part)
        self._waiting.clear()
        self.n_events = 0

    def preview(self, builder: TraceBuilder) -> TraceBuilder:
        """Return what both have read by now, when ``builder`` holds what the first has."""
        if not self._waiting:
            return builder
        both = builder.copy()
        taker = PartTaker(both, ChunkTable(), self._columns)
        for part in self._waiting:
            taker.take(part)
        return both

    def close(self) -> None:
        """End it, if it still runs, and leave nothing behind."""
        self._process.kill()
        self._process.wait()
        self._receiver.join()
        # Its columns stay readable through the maps that were made of them.
        self._folder.cleanup()


def _python_path() -> str:
    """Return a search path on which the second process finds this package."""
    root = Path(tracetui.readers.__file__).resolve().parents[2]
    given = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(root), given] if given else [str(root)])


def _parts(stream: EventStream, place: int, columns: IO[bytes], *, is_bare_list: bool) -> None:
    """Read to the end and send what was read, part after part."""
    writer = PartWriter(stream.builder, stream.chunks, columns)

    def send_part(*, is_last: bool) -> None:
        part = writer.part(
            first_offset=place,
            end_offset=stream.offset,
            end_event=stream.next_event,
            n_file_bytes=stream.source.n_bytes_read,
            is_last=is_last,
        )
        send(part, sys.stdout.buffer)

    send_part(is_last=False)
    for n_chunks, _ in enumerate(stream.decode_chunks(), 1):
        if n_chunks % _CHUNKS_PER_PART == 0:
            send_part(is_last=False)
    stream.read_tail(is_bare_list=is_bare_list)
    send_part(is_last=True)


def main() -> None:
    """Run in the second process: path, border, whether the list is all, and where columns go."""
    path, border, is_bare_list, columns = sys.argv[1:]
    gc.disable()
    stream = EventStream(Path(path), TraceBuilder(), start=int(border))
    place = stream.enter()
    if place is None:
        return
    try:
        with Path(columns).open("wb") as file:
            _parts(stream, place, file, is_bare_list=is_bare_list == "1")
    except BrokenPipeError:
        # The first process has gone. The interpreter must not flush into the pipe again.
        os._exit(1)
