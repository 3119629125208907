"""Published figures recomputed from published tables: claims and tables in, verdicts out."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import resources
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from evalcore.claim_formulas import Evaluator, parse_formula
from evalcore.claim_tables import Printed, Reading, Tables, parse_printed, read_tables, select
from ngramscan.errors import InputError
from ngramscan.output.command import Option, Result, command
from ngramscan.yaml_files import parse_yaml, read_text

if TYPE_CHECKING:
    from rich.console import Console

VERDICTS = ("ok", "rounding", "mismatch", "different quantity", "not derivable")
OK, ROUNDING, MISMATCH, DIFFERENT, UNDERIVABLE = VERDICTS
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)(\.id)?\}")
_Choices = list[str] | dict[str, str]


class Claim(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An entry of a claims file; with loops it stands for one claim of each combination."""

    id: str
    where: str
    statement: str
    published: str | None = None
    cell: str | None = None
    formula: str | None = None
    relation: Literal["equal", "at least", "at most", "above", "below"] = msgspec.field(
        default="equal", name="is"
    )
    decimals: Annotated[int, msgspec.Meta(ge=0, le=9)] | None = None
    different: str | None = None
    underivable: str | None = None
    note: str | None = None
    loops: dict[str, str | _Choices] = msgspec.field(default_factory=dict, name="for")

    def __post_init__(self) -> None:
        if self.published is not None and self.cell is not None:
            raise ValueError("published and cell are both there; expected one of them")
        if self.underivable is None and self.published is None and self.cell is None:
            raise ValueError("published is missing, or the cell where it is printed")
        if self.underivable is None and self.formula is None:
            raise ValueError("formula is missing, or why there is none: underivable")


class _ClaimsFile(Reading):
    claims: list[dict[str, Any]]
    lists: dict[str, _Choices] = msgspec.field(default_factory=dict)
    values: dict[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A published figure and what becomes of it when it is recomputed."""

    id: str
    where: str
    statement: str
    published: str | None
    """As printed; None: no such figure is published."""
    recomputed: float | None
    low: float | None
    high: float | None
    """The range that the rounding of the inputs leaves open."""
    verdict: str
    formula: str | None
    inputs: str | None
    """The cells that were read."""
    note: str | None


def _expand(claim: Claim, lists: Mapping[str, _Choices]) -> Iterator[Claim]:
    """Yield a claim for each turn of its loops; without loops, LaTeX may have its braces."""
    loops = []
    for choices in claim.loops.values():
        if isinstance(choices, str) and choices not in lists:
            raise ValueError(f"for: there is no list {choices!r}")
        found = lists[choices] if isinstance(choices, str) else choices
        if not found:
            raise ValueError("for: a list is empty")
        loops.append(found.items() if isinstance(found, dict) else [(one, one) for one in found])
    for turn in product(*loops):
        names = dict(zip(claim.loops, turn, strict=True))

        def choice(found: re.Match[str], names: Mapping[str, Any] = names) -> str:
            if found[1] not in names:
                raise ValueError(f"{found[0]} is not the name of a loop")
            return str(names[found[1]][0 if found[2] else 1])

        fields = msgspec.structs.asdict(claim).items() if names else ()
        texts = {k: _PLACEHOLDER.sub(choice, text) for k, text in fields if isinstance(text, str)}
        yield msgspec.structs.replace(claim, **texts)


def audit_rows(
    tables: str | Path | None = None, claims: str | Path | None = None
) -> list[AuditRow]:
    """Recompute the claims of a file; the paper's where nothing else is named. See `audit`."""
    folder = Path(tables) if tables else resources.files("evalcore") / "published"
    file = Path(claims) if claims else folder / "claims.yaml"
    found: dict[str, Claim] = {}
    where = ""
    try:
        root = msgspec.convert(parse_yaml(read_text(file), file.name), _ClaimsFile)
        for number, entry in enumerate(root.claims, 1):
            where = f": claim {number} ({entry.get('id', 'no id')})"
            for claim in _expand(msgspec.convert(entry, Claim), root.lists):
                if claim.id in found:
                    raise ValueError(f"two claims have the id {claim.id!r}")
                found[claim.id] = claim
        formulas: dict[str, ast.expr] = {}
        texts = {f'claim("{id_}")': claim.formula for id_, claim in found.items() if claim.formula}
        for name, text in {**root.values, **texts}.items():
            where = f": {name}"
            formulas[name] = parse_formula(text)
        read, rows = read_tables(folder, root), []
        for claim in found.values():
            where = f": claim {claim.id}"
            rows.append(_check(claim, read, formulas))
    except ValueError as error:
        raise InputError(f"{file.name}{where}", str(error)) from error
    return rows


def _check(claim: Claim, tables: Tables, formulas: Mapping[str, ast.expr]) -> AuditRow:
    text, evaluator = claim.published, Evaluator(tables, formulas)
    if claim.cell is not None:
        cells, _ = select(tables, parse_formula(claim.cell))
        if len(cells) != 1:
            raise ValueError(f"cell: {len(cells)} cells are selected; expected one")
        text = cells[0].text
    figures, remark = None, claim.underivable
    if claim.formula is not None:
        figures = evaluator.recompute(formulas[f'claim("{claim.id}")'])
    printed = None if text is None else parse_printed(text, claim.decimals)
    if claim.underivable is not None or figures is None:
        verdict = UNDERIVABLE
    elif printed is None:
        raise ValueError(f"{text!r} is published; expected a number as printed")
    else:
        verdict, remark = judge(printed, *figures, claim.relation)
        verdict = DIFFERENT if claim.different and verdict != OK else verdict
    value, low, high = [float(one) for one in figures] if figures else [None] * 3
    relation = "" if claim.relation == "equal" else f"{claim.relation} "
    notes = (claim.different, claim.note, remark, *evaluator.remarks)
    return AuditRow(
        id=claim.id,
        where=claim.where,
        statement=claim.statement,
        published=text,
        recomputed=value,
        low=low,
        high=high,
        verdict=verdict,
        formula=claim.formula and f"{relation}{claim.formula}",
        inputs="; ".join(map(str, evaluator.cells)) or None,
        note="; ".join(filter(None, notes)) or None,
    )


def judge(
    published: Printed, value: Fraction, low: Fraction, high: Fraction, relation: str
) -> tuple[str, str | None]:
    """Return the verdict on a figure and a remark, given what a formula gives, and its range."""
    figure, unit, is_bound = published
    if relation != "equal":
        sign, end = (1, low) if relation in {"at least", "above"} else (-1, high)
        is_strict, distance = relation in {"above", "below"}, sign * (figure - value)
        if distance > 0 or (distance == 0 and not is_strict):
            return OK, None
        reach = unit / 2 + sign * (value - end)
        is_rounded = unit < 1 or low != high
        is_near = is_rounded and distance + reach >= 0 and not (is_strict and not reach)
        return ROUNDING if is_near else MISMATCH, None
    if value < figure if is_bound else abs(figure - value) <= unit / 2:
        return OK, None
    if low < figure if is_bound else low <= figure <= high:
        return OK, "only inside the range that rounded inputs allow"
    if is_bound or (low == high and value.denominator == unit == 1):
        return MISMATCH, None  # a bound is one, and of counts nothing was rounded
    is_near = min(low, value - unit / 2) - unit <= figure <= max(high, value + unit / 2) + unit
    return ROUNDING if is_near else MISMATCH, None


def print_findings(console: Console, rows: Sequence[AuditRow]) -> None:
    """Print all claims that are not ok, and how many have which verdict."""
    for row in rows:
        decimals = len((row.published or "").partition(".")[2]) + 2
        figures = [f"published {row.published}"] if row.published is not None else []
        if row.recomputed is not None and row.low is not None and row.high is not None:
            figures.append(f"recomputed {row.recomputed:,.{decimals}f}")
            if row.low < row.high:
                figures.append(f"from {row.low:,.{decimals}f} to {row.high:,.{decimals}f}")
        lines = [row.statement, *([", ".join(figures)] if figures else [])]
        details = {"formula": row.formula, "inputs": row.inputs, "note": row.note}
        lines += [f"{name}: {text}" for name, text in details.items() if text]
        if row.verdict != OK:
            lines = [f"{row.verdict}: {row.id} ({row.where})", *(f"  {one}" for one in lines), ""]
            console.print("\n".join(lines), soft_wrap=True)
    counts = Counter(row.verdict for row in rows)
    console.print(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS))


@command
def audit(
    tables: str | Path | None = None,
    *,
    claims: Annotated[str | Path | None, Option(metavar="FILE")] = None,
    strict: Annotated[bool, Option(is_shown=True)] = False,
) -> Result:
    """Recompute published figures from published tables.

    TABLES is a folder of CSV files; without it, the tables of the Formula-One Prompting paper.
    Verdicts: ok, rounding (the last decimal), mismatch, different quantity, not derivable. A
    mismatch is a result: the exit code is 0 unless --strict. In the terminal, claims that are ok
    are only counted; every other format has all of them.

    Parameters
    ----------
    tables : str or Path, optional
        A folder of CSV files. By default the tables of the Formula-One Prompting paper.
    claims : str or Path, optional
        What is claimed, and how it follows. By default `claims.yaml` among the tables.
    strict : bool
        End with exit code 1 where a claim is a mismatch.

    Returns
    -------
    DataFrame
        One row per claim.

    Raises
    ------
    InputError
        A file can't be read, or a formula can't be computed.

    Examples
    --------
    $ evalcore audit
    $ evalcore audit tables/ --claims claims.yaml --strict -o audit.csv
    """
    rows = audit_rows(tables, claims)
    wrong = sum(row.verdict == MISMATCH for row in rows)
    return Result(
        rows,
        AuditRow,
        failures=[f"{wrong} of {len(rows)} claims are mismatches"] if strict and wrong else [],
        print_table=partial(print_findings, rows=rows),
    )
