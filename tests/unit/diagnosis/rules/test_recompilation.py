from tests.literal import Row, annotation, trace_of
from tracetui.diagnosis.finding import Severity
from tracetui.diagnosis.rules.recompilation import Recompilation


def _steps(*graphs: str, compile_ns: int = 0, compile_in: int = 0):
    rows: list[Row | tuple[str, int, int]] = []
    for number, graph in enumerate(graphs):
        t = number * 1_000
        rows += [
            annotation(f"ProfilerStep#{number}", t, 1_000),
            ("Torch-Compiled Region: 0/0", t + 100, 800),
            (f"## Call CompiledFxGraph {graph} ##", t + 200, 600),
        ]
        if compile_ns and number == compile_in:
            rows.append(("_compile.compile_inner (dynamo_timed)", t + 110, compile_ns))
    return trace_of(*rows)


def test_a_graph_that_changes_from_step_to_step():
    trace = _steps("fa", "fb", "fc", "fc")
    (found,) = Recompilation().check(trace)

    assert found.summary == (
        "Compiled functions change from step to step: 2 compilations first run after the first of"
        " 4 steps"
    )
    assert found.severity == Severity.MEDIUM
    assert [trace.slices.ts_ns[each] for each in found.slices] == [1_100, 2_100]


def test_the_same_graph_each_step_is_well():
    assert not list(Recompilation().check(_steps("fa", "fa", "fa")))


def test_one_more_graph_may_be_a_second_shape():
    assert not list(Recompilation().check(_steps("fa", "fb", "fa", "fb")))


def test_compiling_in_a_later_step_is_told_with_its_time():
    (found,) = Recompilation().check(_steps("fa", "fa", "fa", compile_ns=60, compile_in=1))

    # 60 of 3,000.
    assert found.summary == "torch.compile compiled once after the first step, for 60 ns"
    assert found.gain_ns == 60
    assert found.severity == Severity.LOW


def test_compiling_in_the_first_step_is_as_it_should_be():
    assert not list(Recompilation().check(_steps("fa", "fa", "fa", compile_ns=60, compile_in=0)))
