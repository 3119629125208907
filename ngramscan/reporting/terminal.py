"""The functions of commands in the terminal: groups, help, rows on stdout, exit codes."""

from __future__ import annotations

import fcntl
import inspect
import locale
import os
import re
import shlex
import signal
import stat
import sys
import termios
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from textwrap import indent
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from ngramscan.errors import InputError, NgramscanError, nearest, some_of
from ngramscan.messages import OptionFlags, OptionUse, counted, in_terminal
from ngramscan.options import HEADINGS, OUTPUT
from ngramscan.progress import Terminal, open_console, visible, visible_line
from ngramscan.reading.streams import MAX_BYTES, name_of
from ngramscan.reading.versions import one_version_each
from ngramscan.reporting.command import NoRows, Result, write_files
from ngramscan.reporting.completion import offered
from ngramscan.reporting.files import TAKES_NO_MORE
from ngramscan.reporting.options import (
    FOR_TABLE,
    READ_WHOLE,
    SHOWS_ALL,
    Choice,
    FilePath,
    ShownOption,
    TextType,
    check_written,
    flags_of,
    parameters,
    refuse_other,
)
from ngramscan.reporting.provenance import Run, typed_command
from ngramscan.reporting.rows import (
    FOR_READERS,
    FORMAT_ALIASES,
    FORMATS,
    Target,
    choose_target,
    ordered_places,
    to_bytes,
    write_content,
)
from ngramscan.reporting.signatures import columns_of, hints_of, sections_of, signature_of
from ngramscan.reporting.synonyms import (
    ASCENDING_FLAGS,
    DESCENDING_FLAGS,
    Synonyms,
    column_meant,
    cure_of_option,
    filled_in,
    has_direction,
    with_hyphens,
    with_underscores,
)

_LONGEST_LINE = 10_000
_UNREAD = 128 + signal.SIGPIPE
"""Exit code where the reader of stdout is gone, as shells have it."""
_TYPED = "ngramscan.typed"
"""The key of the arguments as they were typed, in click's `meta`."""
_FOR_ARGUMENT = "taken_for_the_argument"
"""The name under which the parser notes values of flags that stand for a command's argument."""


class Commands(click.Group):
    """The commands of a package: its functions, each imported when it is used.

    In `module`, `{}` is the name of a command. Anticipated errors end a command with one line. The
    commands in `keeping` keep what was done when they are interrupted. In a group, the names of
    the functions begin with `prefix`. The function `complete` of the module `completions` says
    what shells offer; `synonyms` has what users of other tools type. The function `is_corpus` of
    the module `corpora` tells which arguments are corpora to read, although no `--index` names
    them.
    """

    def __init__(
        self,
        module: str,
        names: Sequence[str],
        keeping: Collection[str] = (),
        prefix: str = "",
        completions: str = "",
        synonyms: Synonyms | None = None,
        corpora: str = "",
        **options: Any,
    ) -> None:
        # Click suggests the nearest of the commands that it knows.
        super().__init__(commands={name: click.Command(name) for name in names}, **options)
        self._module, self._names, self._keeping = module, names, keeping
        self._prefix, self.completions = prefix, completions
        self.synonyms, self.corpora = synonyms or Synonyms(), corpora

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's own)
        """Return the names of all commands, in their order."""
        return [*self.commands]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return the names that begin so; click itself would import every command."""
        named = [CompletionItem(name) for name in self.commands if name.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; None: no command has this name."""
        if cmd_name not in self._names:
            return super().get_command(ctx, cmd_name)
        module = import_module(self._module.format(cmd_name))
        return to_click(getattr(module, self._prefix + cmd_name), cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that was typed or meant; say what to type if there is none."""
        for words, cure_of_words in self.synonyms.phrase_cures.items():
            if _begins_with(args, words):
                raise InputError(" ".join(words), f"no such command; {cure_of_words}")
        for words, meant in self.synonyms.phrase_aliases.items():
            if _begins_with(args, words):
                args = [*meant, *args[len(words) :]]
                break
        typed = args[0]
        name = self.synonyms.command_aliases.get(typed, typed)
        if cure := self.synonyms.command_cures.get(name):
            raise InputError(typed, f"no such command; {cure}")
        is_unknown = name not in self.commands and not name.startswith("-")
        if is_unknown and not nearest(name, self.commands):
            if not self.synonyms.default_command:
                names = ", ".join(self.commands)
                raise InputError(some_of([typed]), f"no such command; expected one of {names}")
            return super().resolve_command(ctx, [self.synonyms.default_command, *args])
        return super().resolve_command(ctx, [name, *args[1:]])

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Run in UTF-8, whatever the locale says: patterns, texts and names of files are UTF-8.

        A workaround: UTF-8 mode can't be switched on in a running interpreter, so the process is
        replaced by one that starts with `-X utf8`.
        """
        if not arguments and not sys.flags.utf8_mode and locale.getencoding().lower() != "utf-8":
            os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
        return super().__call__(*arguments, **options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and keep them as they were typed."""
        ctx.meta.setdefault(_TYPED, [*args])  # a group within a group has only the rest
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            cure = f"options follow the command: {ctx.command_path} COMMAND {error.option_name}"
            raise click.UsageError(f"{error.message[:-1]}; {cure}", ctx) from error
        except BrokenPipeError:
            _discard_stdout()
            ctx.exit(_UNREAD)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; translate errors into the exit codes of the documentation."""
        try:
            result = self._invoke_command(ctx)
            sys.stdout.flush()  # a full disk may show only here
            return result
        except NgramscanError as error:
            _say(f"Error: {error}{''.join(getattr(error, '__notes__', ()))}")
            ctx.exit(error.exit_code)
        except OSError as error:
            is_unread = isinstance(error, BrokenPipeError)  # as before `head`
            if not is_unread and error.errno not in TAKES_NO_MORE:
                raise
            if not is_unread:
                _say(f"Error: stdout: can't be written ({os.strerror(error.errno or 0).lower()})")
            _discard_stdout()
            ctx.exit(_UNREAD if is_unread else 1)
        except MemoryError:
            _say("Error: out of memory; process less at once, or use a machine with more")
            ctx.exit(1)
        except KeyboardInterrupt as error:
            resume_hint = "what was done is kept: run the same command again."
            is_kept = ctx.invoked_subcommand in self._keeping
            notes = "".join(getattr(error, "__notes__", ()))
            _say(f"Interrupted; {notes or (resume_hint if is_kept else 'nothing was kept.')}")
            ctx.exit(130)

    def _invoke_command(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            message = error.format_message()
            if len(message) <= _LONGEST_LINE:
                raise
            raise click.UsageError(_shortened(message), error.ctx) from error


def _begins_with(arguments: Sequence[str], words: Sequence[str]) -> bool:
    """Tell whether these words come first, and the later ones are not names of files."""
    is_begun = [*arguments[: len(words)]] == [*words]
    return is_begun and not any(os.path.exists(word) for word in words[1:])


def _discard_stdout() -> None:
    """Let the rest of the output go nowhere, so that the process can end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Command(click.Command):
    """A command whose help has its options in groups; the rare ones only with `--help-all`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters; `--help-all` is the last of them."""
        return [*super().get_params(ctx), _HELP_ALL]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; if several are missing, say all of them."""
        typed = [*args]
        ctx.allow_extra_args = True  # they are refused below, with what was probably meant
        try:
            extra = super().parse_args(ctx, self._with_argument(ctx, args))
            if ctx.resilient_parsing:
                return extra
            self._refuse_contradictions(ctx, typed)
            self._refuse_flag_as_file(ctx)
            extra = self._take_files(ctx, extra)
            if extra:
                raise click.UsageError(self._describe_extra(ctx, extra), ctx)
            return extra
        except click.NoSuchOption as error:
            if cure := _cure_of_option(ctx, error.option_name, typed):
                raise InputError(error.option_name, f"no such option; {cure}") from error
            flags = [flag for option in self.get_params(ctx) for flag in option.opts]
            raise click.NoSuchOption(error.option_name, possibilities=flags, ctx=ctx) from error
        except click.MissingParameter:
            typed_values, _, _ = self.make_parser(ctx).parse_args(typed)
            required = [option for option in self.get_params(ctx) if option.required]
            missing = [each for each in required if _is_missing(each, ctx, typed_values)]
            if len(missing) < 2:
                raise
            names = ", ".join(each.get_error_hint(ctx) for each in missing)
            raise click.UsageError(f"Missing {names}.", ctx) from None

    def _refuse_contradictions(self, ctx: click.Context, typed: Sequence[str]) -> None:
        """Raise an InputError where a flag that changes nothing contradicts another."""
        satisfied_options = _synonyms(ctx).satisfied_options
        typed_values, _, typed_options = self.make_parser(ctx).parse_args([*typed])
        _refuse_two_names(typed_options)
        self._turn_around(ctx, [flag for flag in _ORDER_FLAGS if _taken(flag) in typed_values])
        for flag, satisfied in satisfied_options.items():
            opposite = self._option_of(satisfied.contradicts)
            if _taken(flag) in typed_values and opposite and ctx.params.get(opposite.name or ""):
                raise InputError(flag, f"not allowed with {satisfied.contradicts}")

    @staticmethod
    def _turn_around(ctx: click.Context, order_flags: Sequence[str]) -> None:
        """Let rows be sorted as flags after `--sort` say."""
        if not order_flags:
            return
        flag, column = order_flags[0], ctx.params.get("sort")
        if not column:
            raise InputError(flag, "requires " + OptionUse("sort", placeholder="COLUMN"))
        if has_direction(column):
            sorted_so = OptionUse("sort", column)
            raise InputError(flag, "not allowed with " + sorted_so + ", which has an order")
        if len(order_flags) > 1:
            raise InputError(flag, f"not allowed with {order_flags[1]}")
        if flag in DESCENDING_FLAGS:
            ctx.params["sort"] = f"-{column}"

    def _refuse_flag_as_file(self, ctx: click.Context) -> None:
        """Raise an InputError where `-o` took an option for its file, as after `-io` of grep."""
        output = str(ctx.params.get("output") or "")
        if self._option_of(output) and not os.path.exists(output):
            writes_rows = OptionUse("output", placeholder="FILE") + " writes the rows"
            problem = f"{output} is an option; " + writes_rows + ", without it they are printed"
            raise InputError(OptionUse("output", output), problem)

    def _sole_argument(self) -> click.Argument | None:
        """Return the argument of a command that has only one; None: it has another number."""
        arguments = [each for each in self.params if isinstance(each, click.Argument)]
        return arguments[0] if len(arguments) == 1 else None

    def _with_argument(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return arguments with those before them that were typed after a flag."""
        if ctx.resilient_parsing or not self._sole_argument():
            return args
        typed_values, _, _ = self.make_parser(ctx).parse_args([*args])
        return [*typed_values.get(_FOR_ARGUMENT, ()), *args]

    def _take_files(self, ctx: click.Context, extra: list[str]) -> list[str]:
        """Take arguments that can only be files of an option as its values; return the others."""
        index = self._option_of("--index")
        if index:
            patterns = ctx.params.get("patterns") or ()
            corpora = [value for value in patterns if _is_corpus(ctx, value)]
            texts = [value for value in patterns if value not in corpora]
            if corpora and (texts or ctx.params.get("literal") or ctx.params.get("literals_file")):
                ctx.params["patterns"] = tuple(texts)
            else:
                corpora = []
            if extra and all(_is_corpus(ctx, value) for value in extra):
                corpora, extra = [*corpora, *extra], []
            if corpora:
                self._add_indexes(ctx, index, corpora)
        is_taken = len(extra) == 1 and self._take_questions(ctx, extra[0])
        return [] if is_taken else extra

    def _take_questions(self, ctx: click.Context, argument: str) -> bool:
        """Take an argument as the file of the questions or as the name of their benchmark.

        Return whether it can be one.
        """
        data, dataset = self._option_of("--data"), self._option_of("--dataset")
        if data is None or ctx.params[data.name or ""]:
            return False
        has_arguments = any(isinstance(each, click.Argument) for each in self.params)
        if has_arguments and os.path.isfile(argument):
            self._set(ctx, data, argument)
            if not ctx.params.get("quiet"):
                _say(f"the questions are those of --data {shlex.quote(argument)}")
            return True
        if has_arguments:
            return False
        if os.path.exists(argument):
            self._set(ctx, data, argument)
            return True
        if dataset and not ctx.params[dataset.name or ""] and argument in _benchmarks(ctx):
            self._set(ctx, dataset, argument)
            return True
        return False

    @staticmethod
    def _set(ctx: click.Context, option: click.Option, value: str) -> None:
        """Let an option have a value as if it had been typed after its flag."""
        name = option.name or ""
        ctx.params[name] = option.type_cast_value(ctx, value)
        ctx.set_parameter_source(name, ParameterSource.COMMANDLINE)

    @staticmethod
    def _add_indexes(ctx: click.Context, index: click.Parameter, corpora: Sequence[str]) -> None:
        """Let a command read corpora as if `--index` named them, besides those that it names."""
        name = index.name or ""
        is_named = ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
        named_corpora = _members(ctx.params[name]) if is_named else ()
        all_corpora = [*named_corpora, *corpora]
        ctx.params[name] = index.type_cast_value(ctx, tuple(all_corpora))
        ctx.set_parameter_source(name, ParameterSource.COMMANDLINE)

    def _option_of(self, flag: str) -> click.Option | None:
        """Return the option that has a flag; None: there is none."""
        options = (each for each in self.params if isinstance(each, click.Option))
        return next((option for option in options if flag in option.opts), None)

    def _describe_extra(self, ctx: click.Context, extra: Sequence[str]) -> str:
        """Return the message about arguments that a command does not take."""
        flags = {flag for option in self.params for flag in option.opts}
        path = shlex.quote(extra[0])
        if "--index" in flags:
            cure = f"; to look in it: --index scan:{path}"
        elif "--data" in flags:
            cure = f"; if it has the questions: --data {path}"
            if "--dataset" in flags and not os.path.exists(extra[0]):
                cure += f"; benchmarks by name: {', '.join(_benchmarks(ctx))}"
        elif "--against" in flags:
            cure = "; methods are named by --of NAME --against NAME"
        else:
            cure = ""
        noun = "argument" if len(extra) == 1 else "arguments"
        return f"Got unexpected extra {noun} ({' '.join(extra)}){cure}"

    def make_parser(self, ctx: click.Context) -> Any:
        """Return the parser, which also knows the names that other tools have for options."""
        parser = super().make_parser(ctx)
        options = {
            flag: option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            for flag in option.opts
        }
        synonyms = _synonyms(ctx)
        aliases = _aliases(options, synonyms)
        for alias, meant in aliases.items():
            hidden_option = copy(options[meant])
            hidden_option.opts = [alias]
            hidden_option.add_to_parser(parser, ctx)
        for taken_option in self._taken_options(options, synonyms):
            if not aliases.keys() & {*taken_option.opts}:
                taken_option.add_to_parser(parser, ctx)
        return parser

    def _taken_options(
        self, options: Collection[str], synonyms: Synonyms
    ) -> Iterator[click.Option]:
        """Yield options that no help lists: of no effect, for an order, or for the argument."""
        for flag, satisfied in synonyms.satisfied_options.items():
            if satisfied.where in options and flag not in options:
                spellings = dict.fromkeys([flag, with_underscores(flag)])
                is_flag = not satisfied.takes_value
                yield click.Option([*spellings, _taken(flag)], is_flag=is_flag)
        for flag in _ORDER_FLAGS:
            if "--sort" in options and flag not in options:
                yield click.Option([flag, _taken(flag)], is_flag=True)
        for flag in self._flags_for_argument(synonyms):
            if flag not in options:
                yield click.Option([flag, _FOR_ARGUMENT], multiple=True)

    def _flags_for_argument(self, synonyms: Synonyms) -> set[str]:
        """Return the flags before a value that is the argument of the command."""
        argument = self._sole_argument()
        if argument is None or not argument.name:
            return set()
        flags = [f"--{argument.name.replace('_', '-')}"]
        for flag, names in synonyms.argument_aliases.items():
            if argument.name in names:
                flags.append(flag)
        spellings = [with_underscores(flag) for flag in flags]
        return {*flags, *spellings}

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the arguments; errors name options by their flags."""
        with self._naming_flags():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors name options by their flags."""
        with self._naming_flags():
            return super().invoke(ctx)

    @contextmanager
    def _naming_flags(self) -> Iterator[None]:
        try:
            yield
        except NgramscanError as error:
            error.name_flags(flags_of(self.params))
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        groups: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for option in self.get_params(ctx):
            is_rare = getattr(option, "is_rare", False) and not ctx.meta.get(SHOWS_ALL)
            record = None if is_rare else option.get_help_record(ctx)
            if record and isinstance(option, click.Option):  # arguments are in the text
                groups[getattr(option, "heading", OUTPUT)].append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records, col_max=25)


def _taken(flag: str) -> str:
    """Return the name under which the parser notes a flag that changes nothing."""
    return "taken_" + re.sub(r"\W", "_", flag)


_ORDER_FLAGS = (*DESCENDING_FLAGS, *ASCENDING_FLAGS)


def _aliases(options: Collection[str], synonyms: Synonyms) -> dict[str, str]:
    """Return names of other tools for the options of a command, with the flags they stand for."""
    aliases = dict(synonyms.option_aliases)
    for alias in [*options, *aliases]:
        if alias.startswith("--"):
            aliases.setdefault(with_underscores(alias), aliases.get(alias, (alias,)))
    meant_flags = {
        alias: next((flag for flag in flags if flag in options), "")
        for alias, flags in aliases.items()
        if alias not in options
    }
    return {alias: meant for alias, meant in meant_flags.items() if meant}


def _refuse_two_names(typed_options: Sequence[click.Parameter]) -> None:
    """Raise an InputError where an option with one value was typed under two names."""
    flags: dict[str, list[str]] = {}
    for option in typed_options:
        if isinstance(option, click.Option) and not option.is_flag and not option.multiple:
            other_flags = flags.setdefault(option.name or "", option.opts)
            if option.opts != other_flags:
                problem = f"not allowed with {other_flags[-1]}, which is the same option"
                raise InputError(option.opts[-1], problem)


def _benchmarks(ctx: click.Context) -> list[str]:
    """Return the names of benchmarks that a package has; none if it has no such option."""
    group = ctx.find_root().command
    if not isinstance(group, Commands) or not group.completions:
        return []
    complete = import_module(group.completions).complete
    return sorted(complete("dataset", {}, "") or ())


def _is_corpus(ctx: click.Context, argument: object) -> bool:
    """Tell whether an argument is a corpus, which a command may read without its option."""
    group = ctx.find_root().command
    if not isinstance(group, Commands) or not group.corpora:
        return False
    return bool(import_module(group.corpora).is_corpus(argument))


def _synonyms(ctx: click.Context) -> Synonyms:
    """Return the synonyms of the package that a command belongs to."""
    group = ctx.find_root().command
    return group.synonyms if isinstance(group, Commands) else Synonyms()


def _cure_of_option(ctx: click.Context, guess: str, typed: Sequence[str]) -> str:
    """Return what to type instead of an unknown option; empty: nothing is known of it."""
    flags = frozenset(flag for option in ctx.command.get_params(ctx) for flag in option.opts)
    synonyms, value = _synonyms(ctx), _typed_value(guess, typed)
    guess = with_hyphens(guess)
    if cure := cure_of_option(synonyms.option_cures, guess, flags, value):
        return cure
    aliases = synonyms.option_aliases.get(guess, ())
    for flag in (guess, *aliases):
        if takers := _commands_with(ctx.find_root(), flag):
            return f"{flag} is an option of {', '.join(takers)}"
    for flag, cure in synonyms.option_cures.get(guess, {}).items():
        if takers := _commands_with(ctx.find_root(), flag):
            return f"in {', '.join(takers)}: {filled_in(cure, value)}"
    return ""


def _typed_value(flag: str, typed: Sequence[str]) -> str:
    """Return the value that was typed after a flag, or after its equals sign; empty: none."""
    for argument, following in zip(typed, [*typed[1:], ""], strict=True):
        if argument == flag:
            return "" if following.startswith("-") else following
        if argument.startswith(f"{flag}="):
            return argument.removeprefix(f"{flag}=")
    return ""


def _commands_with(root: click.Context, flag: str) -> list[str]:
    """Return the commands of a package that have an option."""
    group = root.command
    if not isinstance(group, Commands):
        return []
    commands = (group.get_command(root, name) for name in group.list_commands(root))
    return [
        command.name
        for command in commands
        if command and command.name and not isinstance(command, Commands)
        if any(flag in option.opts for option in command.params)
    ]


def _is_missing(
    parameter: click.Parameter, ctx: click.Context, typed_values: Mapping[str, Any]
) -> bool:
    value, _ = parameter.consume_value(ctx, typed_values)
    return parameter.value_is_missing(value)


def to_click(function: Callable[..., Any], name: str | None = None) -> click.Command:
    """Return the terminal's command for a function that `command` made.

    A command with an option `output` of its own writes its rows itself.
    """
    inner = inspect.unwrap(function)
    options, sections = parameters(inner), sections_of(inner)
    examples = re.findall(r"^\$ ((?:.*\\\n)*.*)$", sections.get("Examples", ""), flags=re.M)
    example_lines = "\n".join(indent(line, "  ") for line in examples)
    has_rows = hints_of(inner)["return"] is not NoRows
    has_progress = "progress" in signature_of(inner).parameters
    return Command(
        name or function.__name__,
        params=[
            *options.values(),
            *([_FORMAT, _SORT, _WIDE] if has_rows else []),
            *([_OUTPUT, _CSV_SAFE, _PROVENANCE] if has_rows and "output" not in options else []),
            *([_MAX_BYTES] if options.keys() & READ_WHOLE else []),
            *([_VERBOSE, _QUIET] if has_progress else [_NO_NOTICES]),
        ],
        help=sections["Text"] + (f"\n\n\b\nExamples:\n{example_lines}" if examples else ""),
        callback=partial(_run, inner),
    )


_FORMAT = ShownOption(
    ["--format", "format_name"],
    type=Choice(FORMATS, aliases=FORMAT_ALIASES),
    help="How rows are printed.  [default: table]",
)
_SORT = ShownOption(
    ["--sort"],
    type=TextType(),
    metavar="COLUMN",
    shell_complete=offered,
    help="Sort the rows by a column; by -COLUMN in descending order.",
)
_WIDE = ShownOption(
    ["--wide"], is_flag=True, is_rare=True, help="Show all columns of tables, however wide."
)
_OUTPUT = ShownOption(
    ["-o", "--output"],
    type=FilePath(path_type=Path),
    metavar="FILE",
    shell_complete=offered,
    help="Write the rows to a file: .csv, .tsv, .jsonl, .json, .parquet, .tex or .md; - is stdout.",
)
_CSV_SAFE = ShownOption(
    ["--csv-safe", "is_csv_safe"],
    is_flag=True,
    is_rare=True,
    help="In csv and tsv, put an apostrophe before texts that a spreadsheet would run as formulas.",
)
_PROVENANCE = ShownOption(
    ["--provenance", "has_sidecar"],
    is_flag=True,
    is_rare=True,
    help="Write how the rows were made beside each of their files: FILE.provenance.json.",
)
_MAX_BYTES = ShownOption(
    ["--max-bytes"],
    type=click.IntRange(1),
    metavar="N",
    default=MAX_BYTES.get(),
    show_default=True,
    is_rare=True,
    help="Refuse tables, texts and pattern files of more bytes, decompressed.",
)
_VERBOSE = ShownOption(
    ["-v", "--verbose"], is_flag=True, is_rare=True, help="Show details on stderr."
)
_QUIET = ShownOption(["-q", "--quiet"], is_flag=True, help="Show no progress and no notices.")
_NO_NOTICES = ShownOption(["-q", "--quiet"], is_flag=True, help="Show no notices.")


def _show_all(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
    if is_given and not context.resilient_parsing:
        context.meta[SHOWS_ALL] = True
        click.echo(context.get_help())
        context.exit()


_HELP_ALL = ShownOption(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options, with their variables, and exit.",
)


def _run(
    function: Callable[..., Result[Any]],
    *,
    format_name: str | None = None,
    sort: str | None = None,
    wide: bool = False,
    quiet: bool,
    **values: Any,
) -> None:
    path = None if "output" in parameters(function) else values.pop("output", None)
    context = click.get_current_context()
    flags = flags_of(context.command.params)
    if "max_bytes" in values:
        token = MAX_BYTES.set(values.pop("max_bytes"))
        context.call_on_close(partial(MAX_BYTES.reset, token))
    settings = {name: values.pop(name) for name in ("is_csv_safe", "has_sidecar") if name in values}
    targets = check_written(function, values, path, **settings)
    target = choose_target(format_name, path, **settings)
    if settings.get("has_sidecar") and not (target.path or targets):
        raise InputError(
            OptionUse("has_sidecar"),
            "requires " + OptionUse("output", placeholder="FILE") + ", next to which it writes",
        )
    if sort and (columns := columns_of(function)):
        sort = column_meant(sort, columns)
        refuse_other("sort", sort.removeprefix("-"), columns)
    if not quiet and _ignores_stdin(context, values):
        _say("standard input is not read; to count in it: --index scan:-")
    signature = signature_of(function)
    bound = signature.bind_partial()
    has_progress = "progress" in signature.parameters
    with Terminal(quiet, values["verbose"]) if has_progress else nullcontext() as progress:
        arguments = values | {
            FOR_TABLE: target.format == "table" and not sort,
            "progress": progress,
        }
        bound.arguments.update((name, arguments[name]) for name in signature.parameters)
        try:
            with one_version_each():
                result = function(*bound.args, **bound.kwargs)
        except InputError as error:
            _name_variable(error, context)
            raise
    run = write_files(result, typed_command(context, context.meta.get(_TYPED, ())), **settings)
    n_rows = _show(result, target, run, sort, wide, is_asked=bool(format_name or sort), quiet=quiet)
    if not quiet:
        _say_more(result, arguments[FOR_TABLE], flags)
        _say_written(
            [(target.path, n_rows), *((path, len(rows)) for path, rows, _ in result.files)]
        )
    for failure in result.failures:
        _say(f"Error: {in_terminal(failure, flags)}")
    context.exit(1 if result.failures else result.exit_code)


def _say_more(result: Result[Any], is_table: bool, flags: OptionFlags) -> None:
    for notice in result.notices:
        _say(in_terminal(notice, flags))
    if result.is_summary and result.print_table and not is_table:
        result.print_table(open_console(stderr=True))


def _ignores_stdin(context: click.Context, values: Mapping[str, Any]) -> bool:
    """Tell whether a pipe has bytes that a command with an index does not read.

    A workaround: whether standard input was meant to be read can't be known. So FIONREAD counts the
    bytes that wait in a pipe, without reading any; a later write to the pipe is missed.
    """
    if context.get_parameter_source("index") is not ParameterSource.DEFAULT:
        return False
    option_values = [each for value in values.values() for each in _members(value)]
    if any(name_of(each) == name_of("-") for each in option_values):
        return False
    waiting = bytearray(4)
    try:  # there may be no standard input
        if not stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode):
            return False
        fcntl.ioctl(sys.stdin, termios.FIONREAD, waiting)
    except (OSError, ValueError, AttributeError):
        return False
    return any(waiting)


def _members(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _name_variable(error: InputError, context: click.Context) -> None:
    for option in context.command.params:
        is_given = context.get_parameter_source(option.name) is ParameterSource.ENVIRONMENT
        if is_given and error.option and error.option.name == option.name:
            error.add_note(f" (from {option.envvar})")


def _show(
    result: Result[Any],
    target: Target,
    run: Run,
    sort: str | None,
    wide: bool,
    is_asked: bool,
    quiet: bool,
) -> int | None:
    """Print the rows or write them; return how many, if they are not a table."""
    is_table = target.format == "table"
    if result.heading and (is_table or not quiet):
        click.echo(result.heading, err=not is_table)
    rows, row_type, print_table = result.rows, result.row_type, result.print_table
    paper_rows = result.for_paper[0] if result.for_paper else None
    if sort:
        columns = [field.name for field in fields(row_type)]
        sort = column_meant(sort, columns)
        refuse_other("sort", sort.removeprefix("-"), columns)
        unordered_rows = list(rows)
        places = ordered_places(unordered_rows, sort)
        rows, print_table = [unordered_rows[place] for place in places], None
        # Where the table of a paper has other rows, its column can't be sorted by: all are shown.
        if paper_rows is not None and len(paper_rows) == len(unordered_rows):
            paper_rows = [paper_rows[place] for place in places]
        else:
            paper_rows = None
    if target.format in FOR_READERS and result.for_paper and paper_rows is not None:
        rows, row_type = paper_rows, result.for_paper[1]
    if not result.is_silent or (is_asked and (rows := list(rows))):
        if is_table:
            from ngramscan.reporting.layout import print_rows  # slow to import

            show = print_table or partial(print_rows, rows=list(rows), row_type=row_type)
            is_screen = result.is_screen and not sort
            show(open_console(is_wide=wide, is_screen=is_screen))
        elif target.format == "latex" and result.paper:
            tables = result.paper(list(rows))
            _emit("\n".join(table.to_latex() for table in tables).encode(), target, run)
            return sum(len(table.lines) for table in tables)
        else:
            rows = list(rows)
            _emit(to_bytes(rows, row_type, target, run), target, run)
            return len(rows)
    return None


def _say_written(written: Sequence[tuple[str | Path | None, int | None]]) -> None:
    for file, n_rows in written:
        if file and n_rows is not None:
            _say(f"wrote {file}: {counted(n_rows, 'row')}")


def _emit(content: bytes, target: Target, run: Run) -> None:
    if target.path:
        write_content(content, target, run)
    elif target.format != "parquet" and sys.stdout.isatty():
        # Before a person, nothing steers the terminal; into a file or pipe it goes as it is.
        click.echo(visible(content.decode()), nl=False)
    else:
        click.echo(content, nl=False)


def _say(text: str) -> None:
    """Write a line to the terminal, but not to stdout, which has the rows."""
    click.echo(visible_line(_shortened(text)), err=True)


def _shortened(text: str) -> str:
    """Return a very long line as its start and its end, where the cure is."""
    if len(text) <= _LONGEST_LINE:
        return text
    return f"{text[: _LONGEST_LINE // 2]} … {text[-_LONGEST_LINE // 2 :]}"
