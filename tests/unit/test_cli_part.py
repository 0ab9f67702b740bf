"""``tracetui report`` on a file that is too big: refused in one line, or read in part."""

import csv
import json
from pathlib import Path

import pytest

from tracetui.cli.main import main
from tracetui.readers import shortage
from tracetui.units import BYTES_PER_MIB

_N_GROUPS = 20


def _group(number: int) -> list[dict[str, object]]:
    """Return an operator of 20 µs, its launch, and its kernel of 30 µs, 40 µs after the group before."""
    at = 1_000_000 + number * 40
    host = {"ph": "X", "pid": 4100, "tid": 4100}
    arguments = {"correlation": number + 1}
    return [
        {**host, "cat": "cpu_op", "name": "aten::mm", "ts": at, "dur": 20},
        {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 5, "dur": 4,
         "args": arguments},
        {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "gemm", "ts": at + 8, "dur": 30,
         "args": arguments},
    ]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a trace of twenty groups in ten steps."""
    events = [event for number in range(_N_GROUPS) for event in _group(number)]
    events += [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 4100,
         "tid": 4100, "ts": 1_000_000 + step * 80, "dur": 80}
        for step in range(10)
    ]  # fmt: skip
    file = tmp_path / "big.json"
    file.write_text(json.dumps({"traceEvents": events}))
    return file


def _scarce(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortage, "available_bytes", lambda: BYTES_PER_MIB)


def _kernel_time_us(folder: Path) -> float:
    with (folder / "kernels.csv").open() as file:
        rows = list(csv.DictReader(file))
    column = next(name for name in rows[0] if name.startswith("total"))
    return sum(float(row[column]) for row in rows)


def test_too_big_a_file_is_refused_in_one_line(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _scarce(monkeypatch)
    assert main(["report", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    for word in (str(path), "60.0 MiB", "1.0 MiB are free", "--first N", "--device-only",
                 "--window START:END", "--steps A:B", "--anyway"):  # fmt: skip
        assert word in line


@pytest.mark.parametrize(
    ("options", "n_kernels", "note"),
    [
        (["--anyway"], 20, ""),
        (["--first", "30"], 10, "the first 30 events"),
        (["--device-only"], 20, "device rows only"),
        # From 0.2 to 0.4 ms groups 5 to 9 begin; the kernel of group 4 does at 0.168 ms, before it.
        (["--window", "0.2:0.4"], 5, "from 200.00 µs to 400.00 µs"),
        (["--steps", "3:4"], 4, "steps 3 to 4"),
        (["--steps", "3"], 2, "step 3"),
        (["--steps", "3:4", "--device-only"], 4, "device rows only"),
    ],
)
def test_part_is_reported_exactly_and_says_what_it_is(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], options: list[str], n_kernels: int, note: str,
) -> None:  # fmt: skip
    _scarce(monkeypatch)
    assert main(["report", str(path), "--csv", str(tmp_path / "out"), *options]) == 0
    assert _kernel_time_us(tmp_path / "out") == pytest.approx(n_kernels * 30.0)
    said = capsys.readouterr().err
    assert note in said
    assert ("read in part" in said) == bool(note)


def test_json_says_that_it_is_a_part(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(path), "--json", "--first", "4"]) == 0
    load = json.loads(capfd.readouterr().out)["load"]
    assert load["status"] == "ok-with-warnings"
    assert load["notes"] == ["read in part: the first 4 events"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--first", "0"], "'0' is no number of events"),
        (["--first", "many"], "'many' is no number of events"),
        (["--window", "5"], "'5' is no window START:END"),
        (["--window", "9:3"], "'9:3' is no window START:END"),
        (["--window", "nan:3"], "'nan:3' is no window START:END"),
        (["--steps", "b:3"], "'b:3' are no steps"),
        (["--steps", "4:2"], "'4:2' ends before it begins"),
        (["--steps", "70:90"], "its steps are 0 to 9"),
    ],
)
def test_part_that_makes_no_sense_is_refused_in_one_line(
    path: Path, capsys: pytest.CaptureFixture[str], options: list[str], complaint: str
) -> None:
    assert main(["report", str(path), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line
