"""Kernels, copies and launches below each call, counted by hand."""

import numpy as np
from hypothesis import given

from tests.literal import Row, annotation, kernel, launch, trace_of
from tests.strategies import host_and_device_rows
from tracetui.analysis.call_counts import call_counts, copying_slices
from tracetui.analysis.links import links
from tracetui.model.slices import DEVICE_WORK, SliceKind
from tracetui.model.tracks import TrackKind


def copy(ts_ns, dur_ns, correlation):
    return Row("Memcpy DtoD", ts_ns, dur_ns, "gpu_memcpy", "0", "7", correlation)


def named(trace, name):
    return np.flatnonzero(trace.slices.name_id == trace.names.find(name))


def test_each_call_has_its_own_counts():
    trace = trace_of(
        annotation("fwd", 0, 100),
        ("aten::mm", 10, 20),
        launch(12, 5, 1),
        ("aten::copy_", 40, 20),
        launch(45, 5, 2, name="cudaMemcpyAsync"),
        annotation("fwd", 200, 100),
        launch(210, 5, 3, name="cudaGraphLaunch"),
        annotation("fwd", 400, 10),
        kernel("gemm", 20, 7, 1),
        copy(50, 3, 2),
        kernel("a", 220, 10, 3),
        kernel("b", 240, 20, 3),
        Row("Memset", 270, 1, "gpu_memset", "0", "7", 3),
    )

    counts = call_counts(trace, named(trace, "fwd"))

    assert counts.n_kernels.tolist() == [2, 3, 0]
    assert counts.n_copies.tolist() == [1, 0, 0]
    assert counts.n_launches.tolist() == [2, 1, 0]
    assert counts.device_ns.tolist() == [10, 31, 0]
    assert len(counts.device_ids) == 5


def test_calls_inside_each_other_share_their_work_and_list_it_once():
    trace = trace_of(
        ("block", 0, 100), ("block", 10, 50), launch(20, 5, 1), kernel("gemm", 30, 10, 1)
    )

    counts = call_counts(trace, named(trace, "block"))

    assert counts.n_kernels.tolist() == [1, 1]
    assert len(counts.device_ids) == 1


def test_kernels_that_only_copy_are_copies_and_fills_are_not():
    names = {
        "void at::native::elementwise_kernel<at::native::direct_copy_kernel_cuda(x)>": True,
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>": True,
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>": False,
        "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>": False,
    }
    trace = trace_of(
        *(kernel(name, 10 * place, 5) for place, name in enumerate(names)),
        copy(100, 5, 0),
        Row("Memset", 110, 1, "gpu_memset", "0", "7"),
    )

    found = {trace.name_of(row): bool(copying_slices(trace)[row]) for row in range(len(names) + 2)}

    assert found == {**names, "Memcpy DtoD": True, "Memset": False}


@given(host_and_device_rows())
def test_counts_agree_with_one_call_at_a_time(rows):
    trace = trace_of(*rows)
    link = links(trace)
    tracks = [track.kind == TrackKind.HOST for track in trace.tracks]
    hosts = np.array([i for i in range(len(trace.slices)) if tracks[trace.slices.track_id[i]]])
    hosts = hosts.astype(np.int64)

    counts = call_counts(trace, hosts)

    for place, host in enumerate(hosts.tolist()):
        below = link.device_slices_of(host)
        assert counts.n_kernels[place] == len(below)
        assert counts.device_ns[place] == trace.slices.dur_ns[below].sum()
        launched = link.launch_id[below]
        assert counts.n_launches[place] == len(set(launched[launched >= 0].tolist()))
    assert all(SliceKind(trace.slices.kind[row]) in DEVICE_WORK for row in counts.device_ids)
