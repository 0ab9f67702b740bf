"""Time by module, worked out by hand."""

from tests.literal import Row, annotation, kernel, launch, trace_of
from tracetui.analysis.modules import module_calls, module_stats


def frame(name: str, ts_ns: int, dur_ns: int) -> Row:
    return Row(name, ts_ns, dur_ns, "python_function")


def test_time_belongs_to_the_innermost_module() -> None:
    trace = trace_of(
        frame("nn.Module: MLP_0", 0, 100),
        frame("mlp.py(3): forward", 5, 90),
        frame("nn.Module: Linear_0", 10, 40),
        ("aten::linear", 15, 20),
        launch(20, 5, 1),
        ("aten::relu", 60, 20),
        launch(65, 5, 2),
        kernel("gemm", 200, 30, 1),
        kernel("relu", 240, 4, 2),
    )
    stats = module_stats(trace)
    assert stats is not None
    names = [stats.names[name_id] for name_id in stats.name_id.tolist()]
    assert names == ["nn.Module: MLP_0", "nn.Module: Linear_0"]
    assert stats.total_ns.tolist() == [100, 40]
    assert stats.self_ns.tolist() == [60, 40]
    assert stats.device_total_ns is not None
    assert stats.device_total_ns.tolist() == [34, 30]
    assert stats.device_self_ns is not None
    assert stats.device_self_ns.tolist() == [4, 30]
    module_of = {
        trace.name_of(row): trace.name_of(int(module))
        for row, module in enumerate(module_calls(trace).module_id.tolist())
        if module >= 0
    }
    assert module_of["gemm"] == "nn.Module: Linear_0"
    assert module_of["relu"] == "nn.Module: MLP_0"
    assert module_of["mlp.py(3): forward"] == "nn.Module: MLP_0"


def test_no_module_frames_no_result() -> None:
    assert module_stats(trace_of(frame("a.py(1): f", 0, 10))) is None
    assert module_stats(trace_of()) is None


def test_annotations_of_modules_count_where_there_are_no_stacks() -> None:
    trace = trace_of(
        annotation("nn.Module: MLP_0", 0, 100),
        annotation("nn.Module: Linear_0", 10, 40),
        ("aten::linear", 15, 20),
        launch(20, 5, 1),
        ("aten::relu", 60, 20),
        launch(65, 5, 2),
        kernel("gemm", 200, 30, 1),
        kernel("relu", 240, 4, 2),
    )
    stats = module_stats(trace)
    assert stats is not None
    names = [stats.names[name_id] for name_id in stats.name_id.tolist()]
    assert names == ["nn.Module: MLP_0", "nn.Module: Linear_0"]
    assert stats.self_ns.tolist() == [60, 40]
    assert stats.device_self_ns is not None
    assert stats.device_self_ns.tolist() == [4, 30]
    calls = module_calls(trace).module_id.tolist()
    by_name = {trace.name_of(row): module for row, module in enumerate(calls)}
    assert trace.name_of(by_name["gemm"]) == "nn.Module: Linear_0"
    assert trace.name_of(by_name["relu"]) == "nn.Module: MLP_0"
