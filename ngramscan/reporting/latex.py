"""Rows → a table in LaTeX, ready for a paper; its rules are those of the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ngramscan.progress import visible, visible_line
from ngramscan.reporting.layout import p_text
from ngramscan.rows import P_VALUE, columns_of

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "−": "$-$",
        "–": "--",
        "·": r"$\cdot$",
        "…": r"\dots{}",
        # Letters of other shapes in the fonts that LaTeX has by default.
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
        **{character: f"\\{character}" for character in "{}&%$#_"},
    }
)
_MINUS = re.compile(r"(?<![\we])-(?=\.?\d)")
_NUMBER = re.compile(r"[-+−<>]?\s*\.?\d|–$")
_TABLE = r"""% needs \usepackage{{booktabs}}
\begin{{tabular}}{{@{{}}{columns}@{{}}}}
\toprule
{head}
\midrule
{body}\bottomrule
\end{{tabular}}
"""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as a paper has it: columns that name the rows, and groups of columns of numbers."""

    comments: Sequence[str]
    """Lines above it, for the caption: units and sizes."""
    names: Sequence[str]
    """The headings of the columns that name rows."""
    groups: Mapping[str, Sequence[str]]
    """The headings of the columns of numbers, by the heading above them; "" if they have none."""
    lines: Sequence[tuple[Sequence[str], Sequence[str]]]
    """The names of each row, which are plain texts, and its numbers, which are LaTeX."""

    def to_latex(self) -> str:
        """Return the table; a name that the row above has, too, is left out."""
        columns = [heading for group in self.groups.values() for heading in group]
        comments = [f"% {visible_line(comment)}\n" for comment in self.comments]
        head = _line(escape(heading) for heading in (*self.names, *columns))
        return "".join(comments) + _TABLE.format(
            columns="".join(["l" for _ in self.names] + ["r" for _ in columns]),
            head=f"{self._group_heads()}{head}",
            body="".join(self._body()),
        )

    def _group_heads(self) -> str:
        """Return the headings above those of columns, with a rule below each, if there are any."""
        if not any(self.groups):
            return ""
        cells, rules = ["" for _ in self.names], []
        start = len(self.names) + 1
        for heading, group in self.groups.items():
            cells.append(f"\\multicolumn{{{len(group)}}}{{c}}{{{escape(heading)}}}")
            rules.append(f"\\cmidrule(l){{{start}-{start + len(group) - 1}}}")
            start += len(group)
        return f"{_line(cells)}\n{''.join(rules)}\n"

    def _body(self) -> Iterable[str]:
        above: Sequence[str] = ()
        for names, numbers in self.lines:
            groups, name = [*names[:-1]], names[-1]
            is_same_group = groups == [*above[:-1]]
            if above and not is_same_group:
                yield "\\addlinespace\n"
            group_cells = ["" for _ in groups] if is_same_group else groups
            cells = [escape(text) for text in (*group_cells, name)]
            yield f"{_line([*cells, *numbers])}\n"
            above = names


def amount(value: float | None) -> str:
    """Return a number of occurrences or documents, or a rate, with three digits or more."""
    if value is None:
        return "--"
    if isinstance(value, int) or abs(value) >= 100 or value == 0:
        return f"{value:,.0f}".replace(",", "{,}")
    number = _number(value)
    return f"${number}$" if "\\" in number else number


def to_latex(rows: Sequence[Any], row_type: type) -> str:
    """Return rows as a tabular; columns without any value are left out.

    Numbers are aligned to the right, with three digits; small p-values read "<.001". Notes (level,
    test, what is missing) belong in the caption.
    """
    names = [
        field.name
        for field in fields(row_type)
        if not rows or any(getattr(row, field.name) is not None for row in rows)
    ]
    texts = {name for name in names if any(_is_text(getattr(row, name)) for row in rows)}
    columns = columns_of(row_type)
    p_values = {name for name in names if columns[name].role is P_VALUE}
    lines = [_line(_cell(getattr(row, name), name in p_values) for name in names) for row in rows]
    return _TABLE.format(
        columns="".join("l" if name in texts else "r" for name in names),
        head=_line(escape(name.replace("_", " ")) for name in names),
        body="".join(f"{line}\n" for line in lines),
    )


def _is_text(value: object) -> bool:
    """Tell whether a value is words, not a formatted number (`+2.1 [0.3, 4.0]`)."""
    return isinstance(value, str) and not _NUMBER.match(value)


def escape(text: str) -> str:
    """Return a text that LaTeX prints as it is, on one line."""
    return visible(" ".join(text.split())).translate(_ESCAPES)


def _line(cells: Iterable[str]) -> str:
    line = " & ".join(cells) + r" \\"
    # The end of the line above, and a rule, would take a bracket or a star for their own.
    return "{}" + line if line.startswith(("[", "*")) else line


def _cell(value: object, is_p_value: bool) -> str:
    if value is None:
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        if _is_text(value):
            return escape(value)
        return _MINUS.sub("$-$", escape(value))
    if isinstance(value, float) and is_p_value:
        text = "<.001" if value < 0.001 else p_text(value).replace("0.", ".")
        return re.sub("[<>]", r"$\g<0>$", text)
    number = _number(value) if isinstance(value, float) else f"{value:,}".replace(",", "{,}")
    return f"${number}$" if number.startswith("-") or "\\" in number else number


def _number(value: float) -> str:
    """Return a number with three digits, or more where it is a large one."""
    if abs(value) >= 100 or value == 0:
        return f"{value:z.0f}"
    if abs(value) < 1e-3:
        mantissa, _, exponent = f"{value:.1e}".partition("e")
        return f"{mantissa} \\cdot 10^{{{int(exponent)}}}"
    digits = 2 if abs(value) < 10 else 1
    return f"{value:.{digits}f}" if abs(value) >= 1 else f"{value:.3g}"
