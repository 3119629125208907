"""`evalcore compare`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evalcore.cli.score_options import no_answer_option, run_option
from evalcore.cli.showing import show
from ngramscan.output import choose_target, refuse_same_file
from ngramscan.output.options import all_of, emit, keeps_nothing, output_options, quiet_option

if TYPE_CHECKING:
    from evalcore.commands.comparing import CompareOptions

_what = all_of(
    click.option("--baseline", metavar="METHOD", help="What the others are compared with."),
    click.option(
        "--treatment",
        multiple=True,
        metavar="METHOD",
        help="Only this method; again for more.  [default: all others]",
    ),
    click.option("--all-pairs", is_flag=True, help="Compare every method with every other."),
    click.option(
        "--by",
        default="dataset,model",
        show_default=True,
        metavar="COLUMNS",
        help="What is compared on its own; what is not named is put together, by problem.",
    ),
    click.option(
        "--rule", multiple=True, metavar="NAME", help="Only scores by this rule; again for more."
    ),
    run_option,
    no_answer_option,
)

_how = all_of(
    click.option(
        "--interval",
        type=click.Choice(["newcombe", "bootstrap"]),
        default="newcombe",
        show_default=True,
        help="Where answers are right or wrong; else, and for several models, the bootstrap.",
    ),
    click.option(
        "--graded-test",
        type=click.Choice(["bootstrap-t", "signed-rank", "sign-flip"]),
        default="bootstrap-t",
        show_default=True,
        help="Test of graded answers, which are not only right or wrong.",
    ),
    click.option(
        "--zeros",
        type=click.Choice(["dropped", "pratt"]),
        default="dropped",
        show_default=True,
        help="Pairs without a difference, in the signed-rank test.",
    ),
    click.option(
        "--family",
        default="",
        metavar="COLUMNS",
        help="Adjust p-values within each value of these columns, and always within each rule.",
    ),
    click.option("--level", type=float, default=0.95, show_default=True, help="Of intervals."),
    click.option(
        "--draws",
        type=click.IntRange(min=100),
        default=10_000,
        show_default=True,
        metavar="N",
        help="Of the bootstrap and of sign flips.",
    ),
    click.option("--seed", type=int, default=1, show_default=True, help="Of what is drawn."),
)


@click.command("compare")
@click.argument("scores", nargs=-1, required=True, type=click.Path(path_type=Path))
@_what
@_how
@click.option(
    "--averages",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write averages over subtasks and benchmarks to a file.",
)
@click.option(
    "--stars",
    is_flag=True,
    help="Put stars behind p-values, in tables of the terminal and of LaTeX.",
)
@output_options
@quiet_option
@keeps_nothing
def compare_command(
    scores: Sequence[Path],
    stars: bool,
    format_name: str | None,
    output: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare prompting methods in pairs, on the same problems.

    SCORES are files of rows of `evalcore score`, `judge` or `logs`. Right and wrong answers get
    McNemar's mid-p test (the exact one beside it) and Newcombe's interval; graded ones test and
    interval by bootstrap-t; several models of one benchmark are also taken together, with problems
    as clusters. Percent, and percentage points.

    \b
    Examples:
      evalcore compare scores.jsonl --baseline cot --treatment f-1
      evalcore compare scores.jsonl --all-pairs --format latex
    """
    from evalcore.commands.comparing import PaperRow, compare_with, for_paper, print_compared
    from evalcore.comparisons import CompareRow

    refuse_same_file({"-o": output, "--averages": options["averages"]})
    target = choose_target(format_name, output)
    compared = compare_with(scores, cast("CompareOptions", options))
    if target.format == "latex":
        emit_rows = partial(emit, for_paper(compared.rows, stars), PaperRow, target)
    else:
        table = partial(print_compared, compared=compared, stars=stars)
        emit_rows = partial(emit, compared.rows, CompareRow, target, table)
    show(compared, target, quiet, emit_rows)
