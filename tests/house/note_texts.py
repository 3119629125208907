"""Find places that search the text of a note, or rows put into words by a regex over our English.

    python -m tests.house.note_texts

A note says by its scope what it is about, and a row by its columns what it has: code that looks
for words in a text breaks when someone mends the text. It prints each place, and ends with 1 if
there is one. A search of a text that was first put into a variable of another name is not seen.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tests.support.places import ROOT

ROOMS = ("ngramscan/reporting", "ngramscan/prevalence", "ngramscan/commands", "evalcore/commands")
"""Rooms that have rows with notes."""
WORDED = ("sentences", "summaries", "tables")
"""Rooms within `reporting` that put rows into words: no regex of theirs has words."""
OLDER = "ngramscan/reporting/older_rows.py"
"""Reads files of earlier versions, which say it in their notes alone."""
SEARCHES = {"startswith", "endswith", "split", "partition", "rpartition", "find", "index", "count"}
"""Methods by which a text is searched."""


def is_note(node: ast.AST) -> bool:
    """Tell whether an expression is the text of a note: `row.note`, `row["note"]`, `note`."""
    match node:
        case ast.Attribute(attr="note") | ast.Name(id="note"):
            return True
        case ast.Subscript(slice=ast.Constant(value="note")):
            return True
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value="note"), *_]):
            return True
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return is_note(inner)
        case ast.BoolOp(values=values):
            return any(is_note(value) for value in values)
    return False


def note_searches(source: str) -> Iterator[int]:
    """Yield the lines of a module on which the text of a note is searched or compared."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                is_search = isinstance(operators[0], ast.In | ast.NotIn) and is_note(others[0])
                is_equal = isinstance(operators[0], ast.Eq | ast.NotEq) and any(
                    is_note(side) for side in (left, others[0])
                )
                if is_search or is_equal:
                    yield node.lineno
            case ast.Call(args=arguments) if is_of_re(node):
                if any(map(is_note, arguments)):
                    yield node.lineno
            case ast.Call(func=ast.Attribute(value=text, attr=name)) if name in SEARCHES:
                if is_note(text):
                    yield node.lineno


def is_of_re(node: ast.Call) -> bool:
    """Tell whether a call is one of the module `re`."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="re")):
            return True
    return False


def worded_regexes(source: str) -> Iterator[int]:
    """Yield the lines of a module with a regex that has a word of three letters or more."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and is_of_re(node) and node.args:
            texts = [
                part.value
                for part in ast.walk(node.args[0])
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            plain = [re.sub(r"\\.|\[[^\]]*\]|\(\?P<\w+>", " ", text) for text in texts]
            if any(re.search(r"[A-Za-z]{3}", text) for text in plain):
                yield node.lineno


def places() -> Iterator[str]:
    """Yield the places in the rooms where a note is searched, or a regex has words."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name, source = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
            if name != OLDER:
                for line in note_searches(source):
                    yield f"{name}:{line}: the text of a note is searched; ask its scope"
    for room in WORDED:
        for path in sorted(Path(ROOT, "ngramscan/reporting", room).rglob("*.py")):
            for line in worded_regexes(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(ROOT)}:{line}: a regex has words; ask a column"


if __name__ == "__main__":
    found = list(places())
    click.echo("\n".join(found) or "no text of ours is searched")
    sys.exit(bool(found))
