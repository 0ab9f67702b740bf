"""Texts with lit letters: which words of two names differ, shortened and wrapped with their light."""

from hypothesis import given
from hypothesis import strategies as st

from tracetui.presentation.lit import (
    LitText,
    differing,
    joined,
    lit_padded,
    lit_shortened,
    lit_spans,
    lit_wrapped,
)
from tracetui.presentation.table import cell_width

_BF16 = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
_TF32 = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"


def lit_words(text: str) -> list[str]:
    return [text[start:stop] for start, stop in lit_spans(text)]


def test_only_the_words_that_differ_are_lit():
    first, second = differing(_BF16, _TF32)

    assert (str(first), str(second)) == (_BF16, _TF32)
    assert lit_words(first) == ["128x128", "32x5"]
    assert lit_words(second) == ["128x256", "64x3"]


def test_a_word_that_one_name_adds_is_lit_there_alone():
    first, second = differing("gemm_tn", "gemm_splitk_tn")

    assert lit_words(first) == []
    assert lit_words(second) == ["splitk"]


def test_the_same_words_in_another_order_light_what_moved():
    first, second = differing("gemm_bf16_128x64", "gemm_128x64_bf16")

    assert len(lit_words(first)) == len(lit_words(second)) == 1


def test_equal_names_and_names_that_share_hardly_a_word_are_dark():
    assert lit_words(differing("relu_kernel", "relu_kernel")[0]) == []
    assert [lit_words(name) for name in differing("sgemm_tn", "Kernel<int>")] == [[], []]
    assert lit_words(differing("ampere_sgemm_128x64_tn", "cutlass_80_tensorop_tn")[0]) == []


def test_markup_in_a_name_stays_letters():
    first, second = differing("kernel<[red]a[/red]>", "kernel<[red]b[/red]>")

    assert str(first) == "kernel<[red]a[/red]>"
    assert lit_words(first) == ["a"]
    assert lit_words(second) == ["b"]


def test_texts_join_with_their_light_in_place():
    text = joined("mm: ", LitText("a_b", ((2, 3),)), " ", LitText("c", ((0, 1),)))

    assert text == "mm: a_b c"
    assert lit_words(text) == ["b", "c"]


def test_a_shortened_name_keeps_what_is_lit_then_its_ends():
    first, _ = differing(_BF16, _TF32)

    shown = lit_shortened(first, 30)
    assert cell_width(shown) <= 30
    assert lit_words(shown) == ["128x128", "32x5"]
    assert shown.startswith("ampere_bf")
    assert lit_words(lit_shortened(first, 16)) == ["128x128", "32x5"]


def test_what_is_lit_is_shortened_too_where_there_is_no_room():
    first, _ = differing(_BF16, _TF32)

    assert str(lit_shortened(first, 8)) == "128x…2x5"


def test_a_dark_text_is_shortened_in_its_middle():
    assert str(lit_shortened("triton_poi_fused_gelu_mul_0", 12)) == "triton…mul_0"
    assert str(lit_padded("mm", 4)) == "mm  "


def test_wrapped_lines_have_their_part_of_the_light():
    text = LitText("A: one_two_three_four", ((7, 10), (11, 16)))

    lines = lit_wrapped(text, 12)
    assert [str(line) for line in lines] == ["A: one_two_t", "  hree_four"]
    assert [lit_words(line) for line in lines] == [["two", "t"], ["hree"]]


@given(
    st.text(alphabet="ab_<19 世é", max_size=40),
    st.text(alphabet="ab_<19 世é", max_size=40),
    st.integers(0, 45),
)
def test_shortened_text_fits_and_its_light_is_of_its_own_letters(
    first: str, second: str, width: int
):
    for text in differing(first, second):
        shown = lit_shortened(text, width)
        assert cell_width(shown) <= width
        spans = lit_spans(shown)
        assert all(0 <= start < stop <= len(shown) for start, stop in spans)
        assert all(word in text for word in lit_words(shown))


@given(st.text(alphabet="ab_<19 世", max_size=60), st.text(alphabet="ab_<19 世", max_size=60))
def test_wrapping_loses_no_light(first: str, second: str):
    for text in differing(first, second):
        lit = "".join(lit_words(text))
        assert "".join(word for line in lit_wrapped(text, 20) for word in lit_words(line)) == lit
