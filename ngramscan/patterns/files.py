"""Pattern sets from YAML files: read strictly, so that every error names its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from ngramscan.errors import InputError
from ngramscan.patterns.model import KINDS, TIERS, Pattern, PatternSet, Regex
from ngramscan.patterns.regexes import compile_regex
from ngramscan.reading.yaml_files import compose_yaml, fields_of, place_of


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
    try:
        content = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"not UTF-8 at byte {error.start}") from error
    except OSError as error:
        hint = f"; shipped sets: {', '.join(shipped_sets())}" if not path.exists() else ""
        raise InputError(str(path), f"{(error.strerror or str(error)).lower()}{hint}") from error
    return parse_patterns(content, str(path))


def parse_patterns(content: str, where: str) -> PatternSet:
    """Parse the content of a pattern file; `where` names it in errors."""
    known = {"name", "source", "patterns", "regexes"}
    fields = fields_of(compose_yaml(content, where), where, known, {"name", "patterns"}, "")
    entries = fields["patterns"]
    if not isinstance(entries, yaml.SequenceNode) or not entries.value:
        raise InputError(place_of(where, entries), "patterns: a list of patterns was expected")
    patterns = [_pattern(node, where, f"patterns[{i}]") for i, node in enumerate(entries.value)]
    _refuse_duplicates([(p.method, p.text) for p in patterns], entries.value, where)
    regexes = _regexes(fields["regexes"], where) if "regexes" in fields else ()
    source = _string(fields["source"], where, "source") if "source" in fields else ""
    return PatternSet(_string(fields["name"], where, "name"), source, tuple(patterns), regexes)


_FIELDS = set(get_type_hints(Pattern))
_NEEDED = {"text", "method", "tier", "kind"}


def _pattern(node: yaml.Node, where: str, path: str) -> Pattern:
    fields = fields_of(node, where, _FIELDS, _NEEDED, f"{path}: ")
    values: dict[str, Any] = {
        key: _string(value, where, f"{path}.{key}")
        for key, value in fields.items()
        if key != "longer_words"
    }
    for key, choices in (("tier", TIERS), ("kind", KINDS)):
        if values[key] not in choices:
            raise InputError(
                place_of(where, fields[key]),
                f"{path}.{key}: {values[key]!r} is none of {', '.join(choices)}",
            )
    for key in ("text", "method"):
        if not values[key]:
            raise InputError(place_of(where, fields[key]), f"{path}.{key}: it is empty")
    if "longer_words" in fields:
        values["longer_words"] = tuple(_strings(fields["longer_words"], where, path))
    return Pattern(**values)


def _strings(node: yaml.Node, where: str, path: str) -> Iterator[str]:
    if not isinstance(node, yaml.SequenceNode):
        raise InputError(place_of(where, node), f"{path}.longer_words: a list was expected")
    for i, item in enumerate(node.value):
        yield _string(item, where, f"{path}.longer_words[{i}]")


def _string(node: yaml.Node, where: str, path: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:str":
        raise InputError(place_of(where, node), f"{path}: a string was expected; put it in quotes")
    text = str(node.value)
    if "\0" in text:
        raise InputError(place_of(where, node), f"{path}: it has a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(
            place_of(where, node), f"{path}: it has a lone surrogate, which is no text"
        )
    return text


def _refuse_duplicates(
    keys: Sequence[tuple[str, str]], nodes: Sequence[yaml.Node], where: str
) -> None:
    lines: dict[tuple[str, str], int] = {}
    for (method, text), node in zip(keys, nodes, strict=True):
        line = node.start_mark.line + 1
        first = lines.setdefault((method, text), line)
        if first != line:
            raise InputError(f"{where}:{line}", f"{text!r} of {method} is also on line {first}")


# Regexes


def _regexes(entries: yaml.Node, where: str) -> tuple[Regex, ...]:
    if not isinstance(entries, yaml.SequenceNode):
        raise InputError(place_of(where, entries), "regexes: a list was expected")
    regexes = [_regex(node, where, f"regexes[{i}]") for i, node in enumerate(entries.value)]
    _refuse_duplicates([(r.method, r.name) for r in regexes], entries.value, where)
    return tuple(regexes)


def _regex(node: yaml.Node, where: str, path: str) -> Regex:
    needed = {"method", "name", "regex"}
    fields = fields_of(node, where, {*needed, "note"}, needed, f"{path}: ")
    values = {key: _string(value, where, f"{path}.{key}") for key, value in fields.items()}
    for key in sorted(needed):
        if not values[key]:
            raise InputError(place_of(where, fields[key]), f"{path}.{key}: it is empty")
    try:
        compile_regex(values["regex"])
    except ValueError as error:
        raise InputError(place_of(where, fields["regex"]), f"{path}.regex: {error}") from error
    return Regex(**values)
