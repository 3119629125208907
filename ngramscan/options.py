"""How the options of commands are declared: next to a type, or as the fields of a dataclass.

Several commands share the fields of a dataclass. Its class variable `heading` names their group in
the help, and the section Parameters of its docstring has their texts:

    @command
    def count(*patterns: str, **options: Annotated[Any, Shared(PatternOptions)]) -> Result[Row]:
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

OPTIONS, WHAT, WHERE = "Options", "Texts to look for", "Where to look"
READING, SERVICE, OUTPUT = "Reading files", "Services and index files", "Output"
HEADINGS = (OPTIONS, WHAT, WHERE, READING, SERVICE, OUTPUT)
"""The groups of options, in the order of the help."""


CORPUS_NAME = r"[A-Za-z0-9_.-]+"
"""A regular expression of what a user can call a corpus."""


class Option(NamedTuple):
    """How the terminal takes a parameter, where its name and type don't say it."""

    flags: str = ""
    """`-n`, `-e --pattern`; by default the name of the parameter."""
    metavar: str | None = None
    envvar: str | None = None
    """None: a variable if the option is in SET_ONCE; empty: no variable."""
    least: float | None = None
    most: float | None = None
    over: float | None = None
    under: float | None = None
    heading: str = ""
    """The group of options in the help; by default the group of the dataclass."""
    is_rare: bool = False
    """Only `--help-all` shows it."""
    is_verbatim: bool = False
    """A comma is a part of the value; several values are given one by one."""
    is_written: bool = False
    """The path is of a file that the command writes."""
    is_folder: bool = False
    """The path is of a folder for several files that the command writes."""
    is_spec: bool = False
    """The text names a corpus or an index, as after `--index`."""
    suffixes: tuple[str, ...] = (".jsonl", ".json", ".eval")
    """Those of the files that are read where the path is a folder."""
    has_rows: bool = False
    """It is a file of rows, which the command returns as one of the `files` of its result."""
    may_be_stdout: bool = False
    """The path `-` is standard output."""
    is_shown: bool = False
    """Only for the terminal: it changes what is shown. Python doesn't have it."""
    is_optional: bool = False
    """An argument for several values that may be left out."""
    is_by_corpus: bool = False
    """Corpora may have values of their own, `NAME=VALUE`, by their names in `--index`."""


class ValuesByCorpus(dict[str, Any]):
    """The values of one option by the names of corpora; the empty name stands for all others."""


LONGEST_S = 1_000_000
"""The longest time that an option takes, in seconds: more than a week, and all clocks take it."""
FASTEST = 1_000_000
"""The most requests per second that an option takes."""

Level = Annotated[float, Option(over=0, under=1)]
NewFile = Annotated[str | Path | None, Option(metavar="FILE", is_written=True)]
ShowAll = Annotated[bool, Option("--all", heading=OUTPUT, is_shown=True)]
"""Whether the terminal shows all tables instead of the summary."""
RowsFile = Annotated[str | Path | None, Option(metavar="FILE", is_written=True, has_rows=True)]


class Shared(NamedTuple):
    """Annotates `**options`: the command has the fields of a dataclass as options."""

    options: type
    without: tuple[str, ...] = ()
    """Fields that the command does not have."""


class RowTypes:
    """Annotates the result of a command with the types of its rows, which are slow to import.

    Each is named in full, as `ngramscan.prevalence.count.CountRow`.
    """

    def __init__(self, *names: str) -> None:
        self.names = names
