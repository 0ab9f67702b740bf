from tests.literal import Row, kernel, launch, trace_of
from tracetui.diagnosis.rules.host_made_tensor import HostMadeTensor

_US = 1_000


def _turns(
    *, n: int = 4, shape: str = "[64,1024]", between: str = "", copy: str = "HtoD", ahead: int = 0
):
    """Turns of 100 us: the device works 60, the host makes a mask from 60 to 80, copies to 90.

    ``ahead``: how many microseconds before that the host is.
    """
    rows = []
    for turn in range(n):
        t, c = turn * 100 * _US, 2 * turn
        h = t + (60 - ahead) * _US
        rows += [
            launch(t - 1_000, 500, c + 1),
            kernel("gemm", t, 60 * _US, c + 1),
            Row("aten::ones", h, 20 * _US, shape="[[],[],[],[],[]]"),
            Row("aten::fill_", h + 2 * _US, 16 * _US, shape="[[64,1024],[]]"),
        ]
        if between:
            rows.append(Row(between, h + 20 * _US, 500))
        rows += [
            Row("aten::to", h + 21 * _US, 10 * _US, shape=f"[{shape},[],[],[],[]]"),
            Row("aten::_to_copy", h + 22 * _US, 8 * _US, shape=f"[{shape},[],[],[],[],[],[]]"),
            Row("aten::copy_", h + 23 * _US, 6 * _US, shape=f"[{shape},{shape},[]]"),
            launch(h + 24 * _US, 2 * _US, c + 2, name="cudaMemcpyAsync"),
            Row(
                f"Memcpy {copy} (Pageable -> Device)",
                t + 86 * _US,
                4 * _US,
                "gpu_memcpy",
                "0",
                "7",
                c + 2,
                n_bytes=64 * 1024 * 4,
            ),
        ]
    return trace_of(*rows)


def test_ones_that_the_host_makes_and_copies():
    trace = _turns()
    (found,) = HostMadeTensor().check(trace)

    # Each turn from 60 to 91 us, without the copy from 86 to 90: 27 us. The last ends with its
    # copy, at 90. The device's span is from 0 to 390 us.
    assert found.summary == (
        "aten::ones fills 4 tensors on the host, which are then copied to the device; it stood"
        " still for 107.00 µs meanwhile, 27.4 % of its time"
    )
    assert found.gain_ns == 107 * _US
    assert "torch.ones(…, device=x.device)" in found.change
    assert {trace.name_of(each) for each in found.slices} == {"Memcpy HtoD (Pageable -> Device)"}


def test_a_tensor_of_another_shape_was_made_elsewhere():
    assert not list(HostMadeTensor().check(_turns(shape="[64,1000]")))


def test_what_is_changed_between_is_no_constant():
    assert not list(HostMadeTensor().check(_turns(between="aten::copy_")))


def test_copies_to_the_host_are_another_matter():
    assert not list(HostMadeTensor().check(_turns(copy="DtoH")))


def test_made_while_the_device_works_it_costs_nothing():
    assert not list(HostMadeTensor().check(_turns(ahead=50)))


def test_twice_is_a_beginning():
    assert not list(HostMadeTensor().check(_turns(n=2)))
