"""`ngramscan keyness`: what distinguishes the outputs of one method from others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import yaml

from ngramscan.commands.count import load_ahead
from ngramscan.errors import InputError
from ngramscan.outputs.keyness import Keyness, KeynessOptions, KeynessRow, compare
from ngramscan.outputs.ngrams import Least
from ngramscan.outputs.presence import Sides
from ngramscan.outputs.reading import (
    Output,
    OutputFields,
    OutputSet,
    methods_of,
    parts_of,
    read_outputs,
)
from ngramscan.outputs.tokens import split_characters, split_words
from ngramscan.patterns.model import Tier
from ngramscan.report import check_writable, tables, write_whole
from ngramscan.report.command import Option, Result, command

_LENGTHS = {"word": (1, 6), "character": (4, 12)}
"""What is looked for by default; the largest are the largest there are."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which outputs are compared with which, and how."""

    of: str
    against: tuple[str, ...]
    options: KeynessOptions


def _lengths(n: str | int | None, unit: str) -> tuple[int, int]:
    if n is None:
        return _LENGTHS[unit]
    largest = _LENGTHS[unit][1]
    match = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", str(n))
    lengths = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= lengths[0] <= lengths[1] <= largest:
        problem = f"a length, or two as 1-{largest}, from 1 to {largest} {unit}s was expected"
        raise InputError(f"--n {n}", problem)
    return lengths


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that are compared, sorted by problem."""

    texts: list[str]
    sides: Sides


def read_sides(path: Path, fields: OutputFields, asked: Question) -> tuple[OutputSet, Texts]:
    """Return all outputs, and the texts of both sides.

    Raises
    ------
    InputError
        Nothing is there, or a side has no text.
    """
    found = read_outputs(path, fields)
    methods = [asked.of, *asked.against]
    sides: list[tuple[int, bool, str]] = []
    problems: dict[tuple[str, str, str], int] = {}
    for output in found.outputs:
        present = methods_of(output.group.variant, methods)
        if present and output.is_there:
            problem = problems.setdefault(output.problem, len(problems))
            sides.append((problem, asked.of not in present, output.text or ""))
    for method in methods:
        _require(method, found.outputs, path)
    if len({is_other for _, is_other, _ in sides}) < 2:
        side = "--against" if sides and not sides[0][1] else "--of"
        raise InputError(f"{path}", f"no output of {side} has a text that the other side has not")
    sides.sort(key=lambda side: side[:2])
    is_own = [not is_other for _, is_other, _ in sides]
    answered = Sides.of(is_own, [problem for problem, _, _ in sides])
    return found, Texts([text for _, _, text in sides], answered)


def _require(method: str, outputs: Sequence[Output], path: Path) -> None:
    variants = dict.fromkeys(output.group.variant for output in outputs)
    if not any(methods_of(variant, [method]) for variant in variants):
        known = ", ".join(dict.fromkeys(part for name in variants for part in parts_of(name)))
        raise InputError(f"{path}", f"no outputs of {method}; there are: {known}")


def describe_keyness(found: Keyness, asked: Question) -> list[str]:
    """Return what the rows alone do not tell."""
    lines = [_describe_sides(found, asked)]
    if found.test.part < 1:
        longer = f"outputs of {asked.of} are longer than those of {', '.join(asked.against)}"
        lines.append(f"{longer}: the test is of parts of equal length")
    within = f", {found.found_inside:,} of them only within longer ones" * bool(found.found_inside)
    more = f"{found.found:,} in a larger share of outputs of {asked.of} at q ≤ {asked.options.q:g}"
    shown = f"{len(found.rows):,} shown, largest G2 first"
    lines.append(f"{found.tested:,} n-grams tested, {more}{within}; {shown}")
    return lines


def _describe_sides(found: Keyness, asked: Question) -> str:
    (own, others), (problems, others_problems) = found.documents, found.test.problems
    compared = f"{own:,} outputs of {asked.of} against {others:,} of {', '.join(asked.against)}"
    if not found.test.paired:
        return f"{compared}, to {problems:,} and {others_problems:,} problems"
    left_out = sum(found.test.sides.problems) - 2 * problems
    only = f"; {left_out:,} that one side alone answers are not tested" * bool(left_out)
    return f"{compared}, paired by the {problems:,} problems that both answer{only}"


# Export

_COMMAND = re.compile(r"\\[A-Za-z]+|\\[\[\](){}]")
_CODE = re.compile(r"[`_=#;{}<>]|\w\(|\)\s*:|^\s*(?:def|return|import|print)\b|^ {2,}|\n[ \t]+\S")


def kind_of(text: str) -> str:
    """Return which kind of pattern a text is: `latex` has a command, `code` looks like it."""
    if _COMMAND.search(text):
        return "latex"
    return "code" if _CODE.search(text) else "narrative"


def write_patterns(rows: Sequence[KeynessRow], asked: Question, path: Path, tier: str) -> list[str]:
    """Write n-grams as a pattern set that `ngramscan count` takes.

    Returns
    -------
    list of str
        What was left out.

    Raises
    ------
    InputError
        There is nothing to write, or the file can't be written.
    """
    chosen = [row for row in rows if asked.options.all or _has_letters(row.ngram)]
    writable = [row for row in chosen if _is_writable(row.ngram)]
    if rows and not chosen:
        problem = "not written: no n-gram has a letter or digit; --all writes the others too"
        raise InputError(str(path), problem)
    if not writable:
        raise InputError(str(path), "not written: no n-gram was found; try a larger --q")
    patterns: dict[str, dict[str, str]] = {}
    for row in writable:
        pattern = {
            "text": row.ngram,
            "method": asked.of,
            "tier": tier,
            "kind": kind_of(row.ngram),
            "note": f"keyness: G2 {row.g2:.1f}, log ratio {row.log_ratio:.2f}",
        }
        patterns.setdefault(row.ngram, pattern)
    content = {
        "name": path.stem,
        "source": f"ngramscan keyness: {asked.of} against {', '.join(asked.against)}",
        "patterns": list(patterns.values()),
    }
    # ASCII with escapes: white space and rare characters come back as they were.
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=False, width=10_000)
    write_whole(path, lambda new: new.write_text(text, encoding="utf-8"))
    left_out = {
        "n-grams without a letter or digit left out (--all writes them)": len(rows) - len(chosen),
        "n-grams left out that no pattern can have": len(chosen) - len(writable),
    }
    return [f"{path}: {what}: {number}" for what, number in left_out.items() if number]


def _has_letters(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _is_writable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


# The command


@command
def keyness(
    outputs: str | Path,
    *,
    of: Annotated[str, Option(metavar="METHOD")],
    against: Annotated[str | Sequence[str], Option(metavar="METHOD")],
    unit: Literal["word", "character"] = "word",
    n: Annotated[str | int | None, Option(metavar="LENGTHS")] = None,
    min_count: Annotated[int, Option(least=1)] = 10,
    min_documents: Annotated[int, Option(least=1)] = 5,
    top: Annotated[int, Option(least=1)] = 50,
    q: Annotated[float, Option(over=0, most=1)] = 0.05,
    all: bool = False,
    export: Annotated[str | Path | None, Option(metavar="FILE.yaml", is_written=True)] = None,
    tier: Tier = "T3",
    output_field: Annotated[str, Option(metavar="NAME")] = "output",
    variant_field: Annotated[str | None, Option(metavar="NAME")] = None,
    skip_bad_lines: bool = False,
) -> Result:
    """Find the n-grams that distinguish the outputs of one method from those of others.

    OUTPUTS is a folder of recorded outputs, or a file. Variants that have the method of --of as a
    part (`f-1+cot`) are compared with those that have one of --against and not that one.

    Parameters
    ----------
    outputs : see blend
    of : str
        The method whose n-grams are looked for.
    against : str or sequence of str
        A method whose outputs it is compared with.
    unit : str
        What an n-gram is made of: `word` or `character`.
    n : str or int, optional
        A length, or two as 2-4. By default 1-6 words, 4-12 characters.
    min_count : int
        Least number of occurrences of an n-gram, in both sides together.
    min_documents : int
        Least number of outputs with an n-gram, in both sides together.
    top : int
        Largest number of n-grams that are shown or written.
    q : float
        Share of false discoveries that is allowed.
    all : bool
        Show also n-grams that are always in a longer one; export also those without a letter or
        digit.
    export : str or Path, optional
        Write a pattern set of the n-grams that are shown and have a letter or digit, for `ngramscan
        count`.
    tier : str
        With `export`, the tier of the patterns.
    output_field, variant_field, skip_bad_lines : see blend

    Returns
    -------
    DataFrame
        One row per n-gram, the largest G2 first.

    Raises
    ------
    InputError
        An argument or a file is wrong.

    Examples
    --------
    $ ngramscan keyness outputs/ --of PoT --against CoT
    $ ngramscan keyness outputs/ --of F-1 --against CoT --against PoT --export f1-found.yaml
    $ ngramscan keyness outputs/ --of CoT --against direct --unit character --n 6-10
    """
    if not against:
        raise InputError("--against", "a method was expected")
    for method in against:
        if method.lower() == of.lower():
            raise InputError(f"--against {method}", "it is the method of --of")
    least = Least(min_count, min_documents)
    asked = Question(of, tuple(against), KeynessOptions(*_lengths(n, unit), least, top, q, all))
    if export:
        check_writable(Path(export))
    fields = OutputFields(output_field, variant_field, skip_bad_lines)
    read, compared = read_sides(Path(outputs), fields, asked)
    load_ahead("scipy.special")
    split = split_words if unit == "word" else split_characters
    found = compare(split(compared.texts), compared.sides, asked.options)
    left_out, failures = [], []
    try:
        left_out = write_patterns(found.rows, asked, Path(export), tier) if export else []
    except InputError as error:  # the rows are there all the same
        failures = [str(error)]
    return Result(
        found.rows,
        KeynessRow,
        notices=[*read.notices, *left_out],
        failures=failures,
        print_table=partial(tables.print_keyness, found.rows, describe_keyness(found, asked)),
    )
