"""Patterns as commands are given them: pattern sets, literal texts, and files of texts."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ngramscan.errors import InputError
from ngramscan.matching.expressions import compile_expression
from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.matching.white_space import is_white
from ngramscan.messages import Message, OptionUse
from ngramscan.patterns.files import (
    STDIN,
    find_patterns,
    load_patterns,
    read_named,
    suggest_sets,
)
from ngramscan.patterns.model import PathOrName, Pattern, PatternSet, merge
from ngramscan.reading.compressions import PACKED
from ngramscan.reading.streams import unpacked_path
from ngramscan.reading.yaml_files import input_errors

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

_YAML = {".yaml", ".yml"}
_SETS = {*_YAML, ".json", ""}
"""Suffixes of pattern sets; JSON is YAML, too."""
_LONGEST_NAMED = 60
"""A longer expression is cut where an error names it."""
_LONGEST_SHOWN = 1000
"""A longer argument is not repeated in the cure, which would be hard to see after it."""


def load_selection(
    patterns: Sequence[PathOrName], tiers: Sequence[str], methods: Sequence[str]
) -> PatternSet:
    """Load pattern sets, merge them and select."""
    return merge([load_patterns(path) for path in patterns]).select(tiers, methods)


def load_given(
    patterns: Sequence[PathOrName],
    literals: Sequence[str],
    files: Sequence[PathOrName],
    tiers: Sequence[str] = (),
    methods: Sequence[str] = (),
    rule: MatchRule = EXACT,
    on_notice: Callable[[str], object] = lambda _: None,
) -> PatternSet:
    """Return the patterns of sets, and then literals, each once.

    `tiers` and `methods` select from sets. Among `patterns` are files, shipped sets, and texts with
    white space in them, which are literals. `files` have a literal on each line, or in a column of
    a table, as `on_notice` then says. An InputError suggests the likeliest cure if a value is
    neither a set nor a literal, or nothing was given; or says why a text can't be counted by the
    rule.
    """
    if [*map(str, patterns), *map(str, files)].count(STDIN) > 1:
        raise InputError("standard input", "it can be read only once; - was given twice")
    sets = [value for value in patterns if _is_set(value)]
    texts = [str(value) for value in patterns if value not in sets]
    all_literals = [_checked(text, OptionUse("patterns"), rule) for text in texts]
    all_literals += [_checked(text, OptionUse("literal"), rule) for text in literals]
    all_literals += [text for file in files for text in _read_literals(file, rule, on_notice)]
    if not sets and not all_literals:
        text = OptionUse("literal", "step by step")
        problem = "nothing to count; give texts, as in " + text + ", or a pattern set, as f1"
        raise InputError(OptionUse("patterns"), problem)
    if not sets and (tiers or methods):
        option = OptionUse("tier", tiers[0]) if tiers else OptionUse("method", methods[0])
        raise InputError(option, "it selects from pattern sets, and only literals were given")
    chosen = load_selection(sets, tiers, methods) if sets else PatternSet("literals", "", ())
    for pattern in chosen.patterns:
        _checked(pattern.text, f"pattern set {chosen.name}", rule, _CURES_OF_SET)
    only = tuple(Pattern(text) for text in dict.fromkeys(all_literals))
    return PatternSet(chosen.name, chosen.source, chosen.patterns + only, chosen.regexes)


def is_corpus(argument: PathOrName) -> bool:
    """Tell whether an argument has texts to count in: not a pattern set, nor a list of phrases."""
    path, suffix = find_patterns(argument), Path(argument).suffix.lower()
    if path is None or path == STDIN:
        return False
    return os.path.isdir(path) or (suffix not in _SETS and _is_corpus(suffix))


def _is_set(argument: PathOrName) -> bool:
    """Tell whether an argument names a pattern set; a literal does not, anything else raises."""
    name = str(argument)
    path, suffix = find_patterns(argument), Path(name).suffix.lower()
    if path is None:
        is_text = isinstance(argument, str) and (not name or any(map(str.isspace, name)))
        if is_text and suffix not in _YAML:
            return False
        lead = f"{suggest_sets(argument) or ';'} to count the text itself: "
        raise InputError(name, f"no such file or shipped set{lead}" + _to_give("literal", name))
    if is_corpus(argument):
        cure = _to_give("index", name, "scan:")
        raise InputError(name, "not a pattern set; to count in its texts: " + cure)
    if _has_counts(path, suffix):
        source = "the set or the texts that it was made of"
        raise InputError(name, f"rows of counts, not patterns; count with {source}")
    if suffix not in _SETS:
        cure = _to_give("literals_file", name)
        raise InputError(name, "not a pattern set; to count each of its lines: " + cure)
    return True


_COLUMNS_OF_COUNTS = ("index", "pattern", "occurrences")
"""Columns that all rows of counts have."""
_LONGEST_HEADER = 10_000
"""In bytes."""


def _has_counts(path: PathOrName, suffix: str) -> bool:
    """Tell whether a file has the header of rows that a command wrote."""
    if suffix != ".csv":
        return False
    with input_errors(path), open(path, "rb") as file:
        header = file.readline(_LONGEST_HEADER).decode(errors="replace")
    return set(_COLUMNS_OF_COUNTS) <= set(header.strip().split(","))


_SEPARATORS = {
    ".csv": ",",
    ".tsv": "\t",
}
"""The sign between the cells of tables, by the suffixes of their files."""
_COLUMNS_OF_PHRASES = frozenset(
    {"ngram", "ngrams", "pattern", "patterns", "phrase", "phrases", "query", "text", "texts"}
)
"""Columns that have the texts to count, where the first line of a table is its header."""


def _phrases_of_table(
    content: str, where: str, separator: str, on_notice: Callable[[str], object]
) -> list[tuple[int, str]] | None:
    """Return the phrases of a table, with their lines; None if its first line is not a header."""
    rows = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True)
    try:
        header = next(rows, [])
    except csv.Error:
        return None
    columns = [name.strip().lower() for name in header]
    if set(_COLUMNS_OF_COUNTS) <= set(columns):
        cure = "count with the set or the texts that it was made of"
        raise InputError(where, f"rows of counts, not phrases; {cure}")
    places = [place for place, name in enumerate(columns) if name in _COLUMNS_OF_PHRASES]
    if not places:
        return None
    if len(places) > 1:
        names = ", ".join(header[place] for place in places)
        raise InputError(where, f"several columns may have the phrases: {names}; keep one")
    on_notice(f"{where}: the first line is a header; the texts are those of {header[places[0]]}")
    phrases = []
    for number, row in _rows_of_table(rows, where):
        if len(row) != len(header):
            problem = f"{len(row)} cells, but the header has {len(header)}"
            cure = "put texts with separators in quotes"
            raise InputError(f"{where}:{number}", f"{problem}; {cure}")
        if row[places[0]]:
            phrases.append((number, row[places[0]]))
    return phrases


def _rows_of_table(rows: CsvReader, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table that are not empty, each with the number of its last line."""
    try:
        for row in rows:
            if row:
                yield rows.line_num, row
    except csv.Error as error:
        raise InputError(f"{where}:{rows.line_num}", f"not a row of a table: {error}") from error


def _is_corpus(suffix: str) -> bool:
    """Tell whether files with a suffix are corpora, and not lists of phrases."""
    from ngramscan.corpora.formats import FORMATS  # slow to import

    corpora = [form for form in FORMATS if not form.may_list_phrases]
    return suffix in PACKED or any(suffix in form.suffixes for form in corpora)


def _to_give(option: str, name: str, prefix: str = "") -> OptionUse:
    if len(name) > _LONGEST_SHOWN:
        return OptionUse(option, placeholder=f"{prefix}TEXT")
    return OptionUse(option, f"{prefix}{name}")


_CURE_OF_TEXT = "to count the text itself, leave out " + OptionUse("regex")
_CURES_OF_SET = (
    "to count its texts, leave out "
    + OptionUse("regex")
    + "; or choose others with "
    + OptionUse("tier")
    + ", or give expressions with "
    + OptionUse("literal", placeholder="TEXT")
)


def _checked(
    text: str, where: object, rule: MatchRule, cure_of_regex: Message = _CURE_OF_TEXT
) -> str:
    """Return a text that can be counted by the rule; an InputError says why one can't.

    It has a cure, which depends on where a wrong regular expression comes from.
    """
    problem = "it is empty; enter a phrase" if not text else ""
    if "\0" in text:
        problem = "it has a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in text):
        problem = "it is not valid UTF-8"
    if problem:
        raise InputError(where, problem)
    if rule.is_regex:
        _refuse_expression(text, where, cure_of_regex)
    if rule.any_space and is_white(text):
        raise InputError(where, "it has only white space; leave out " + OptionUse("any_space"))
    return text


def _refuse_expression(text: str, where: object, cure: Message) -> None:
    """Raise an InputError for a regular expression that can't be counted."""
    try:
        compile_expression(text)
    except ValueError as error:
        raise InputError(where, f"{_shortened(text)}: {error}; " + cure) from error


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_NAMED else f"{text[:_LONGEST_NAMED]}…"


def _read_literals(
    file: PathOrName, rule: MatchRule, on_notice: Callable[[str], object]
) -> list[str]:
    if not str(file):
        raise InputError(OptionUse("literals_file"), "it is empty; enter the path of a file")
    if Path(file).suffix.lower() in _YAML:
        raise InputError(
            OptionUse("literals_file", file), f"a pattern set; give it without this option: {file}"
        )
    content, where = read_named(file)
    separator = _SEPARATORS.get(unpacked_path(Path(file)).suffix.lower())
    phrases = _phrases_of_table(content, where, separator, on_notice) if separator else None
    if phrases is None:
        lines = [line.removesuffix("\r") for line in content.split("\n")]
        phrases = [(number, line) for number, line in enumerate(lines, 1) if line]
    literals = [_checked(text, f"{where}:{number}", rule) for number, text in phrases]
    if not literals:
        raise InputError(where, "contains no text; expected one per line")
    return literals
