"""Filter expressions: what they keep, and what they say where they are wrong."""

import numpy as np
import pytest

from tests.literal import kernel, trace_of
from tracetui.errors import UsageError
from tracetui.presentation.query import parse_query


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ["aten::mm", "sgemm", "triton_gemm"]),
        ("dur>20us", ["sgemm"]),
        ("dur>=20us", ["aten::mm", "sgemm"]),
        ("dur<0.02ms", ["triton_gemm"]),
        ("dur=20", ["aten::mm"]),
        ("cat:KERNEL name:gemm", ["sgemm", "triton_gemm"]),
        ("gemm -name:triton", ["sgemm"]),
        ("-cat:kernel", ["aten::mm"]),
        ("cat:gemm", ["sgemm", "triton_gemm"]),
        ("cat:operator", ["aten::mm"]),
        ("dur>20us cat:gemm -name:triton", ["sgemm"]),
        ("aten::mm", ["aten::mm"]),
        ("nothing", []),
    ],
)
def test_an_expression_keeps_the_slices_that_meet_all_terms(text: str, kept: list[str]) -> None:
    trace = trace_of(
        ("aten::mm", 0, 20_000), kernel("sgemm", 0, 20_001), kernel("triton_gemm", 30_000, 5)
    )
    ids = np.flatnonzero(parse_query(text).slice_mask(trace))
    assert sorted(trace.name_of(int(slice_id)) for slice_id in ids) == kept


@pytest.mark.parametrize("text", ["dur>fast", "dur:20", "name:", "-", "size:3", "dur>"])
def test_bad_syntax_is_one_line_that_says_what_to_write(text: str) -> None:
    with pytest.raises(UsageError, match=r"^filter: [^\n]+$"):
        parse_query(text)
