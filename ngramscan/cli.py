"""The `ngramscan` command: its parts are derived from the functions in `commands`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from ngramscan import __version__
from ngramscan.reporting.completion import paths
from ngramscan.reporting.synonyms import Synonyms
from ngramscan.reporting.terminal import Commands
from ngramscan.synonyms import (
    INDEX_SYNONYMS,
    JOURNAL_SYNONYMS,
    PATTERNS_SYNONYMS,
    SYNONYMS,
)

main = Commands(
    "ngramscan.commands.{}",
    [
        *("count", "docnorm", "contexts", "sources", "contaminate", "trace"),
        *("blend", "tiers", "keyness", "strategies", "report", "serve"),
    ],
    keeping=["count", "docnorm", "contexts", "sources", "contaminate", "trace"],
    completions="ngramscan.cli",
    synonyms=SYNONYMS,
    corpora="ngramscan.patterns.given",
    name="ngramscan",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Corpus statistics: what language models were trained on, with intervals.

    Exit codes: 0 all done, 1 something could not be done (what was done is kept), 2 wrong usage,
    130 interrupted (what was done is kept; run the same command to resume).
    """,
)
click.version_option(__version__, prog_name="ngramscan")(main)


def _add_group(
    name: str, names: list[str], text: str, synonyms: Synonyms, keeping: Sequence[str] = ()
) -> None:
    group = Commands(
        f"ngramscan.commands.{name}",
        names,
        keeping,
        prefix=f"{name}_",
        synonyms=synonyms,
        name=name,
        help=text,
    )
    main.add_command(group)


_add_group(
    "index",
    ["list", "info", "build", "add", "verify"],
    "List the hosted indexes; build, check and describe local ones.",
    INDEX_SYNONYMS,
    keeping=["build", "add"],
)
_add_group(
    "journal",
    ["info", "clear"],
    """Show or remove stored replies.

    No request is sent twice: replies are in ~/.cache/ngramscan/replies.sqlite, on macOS in
    ~/Library/Caches/ngramscan/replies.sqlite, or in the file of --journal.
    """,
    JOURNAL_SYNONYMS,
)
_add_group(
    "patterns",
    ["list", "show"],
    "List the pattern sets that come with ngramscan; show one of them, or your own.",
    PATTERNS_SYNONYMS,
)


def complete(name: str, parameters: Mapping[str, Any], typed: str) -> Iterable[str] | None:
    """Return the completions of a parameter, for shells; None if it has none of its own."""
    # They are slow to import.
    from ngramscan.indexes.kinds import completions
    from ngramscan.patterns.files import load_patterns, shipped_sets
    from ngramscan.reading.row_files import has_rows, read_table

    candidates: Iterable[str] | None = None
    match name:
        case "index" | "spec":
            candidates = completions(typed, paths)
        case "patterns" | "others" | "name":
            candidates = [*shipped_sets(), *paths(typed)]
        case "literals_file":
            candidates = paths(typed)
        case "method":
            shipped = shipped_sets()
            sets = [
                name
                for name in parameters["arguments"]
                if name in shipped or name.endswith(".yaml")
            ]
            candidates = [
                name for given_set in sets or ["f1"] for name in load_patterns(given_set).methods
            ]
        case "rule":
            candidates = ["mini", "gpt4", "gpt4-stripped", "gpt3", "palm", "ngram-13"]
        case "field" | "id_field":
            table = next((name for name in parameters["arguments"] if has_rows(name)), None)
            candidates = next(read_table(table))[1] if table else []
    return candidates
