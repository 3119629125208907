"""A command's function → the same command in Python and in the terminal.

Name, type, default and help of an option stand once: in the signature and the numpydoc of the
function. Positional parameters are the command's arguments unless they have flags, and what
is given for them passes the same checks wherever it comes from. `rate : see run` repeats the help
of another command; lines of "Examples" that begin with "$ " are those of the help.

    @command
    def agreement(labels: GivenTables, *, seed: Annotated[int, Option(least=0)] = 1) -> Result:
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import click

from ngramscan.errors import IncompleteError, InputError
from ngramscan.progress import Terminal
from ngramscan.report.arguments import refuse_other, refuse_same_file, unknown_option
from ngramscan.report.options import (
    Group,
    emit,
    fail_with,
    format_option,
    keeps_nothing,
    output_options,
    progress_options,
    quiet_option,
    tell,
)
from ngramscan.report.rows import Target, choose_target, to_frame

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

P = ParamSpec("P")
_FOR_TABLE = "for_table"
"""A parameter of this name is True where the terminal shows a table, which may need more."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a command's function returns: the terminal shows it, Python gets a data frame."""

    rows: Iterable[Any]
    row_type: type
    notices: Sequence[str] = ()
    """What is to be known beside the rows."""
    failures: Sequence[str] = ()
    """What could not be done: exit code 1; in Python an IncompleteError, which has the rows."""
    heading: str = ""
    """What is to be known before the rows."""
    print_table: Callable[[Console], None] | None = None
    """How the rows are shown; None: as they are."""
    is_silent: bool = False
    """The terminal shows no rows unless `--format` says how: they are in files."""
    for_paper: tuple[Sequence[Any], type] | None = None
    """The rows, and their type, that LaTeX has; None: the same."""
    exit_code: int = 0
    """With which the command ends where nothing failed: rows may be bad news."""


class Option(NamedTuple):
    """How a parameter is given in the terminal, where name and type do not say it."""

    flags: str = ""
    """`-n`, `-e --pattern`; by default the name of the parameter."""
    metavar: str | None = None
    envvar: str | None = None
    least: float | None = None
    most: float | None = None
    over: float | None = None
    under: float | None = None
    has_commas: bool = False
    """Several values are given in one text, with commas between them."""
    is_written: bool = False
    """The path is of a file that the command writes."""
    is_shown: bool = False
    """It changes only what the terminal shows; Python does not have it."""
    is_optional: bool = False
    """An argument that takes several values may have none."""


def command(function: Callable[P, Result]) -> Callable[P, pd.DataFrame]:
    """Make the function of a command one that returns a data frame.

    An unknown option is a TypeError with the nearest name, a value that the terminal would refuse
    an InputError.
    """
    signature = inspect.signature(function)
    hidden = [name for name, hint in _hints(function).items() if _terminal(hint).is_shown]
    hidden.append(_FOR_TABLE)
    known = [one for one in signature.parameters.values() if one.name not in hidden]
    signature = signature.replace(parameters=known)

    @wraps(function)
    def called(*arguments: P.args, **options: P.kwargs) -> pd.DataFrame:
        by_name = [one.name for one in known if one.kind is not one.VAR_POSITIONAL]
        for name in options:
            if name not in by_name:
                raise unknown_option(function.__name__, name, by_name)
        bound = signature.bind(*arguments, **options)
        bound.apply_defaults()
        for name, one in parameters(called).items():
            if name in bound.arguments:
                bound.arguments[name] = one.checked(bound.arguments[name])
        _check_files(called, bound.arguments)
        result = function(*bound.args, **bound.kwargs)
        frame = to_frame(list(result.rows), result.row_type)
        if result.failures:
            raise IncompleteError("; ".join(result.failures), frame)
        return frame

    cast("Any", called).__signature__ = signature
    return called


def _check_files(
    function: Callable[..., Any], values: Mapping[str, Any], output: Path | None = None
) -> None:
    """Raise an InputError where two options name one file to write."""
    written = [one for one in parameters(function).values() if one.terminal.is_written]
    refuse_same_file({"-o": output} | {one.flag: values[one.name] for one in written})


# What a function takes


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a command's function."""

    name: str
    help: str
    default: Any
    kind: click.ParamType[Any]
    terminal: Option
    is_several: bool
    is_argument: bool
    is_needed: bool

    @property
    def flag(self) -> str:
        """Its name in the terminal."""
        flags = self.terminal.flags.split() or [f"--{self.name.replace('_', '-')}"]
        return self.name.upper() if self.is_argument else flags[-1]

    def checked(self, value: Any) -> Any:
        """Return what the terminal would make of a value; that of an argument may be a table."""
        if value is None or self.is_argument:
            return value
        if not self.is_several:
            return self._converted(value)
        given = [value] if isinstance(value, str | Path | int | float) else value
        return self.parts([self._converted(one) for one in given])

    def _converted(self, value: Any) -> Any:
        if isinstance(self.kind, click.Choice):
            named = {choice.lower(): choice for choice in self.kind.choices}
            refuse_other(self.flag, named.get(str(value).lower(), str(value)), self.kind.choices)
        try:
            return self.kind.convert(str(value), None, None)  # as typed: 1.5 is no integer
        except click.UsageError as error:
            problem = error.message.removesuffix(".")
            raise InputError(f"{self.flag} {value}", problem) from error

    def parts(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return all values where several may stand in one text."""
        if not self.terminal.has_commas:
            return tuple(values)
        parts = [part.strip() for value in values for part in value.split(",")]
        return tuple(part for part in parts if part)


@cache
def parameters(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return what a command takes, in its order: from its signature and its docstring."""
    hints, helps = _hints(function), _Document.of(function).parameters
    return {
        name: _parameter(one, hints[name], helps[name])
        for name, one in inspect.signature(_inner(function)).parameters.items()
        if name not in {"progress", _FOR_TABLE}
    }


def _inner(function: Callable[..., Any]) -> Callable[..., Result]:
    """Return the function of a command as it was written."""
    return cast("Callable[..., Result]", cast("Any", function).__wrapped__)


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    # Annotations name data frames; pandas itself is slow to import.
    data_frames = {"pd": SimpleNamespace(DataFrame=object)}
    return get_type_hints(function, localns=data_frames, include_extras=True)


def _terminal(hint: Any) -> Option:
    """Return how a parameter of this type is given in the terminal."""
    return cast("Option", get_args(hint)[1]) if get_origin(hint) is Annotated else Option()


def _parameter(one: inspect.Parameter, hint: Any, help_text: str) -> Parameter:
    terminal = _terminal(hint)
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    types = [hint] if get_origin(hint) is Literal else list(get_args(hint) or [hint])
    several = [part for part in types if get_origin(part) in (Sequence, list, tuple)]
    return Parameter(
        name=one.name,
        help=help_text,
        default=None if one.default is one.empty else one.default,
        kind=_kind([part for part in types if part not in several], terminal),
        terminal=terminal,
        is_several=bool(several) or one.kind is one.VAR_POSITIONAL,
        is_argument=one.kind is not one.KEYWORD_ONLY and not terminal.flags,
        is_needed=one.default is one.empty and not terminal.is_optional,
    )


def _kind(types: Sequence[Any], terminal: Option) -> click.ParamType[Any]:
    for part in types:
        if get_origin(part) is Literal:
            return click.Choice(get_args(part), case_sensitive=False)
    if bool in types:
        return click.BOOL
    if Path in types:
        return click.Path(path_type=Path)
    if str in types or (float not in types and int not in types):
        return click.STRING
    least, most, over, under = terminal.least, terminal.most, terminal.over, terminal.under
    if {least, most, over, under} == {None}:
        return click.FLOAT if float in types else click.INT
    limits: dict[str, Any] = {
        "min": least if over is None else over,
        "max": most if under is None else under,
        "min_open": over is not None,
        "max_open": under is not None,
    }
    return click.FloatRange(**limits) if float in types else click.IntRange(**limits)


class _Document(NamedTuple):
    """What a docstring says: its text, the help of each parameter, examples for the terminal."""

    text: str
    parameters: Mapping[str, str]
    examples: Sequence[str]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> _Document:
        text, *sections = re.split(r"^(\w+)\n-+\n", inspect.getdoc(function) or "", flags=re.M)
        body = dict(zip(sections[::2], sections[1::2], strict=True))
        examples = re.findall(r"^\$ ((?:.*\\\n)*.*)$", body.get("Examples", ""), flags=re.M)
        return cls(text.strip(), dict(_helps(function, body.get("Parameters", ""))), examples)


def _helps(function: Callable[..., Any], section: str) -> Iterator[tuple[str, str]]:
    for entry in re.split(r"\n(?=\S)", section.strip()):
        heading, _, text = entry.partition("\n")
        names, _, kind = heading.partition(" : ")
        for name in names.replace("*", "").split(", "):
            if (other := re.fullmatch(r"see (\w+)", kind)) and name != "progress":
                package = import_module(function.__module__.partition(".")[0])
                yield name, parameters(getattr(package, other[1]))[name].help
            else:
                yield name, " ".join(text.split())


# The command in the terminal


class Commands(Group):
    """The commands of a package: its functions, of which only those are imported that are used.

    Parameters
    ----------
    package : str
        Has a function of each name.
    names : sequence of str
        The commands, in their order.
    keeping : collection of str
        Those that keep what was done when they are interrupted.
    prefix : str
        How the names of the functions begin, which the commands of a group leave out.
    """

    def __init__(
        self,
        package: str,
        names: Sequence[str],
        keeping: Collection[str] = (),
        prefix: str = "",
        **options: Any,
    ) -> None:
        # Click suggests the nearest of the commands that it knows.
        super().__init__(commands={name: click.Command(name) for name in names}, **options)
        self._package, self._names, self._keeping = package, names, keeping
        self._prefix = prefix

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's own)
        """Return the names of all commands, in their order."""
        return [*self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; None: there is none of this name."""
        if cmd_name not in self._names:
            return super().get_command(ctx, cmd_name)
        function = getattr(import_module(self._package), self._prefix + cmd_name)
        return to_click(function, cmd_name in self._keeping, cmd_name)


def to_click(function: Callable[..., Any], keeps: bool, name: str | None = None) -> click.Command:
    """Return the command of the terminal that calls a function.

    Parameters
    ----------
    function : callable
        Made by `command`. One that has an option `output` writes itself.
    keeps : bool
        What was done when it was interrupted is kept.
    name : str, optional
        What the terminal calls it. By default the name of the function.
    """
    own = parameters(function)
    document = _Document.of(function)
    examples = "".join(f"\n{indent(line, '  ')}" for line in document.examples)

    def run(**values: Any) -> None:
        path = None if "output" in own else values.pop("output")
        _check_files(function, values, path)
        _run(function, values, values.pop("format_name"), path)

    takes_progress = "progress" in inspect.signature(function).parameters
    decorated = progress_options(run) if takes_progress else quiet_option(run)
    decorated = format_option(decorated) if "output" in own else output_options(decorated)
    return click.command(
        name=name or function.__name__,
        params=[_to_click(one, own) for one in own.values()],
        help=document.text + f"\n\n\b\nExamples:{examples}" * bool(examples),
    )(decorated if keeps else keeps_nothing(decorated))


def _run(
    function: Callable[..., Any], values: dict[str, Any], format_name: str | None, path: Path | None
) -> None:
    target = choose_target(format_name, path)
    quiet, verbose = values.pop("quiet"), values.pop("verbose", None)
    for name, one in parameters(function).items():
        if one.is_several and not one.is_argument:
            values[name] = one.parts(values[name] or ())
    arguments: list[Any] = []
    kinds = inspect.signature(_inner(function)).parameters
    for name, one in parameters(function).items():
        if one.is_argument:
            given = values.pop(name)
            arguments += given if kinds[name].kind is inspect.Parameter.VAR_POSITIONAL else [given]
    if _FOR_TABLE in kinds:
        values[_FOR_TABLE] = target.format == "table"
    if verbose is None:
        result = _inner(function)(*arguments, **values)
    else:
        with Terminal(quiet, verbose) as progress:
            result = _inner(function)(*arguments, **values, progress=progress)
    _show(result, target, quiet, is_asked=bool(format_name))


def _show(result: Result, target: Target, quiet: bool, is_asked: bool) -> None:
    is_table = target.format == "table"
    if result.heading and (is_table or not quiet):
        click.echo(result.heading, err=not is_table)
    rows, row_type = result.rows, result.row_type
    if target.format == "latex" and result.for_paper:
        rows, row_type = result.for_paper
    if not result.is_silent or (is_asked and (rows := list(rows))):
        emit(list(rows), row_type, target, result.print_table)
    tell(result.notices, quiet)
    fail_with(result.failures)
    click.get_current_context().exit(result.exit_code)


_METAVARS = {"integer": "N", "integer range": "N", "float": "X", "float range": "X"}


def _to_click(one: Parameter, every: Mapping[str, Parameter]) -> click.Parameter:
    if one.is_argument:
        number = -1 if one.is_several else 1
        return click.Argument(
            [one.name],
            type=one.kind,
            nargs=number,
            required=one.is_needed,
            metavar=one.terminal.metavar,
        )
    is_flag = one.kind is click.BOOL
    # In Python an option is called by its name, in the terminal by its flag.
    choices = f"[{'|'.join(one.kind.choices)}]" if isinstance(one.kind, click.Choice) else None
    text = re.sub(r"`(\w+)`", lambda n: every[n[1]].flag if n[1] in every else n[0], one.help)
    default = None if one.default in ((), "", None) else one.default
    # What is needed has no default, not even None.
    given: dict[str, Any] = {}
    if not one.is_needed:
        several = [default] if one.is_several and default else default
        given["default"] = False if is_flag else several
    return click.Option(
        [one.name, *(one.terminal.flags.split() or [one.flag])],
        type=None if is_flag else one.kind,
        is_flag=is_flag,
        multiple=one.is_several,
        **given,
        required=one.is_needed,
        show_default=not is_flag and default is not None,
        metavar=one.terminal.metavar or choices or _METAVARS.get(one.kind.name),
        envvar=one.terminal.envvar,
        show_envvar=bool(one.terminal.envvar),
        help=text + " Repeatable." * (one.is_several and not one.terminal.has_commas),
    )
