"""Records the bundled samples anew, each beside what torch itself counts in the same run.

``python -m tracetui.capture.samples OUTDIR`` writes ``NAME.json.gz`` and ``NAME.oracle.json`` for the
variants worth comparing on a CPU. Each is recorded several times, in turns with the others, and the
recording whose steps took least is kept: what else the machine did meanwhile is no part of a sample.
"""

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tracetui.capture import progress
from tracetui.capture.client import CaptureProcess
from tracetui.capture.environment import without_machine
from tracetui.capture.export import METADATA_KEY, decoded_metadata, encoded_metadata
from tracetui.capture.oracle import ENDING
from tracetui.capture.spec import CaptureSpec, Value
from tracetui.errors import CaptureError, TraceTuiError

_N_REPEATS: Final = 8
_N_RUNS: Final = 20
_PRIVATE_METADATA: Final = ("capture", "repository", "host", "environment")
_EXIT_UNUSABLE: Final = 2


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The variants of one workload that are bundled, at a size that keeps their files small."""

    workload: str
    variants: tuple[str, ...]
    parameters: tuple[tuple[str, Value], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The samples' names, in the order of the variants."""
        spec = CaptureSpec(self.workload, "")
        return tuple(spec.stem({}, variant, 0) for variant in self.variants)


SAMPLE_SETS: Final = (
    SampleSet("matmul-add", ("eager", "compiled", "addmm"), (("size", 64),)),
    SampleSet("linear", ("eager", "compiled"), (("batch", 64), ("in", 32), ("out", 64))),
    SampleSet(
        "mlp",
        ("eager", "compiled", "packed"),
        (("batch", 1), ("seq", 128), ("dim", 96), ("hidden", 256)),
    ),
    SampleSet(
        "attention",
        ("naive", "naive-inplace", "sdpa", "sdpa-math", "compiled", "flex"),
        (("batch", 2), ("heads", 4), ("seq", 128), ("head_dim", 32)),
    ),
    SampleSet(
        "block",
        ("eager", "compiled"),
        (("batch", 1), ("seq", 32), ("dim", 64), ("heads", 2), ("hidden", 128)),
    ),
)


def _step_us(document: dict[str, Any]) -> float:
    """Return how long the steps of a trace took together."""
    return sum(
        float(event["dur"])
        for event in document["traceEvents"]
        if event.get("ph") == "X" and str(event["name"]).startswith("ProfilerStep#")
    )


def _without_machine(document: dict[str, Any], n_repeats: int) -> dict[str, Any]:
    """Return a trace that names no machine, in its own members or in our metadata."""
    metadata = decoded_metadata(document[METADATA_KEY])
    kept = {name: each for name, each in metadata.items() if name not in _PRIVATE_METADATA}
    kept["device"] = {"kind": metadata["device"]["kind"]}
    kept |= {"repeat": 0, "repeats": 1, "chosen_of": n_repeats}
    return {**without_machine(document), METADATA_KEY: json.loads(encoded_metadata(kept))}


def _packed(document: dict[str, Any]) -> bytes:
    """Return a trace as its file: the same trace gives the same bytes."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def _keep_quietest(recorded: Sequence[Path], name: str, folder: Path) -> Path:
    """Write the sample whose steps took least of some recordings, and its oracle."""
    documents = [json.loads(gzip.decompress(path.read_bytes())) for path in recorded]
    times = [_step_us(document) for document in documents]
    chosen = times.index(min(times))
    target = folder / f"{name}.json.gz"
    target.write_bytes(_packed(_without_machine(documents[chosen], len(recorded))))
    oracle_file = recorded[chosen].name.replace(".json.gz", ENDING)
    oracle = json.loads(recorded[chosen].with_name(oracle_file).read_text(encoding="utf-8"))
    oracle["trace"] = target.name
    text = json.dumps(oracle, indent=2) + "\n"
    (folder / f"{name}{ENDING}").write_text(text, encoding="utf-8")
    return target


def record(samples: SampleSet, folder: Path, n_repeats: int) -> Iterator[Path]:
    """Record the samples of one workload into ``folder`` and yield the traces' paths.

    Raises:
        CaptureError: A variant could not run here.
    """
    with tempfile.TemporaryDirectory(prefix="tracetui-samples-") as scratch:
        spec = CaptureSpec(
            workload=samples.workload,
            out=scratch,
            variants=samples.variants,
            settings=tuple((name, (value,)) for name, value in samples.parameters),
            device="cpu",
            repeats=n_repeats,
            has_oracle=True,
            threads=1,
            timed_runs=_N_RUNS,
        )
        for event in CaptureProcess(spec, sys.executable).events():
            if event["event"] in (progress.FAILED, progress.UNAVAILABLE):
                raise CaptureError(f"{samples.workload}: {event['reason']}")
        for name, variant in zip(samples.names, samples.variants, strict=True):
            stems = [spec.stem({}, variant, repeat) for repeat in range(n_repeats)]
            recorded = [Path(scratch) / f"{stem}.json.gz" for stem in stems]
            yield _keep_quietest(recorded, name, folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record every sample, or those of the workloads named."""
    parser = argparse.ArgumentParser(
        prog="python -m tracetui.capture.samples", description="Record the bundled samples."
    )
    parser.add_argument("folder", type=Path, metavar="OUTDIR")
    names = [samples.workload for samples in SAMPLE_SETS]
    parser.add_argument("--only", choices=names, action="append", metavar="WORKLOAD")
    parser.add_argument("--repeats", type=int, default=_N_REPEATS, metavar="N")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        for samples in SAMPLE_SETS:
            if options.only and samples.workload not in options.only:
                continue
            for path in record(samples, options.folder, options.repeats):
                print(path, flush=True)
    except TraceTuiError as error:
        print(f"tracetui: {error}", file=sys.stderr)
        return _EXIT_UNUSABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
