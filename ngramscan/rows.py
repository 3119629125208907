"""The columns of rows, and the kinds of rows that commands write.

A row type says it once, by the types of its fields and by its kind; screens, pages, files and
figures ask the row type.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Scale = Literal["log", "linear", "share"]
DisplayUnit = Literal["number", "percent", "points"]
"""How a number is shown: as it is, or a fraction in percent or in percentage points."""
NoteScope = Literal["query", "index", "general"]
"""A note holds for one query in one index, for everything that was counted in an index, or for all
rows that have it, in any index. Tables print general notes once, notes on an index with its name,
and leave notes on a query to its row."""
_RowType = TypeVar("_RowType", bound=type)
_KINDS: dict[type, RowKind] = {}
"""The kinds of the row types that have been imported."""
_COLUMNS: dict[type, RowColumns] = {}


@dataclass(frozen=True, slots=True)
class Shown:
    """The unit in which a number is shown."""

    unit: DisplayUnit


@dataclass(frozen=True, slots=True)
class Role:
    """The purpose of a column."""

    name: Literal["label", "p-value"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The columns of a value's interval, where they are not `NAME_low` and `NAME_high`."""

    low: str
    high: str


@dataclass(frozen=True, slots=True)
class PlainIf:
    """Where a share is a plain number instead: in rows with this value in another column."""

    column: str
    value: str


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a column, where it is not its name with spaces."""

    text: str


LABEL = Role("label")
P_VALUE = Role("p-value")
Label = Annotated[str, LABEL]
"""A name that tells rows apart."""
Share = Annotated[float, Shown("percent")]
"""A fraction, which screens and pages show in percent."""
Points = Annotated[float, Shown("points")]
"""A difference of fractions, which screens and pages show in percentage points."""
PValue = Annotated[float, P_VALUE]
HolmP = Annotated[PValue, Heading("p (Holm)")]
"""A p-value that is adjusted for the other tests of its family, by Holm."""
AdjustedP = Annotated[PValue, Heading("p (adjusted)")]
BenjaminiHochbergP = Annotated[PValue, Heading("p (Benjamini–Hochberg)")]
UnknownCount = Annotated[int, Heading("unknown results")]
UnansweredCount = Annotated[int, Heading("without an answer")]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a number, such as how it differs from an exact one."""

    text: str
    scope: NoteScope


def join_notes(notes: Iterable[Note]) -> str:
    """Return the text of some notes, as the column `note` of a row has it."""
    return "; ".join(note.text for note in notes)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of rows, as their type describes it."""

    name: str
    heading: str
    is_number: bool = False
    """Whether it holds numbers or truth values; others are text, though they may look like
    numbers."""
    is_text: bool = False
    """Whether an empty text is a value, since there is always one."""
    unit: DisplayUnit = "number"
    plain_if: PlainIf | None = None
    role: Role | None = None
    limits: tuple[str, str] = ("", "")
    """The columns of its interval; empty: rows have none."""

    def unit_in(self, rows: Iterable[Mapping[str, Any]]) -> DisplayUnit:
        """Return how some rows show the column: fractions in percent, as on the screen."""
        plain_if = self.plain_if
        if plain_if and any(row.get(plain_if.column) == plain_if.value for row in rows):
            return "number"
        return self.unit


class RowColumns:
    """The columns of a row type, in the order of its fields; files may have further ones."""

    def __init__(self, row_type: type) -> None:
        self.row_type = row_type

    @cached_property
    def _known(self) -> Mapping[str, Column]:
        # Names in annotations are there once the module of the row type has been imported.
        hints = get_type_hints(self.row_type, include_extras=True)
        return {name: _column(name, hint, hints.keys()) for name, hint in hints.items()}

    def __iter__(self) -> Iterator[Column]:
        return iter(self._known.values())

    def __getitem__(self, name: str) -> Column:
        """Return a column; of one that the row type lacks, a column of texts."""
        return self._known.get(name) or Column(name, _heading(name))

    def names(self) -> list[str]:
        """Return the names of the columns that the row type has."""
        return [*self._known]


def columns_of(row_type: type) -> RowColumns:
    """Return the columns of a row type, which are read off its annotations once."""
    if row_type not in _COLUMNS:
        _COLUMNS[row_type] = RowColumns(row_type)
    return _COLUMNS[row_type]


def _column(name: str, hint: object, names: Collection[str]) -> Column:
    types, notes = _unfolded(hint)
    headings = [note.text for note in notes if isinstance(note, Heading)]
    limits = [(note.low, note.high) for note in notes if isinstance(note, Limits)]
    ends = limits[-1] if limits else (f"{name}_low", f"{name}_high")
    return Column(
        name,
        heading=headings[-1] if headings else _heading(name),
        is_number=bool({int, float, bool} & types),
        is_text=types == {str},
        unit=next((note.unit for note in notes if isinstance(note, Shown)), "number"),
        plain_if=next((note for note in notes if isinstance(note, PlainIf)), None),
        role=next((note for note in notes if isinstance(note, Role)), None),
        limits=ends if {*ends} <= {*names} else ("", ""),
    )


def _heading(name: str) -> str:
    return name.replace("_", " ")


def _unfolded(hint: object) -> tuple[set[object], list[object]]:
    """Return the plain types of a column, and its annotations."""
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        types, inner_notes = _unfolded(inner)
        return types, [*inner_notes, *notes]
    if get_origin(hint) in {Union, UnionType}:
        parts = [_unfolded(part) for part in get_args(hint)]
        return (
            {plain for types, _ in parts for plain in types},
            [note for _, notes in parts for note in notes],
        )
    if get_origin(hint) is Literal:
        return {type(value) for value in get_args(hint)}, []
    return {hint}, []


@dataclass(frozen=True, slots=True)
class Plot:
    """The figure of a kind: a value with its interval for each row, by the names of columns."""

    value: str
    panel: tuple[str, ...] = ()
    """One panel for each combination of these."""
    label: tuple[str, ...] = ()
    """The name of a row within a panel."""
    scale: Scale = "linear"
    series: str = ""
    """Colour and mark; empty: all the same."""
    across: str = ""
    """The column of the other axis; empty: the labels, one below the other."""
    aside: str = ""
    """Text next to the label, with columns in braces: `{with_marker} of {outputs}`."""
    sides: tuple[str, str] = ("", "")
    """The words for values below and above no difference, with columns in braces."""
    value_name: str = ""
    """The name of its values where it is not the heading of their column."""
    has_limits: bool = True
    """False: no value has an interval, though there are columns for its limits."""
    columns: RowColumns = field(default=RowColumns(object), repr=False)
    """Those of the rows that it shows; `row_kind` puts them there."""

    @property
    def heading(self) -> str:
        """Return the name of its values."""
        return self.value_name or self.columns[self.value].heading

    @property
    def limits(self) -> tuple[str, str]:
        """Return the columns of the value's interval; empty names: there is none."""
        return self.columns[self.value].limits if self.has_limits else ("", "")

    @property
    def across_limits(self) -> tuple[str, str]:
        """Return the columns of the interval on the other axis; empty names: there is none."""
        return self.columns[self.across].limits

    @property
    def drawn(self) -> tuple[str, ...]:
        """Return the columns of numbers that it shows."""
        names = (self.value, *self.limits, self.across, *self.across_limits)
        return tuple(name for name in names if name)


@dataclass(frozen=True)
class RowKind:
    """A kind of rows that commands write and that `report` recognises."""

    name: str
    """As the command or its option calls it: `count`, `blend --presence`."""
    title: str
    """As a heading of the page."""
    columns: RowColumns
    plots: tuple[Plot, ...] = ()
    """Its figures: each shows the rows that have its values."""
    key: tuple[str, ...] = ()
    """Columns that all rows of this kind have, besides labels and columns of figures."""
    may_lack: frozenset[str] = frozenset()
    """Columns that a data frame lacks where no row has a value; readers complete them."""
    counts: str = ""
    """The column that counts something for each value of another column, such as a problem."""
    adds_up: bool = False
    """Whether the counts of several rows add up, as they are of different things."""
    if_absent: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The values of columns that files of earlier versions don't have."""

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Return the columns that distinguish rows, in the order in which they are shown."""
        return tuple(column.name for column in self.columns if column.role is LABEL)

    @cached_property
    def needs(self) -> frozenset[str]:
        """Return the columns that only these rows have together."""
        return frozenset(
            {*self.labels, *self.key, *(name for plot in self.plots for name in plot.drawn)}
        )

    @property
    def marks(self) -> frozenset[str]:
        """Return the columns by which its rows are recognised."""
        return self.needs - self.may_lack

    @property
    def methods(self) -> str:
        """Return the template that says how the numbers were made, without its suffix.

        Options of a command share its text: `blend --presence` is explained with `blend`.
        """
        return self.name.split(maxsplit=1)[0]


def row_kind(
    name: str,
    title: str,
    *plots: Plot,
    key: tuple[str, ...] = (),
    may_lack: tuple[str, ...] = (),
    counts: str = "",
    adds_up: bool = False,
    if_absent: Mapping[str, str] | None = None,
) -> Callable[[_RowType], _RowType]:
    """Make a row type say which kind of rows it is; see `RowKind` for the arguments."""

    def decorate(row_type: _RowType) -> _RowType:
        columns = columns_of(row_type)
        _KINDS[row_type] = RowKind(
            name,
            title,
            columns,
            plots=tuple(replace(plot, columns=columns) for plot in plots),
            key=key,
            may_lack=frozenset(may_lack),
            counts=counts,
            adds_up=adds_up,
            if_absent=if_absent or {},
        )
        return row_type

    return decorate


def kind_of_type(row_type: type) -> RowKind | None:
    """Return the kind of a row type, or of the type that it extends; None if it has no kind."""
    return next((_KINDS[parent] for parent in row_type.__mro__ if parent in _KINDS), None)
