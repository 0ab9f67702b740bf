"""What is measured: each prints the 20 kernels with the longest total, and so has decoded all of a file.

Every program takes the file as its first argument.
"""

from typing import Final

YARDSTICK: Final = """
import collections, json, sys
events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
total = collections.Counter()
for event in events:
    if event.get("ph") == "X" and event.get("cat") == "kernel":
        total[event["name"]] += event["dur"]
for name, us in total.most_common(20):
    print(us, name)
"""

_ONE_CORE: Final = """
import os, sys
if sys.argv[2] == "1":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
"""
"""The second argument is how many processes may read."""

SUMMARY: Final = (
    _ONE_CORE
    + """
import numpy as np
from tracetui.model.slices import SliceKind
from tracetui.readers import read_trace
trace = read_trace(sys.argv[1], use_cache=False)
kernels = np.flatnonzero(trace.slices.kind == SliceKind.KERNEL)
total = np.zeros(len(trace.names), np.int64)
np.add.at(total, trace.slices.name_id[kernels], trace.slices.dur_ns[kernels])
for row in np.argsort(-total)[:20].tolist():
    print(int(total[row]) / 1000, trace.names[row])
"""
)

SHARES: Final = (
    _ONE_CORE
    + """
import time
from tracetui.analysis.links import links
from tracetui.analysis.steps import steps
from tracetui.model.builder import TraceBuilder
from tracetui.readers import read_trace
build, spent = TraceBuilder.build, []
def timed_build(*arguments, **options):
    start = time.process_time()
    trace = build(*arguments, **options)
    spent.append(time.process_time() - start)
    return trace
TraceBuilder.build = timed_build
start = time.process_time()
trace = read_trace(sys.argv[1], use_cache=False)
parse_s = time.process_time() - start - sum(spent)
start = time.process_time()
links(trace); steps(trace)
print(parse_s, sum(spent) + time.process_time() - start)
"""
)
"""Prints the processor seconds of decoding, and of all that makes a nested and linked trace of it."""

CACHE: Final = """
import sys, time
from pathlib import Path
from tracetui.readers import cache, read_trace
path, times = Path(sys.argv[1]), {}
store = cache.store
def timed_store(*arguments):
    start = time.perf_counter()
    done = store(*arguments)
    times["store"] = time.perf_counter() - start
    return done
cache.store = timed_store
start = time.perf_counter()
read_trace(path)
times["read"] = time.perf_counter() - start - times["store"]
reopened = []
for _ in range(5):
    start = time.perf_counter()
    read_trace(path)
    reopened.append(time.perf_counter() - start)
n_bytes = sum(entry.stat().st_size for entry in cache.cache_folder().glob("*.columns"))
print(times["read"], times["store"], min(reopened), n_bytes)
"""
"""Prints the seconds of reading, of writing the cache and of reopening, and the cache's bytes."""

TIMELINE: Final = """
import statistics, sys, time
import numpy as np
from tracetui.presentation.cells import lane_cells
from tracetui.presentation.lanes import lane_index
from tracetui.presentation.viewport import Viewport
from tracetui.readers import read_trace
trace = read_trace(sys.argv[1], use_cache=False)
index = lane_index(trace)
lanes = [lane for track_id in range(len(trace.tracks)) for lane in index.lanes_of(track_id)]
lanes = (lanes * 40)[:40]
viewport, worst = Viewport.whole(trace.end_ns), 0.0
while viewport.span_ns > 1000:
    taken = []
    for _ in range(3):
        start = time.thread_time()
        for lane in lanes:
            lane_cells(lane, viewport, 200)
        taken.append(time.thread_time() - start)
    worst = max(worst, min(taken))
    narrower = viewport.zoomed(4, (viewport.start_ns + viewport.end_ns) // 2, inwards=True)
    if narrower == viewport:
        break
    viewport = narrower
records = []
for row in np.linspace(0, len(trace.slices) - 1, 50).astype(int).tolist():
    start = time.thread_time()
    assert trace.details.event(int(trace.slices.event_id[row])) is not None
    records.append(time.thread_time() - start)
print(worst * 1000, statistics.median(records) * 1000)
"""
"""Prints the processor's milliseconds for the slowest zoom's 40 x 200 cells, and for one event's raw record."""

EXACT: Final = """
import json, sys
from decimal import Decimal
import numpy as np
from tracetui.readers import read_trace
path = sys.argv[1]
trace = read_trace(path, use_cache=False)
with open(path, encoding="utf-8") as file:
    document = json.load(file, parse_float=Decimal, parse_int=Decimal)
base_ns = int(document.get("baseTimeNanoseconds", 0))
def ns(us):
    return int((us * 1000).to_integral_value())
events = document["traceEvents"]
complete = [event for event in events if event["ph"] == "X"]
rows = np.array([(ns(e["ts"]), ns(e["dur"])) for e in complete], np.int64)
slices = trace.slices
order = np.argsort(slices.event_id)  # the ids of two processes leave room between them
first_ns = trace.origin_ns - base_ns
assert len(order) == len(rows), "events lost"
differ = (slices.ts_ns[order] + first_ns != rows[:, 0]) | (slices.dur_ns[order] != rows[:, 1])
wanted = {}
for event in complete:
    wanted[event["name"]] = wanted.get(event["name"], 0) + ns(event["dur"])
total = np.zeros(len(trace.names), np.int64)
np.add.at(total, slices.name_id, slices.dur_ns)
n_sums = sum(int(total[trace.names.find(name)]) != ns for name, ns in wanted.items())
print(len(events) - trace.report.n_events, int(differ.sum()), n_sums, len(events), len(wanted))
"""
"""Prints how many events are lost, how many times and sums by name differ from a Decimal reference,
and of how many events and names."""

HOLISTIC: Final = """
import sys
from hta.common.trace import Trace
trace = Trace(trace_files={0: sys.argv[1]}, trace_dir="")
trace.parse_traces(use_multiprocessing=False)
frame, symbols = trace.get_trace(0), trace.symbol_table
kernels = frame[frame["cat"] == symbols.get_sym_id_map()["kernel"]]
names = symbols.get_sym_table()
for name, us in kernels.groupby("name")["dur"].sum().nlargest(20).items():
    print(us, names[name])
"""

TENSORBOARD: Final = """
import sys, tempfile
from torch_tb_profiler.profiler.data import RunProfileData
with tempfile.TemporaryDirectory() as folder:
    data = RunProfileData.parse("worker", 1, sys.argv[1], folder)
    data.process()
    print(data.kernel_stat.sort_values("sum", ascending=False).head(20))
"""

TRACELENS: Final = """
import sys
from TraceLens import TreePerfAnalyzer
analyzer = TreePerfAnalyzer.from_file(sys.argv[1])
frame = analyzer.get_df_kernel_launchers()
print(frame.head(20))
"""

PERFETTO_QUERY: Final = """
select name, sum(dur) as total from slice where category = 'kernel'
group by name order by total desc limit 20;
"""
