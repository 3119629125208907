"""`ngramscan report`: one HTML page from the rows that commands write."""

from __future__ import annotations

import html
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec, cast

import click

from ngramscan.errors import InputError, NoRowsError
from ngramscan.messages import OptionUse, Text, counted
from ngramscan.progress import format_bytes
from ngramscan.reading.row_files import Table, name_of
from ngramscan.reporting import check_writable, write_whole
from ngramscan.reporting.command import NoRows, Option, command
from ngramscan.reporting.provenance import SIDECAR

if TYPE_CHECKING:
    import pandas as pd

    from ngramscan.reporting.page.results import Results

P = ParamSpec("P")
_FILE = Path("report.html")
_SUFFIXES = ("", ".html", ".htm")
"""The suffixes that a page may have; a pipe or a device has none."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of results; a notebook shows it in a frame of its own."""

    html: str
    """The whole page."""

    def save(self, path: str | Path) -> None:
        """Write the page to a file, whole or not at all."""
        _refuse_other_formats(str(path), Path(path))
        write_whole(Path(path), lambda new: new.write_bytes(self.html.encode()))

    def __repr__(self) -> str:
        """Return the kind and size: the page itself would fill a terminal."""
        return f"<Page of {format_bytes(len(self.html.encode()))}>"

    def _repr_html_(self) -> str:
        """Return the page as a frame that can run its own script and reach nothing else."""
        return (
            '<iframe title="Report of ngramscan" width="100%" height="800" '
            f'sandbox="allow-scripts allow-popups" srcdoc="{html.escape(self.html)}"></iframe>'
        )


def page_command(function: Callable[P, NoRows]) -> Callable[P, Page]:
    """Make a command of a function whose result has a page."""
    return cast("Callable[P, Page]", command(function))


@page_command
def report(
    *results: Annotated[str | Path | pd.DataFrame, Option(metavar="RESULTS...")],
    title: Annotated[str | None, Option(metavar="TEXT")] = None,
    output: Annotated[
        str | Path | None,
        Option("-o --output", metavar="FILE", is_written=True, may_be_stdout=True),
    ] = None,
    open: Annotated[bool, Option(is_shown=True)] = False,
    for_table: bool = False,
) -> NoRows:
    """Make one HTML page from rows that commands wrote.

    RESULTS are files of rows (.csv, .jsonl, .json or .parquet), of any commands of ngramscan and
    evalcore. The page has sentences, figures, tables, methods and how the rows were made. It is one
    file that loads nothing and sends nothing.

    Parameters
    ----------
    *results : str, Path or DataFrame
        Files of rows, or data frames as the functions return them.
    title : str, optional
        Title of the page. By default it says what the rows are about.
    output : str or Path, optional
        File to write. In the terminal it is report.html by default, and - is stdout; Python writes
        no file by default.
    open : bool
        Open the page in the browser.

    Returns
    -------
    Page
        Its `html`, and `save(path)`; a notebook displays it.

    Examples
    --------
    $ ngramscan report counts.csv -o report.html
    $ ngramscan report counts.csv documents.csv comparisons.csv --title "Formulas" --open
    """
    if not results:
        raise InputError(OptionUse("results"), "expected a file of rows")
    _refuse_page_among(results)
    path = _path_of(output) if output or for_table else None
    is_stdout = for_table and str(path) == "-"
    if is_stdout and open:
        raise InputError(
            OptionUse("open"), "requires a file; leave out " + OptionUse("output", "-")
        )
    if path and not is_stdout:
        _refuse_other_formats(OptionUse("output", path), path)
        check_writable(path)
    page, notices = _make(results, title)
    if is_stdout:
        click.echo(page.html, nl=False)
    elif path:
        page.save(path)
        if open:
            webbrowser.open(path.resolve().as_uri())
    if path:
        size = format_bytes(len(page.html.encode()))
        notices[-1] = f"{path}: {notices[-1]}, {size}"
    return NoRows(notices=notices[: None if path else -1], returned=page)


def _path_of(output: str | Path | None) -> Path:
    return Path(output) if output else _FILE


def _refuse_other_formats(where: Text, path: Path) -> None:
    """Raise an InputError for a file name that does not end like a page in HTML."""
    suffix = path.suffix.lower()
    if suffix in _SUFFIXES:
        return
    cure = f"a report is a page in HTML; name it {path.with_suffix('.html').name}"
    if suffix == ".pdf":
        figure = OptionUse("figure", placeholder="FILE.pdf")
        more = "; a browser prints it as PDF, and " + figure + " of a command draws its figure"
        raise InputError(where, cure + more)
    raise InputError(where, cure)


def _refuse_page_among(tables: Sequence[Table]) -> None:
    """Raise an InputError if the name of the page was given where files of rows are expected."""
    names = [Path(table) for table in tables if isinstance(table, str | Path)]
    page = next((name for name in names if name.suffix.lower() in {".pdf", ".html", ".htm"}), None)
    if page is not None:
        cure = OptionUse("output", page.with_suffix(".html")) + " writes the page, in HTML"
        raise InputError(str(page), "not a file of rows; " + cure)


def _make(tables: Sequence[Table], title: str | None) -> tuple[Page, list[str]]:
    """Return the page of some tables, and notices; the last names the number of rows and tables."""
    from ngramscan.reporting.page.assemble import make_page
    from ngramscan.reporting.page.results import read_results

    all_results: list[Results] = []
    notices = []
    for table in tables:
        if name_of(table).endswith(SIDECAR):  # a glob names these too
            continue
        try:
            all_results.append(read_results(table))
        except NoRowsError as error:  # a search without results
            notices.append(f"{error}; the page has no section for it")
    if not all_results:
        raise InputError(OptionUse("results"), "no rows in any of them")
    made_at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    page = Page(make_page(all_results, title, made_at))
    rows = counted(sum(len(results.rows) for results in all_results), "row")
    return page, [*notices, f"{rows} of {counted(len(all_results), 'table')}"]
