"""The `evalcore` command: its parts are derived from the functions."""

from collections.abc import Iterable, Mapping
from typing import Any

import click

from evalcore.synonyms import DATASETS_SYNONYMS, SYNONYMS
from ngramscan import __version__
from ngramscan.reporting.terminal import Commands

_COMMANDS = (
    "run",
    "score",
    "show",
    "judge",
    "logs",
    "compare",
    "rank",
    "plan",
    "outcomes",
    "efficiency",
    "agreement",
    "link",
)
main = Commands(
    "evalcore.commands.{}",
    _COMMANDS,
    keeping=["run", "judge"],
    completions="evalcore.cli",
    synonyms=SYNONYMS,
    name="evalcore",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Run prompting methods on models, score the answers, and compare the methods.

    Exit codes: 0 all done, 1 something could not be done (what was done is kept), 2 wrong usage,
    130 interrupted (what was done is kept; run the same command to resume).
    """,
)
datasets = Commands(
    "evalcore.commands.datasets",
    ["check", "fetch", "list"],
    keeping=["fetch"],
    prefix="datasets_",
    synonyms=DATASETS_SYNONYMS,
    help="List, fetch and check benchmarks.",
)
main.add_command(datasets, "datasets")
click.version_option(__version__, prog_name="evalcore")(main)


def complete(name: str, parameters: Mapping[str, Any], _typed: str) -> Iterable[str] | None:
    """Return what a parameter may be, for shells; None: nothing is known of it."""
    from evalcore import benchmarks, extraction, prompts, rules

    shipped = benchmarks.benchmarks()
    if name in {"dataset", "names"}:
        return shipped
    benchmark = shipped.get(parameters.get("dataset") or "")
    if benchmark and name in {"method", "methods"}:
        return prompts.load_templates(benchmark).methods
    candidates = {
        "extraction": extraction.RULES,
        "rule": benchmark.rules if benchmark else rules.RULES,
    }
    return candidates.get(name)
