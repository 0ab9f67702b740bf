"""The critical path and the tax of compiling, in words."""

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.compile_tax import compile_tax
from tracetui.analysis.critical_path import critical_path
from tracetui.presentation.overview import overview_lines
from tracetui.presentation.path import compile_texts, path_texts


def compiled(*graphs):
    rows: list[Row | tuple[str, int, int]] = []
    for number, graph in enumerate(graphs):
        at = number * 20_000
        rows += [
            ("TorchDynamo Cache Lookup", at, 1_000),
            ("Torch-Compiled Region: 0/0", at + 1_000, 6_000),
            ("AOTDispatcher Runtime Wrapper Prologue", at + 1_100, 500),
            annotation(f"## Call CompiledFxGraph {graph} ##", at + 2_000, 4_000),
        ]
    return trace_of(*rows)


def texts(trace):
    tax = compile_tax(trace)
    assert tax is not None
    return compile_texts(tax)


def test_the_path_is_named_class_by_class():
    # The host to 50, the launch to 60, the kernel to 80 us.
    trace = trace_of(
        ("aten::mm", 0, 70_000), launch(50_000, 5_000, 1), kernel("gemm", 60_000, 20_000, 1)
    )

    assert path_texts(critical_path(trace)) == (
        "operators 62.5 %",
        "kernels 25.0 %",
        "launch 12.5 %",
    )
    (line,) = [line for line in overview_lines(trace, 100) if line.text.startswith("Path")]
    assert line.text == "Path     operators 62.5 %  kernels 25.0 %  launch 12.5 %"
    assert path_texts(critical_path(trace_of())) == ()


def test_a_trace_of_the_host_alone_has_no_line_for_its_path():
    lines = [line.text for line in overview_lines(trace_of(("aten::mm", 0, 10)), 100)]

    assert not any(line.startswith(("Path", "Compiled")) for line in lines)


def test_the_tax_of_a_call_is_split_and_recompilations_are_counted():
    assert texts(compiled("fa")) == (
        "its one call 3.00 µs",
        "guards 1.00 µs",
        "prologue 500 ns",
        "wrappers 1.50 µs",
    )
    assert texts(compiled("fa", "fb", "fa"))[0] == "3.00 µs a call, median of 3"
    assert texts(compiled("fa", "fb", "fa"))[-1] == "compiled anew once"
    assert texts(compiled("fa", "fb", "fc"))[-1] == "compiled anew 2 times"
    line = next(
        line.text for line in overview_lines(compiled("fa"), 100) if line.text.startswith("Comp")
    )
    assert line.startswith("Compiled its one call 3.00 µs  guards 1.00 µs")


def test_compiling_and_recording_graphs_are_told_apart():
    trace = trace_of(
        ("_compile.compile_inner (dynamo_timed)", 0, 7_000),
        annotation("CUDAGraphNode.record (dynamo_timed)", 8_000, 2_000),
    )

    assert texts(trace) == ("compiling 7.00 µs", "recording CUDA graphs 2.00 µs")
