"""``make bench``: what loading costs, as ratios to ``json.load`` within one run.

Usage: python -m tests.benchmarks [MEGABYTES …]     (100 when none is given)
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.make_trace import write_trace
from tracetui.units import BYTES_PER_MB

_YARDSTICK = """
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
total = collections.Counter()
for event in events:
    if event.get("ph") == "X" and event.get("cat") == "kernel":
        total[event["name"]] += event["dur"]
print(total.most_common(20))
"""
_READ = """
import sys
from tracetui.readers import read_trace
trace = read_trace(sys.argv[1], use_cache=%s)
"""
_ANALYSE = (
    _READ
    + """
from tracetui.analysis.links import links
from tracetui.analysis.steps import steps
links(trace); steps(trace)
"""
)
_METER = """
import resource, sys, time
start = time.perf_counter()
exec(compile(sys.stdin.read(), "benchmark", "exec"))
own, kids = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
cpu = own.ru_utime + own.ru_stime + kids.ru_utime + kids.ru_stime
print(time.perf_counter() - start, cpu, own.ru_maxrss / 1024, file=sys.stderr)
"""


def measured(program: str, path: Path) -> tuple[float, float, float]:
    """Return wall seconds, processor seconds and peak MiB of ``program`` in a fresh Python."""
    done = subprocess.run(
        [sys.executable, "-c", _METER, str(path)],
        input=program,
        text=True,
        capture_output=True,
        check=True,
    )
    wall_s, cpu_s, peak_mib = (float(word) for word in done.stderr.split()[-3:])
    return wall_s, cpu_s, peak_mib


def report(path: Path, megabytes: int) -> None:
    """Print one table of ratios."""
    yardstick = measured(_YARDSTICK, path)
    rows = {
        "json.load and a loop": yardstick,
        "read_trace": measured(_READ % "False", path),
        "read_trace, links, steps": measured(_ANALYSE % "False", path),
    }
    measured(_READ % "True", path)
    rows["reopened from the cache"] = measured(_READ % "True", path)
    print(f"{megabytes} MB, {path.stat().st_size:,} bytes")
    for name, (wall_s, cpu_s, peak_mib) in rows.items():
        print(
            f"  {name:28} wall {wall_s:7.2f} s ({wall_s / yardstick[0]:.2f}x)  "
            f"cpu {cpu_s:7.2f} s ({cpu_s / yardstick[1]:.2f}x)  peak {peak_mib:6.0f} MiB"
        )


def main() -> None:
    """Make each size, measure, print."""
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in [int(word) for word in sys.argv[1:]] or [100]:
            path = Path(folder) / f"{megabytes}.json"
            start = time.perf_counter()
            n_events = write_trace(path, megabytes * BYTES_PER_MB)
            print(f"{n_events:,} events written in {time.perf_counter() - start:.1f} s")
            report(path, megabytes)


if __name__ == "__main__":
    main()
