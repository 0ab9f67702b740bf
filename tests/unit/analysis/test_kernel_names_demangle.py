"""Mangled names read back, beside what binutils' c++filt gives for them without parameters.

c++filt writes ``> >`` where this writes ``>>``.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.kernel_names.demangle import demangled

_HERE = "at::native::(anonymous namespace)::"


@pytest.mark.parametrize(
    ("mangled", "plain"),
    [
        ("_Z3topIiET_S0_PKPS0_OS0_", "top<int>"),
        ("_Zpl1PIiiEi", "operator+"),
        ("_ZN2at6native4siluEf", "at::native::silu"),
        (
            "_ZN1PIiS_IfcEE4makeIS_IiiEEEPiT_S0_",
            "P<int, P<float, char> >::make<P<int, int> >",
        ),
        (
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
            "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >",
        ),
        (
            "_ZN2at6native12_GLOBAL__N_12enILNS1_4ModeE1ELb1ELj5ELln9EaEEvPKT3_S4_",
            f"{_HERE}en<({_HERE}Mode)1, true, 5u, -9l, signed char>",
        ),
        (
            "_ZN2at6native12_GLOBAL__N_12fpIXadL_ZNS0_4siluEfEEEEvv",
            f"{_HERE}fp<&at::native::silu>",
        ),
        (
            "_ZN2at6native12_GLOBAL__N_12vkILi1ENS1_3TupIJNS1_3AddIfEES5_NS3_IJS5_EEEEEEJS5_EEEvT0_DpT1_",
            (
                f"{_HERE}vk<1, {_HERE}Tup<{_HERE}Add<float>, {_HERE}Add<float>, "
                f"{_HERE}Tup<{_HERE}Add<float> > >, {_HERE}Add<float> >"
            ),
        ),
        (
            (
                "_ZN2at6native12_GLOBAL__N_12vkILin3EZNS0_2goEvEUlfPKcE_JNS1_3TupIJiNS1_3AddIdEENS1_"
                "1CIiLi7EEEEEEEEEvT0_DpT1_"
            ),
            (
                f"{_HERE}vk<-3, at::native::go()::{{lambda(float, char const*)#1}}, "
                f"{_HERE}Tup<int, {_HERE}Add<double>, {_HERE}C<int, 7> > >"
            ),
        ),
        (
            "_ZN2at6native1S2In2opINS0_12_GLOBAL__N_13TupIJEEEEEvPT_",
            f"at::native::S::In::op<{_HERE}Tup<> >",
        ),
        ("_ZN2at6native12_GLOBAL__N_13arrIiEEvRA4_T_", f"{_HERE}arr<int>"),
    ],
)
def test_names_are_read_as_cxxfilt_reads_them(mangled, plain):
    assert (demangled(mangled) or "").replace(" >", ">") == plain.replace(" >", ">")


@pytest.mark.parametrize(
    ("mangled", "plain"),
    [
        # bf16 by the ABI's newer spelling, and a constraint on a template parameter.
        (
            "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0EEEvPT0_PT_",
            "aiter::add_rmsnorm_quant_kernel<__bf16, __bf16, 256, 16, false>",
        ),
        (
            (
                "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4silu"
                "IS2_ES3_S5_EEEEvPS3_PS4_i"
            ),
            "sgl_hip::activation::act_and_mul_kernel<__hip_bfloat16, &silu<__hip_bfloat16>>",
        ),
        ("_ZN1aIDF16_EEvv", "a<_Float16>"),
    ],
)
def test_newer_spellings_are_read(mangled, plain):
    assert demangled(mangled) == plain


@pytest.mark.parametrize(
    "name",
    [
        "plain", "", "_Z", "_ZN", "_ZNE", "_ZN3abc4", "_Z99short", "_ZN1aIXplT_T0_EEvv", "_ZN1aIS9_EEvv",
        "_Z1fI" + "P" * 500 + "iEvv",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_left_alone(name):
    assert demangled(name) is None


@given(st.text(alphabet="_ZNISKPRELTJXDFlijfvba0123456789 ", max_size=60))
def test_any_text_is_taken(text):
    result = demangled("_Z" + text)

    assert result is None or result
