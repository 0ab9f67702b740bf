"""What to say of a file that does not fit into memory, and which parts of it to offer."""

from dataclasses import dataclass
from typing import Final

from tracetui.format import count, size
from tracetui.model.portion import WHOLE, Portion, Shortage

N_STEPS_OFFERED: Final = 3


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to go on."""

    text: str
    portion: Portion | None
    """What to read then; ``None`` for nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask before a file is read."""

    title: str
    offers: tuple[Offer, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the offers as lines to choose from."""
        return tuple(offer.text for offer in self.offers)

    def answer(self, row: int | None) -> Portion | None:
        """Return what to read after a choice; ``None`` for nothing, also where none was made."""
        return None if row is None else self.offers[row].portion


def need_text(short: Shortage) -> str:
    """Return how much memory a file takes and how much there is."""
    return (
        f"{size(short.n_file_bytes)} that need about {size(short.n_needed_bytes)} of memory;"
        f" {size(short.n_free_bytes)} are free"
    )


def refusal(short: Shortage) -> str:
    """Return why a file is not read unasked, and what to ask for, in one line."""
    return (
        f"{need_text(short)}. Read a part of it with tracetui report --first N, --device-only,"
        " --window START:END or --steps A:B, or all of it with --anyway"
    )


def question(name: str, short: Shortage) -> Question:
    """Return what to ask: the parts that fit first, then all of it, then nothing.

    Args:
        name: The file's name, safe to show.
        short: What is short.
    """
    offers = []
    if short.n_events_that_fit:
        n_events = short.n_events_that_fit
        offers.append(
            Offer(
                f"the first {count(n_events)} events, about what fits", Portion(n_events=n_events)
            )
        )
    offers += [
        Offer(
            f"the first {N_STEPS_OFFERED} steps, with what they launched",
            Portion(n_steps=N_STEPS_OFFERED),
        ),
        Offer("device rows only: kernels, copies, memsets", Portion(is_device_only=True)),
        Offer("all of it anyway; the machine may swap", WHOLE),
        Offer("nothing", None),
    ]
    return Question(f"{name}: {need_text(short)}. What to read?", tuple(offers))
