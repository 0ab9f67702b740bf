"""Random traces for property tests."""

from typing import Any

from hypothesis import strategies as st

from tests.literal import Row, annotation, kernel, launch

_NAMES = ("aten::mm", "aten::add", "aten::linear")


@st.composite
def nested_rows(draw: Any, start_ns: int = 0, end_ns: int = 4000, depth: int = 0) -> list[Row]:
    """Return host rows that nest and never cross; correlations are dealt later."""
    rows: list[Row] = []
    at_ns = start_ns
    while end_ns - at_ns >= 2 and len(rows) < 40 and draw(st.booleans()):
        begin = draw(st.integers(at_ns, end_ns - 1))
        end = draw(st.integers(begin + 1, end_ns))
        kind = draw(st.sampled_from(("operator", "annotation", "launch")))
        if kind == "launch":
            rows.append(launch(begin, end - begin, 0))
        else:
            make = annotation if kind == "annotation" else Row
            rows.append(make(draw(st.sampled_from(_NAMES)), begin, end - begin))
            if depth < 4:
                rows += draw(nested_rows(begin, end, depth + 1))
        at_ns = end
    return rows


@st.composite
def host_and_device_rows(draw: Any) -> list[Row]:
    """Return nested host rows whose launches each start 0 to 3 kernels, and a few stray kernels."""
    rows: list[Row] = []
    kernels: list[Row] = []
    for row in draw(nested_rows()):
        if row.category != "cuda_runtime":
            rows.append(row)
            continue
        correlation = len(rows) + 1
        rows.append(launch(row.ts_ns, row.dur_ns, correlation))
        kernels += [
            kernel("gemm", draw(st.integers(0, 9000)), draw(st.integers(0, 50)), correlation)
            for _ in range(draw(st.integers(0, 3)))
        ]
    strays = [
        kernel("stray", draw(st.integers(0, 9000)), draw(st.integers(0, 50)))
        for _ in range(draw(st.integers(0, 2)))
    ]
    return [*rows, *kernels, *strays]
