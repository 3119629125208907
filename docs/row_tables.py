"""The columns of rows as tables, from the source: docs/rows.md and docs/evaluation-rows.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TYPES = {
    "str": "string",
    "int": "integer",
    "Number": "integer",
    "float": "number",
    "bool": "boolean",
    "None": "null",
    "dict[str, Any]": "object",
    "Fields": "object",
    "Source": "string",
    "Tier": "string",
    "EntryClass": "string",
}


def columns(module: str, row_type: str) -> Iterator[tuple[str, str, str]]:
    """Yield the columns of a row type, their types, and what its source says of each."""
    tree = ast.parse(Path(module).read_text(encoding="utf-8"))
    found = next(node for node in tree.body if getattr(node, "name", "") == row_type)
    assert isinstance(found, ast.ClassDef)
    for node, after in zip(found.body, [*found.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            is_told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            words = (
                " ".join(str(after.value.value).split()).replace("None", "null") if is_told else ""
            )
            kinds = [TYPES[part.strip()] for part in ast.unparse(node.annotation).split("|")]
            yield ast.unparse(node.target), " or ".join(kinds), words.replace("|", "\\|")


def table(module: str, row_type: str) -> str:
    """Return the table of a row type as Markdown; columns whose names say all follow it."""
    found = list(columns(module, row_type))
    lines = ["| column | type | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {words} |" for name, kind, words in found if words]
    plain = ", ".join(f"`{name}`" for name, _, words in found if not words)
    if len(lines) == 2:
        return f"Columns: {plain}."
    return "\n".join([*lines, *([f"\nAlso: {plain}."] if plain else [])])
