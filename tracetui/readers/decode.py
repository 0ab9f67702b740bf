"""Records of the trace-event format, and decoders that know which of their members matter."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from tracetui.model.arrays import Int64s
from tracetui.model.slices import SliceKind

_EMPTY: Final = msgspec.Raw(b"")
NO_MEMBERS: Final = msgspec.Raw(b"{}")


class Arguments(msgspec.Struct, gc=False):
    """The few arguments that are read; all others stay in the file."""

    correlation: Any = 0
    external_id: Any = msgspec.field(default=0, name="External id")
    dims: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input Dims")
    types: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input type")
    values: msgspec.Raw = msgspec.field(default=_EMPTY, name="Concrete Inputs")
    strides: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input Strides")
    sequence: Any = msgspec.field(default=-1, name="Sequence number")
    n_bytes: Any = msgspec.field(default=-1, name="bytes")
    registers: Any = msgspec.field(default=None, name="registers per thread")
    shared_bytes: Any = msgspec.field(default=None, name="shared memory")
    blocks_per_sm: Any = msgspec.field(default=None, name="blocks per SM")
    warps_per_sm: Any = msgspec.field(default=None, name="warps per SM")
    grid: msgspec.Raw = _EMPTY
    block: msgspec.Raw = _EMPTY
    occupancy: Any = msgspec.field(default=None, name="est. achieved occupancy %")
    limits: msgspec.Raw = msgspec.field(default=_EMPTY, name="occupancy")
    python_id: Any = msgspec.field(default=-1, name="Python id")
    python_parent_id: Any = msgspec.field(default=-1, name="Python parent id")
    old_external_id: Any = msgspec.field(default=0, name="external id")
    old_dims: msgspec.Raw = msgspec.field(default=_EMPTY, name="Input dims")
    old_occupancy: Any = msgspec.field(default=None, name="theoretical occupancy %")
    moved: Any = msgspec.field(default=None, name="Bytes")
    allocated: Any = msgspec.field(default=None, name="Total Allocated")
    reserved: Any = msgspec.field(default=None, name="Total Reserved")
    device_type: Any = msgspec.field(default=None, name="Device Type")
    device_index: Any = msgspec.field(default=None, name="Device Id")
    address: Any = msgspec.field(default=None, name="Addr")
    name: Any = None
    labels: Any = None
    sort_index: Any = None


class Event(msgspec.Struct, gc=False):
    """One record of the trace-event format."""

    ph: Any = None
    cat: Any = None
    name: Any = None
    pid: Any = None
    tid: Any = None
    ts: msgspec.Raw = _EMPTY
    dur: msgspec.Raw = _EMPTY
    id: Any = None
    args: msgspec.Raw = NO_MEMBERS
    """Decoded by those that know what the event is, and so which few of them to look for."""


Kept: TypeAlias = Callable[[Sequence[Event], Int64s], tuple[Sequence[Event], Int64s]]
"""Takes events with their numbers and returns those to keep, with theirs."""

EVENTS: Final = msgspec.json.Decoder(list[Event])
RAW_EVENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])
NO_ARGUMENTS: Final = Arguments()


class Layout:
    """The arguments that some kinds of slices have; the fewer, the faster they are read."""

    def __init__(self, *names: str) -> None:
        """Take fields of ``Arguments``, best in the order in which files have them."""
        fields = {field.name: field for field in msgspec.structs.fields(Arguments)}
        self.names: Final = names
        members = [(name, fields[name].type, _default(fields[name])) for name in names]
        record = msgspec.defstruct("_Arguments", members, gc=False)
        self._nothing = record()
        self._all = msgspec.json.Decoder(list[record])  # type: ignore[valid-type]
        self._some = msgspec.json.Decoder(list[record | None])  # type: ignore[valid-type]

    def columns(self, given: Sequence[msgspec.Raw]) -> dict[str, tuple[Any, ...]]:
        """Return the fields of many events' arguments, each as one column.

        Raises:
            msgspec.DecodeError: If one of them is no object, or has what JSON does not allow.
            UnicodeDecodeError: If a text in them is not UTF-8.
        """
        if not given:
            return dict.fromkeys(self.names, ())
        listed = b"[" + b",".join(given) + b"]"
        try:
            records = self._all.decode(listed)
        except msgspec.ValidationError:
            records = [record or self._nothing for record in self._some.decode(listed)]
        rows = map(msgspec.structs.astuple, records)
        return dict(zip(self.names, zip(*rows, strict=True), strict=True))


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return msgspec.field(default=field.default, name=field.encode_name)


_OPERATOR: Final = Layout(
    "external_id", "dims", "types", "values", "strides", "sequence", "old_external_id", "old_dims",
    "correlation",
)  # fmt: skip
_WORK: Final = Layout(
    "external_id", "correlation", "registers", "shared_bytes", "blocks_per_sm", "warps_per_sm",
    "grid", "block", "occupancy", "n_bytes", "old_external_id", "old_occupancy", "limits",
)  # fmt: skip
_ANY: Final = Layout(*(field.name for field in msgspec.structs.fields(Arguments)))
LAYOUTS: Final = (_ANY, _OPERATOR, _WORK)
_LAYOUT_OF_KIND: Final = {
    SliceKind.OPERATOR: 1,
    SliceKind.RUNTIME: 2,
    SliceKind.KERNEL: 2,
    SliceKind.MEMCPY: 2,
    SliceKind.MEMSET: 2,
}


def layout_of(kind: SliceKind) -> int:
    """Return which of ``LAYOUTS`` the slices of a kind have."""
    return _LAYOUT_OF_KIND.get(kind, 0)


_ARGUMENTS: Final = msgspec.json.Decoder(list[Arguments | None])


def arguments(given: Sequence[msgspec.Raw]) -> list[Arguments]:
    """Return the arguments of many events.

    Raises:
        msgspec.DecodeError: If one of them is no object, or has what JSON does not allow.
        UnicodeDecodeError: If a text in them is not UTF-8.
    """
    records = _ARGUMENTS.decode(b"[" + b",".join(given) + b"]")
    return [record or NO_ARGUMENTS for record in records]
