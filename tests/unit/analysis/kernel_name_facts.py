"""Everything that a name says in one line, for tables of names beside their facts."""

from tracetui.analysis.kernel_names import KernelName

_ORDER = {
    "origin": "",
    "backend": "",
    "kind": "",
    "direction": "",
    "arch": "",
    "dtype_in": "in ",
    "dtype_acc": "acc ",
    "mma": "mma ",
    "tile": "tile ",
    "tile_k": "k ",
    "stages": "stages ",
    "layout": "layout ",
    "alignment": "align ",
    "cluster": "cluster ",
    "epilogue": "then ",
}


def facts(said: KernelName) -> str:
    """Return all that a name says; what it does not say is absent."""
    parts = [
        f"{title}{value}"
        for field, title in _ORDER.items()
        if (value := getattr(said, field)) is not None
    ]
    if said.split_k is not None:
        parts.append("split" if said.split_k else "unsplit")
    if said.tensor_cores != "unknown":
        parts.append({"yes": "cores", "no": "no cores"}[said.tensor_cores])
    return ", ".join(parts)
