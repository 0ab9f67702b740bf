"""Guess first, then look: what to ask of a trace, and what became of the answers."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from tracetui.analysis.bound import BoundKind
from tracetui.analysis.links import links
from tracetui.analysis.operators import annotation_stats, operator_stats
from tracetui.diagnosis.expectations import Outcome, outcome, parsed_expectation
from tracetui.diagnosis.expressions import ExpectationError
from tracetui.model.arrays import NO_ID
from tracetui.model.trace import Trace

EXPECT_FILE: Final = "tracetui-expect.txt"
"""Where expectations are kept beside a project."""
_COMMON_BOUNDS: Final = (BoundKind.COMPUTE, BoundKind.OVERHEAD, BoundKind.SYNC, BoundKind.BALANCED)
"""What most traces are bound by: these are named to who guesses, all may be answered."""
_OTHER_BOUNDS: Final = tuple(kind for kind in BoundKind if kind not in _COMMON_BOUNDS)
_OF_TORCH: Final = re.compile(
    r"^ProfilerStep#|^## Call CompiledFxGraph|^Torch-Compiled Region|\(dynamo_timed\)$"
    r"|^(nccl|rccl|gloo|mpi|ucc|hccl|xccl|c10d):"
)
"""Annotations that torch makes itself, of which nobody has a picture."""
_OPTIMIZER_PREFIX: Final = "Optimizer."
_MOST_SUGGESTED: Final = 200
_LONGEST_SUBJECT: Final = 200
_PLAIN_NAME: Final = re.compile(r"[\w.:/-]+")
_NUMBER: Final = re.compile(r"\d{1,9}")
_RANGE: Final = re.compile(r"(\d{1,9})\s*(?:-|–|\.\.|to)\s*(\d{1,9})")
_YES: Final = ("yes", "y", "fused")
_NO: Final = ("no", "n", "not fused", "unfused")


@dataclass(frozen=True, slots=True)
class GuessQuestion:
    """One thing to guess."""

    key: str
    """``kernels``, ``copies``, ``launches``, ``bound``, ``hottest`` or ``fused``."""
    label: str
    noun: str
    """What a number is a number of, for the answer in words."""
    function: str
    """The function of an expectation that tells the truth."""
    choices: tuple[str, ...] = ()
    """What may be answered, or begins what may be; empty for a number."""
    is_open: bool = False
    """Whether other answers than the choices are possible."""


@dataclass(frozen=True, slots=True)
class GuessForm:
    """What a trace is asked about."""

    subject: str
    """The annotation that the numbers are about, or nothing for the whole trace."""
    questions: tuple[GuessQuestion, ...]

    @property
    def title(self) -> str:
        """Return the question above all."""
        what = f"one {self.subject}" if self.subject else "this trace"
        return f"Before you look: what will {what} show?"


@dataclass(frozen=True, slots=True)
class RevealLine:
    """What became of one answer."""

    text: str
    is_right: bool
    slice_id: int
    """Where to look, or ``NO_ID``."""


@dataclass(frozen=True, slots=True)
class Reveal:
    """What became of all answers."""

    lines: tuple[RevealLine, ...]
    expectations: str
    """The truth as a file of expectations, the wrong guesses in comments."""

    @property
    def n_right(self) -> int:
        """Return how many answers were right."""
        return sum(line.is_right for line in self.lines)

    @property
    def first_mismatch(self) -> int:
        """Return the slice to look at for the first wrong answer, or ``NO_ID``."""
        return next((line.slice_id for line in self.lines if not line.is_right), NO_ID)


def guess_form(trace: Trace) -> GuessForm:
    """Return what to ask of a trace: of a trace without device work, little."""
    operators = _operators(trace)
    hottest = GuessQuestion(
        "hottest", "hottest operator", "", "hottest", choices=operators, is_open=True
    )
    of_operators = (hottest,) if operators else ()
    has_device = links(trace).has_device
    fused = "has_kernel(fused)" if has_device else "calls(*fused*) >= 1"
    is_fused = GuessQuestion("fused", "anything fused", "", fused, choices=("yes", "no"))
    if not has_device:
        return GuessForm("", (*of_operators, is_fused))
    subject = _subject(trace)
    bounds = tuple(kind.value for kind in (*_COMMON_BOUNDS, *_OTHER_BOUNDS))
    bound = GuessQuestion("bound", "bound by", "", "bound", choices=bounds)
    counts = (("kernels", "kernels"), ("copies", "copies"), ("launches", "launches"))
    numbers = tuple(
        GuessQuestion(
            key,
            label,
            label,
            f"{key}_per_call({_argument(subject)})" if subject else _whole_count(key),
        )
        for key, label in counts
    )
    return GuessForm(subject, (*numbers, bound, *of_operators, is_fused))


def _argument(name: str) -> str:
    """Return a name as it stands in the parentheses of a function."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return f"'{name}'" if '"' in name else f'"{name}"'


def _whole_count(key: str) -> str:
    return "device_slices" if key == "kernels" else key


def _operators(trace: Trace) -> tuple[str, ...]:
    """Return the operators' names in the order of the alphabet, which gives nothing away."""
    stats = operator_stats(trace)
    return tuple(sorted(trace.names[i] for i in stats.name_id.tolist()[:_MOST_SUGGESTED]))


def _subject(trace: Trace) -> str:
    """Return the program's annotation with most device work, else the optimizer's, or nothing."""
    stats = annotation_stats(trace)
    if stats.device_total_ns is None:
        return ""
    rows = np.argsort(-stats.device_total_ns, kind="stable")
    names = [trace.names[each] for each in stats.name_id[rows[stats.device_total_ns[rows] > 0]]]
    found = [name for name in names if _is_sayable(name) and not _OF_TORCH.search(name)]
    own = [name for name in found if not name.startswith(_OPTIMIZER_PREFIX)]
    return next(iter(own or found), "")


def _is_sayable(name: str) -> bool:
    return not ('"' in name and "'" in name) and len(name) <= _LONGEST_SUBJECT


def expectation_of(question: GuessQuestion, answer: str) -> str:
    """Return a guess as an expectation.

    Raises:
        ExpectationError: If it answers something else.
    """
    text = answer.strip()
    if question.key == "fused":
        if text.lower() in _YES:
            return question.function
        if text.lower() in _NO:
            has_comparison = ">=" in question.function
            return (
                question.function.replace(">= 1", "== 0")
                if has_comparison
                else f"not {question.function}"
            )
        raise ExpectationError(f"{question.label}: yes or no")
    if question.choices:
        fitting = [choice for choice in question.choices if choice.startswith(text.lower())]
        if not question.is_open and len(fitting) != 1:
            raise ExpectationError(f"{question.label}: one of {', '.join(question.choices)}")
        value = text if question.is_open else fitting[0]
        if '"' in value:
            raise ExpectationError(f"{question.label}: no name has quotes in it")
        return f'{question.function} == "{value}"'
    if _NUMBER.fullmatch(text):
        return f"{question.function} == {text}"
    span = _RANGE.fullmatch(text)
    if span is None:
        raise ExpectationError(f"{question.label}: a number, or a range such as 4-6")
    return f"{span.group(1)} <= {question.function} <= {span.group(2)}"


def reveal(trace: Trace, form: GuessForm, answers: dict[str, str]) -> Reveal:
    """Return what became of the answers; questions without one are left out.

    Args:
        trace: The recording.
        form: What was asked.
        answers: The answers by the questions' keys.

    Raises:
        ExpectationError: If an answer answers something else.
    """
    lines, kept = [], [f"# what {form.subject or 'the trace'} shows"]
    for question in form.questions:
        answer = answers.get(question.key, "").strip()
        if not answer:
            continue
        found = outcome(parsed_expectation(expectation_of(question, answer)), trace)
        lines.append(_line(trace, question, answer, found))
        truth = _truth(question, found)
        if truth:
            guessed = "" if found.is_met else f"  # guessed {answer}"
            kept.append(f"{truth}{guessed}")
    return Reveal(tuple(lines), "\n".join(kept) + "\n")


def _line(trace: Trace, question: GuessQuestion, answer: str, found: Outcome) -> RevealLine:
    slice_id = found.telling_id
    if slice_id == NO_ID and len(found.slices):
        slice_id = int(found.slices[int(np.argmin(trace.slices.ts_ns[found.slices]))])
    truth = found.found_text
    if question.noun:
        be = "is" if truth == "1" else "are"
        said = f"{question.label}: you said {answer}, there {be} {truth}"
        text = f"{question.label}: {truth}" if found.is_met else said
    else:
        said = f"{question.label}: you said {answer}, it is {truth}"
        text = f"{question.label}: {truth}" if found.is_met else said
    if not found.is_met and found.remark:
        text += f" · {found.remark}"
    return RevealLine(text, found.is_met, slice_id)


def _truth(question: GuessQuestion, found: Outcome) -> str:
    """Return what was found as an expectation; nothing where it was not measured."""
    (value,) = found.found
    if value is None:
        return ""
    if question.key == "fused":
        is_fused = bool(value)
        return expectation_of(question, "yes" if is_fused else "no")
    if isinstance(value, str):
        return f'{question.function} == "{value}"'
    number = str(value) if value.denominator == 1 else f"{float(value):.6g} ± 0.01"
    return f"{question.function} == {number}"


@dataclass(frozen=True, slots=True)
class Score:
    """How good the guesses of all traces were."""

    n_right: int = 0
    n_asked: int = 0

    def with_reveal(self, found: Reveal) -> "Score":
        """Return the score after one more round."""
        return Score(self.n_right + found.n_right, self.n_asked + len(found.lines))

    @property
    def text(self) -> str:
        """Return the score in words; nothing before the first round."""
        return f"{self.n_right} of {self.n_asked} right so far" if self.n_asked else ""


@dataclass(frozen=True, slots=True)
class ScoreStore:
    """Keeps the score in one small JSON file; a damaged or missing one is a new start."""

    folder: Path

    @property
    def path(self) -> Path:
        """Return where the file lies."""
        return self.folder / "guesses.json"

    def score(self) -> Score:
        """Return the score so far."""
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return Score(int(content["right"]), int(content["asked"]))
        except (OSError, ValueError, KeyError, TypeError):
            return Score()

    def keep(self, score: Score) -> bool:
        """Keep the score; say whether it could be written."""
        content = {"right": score.n_right, "asked": score.n_asked}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            draft = self.path.with_suffix(f".{os.getpid()}.tmp")
            draft.write_text(json.dumps(content), encoding="utf-8")
            draft.replace(self.path)
        except OSError:
            return False
        return True


def write_expectations(folder: Path, text: str) -> Path:
    """Write expectations beside a project, never over a file that is there.

    Raises:
        OSError: If the folder cannot be written.
    """
    stem, suffix = EXPECT_FILE.rsplit(".", 1)
    number = 1
    while True:
        name = EXPECT_FILE if number == 1 else f"{stem}-{number}.{suffix}"
        try:
            with (folder / name).open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            number += 1
            continue
        return folder / name
