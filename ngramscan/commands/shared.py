"""The options that several commands share, and small parts of their work."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from ngramscan.errors import InputError
from ngramscan.indexes.options import IndexOptions, LineOptions, SpecValues
from ngramscan.messages import OptionUse, Text
from ngramscan.options import OUTPUT, READING, WHAT, WHERE, Option
from ngramscan.patterns.model import PathOrName, PatternSet, Tier

if TYPE_CHECKING:
    from ngramscan.indexes.kinds import IndexKind
    from ngramscan.outputs.reading import OutputSet

DEFAULT_INDEX = "dclm"
DEFAULT_SET = "f1"

Patterns = Annotated[PathOrName, Option(is_optional=True)]
IndexSpecs = Annotated[
    SpecValues, Option(metavar="SPEC", heading=WHERE, is_verbatim=True, is_spec=True)
]


@dataclass(frozen=True, kw_only=True)
class SelectionOptions:
    """Which patterns of sets are used.

    Parameters
    ----------
    tier : str or sequence of str
        Only patterns of this tier, from pattern sets.
    method : str or sequence of str
        Only patterns of this method, from pattern sets.
    """

    heading: ClassVar[str] = WHAT

    tier: Tier | Sequence[Tier] = ()
    method: Annotated[str | Sequence[str], Option(metavar="NAME")] = ()


@dataclass(frozen=True, kw_only=True)
class AskingOptions(IndexOptions):
    """How indexes are queried, or that they are not.

    Parameters
    ----------
    dry_run : bool
        Print how many requests, bytes, hours and dollars it would take, one row per index, and read
        only index headers.
    """

    heading: ClassVar[str] = OUTPUT

    dry_run: bool = False


@dataclass(frozen=True, kw_only=True)
class PatternOptions(SelectionOptions, AskingOptions):
    """Which texts are looked for in indexes.

    Parameters
    ----------
    literal : str or sequence of str
        Count this text as it is.
    literals_file : str or sequence of str or Path
        Count each line of this file as it is; empty lines are skipped, `-` is standard input. In
        a .csv or .tsv whose first line names a column phrase, pattern, text or ngram, count its
        texts.
    """

    heading: ClassVar[str] = WHAT

    literal: Annotated[
        str | Sequence[str], Option("-e --literal", metavar="TEXT", is_verbatim=True)
    ] = ()
    literals_file: Annotated[
        str | Sequence[PathOrName],
        Option("-f --literals-file", metavar="FILE", is_verbatim=True),
    ] = ()

    def load(
        self, patterns: Sequence[PathOrName], on_notice: Callable[[str], object] = lambda _: None
    ) -> PatternSet:
        """Return the patterns that were asked for."""
        from ngramscan.patterns.given import load_given  # slow to import

        return load_given(
            patterns,
            self.literal,
            self.literals_file,
            tiers=self.tier,
            methods=self.method,
            rule=self.match_rule,
            on_notice=on_notice,
        )


@dataclass(frozen=True, kw_only=True)
class OutputOptions(LineOptions):
    """How recorded outputs of models are read.

    Parameters
    ----------
    output_field : str
        Field of a record that holds the model's output.
    prompt_field : str, optional
        Field of a record that names the prompt, if a file has outputs of several.
    without_reasoning : bool
        Leave out the reasoning that models mark, as in <think> … </think>. By default it counts as
        part of an output.
    """

    heading: ClassVar[str] = READING

    output_field: Annotated[str, Option(metavar="NAME")] = "output"
    prompt_field: Annotated[str | None, Option(metavar="NAME")] = None
    without_reasoning: bool = False

    def read_outputs(self, paths: Sequence[str | Path]) -> OutputSet:
        """Read the outputs in some files and folders."""
        from ngramscan.outputs.reading import read_outputs  # slow to import

        return read_outputs(
            paths,
            self.output_field,
            self.prompt_field,
            skip_bad_lines=self.skip_bad_lines,
            without_reasoning=self.without_reasoning,
        )


@dataclass(frozen=True, kw_only=True)
class MarkerOptions(SelectionOptions, OutputOptions):
    """How markers of methods are looked for in outputs.

    Parameters
    ----------
    case_sensitive : bool
        Match upper and lower case exactly, as in corpora.
    """

    heading: ClassVar[str] = WHAT

    case_sensitive: bool = False


@dataclass(frozen=True, kw_only=True)
class TracingOptions(AskingOptions, OutputOptions):
    """How outputs are read, and how indexes are queried about them."""


_OPERATOR = r" +(?:AND|OR) +"
"""Between clauses, as infini-gram has them."""


def load_ahead(module: str) -> None:
    """Import a slow module, which is needed at the end, while requests are under way."""
    threading.Thread(target=import_module, args=(module,), daemon=True).start()


def hint_regexes(occurrences: Sequence[tuple[str, int]], options: PatternOptions) -> list[Text]:
    """Return a line for each text without occurrences that may be meant as an expression.

    `occurrences` has a text and its number in one index, for each of both.
    """
    from ngramscan.patterns.regexes import looks_like_regex  # slow to import

    if options.regex:
        return []
    totals = Counter[str]()
    for text, number in occurrences:
        totals[text] += number
    hints: list[Text] = []
    for text, total in totals.items():
        if not total and re.search(_OPERATOR, text):
            first_text = OptionUse("literal", re.split(_OPERATOR, text)[0])
            problem = f"0 occurrences of the exact text {text}; AND and OR are words like others"
            hints.append(problem + "; count each text, as in " + first_text)
        if not total and looks_like_regex(text):
            problem = f"0 occurrences of the exact text {text}; for regular expressions use "
            hints.append(problem + OptionUse("regex"))
    return hints


def refuse_totals(totals: object, chosen: PatternSet) -> None:
    """Raise an InputError where totals were asked for and no pattern has a method."""
    if totals and not chosen.methods:
        problem = "only patterns of a method have totals, and literals have no method"
        raise InputError(OptionUse("totals", totals), problem)


def refuse_kinds(specs: SpecValues, kinds: Sequence[IndexKind], problem: str) -> None:
    """Raise an InputError for an index of some kinds, before it asks for a tokenizer."""
    from ngramscan.indexes.specs import read_specs, spec_of_path  # slow to import

    for spec in read_specs(specs):
        if any(kind.names(spec_of_path(spec.place)) for kind in kinds):
            raise InputError(OptionUse("index", str(spec)), problem)


def split_arguments(
    first: str | Path, others: Sequence[str | Path]
) -> tuple[Sequence[str | Path], Sequence[str | Path]]:
    """Return the paths of outputs, and the pattern sets: YAML files, or names of shipped ones."""
    from ngramscan.patterns.files import shipped_sets  # slow to import
    from ngramscan.reading.streams import is_stream

    outputs, sets = [first], []
    for argument in others:
        is_path = is_stream(argument) or Path(argument).exists()
        if Path(argument).suffix in {".yaml", ".yml"} or (
            not is_path and str(argument).lower() in shipped_sets()
        ):
            sets.append(argument)
        elif is_path:
            outputs.append(argument)
        else:
            shipped_names = ", ".join(shipped_sets())
            raise InputError(
                str(argument), f"no such outputs, and no pattern set; shipped: {shipped_names}"
            )
    return outputs, sets or [DEFAULT_SET]
