"""Names that users of other tools type for options and commands, and where each leads.

A name may simply work although no help lists it, or a message says what to type instead. Both
packages have a table of their own; the names here are the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

ALWAYS = ""
"""In place of a flag: a cure that fits every command."""

OptionCures = Mapping[str, Mapping[str, str]]
"""For each guess the cures, by the flag that a command must have; the first that fits is taken.

`{value}` stands for the value that was typed, and `{complement}` for 1 minus it.
"""


@dataclass(frozen=True, slots=True)
class Satisfied:
    """Where a flag of another tool asks for what is done anyway."""

    where: str
    """The flag that a command must have."""
    contradicts: str = ""
    """The flag that asks for the opposite."""
    takes_value: bool = False
    """Whether a value follows the flag, which changes nothing either."""


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Names that lead to options and commands of one package, or of one group of commands."""

    option_aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Flags that work, with those that they stand for: the first that the command has."""
    satisfied_options: Mapping[str, Satisfied] = field(default_factory=dict)
    """Flags that ask for what a command does anyway; they are taken, and change nothing."""
    option_cures: OptionCures = field(default_factory=dict)
    argument_aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Flags before a value that a command takes as its argument, with the names of arguments."""
    command_aliases: Mapping[str, str] = field(default_factory=dict)
    """Commands that work, by the name that they stand for."""
    command_cures: Mapping[str, str] = field(default_factory=dict)
    """Cures for names of commands that do not exist."""
    phrase_aliases: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """Several words that name a command in another tool, with our command."""
    phrase_cures: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    """Cures for several words that name a command of another tool."""
    default_command: str = ""
    """The command that is meant where the name of a file or of a set stands for a command."""


OPTION_ALIASES: Mapping[str, tuple[str, ...]] = {
    "--output-file": ("--output",),
    "--output-path": ("--output",),
    "--output_path": ("--output",),
    "--output-dir": ("--output",),
    "--out": ("--output",),
    "--save": ("--output",),
    "--outfile": ("--output",),
    "--output-format": ("--format",),
    "--confidence": ("--level",),
    "--confidence-level": ("--level",),
    "--conf-level": ("--level",),
    "--ci-level": ("--level",),
    "--random-seed": ("--seed",),
    "--random-state": ("--seed",),
    "--max-connections": ("--concurrency",),
    "--max-concurrency": ("--concurrency",),
    "--num-concurrent": ("--concurrency",),
    "--order-by": ("--sort",),
    "--sort-by": ("--sort",),
    "--plot": ("--figure",),
    "--chart": ("--figure",),
    "--fig": ("--figure",),
    "--silent": ("--quiet",),
    "--no-progress": ("--quiet",),
    "--plan-only": ("--dry-run",),
    "--estimate-cost": ("--dry-run",),
    "--to-csv": ("--output",),
    "--to-json": ("--output",),
    "--to-jsonl": ("--output",),
    "--to-parquet": ("--output",),
    "--to-latex": ("--output",),
    "--save-dir": ("--output",),
    "--out-dir": ("--output",),
    "--outdir": ("--output",),
    "--out-file": ("--output",),
    "--export-csv": ("--output",),
}

DESCENDING_FLAGS = ("--desc", "--descending", "--reverse")
"""Flags that turn the order of `--sort` around."""
ASCENDING_FLAGS = ("--asc", "--ascending")
"""Flags that ask for the order that `--sort` has anyway."""

COLUMN_ALIASES: Mapping[str, tuple[str, ...]] = {
    "acc": ("accuracy",),
    "asked": ("asked_at",),
    "corpora": ("index",),
    "corpus": ("index",),
    "count": ("occurrences",),
    "counts": ("occurrences",),
    "delta": ("difference",),
    "df": ("documents",),
    "diff": ("difference",),
    "doc_count": ("documents",),
    "doc_freq": ("documents",),
    "docs": ("documents",),
    "freq": ("occurrences",),
    "frequency": ("occurrences",),
    "hits": ("occurrences",),
    "matches": ("occurrences",),
    "n_docs": ("documents",),
    "n_documents": ("documents",),
    "n_occurrences": ("occurrences",),
    "num_docs": ("documents",),
    "occ": ("occurrences",),
    "p_val": ("p",),
    "p_value": ("p",),
    "pval": ("p",),
    "pvalue": ("p",),
    "per_gb": ("per_gigabyte",),
    "rate_per_gb": ("per_gigabyte",),
    "occurrences_per_gb": ("per_gigabyte",),
    "occurrences_per_gigabyte": ("per_gigabyte",),
    "per_m_documents": ("per_million_documents", "documents_per_million"),
    "per_million_docs": ("per_million_documents", "documents_per_million"),
    "docs_per_million": ("documents_per_million", "per_million_documents"),
    "per_m_tokens": ("per_million_tokens",),
    "phrase": ("pattern",),
    "phrases": ("pattern",),
    "string": ("pattern",),
    "term": ("pattern",),
    "text": ("pattern",),
    "size": ("bytes",),
}
"""Names of columns that people type after `--sort`, with those that they stand for: the first that
the rows have. A column that the rows have is always itself."""

_DIRECTION = re.compile(
    r"(?P<column>.+?)(?:\s+|:)(?P<direction>asc|desc)(?:ending)?", re.IGNORECASE
)
"""A column with its order after it, as SQL has it."""

OPTION_CURES: OptionCures = {
    "--alpha": {"--level": "use --level {complement}, which is 1 minus alpha"},
    "--significance": {"--level": "use --level {complement}, which is 1 minus the significance"},
    "--ci": {"--level": "intervals are always shown; --level X sets their confidence level"},
    "--csv": {"--format": "use --format csv, or -o FILE.csv"},
    "--tsv": {"--format": "use --format tsv, or -o FILE.tsv"},
    "--json": {"--format": "use --format json, or -o FILE.json"},
    "--jsonl": {"--format": "use --format jsonl, or -o FILE.jsonl"},
    "--latex": {"--format": "use --format latex, or -o FILE.tex"},
    "--tex": {"--format": "use --format latex, or -o FILE.tex"},
    "--parquet": {"--format": "use -o FILE.parquet"},
    "--markdown": {"--format": "use --format markdown, or -o FILE.md"},
    "--md": {"--format": "use --format markdown, or -o FILE.md"},
    "--excel": {"--format": "spreadsheets open CSV: -o FILE.csv"},
    "--xlsx": {"--format": "spreadsheets open CSV: -o FILE.csv"},
    "--html": {"--format": "write the rows with -o FILE.csv, then `ngramscan report FILE.csv`"},
    "--pretty": {"--format": "tables are the default; --wide shows all their columns"},
    "--columns": {"--format": "all columns are in -o FILE.csv; --wide shows all on the screen"},
    "--fields": {"--format": "all columns are in -o FILE.csv; --wide shows all on the screen"},
    "--stdout": {"--output": "rows go to standard output unless -o FILE is set"},
    "--force": {"--output": "files of -o are replaced without asking"},
    "--overwrite": {"--output": "files of -o are replaced without asking"},
    "--no-ci": {"--format": "intervals are always shown; rows of -o FILE have them in columns"},
    "--sep": {"--format": "use --format csv for commas, --format tsv for tabs"},
    "--delimiter": {"--format": "use --format csv for commas, --format tsv for tabs"},
    "--append": {"--output": "write another file with -o; commands read several files"},
    "--debug": {
        "--verbose": "use -v",
        ALWAYS: "errors say where and why; there is no more to show",
    },
    "--log-level": {
        "--verbose": "use -v for details, -q for none",
        "--quiet": "use -q for no notices",
    },
    "--verbose": {ALWAYS: "this command has no further details to show"},
    "-v": {ALWAYS: "this command has no further details to show"},
    "--progress": {"--quiet": "progress is shown in a terminal; -q hides it"},
    "--color": {"--quiet": "colors follow the terminal; NO_COLOR=1 in the environment hides them"},
    "--no-color": {"--quiet": "set NO_COLOR=1 in the environment"},
    "--resume": {ALWAYS: "run the same command again: what was done is kept"},
    "--config": {ALWAYS: "options are on the command line; docs/shell.md has their variables"},
    "--version": {
        "--index-version": "the version of the files is --index-version {value}",
        ALWAYS: "the option goes before the command: --version",
    },
}


def column_meant(typed: str, columns: Collection[str]) -> str:
    """Return a column to sort by, with its minus, from a near form of its name.

    Capitals, hyphens and blanks are those of headings; `desc` may follow, as in SQL. A name that
    leads to no column stays as it is.
    """
    if typed.removeprefix("-") in columns:
        return typed
    sign = "-" if typed.startswith("-") else ""
    name = typed.removeprefix("-").strip()
    if ordered := _DIRECTION.fullmatch(name):
        if sign:
            return typed
        name = ordered["column"]
        sign = "-" if ordered["direction"].lower() == "desc" else ""
    plain = re.sub(r"[\s_-]+", "_", name.lower())
    for column in (plain, *COLUMN_ALIASES.get(plain, ())):
        if column in columns:
            return sign + column
    return typed


def has_direction(column: str) -> bool:
    """Tell whether a column to sort by says its order: by a minus, or as SQL does."""
    return column.startswith("-") or bool(_DIRECTION.fullmatch(column))


def with_hyphens(flag: str) -> str:
    """Return a long flag as ours are written: `--text_field` is `--text-field`."""
    return flag.replace("_", "-") if flag.startswith("--") else flag


def with_underscores(flag: str) -> str:
    """Return a long flag as some tools write it: `--text-field` is `--text_field`."""
    return "--" + flag[2:].replace("-", "_") if flag.startswith("--") else flag


def cure_of_option(cures: OptionCures, guess: str, flags: frozenset[str], value: str) -> str:
    """Return what to type instead of a flag in a command with these flags; empty: not known."""
    for flag, cure in cures.get(guess, {}).items():
        if flag == ALWAYS or flag in flags:
            return filled_in(cure, value)
    return ""


def filled_in(cure: str, value: str) -> str:
    """Return a cure with the value that was typed; VALUE stands for one that was not."""
    with_value = cure.replace("{value}", value or "VALUE")
    return with_value.replace("{complement}", _complement(value))


def _complement(value: str) -> str:
    """Return 1 minus a share as it was typed; 0.95 if it is none."""
    try:
        share = Decimal(value)
    except InvalidOperation:
        return "0.95"
    return str(1 - share) if 0 < share < 1 else "0.95"
