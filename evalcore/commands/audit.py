"""`evalcore audit`: published figures recomputed from published tables, with a verdict on each."""

import ast
import operator
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from rich.console import Console

from evalcore.claim_formulas import Cell, Evaluator, Tables, parse_formula, parse_printed, select
from evalcore.options import File
from ngramscan.errors import InputError
from ngramscan.reading.row_files import read_table
from ngramscan.reading.yaml_files import as_type, parse_yaml, read_text
from ngramscan.reporting.command import Option, Result, command
from ngramscan.reporting.layout import Layout, cell, print_columns
from ngramscan.rows import Label, row_kind

Verdict = Literal["ok", "rounding", "mismatch", "different quantity", "not derivable"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
OK, ROUNDING, MISMATCH, DIFFERENT, UNDERIVABLE = VERDICTS
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*(?:\.id)?)\}")
_Choices = list[str] | dict[str, str]
_Decimals = Annotated[int, msgspec.Meta(ge=0, le=9)]


class Claim(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An entry of a claims file; one with loops stands for a claim per combination."""

    id: str
    where: str
    statement: str
    published: str | None = None
    cell: str | None = None
    formula: str | None = None
    relation: Literal["equal", "at least", "at most", "above", "below"] = msgspec.field(
        default="equal", name="is"
    )
    decimals: _Decimals | None = None
    rounded: str | None = None
    different: str | None = None
    underivable: str | None = None
    note: str | None = None
    loops: dict[str, str | _Choices] = msgspec.field(default_factory=dict, name="for")

    def __post_init__(self) -> None:
        if self.published is not None and self.cell is not None:
            raise ValueError("published and cell are both given; expected one of them")
        if self.underivable is None and self.published is None and self.cell is None:
            raise ValueError("published is missing, or the cell where it is printed")
        if self.underivable is None and self.formula is None:
            raise ValueError("formula is missing, or why there is none: underivable")


class _ClaimsFile(msgspec.Struct, forbid_unknown_fields=True):
    claims: list[dict[str, Any]]
    lists: dict[str, _Choices] = {}
    values: dict[str, str] = {}
    keys: list[str] = []
    counts: list[str] = []
    decimals: dict[str, _Decimals] = {}
    aliases: dict[str, list[str]] = {}

    def __post_init__(self) -> None:
        for other, times in Counter(chain.from_iterable(self.aliases.values())).items():
            if times > 1:
                raise ValueError(f"{other!r} is an alias twice")


@row_kind(
    "audit",
    "Published figures, recomputed",
    key=("published", "recomputed", "verdict"),
)
@dataclass(frozen=True, slots=True)
class AuditRow:
    """A published figure, the figure recomputed from the tables, and the verdict."""

    id: Label
    where: Label
    statement: Label
    published: str | None
    """As printed; None if the paper prints no such figure."""
    recomputed: float | None
    low: float | None
    high: float | None
    """Limits of the range that the rounding of the inputs allows."""
    verdict: str
    formula: str | None
    inputs: str | None
    """The cells that the formula reads."""
    note: str | None


def _read_tables(folder: Path, reading: _ClaimsFile) -> Tables:
    names = {other: name for name, others in reading.aliases.items() for other in others}
    tables = {}
    for file in sorted(folder.glob("*.csv")):
        tables[file.stem] = [_row(file.stem, row, names, reading) for _, row in read_table(file)]
    if not tables:
        raise InputError(str(folder), "it has no .csv files")
    for key in reading.keys:
        if not any(key in table[0] for table in tables.values()):
            raise ValueError(f"no table has a column {key!r}")
    for place in (*reading.counts, *reading.decimals):
        select(tables, parse_formula(place))
    return tables


def _row(
    table: str, texts: Mapping[str, str], aliases: Mapping[str, str], reading: _ClaimsFile
) -> Mapping[str, Cell]:
    names = {key: aliases.get(text, text) for key, text in texts.items() if key in reading.keys}
    row: dict[str, Cell] = {}
    for column, text in texts.items():
        places = {f"{table}.{column}", f"{table.partition('_')[0]}.{column}"}
        decimals = [reading.decimals[place] for place in places & reading.decimals.keys()]
        value, unit, is_bound = parse_printed(text, *decimals) or (text, Fraction(0), False)
        is_exact = is_bound or places & {*reading.counts}
        row[column] = Cell(
            table=table,
            column=column,
            text=text,
            name=aliases.get(text, text),
            value=text if is_bound else value,
            half=Fraction(0) if is_exact else unit / 2,
            names=names,
            row=row,
        )
    return row


def _expand(claim: Claim, lists: Mapping[str, _Choices]) -> Iterator[Claim]:
    loops = []
    for choices in claim.loops.values():
        if isinstance(choices, str) and choices not in lists:
            raise ValueError(f"for: no list named {choices!r}")
        found = lists[choices] if isinstance(choices, str) else choices
        if not found:
            raise ValueError("for: a list is empty")
        loops.append(found.items() if isinstance(found, dict) else zip(found, found, strict=True))
    texts = {k: v for k, v in msgspec.structs.asdict(claim).items() if isinstance(v, str)}
    for turn in product(*loops):
        names: dict[str, str] = {}
        for name, (short, text) in zip(claim.loops, turn, strict=True):
            names |= {name: text, f"{name}.id": short}
        # Without loops, LaTeX may have its braces.
        filled = {field: _filled(text, names) for field, text in texts.items() if names}
        yield msgspec.structs.replace(claim, **filled)


def _filled(text: str, names: Mapping[str, str]) -> str:
    try:
        return _PLACEHOLDER.sub(lambda found: names[found[1]], text)
    except KeyError as error:
        raise ValueError(f"{{{error.args[0]}}} is not the name of a loop") from error


def audit_rows(
    tables: str | Path | None = None, claims: str | Path | None = None
) -> list[AuditRow]:
    """Recompute the claims of a file, by default the paper's. See `audit`."""
    folder = Path(tables) if tables else Path(__file__).parents[1] / "published"
    file = Path(claims) if claims else folder / "claims.yaml"
    needed = file if folder.is_dir() else folder
    if not needed.exists():
        cure = "expected a folder of CSV files with claims.yaml, or --claims FILE"
        raise InputError(str(needed), f"no such file or folder; {cure}")
    root = as_type(parse_yaml(read_text(file), file.name), _ClaimsFile, file.name)
    found: dict[str, Claim] = {}
    formulas: dict[str, ast.expr] = {}
    try:
        for number, entry in enumerate(root.claims, 1):
            where = f"claim {number} ({entry.get('id', 'no id')})"
            for claim in _expand(msgspec.convert(entry, Claim), root.lists):
                if claim.id in found:
                    raise ValueError(f"two claims have the id {claim.id!r}")
                found[claim.id] = claim
        for where, text in [*root.values.items(), *chain(*map(_formulas_of, found.values()))]:
            formulas[where] = parse_formula(text)
        where = "keys, counts, decimals"
        read, rows = _read_tables(folder, root), []
        for claim in found.values():
            where = f"claim {claim.id}"
            rows.append(_check(claim, read, formulas))
    except ValueError as error:
        raise InputError(f"{file.name}: {where}", str(error)) from error
    return rows


def _formulas_of(claim: Claim) -> Iterator[tuple[str, str]]:
    if claim.formula:
        yield f'claim("{claim.id}")', claim.formula
    if claim.rounded:
        yield f'rounded("{claim.id}")', claim.rounded


def _check(claim: Claim, tables: Tables, formulas: Mapping[str, ast.expr]) -> AuditRow:
    evaluator = Evaluator(tables, formulas)
    published = claim.published if claim.cell is None else _printed_in(tables, claim.cell)
    figures, verdict, remark = None, UNDERIVABLE, claim.underivable
    if claim.formula is not None:
        figures = evaluator.recompute(formulas[f'claim("{claim.id}")'])
    if claim.underivable is None and figures is not None:
        printed = parse_printed(published or "", claim.decimals)
        if printed is None:
            raise ValueError(f"{published!r} is published; expected a number as printed")
        verdict, remark = judge(printed, *figures, claim.relation)
        if verdict == MISMATCH and claim.rounded:
            steps = Evaluator(tables, formulas).recompute(formulas[f'rounded("{claim.id}")'])
            if judge(printed, *steps, claim.relation) == (OK, None):
                verdict = ROUNDING
        if claim.different and verdict != OK:
            verdict = DIFFERENT
    value, low, high = map(float, figures) if figures else (None, None, None)
    relation = "" if claim.relation == "equal" else f"{claim.relation} "
    notes = (claim.different, claim.note, remark, *evaluator.remarks)
    return AuditRow(
        id=claim.id,
        where=claim.where,
        statement=claim.statement,
        published=published,
        recomputed=value,
        low=low,
        high=high,
        verdict=verdict,
        formula=claim.formula and f"{relation}{claim.formula}",
        inputs="; ".join(map(str, evaluator.cells)) or None,
        note="; ".join(filter(None, notes)) or None,
    )


def _printed_in(tables: Tables, place: str) -> str:
    cells, _ = select(tables, parse_formula(place))
    if len(cells) != 1:
        raise ValueError(f"cell: {len(cells)} cells are selected; expected one")
    return cells[0].text


def judge(
    published: Sequence[Any], value: Fraction, low: Fraction, high: Fraction, relation: str
) -> tuple[Verdict, str | None]:
    """Return the verdict on a figure, given the recomputed one and its range; and a remark."""
    figure, unit, is_bound = published
    if relation != "equal":
        sign, end = (1, low) if relation in {"at least", "above"} else (-1, high)
        reaches = operator.gt if relation in {"above", "below"} else operator.ge
        distance = sign * (figure - value)
        if reaches(distance, 0):
            return OK, None
        is_rounded = unit < 1 or low != high
        is_near = reaches(distance + unit / 2 + sign * (value - end), 0)
        return ROUNDING if is_rounded and is_near else MISMATCH, None
    if value < figure if is_bound else abs(figure - value) <= unit / 2:
        return OK, None
    if low < figure if is_bound else low <= figure <= high:
        return OK, "only inside the range that rounded inputs allow"
    # Some figure in the range would be printed so. That only the end of both would, halves
    # rounded up here and down there, explains nothing.
    is_near = low < figure + unit / 2 and figure - unit / 2 < high
    return ROUNDING if is_near and not is_bound else MISMATCH, None


def print_audit(console: Console, rows: Sequence[AuditRow], is_chosen: bool, verbose: bool) -> None:
    """Print the verdicts on each table; or the claims that were chosen, with details if wanted."""
    if verbose:
        for row in rows:
            if is_chosen or row.verdict != OK:
                lines = [f"{k}: {_figure(v)}" for k, v in asdict(row).items() if v is not None]
                console.print("\n  ".join(lines), end="\n\n", soft_wrap=True)
    elif is_chosen:
        names = ("verdict", "id", "where", "published", "recomputed")
        columns = {name: [_figure(getattr(row, name)) for row in rows] for name in names}
        print_columns(console, columns, Layout(3, frozenset({"where"})))
    if not is_chosen:
        _print_counts(console, rows)


def _figure(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else cell(value)


def _print_counts(console: Console, rows: Sequence[AuditRow]) -> None:
    """Print the number of claims by verdict, for the last table that each of them names."""
    counts: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for row in rows:
        # "tables 3 and 11": a claim is mostly about the later, more detailed table.
        named = re.findall(r"\b(table|figure)s? (?:\d+(?:, | and | to ))*(\d+)", row.where)
        kind, number = named[-1] if named else ("text", 0)
        counts[kind, int(number)][row.verdict] += 1
    lines = {f"{kind} {number or ''}": counts[kind, number] for kind, number in sorted(counts)}
    lines["all"] = sum(counts.values(), Counter())
    columns = {"where": [*lines]}
    for verdict in VERDICTS:
        columns[verdict] = [cell(n[verdict] or "") for n in lines.values()]
    ends = [number == len(counts) for number in range(1, len(lines))]
    print_columns(console, columns, Layout(1, section_ends=ends))
    if any(row.verdict != OK for row in rows):
        console.print("--verdict mismatch lists the mismatches, -v explains them", style="dim")


@command
def audit(
    tables: Annotated[str | Path | None, Option(suffixes=(".csv",))] = None,
    *,
    claims: File = None,
    verdict: Verdict | Sequence[Verdict] = (),
    strict: Annotated[bool, Option(is_shown=True)] = False,
    verbose: Annotated[bool, Option("-v --verbose", is_shown=True)] = False,
) -> Result[AuditRow]:
    """Recompute published figures from published tables.

    TABLES is a folder of CSV files; without it, the tables of the Formula-One Prompting paper.
    The terminal shows how many claims about each table have which verdict (a claim about several
    tables counts for the last of them); --verdict lists claims, and -v explains them. Other formats
    have one row per claim. A mismatch is a result: the exit code is 0 unless you give --strict.

    Parameters
    ----------
    tables : str or Path, optional
        A folder of CSV files. By default the tables of the Formula-One Prompting paper.
    claims : str or Path, optional
        The claims and their formulas, in YAML. By default `claims.yaml` among the tables.
    verdict : str or sequence of str
        Show only claims with this verdict; `rounding` means explained by rounding alone.
    strict : bool
        End with exit code 1 if a claim is a mismatch.
    verbose : bool
        Show formula, inputs and note of each claim; without `verdict`, of all that are not ok.

    Returns
    -------
    DataFrame
        One row per claim.

    Examples
    --------
    $ evalcore audit
    $ evalcore audit --verdict mismatch -v
    $ evalcore audit tables/ --claims claims.yaml --strict -o audit.csv
    """
    found = audit_rows(tables, claims)
    rows = [row for row in found if not verdict or row.verdict in verdict]
    wrong = sum(row.verdict == MISMATCH for row in found)
    failures = [f"{wrong} of {len(found)} claims are mismatches"] if strict and wrong else []
    shown = partial(print_audit, rows=rows, is_chosen=bool(verdict), verbose=verbose)
    return Result(rows, AuditRow, failures=failures, print_table=shown)
