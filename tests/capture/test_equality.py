"""Whether results agree, with errors worked out by hand."""

import pytest

from tests.capture.conftest import needs_torch

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, needs_torch]


def _equality(results, expected):
    from tracetui.capture.equality import equality

    return equality(results, expected, "reference")


def test_errors_are_largest_and_relative_to_the_norm():
    found = _equality([torch.tensor([3.0, 4.5])], [torch.tensor([3.0, 4.0], dtype=torch.float64)])

    assert found.max_abs_error == 0.5
    # The error's norm is 0.5, the reference's is 5.
    assert found.norm_relative_error == pytest.approx(0.1)
    assert not found.is_equal


def test_relative_error_near_zero_does_not_count():
    expected = torch.tensor([1.0, 1e-12], dtype=torch.float64)

    found = _equality([expected.float() + torch.tensor([0.0, 1e-7])], [expected])
    assert found.is_equal
    assert found.tolerance == 1e-4


@pytest.mark.parametrize(
    ("name", "error"), [("bfloat16", 2e-2), ("float16", 3e-3), ("float32", 5e-5)]
)
def test_tolerance_is_that_of_the_coarsest_dtype(name: str, error: float):
    dtype = getattr(torch, name)
    expected = torch.full((8,), 2.0, dtype=torch.float64)

    assert _equality([(expected * (1 + error)).to(dtype)], [expected]).is_equal
    assert not _equality([(expected * (1 + 10 * error)).to(dtype)], [expected]).is_equal


def test_not_a_number_equals_nothing():
    nan = torch.tensor([1.0, float("nan")])

    assert not _equality([nan], [torch.ones(2)]).is_equal
    assert not _equality([nan], [nan]).is_equal


def test_one_wrong_element_of_many_is_seen():
    expected = torch.randn(10_000, generator=torch.Generator().manual_seed(0))
    wrong = expected.clone()
    wrong[17] += 1

    assert not _equality([wrong], [expected]).is_equal


def test_gradients_are_results_too():
    good = torch.ones(2)

    assert not _equality([good, good + 1], [good, good]).is_equal


def test_other_shapes_or_no_tensor_cannot_be_compared():
    with pytest.raises(ValueError, match="results of shapes"):
        _equality([torch.ones(2)], [torch.ones(3)])
    with pytest.raises(ValueError, match="no tensor to compare"):
        _equality([], [torch.ones(3)])


def test_tensors_are_found_in_whatever_a_step_returns():
    from tracetui.capture.equality import tensors_of

    a, b = torch.ones(1), torch.zeros(1)
    assert [each.item() for each in tensors_of({"x": (a, [b]), "n": 3, "s": "text"})] == [1.0, 0.0]
    assert tensors_of(None) == []
