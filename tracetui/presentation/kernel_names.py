"""What a kernel's name says, as a line of text."""

from tracetui.analysis.kernel_names import KernelName


def name_facts(said: KernelName) -> str:
    """Return what a name says, "" where that is nothing.

    ``cublas · bf16 in, fp32 acc · tensor cores yes · tile 128x128 · stages 32x5 · layout tn``
    """
    formats = [
        f"{value} {word}"
        for value, word in ((said.dtype_in, "in"), (said.dtype_acc, "acc"))
        if value
    ]
    parts = [
        said.origin,
        said.arch,
        said.inductor_kind,
        said.direction,
        ", ".join(formats),
        None if said.tensor_cores == "unknown" else f"tensor cores {said.tensor_cores}",
    ]
    for title, value in (
        ("instruction", said.mma),
        ("tile", said.tile),
        ("stages", said.stages),
        ("layout", said.layout),
        ("cluster", said.cluster),
        ("epilogue", said.epilogue),
        ("fuses", ", ".join(said.operators)),
    ):
        parts.append(f"{title} {value}" if value else None)
    if said.split_k:
        parts.append("split k")
    # That a copy uses no tensor cores is true of every copy and tells nothing.
    is_telling = any(parts[:5]) or any(parts[6:])
    return " · ".join(part for part in parts if part) if is_telling else ""
