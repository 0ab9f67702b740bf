"""What the details of a slice say."""

from dataclasses import replace
from typing import Any

from tests.literal import kernel, launch, trace_of
from tracetui.presentation.details import detail_lines


class OneEvent:
    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments

    def event(self, event_id: int) -> dict[str, Any]:
        return {"args": self.arguments}


def test_nothing_selected_is_said() -> None:
    assert detail_lines(trace_of(("a", 0, 1)), -1) == ["Nothing is selected."]


def test_times_parents_and_missing_file() -> None:
    trace = trace_of(("outer", 0, 100), ("inner", 10, 40))
    assert "self      60 ns" in detail_lines(trace, 0)
    lines = detail_lines(trace, 1)
    assert "in        outer" in lines
    assert lines[-1] == "the file's arguments are out of reach"


def test_links_lead_from_kernel_to_operator_and_back() -> None:
    trace = trace_of(("aten::mm", 0, 100), launch(10, 5, 1), kernel("sgemm", 50, 20, 1))
    names = [trace.name_of(slice_id) for slice_id in range(3)]
    of_kernel = detail_lines(trace, names.index("sgemm"))
    assert "launch    cudaLaunchKernel" in of_kernel
    assert "operator  aten::mm" in of_kernel
    assert "launches  sgemm  20 ns" in detail_lines(trace, names.index("aten::mm"))


def test_a_stack_of_megabytes_shows_its_first_frames_and_their_number() -> None:
    stack = ";".join(["frame"] * 400_000)
    trace = replace(trace_of(("a", 0, 1)), details=OneEvent(**{"Call stack": stack}))
    assert detail_lines(trace, 0)[-2:] == ["  frame", "  … 400,000 frames in all"]


def test_arguments_cannot_steer_the_terminal() -> None:
    trace = replace(trace_of(("a", 0, 1)), details=OneEvent(x="\x1b[31m", y="z" * 300))
    lines = detail_lines(trace, 0)
    assert "x: ␛[31m" in lines
    assert lines[-1] == f"y: {'z' * 200}… 300 letters"
