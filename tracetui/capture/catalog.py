"""The built-in workloads, described without importing torch."""

from dataclasses import dataclass, replace
from typing import Final

from tracetui.capture.spec import Point, Value
from tracetui.errors import UsageError

DTYPES: Final = ("fp32", "bf16", "fp16", "fp64")
COMPILED: Final = "compiled"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that may be set, with what it is on an accelerator and, smaller, on a CPU."""

    name: str
    default: Value
    cpu_default: Value
    summary: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VariantEntry:
    """One way of running a workload."""

    name: str
    summary: str
    package: str | None = None
    """The module that has to be installed for it."""
    is_compiled: bool = False


@dataclass(frozen=True, slots=True)
class WorkloadEntry:
    """One workload: its parameters and variants, and where its code lies."""

    name: str
    summary: str
    module: str
    annotation: str
    """What the annotations begin with: ``mlp`` gives ``mlp_fwd`` and ``mlp_bwd``."""
    parameters: tuple[Parameter, ...]
    variants: tuple[VariantEntry, ...]
    backward: bool = False
    """Whether the backward runs unless it is said otherwise."""

    @property
    def variant_names(self) -> tuple[str, ...]:
        """The names of the variants, in order."""
        return tuple(variant.name for variant in self.variants)

    def variant(self, name: str) -> VariantEntry:
        """Return a variant by its name.

        Raises:
            UsageError: There is none of this name.
        """
        for variant in self.variants:
            if variant.name == name:
                return variant
        known = ", ".join(self.variant_names)
        raise UsageError(f"{self.name} has no variant {name!r} (it has {known})")

    def complete(self, point: Point, *, is_cpu: bool) -> dict[str, Value]:
        """Return every parameter's value: what was set, else what the device is given.

        Raises:
            UsageError: A name or a value that the workload does not know.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in point.items():
            if name not in known:
                raise UsageError(
                    f"{self.name} has no parameter {name!r} (it has {', '.join(known)})"
                )
            _check_value(self.name, known[name], value)
        return {
            name: point.get(name, parameter.cpu_default if is_cpu else parameter.default)
            for name, parameter in known.items()
        }


def _check_value(workload: str, parameter: Parameter, value: Value) -> None:
    where = f"{workload}: {parameter.name}={value}"
    if parameter.choices:
        if value not in parameter.choices:
            raise UsageError(f"{where}: one of {', '.join(parameter.choices)}")
    elif isinstance(parameter.default, bool):
        if not isinstance(value, bool):
            raise UsageError(f"{where}: true or false")
    elif isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{where}: a whole number from 1")


def _sizes(**sizes: tuple[int, int]) -> tuple[Parameter, ...]:
    """Return sizes by their names, each as it is on an accelerator and on a CPU."""
    return tuple(
        Parameter(name, default, cpu_default, _MEANINGS[name])
        for name, (default, cpu_default) in sizes.items()
    )


def _compiled_modes(*modes: str) -> tuple[VariantEntry, ...]:
    return tuple(
        VariantEntry(f"{COMPILED}-{mode}", f"torch.compile, mode {mode}", is_compiled=True)
        for mode in modes
    )


_MEANINGS: Final = {
    "batch": "sequences",
    "seq": "positions of each sequence",
    "dim": "features of the model",
    "heads": "heads of attention",
    "head_dim": "features of a head",
    "hidden": "features inside the MLP",
}
_DTYPE: Final = Parameter("dtype", "bf16", "fp32", "of inputs and weights", DTYPES)
_EAGER: Final = VariantEntry("eager", "operator by operator, as written")
_COMPILED: Final = VariantEntry(COMPILED, "torch.compile, default mode", is_compiled=True)
_ACTIVATION: Final = Parameter(
    "activation",
    "gelu-tanh",
    "gelu-tanh",
    "gelu-tanh is GeGLU, silu is SwiGLU",
    ("gelu-tanh", "silu", "relu"),
)
ATTENTIONS: Final = (
    VariantEntry("naive", "scores, mask, softmax and product spelled out; the mask out of place"),
    VariantEntry("naive-inplace", "the same with masked_fill_, which saves a hidden copy"),
    VariantEntry("sdpa", "scaled_dot_product_attention, torch's own choice of a backend"),
    *(
        VariantEntry(f"sdpa-{name}", f"scaled_dot_product_attention, pinned to {backend}")
        for name, backend in (
            ("math", "the math backend"),
            ("efficient", "memory-efficient"),
            ("flash", "flash attention"),
            ("cudnn", "cuDNN"),
        )
    ),
    VariantEntry(COMPILED, "the naive one through torch.compile", is_compiled=True),
    VariantEntry("flex", "flex_attention with a causal block mask, compiled", is_compiled=True),
    VariantEntry("flash-attn", "flash_attn_func", package="flash_attn"),
    VariantEntry("hub", "flash attention from the kernel hub", package="kernels"),
)

CATALOG: Final = (
    WorkloadEntry(
        "matmul-add",
        "a matrix product and an addition",
        "tracetui.capture.workloads.matmul_add",
        "matmul_add",
        (
            Parameter("size", 4096, 512, "rows and columns; 64 shows the overhead-bound regime"),
            _DTYPE,
        ),
        (
            _EAGER,
            _COMPILED,
            *_compiled_modes("reduce-overhead", "max-autotune"),
            VariantEntry("addmm", "product and addition as one addmm, by hand"),
        ),
    ),
    WorkloadEntry(
        "linear",
        "one linear layer",
        "tracetui.capture.workloads.linear",
        "linear",
        (
            Parameter("batch", 1024, 1024, "rows"),
            Parameter("in", 32, 32, "features in"),
            Parameter("out", 64, 64, "features out"),
            _DTYPE,
        ),
        (_EAGER, _COMPILED),
    ),
    WorkloadEntry(
        "mlp",
        "a gated MLP: act(gate) * up, then down",
        "tracetui.capture.workloads.mlp",
        "mlp",
        (
            *_sizes(batch=(64, 4), seq=(128, 64), dim=(768, 256), hidden=(3072, 1024)),
            _ACTIVATION,
            _DTYPE,
        ),
        (
            _EAGER,
            _COMPILED,
            *_compiled_modes("reduce-overhead", "max-autotune"),
            VariantEntry(
                "fused",
                "act(gate) * up as one Triton kernel by hand",
                package="triton",
            ),
            VariantEntry("packed", "gate and up as one product"),
            VariantEntry("liger", "the layer of liger-kernel", package="liger_kernel"),
        ),
    ),
    WorkloadEntry(
        "attention",
        "causal attention, from queries, keys and values on",
        "tracetui.capture.workloads.attention",
        "attn",
        (
            *_sizes(batch=(8, 2), heads=(12, 4), seq=(1024, 256), head_dim=(64, 64)),
            Parameter("causal", True, True, "whether a position sees only those before it"),  # noqa: FBT003  a default
            _DTYPE,
        ),
        ATTENTIONS,
    ),
    WorkloadEntry(
        "block",
        "a whole pre-norm transformer block, forward and backward",
        "tracetui.capture.workloads.block",
        "block",
        (
            *_sizes(
                batch=(8, 2), seq=(1024, 128), dim=(768, 128), heads=(12, 4), hidden=(3072, 512)
            ),
            _ACTIVATION,
            Parameter(
                "optimizer", "none", "none", "what steps afterwards", ("none", "sgd", "adamw")
            ),
            _DTYPE,
        ),
        (
            VariantEntry("eager", "as written, with torch's own choice of an attention"),
            _COMPILED,
            *(
                replace(each, summary=f"eager, attention: {each.summary}")
                for each in ATTENTIONS
                if each.name not in ("sdpa", COMPILED)
            ),
        ),
        backward=True,
    ),
)
"""In the order of learning: each adds one thing to the one before."""


def workload_entry(name: str) -> WorkloadEntry:
    """Return a workload by its name.

    Raises:
        UsageError: There is none of this name.
    """
    for entry in CATALOG:
        if entry.name == name.replace("_", "-"):
            return entry
    known = ", ".join(entry.name for entry in CATALOG)
    raise UsageError(f"no workload {name!r} (there are {known}, and FILE.py:FUNCTION)")


def is_custom(workload: str) -> bool:
    """Whether a workload is a function in a file of the user's."""
    return ".py" in workload
