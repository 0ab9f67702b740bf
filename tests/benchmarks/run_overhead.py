"""What ``tracetui run`` costs, as ratios to the same recording by ``torch.profiler`` itself.

Usage: python -m tests.benchmarks.run_overhead [SECONDS [ROUNDS]]     (10 seconds of training, 3 rounds)

A script trains for a fixed number of steps, as many as take the seconds given; it runs plain,
under ``torch.profiler`` written into it, and under ``tracetui run``, in turns.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
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
_ROOT = Path(__file__).resolve().parents[2]


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


def main(seconds: str = "10", rounds: str = "3") -> None:
    """Print the median seconds of each way to run, and their ratio to the plain script."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for script, body in (("count", _COUNT), ("plain", _PLAIN), ("profiled", _PROFILED)):
            (folder / f"{script}.py").write_text(_TRAIN + body)
        *_, counted = timed([sys.executable, "count.py", seconds], folder)
        n_steps = str(int(counted))
        run = [sys.executable, "-m", "tracetui", "run"]
        ways = {
            "plain script": [sys.executable, "plain.py", n_steps],
            "torch.profiler, whole": [sys.executable, "profiled.py", n_steps],
            "tracetui run, whole": [*run, "plain.py", n_steps],
            "tracetui run --steps 5": [*run, "--steps", "5", "plain.py", n_steps],
        }
        taken: dict[str, list[tuple[float, ...]]] = {way: [] for way in ways}
        for _ in range(int(rounds)):
            for way, command in ways.items():
                taken[way].append(timed(command, folder))
        print(f"{n_steps} steps, median of {rounds} rounds; ratios to torch.profiler, whole")
        yardstick = taken["torch.profiler, whole"]
        for way, times in taken.items():
            columns = [
                f"{what} {_median(times, column):7.2f} s"
                f" ({_median(times, column) / _median(yardstick, column):.2f})"
                for column, what in enumerate(("wall", "processor", "of it training"))
            ]
            print(f"{way:24} {'   '.join(columns)}")


def _median(times: Sequence[tuple[float, ...]], column: int) -> float:
    return statistics.median(each[column] for each in times)


if __name__ == "__main__":
    main(*sys.argv[1:])
