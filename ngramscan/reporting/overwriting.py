"""Outputs of a command that are its inputs, or each other, by whatever names and links.

Which parameters are inputs and which are outputs is in their types: paths are read unless they are
`is_written`, and texts that are `is_spec` name corpora and indexes.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, get_args, get_origin

from platformdirs import user_cache_path

from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.own_files import own_folders
from ngramscan.reading.streams import (
    STANDARD_INPUT,
    is_stream,
    is_within,
    names_standard_input,
    unpacked_path,
)
from ngramscan.reporting.provenance import sidecar_of
from ngramscan.reporting.signatures import hints_of, option_of, without_option

_OUTPUT = "output"
"""The parameter of this name is written, whether it is a file or a folder."""
_JOURNAL = "journal"
_JOURNAL_ENDS = ("-wal", "-shm")
"""Ends of the names of the files that SQLite has next to its own."""


class OutputPath(NamedTuple):
    """A path that is written, and the option or argument that names it."""

    option: str
    path: Path
    is_folder: bool = False
    """Whether it is a folder of several files, which may be within one that is read."""


class Input(NamedTuple):
    """The value of an option or argument that names files to be read."""

    option: str
    paths: Callable[[], Iterator[Path]]
    """Yields its files and folders, and records next to files of rows."""
    reads: Callable[[Path], bool]
    """Whether a file would be read because of its folder or its name, as those of a glob are."""


def is_output(name: str, hint: Any) -> bool:
    """Tell whether a parameter names what a command writes."""
    return option_of(hint).is_written or name == _OUTPUT


def is_path(hint: Any) -> bool:
    """Tell whether a parameter takes paths, one or several."""
    kind = without_option(hint)
    return kind in (Path, PathLike) or any(
        is_path(part) for part in (get_origin(kind), *get_args(kind)) if part is not None
    )


def is_input(name: str, hint: Any) -> bool:
    """Tell whether a parameter names what a command reads."""
    return (option_of(hint).is_spec or is_path(hint)) and not is_output(name, hint)


def refuse_overwriting(
    function: Callable[..., Any],
    values: Mapping[str, Any],
    written: Iterable[OutputPath],
    has_sidecar: bool = False,
) -> None:
    """Raise an InputError where two outputs are one file, or an output is also an input.

    Parameters
    ----------
    function : callable
        The function of a command.
    values : mapping
        What is given for its parameters.
    written : iterable of OutputPath
        The outputs.
    has_sidecar : bool
        Whether records of how rows were made are written next to them.
    """
    outputs = list(_with_companions(written, has_sidecar))
    _refuse_two_outputs(outputs)
    _refuse_own_files(outputs)
    files = [output for output in outputs if not is_stream(output.path)]
    if not files:  # and inputs, which may be many, need not be looked for
        return
    identities = {
        identity: output for output in reversed(files) if (identity := _identity(output.path))
    }
    for source in _inputs(function, values):
        _refuse_input(source, files, identities)


def _refuse_input(
    source: Input, outputs: Sequence[OutputPath], identities: Mapping[tuple[int, int], OutputPath]
) -> None:
    """Raise an InputError for an output that an option or argument reads, or would read.

    A file that isn't there yet is refused like one that is, which the next run would read. A
    journal among the files of a folder is none of those that are read there.
    """
    for output in outputs:
        is_file = not output.is_folder and output.option != _JOURNAL
        if is_file and source.reads(output.path):
            _refuse(output, source, ", with the files around it; name a file elsewhere")
    is_journal_alone = all(output.option == _JOURNAL for output in identities.values())
    for path in source.paths() if identities else ():  # a new file overwrites nothing
        for file in [path] if is_journal_alone else _files_within(path):
            identity = _identity(file)
            output_there = identities.get(identity) if identity else None
            if output_there and file == path:
                _refuse(output_there, source, "; name another file")
            if output_there and output_there.option != _JOURNAL and source.reads(Path(file)):
                _refuse(output_there, source, ", with the files around it; name a file elsewhere")


def _refuse(output: OutputPath, source: Input, cure: str) -> NoReturn:
    problem = "the command also reads it, by " + OptionUse(source.option) + cure
    raise InputError(OptionUse(output.option, output.path), problem)


def _with_companions(written: Iterable[OutputPath], has_sidecar: bool) -> Iterator[OutputPath]:
    for output in written:
        yield output
        if output.option == _JOURNAL:
            for end in _JOURNAL_ENDS:
                yield OutputPath(output.option, output.path.with_name(output.path.name + end))
        elif has_sidecar and output.path.name:
            yield OutputPath(output.option, sidecar_of(output.path))


def _refuse_two_outputs(outputs: Iterable[OutputPath]) -> None:
    first_by_file: dict[object, str] = {}
    for option, path, _ in outputs:
        for key in filter(None, (_place(path), _identity(path))):
            first = first_by_file.setdefault(key, option)
            if first != option:
                problem = OptionUse(first) + " writes to the same file; expected two files"
                raise InputError(OptionUse(option, path), problem)


def _refuse_own_files(outputs: Iterable[OutputPath]) -> None:
    """Refuse to overwrite what commands read unasked: kept replies, fetched and shipped data."""
    cache = _place(user_cache_path("ngramscan"))
    packages = [_place(folder) for folder in own_folders()]
    for option, path, _ in outputs:
        place = _place(path)
        is_kept = option != _JOURNAL and place.startswith(cache + os.sep)
        is_shipped = path.is_file() and place.startswith(tuple(each + os.sep for each in packages))
        if is_kept or is_shipped:
            problem = "one of ngramscan's own files; name another file"
            raise InputError(OptionUse(option, path), problem)


def _place(path: Path) -> str:
    """Return a resolved path in small letters, since many disks do not distinguish case."""
    # A link that leads to itself is for those to refuse who open it.
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, unicodedata.normalize("NFC", name).casefold())


def _identity(path: Path | str) -> tuple[int, int] | None:
    """Return the identity of a file, shared by hard links; None if it does not exist."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # a pattern may be a text that no file can be called
        return None
    return status.st_dev, status.st_ino


def _inputs(function: Callable[..., Any], values: Mapping[str, Any]) -> Iterator[Input]:
    """Yield the inputs of a command."""
    for name, hint in hints_of(function).items():
        if name in values and is_input(name, hint):
            for value in _members(values[name]):
                if isinstance(value, str | PathLike) and str(value):  # neither data frame nor None
                    reads = _reader_of(value, hint, values)
                    yield Input(name, partial(_paths, value, hint), reads)


def _reader_of(
    value: str | PathLike[str], hint: Any, values: Mapping[str, Any]
) -> Callable[[Path], bool]:
    """Return what tells which files would be read because of their folder or name."""
    option = option_of(hint)
    if option.is_spec:
        from ngramscan.indexes.spec_files import is_read  # slow to import

        form, skips_unknown = values.get("input_format"), values.get("skip_unknown")
        return partial(is_read, str(value), form, skips_unknown, values.get("exclude_source"))
    folder = os.path.expanduser(value)
    has_files = not is_stream(value) and os.path.isdir(folder)
    return lambda file: (
        has_files
        and unpacked_path(file).suffix.lower() in option.suffixes
        and is_within(file, folder)
    )


def _members(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _paths(value: str | PathLike[str], hint: Any) -> Iterator[Path]:
    if option_of(hint).is_spec:
        from ngramscan.indexes.spec_files import local_files  # slow to import

        yield from local_files(str(value))
    elif names_standard_input(value):
        yield STANDARD_INPUT  # the shell may have made a file of it
    elif not is_stream(value):
        path = Path(os.path.expanduser(value))
        yield path
        if path.name:
            yield sidecar_of(path)


def _files_within(path: Path) -> Iterator[Path | str]:
    """Yield a file; or a folder, and all that is in it."""
    yield path
    for folder, _, names in os.walk(path) if _identity(path) else ():
        # There may be 100,000, and each Path takes longer than all else that is done with it.
        yield from (os.path.join(folder, name) for name in names)
