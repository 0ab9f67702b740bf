"""What to capture, as a form: each change gives another form, and a form knows what is wrong with it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tracetui.capture.catalog import (
    CATALOG,
    Parameter,
    VariantEntry,
    WorkloadEntry,
    is_custom,
    workload_entry,
)
from tracetui.capture.client import MachineReport
from tracetui.capture.spec import MIN_STEPS, CaptureSpec, Value, parsed_settings, value_of
from tracetui.errors import UsageError
from tracetui.model.strings import clean_text
from tracetui.presentation.capture_choice import Choice, Memory, Refusals
from tracetui.presentation.capture_fields import (
    BACKWARD,
    DEVICE,
    OUT,
    PARAMETER,
    PYTHON,
    REPEATS,
    SETTINGS,
    START,
    STEPS,
    VARIANT,
    WORKLOAD,
    FormRow,
    answer,
    neighbour,
    settings_text,
    values_text,
    whole_number,
    yes_or_no,
)

DEFAULT_WORKLOAD: Final = "mlp"
DEFAULT_OUT: Final = "traces"
AUTO: Final = "auto"
_CPU: Final = "cpu"
_KEPT: Final = (WORKLOAD, DEVICE, REPEATS, STEPS, OUT, PYTHON)


@dataclass(frozen=True, slots=True)
class CaptureForm:
    """Every choice, with what is known of the Python that the capture would run in."""

    workload: str = DEFAULT_WORKLOAD
    """A name of the catalog, or ``FILE.py:FUNCTION``."""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    device: str = AUTO
    repeats: int = 1
    steps: int = MIN_STEPS
    out: str = DEFAULT_OUT
    python: str = ""
    """The Python asked for; empty leaves it to the environment."""
    machine: MachineReport | None = None
    """What that Python has; ``None`` until it is known."""
    problem: str = ""
    """Why that Python cannot capture."""
    refusals: Refusals = field(default_factory=Refusals)

    @property
    def entry(self) -> WorkloadEntry | None:
        """Return the catalog's workload, or ``None`` for a file of the user's."""
        return None if is_custom(self.workload) else workload_entry(self.workload)

    @property
    def choice(self) -> Choice:
        """Return what is chosen of this workload."""
        return self.choices.get(self.workload, Choice())

    @property
    def is_cpu(self) -> bool | None:
        """Return whether the capture runs on a CPU, or ``None`` while that is not known."""
        if self.device != AUTO:
            return self.device.partition(":")[0] == _CPU
        return None if self.machine is None else self.machine.device == _CPU

    @property
    def where(self) -> str:
        """Return what decides whether a variant runs: the Python, its torch and the device."""
        if self.machine is None:
            return ""
        device = self.machine.device if self.device == AUTO else self.device
        return f"{self.machine.python} {self.machine.versions.get('torch')} {device}"

    # What stands in it

    def obstacle(self, variant: str) -> str:
        """Return why a variant cannot run here as far as is known, or nothing."""
        if self.entry is None or self.machine is None:
            return ""
        return self.machine.obstacle(self.workload, variant) or ""

    def refusal(self, variant: str) -> str:
        """Return why a variant could not run when it was tried here, or nothing."""
        return self.refusals.of(self.where, self.workload).get(variant, "")

    def is_wanted(self, variant: str) -> bool:
        """Whether a variant is chosen and what it needs is installed."""
        wanted = self.choice.wanted
        return (wanted is None or variant in wanted) and not self.obstacle(variant)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Return the variants that are chosen, in the catalog's order."""
        names = () if self.entry is None else self.entry.variant_names
        return tuple(name for name in names if self.is_wanted(name))

    @property
    def n_points(self) -> int:
        """Return how many combinations of the parameters there are."""
        return math.prod(len(values) for values in self.choice.settings.values())

    @property
    def error(self) -> str:
        """Return why it cannot start, in one line, or nothing."""
        if self.problem:
            return self.problem
        if self.entry is not None and not self.wanted:
            return "no variant is chosen: space chooses one, a all that can run"
        return ""

    @property
    def summary(self) -> str:
        """Return what starting would do, or why it cannot start."""
        if self.error:
            return f"Cannot start: {self.error}"
        where = "" if self.n_points == 1 else f" at {self.n_points} sizes"
        times = "" if self.repeats == 1 else f", {self.repeats} times"
        what = f"Each variant of {self.workload}"
        if self.entry is not None:
            n = len(self.wanted)
            what = f"{n} {'variant' if n == 1 else 'variants'} of {self.workload}"
            n_traces = n * self.n_points * self.repeats
            times += f": {n_traces} {'trace' if n_traces == 1 else 'traces'}"
        return clean_text(f"{what}{where}{times} into {self.out}; R starts")

    def rows(self) -> list[FormRow]:
        """Return the form, a line for each thing that can be chosen."""
        entry = self.entry
        about = "your own; each variant that the function returns" if not entry else entry.summary
        rows = [FormRow(WORKLOAD, "", "Workload", clean_text(self.workload), about)]
        if entry is None:
            rows.append(self._settings_row())
        else:
            rows += self._variant_rows(entry)
            rows += self._parameter_rows(entry)
            is_run = entry.backward if self.choice.backward is None else self.choice.backward
            rows.append(
                FormRow(BACKWARD, "", "Backward", yes_or_no(is_so=is_run), "run the backward too")
            )
        rows += [
            FormRow(DEVICE, "", "Device", self._device_text(), "auto, cpu, cuda, cuda:1, xpu …"),
            FormRow(REPEATS, "", "Repeats", str(self.repeats), "traces of each variant, in turns"),
            FormRow(STEPS, "", "Steps", str(self.steps), "that each trace holds"),
            FormRow(OUT, "", "Folder", clean_text(self.out), "that the traces go to"),
            FormRow(PYTHON, "", "Python", self._python_text(), self._python_meaning()),
            FormRow(START, "", "Start", "", self.summary, is_grey=bool(self.error)),
        ]
        return rows

    def _variant_rows(self, entry: WorkloadEntry) -> list[FormRow]:
        groups = ["Variants", *[""] * (len(entry.variants) - 1)]
        return [
            self._variant_row(each, group)
            for each, group in zip(entry.variants, groups, strict=True)
        ]

    def _variant_row(self, variant: VariantEntry, group: str) -> FormRow:
        obstacle, refusal = self.obstacle(variant.name), self.refusal(variant.name)
        is_wanted = self.is_wanted(variant.name)
        mark = "–  " if obstacle else "[x]" if is_wanted else "[ ]"
        meaning = variant.summary
        if obstacle:
            meaning = f"cannot run: {clean_text(obstacle)}"
        elif refusal:
            meaning = f"could not run last time: {clean_text(refusal)}"
        value = f"{mark} {variant.name}"
        return FormRow(VARIANT, variant.name, group, value, meaning, bool(obstacle or refusal))

    def _parameter_rows(self, entry: WorkloadEntry) -> list[FormRow]:
        rows = []
        width = max(len(each.name) for each in entry.parameters) + 1
        for place, each in enumerate(entry.parameters):
            meaning = each.summary
            if each.choices:
                meaning = f"{meaning}: {', '.join(each.choices)}"
            value = f"{each.name:<{width}} {self._parameter_text(each)}"
            rows.append(
                FormRow(PARAMETER, each.name, "" if place else "Parameters", value, meaning)
            )
        return rows

    def _parameter_text(self, parameter: Parameter) -> str:
        values = self.choice.settings.get(parameter.name)
        if values is not None:
            return values_text(values)
        if self.is_cpu is None and parameter.default != parameter.cpu_default:
            return f"{parameter.default} (CPU {parameter.cpu_default})"
        return values_text((self._default(parameter),))

    def _default(self, parameter: Parameter) -> Value:
        return parameter.cpu_default if self.is_cpu else parameter.default

    def _settings_row(self) -> FormRow:
        text = settings_text(self.choice.settings)
        meaning = "what the function is given, as NAME=VALUE NAME=VALUE,VALUE"
        return FormRow(SETTINGS, "", "Parameters", clean_text(text) or "none", meaning)

    def _device_text(self) -> str:
        if self.device == AUTO and self.machine is not None:
            return f"{AUTO}: {self.machine.device}"
        return clean_text(self.device)

    def _python_text(self) -> str:
        if self.python or self.machine is None:
            return clean_text(self.python) or AUTO
        return clean_text(self.machine.python)

    def _python_meaning(self) -> str:
        if self.problem:
            return clean_text(self.problem)
        if self.machine is None:
            return "looking what it has …"
        return f"torch {self.machine.versions.get('torch')}; enter names another, or its folder"

    # Changes

    def _with_choice(self, choice: Choice) -> "CaptureForm":
        return replace(self, choices={**self.choices, self.workload: choice})

    def toggled(self, variant: str) -> "CaptureForm":
        """Return the form with a variant chosen, or not.

        Raises:
            UsageError: It cannot run here.
        """
        why = self.obstacle(variant)
        if why:
            raise UsageError(f"{variant} cannot run: {why}")
        return self._with_choice(replace(self.choice, wanted=frozenset(self.wanted) ^ {variant}))

    def with_all_toggled(self) -> "CaptureForm":
        """Return the form with all variants chosen that can run; with none if they all are."""
        whole = self._with_choice(replace(self.choice, wanted=None))
        if self.wanted != whole.wanted:
            return whole
        return self._with_choice(replace(self.choice, wanted=frozenset()))

    def text_of(self, row: FormRow) -> str:
        """Return what stands in a row for editing; empty where the default holds."""
        if row.kind == PARAMETER:
            values = self.choice.settings.get(row.name)
            if values is not None:
                return values_text(values)
            parameter = self._parameter(row.name)
            return "" if self.is_cpu is None else values_text((self._default(parameter),))
        if row.kind == SETTINGS:
            return settings_text(self.choice.settings)
        if row.kind in (WORKLOAD, DEVICE, REPEATS, STEPS, OUT, PYTHON):
            return str(getattr(self, row.kind))
        return row.value

    def edited(self, row: FormRow, text: str) -> "CaptureForm":
        """Return the form with another text in a row; an empty one brings the default back.

        Raises:
            UsageError: The text means nothing there; the line says what would.
        """
        text = text.strip()
        if row.kind == PARAMETER:
            return self._with_setting(row.name, text)
        if row.kind == SETTINGS:
            settings = parsed_settings(text.split())
            return self._with_choice(replace(self.choice, settings=settings))
        if row.kind == WORKLOAD:
            name = text or DEFAULT_WORKLOAD
            return replace(self, workload=name if is_custom(name) else workload_entry(name).name)
        if row.kind == BACKWARD:
            return self._with_choice(replace(self.choice, backward=answer(text)))
        if row.kind == REPEATS:
            return replace(self, repeats=whole_number("repeats", text, least=1))
        if row.kind == STEPS:
            return replace(self, steps=whole_number("steps", text, least=MIN_STEPS))
        return self._with_place(row.kind, text)

    def _with_place(self, kind: str, text: str) -> "CaptureForm":
        if kind == PYTHON:
            return replace(self, python=text, machine=None, problem="")
        if kind == DEVICE:
            return replace(self, device=text or AUTO)
        if kind == OUT:
            return replace(self, out=text or DEFAULT_OUT)
        raise UsageError("nothing to write here")

    def stepped(self, row: FormRow, direction: int) -> "CaptureForm":
        """Return the form with a row's next value, or the one before; a text stays as it is."""
        if row.kind == WORKLOAD:
            names = [each.name for each in CATALOG]
            return replace(self, workload=neighbour(names, self.workload, direction))
        if row.kind == DEVICE:
            names = [AUTO, _CPU]
            if self.machine is not None and self.machine.device != _CPU:
                names.append(self.machine.device)
            return replace(self, device=neighbour(names, self.device, direction))
        if row.kind == REPEATS:
            return replace(self, repeats=max(self.repeats + direction, 1))
        if row.kind == STEPS:
            return replace(self, steps=max(self.steps + direction, MIN_STEPS))
        if row.kind == BACKWARD:
            return self.edited(row, "no" if row.value == "yes" else "yes")
        if row.kind == PARAMETER:
            return self._with_step(self._parameter(row.name), direction)
        return self

    def _with_step(self, parameter: Parameter, direction: int) -> "CaptureForm":
        values = self.choice.settings.get(parameter.name, (self._default(parameter),))
        value = values[0]
        if parameter.choices:
            text = neighbour(parameter.choices, str(value), direction)
        elif isinstance(value, bool):
            text = values_text((not value,))
        else:
            # Sizes are looked for by doubling.
            text = str(int(value) * 2 if direction > 0 else max(int(value) // 2, 1))
        return self._with_setting(parameter.name, text)

    def _with_setting(self, name: str, text: str) -> "CaptureForm":
        settings = {each: old for each, old in self.choice.settings.items() if each != name}
        values = tuple(value_of(part.strip()) for part in text.split(",") if part.strip())
        for value in values:
            if self.entry is not None:
                self.entry.complete({name: value}, is_cpu=bool(self.is_cpu))
        if values and values != (self._default(self._parameter(name)),):
            settings[name] = tuple(dict.fromkeys(values))
        return self._with_choice(replace(self.choice, settings=settings))

    def _parameter(self, name: str) -> Parameter:
        parameters = () if self.entry is None else self.entry.parameters
        return next(each for each in parameters if each.name == name)

    @property
    def memory(self) -> Memory:
        """Return what is kept of the form."""
        general = {name: getattr(self, name) for name in _KEPT}
        return Memory(general, self.choices, self.refusals)

    @classmethod
    def remembered(cls, memory: Memory) -> "CaptureForm":
        """Return the form as it was kept; what cannot be meant any more is at its default."""
        form = cls(choices=memory.choices, refusals=memory.refusals)
        for kind in _KEPT:
            row = FormRow(kind, "", "", "", "")
            try:
                form = form.edited(row, str(memory.general.get(kind, "")))
            except UsageError:
                continue
        return form

    def with_machine(self, machine: MachineReport) -> "CaptureForm":
        """Return the form with what its Python has."""
        return replace(self, machine=machine, problem="")

    def with_problem(self, problem: str) -> "CaptureForm":
        """Return the form with why its Python cannot capture."""
        return replace(self, machine=None, problem=problem)

    def with_result(self, variant: str, why: str | None) -> "CaptureForm":
        """Return the form with what trying a variant gave: a reason against it, or none."""
        learned = self.refusals.with_result(self.where, self.workload, variant, why)
        return replace(self, refusals=learned)

    def spec(self) -> CaptureSpec:
        """Return the request that the form stands for.

        Raises:
            UsageError: It cannot start.
        """
        if self.error:
            raise UsageError(self.error)
        is_all = self.entry is not None and self.choice.wanted is None
        # What was left to the catalog is tried as a whole: what cannot run is told with torch's reason.
        return CaptureSpec(
            workload=self.workload,
            out=self.out,
            variants=() if is_all else self.wanted,
            settings=tuple(self.choice.settings.items()),
            device=self.device,
            repeats=self.repeats,
            backward=None if self.entry is None else self.choice.backward,
            steps=self.steps,
        )
