"""What compiled calls cost on the host, on slices as torch records them, with sums by hand."""

import gzip
import json
from decimal import Decimal
from pathlib import Path

from tests.literal import annotation, kernel, trace_of
from tracetui.analysis.compile_tax import compile_tax
from tracetui.readers import read_trace

SAMPLE = Path(__file__).resolve().parents[3] / "sample_traces" / "mlp_compiled.json.gz"


def call(at, *, variant="0/0", graph="faaa", lookup=20, region=100, graph_ns=60):
    """Return one compiled call: lookup, then 10 later the region with prologue and graph."""
    start = at + lookup + 10
    return [
        ("TorchDynamo Cache Lookup", at, lookup),
        (f"Torch-Compiled Region: {variant}", start, region),
        ("AOTDispatcher Runtime Wrapper Prologue", start + 5, 15),
        annotation(f"## Call CompiledFxGraph {graph} ##", start + 25, graph_ns),
        ("aten::mm", start + 30, 10),
    ]


def test_the_tax_is_lookup_and_region_without_the_generated_code():
    tax = compile_tax(trace_of(*call(0), *call(1_000, lookup=40)))

    assert tax is not None
    assert tax.calls.tax_ns.tolist() == [60, 80]
    assert tax.calls.lookup_ns.tolist() == [20, 40]
    assert tax.calls.prologue_ns.tolist() == [15, 15]
    assert tax.calls.graph_ns.tolist() == [60, 60]
    assert tax.calls.rest_ns.tolist() == [25, 25]
    assert (tax.per_call_ns, tax.total_ns, tax.n_recompiles) == (70, 140, 0)
    assert (tax.n_lookups, tax.lookup_ns, tax.n_missed, tax.compile_ns) == (2, 60, 0, 0)
    (frame,) = tax.frames
    assert (frame.name, frame.n_calls, frame.total_ns) == ("0", 2, 260)
    assert frame.variants == ("0/0 faaa",)


def test_a_changed_hash_or_number_is_a_recompilation_at_its_first_call():
    trace = trace_of(
        *call(0), *call(1_000, variant="0/1", graph="fbbb"), *call(2_000),
        *call(3_000, variant="0/1", graph="fbbb"), *call(4_000, variant="0/1", graph="fccc"),
        *call(5_000, variant="1/0", graph="fddd"),
    )  # fmt: skip

    tax = compile_tax(trace)

    assert tax is not None
    frames = {frame.name: frame for frame in tax.frames}
    assert frames["0"].variants == ("0/0 faaa", "0/1 fbbb", "0/1 fccc")
    assert frames["0"].n_recompiles == 2
    starts = trace.slices.ts_ns[frames["0"].changed_at].tolist()
    assert starts == [1_030, 4_030]
    assert frames["1"].n_recompiles == 0
    assert tax.n_recompiles == 2


def test_compiling_itself_is_counted_apart_and_once():
    trace = trace_of(
        ("TorchDynamo Cache Lookup", 0, 20),
        ("dynamo", 30, 5_000),
        ("entire_frame_compile", 40, 4_900),
        ("_compile.compile_inner (dynamo_timed)", 50, 4_800),
        ("Torch-Compiled Region: 0/0", 5_100, 1_000),
        annotation("## Call CompiledFxGraph faaa ##", 5_200, 600),
        annotation("CUDAGraphNode.record (dynamo_timed)", 5_250, 500),
        ("compile_fx.<locals>.bw_compiler (dynamo_timed)", 5_850, 200),
    )

    tax = compile_tax(trace)

    assert tax is not None
    assert (tax.compile_ns, len(tax.compile_ids)) == (5_200, 2)
    assert (tax.record_ns, len(tax.record_ids)) == (500, 1)
    # 20 of lookup and 1000 of region, of which 600 generated code and 200 compiling.
    assert tax.calls.tax_ns.tolist() == [220]


def test_a_region_in_a_region_pays_its_own_tax():
    trace = trace_of(
        ("TorchDynamo Cache Lookup", 0, 10),
        ("Torch-Compiled Region: 0/0", 20, 500),
        ("TorchDynamo Cache Lookup", 100, 10),
        ("Torch-Compiled Region: 1/0", 120, 100),
        annotation("## Call CompiledFxGraph fin ##", 130, 70),
        annotation("## Call CompiledFxGraph fout ##", 300, 150),
        ("Torch-Compiled Region: 2/0", 310, 30),
    )

    tax = compile_tax(trace)

    assert tax is not None
    # The first: 10 + 500 - 150 of code - 100 of the region in it; the third lies in its code.
    assert tax.calls.tax_ns.tolist() == [260, 40, 30]
    assert [row >= 0 for row in tax.calls.lookup_id.tolist()] == [True, True, False]


def test_a_lookup_that_leads_nowhere_is_missed():
    trace = trace_of(
        ("TorchDynamo Cache Lookup", 0, 10), ("aten::mm", 20, 5), ("TorchDynamo Cache Lookup", 30, 10),
        ("Torch-Compiled Region: 0/0", 50, 20),
    )  # fmt: skip

    tax = compile_tax(trace)

    assert tax is not None
    assert (tax.n_lookups, tax.n_missed) == (2, 1)
    assert trace.slices.ts_ns[tax.calls.lookup_id[0]] == 30


def test_generated_code_outside_of_a_region_costs_no_tax():
    """The backward is called by autograd, which looks nothing up."""
    tax = compile_tax(trace_of(annotation("## Call CompiledFxGraph fback ##", 0, 10)))

    assert tax is not None
    assert (len(tax.calls), tax.per_call_ns, tax.total_ns) == (0, None, 0)


def test_eager_code_pays_none():
    assert compile_tax(trace_of(("aten::mm", 0, 10), kernel("gemm", 0, 10))) is None
    # On the device the same name is the graph's shadow.
    shadow = annotation("mlp", 0, 10)
    assert compile_tax(trace_of(shadow)) is None


def test_a_recorded_module_pays_what_its_own_events_add_up_to():
    tax = compile_tax(read_trace(str(SAMPLE)))

    events = json.loads(gzip.decompress(SAMPLE.read_bytes()), parse_float=Decimal)["traceEvents"]

    def in_order(start):
        own = [each for each in events if each.get("ph") == "X" and each["name"].startswith(start)]
        return [int(each["dur"] * 1000) for each in sorted(own, key=lambda each: each["ts"])]

    lookups, regions = in_order("TorchDynamo Cache Lookup"), in_order("Torch-Compiled Region")
    graphs = in_order("## Call CompiledFxGraph")
    assert tax is not None
    # Where a region calls one graph and is called after one lookup, as here, they pair in order.
    assert len(lookups) == len(regions) == len(graphs) == len(tax.calls)
    assert tax.calls.tax_ns.tolist() == [
        lookup + region - graph
        for lookup, region, graph in zip(lookups, regions, graphs, strict=True)
    ]
    assert tax.n_recompiles == 0
