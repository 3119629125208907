"""Pattern sets from YAML files, read strictly: every error names its line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from glob import escape, glob
from pathlib import Path
from typing import TypeVar

from yaml import MappingNode

from ngramscan.errors import InputError, nearest
from ngramscan.messages import OptionUse
from ngramscan.patterns.model import KINDS, TIERS, PathOrName, Pattern, PatternSet, Regex
from ngramscan.patterns.regexes import compile_regex
from ngramscan.reading.own_files import shipped_folders
from ngramscan.reading.streams import name_of, read_raw, whole
from ngramscan.reading.yaml_files import Node, compose_yaml, input_errors

STDIN = "-"
_EntryT = TypeVar("_EntryT", Pattern, Regex)


def shipped_sets() -> list[str]:
    """Return the names of the pattern sets that come with this package."""
    return sorted({path.stem for folder in shipped_folders() for path in folder.glob("*.yaml")})


def find_patterns(path_or_name: PathOrName) -> str | None:
    """Return the file of a pattern set or a shipped set of this name (in any case), if any."""
    path = os.path.expanduser(path_or_name)
    shipped = [str(folder / f"{path.lower()}.yaml") for folder in shipped_folders()]
    # Unlike Path.exists, this also takes a text that is too long for the name of a file.
    return next((name for name in (path, *shipped) if name == STDIN or os.path.exists(name)), None)


def suggest_sets(path_or_name: PathOrName) -> str:
    """Return the end of a message: the shipped set or file that was probably meant."""
    path = Path(path_or_name)
    yaml_files = [*glob("patterns/*.yaml"), *glob(f"{escape(str(path.parent))}/*.yaml")]
    sets_by_name = {
        Path(path).stem: os.path.normpath(path) for path in (*yaml_files, *shipped_sets())
    }
    near = nearest(path.stem, sets_by_name, cutoff=0.5)
    return f"; did you mean {sets_by_name[near]}?" if near else ""


def load_patterns(path_or_name: PathOrName) -> PatternSet:
    """Load a pattern set from a YAML file, or a shipped one by its name.

    An InputError says that the set doesn't exist, or names the line that breaks the format.
    """
    path = find_patterns(path_or_name)
    if path is None:
        cure = suggest_sets(path_or_name) or f"; shipped sets: {', '.join(shipped_sets())}"
        raise InputError(str(path_or_name), f"no such file or shipped set{cure}")
    return parse_patterns(*read_named(path))


def read_named(path: PathOrName) -> tuple[str, str]:
    """Return the text of a file or of standard input, and what messages call it."""
    file = os.path.expanduser(path)
    with input_errors(where := name_of(file)):
        return whole(read_raw(file), file).decode("utf-8-sig"), where


def parse_patterns(content: str, where: str) -> PatternSet:
    """Parse the content of a pattern file; errors begin with `where`."""
    root = compose_yaml(content, where)
    if where == name_of(STDIN) and not isinstance(root.node, MappingNode):
        raise root.error(
            "expected a pattern set in YAML; for one text per line: "
            + OptionUse("literals_file", "-")
        )
    fields = root.fields({"name", "patterns"}, {"source", "regexes"})
    source, regexes = fields.get("source"), fields.get("regexes")
    return PatternSet(
        fields["name"].string(),
        source.string(may_be_empty=True) if source else "",
        _distinct(fields["patterns"].items(), _pattern),
        _distinct(regexes.items(may_be_empty=True), _regex) if regexes else (),
    )


def _distinct(nodes: Iterable[Node], read_entry: Callable[[Node], _EntryT]) -> tuple[_EntryT, ...]:
    """Read the entries, and refuse one that appears twice."""
    entries: list[_EntryT] = []
    lines: dict[tuple[str, str], int] = {}
    for node in nodes:
        entry = read_entry(node)
        if entry.key in lines:
            method, text = entry.key
            problem = f"{text!r} of {method} is also on line {lines[entry.key]}"
            raise InputError(f"{node.where}:{node.line}", problem)
        lines[entry.key] = node.line
        entries.append(entry)
    return tuple(entries)


def _pattern(node: Node) -> Pattern:
    needed = {"text", "method", "tier", "kind"}
    fields = node.fields(needed, {"note", "expands", "longer_words"})
    words = fields.pop("longer_words", None)
    texts = {key: value.string(may_be_empty=key not in needed) for key, value in fields.items()}
    fields["tier"].choice(TIERS)
    fields["kind"].choice(KINDS)
    longer = words.items(may_be_empty=True) if words else ()
    return Pattern(**texts, longer_words=tuple(word.string() for word in longer))


def _regex(node: Node) -> Regex:
    needed = {"method", "name", "regex"}
    fields = node.fields(needed, {"note"})
    texts = {key: value.string(may_be_empty=key not in needed) for key, value in fields.items()}
    try:
        compile_regex(texts["regex"])
    except ValueError as error:
        raise fields["regex"].error(str(error)) from error
    return Regex(**texts)
