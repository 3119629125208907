"""A command's function → the same command in Python and in the terminal.

Name, type, default and help of an option are written once: in the signature and the numpydoc of the
function, or in a dataclass that several functions share. Positional parameters are the command's
arguments unless they have flags, and what is given for them passes the same checks wherever it
comes from. `rate : see run` repeats the help of another command; lines of "Examples" that begin
with "$ " are those of the help.

    @command
    def agreement(labels: GivenTables, *, seed: Annotated[int, Option(least=0)] = 1) -> Result[Row]:
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

from ngramscan import __version__
from ngramscan.clock import now
from ngramscan.errors import IncompleteError, NgramscanError
from ngramscan.messages import Text, joined
from ngramscan.options import NewFile, Option, RowsFile, RowTypes, Shared
from ngramscan.reading.versions import one_version_each
from ngramscan.reporting.notebook import Notebook, notebook
from ngramscan.reporting.options import (
    FOR_TABLE,
    check_written,
    checked,
    parameters,
    suggestion,
)
from ngramscan.reporting.provenance import Run, python_call
from ngramscan.reporting.rows import (
    choose_target,
    record_of,
    to_frame,
    without_empty_columns,
    write_rows,
)
from ngramscan.reporting.signatures import documentation_of, hints_of, option_of, signature_of
from ngramscan.rows import RowKind, kind_of_type

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from ngramscan.reporting.latex import PaperTable

__all__ = ["NewFile", "NoRows", "Option", "Result", "RowTypes", "RowsFile", "Shared", "command"]
PROGRESS = "progress"
"""The parameter that reports how far the work is."""
_FEW_ROWS, _NOTEBOOK_WIDTH = 12, 100
P = ParamSpec("P")
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Result(Generic[Row]):
    """The result of a command: the terminal shows it, Python gets a data frame."""

    rows: Iterable[Row]
    row_type: type[Row]
    notices: Sequence[Text] = ()
    """Notes that go with the rows, on stderr."""
    failures: Sequence[Text] = ()
    """A line per thing that could not be done. Exit code 1; Python raises an IncompleteError."""
    heading: str = ""
    """A line above the rows."""
    print_table: Callable[[Console], None] | None = None
    """Prints the rows as a designed table; None: they are printed as they are."""
    is_summary: bool = False  # the table says less: it is on stderr where the rows are elsewhere
    is_screen: bool = False
    """The table is a summary for a first screen: through a pipe it is as wide as in a terminal."""
    is_silent: bool = False
    """The rows are in files; the terminal shows them only with `--format` or `--sort`."""
    files: Sequence[tuple[str | Path | None, Sequence[Any], type]] = ()
    """Files that options name for further rows, if they do; the rows, and their type."""
    figure: Sequence[Any] = ()
    """The file that the option `figure` names, if it does; the rows of each part of the figure."""
    for_paper: tuple[Sequence[Any], type] | None = None
    """Rows for LaTeX, and their type; None: the same rows."""
    sizes: Mapping[str, str] = field(default_factory=dict)
    """The size of each index, in words."""
    exit_code: int = 0
    """Exit code where nothing failed; rows may be bad news."""
    paper: Callable[[Sequence[Any]], Sequence[PaperTable]] | None = None
    """Returns the tables of rows for LaTeX, where rows are not those of a table; None: see
    `for_paper`."""
    first_columns: Sequence[str] = ()
    """Columns that a data frame begins with; files have the order of the row type."""


@dataclass(frozen=True, slots=True)
class NoRows(Result[None]):
    """The result of a command without rows, which has no options for them."""

    rows: Iterable[None] = ()
    row_type: type[None] = NoneType
    is_silent: bool = True
    returned: Any = None
    """The value that Python gets; None: an empty data frame."""


def command(function: Callable[P, Result[Any]]) -> Callable[P, pd.DataFrame]:
    """Make the function of a command return a data frame.

    An unknown option raises a TypeError with the nearest name; a value that the terminal would
    refuse raises an InputError, which names options as they are called in Python.
    """
    signature, hints = signature_of(function), hints_of(function)
    shown_parameters = [
        parameter
        for name, parameter in signature.parameters.items()
        if name != FOR_TABLE and not option_of(hints[name]).is_shown
    ]
    several = next((each.name for each in shown_parameters if each.kind is each.VAR_POSITIONAL), "")
    by_name = [each.name for each in shown_parameters if each.name != several]
    returned = "DataFrame" if hints["return"] is not NoRows else signature.empty
    signature = signature.replace(parameters=shown_parameters, return_annotation=returned)

    @wraps(function)
    def called(*arguments: P.args, **options: P.kwargs) -> Any:
        for name in options:
            if name not in by_name:
                hint = suggestion(name, by_name) or f"; available: {', '.join(by_name)}"
                raise TypeError(f"{function.__name__}(): no option {name!r}{hint}")
        bound = signature.bind(*arguments, **options)
        passed_arguments = dict(bound.arguments)
        bound.apply_defaults()
        shell = (
            notebook() if PROGRESS in bound.arguments and PROGRESS not in passed_arguments else None
        )
        try:
            if shell is None:
                return _returned(_run(function, several, bound, passed_arguments))
            run = partial(_run, function, several, bound, passed_arguments, is_for_table=True)
            return _shown_in(shell, run, bound)
        except NgramscanError as error:
            error.name_keywords()
            raise

    called.__doc__ = documentation_of(function)
    cast("Any", called).__signature__ = signature
    return called


def _run(
    function: Callable[..., Result[Any]],
    several: str,
    bound: inspect.BoundArguments,
    passed_arguments: Mapping[str, Any],
    *,
    is_for_table: bool = False,
) -> Result[Any]:
    values = bound.arguments
    if several:  # a list is taken as its members
        members = (each if isinstance(each, list | tuple) else [each] for each in values[several])
        values[several] = tuple(chain.from_iterable(members))
    for name, parameter in parameters(function).items():
        if name in values:
            values[name] = checked(parameter, values[name])
    check_written(function, values)
    with one_version_each():
        has_table = is_for_table and FOR_TABLE in signature_of(function).parameters
        table = {FOR_TABLE: True} if has_table else {}
        result = function(*bound.args, **bound.kwargs, **table)
    write_files(result, python_call(function, passed_arguments))
    return result


def _shown_in(
    shell: Notebook, run: Callable[[], Result[Any]], bound: inspect.BoundArguments
) -> Any:
    """Run a command in a notebook, which shows its progress, sizes and summary before the frame."""
    with shell:
        bound.arguments[PROGRESS] = shell
        result = run()
    for notice in result.notices:
        shell.notice(notice)
    result = replace(result, rows=[*result.rows])
    returned = _returned(result)
    about = getattr(returned, "attrs", {})
    sizes = [f"{name}: {size}" for name, size in about.get("sizes", {}).items()]
    if result.is_screen and result.print_table:
        from ngramscan.reporting.summaries.screen import screen_lines

        shell.show(screen_lines(result.print_table, _NOTEBOOK_WIDTH))
    else:
        shell.show([*sizes, *_tables_of(result), *about.get("summary", ())])
    return returned


def _tables_of(result: Result[Any]) -> list[str]:
    """Return the summary of many rows as lines; few rows are seen at once in their frame."""
    rows = list(result.rows)
    kind = kind_of_type(result.row_type) if len(rows) > _FEW_ROWS else None
    if kind is None:
        return []
    # They are slow to import.
    from ngramscan.reporting.page.results import MOST_ROWS, Results
    from ngramscan.reporting.summaries.assemble import summaries
    from ngramscan.reporting.summaries.screen import lines_of

    records = [record_of(row) for row in rows[:MOST_ROWS]]
    return lines_of(summaries(Results(kind, "rows", (*records[0],), records)), _NOTEBOOK_WIDTH)


def _returned(result: Result[Any]) -> Any:
    """Return the value that Python gets for a result."""
    if isinstance(result, NoRows) and result.returned is not None:
        return result.returned
    frame = frame_of(result)
    if result.failures:
        raise IncompleteError(joined(result.failures, "; "), frame)
    return frame


def frame_of(result: Result[Any]) -> pd.DataFrame:
    """Return the rows of a result as a data frame, with what the terminal says above a table.

    Its `attrs` have the names of columns that no row has a value in (`left_out`), the sizes of the
    indexes in words (`sizes`), and sentences on what the rows say (`summary`).
    """
    rows = list(result.rows)
    kind = kind_of_type(result.row_type)
    needed = kind.marks if kind else frozenset[str]()
    frame = without_empty_columns(to_frame(rows, result.row_type), result.row_type, needed)
    first = [name for name in result.first_columns if name in frame]
    frame = frame[[*first, *(name for name in frame if name not in first)]]
    frame.attrs["sizes"] = dict(result.sizes)
    frame.attrs["summary"] = summary_of(rows, kind) if kind else []
    return frame


def summary_of(rows: Sequence[Any], kind: RowKind) -> list[str]:
    """Return what some rows of a kind say, in sentences."""
    # They are slow to import.
    from ngramscan.reporting.page.results import MOST_ROWS, Results
    from ngramscan.reporting.sentences.assemble import sentences

    records = [record_of(row) for row in rows[:MOST_ROWS]]
    if not records:
        return []
    left_out = max(0, len(rows) - MOST_ROWS)
    statements = sentences(Results(kind, "data frame", (*records[0],), records, left_out))
    return [sentence.text for sentence in statements]


def write_files(result: Result[Any], made_by: str, **settings: bool) -> Run:
    """Write the figure of a result and its further rows, if options name files for them.

    Return how all its rows were made.
    """
    run = Run(made_by, __version__, now(), tuple(map(str, result.failures)), result.sizes)
    if any(result.figure[:1]):
        from ngramscan.reporting.charts.files import save_figure  # slow to import

        figure, *tables = result.figure
        save_figure(Path(figure), *tables)
    for path, rows, row_type in result.files:
        if path:
            write_rows(rows, row_type, choose_target(None, Path(path), **settings), run)
    return run
