"""`ngramscan strategies`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ngramscan.cli.options import recorded_options
from ngramscan.output.options import (
    emit,
    keeps_nothing,
    output_options,
    quiet_option,
    save,
    tell,
)

if TYPE_CHECKING:
    from ngramscan.commands.recorded import RecordedOptions


@click.command("strategies")
@click.argument("outputs", type=click.Path(path_type=Path))
@click.option(
    "--rules",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Rules of your own, in YAML.  [default: those of this package]",
)
@click.option(
    "--per-output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the strategy of each output, and what decided, to a file.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the shares: .svg or .png.",
)
@recorded_options
@output_options
@quiet_option
@keeps_nothing
def strategies_command(
    outputs: Path,
    rules: Path | None,
    per_output: Path | None,
    figure: Path | None,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Classify outputs of models as Direct, CoT, PoT or Hybrid.

    OUTPUTS is a folder {dataset}/{model}/{variant}.jsonl, any level of it, or one file. Code, step
    markers and the density of formulas decide, by rules that are one YAML file.

    \b
    Examples:
      ngramscan strategies outputs/
      ngramscan strategies outputs/ --per-output strategies.csv --figure strategies.svg
      ngramscan strategies run.jsonl --variant-field prompt --rules mine.yaml
    """
    from ngramscan import tables
    from ngramscan.commands import strategy as commands
    from ngramscan.figures import check_target
    from ngramscan.output import choose_target, optional_target, refuse_same_file
    from ngramscan.strategy_shares import Classified, StrategyShare

    refuse_same_file({"-o": output, "--per-output": per_output, "--figure": figure})
    target, of_outputs = choose_target(format_name, output), optional_target(per_output)
    check_target(figure)
    found = commands.classify_in(outputs, rules, cast("RecordedOptions", given))
    tell(found.notices, quiet)
    save(found.outputs, Classified, of_outputs)
    commands.save_strategies_figure(found, figure)
    emit(found.rows, StrategyShare, target, partial(tables.print_strategies, found.rows))
