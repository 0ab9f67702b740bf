"""The command line as a user runs it: statuses, one-line errors, and never a traceback."""

import gzip
import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10.5, "dur": 2.25},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 20, "dur": 1},
]


def run(
    *arguments: str, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "tracetui", *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def check_refused(done: subprocess.CompletedProcess[bytes], *words: str) -> None:
    """Check for status 2, no output and one line that says why."""
    text = done.stderr.decode()
    assert done.returncode == 2, text
    assert done.stdout == b""
    assert text.startswith("tracetui: ")
    assert text.count("\n") == 1
    assert text.endswith("\n")
    for word in words:
        assert word in text


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}))
    return path


def test_help_and_version():
    shown = run("--help")
    version = run("--version")

    assert (shown.returncode, version.returncode) == (0, 0)
    assert b"report FILE" in shown.stdout
    assert version.stdout.startswith(b"tracetui ")
    assert run("report", "--help").returncode == 0


def test_json_report(trace: Path):
    done = run("report", str(trace), "--json")

    assert (done.returncode, done.stderr) == (0, b"")
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    assert document["file"]["path"] == str(trace)
    assert document["load"]["complete_events"] == 2
    assert [row["name"] for row in document["operators"]] == ["aten::mm", "aten::add"]
    assert b'"total_us": 2.250' in done.stdout


def test_top_limits_rows_and_zero_means_all(trace: Path):
    one = json.loads(run("report", str(trace), "--json", "--top", "1").stdout)
    every = json.loads(run("report", str(trace), "--json", "--top", "0").stdout)

    assert (len(one["operators"]), len(every["operators"])) == (1, 2)


def test_markdown_is_the_default(trace: Path):
    plain, asked = run("report", str(trace)), run("report", str(trace), "--markdown")

    assert plain.stdout == asked.stdout
    assert plain.stdout.startswith(b"# small.json\n")


def test_output_is_utf8_whatever_the_locale(trace: Path):
    done = run("report", str(trace), LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")

    assert done.returncode == 0
    assert "µs" in done.stdout.decode()


def test_csv_report(trace: Path, tmp_path: Path):
    done = run("report", str(trace), "--csv", str(tmp_path / "out"))

    assert done.returncode == 0
    assert str(tmp_path / "out" / "operators.csv") in done.stdout.decode().splitlines()


def test_csv_into_a_file_is_refused(trace: Path):
    check_refused(run("report", str(trace), "--csv", str(trace)), str(trace))


def test_standard_input_is_reported(trace: Path):
    done = run("report", "-", "--json", stdin=gzip.compress(trace.read_bytes()))

    assert json.loads(done.stdout)["file"]["path"] == "-"


def test_redirected_stdout_gets_the_report(trace: Path):
    for done in (run(str(trace)), run("-", stdin=trace.read_bytes())):
        assert done.returncode == 0
        assert b"aten::mm" in done.stdout
        assert b"\x1b" not in done.stdout + done.stderr


def test_nothing_to_open_and_no_terminal():
    check_refused(run(), "terminal")


@pytest.mark.parametrize("command", [(), ("report",)])
def test_missing_file_is_refused(command: tuple[str, ...]):
    check_refused(run(*command, "no-such.json"), "no-such.json: no such file")


@pytest.mark.parametrize("command", [(), ("report",)])
def test_folder_is_counted(command: tuple[str, ...], trace: Path):
    (trace.parent / "notes.txt").write_text("no trace")

    check_refused(run(*command, str(trace.parent)), "is a directory, 1 trace file inside")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[1, 2, 3]",
        b"<html>404</html>",
        b'"a string"',
        b'{"traceEvents": 5}',
        b"\x1f\x8b\x08\x00broken",
        b"\x00\x01\x02",
    ],
)
def test_no_trace_is_refused_in_one_line(content: bytes, tmp_path: Path):
    path = tmp_path / "input.json"
    path.write_bytes(content)

    check_refused(run("report", str(path), "--json"), "input.json")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--no-such-option",),
        ("report",),
        ("report", "a", "b"),
        ("report", "a", "--top", "-1"),
        ("report", "a", "--top", "many"),
        ("report", "a", "--json", "--markdown"),
    ],
)
def test_wrong_arguments_are_one_line(arguments: tuple[str, ...]):
    check_refused(run(*arguments), "--help")


def test_file_name_cannot_steer_the_terminal():
    done = run("report", "a\x1b]0;owned\x07b\n.json")

    check_refused(done, "no such file")
    assert b"\x1b" not in done.stderr
    assert b"\x07" not in done.stderr


def test_cut_file_is_reported_with_a_warning(tmp_path: Path):
    path = tmp_path / "cut.json"
    path.write_bytes(json.dumps({"traceEvents": EVENTS}).encode()[:-30])
    done = run("report", str(path), "--json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["load"]["truncated"] is True
    assert done.stderr.decode().startswith(f"tracetui: {path}: ")
    assert done.stderr.count(b"\n") == 1


def test_reader_that_leaves_early_is_no_error(trace: Path):
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [sys.executable, "-m", "tracetui", "report", str(trace)],
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        os.close(writing)
        _, errors = process.communicate(timeout=60)

    assert errors == b""
    assert process.returncode == 141


@pytest.mark.parametrize(
    ("redirections", "said"),
    [
        (">&-", "standard output is closed"),
        (">/dev/full", "cannot write the output: no space left on device"),
    ],
)
@pytest.mark.parametrize(
    "command", [("report",), ("compare", "{}"), ("check", "--expect", "steps == 0")]
)
def test_output_that_takes_nothing_is_told(
    trace: Path, command: tuple[str, ...], redirections: str, said: str
):
    words = [sys.executable, "-m", "tracetui", *command, "{}"]
    line = " ".join(shlex.quote(word.replace("{}", str(trace))) for word in words)
    done = subprocess.run(
        ["sh", "-c", f"{line} {redirections}"], capture_output=True, check=False, cwd=ROOT
    )

    check_refused(done, said)


def test_warnings_never_become_data(tmp_path: Path):
    path = tmp_path / "cut.json"
    path.write_bytes(json.dumps({"traceEvents": EVENTS}).encode()[:-30])
    line = shlex.join([sys.executable, "-m", "tracetui", "report", str(path), "--json"])
    done = subprocess.run(["sh", "-c", f"{line} 2>&-"], stdout=-1, check=False, cwd=ROOT)

    assert done.returncode == 0
    assert json.loads(done.stdout)["load"]["truncated"] is True


@pytest.mark.parametrize("term", ["dumb", ""])
def test_terminal_without_a_screen_is_told(trace: Path, term: str):
    main, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tracetui", str(trace)],
        stdin=other,
        stdout=other,
        stderr=other,
        cwd=ROOT,
        env={**os.environ, "TERM": term},
    ) as process:
        status = process.wait(timeout=60)
    os.close(other)
    text = os.read(main, 65536)
    os.close(main)

    assert status == 2
    assert b"tracetui report FILE" in text
    assert b"\x1b" not in text


FAKE_SCREEN = """
import os, sys, types

def run_app(paths, *, directory=None, use_mouse=True, ascii_only=False, **_more):
    read = [open(path, "rb").read().decode() for path in paths]
    print("READY", read, directory, use_mouse, ascii_only, flush=True)
    print("PRESS", flush=True)
    print("KEY", os.read(0, 1), flush=True)
    return 0

fake = types.ModuleType("tracetui.ui.app")
fake.run_app = run_app
sys.modules["tracetui.ui.app"] = fake
from tracetui.cli.main import main
sys.exit(main())
"""


def on_terminal(command: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run a shell command in a terminal of its own, press ``q``; return status and output."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        env = {**os.environ, "TERM": "xterm-256color", "FAKE": FAKE_SCREEN, **environment}
        words = ["sh", "-c", command, "sh", sys.executable, *arguments]
        os.execvpe("sh", words, env)
    shown, is_pressed = b"", False
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:
            break
        if not block:
            break
        shown += block
        if b"PRESS" in shown and not is_pressed:
            os.write(terminal, b"q\n")
            is_pressed = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def test_screen_gets_files_and_options(trace: Path):
    status, shown = on_terminal('"$1" -c "$FAKE" --no-mouse --ascii "$2"', str(trace))

    assert status == 0
    assert "aten::mm" in shown
    assert "None False True" in shown


def test_screen_gets_a_folder(tmp_path: Path):
    status, shown = on_terminal('"$1" -c "$FAKE" "$2"', str(tmp_path))

    assert status == 0
    assert f"READY [] {tmp_path} True" in shown


@pytest.mark.parametrize(
    "command", ['cat "$2" | "$1" -c "$FAKE" -', '"$1" -c "$FAKE" "$2" </dev/null']
)
def test_keys_come_from_the_terminal_where_stdin_is_none(command: str, trace: Path):
    status, shown = on_terminal(command, str(trace))

    assert status == 0
    assert "aten::mm" in shown
    assert "KEY b'q'" in shown


def test_nothing_piped_in_is_told():
    status, shown = on_terminal('"$1" -c "$FAKE" -')

    assert status == 2
    assert shown.strip() == "tracetui: -: nothing is piped into standard input"


def test_stderr_elsewhere_is_told(trace: Path, tmp_path: Path):
    errors = tmp_path / "errors"
    status, _ = on_terminal('"$1" -c "$FAKE" "$2" 2>"$3"', str(trace), str(errors))

    assert status == 2
    assert "stderr is not a terminal" in errors.read_text()


def test_old_locale_is_drawn_in_ascii(trace: Path):
    status, shown = on_terminal(
        '"$1" -c "$FAKE" "$2"', str(trace), PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )

    assert status == 0
    assert "None True True" in shown


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
def test_a_pipe_is_told_to_come_through_standard_input(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    check_refused(run("report", str(path)), "is a pipe; use - and pipe it into standard input")
