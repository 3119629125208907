"""`ngramscan keyness`: what distinguishes the outputs of one method from others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import yaml

from ngramscan.commands.counting import load_ahead
from ngramscan.commands.recorded import RecordedOptions, output_fields
from ngramscan.contrasts import Keyness, KeynessOptions, KeynessRow, compare
from ngramscan.errors import InputError
from ngramscan.ngrams import Least
from ngramscan.output import (
    check_writable,
    refuse_other,
    several,
    strict_keywords,
    to_frame,
    write_whole,
)
from ngramscan.outputs import Output, OutputFields, OutputSet, methods_of, parts_of, read_outputs
from ngramscan.patterns import TIERS
from ngramscan.presence import Sides
from ngramscan.tokens import split_characters, split_words

if TYPE_CHECKING:
    import pandas as pd

UNITS = ("word", "character")
_LENGTHS = {"word": (1, 6), "character": (4, 12)}
"""What is looked for by default; the largest are the largest there are."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which outputs are compared with which, and how."""

    of: str
    against: tuple[str, ...]
    unit: str
    options: KeynessOptions


@dataclass(frozen=True, slots=True)
class Export:
    """A pattern set to be written."""

    path: Path
    tier: str = TIERS[-1]


class KeywordOptions(TypedDict, total=False):
    """How n-grams are looked for, as in the command."""

    unit: str
    n: str | int | None
    min_count: int
    min_documents: int
    top: int
    q: float
    all: bool


def question(of: str, against: Sequence[str], options: KeywordOptions) -> Question:
    """Return a checked question; what is not there has its default."""
    unit = options.get("unit", UNITS[0])
    refuse_other("--unit", unit, UNITS)
    if not against:
        raise InputError("--against", "a method was expected")
    for method in against:
        if method.lower() == of.lower():
            raise InputError(f"--against {method}", "it is the method of --of")
    least = Least(_at_least(options, "min_count", 10), _at_least(options, "min_documents", 5))
    q = options.get("q", 0.05)
    if not 0 < q <= 1:
        raise InputError(f"--q {q}", "a share above 0, at most 1, was expected")
    shortest, longest = _lengths(options.get("n"), unit)
    top = _at_least(options, "top", 50)
    chosen = KeynessOptions(shortest, longest, least, top, q, options.get("all", False))
    return Question(of, tuple(against), unit, chosen)


def _at_least(options: KeywordOptions, name: str, default: int) -> int:
    value = options.get(name, default)
    assert isinstance(value, int)
    if value < 1:
        raise InputError(f"--{name.replace('_', '-')} {value}", "at least 1 was expected")
    return value


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


def export_to(path: str | Path | None, tier: str) -> Export | None:
    """Return a checked export, where one is wanted."""
    if path is None:
        return None
    refuse_other("--tier", tier.upper(), TIERS)
    check_writable(Path(path))
    return Export(Path(path), tier.upper())


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


def find_keyness(compared: Texts, asked: Question) -> Keyness:
    """Compare the texts of two sides."""
    load_ahead("scipy.special")
    split = split_words if asked.unit == "word" else split_characters
    return compare(split(compared.texts), compared.sides, asked.options)


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


def write_patterns(rows: Sequence[KeynessRow], asked: Question, export: Export) -> list[str]:
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
        raise InputError(str(export.path), problem)
    if not writable:
        raise InputError(str(export.path), "not written: no n-gram was found; try a larger --q")
    patterns: dict[str, dict[str, str]] = {}
    for row in writable:
        pattern = {
            "text": row.ngram,
            "method": asked.of,
            "tier": export.tier,
            "kind": kind_of(row.ngram),
            "note": f"keyness: G2 {row.g2:.1f}, log ratio {row.log_ratio:.2f}",
        }
        patterns.setdefault(row.ngram, pattern)
    content = {
        "name": export.path.stem,
        "source": f"ngramscan keyness: {asked.of} against {', '.join(asked.against)}",
        "patterns": list(patterns.values()),
    }
    # ASCII with escapes: white space and rare characters come back as they were.
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=False, width=10_000)
    write_whole(export.path, lambda path: path.write_text(text, encoding="utf-8"))
    left_out = {
        "n-grams without a letter or digit left out (--all writes them)": len(rows) - len(chosen),
        "n-grams left out that no pattern can have": len(chosen) - len(writable),
    }
    return [f"{export.path}: {what}: {number}" for what, number in left_out.items() if number]


def _has_letters(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _is_writable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


# The command


@strict_keywords
def keyness(
    outputs: str | Path,
    *,
    of: str,
    against: str | Sequence[str],
    unit: str = UNITS[0],
    n: str | int | None = None,
    min_count: int = 10,
    min_documents: int = 5,
    top: int = 50,
    q: float = 0.05,
    all: bool = False,
    export: str | Path | None = None,
    tier: str = TIERS[-1],
    output_field: str = "output",
    variant_field: str | None = None,
    skip_bad_lines: bool = False,
) -> pd.DataFrame:
    """Find n-grams that distinguish the outputs of one method, as `ngramscan keyness` does.

    Parameters
    ----------
    outputs : str or Path
        A folder or file with outputs.
    of : str
        The method whose n-grams are looked for; variants that have it as a part are its outputs.
    against : str or sequence of str
        Methods whose outputs, where they are not also of the first method, are compared with it.
    unit : str
        What an n-gram is made of: `word` or `character`.
    n : str or int, optional
        A length, or the shortest and the longest: 3 or `"2-4"`. By default 1 to 6 words, 4 to 12
        characters.
    min_count : int
        Least number of occurrences of an n-gram, in both sides together.
    min_documents : int
        Least number of outputs with an n-gram, in both sides together.
    top : int
        Largest number of n-grams that are returned or written.
    q : float
        Share of false discoveries that is allowed.
    all : bool
        Return also n-grams that are always within a longer one, and write also those without a
        letter or digit.
    export : str or Path, optional
        Write a pattern set of the n-grams that are returned and have a letter or digit, for
        `ngramscan count`.
    tier : str
        With `export`, the tier of the patterns.
    output_field : str
        Field of a record that holds what the model wrote.
    variant_field : str, optional
        Field that holds the variant, where one file has several.
    skip_bad_lines : bool
        Skip malformed JSON lines, and count them, instead of stopping.

    Returns
    -------
    DataFrame
        One row per n-gram, the largest G2 first.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    """
    options = KeywordOptions(
        unit=unit,
        n=n,
        min_count=min_count,
        min_documents=min_documents,
        top=top,
        q=q,
        all=all,
    )
    fields = RecordedOptions(
        output_field=output_field, variant_field=variant_field, skip_bad_lines=skip_bad_lines
    )
    asked = question(of, several(against), options)
    exported = export_to(export, tier)
    _, compared = read_sides(Path(outputs), output_fields(fields), asked)
    found = find_keyness(compared, asked)
    if exported:
        write_patterns(found.rows, asked, exported)
    return to_frame(found.rows, KeynessRow)
