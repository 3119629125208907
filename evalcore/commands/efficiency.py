"""`evalcore efficiency`: accuracy against token cost."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from evalcore.answer_table import describe_documents
from evalcore.commands.logs import UsageRow
from evalcore.efficiency_rows import (
    EfficiencyRow,
    TokenUsage,
    make_efficiencies,
    make_output_table,
    name_output,
)
from evalcore.options import DrawCount, FileOrFolder, OptionalFile, Seed
from evalcore.records import read_records
from evalcore.score_options import ScoreOptions
from evalcore.scores import GroupedRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Wording
from ngramscan.reading.row_files import GivenTables, read_rows
from ngramscan.reading.score_values import UNKNOWN
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import for_paper, print_pooled, to_columns
from ngramscan.reporting.command import NewFile, Option, Result, Shared, command
from ngramscan.reporting.layout import Layout
from ngramscan.statistics.resampling import Resampling

Price = Annotated[float | None, Option(metavar="DOLLARS", least=0, most=10**9)]
_ROWS_OF_USAGE = Wording("rows of `evalcore logs --usage`", "rows of `evalcore.logs(usage=FILE)`")
_ROWS_OF_USAGE = Wording("rows of `evalcore logs --usage`", "rows of `evalcore.logs(usage=FILE)`")
_BASELINE = "zero-shot"
_columns = partial(
    to_columns,
    names=(
        "dataset",
        "model",
        "group",
        "method",
        "rule",
        "n",
        "accuracy",
        "mean_tokens",
        "tokens_per_correct",
        "cost_per_answer",
        "cost_per_correct",
        "on_frontier",
        "frontier_share",
        "accuracy_per_100_tokens",
        "prompt_overhead",
    ),
)
_OPTIONAL = ("prompt overhead", "frontier share", "accuracy per 100 tokens")


def _read_usage(
    outputs: str | Path | None, usage: str | Path | None
) -> tuple[Sequence[TokenUsage], list[str]]:
    """Return the token counts of outputs, and notices."""
    notices = list[str]()
    if outputs:
        return read_records(Path(outputs), on_notice=notices.append), notices
    if usage:
        return read_rows(Path(usage), UsageRow, _ROWS_OF_USAGE), notices
    cure = "or give " + OptionUse("usage")
    problem = "missing; scores don't hold token counts (" + cure + ")"
    raise InputError(OptionUse("outputs"), problem)


def _describe_left_out(
    score_rows: Sequence[GroupedRow], usage_rows: Sequence[TokenUsage]
) -> list[str]:
    """Say which outputs have no known result, no token counts, or no scores."""
    scored, recorded = set(map(name_output, score_rows)), set(map(name_output, usage_rows))
    n_unknown = sum(row.status == UNKNOWN for row in score_rows)
    n_absent, n_unscored = len(scored - recorded), len(recorded - scored)
    notices = list[str]()
    if n_unknown:
        outputs = f"{n_unknown:,} of {len(score_rows):,} outputs"
        notices.append(f"{outputs} are left out: their result is unknown")
    if n_absent:
        outputs = f"{n_absent:,} of {len(scored):,} scored outputs"
        notices.append(f"{outputs} are not among the recorded ones")
    if n_unscored:
        outputs = f"{n_unscored:,} of {len(recorded):,} recorded outputs"
        notices.append(f"{outputs} are left out: not scored")
    return notices


@command
def efficiency(
    scores: GivenTables,
    *,
    outputs: FileOrFolder = None,
    usage: OptionalFile = None,
    baseline: Annotated[str, Option(metavar="METHOD")] = _BASELINE,
    tokens: Literal["completion", "total"] = "completion",
    price_in: Price = None,
    price_out: Price = None,
    resamples: DrawCount = 2000,
    seed: Seed = 1,
    figure: NewFile = None,
    **options: Annotated[Any, Shared(ScoreOptions)],
) -> Result[EfficiencyRow]:
    """Show accuracy against token cost.

    SCORES are files of rows of `evalcore score`, `judge` or `logs`. Accuracy per 100 tokens is a
    ratio of means; rows of all models also have the mean of the models' ratios. Tokens that were
    not recorded are missing, never 0.

    Parameters
    ----------
    scores : see compare
    outputs : str or Path, optional
        The recorded outputs, which hold the token counts; either these or `usage` are needed.
    usage : str or Path, optional
        The token counts of each answer, as written by `evalcore logs --usage`.
    baseline : str
        The method whose prompt lengths the others are compared with.
    tokens : str
        Which tokens to count: `completion` (the reply and its reasoning) or `total` (the prompt,
        too).
    price_in : float, optional
        Dollars per million prompt tokens; with `price_out`, costs are shown.
    price_out : float, optional
        Dollars per million completion tokens, reasoning included.
    resamples : int
        Number of bootstrap samples of problems, for the intervals.
    seed : see compare
    figure : str or Path, optional
        Draw accuracy against tokens, with the efficient frontier: .svg, .png or .pdf.

    Returns
    -------
    DataFrame
        One row per benchmark, model and method, and one for all models together.

    Examples
    --------
    $ evalcore efficiency scores.jsonl --outputs outputs/
    $ evalcore efficiency scores.jsonl --outputs outputs/ --tokens total --figure frontier.svg
    $ evalcore efficiency scores.jsonl --outputs outputs/ --price-in 0.5 --price-out 1.5
    """
    if (price_in is None) != (price_out is None):
        missing = OptionUse("price_out" if price_out is None else "price_in")
        raise InputError(missing, "missing; costs need both prices, each per million tokens")
    if outputs and usage:
        problem = "not allowed with " + OptionUse("outputs") + "; both hold the tokens"
        raise InputError(OptionUse("usage"), problem)
    usage_rows, usage_notices = _read_usage(outputs, usage)
    score_options = ScoreOptions(**options)
    score_rows, messages = score_options.read(scores)
    if baseline != _BASELINE:
        refuse_other("baseline", baseline, (row.method for row in score_rows))
    prices = np.array([price_in, price_out], dtype=float)  # nan: not given
    table = make_output_table(score_rows, usage_rows, tokens, score_options, baseline, prices)
    rows = list(make_efficiencies(table, baseline, Resampling(resamples, seed)))
    drawable = [row for row in rows if row.on_frontier is not None]
    if figure and not drawable:
        raise InputError(str(figure), "nothing to draw: no tokens are known")
    units = "clusters of problems" if score_options.cluster else "problems"
    notices = [
        *messages.notices,
        *usage_notices,
        *describe_documents(table),
        *_describe_left_out(score_rows, usage_rows),
        f"Intervals: {resamples:,} bootstrap samples of {units}, seed {seed}",
    ]
    return Result(
        rows,
        EfficiencyRow,
        notices=notices,
        failures=messages.failures,
        print_table=partial(
            print_pooled,
            rows=rows,
            columns=_columns,
            layout=Layout(5, optional=_OPTIONAL),
            notes=("model", "method"),
        ),
        figure=(figure, drawable),
        for_paper=for_paper(_columns(rows)),
    )
