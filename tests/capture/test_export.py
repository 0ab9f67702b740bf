"""The profiler's traps, each acted out."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.capture.conftest import ROOT, needs_torch
from tracetui.capture.export import decoded_metadata, encoded_metadata
from tracetui.capture.exported_file import safe_name
from tracetui.readers import read_trace

HEAD = """
import sys
from pathlib import Path
from tracetui.capture.environment import prepare_environment
prepare_environment()
import torch
from torch.profiler import profile, record_function
from tracetui.capture.export import Recording, RecordingOptions
from tracetui.capture.exported_file import safe_name
from tracetui.errors import CaptureError
folder = Path(sys.argv[1])
def work(): return torch.ones(4, 4) @ torch.ones(4, 4)
"""
HOSTILE = [
    'quo"te',
    "back\\slash",
    "new\nline",
    "tab\tx",
    "esc\x1b[31m",
    "計算",
    "\N{ROCKET}",
    "a\0b",
]


def test_safe_names_are_printable_ascii_and_stay_distinct():
    names = [safe_name(name) for name in HOSTILE]

    assert names[:3] == ["quo'te", "back/slash", "new<U+000A>line"]
    assert names[5] == "<U+8A08><U+7B97>"
    assert len(set(names)) == len(names)
    assert all(name.isascii() and name.isprintable() for name in names)
    assert safe_name("mlp_fwd [0]") == "mlp_fwd [0]"


def test_metadata_survives_what_damages_the_file():
    metadata = {"text": "".join(HOSTILE), "runs": [1, 2], "nothing": None}
    encoded = encoded_metadata(metadata)

    assert decoded_metadata(json.loads(encoded)) == {"schema": 1, **metadata}
    assert set(encoded[1:-1]) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
    )


def _run(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HEAD + code, str(folder)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


pytestmark = [pytest.mark.torch, needs_torch]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """Act out, in one process, everything that does not end it; return what each gave."""
    folder = tmp_path_factory.mktemp("export")
    code = (
        f"HOSTILE = {HOSTILE!r}\n"
        """
import json, resource, threading
gave = {}
def error_of(act):
    try:
        act()
    except CaptureError as error:
        return str(error)

# Names and metadata that damage a file.
recording = Recording(); recording.warm_up(); recording.start()
for number, name in enumerate(HOSTILE):
    recording.begin_step(number)
    with record_function(safe_name(name)): work()
recording.stop({"text": "".join(HOSTILE)})
gave["steps"] = recording.n_steps
gave["notes"] = recording.write(folder / "names.json.gz").notes
gave["twice"] = error_of(lambda: recording.write(folder / "again.json.gz"))

# A name of the user's that has a quote.
recording = Recording(); recording.start()
with record_function('quo"te'): work()
recording.stop({})
gave["quote"] = recording.write(folder / "quote.json").notes

# A profiler inside, closed or still open.
recording = Recording(); recording.start()
with profile(): work()
gave["is_lost"] = recording.is_lost
gave["inner"] = error_of(recording.stop)
gave["inner write"] = error_of(lambda: recording.write(folder / "inner.json"))
recording = Recording(); recording.start()
inner = profile(); inner.start(); work()
gave["open inner"] = error_of(recording.stop)
inner.stop()

# One between the warm-up and the start, which ends what was prepared.
recording = Recording(); recording.warm_up()
with profile(): work()
recording.start(); work(); recording.stop()
gave["between"] = recording.write(folder / "between.json").notes

# One that runs already.
with profile():
    gave["outer"] = error_of(Recording().start)

# After all this a recording still works, and is stopped once.
recording = Recording(); recording.start(); work()
gave["running write"] = error_of(lambda: recording.write(folder / "running.json"))
recording.stop(); recording.stop()
gave["missing folder"] = error_of(lambda: recording.write(folder / "gone" / "trace.json"))

# Threads that run before the start.
go, end = threading.Event(), threading.Event()
def other():
    go.wait()
    with record_function("other_thread"): work()
    end.set()
for name, all_threads in (("one", False), ("all", True)):
    go.clear(); end.clear()
    thread = threading.Thread(target=other); thread.start()
    recording = Recording(RecordingOptions(all_threads=all_threads)); recording.start()
    work(); go.set(); end.wait(); thread.join()
    recording.stop(); recording.write(folder / f"threads_{name}.json")

# A device that this torch cannot record.
recording = Recording(RecordingOptions(device="mps")); recording.start(); work(); recording.stop()
gave["no kernels"] = recording.write(folder / "no_kernels.json").notes

# A disk that takes no more: the exporter says nothing, so the limit is met by its silence.
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
recording = Recording(); recording.start(); work(); recording.stop()
gave["full disk"] = error_of(lambda: recording.write(folder / "full.json.gz"))
gave["left"] = sorted(path.name for path in folder.iterdir())
print(json.dumps(gave))
"""
    )
    done = _run(code, folder)
    assert done.returncode == 0, done.stderr
    gave: dict[str, Any] = json.loads(done.stdout)
    return folder, gave, done.stderr


def test_hostile_names_and_metadata_arrive(tried):
    folder, gave, _ = tried
    document = json.loads(gzip.decompress((folder / "names.json.gz").read_bytes()))
    names = [
        event["name"] for event in document["traceEvents"] if event.get("cat") == "user_annotation"
    ]

    assert gave["notes"] == []
    assert {safe_name(name) for name in HOSTILE} <= set(names)
    assert {f"ProfilerStep#{number}" for number in range(len(HOSTILE))} <= set(names)
    assert gave["steps"] == len(HOSTILE)
    assert decoded_metadata(document["tracetui"])["text"] == "".join(HOSTILE)


def test_quote_in_a_users_name_is_escaped_and_said(tried):
    folder, gave, _ = tried
    document = json.loads((folder / "quote.json").read_text())

    assert gave["quote"] == [
        "names in the trace hold quotes, which torch does not escape: they are now"
    ]
    assert 'quo"te' in {event["name"] for event in document["traceEvents"]}
    assert 'quo"te' in list(read_trace(folder / "quote.json", use_cache=False).names)


def test_trace_goes_by_its_own_name(tried):
    folder, _, _ = tried

    assert json.loads((folder / "quote.json").read_text())["traceName"] == "quote.json"


def test_inner_profiler_is_told_instead_of_crashing(tried):
    _, gave, _ = tried

    assert gave["is_lost"] is True
    for name in ("inner", "inner write", "open inner"):
        assert "another torch profiler was started inside the recording" in gave[name]
    assert gave["outer"] == "a torch profiler already runs in this process: stop it first"


def test_profiler_between_warm_up_and_start_costs_nothing(tried):
    folder, gave, _ = tried

    assert gave["between"] == []
    assert "aten::mm" in list(read_trace(folder / "between.json", use_cache=False).names)


def test_recording_is_written_once_and_only_when_stopped(tried):
    _, gave, _ = tried

    assert "can be written once" in gave["twice"]
    assert "stop it before it is written" in gave["running write"]


def test_exports_that_fail_in_silence_are_errors_and_leave_nothing(tried):
    folder, gave, _ = tried

    assert gave["missing folder"] == f"{folder}/gone: no such folder: the trace was not written"
    assert "full" not in " ".join(gave["left"])
    assert not any(name.endswith(".part") for name in gave["left"])
    assert "no end of the trace" in gave["full disk"] or "file too large" in gave["full disk"]


def test_all_threads_are_recorded_when_asked_for(tried):
    folder, _, _ = tried

    assert "other_thread" not in list(
        read_trace(folder / "threads_one.json", use_cache=False).names
    )
    assert "other_thread" in list(read_trace(folder / "threads_all.json", use_cache=False).names)


def test_device_that_cannot_be_recorded_is_said(tried):
    _, gave, _ = tried

    assert gave["no kernels"] == [
        "torch's profiler records nothing of mps: the trace holds the host alone"
    ]


def test_start_and_stop_print_nothing(tried):
    _, _, stderr = tried

    assert "USDT" not in stderr
    assert "STAGE" not in stderr
