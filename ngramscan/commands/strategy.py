"""`ngramscan strategies`: how outputs of models solve their problems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from ngramscan.commands.recorded import RecordedOptions, output_fields
from ngramscan.figures import check_target, draw_strategies, save_figure
from ngramscan.output import optional_target, to_frame, write_rows
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


def strategies(
    outputs: str | Path,
    *,
    rules: str | Path | None = None,
    per_output: str | Path | None = None,
    figure: str | Path | None = None,
    **options: Unpack[RecordedOptions],
) -> pd.DataFrame:
    """Classify outputs as Direct, CoT, PoT or Hybrid, as `ngramscan strategies` does.

    Parameters
    ----------
    outputs : str or Path
        A folder `{dataset}/{model}/{variant}.jsonl`, any level of it, or one file.
    rules : str or Path, optional
        A YAML file with rules; without one, those of this package.
    per_output : str or Path, optional
        A file for one row per output.
    figure : str or Path, optional
        A file for a picture, .svg or .png.
    **options
        `output_field` (the field with the text), `variant_field` (the field with the variant,
        where a file has several), `skip_bad_lines`.

    Returns
    -------
    DataFrame
        One row per group and strategy.

    Raises
    ------
    InputError
        An argument, a file or a rule is wrong.
    """
    target = optional_target(per_output)
    check_target(Path(figure) if figure else None)
    found = classify_in(outputs, rules, options)
    if target:
        write_rows(found.outputs, Classified, target)
    save_strategies_figure(found, figure)
    return to_frame(found.rows, StrategyShare)
