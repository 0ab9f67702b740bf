import pytest

from tests.literal import annotation, kernel, trace_of
from tracetui.diagnosis.rules.dataloader_wait import DataLoaderWait

_SINGLE = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
_MANY = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def _training(name: str, load_ns: int):
    """Two steps of 1 ms on the device, and a load between them that begins as the first ends."""
    return trace_of(
        ("aten::mm", 0, 1_000),
        kernel("gemm", 0, 1_000_000),
        annotation(name, 1_000_000, load_ns),
        kernel("gemm", 1_000_000 + load_ns, 1_000_000),
    )


@pytest.mark.parametrize(
    ("name", "change"), [(_SINGLE, "Load in other processes"), (_MANY, "Give the DataLoader more")]
)
def test_a_device_that_stands_still_meanwhile(name, change):
    (found,) = DataLoaderWait().check(_training(name, 500_000))

    # 0.5 ms of 2.5 ms.
    assert found.summary == (
        "The device stood still 500.00 µs while 1 batch was loaded, 20.0 % of its time"
    )
    assert found.gain_ns == 500_000
    assert found.change.startswith(change)


def test_a_load_that_the_device_works_through_costs_nothing():
    trace = trace_of(
        ("aten::mm", 0, 1_000), kernel("gemm", 0, 2_000_000), annotation(_MANY, 500_000, 1_000_000)
    )
    assert not list(DataLoaderWait().check(trace))


def test_a_short_wait_is_left_alone():
    assert not list(DataLoaderWait().check(_training(_MANY, 50_000)))


def test_without_a_device_the_host_waits():
    trace = trace_of(annotation(_SINGLE, 0, 100), ("aten::mm", 100, 300))
    (found,) = DataLoaderWait().check(trace)

    assert found.summary == "The host waited 100 ns while 1 batch was loaded, 25.0 % of its time"
