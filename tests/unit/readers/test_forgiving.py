"""Text that is not quite JSON: nothing is lost that can be read, and what was mended is counted."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.model.trace import Trace
from tracetui.readers import read_trace
from tracetui.readers.forgiving import object_end

GOOD = b'{"ph":"X","name":"good","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":2}'
LAST = b'{"ph":"X","name":"last","cat":"cpu_op","pid":1,"tid":1,"ts":9,"dur":3}'


def _event(name: bytes = b"odd", extra: bytes = b"") -> bytes:
    return (
        b'{"ph":"X","name":"'
        + name
        + b'","cat":"cpu_op","pid":1,"tid":1,"ts":4,"dur":2'
        + (extra + b"}")
    )


def _read(tmp_path: Path, middle: bytes) -> Trace:
    path = tmp_path / "trace.json"
    path.write_bytes(b'{"traceEvents":[' + GOOD + b"," + middle + b"," + LAST + b"]}")
    return read_trace(path, use_cache=False)


def _names(trace: Trace) -> set[str]:
    return {trace.name_of(row) for row in range(len(trace.slices))}


@pytest.mark.parametrize(
    "word", [b"NaN", b"Infinity", b"-Infinity", b"inf", b"-inf", b"nan", b"-nan"]
)
def test_bare_words_lose_nothing_and_are_no_warning(tmp_path: Path, word: bytes) -> None:
    trace = _read(tmp_path, _event(extra=b',"args":{"bandwidth":' + word + b"}"))
    assert _names(trace) == {"good", "odd", "last"}
    assert trace.report.status == "ok"


def test_control_characters_lose_nothing_and_are_no_warning(tmp_path: Path) -> None:
    trace = _read(tmp_path, _event(b"a\x01b"))
    assert "a\u2401b" in _names(trace)
    assert trace.report.status == "ok"


@pytest.mark.parametrize(
    ("middle", "name"),
    [
        pytest.param(_event(b"C:\\temp\\new\\utils.py"), "C:\\temp\\new\\utils.py", id="path"),
        pytest.param(_event(b"torch\\cuda\\x.py"), "torch\\cuda\\x.py", id="illegal escape"),
        pytest.param(_event(b'say "hi" twice'), 'say "hi" twice', id="quotes"),
        pytest.param(_event(b"caf\xe9"), "caf\ufffd", id="not UTF-8"),
        pytest.param(_event(extra=b',"args":{"group": ,"a":1}'), "odd", id="no value"),
    ],
)
def test_mended_event_is_kept_and_counted_once(tmp_path: Path, middle: bytes, name: str) -> None:
    trace = _read(tmp_path, middle)
    assert _names(trace) == {"good", name, "last"}
    assert sum(trace.report.repaired.values()) == 1
    assert not trace.report.skipped


@pytest.mark.parametrize("middle", [b"null", b"42", b'"x"', b"[]", b"[{}]", b'{"ph":"X"}', b"true"])
def test_what_is_no_event_is_skipped_and_counted(tmp_path: Path, middle: bytes) -> None:
    trace = _read(tmp_path, middle)
    assert _names(trace) == {"good", "last"}
    assert sum(trace.report.skipped.values()) == 1


def test_hopeless_event_costs_no_neighbour(tmp_path: Path) -> None:
    trace = _read(tmp_path, b'{"ph":"X","name":{{{"ts":}')
    assert {"good", "last"} <= _names(trace)
    assert sum(trace.report.skipped.values()) >= 1


@pytest.mark.parametrize("number", [b"1" * 30, b"-" + b"9" * 25, b"18446744073709551615"])
def test_numbers_beyond_64_bits_lose_no_event(tmp_path: Path, number: bytes) -> None:
    trace = _read(
        tmp_path,
        _event(extra=b',"args":{"correlation":' + number + b',"bytes":' + number + b"}"),
    )
    assert _names(trace) == {"good", "odd", "last"}


def test_arguments_that_are_no_object_lose_no_event(tmp_path: Path) -> None:
    assert _names(_read(tmp_path, _event(extra=b',"args":[1,2]'))) == {"good", "odd", "last"}


@pytest.mark.parametrize(
    ("text", "is_truncated"),
    [
        (b"[" + GOOD + b"," + LAST, False),
        (b"[" + GOOD + b"," + LAST + b",\n", False),
        (b"[" + GOOD + b"," + LAST + b"]", False),
        (b'{"traceEvents":[' + GOOD + b"," + LAST, True),
        (b'{"traceEvents":[' + GOOD + b"," + LAST + b"]", True),
        (b'{"traceEvents":[' + GOOD + b"," + LAST + b',{"ph":"X","na', True),
    ],
)
def test_only_the_list_may_go_without_its_end(
    tmp_path: Path, text: bytes, is_truncated: bool
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(text)
    trace = read_trace(path, use_cache=False)
    assert trace.report.n_complete == 2
    assert trace.report.is_truncated is is_truncated
    assert sum(trace.report.skipped.values()) == (1 if text.endswith(b"na") else 0)


@given(st.text(alphabet='{}[]",\\:a', max_size=60))
def test_end_of_a_bracket_is_the_same_whatever_was_looked_for_before(text: str) -> None:
    raw = text.encode()
    known: dict[int, int | None] = {}
    for start, character in enumerate(text):
        if character in "{[":
            assert object_end(raw, start, known) == object_end(raw, start, {})


def test_text_in_which_nothing_is_closed_is_looked_through_once() -> None:
    # Every event lacks its end; without memory each would lead to the end of the text.
    n_events = 2_000
    text = b'{"ph":"X","args":{"a":1},\n' * n_events
    known: dict[int, int | None] = {}
    assert object_end(text, 0, known) is None
    starts = [place for place in range(len(text)) if text.startswith(b'{"ph"', place)]
    assert all(known[start] is None for start in starts)
    assert len(starts) == n_events


@pytest.mark.parametrize(
    "half", [b"\\ud800", b"\\uDFff", b"\\ud83d\\ud83d\\ude00", b"\\ude00\\ud83d"]
)
def test_half_a_surrogate_pair_is_a_character_that_is_not_known(
    tmp_path: Path, half: bytes
) -> None:
    trace = _read(tmp_path, _event(b"a" + half, b',"args":{"' + half + b'":["' + half + b'"]}'))
    shown = {name for name in _names(trace) if name.startswith("a")}
    assert shown < {"a\ufffd", "a\ufffd\U0001f600", "a\ufffd\ufffd"}
    assert trace.report.repaired == {"half a surrogate pair": 1}
    arguments = trace.details.event(1)
    assert arguments is not None
    json.dumps(arguments, ensure_ascii=False).encode()


def test_whole_pairs_and_plain_backslashes_are_what_they_were(tmp_path: Path) -> None:
    # The single backslash makes the fast reader give up; what stands beside it is no damage.
    trace = _read(tmp_path, _event(b"\\ud83d\\ude00 \\\\ud800", b',"args":{"a":NaN}'))
    assert "\U0001f600 \\ud800" in _names(trace)
    assert trace.report.status == "ok"
