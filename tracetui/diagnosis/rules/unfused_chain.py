"""Elementwise operators one after the other that could be one kernel."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.links import links
from tracetui.diagnosis.chains import Chain, elementwise_chains
from tracetui.diagnosis.finding import Finding, Saving, in_time_order, severity_of
from tracetui.diagnosis.needs import OPERATORS, SHAPES, Need
from tracetui.diagnosis.scope import device_busy_ns, recorded_ns
from tracetui.format import count, duration, percent, size
from tracetui.model.trace import Trace
from tracetui.units import NS_PER_US


@dataclass(frozen=True, slots=True)
class UnfusedChain:
    """Fires when elementwise kernels follow one another over the same elements.

    Such kernels are bound by memory: what a fusion saves is the share of their traffic that goes
    through their intermediates. Kernels too short for that are left out.
    """

    name: str = "unfused-chain"
    about: str = "elementwise kernels in a row over the same elements that could be one"
    needs: tuple[Need, ...] = (OPERATORS, SHAPES)
    min_share_ratio: float = 0.03
    """Of device time, or else of the recording, all chains of the same operators together."""
    min_mean_ns: int = 5 * NS_PER_US
    """Mean duration of a chain's kernels."""
    min_host_mean_ns: int = 50 * NS_PER_US
    """The same for operators in a recording without a device, where calls cost more."""
    min_elements: int = 16_384
    """Of each result: less is bound by the calls and not by memory."""
    most: int = 3
    """Chains of the same operators count as one; of several, this many are told."""

    def check(self, trace: Trace) -> Iterator[Finding]:
        """Yield one finding for each sequence of operators, the most time first."""
        families: dict[tuple[str, ...], list[Chain]] = defaultdict(list)
        for chain in elementwise_chains(trace):
            if chain.n_elements >= self.min_elements:
                families[chain.names].append(chain)
        has_device = links(trace).has_device
        busy_ns = device_busy_ns(trace) if has_device else recorded_ns(trace)
        min_mean_ns = self.min_mean_ns if has_device else self.min_host_mean_ns
        costs = {names: _cost_ns(trace, chains) for names, chains in families.items()}
        worst = sorted(costs, key=lambda names: -costs[names])[: self.most]
        for names in worst:
            n_kernels = sum(len(chain.work) for chain in families[names])
            is_long = costs[names] >= min_mean_ns * n_kernels
            if is_long and costs[names] >= self.min_share_ratio * busy_ns:
                yield self._finding(trace, names, families[names], busy_ns)

    def _finding(
        self, trace: Trace, names: tuple[str, ...], chains: list[Chain], busy_ns: int
    ) -> Finding:
        cost_ns = _cost_ns(trace, chains)
        of_what = "device time" if links(trace).has_device else "the recording"
        work = np.concatenate([chain.work for chain in chains])
        start_ns, dur_ns = trace.slices.ts_ns[work], trace.slices.dur_ns[work]
        ratio = np.concatenate(
            [np.full(len(chain.work), chain.saved_items / chain.items) for chain in chains]
        )
        saving = Saving(
            start_ns,
            start_ns + dur_ns,
            np.floor(dur_ns * ratio).astype(np.int64),
            "the share of their traffic that is intermediates",
        )
        short = [name.removeprefix("aten::") for name in names]
        listed = " + ".join(short)
        times = "once" if len(chains) == 1 else f"{count(len(chains))} times"
        return Finding(
            self.name,
            severity_of(saving.total_ns / busy_ns),
            f"{listed} could be one kernel: {times} they run one after the other over the same"
            f" elements, for {duration(cost_ns)}, {percent(cost_ns / busy_ns)} of"
            f" {of_what}{_bytes(chains)}",
            in_time_order(trace, work),
            "Compile the module with torch.compile, or use a fused kernel (Liger, xFormers) for it",
            saving,
        )


def _cost_ns(trace: Trace, chains: list[Chain]) -> int:
    return sum(int(trace.slices.dur_ns[chain.work].sum()) for chain in chains)


def _bytes(chains: list[Chain]) -> str:
    """Return the traffic that fusing one chain saves, where the file tells the types."""
    largest = max(chains, key=lambda chain: chain.saved_items)
    if largest.item_bytes is None or not largest.saved_items:
        return ""
    return f"; one would save {size(largest.saved_items * largest.item_bytes)} of traffic each time"
