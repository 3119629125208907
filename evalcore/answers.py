"""Recorded outputs → the answers they give, read from the text or computed by their programs.

Where a prompt asks for a program, its value is the answer; where it lets the model choose, a
program counts if there is one and it gives something, else the text does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalcore.extraction import BBH_RULES, FINANCEMATH_RULES, extract
from evalcore.program_extraction import extract_program
from evalcore.records import Record
from evalcore.sandbox import Outcome, Program

RunPrograms = Callable[[Sequence[Program]], Sequence[Outcome]]
"""Runs programs in the sandbox, in order."""

MATHEMATICS_RULES = (
    "boxes/1",
    "so-the-final-answer-is/1",
    "final-answer/2",
    "the-answer-is/1",
    "final-answer-heading/1",
)

_FUNCTION = "def solution("
_TEXT_ONLY = ("cot", "zero-shot", "zs")


@dataclass(frozen=True, slots=True)
class Reading:
    """How answers are found in the outputs of one benchmark."""

    text_rules: Sequence[str]
    """Names of extraction rules, tried in this order."""
    has_programs: bool = True
    authors_programs: bool = False
    """Outputs to a prompt for a program are read as the authors of FinanceMath do: the program
    they find is all that counts."""


READINGS: Mapping[str, Reading] = {
    "financemath": Reading(FINANCEMATH_RULES, authors_programs=True),
    "imo-answerbench": Reading(MATHEMATICS_RULES),
    "olympiadbench-oe-maths": Reading(MATHEMATICS_RULES),
    "olympiadbench-oe-physics": Reading(MATHEMATICS_RULES),
    "bbh-word-sorting": Reading(BBH_RULES, has_programs=False),
}
"""By the name of the benchmark; those that are not here are judged."""


class Answer(NamedTuple):
    """What one output answers, or why nothing can be told."""

    value: float | int | bool | str | None
    """None: no answer."""
    extraction: str | None
    """The rule that found the answer, or the program that computed it."""
    problem: str = ""
    """Why there is no answer, or why the program that came first gave none."""
    layers: Mapping[str, str] | None = None
    """Of the sandbox that ran the program; None where none ran."""
    is_lost: bool = False
    """The sandbox failed while the program ran, so that nothing is known of the answer."""

    @property
    def is_computed(self) -> bool:
        """Tell whether a program gave the answer."""
        return self.layers is not None and self.value is not None and not self.problem

    @property
    def is_missing(self) -> bool:
        """Tell whether none was found; a program that gave none was one that is wrong."""
        return self.value is None and self.layers is None


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the answer of one output may be."""

    program: Program | None
    rule: str
    """The rule that found the program."""
    reads_text: bool


def find_answers(
    records: Sequence[Record], reading: Reading, run_programs: RunPrograms
) -> list[Answer]:
    """Find what outputs answer.

    Parameters
    ----------
    records : sequence of Record
        All with an output.
    reading : Reading
        Of their benchmark.
    run_programs : callable
        Is called once, where any of them has a program.

    Returns
    -------
    list of Answer
        In the order of the records.
    """
    sources = [_source(record, reading) for record in records]
    programs = [source.program for source in sources if source.program]
    outcomes = iter(run_programs(programs) if programs else ())
    return list(_answers(records, sources, outcomes, reading))


def _answers(
    records: Sequence[Record],
    sources: Sequence[_Source],
    outcomes: Iterator[Outcome],
    reading: Reading,
) -> Iterator[Answer]:
    for record, source in zip(records, sources, strict=True):
        if source.program is None:
            yield _read(record, source, reading, "no program found" if source.rule else "")
            continue
        outcome = next(outcomes)
        if outcome.status == "ok":
            yield Answer(outcome.value, f"program, {source.rule}", layers=outcome.layers)
            continue
        if outcome.status == "lost":
            lost = f"sandbox: {outcome.message}"
            yield Answer(None, None, lost, outcome.layers, is_lost=True)
            continue
        problem = f"program: {outcome.status}"
        problem += f", {outcome.message}" if outcome.message else ""
        yield _read(record, source, reading, problem)._replace(layers=outcome.layers)


def _read(record: Record, source: _Source, reading: Reading, problem: str) -> Answer:
    found = extract(record.output or "", reading.text_rules) if source.reads_text else None
    if found is None:
        return Answer(None, None, problem or "no answer found")
    return Answer(found.text, found.rule, problem)


def _source(record: Record, reading: Reading) -> _Source:
    solver = record.method.lower().rpartition("+")[2]
    if not reading.has_programs or solver in _TEXT_ONLY:
        return _Source(None, "", reads_text=True)
    if solver == "pot" and reading.authors_programs:
        return _authors(record)
    found = extract_program(record.output or "", "fenced/1")
    if found is None:
        return _Source(None, "fenced/1" if solver == "pot" else "", reads_text=True)
    has_function = _FUNCTION in found.text
    program = Program(found.text, "solution()" if has_function else "answer")
    return _Source(program, found.rule, reads_text=True)


def _authors(record: Record) -> _Source:
    rule = "financemath-authors/2"
    found = extract_program(record.output or "", rule)
    return _Source(Program(found.text) if found else None, rule, reads_text=False)
