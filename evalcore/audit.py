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
from importlib.resources.abc import Traversable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from evalcore.claim_formulas import Evaluator, parse_formula
from evalcore.claim_tables import Printed, Reading, Tables, parse_printed, read_tables, select
from evalcore.yaml_files import parse_yaml, read_text
from ngramscan.errors import InputError
from ngramscan.output.command import Option, Result, command

if TYPE_CHECKING:
    from rich.console import Console

OK = "ok"
ROUNDING = "rounding"
MISMATCH = "mismatch"
DIFFERENT = "different quantity"
UNDERIVABLE = "not derivable"
VERDICTS = (OK, ROUNDING, MISMATCH, DIFFERENT, UNDERIVABLE)
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


def _read_claims(file: Path | Traversable) -> tuple[_ClaimsFile, list[Claim]]:
    """Return a claims file, and its claims, one for each turn of their loops."""
    try:
        root = msgspec.convert(parse_yaml(read_text(file), file.name), _ClaimsFile)
    except msgspec.ValidationError as error:
        raise InputError(file.name, str(error)) from error
    claims: dict[str, Claim] = {}
    for number, entry in enumerate(root.claims, 1):
        where = f"{file.name}: claim {number} ({entry.get('id', 'no id')})"
        try:
            for claim in _expand(msgspec.convert(entry, Claim), root.lists):
                if claim.id in claims:
                    raise ValueError(f"two claims have the id {claim.id!r}")
                claims[claim.id] = claim
        except ValueError as error:
            raise InputError(where, str(error)) from error
    return root, list(claims.values())


def _expand(claim: Claim, lists: Mapping[str, _Choices]) -> Iterator[Claim]:
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
        fields = msgspec.structs.asdict(claim).items()
        texts = {key: _fill(text, names) for key, text in fields if isinstance(text, str)}
        yield msgspec.structs.replace(claim, **texts)


def _fill(text: str, names: Mapping[str, tuple[str, str]]) -> str:
    """Put the choices of a turn into a text; without a loop, LaTeX may have its braces."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in names:
            raise ValueError(f"{found[0]} is not the name of a loop")
        return names[found[1]][0 if found[2] else 1]

    return _PLACEHOLDER.sub(value, text) if names else text


def audit_rows(
    tables: str | Path | None = None, claims: str | Path | None = None
) -> list[AuditRow]:
    """Recompute the claims of a file; the paper's where nothing else is named. See `audit`."""
    folder = Path(tables) if tables else resources.files("evalcore") / "published"
    file = Path(claims) if claims else folder / "claims.yaml"
    root, found = _read_claims(file)
    texts = {**root.values, **{f'claim("{c.id}")': c.formula for c in found if c.formula}}
    formulas: dict[str, ast.expr] = {}
    read = read_tables(folder, root)
    rows = []
    name = ""
    try:
        for name, text in texts.items():
            formulas[name] = parse_formula(text)
        for claim in found:
            name = f"claim {claim.id}"
            rows.append(_check(claim, read, formulas))
    except ValueError as error:
        raise InputError(f"{file.name}: {name}", str(error)) from error
    return rows


def _check(claim: Claim, tables: Tables, formulas: Mapping[str, ast.expr]) -> AuditRow:
    text = claim.published
    if claim.cell is not None:
        cells, _ = select(tables, parse_formula(claim.cell))
        if len(cells) != 1:
            raise ValueError(f"cell: {len(cells)} cells are selected; expected one")
        text = cells[0].text
    printed = None if text is None else parse_printed(text, claim.decimals)
    evaluator = Evaluator(tables, formulas)
    value = low = high = None
    if claim.formula is not None:
        value, low, high = evaluator.recompute(formulas[f'claim("{claim.id}")'])
    if claim.underivable is not None or value is None or low is None or high is None:
        verdict, remark = UNDERIVABLE, claim.underivable
    elif printed is None:
        raise ValueError(f"{text!r} is published; expected a number as printed")
    else:
        verdict, remark = judge(printed, value, (low, high), claim.relation)
        verdict = DIFFERENT if claim.different and verdict != OK else verdict
    relation = "" if claim.relation == "equal" else f"{claim.relation} "
    notes = (claim.different, claim.note, remark, *evaluator.remarks)
    return AuditRow(
        id=claim.id,
        where=claim.where,
        statement=claim.statement,
        published=text,
        recomputed=None if value is None else float(value),
        low=None if low is None else float(low),
        high=None if high is None else float(high),
        verdict=verdict,
        formula=claim.formula and f"{relation}{claim.formula}",
        inputs="; ".join(map(str, evaluator.cells)) or None,
        note="; ".join(filter(None, notes)) or None,
    )


def judge(
    published: Printed, value: Fraction, ends: tuple[Fraction, Fraction], relation: str
) -> tuple[str, str | None]:
    """Return the verdict on a figure and a remark, given what a formula gives, and its range."""
    low, high = ends
    unit, half = published.unit, published.unit / 2
    if relation != "equal":
        return _judge_order(published, value, ends, relation), None
    if value < published.value if published.below else abs(published.value - value) <= half:
        return OK, None
    if low < published.value if published.below else low <= published.value <= high:
        return OK, "only inside the range that rounded inputs allow"
    if published.below or (low == high and value.denominator == unit == 1):
        return MISMATCH, None  # a bound is one, and of counts nothing was rounded
    is_near = min(low, value - half) - unit <= published.value <= max(high, value + half) + unit
    return ROUNDING if is_near else MISMATCH, None


def _judge_order(
    published: Printed, value: Fraction, ends: tuple[Fraction, Fraction], relation: str
) -> str:
    sign = 1 if relation in {"at least", "above"} else -1
    is_strict = relation in {"above", "below"}
    distance = sign * (published.value - value)
    if distance > 0 or (distance == 0 and not is_strict):
        return OK
    reach = published.unit / 2 + sign * (value - ends[0 if sign > 0 else 1])
    is_rounded = published.unit < 1 or ends[0] != ends[1]
    is_near = is_rounded and distance + reach >= 0 and not (is_strict and not reach)
    return ROUNDING if is_near else MISMATCH


def print_findings(console: Console, rows: Sequence[AuditRow]) -> None:
    """Print all claims that are not ok, and how many have which verdict."""
    for row in rows:
        if row.verdict != OK:
            lines = [f"{row.verdict}: {row.id} ({row.where})", f"  {row.statement}", *_details(row)]
            console.print("\n".join([*lines, ""]), soft_wrap=True)
    counts = Counter(row.verdict for row in rows)
    console.print(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS))


def _details(row: AuditRow) -> Iterator[str]:
    decimals = len((row.published or "").partition(".")[2]) + 2
    figures = [f"published {row.published}"] if row.published is not None else []
    if row.recomputed is not None:
        figures.append(f"recomputed {row.recomputed:,.{decimals}f}")
    if row.low is not None and row.high is not None and row.low < row.high:
        figures.append(f"from {row.low:,.{decimals}f} to {row.high:,.{decimals}f}")
    if figures:
        yield f"  {', '.join(figures)}"
    for name in ("formula", "inputs", "note"):
        if text := getattr(row, name):
            yield f"  {name}: {text}"


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
