"""The arguments and options of a command, read from its function's signature and numpydoc."""

from __future__ import annotations

import inspect
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args, get_origin

import click

from ngramscan.errors import InputError, nearest, some_of
from ngramscan.messages import OptionFlags, OptionUse
from ngramscan.options import CORPUS_NAME, OPTIONS, OUTPUT, Option, ValuesByCorpus
from ngramscan.progress import visible_line
from ngramscan.reading.streams import refuse_impossible
from ngramscan.reading.surrogates import find_half
from ngramscan.reporting.completion import offered
from ngramscan.reporting.overwriting import OutputPath, is_output, refuse_overwriting
from ngramscan.reporting.rows import Target, choose_target
from ngramscan.reporting.signatures import (
    helps_of,
    hints_of,
    option_of,
    signature_of,
    without_option,
)

FOR_TABLE = "for_table"
"""A parameter of this name is True where the terminal shows the designed table."""
SET_ONCE = frozenset({"index", "api_url", "journal", "concurrency", "rate", "timeout_s"})
SET_ONCE |= {"workers", "scheduler", "text_field"}
"""Options with an environment variable in the terminal: NGRAMSCAN_INDEX, NGRAMSCAN_RATE, …"""
READ_WHOLE = frozenset({"benchmark", "corpus", "counts", "data", "index", "labels", "outputs"})
READ_WHOLE |= {"paths", "patterns", "results", "scores", "tables"}
"""Names of parameters whose files are read whole, as far as `--max-bytes` lets them be."""
SHOWS_ALL = "ngramscan.shows_all"
"""The key in click's `meta` that says whether the help shows rare options and variables, too."""
_NEAREST = 1e-9
"""How near a float may come to a limit that it may not reach, so that no sum rounds to this."""
_TOO_LARGE = 2**63
"""Numbers of 64 bits are smaller."""
_METAVARS = {"integer": "N", "float": "X"}


# Reading a function


@cache
def parameters(function: Callable[..., Any]) -> Mapping[str, click.Parameter]:
    """Return the arguments and options of a command, in its order."""
    hints, helps = hints_of(function), helps_of(function)
    made = {
        parameter.name: _parameter(
            parameter, hints[parameter.name], helps[parameter.name], function.__module__
        )
        for parameter in signature_of(function).parameters.values()
        if parameter.name not in {"progress", FOR_TABLE}
    }
    # In Python an option is called by its name, in the terminal by its flag.
    options = [option for option in made.values() if isinstance(option, click.Option)]
    flags = {f"`{option.name}`": option.opts[-1] for option in options}
    for option in options:
        text = option.help or ""
        option.help = re.sub(r"`\w+`", lambda match: flags.get(match[0], match[0]), text)
    return made


class ShownOption(click.Option):
    """An option, and where the help shows it."""

    def __init__(
        self, *names: Any, heading: str = "", is_rare: bool = False, **settings: Any
    ) -> None:
        super().__init__(*names, **settings)
        self.heading, self.is_rare = heading or OUTPUT, is_rare

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return the notes in brackets; variables only if all options are shown."""
        extra = super().get_help_extra(ctx)
        if isinstance(self.type, _ByCorpus) and isinstance(self.type.part, _Integer):
            extra["range"] = self.type.part.shown_range
        if not ctx.meta.get(SHOWS_ALL):
            extra.pop("envvars", None)
        return extra


def _parameter(parameter: inspect.Parameter, hint: Any, text: str, module: str) -> click.Parameter:
    option, hint = option_of(hint), without_option(hint)
    types = [hint] if get_origin(hint) is Literal else list(get_args(hint) or [hint])
    lists = [part for part in types if get_origin(part) in (Sequence, list, tuple)]
    kind = _type([part for part in types if part not in lists], option)
    kind = _ByCorpus(kind) if option.is_by_corpus else kind
    is_several = bool(lists) or parameter.kind is parameter.VAR_POSITIONAL
    is_needed = parameter.default is parameter.empty and not option.is_optional
    if parameter.kind is not parameter.KEYWORD_ONLY and not option.flags:
        return click.Argument(
            [parameter.name],
            is_needed,
            type=kind,
            nargs=-1 if is_several else 1,
            metavar=option.metavar,
            shell_complete=offered,
        )
    flags = option.flags.split() or [f"--{parameter.name.replace('_', '-')}"]
    where: dict[str, Any] = {
        "param_decls": [parameter.name, *flags],
        "heading": option.heading or (OUTPUT if option.is_written else OPTIONS),
        "is_rare": option.is_rare,
    }
    if kind is click.BOOL:
        return ShownOption(**where, is_flag=True, help=text)
    is_listed = is_several and not option.is_verbatim
    has_default = parameter.default not in ((), "", None, parameter.empty)
    if has_default:  # None would be one
        where["default"] = [parameter.default] if is_several else parameter.default
    variable = _variable(parameter.name, option, flags, module)
    repeatable = " Repeatable, or with commas." if is_listed else " Repeatable."
    return ShownOption(
        **where,
        type=_Listed(kind) if is_listed else kind,
        multiple=is_several,
        callback=(lambda _context, _option, values: _joined(values)) if is_listed else None,
        required=is_needed,
        show_default=has_default,
        metavar=option.metavar or _metavar(kind),
        envvar=variable or None,
        show_envvar=bool(variable),
        shell_complete=offered,
        help=text + (repeatable if is_several else ""),
    )


def _metavar(kind: click.ParamType[Any]) -> str | None:
    if isinstance(kind, _ByCorpus):
        return _metavar(kind.part)
    if isinstance(kind, click.Choice):
        return f"[{'|'.join(kind.choices)}]"
    return _METAVARS.get(kind.name)


def _variable(name: str, option: Option, flags: Sequence[str], module: str) -> str | None:
    """Return the environment variable of an option, if it has one."""
    if option.envvar is None and name in SET_ONCE:
        package, flag = module.partition(".")[0], flags[-1].removeprefix("--")
        return f"{package}_{flag}".replace("-", "_").upper()
    return option.envvar


class TextType(click.types.StringParamType):
    """A text; an environment variable has several with commas between them."""

    envvar_list_splitter = ","

    def __init__(self, is_path: bool = False, is_verbatim: bool = False) -> None:
        self.is_path = is_path
        """Whether it may have the path of a file, whose name may have any bytes."""
        self.is_verbatim = is_verbatim
        """Whether white space is a text like any other."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text; bytes that aren't UTF-8, which no file of rows can hold, are refused."""
        text = super().convert(value, param, ctx)
        # What is taken as it is, or is an argument, is a phrase or the name of something, which has
        # a refusal of its own.
        if isinstance(param, click.Option) and not self.is_verbatim and not text.strip():
            refuse_empty(param)
        if not self.is_path and (at := find_half(text)) >= 0:
            _refuse(param, visible_line(text), f"not UTF-8 at character {at}; write it in UTF-8")
        return text


class _Listed(click.ParamType[Any]):
    """Values of another type, with commas between them."""

    envvar_list_splitter = ","

    def __init__(self, part: click.ParamType[Any]) -> None:
        self.part, self.name = part, part.name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Return the values of a text; those that were converted stay."""
        parts = listed(value) if isinstance(value, str) else value
        if not parts and not (param and param.required):  # its command says what it needs
            refuse_empty(param)
        return tuple(self.part.convert(part, param, ctx) for part in parts)


class _ByCorpus(click.ParamType[Any]):
    """A value of another type; or several of corpora, by name: `NAME=VALUE,NAME=VALUE`."""

    def __init__(self, part: click.ParamType[Any]) -> None:
        self.part, self.name = part, part.name
        self.choices = getattr(part, "choices", ())

    def to_info_dict(self) -> Any:
        """Return the description of the type of single values."""
        return self.part.to_info_dict()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of all corpora, or those of corpora by name."""
        if isinstance(value, ValuesByCorpus):
            return value
        is_file = isinstance(self.part, FilePath) and os.path.lexists(os.path.expanduser(value))
        if is_file or not re.search(f"(^|,){CORPUS_NAME}=", str(value)):
            return self.part.convert(value, param, ctx)
        named = ValuesByCorpus()
        for text in re.split(f",(?={CORPUS_NAME}=)", str(value)):
            match = re.match(f"({CORPUS_NAME})=", text)
            name = match[1] if match else ""
            if name in named:
                _refuse(param, value, f"two values for {name}; expected one")
            named[name] = self.part.convert(text.removeprefix(f"{name}="), param, ctx)
        return named


class _Number(click.ParamType[Any]):
    """A number in a range, which is finite and has 64 bits at most."""

    plain: click.ParamType[Any]
    """Reads the number, whatever its range."""
    min: Any
    """Limits are None if the range has none."""
    max: Any
    min_open: bool
    max_open: bool

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; one out of range is refused, with the range."""
        number = _float_of(value)
        if number is not None and not abs(number) < _TOO_LARGE:  # nan is in no range
            has_limit = self.min is None or self.max is None
            limit = ", and less than 2^63 in size" if has_limit else ""
            _refuse(param, value, f"must be {self._range() or 'a number'}{limit}")
        number = self.plain.convert(value, param, ctx)
        if not self._allows(number):
            _refuse(param, value, f"must be {self._range()}")
        return number

    def _allows(self, number: float) -> bool:
        reaches = operator.gt if self.min_open else operator.ge
        stays = operator.lt if self.max_open else operator.le
        return (self.min is None or reaches(number, self.min)) and (
            self.max is None or stays(number, self.max)
        )

    def _range(self) -> str:
        """Return the range in words; empty: any number."""
        least, most = (None if end is None else f"{end:,}" for end in (self.min, self.max))
        if least is not None and most is not None:
            return f"between {least} and {most}{self._excluded(least, most)}"
        if least is not None:
            return f"above {least}" if self.min_open else f"at least {least}"
        if most is not None:
            return f"below {most}" if self.max_open else f"at most {most}"
        return ""

    def _excluded(self, least: str, most: str) -> str:
        """Say which ends do not belong to the range."""
        if self.min_open and self.max_open:
            return ", both excluded"
        if self.min_open or self.max_open:
            return f", {least if self.min_open else most} excluded"
        return ""


class _Float(_Number, click.FloatRange):
    name = "float"  # in messages: not a valid float
    plain = click.FLOAT

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; what rounding would make a limit that it may not reach is refused."""
        number = super().convert(value, param, ctx)
        if number == 0 and math.copysign(1, number) < 0:
            _refuse(param, value, "a zero with a minus; write 0")
        for limit, is_open in ((self.min, self.min_open), (self.max, self.max_open)):
            if is_open and limit is not None and abs(number - limit) < _NEAREST:
                _refuse(param, value, f"must be {self._range()}; it is too near to {limit:g}")
        return number


class _Integer(_Number, click.IntRange):
    name = "integer"
    plain = click.INT

    @property
    def shown_range(self) -> str:
        """The range as help shows it."""
        return self._describe_range()


def _float_of(value: Any) -> float | None:
    """Return a value as a float; infinity is also an integer that none can hold."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except ValueError:
        return None  # the type says what is wrong with a text


def refuse_empty(param: click.Parameter | None) -> NoReturn:
    """Raise an InputError for an empty value, which would be taken as none at all."""
    where = OptionUse(param.name) if param and param.name else "an argument"
    raise InputError(where, "it is empty; give a value, or leave it out")


def _refuse(param: click.Parameter | None, value: Any, problem: str) -> NoReturn:
    raise InputError(_given(param, value) if param else some_of([value]), problem)


def _given(param: click.Parameter, value: Any) -> OptionUse:
    """Return an option with the value that was given, as a number if it takes numbers."""
    kind = param.type.part if isinstance(param.type, _Listed | _ByCorpus) else param.type
    text = some_of([value])
    is_number = isinstance(kind, _Number) and re.fullmatch(r"-?\d+(\.\d+)?", text, re.ASCII)
    # A decimal number is shown as it was written.
    return OptionUse(param.name or "", Decimal(text) if is_number else text)


class FilePath(click.Path):
    """A path; `~` at its start is the home folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path with the home folder in it; what no file can be called is refused."""
        path = os.path.expanduser(value)
        if path == "":
            refuse_empty(param)
        refuse_impossible(path)
        return super().convert(path, param, ctx)


class Choice(click.Choice[Any]):
    """A choice that suggests the nearest value for a wrong one, and knows other names of some."""

    def __init__(
        self,
        choices: Iterable[Any],
        case_sensitive: bool = True,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(choices, case_sensitive)
        self.aliases = aliases or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the choice."""
        meant = self.aliases.get(str(value).lower(), value)
        try:
            return super().convert(meant, param, ctx)
        except click.BadParameter:
            expected = ", ".join(self.choices) + suggestion(str(value), self.choices)
            self.fail(f"{some_of([repr(value)])} is not one of {expected}", param, ctx)


def _joined(value_lists: Iterable[Iterable[Any]]) -> tuple[Any, ...]:
    return tuple(value for values in value_lists for value in values)


def _type(types: Sequence[Any], option: Option) -> click.ParamType[Any]:
    for part in types:
        if get_origin(part) is Literal:
            return Choice(get_args(part), case_sensitive=False)
    if bool in types:
        return click.BOOL
    if Path in types:
        return FilePath(path_type=str if str in types else Path)
    if str in types or (float not in types and int not in types):
        return TextType(option.is_spec, option.is_verbatim)
    least = option.least if option.over is None else option.over
    most = option.most if option.under is None else option.under
    limits: Any = (least, most, option.over is not None, option.under is not None)
    return _Float(*limits) if float in types else _Integer(*limits)


# Checking what is given


def checked(option: click.Parameter, value: Any) -> Any:
    """Return a value as the terminal would convert it, or refuse it."""
    if value is None:
        return value
    if isinstance(option, click.Argument):
        return _checked_argument(option, value)
    if isinstance(value, Mapping) and isinstance(option.type, _ByCorpus):
        return _values_by_corpus(option, option.type.part, value)
    if isinstance(value, Mapping):
        value = _named_specs(option, value)
    is_one = not option.multiple or isinstance(value, str | Path | int | float)
    kind = option.type.part if isinstance(option.type, _Listed) else option.type
    values = []
    for entry in [value] if is_one or _is_frame(value) else value:
        is_whole = kind is option.type or _is_frame(entry)
        items = [entry] if is_whole else listed(str(entry))
        if not items and not option.required:
            refuse_empty(option)
        for item in items:
            values.append(item if _is_frame(item) else _converted(option, kind, item))
    return tuple(values) if option.multiple else values[0]


def _checked_argument(argument: click.Argument, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_checked_argument(argument, each) for each in value]
    is_path = isinstance(argument.type, FilePath) and isinstance(value, str | Path)
    return argument.type.convert(value, argument, None) if is_path else value


def _converted(option: click.Parameter, kind: click.ParamType[Any], item: Any) -> Any:
    try:
        return kind.convert(str(item), option, None)  # as typed: 1.5 is not an integer
    except click.UsageError as error:
        choice = kind.part if isinstance(kind, _ByCorpus) else kind
        if isinstance(choice, click.Choice):  # whose own message has them in lower case
            refuse_other(option.name or "", str(item), choice.choices)
        problem = error.message.removesuffix(".")
        raise InputError(_given(option, item), problem) from error


def _values_by_corpus(
    option: click.Parameter, kind: click.ParamType[Any], values: Mapping[Any, Any]
) -> ValuesByCorpus:
    """Return the values of corpora by name, as the terminal would convert each."""
    return ValuesByCorpus({name: _converted(option, kind, value) for name, value in values.items()})


def _named_specs(option: click.Parameter, values: Mapping[Any, Any]) -> list[str]:
    """Return the specs of several corpora, by name, as the terminal has them: NAME=SPEC."""
    if not (isinstance(option.type, TextType) and option.type.is_path):
        raise InputError(OptionUse(option.name or ""), "a mapping; expected a value or a list")
    for name, value in values.items():
        if not isinstance(value, str | Path):
            problem = f"{name}: expected one text for each name"
            raise InputError(OptionUse(option.name or "", some_of([value])), problem)
    return [f"{name}={value}" for name, value in values.items()]


def _is_frame(value: object) -> bool:
    """Tell whether a value is a data frame, which may replace a file."""
    return hasattr(value, "columns")


def listed(values: str | Iterable[str]) -> tuple[str, ...]:
    """Return values given one by one or with commas between them."""
    texts = [values] if isinstance(values, str) else values
    parts = (part.strip() for text in texts for part in text.split(","))
    return tuple(part for part in parts if part)


def refuse_other(option: str, values: str | Iterable[str], choices: Iterable[str]) -> None:
    """Raise an InputError for an unknown value of an option, which is named as in Python."""
    names = list(dict.fromkeys(choices))
    for value in [values] if isinstance(values, str) else values:
        if value not in names:
            problem = f"expected one of {', '.join(names)}{suggestion(value, names)}"
            raise InputError(OptionUse(option, some_of([value])), problem)


def suggestion(value: str, choices: Iterable[str]) -> str:
    """Return a hint at the value that was probably meant; empty: none is near."""
    near = nearest(value, choices)
    return f"; did you mean {near}?" if near else ""


def check_written(
    function: Callable[..., Any],
    values: Mapping[str, Any],
    output: Path | None = None,
    **settings: bool,
) -> list[Target]:
    """Return where options write further rows.

    Raise an InputError where two name the same file to write, one names a file that is read, one
    names stdout, or a file of rows or a figure can't be written.
    """
    written = [OutputPath("output", output)] if output and str(output) != "-" else []
    for name, hint in hints_of(function).items():
        value = values.get(name) if is_output(name, hint) else None
        if not value or (option_of(hint).may_be_stdout and str(value) == "-"):
            continue
        if str(value) == "-":
            raise InputError(OptionUse(name, "-"), "it can't be stdout; expected a path")
        written.append(OutputPath(name, Path(value), option_of(hint).is_folder))
    refuse_overwriting(function, values, written, settings.get("has_sidecar", False))
    if figure := values.get("figure"):
        from ngramscan.reporting.charts.files import check_target  # slow to import

        check_target(Path(figure))
    return [
        choose_target(None, Path(values[name]), name, **settings)
        for name, hint in hints_of(function).items()
        if option_of(hint).has_rows and values[name]
    ]


def flags_of(command_parameters: Iterable[click.Parameter]) -> OptionFlags:
    """Return the flags of options, and the metavariables of arguments, by their names."""
    flags = {}
    for parameter in command_parameters:
        if isinstance(parameter, click.Option):
            flags[parameter.name or ""] = parameter.opts
        else:
            metavar = parameter.human_readable_name.removesuffix("...")
            flags[parameter.name or ""] = [metavar.strip("[]")]
    return flags
