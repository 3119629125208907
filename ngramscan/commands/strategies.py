"""`ngramscan strategies`: how outputs of models solve their problems."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ngramscan.commands.shared import OutputOptions
from ngramscan.outputs.strategies import OutputStrategyRow, StrategyRow, load_rules, run_strategies
from ngramscan.reporting import tables
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command


@command
def strategies(
    *outputs: str | Path,
    rules: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    per_output: RowsFile = None,
    figure: NewFile = None,
    **options: Annotated[Any, Shared(OutputOptions)],
) -> Result[StrategyRow]:
    """Classify outputs of models as Direct, CoT, PoT or Hybrid.

    OUTPUTS are given as to blend. The rules of a YAML file decide, by code, step markers and the
    density of formulas.

    Parameters
    ----------
    *outputs : see blend
    rules : str or Path, optional
        YAML file of your own rules. By default those of this package.
    per_output : str or Path, optional
        Write the strategy of each output and the rule that decided to this file.
    figure : str or Path, optional
        Draw the shares: .svg, .png or .pdf.

    Returns
    -------
    DataFrame
        One row per group and strategy.

    Examples
    --------
    $ ngramscan strategies outputs/
    $ ngramscan strategies outputs/ --per-output strategies.csv --figure strategies.svg
    $ ngramscan strategies run.jsonl --prompt-field prompt --rules rules.yaml
    """
    chosen = load_rules(rules)
    recorded_outputs = OutputOptions(**options).read_outputs(outputs)
    result = run_strategies(recorded_outputs, chosen)
    table = partial(tables.print_strategies, result.rows)
    files = [(per_output, result.outputs, OutputStrategyRow)]
    return Result(
        result.rows,
        StrategyRow,
        result.notices,
        print_table=table,
        files=files,
        figure=(figure, result.rows),
    )
