from tests.literal import Row, kernel, trace_of
from tracetui.diagnosis.rules.data_parallel import DataParallel

_US = 1_000


def _calls(*names: str, n_devices: int = 2):
    """Two calls of 100 us, of which each operator takes the host 10."""
    rows = []
    for turn in range(2):
        t = turn * 100 * _US
        rows += [Row(name, t + at * 20 * _US, 10 * _US) for at, name in enumerate(names)]
        rows.append(Row("aten::linear", t + 80 * _US, 20 * _US))
        rows += [
            kernel("gemm", t + 90 * _US, 50 * _US, device=device) for device in range(n_devices)
        ]
    return trace_of(*rows)


def test_a_model_that_is_copied_to_two_devices():
    trace = _calls("Scatter", "Broadcast", "Gather")
    (found,) = DataParallel().check(trace)

    # 6 x 10 us; the host is at work from 0 to 200.
    assert found.summary == (
        "DataParallel copies the model to 2 devices on each call: dealing out and gathering take"
        " the host 60.00 µs, 30.0 % of the recording"
    )
    assert "DistributedDataParallel" in found.change
    assert {trace.name_of(each) for each in found.slices} == {"Scatter", "Broadcast", "Gather"}


def test_one_of_its_operators_alone_may_be_anybodys():
    assert not list(DataParallel().check(_calls("Scatter", "Gather")))


def test_on_one_device_there_is_nobody_to_deal_to():
    assert not list(DataParallel().check(_calls("Scatter", "Broadcast", "Gather", n_devices=1)))
