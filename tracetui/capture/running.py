"""Runs one step of a variant, plain or with its annotations. Imports torch."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.profiler import record_function

from tracetui.capture.equality import snapshot, tensors_of
from tracetui.capture.programs import Program
from tracetui.capture.workloads.steps import Step


@dataclass(slots=True, eq=False)
class Prepared:
    """A variant that ran and was compared; its runs are added as it is timed."""

    variant: str
    step: Step
    equality: dict[str, Any] | None
    """None if the step returns nothing that could be compared."""
    first_run_ns: int
    """With compilation and all else that happens once."""
    run_ns: int
    grads: list[Any] = field(default_factory=list)
    runs_ns: list[int] = field(default_factory=list)
    said: tuple[str, ...] = ()
    """What was warned of in the first runs."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs steps of one program."""

    program: Program

    def run(
        self, step: Step, grads: list[Any], *, is_annotated: bool = False, finishes: bool = True
    ) -> Any:
        """Run one step and return what its forward returned.

        ``grads`` holds the gradient that the backward begins with; it is made on first use.
        """

        def named(part: str) -> AbstractContextManager[Any]:
            if not is_annotated:
                return nullcontext()
            named: AbstractContextManager[Any] = record_function(
                f"{self.program.annotation}_{part}"
            )
            return named

        if not self.program.has_gradients:
            with named("step"):
                return step.forward()
        for leaf in step.leaves:
            leaf.grad = None
        with nullcontext() if self.program.backward else torch.no_grad(), named("fwd"):
            result = step.forward()
        if self.program.backward:
            if not grads:
                grads.append(_first_gradient(result))
            with named("bwd"):
                torch.autograd.backward(result, grads[0])
            if finishes and step.finish is not None:
                with named("opt"):
                    step.finish()
        return result

    def results(self, step: Step, grads: list[Any]) -> list[Any]:
        """Run one step and return copies of what it computed, gradients too."""
        found = tensors_of(self.run(step, grads, finishes=False))
        if self.program.backward:
            gradients = step.gradients() if step.gradients else [each.grad for each in step.leaves]
            found += [each for each in gradients if each is not None]
        return snapshot(found)


def _first_gradient(result: Any) -> Any:
    """Return the gradient of the output: the same numbers in every dtype, and for the reference."""
    generator = torch.Generator()
    generator.manual_seed(1)
    drawn = torch.randn(result.shape, generator=generator).to(torch.bfloat16)
    return drawn.to(result.device, result.dtype)
