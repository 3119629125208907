"""`ngramscan strategies`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ngramscan.cli.options import emit, output_options, progress_options, save
from ngramscan.progress import Terminal


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
@click.option(
    "--output-field",
    default="output",
    show_default=True,
    metavar="NAME",
    help="The field with the text.",
)
@click.option(
    "--variant-field",
    metavar="NAME",
    help="The field with the variant, where one file has several.",
)
@click.option(
    "--skip-bad-lines",
    is_flag=True,
    help="Skip malformed JSON lines, and count them, instead of stopping.",
)
@output_options
@progress_options
def strategies_command(
    outputs: Path,
    rules: Path | None,
    per_output: Path | None,
    figure: Path | None,
    output_field: str,
    variant_field: str | None,
    skip_bad_lines: bool,
    format_name: str | None,
    output: Path | None,
    verbose: bool,
    quiet: bool,
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
    from ngramscan.output import choose_target, optional_target
    from ngramscan.strategy_shares import Classified, StrategyShare

    target, of_outputs = choose_target(format_name, output), optional_target(per_output)
    check_target(figure)
    options: commands.ReadingOptions = {
        "output_field": output_field,
        "variant_field": variant_field,
        "skip_bad_lines": skip_bad_lines,
    }
    with Terminal(quiet, verbose) as progress:
        found = commands.classify_in(outputs, rules, options)
        for notice in found.notices:
            progress.notice(notice)
    save(found.outputs, Classified, of_outputs)
    commands.save_strategies_figure(found, figure)
    emit(found.rows, StrategyShare, target, partial(tables.print_strategies, found.rows))
