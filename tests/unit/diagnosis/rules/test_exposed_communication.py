from tests.literal import kernel, trace_of
from tracetui.diagnosis.rules.exposed_communication import ExposedCommunication

_NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def test_what_computation_does_not_hide_is_the_cost():
    # The collective runs from 50 to 150, kernels from 0 to 100 and from 150 to 200.
    trace = trace_of(
        kernel("gemm", 0, 100), kernel(_NCCL, 50, 100, stream=20), kernel("gemm", 150, 50)
    )
    (found,) = ExposedCommunication().check(trace)

    assert found.summary == (
        "Device 0 communicates for 50 ns without computing, 25.0 % of its time; 50 ns more is"
        " hidden"
    )
    assert found.gain_ns == 50
    assert [trace.name_of(each) for each in found.slices] == [_NCCL]


def test_a_hidden_collective_is_well():
    trace = trace_of(kernel("gemm", 0, 100), kernel(_NCCL, 20, 50, stream=20))
    assert not list(ExposedCommunication().check(trace))


def test_kernels_hide_no_more_than_they_last():
    # 100 of communication alone, 30 of computing that hides nothing yet.
    trace = trace_of(kernel(_NCCL, 0, 100, stream=20), kernel("gemm", 100, 30))
    (found,) = ExposedCommunication().check(trace)

    assert found.gain_ns == 30
