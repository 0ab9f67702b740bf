from tests.literal import Row, annotation, trace_of
from tracetui.diagnosis.rules.recorded_warmup import RecordedWarmup

_COMPILING = "_compile.compile_inner (dynamo_timed)"
_RECORDING = "CUDAGraphNode.record (dynamo_timed)"


def _trace(*once: tuple[str, int, int], n_steps: int = 0, whole_ns: int = 1_000):
    """A compiled region over the whole recording, in which some work is done once."""
    rows: list[Row | tuple[str, int, int]] = [("Torch-Compiled Region: 0/0", 0, whole_ns)]
    rows += [annotation(name, start_ns, dur_ns) for name, start_ns, dur_ns in once]
    step_ns = whole_ns // max(n_steps, 1)
    rows += [annotation(f"ProfilerStep#{n}", n * step_ns, step_ns) for n in range(n_steps)]
    return trace_of(*rows)


def test_a_recording_that_mostly_shows_what_is_done_once():
    trace = _trace((_COMPILING, 100, 200), (_RECORDING, 400, 300))
    (found,) = RecordedWarmup().check(trace)

    assert found.summary == (
        "50.0 % of the recording is work that is done once: compiling (200 ns) and recording CUDA"
        " graphs (300 ns)"
    )
    assert found.saving is None
    assert [trace.name_of(each) for each in found.slices] == [_COMPILING, _RECORDING]


def test_a_single_step_may_be_the_first_of_all():
    (found,) = RecordedWarmup().check(_trace((_RECORDING, 400, 300), n_steps=1))
    assert found.summary.startswith("30.0 % of the recording")


def test_with_several_steps_the_first_stands_out_by_itself():
    assert not list(RecordedWarmup().check(_trace((_COMPILING, 100, 200), n_steps=4)))


def test_a_little_of_it_spoils_nothing():
    assert not list(RecordedWarmup().check(_trace((_COMPILING, 100, 99))))


def test_what_is_compiled_already_is_well():
    assert not list(RecordedWarmup().check(_trace()))
