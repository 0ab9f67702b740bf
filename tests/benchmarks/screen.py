"""What the screen costs through a terminal: bytes for each key, latency while a file loads, a slow link.

Usage: python -m tests.benchmarks.screen [MEGABYTES]     (100 when none is given)
"""

import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.make_trace import write_trace
from tests.benchmarks.raw_terminal import QUIET_S, RawTerminal
from tests.benchmarks.screen_latency import latency_while_loading
from tracetui.units import BYTES_PER_MB

_COLUMNS, _LINES = 200, 60
_SLOW_BYTES_PER_S = 125_000
_HELD_KEYS_PER_S = 30
_HELD_S = 3
_HELLO = """
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("hello world")
Hello().run()
"""


def _cost_of(terminal: RawTerminal, keys: Sequence[str]) -> list[int]:
    costs = []
    for key in keys:
        terminal.send(key)
        costs.append(terminal.quiet())
    return costs


def bytes_for_keys(path: Path, folder: str) -> None:
    """Print how many bytes cursor and pan send, at 200x60 and 256 colours."""
    arguments = [str(path)]
    with RawTerminal(arguments, columns=_COLUMNS, lines=_LINES, XDG_STATE_HOME=folder) as terminal:
        terminal.until_loaded()
        terminal.send("2")
        terminal.quiet(3)
        rows = {
            "cursor, one lane down (at most 1 kB)": ["j", "k"] * 3,
            "dense pan (at most 40 kB)": ["d", "d", "a", "a"],
        }
        terminal.send("w")
        terminal.quiet(1)
        for name, keys in rows.items():
            costs = _cost_of(terminal, keys)
            print(f"  {name:44} median {statistics.median(costs):8,.0f}  most {max(costs):8,}")
        for _ in range(6):
            terminal.send("w")
            terminal.quiet()
        costs = _cost_of(terminal, ["d", "d", "a", "a"])
        name = "pan at 2^7 (at most 15 kB)"
        print(f"  {name:44} median {statistics.median(costs):8,.0f}  most {max(costs):8,}")


def slow_link(path: Path, folder: str) -> None:
    """Print how long after the last held key the screen settles at 125 kB/s (at most 0.5 s)."""
    with RawTerminal(
        [str(path)], columns=_COLUMNS, lines=_LINES, XDG_STATE_HOME=folder
    ) as terminal:
        terminal.until_loaded()
        terminal.send("2")
        terminal.quiet(3)
        terminal.send("w")
        terminal.quiet(1)
        start = time.perf_counter()
        taken, n_sent = 0, 0
        while (now := time.perf_counter() - start) < _HELD_S:
            if n_sent < now * _HELD_KEYS_PER_S:
                terminal.send("da"[n_sent // 20 % 2])
                n_sent += 1
            if taken < now * _SLOW_BYTES_PER_S:
                taken += len(terminal.read_some(0.001)[:4096])
            else:
                time.sleep(0.002)
        last = time.perf_counter()
        settled = last
        while True:
            allowed = (time.perf_counter() - start) * _SLOW_BYTES_PER_S
            if taken > allowed:
                time.sleep(0.002)
                continue
            data = terminal.read_some(QUIET_S)
            if not data:
                break
            taken += len(data)
            settled = time.perf_counter()
        print(
            f"  slow link: {n_sent} keys, {taken / 1000:,.0f} kB, settled {settled - last:.2f} s after"
        )


def first_paint(path: Path, folder: str) -> None:
    """Print the time to the first picture as a ratio to a hello-world app (at most 2)."""
    hello, own = [], []
    for _ in range(3):
        start = time.perf_counter()
        master, slave = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", _HELLO], stdin=slave, stdout=slave, stderr=slave
        )
        seen = b""
        while b"hello" not in seen and time.perf_counter() - start < 20:
            if select.select([master], [], [], 0.02)[0]:
                seen += os.read(master, 65536)
        hello.append(time.perf_counter() - start)
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)
        with RawTerminal([str(path)], columns=120, lines=40, XDG_STATE_HOME=folder) as terminal:
            own.append(terminal.first_bytes(b"tracetui"))
    ratio = statistics.median(own) / statistics.median(hello)
    print(
        f"  first paint {statistics.median(own):.2f} s, hello world {statistics.median(hello):.2f} s,"
        f" {ratio:.2f}x"
    )


def main() -> None:
    """Make a trace, measure, print."""
    # As it is installed: with its compiled files.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.json"
        write_trace(path, megabytes * BYTES_PER_MB)
        print(f"{megabytes} MB at {_COLUMNS}x{_LINES}, 256 colours")
        first_paint(path, folder)
        latency_while_loading(path)
        bytes_for_keys(path, folder)
        slow_link(path, folder)


if __name__ == "__main__":
    main()
