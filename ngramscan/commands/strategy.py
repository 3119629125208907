"""`ngramscan strategies`: how outputs of models solve their problems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ngramscan.commands.recorded import RecordedOptions, output_fields
from ngramscan.figures import check_target, draw_strategies, save_figure
from ngramscan.output import (
    optional_target,
    refuse_same_file,
    strict_keywords,
    to_frame,
    write_rows,
)
from ngramscan.outputs import read_outputs
from ngramscan.strategy_rules import load_rules
from ngramscan.strategy_shares import Classified, Strategies, StrategyShare, classify_outputs

if TYPE_CHECKING:
    import pandas as pd


def classify_in(
    outputs: str | Path, rules: str | Path | None, options: RecordedOptions
) -> Strategies:
    """Classify the outputs of a folder or file."""
    chosen = load_rules(rules)
    return classify_outputs(read_outputs(Path(outputs), output_fields(options)), chosen)


def save_strategies_figure(found: Strategies, path: str | Path | None) -> None:
    """Draw the shares, where a figure was asked for."""
    if path is not None:
        save_figure(draw_strategies(found.rows), Path(path))


@strict_keywords
def strategies(
    outputs: str | Path,
    *,
    rules: str | Path | None = None,
    per_output: str | Path | None = None,
    figure: str | Path | None = None,
    output_field: str = "output",
    variant_field: str | None = None,
    skip_bad_lines: bool = False,
) -> pd.DataFrame:
    """Classify outputs as Direct, CoT, PoT or Hybrid, as `ngramscan strategies` does.

    Parameters
    ----------
    outputs : str or Path
        A folder `{dataset}/{model}/{variant}.jsonl`, any level of it, or one file.
    rules : str or Path, optional
        Rules of your own, in YAML. By default those of this package.
    per_output : str or Path, optional
        Write the strategy of each output, and what decided, to this file.
    figure : str or Path, optional
        Draw the shares: .svg or .png.
    output_field : str
        Field of a record that holds what the model wrote.
    variant_field : str, optional
        Field that holds the variant, where one file has several.
    skip_bad_lines : bool
        Skip malformed JSON lines, and count them, instead of stopping.

    Returns
    -------
    DataFrame
        One row per group and strategy.

    Raises
    ------
    InputError
        An argument, a file or a rule is wrong.
    """
    refuse_same_file({"--per-output": per_output, "--figure": figure})
    target = optional_target(per_output)
    check_target(Path(figure) if figure else None)
    options = RecordedOptions(
        output_field=output_field, variant_field=variant_field, skip_bad_lines=skip_bad_lines
    )
    found = classify_in(outputs, rules, options)
    if target:
        write_rows(found.outputs, Classified, target)
    save_strategies_figure(found, figure)
    return to_frame(found.rows, StrategyShare)
