"""Pattern sets from YAML files: read strictly, so that every error names its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import TypeVar

from ngramscan.errors import InputError
from ngramscan.patterns.model import KINDS, TIERS, Pattern, PatternSet, Regex
from ngramscan.patterns.regexes import compile_regex
from ngramscan.reading.yaml_files import Node, compose_yaml, read_text

_Entry = TypeVar("_Entry", Pattern, Regex)


def shipped_folders() -> list[Path]:
    """Return where pattern sets of this package may lie: in the wheel, or beside the checkout."""
    package = Path(str(resources.files("ngramscan")))
    return [package / "shipped_patterns", package.parent / "patterns"]


def shipped_sets() -> list[str]:
    """Return the names of the pattern sets that come with this package."""
    return sorted({path.stem for folder in shipped_folders() for path in folder.glob("*.yaml")})


def load_patterns(path_or_name: str | Path) -> PatternSet:
    """Load a pattern set from a YAML file, or a shipped one by its name.

    Raises
    ------
    InputError
        There is no such file or set, or it breaks the format; names the file and the line.
    """
    path = Path(path_or_name)
    if not path.exists():
        shipped = [folder / f"{path_or_name}.yaml" for folder in shipped_folders()]
        path = next((candidate for candidate in shipped if candidate.is_file()), path)
    if not path.exists():
        known = ", ".join(shipped_sets())
        raise InputError(str(path), f"no such file or directory; shipped sets: {known}")
    return parse_patterns(read_text(path), str(path))


def parse_patterns(content: str, where: str) -> PatternSet:
    """Parse the content of a pattern file; `where` names it in errors."""
    fields = compose_yaml(content, where).fields({"name", "patterns"}, {"source", "regexes"})
    source, regexes = fields.get("source"), fields.get("regexes")
    return PatternSet(
        fields["name"].string(),
        source.string(may_be_empty=True) if source else "",
        _distinct(fields["patterns"].items(), _pattern),
        _distinct(regexes.items(may_be_empty=True), _regex) if regexes else (),
    )


def _distinct(nodes: Iterable[Node], read: Callable[[Node], _Entry]) -> tuple[_Entry, ...]:
    """Read entries; the same one twice is refused."""
    entries: list[_Entry] = []
    lines: dict[tuple[str, str], int] = {}
    for node in nodes:
        entry = read(node)
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
