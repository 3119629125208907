"""Questions in several languages, composed of sentences with slots."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import msgspec

FRAMES = Path(__file__).resolve().parent / "frames"
ENGLISH = "english"
OTHER_LANGUAGES = ("chinese", "japanese", "thai", "arabic", "greek", "russian")
LETTERS = "ABCD"
SLOT = re.compile(r"\{([a-z]+)(\d*)\}")


class Language(msgspec.Struct, frozen=True):
    """Sentences of a language, and what their slots are filled with."""

    is_spaced: bool
    slots: Mapping[str, Sequence[str]]
    parts: Mapping[str, Sequence[str]]


class Shared(msgspec.Struct, frozen=True):
    """English texts that many documents share."""

    quotations: Sequence[str]
    quotation_questions: Sequence[str]
    formulas: Sequence[str]
    formula_problems: Sequence[str]
    formula_documents: Sequence[str]
    slots: Mapping[str, Sequence[str]]
    templates: Sequence[str]
    instructions: Sequence[str]
    common: Sequence[str]
    common_slots: Mapping[str, Sequence[str]]


@cache
def language(name: str) -> Language:
    """Return the sentences of a language."""
    return msgspec.yaml.decode((FRAMES / f"{name}.yaml").read_bytes(), type=Language)


@cache
def shared() -> Shared:
    """Return the texts that many documents share."""
    return msgspec.yaml.decode((FRAMES / "shared.yaml").read_bytes(), type=Shared)


@cache
def all_slots(name: str) -> Mapping[str, Sequence[str]]:
    """Return what the slots of a language are filled with."""
    if name != ENGLISH:
        return language(name).slots
    return {**language(name).slots, **shared().slots, **shared().common_slots}


@dataclass(frozen=True, slots=True)
class Problem:
    """A question whose slots are filled."""

    language: str
    kind: str
    """`story`, `theorem`, `choice`, `short`, `passage`, or the name of a template."""
    frames: Sequence[str]
    """Sentences with slots."""
    values: Mapping[str, str]
    """By slot and number: `name1`."""
    answer: str
    options: Sequence[str] = field(default=())

    @property
    def question(self) -> str:
        """The sentences without the options."""
        between = " " if language(self.language).is_spaced or self.language == "thai" else ""
        return fill(between.join(self.frames), self.values.__getitem__)

    @property
    def text(self) -> str:
        """The question with its options."""
        return with_options(self.question, self.options)


def with_options(question: str, options: Sequence[str]) -> str:
    """Return a question with lettered options in lines of their own."""
    lines = [f"({letter}) {option}" for letter, option in zip(LETTERS, options, strict=False)]
    return "\n".join([question, *lines])


def fill(text: str, value_of: Callable[[str], str]) -> str:
    """Return a text with the values of its slots."""
    return SLOT.sub(lambda slot: value_of(slot[1] + slot[2]), text)


def draw_value(draw: random.Random, name: str, slot: str, avoided: Collection[str]) -> str:
    """Draw a value for a slot of a language that is none of those to avoid."""
    if slot == "n":
        choices: Sequence[str] = [str(draw.randint(12, 980)) for _ in range(len(avoided) + 4)]
    else:
        choices = all_slots(name)[slot]
    allowed = [choice for choice in choices if choice not in avoided]
    return draw.choice(allowed or choices)


def draw_values(
    draw: random.Random,
    name: str,
    frames: Sequence[str],
    avoided: Mapping[str, str] | None = None,
    fixed: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Draw the values of all slots; each differs from `avoided` and from others of its slot."""
    avoided = avoided or {}
    values = dict(fixed or {})
    for slot, number in SLOT.findall(" ".join(frames)):
        key = slot + number
        if key in values:
            continue
        taken = {value for other, value in values.items() if other.rstrip("0123456789") == slot}
        if key in avoided:
            taken.add(avoided[key])
        values[key] = draw_value(draw, name, slot, taken)
    return values


def make_problem(
    draw: random.Random,
    name: str,
    kind: str,
    frames: Sequence[str],
    options: Sequence[str] = (),
    values: Mapping[str, str] | None = None,
) -> Problem:
    """Fill the slots of sentences; slots in `values` have these, whatever is drawn."""
    drawn = draw_values(draw, name, frames, fixed=values)
    answer = draw.choice(options) if options else str(draw.randint(12, 9800))
    return Problem(name, kind, frames, drawn, answer, options)


def redraw(draw: random.Random, problem: Problem) -> Problem:
    """Return the same template with another value in every slot, and other options."""
    values = draw_values(draw, problem.language, problem.frames, avoided=problem.values)
    options: Sequence[str] = ()
    if problem.options:
        options = draw_options(draw, problem.language, problem.options)
    return replace(problem, values=values, options=options)


def draw_options(draw: random.Random, name: str, avoided: Collection[str] = ()) -> tuple[str, ...]:
    """Draw four options that differ from each other, and from those to avoid."""
    options: list[str] = []
    while len(options) < len(LETTERS):
        frame = draw.choice(language(name).parts["option"])
        option = fill(frame, lambda slot: draw_value(draw, name, slot, ()))
        if option not in (*options, *avoided):
            options.append(option)
    return tuple(options)


def draw_story(draw: random.Random, name: str, other_than: Sequence[str] = ()) -> list[str]:
    """Draw the sentences of a word problem, none of them one of `other_than`."""
    parts = {
        part: [frame for frame in language(name).parts[part] if frame not in other_than]
        for part in ("opening", "middle", "question")
    }
    middles = draw.sample(parts["middle"], draw.randint(1, 3))
    # Each sentence has numbers of its own: the second has {n32} where the first has {n31}.
    numbered = [
        re.sub(r"\{n(\d)\}", rf"{{n\g<1>{position}}}", middle)
        for position, middle in enumerate(middles, 1)
    ]
    return [draw.choice(parts["opening"]), *numbered, draw.choice(parts["question"])]


def draw_problem(draw: random.Random, name: str, kinds: Sequence[str]) -> Problem:
    """Draw a problem of one of some kinds: `story`, `theorem`, `choice`, `short`."""
    kind = draw.choice(kinds)
    parts = language(name).parts
    if kind == "story":
        return make_problem(draw, name, kind, draw_story(draw, name))
    if kind == "theorem":
        conditions = draw.sample(parts["condition"], draw.randint(1, 2))
        frames = [draw.choice(parts["assumption"]), *conditions, draw.choice(parts["conclusion"])]
        return make_problem(draw, name, kind, frames)
    if kind == "choice":
        before = draw.sample(parts["middle"], draw.randint(0, 1))
        frames = [*before, draw.choice(parts["stem"])]
        return make_problem(draw, name, kind, frames, draw_options(draw, name))
    return make_problem(draw, name, kind, [draw.choice(parts["short"])])
