"""What ``tracetui run`` costs, beside the same recording by ``torch.profiler`` itself.

Usage: python -m tests.benchmarks.run_overhead [SECONDS [ROUNDS]]     (10 seconds of training, 2 rounds)

A script trains for a fixed number of steps, as many as take the seconds given; it runs plain,
under ``torch.profiler`` written into it, and under ``tracetui run``, in turns. Each run is a line
as soon as it is over; the medians of all rounds follow. Processor seconds are the ones to compare
on a machine that does other things too.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_TRAIN = """
import sys, time
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU()) for _ in range(8)))
optimizer = torch.optim.Adam(model.parameters())
inputs, targets = torch.randn(64, 256), torch.randn(64, 256)

def step():
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(inputs), targets).backward()
    optimizer.step()

def train(n_steps, after=lambda: None):
    start = time.process_time()
    for _ in range(n_steps):
        step()
        after()
    return time.process_time() - start
"""
_COUNT = """
train(5)
print(max(30, round(float(sys.argv[1]) / (train(20) / 20))))
"""
_PLAIN = """
print(train(int(sys.argv[1])))
"""
_PROFILED = """
from torch.profiler import profile
with profile(record_shapes=True) as session:
    seconds = train(int(sys.argv[1]), session.step)
session.export_chrome_trace("trace.json.gz")
print(seconds)
"""
_WINDOWED = """
from torch.profiler import profile, schedule
def write(session):
    session.export_chrome_trace("trace.json.gz")
window = schedule(skip_first=12, wait=0, warmup=1, active=5, repeat=1)
with profile(record_shapes=True, schedule=window, on_trace_ready=write) as session:
    seconds = train(int(sys.argv[1]), session.step)
print(seconds)
"""
_ROOT = Path(__file__).resolve().parents[2]


_COLUMNS = ("wall", "processor", "of it training")


def timed(command: Sequence[str], folder: Path) -> tuple[float, ...]:
    """Return wall and processor seconds of a command, and processor seconds of its training."""
    start, start_cpu_s = time.perf_counter(), _children_cpu_s()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "KINETO_LOG_LEVEL": "6"},
        capture_output=True,
        text=True,
        check=True,
    )
    wall_s, cpu_s = time.perf_counter() - start, _children_cpu_s() - start_cpu_s
    return wall_s, cpu_s, float(done.stdout.split()[-1])


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(seconds: str = "10", rounds: str = "2") -> None:
    """Print the seconds of each way to run, then the medians and their ratio to torch's profiler."""
    bodies = {"count": _COUNT, "plain": _PLAIN, "whole": _PROFILED, "windowed": _WINDOWED}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for script, body in bodies.items():
            (folder / f"{script}.py").write_text(_TRAIN + body)
        *_, counted = timed([sys.executable, "count.py", seconds], folder)
        n_steps = str(int(counted))
        print(f"{n_steps} steps of training", flush=True)
        run = [sys.executable, "-m", "tracetui", "run"]
        ways = {
            "plain script": [sys.executable, "plain.py", n_steps],
            "torch.profiler, whole": [sys.executable, "whole.py", n_steps],
            "tracetui run, whole": [*run, "plain.py", n_steps],
            "torch.profiler, 5 steps": [sys.executable, "windowed.py", n_steps],
            "tracetui run --steps 5": [*run, "--steps", "5", "plain.py", n_steps],
        }
        taken: dict[str, list[tuple[float, ...]]] = {way: [] for way in ways}
        for number in range(int(rounds)):
            for way, command in ways.items():
                taken[way].append(timed(command, folder))
                _print_line(f"{number + 1}  {way}", taken[way][-1])
    _print_medians({way: _medians(times) for way, times in taken.items()}, rounds)


def _print_medians(medians: Mapping[str, tuple[float, ...]], rounds: str) -> None:
    print(f"median of {rounds} rounds, and its ratio to torch.profiler's over the same steps")
    yardsticks = {
        "tracetui run, whole": "torch.profiler, whole",
        "tracetui run --steps 5": "torch.profiler, 5 steps",
    }
    for way, seconds in medians.items():
        yardstick = medians[yardsticks.get(way, way)]
        _print_line(
            way, seconds, [mine / its for mine, its in zip(seconds, yardstick, strict=True)]
        )


def _print_line(way: str, seconds: Sequence[float], ratios: Sequence[float] = ()) -> None:
    shown = [f"({ratio:.2f})" for ratio in ratios] or [""] * len(seconds)
    columns = [
        f"{what} {each:6.2f} s {ratio}"
        for what, each, ratio in zip(_COLUMNS, seconds, shown, strict=True)
    ]
    print(f"{way:26} {'   '.join(columns)}".rstrip(), flush=True)


def _medians(times: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(statistics.median(column) for column in zip(*times, strict=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
