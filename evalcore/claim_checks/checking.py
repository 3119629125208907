"""Claims × tables → one row per claim."""

from __future__ import annotations

from dataclasses import dataclass

from evalcore.claim_checks.claims import Claim, Claims
from evalcore.claim_checks.evaluation import Evaluator, Formulas
from evalcore.claim_checks.parsing import FormulaError
from evalcore.claim_checks.ranges import Recomputed, recompute
from evalcore.claim_checks.selecting import select
from evalcore.claim_checks.tables import Printed, Tables, parse_printed
from evalcore.claim_checks.verdicts import UNDERIVABLE, judge
from ngramscan.errors import InputError


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


def check_claims(tables: Tables, claims: Claims) -> list[AuditRow]:
    """Recompute every claim.

    Parameters
    ----------
    tables : Tables
        What the formulas select from.
    claims : Claims
        In the order of the rows.

    Returns
    -------
    list of AuditRow
        One per claim.

    Raises
    ------
    InputError
        A formula can't be computed; the claim is named.
    """
    of_claims = {claim.id: claim.formula for claim in claims.claims if claim.formula is not None}
    formulas = Formulas(claims.values, of_claims)
    rows = []
    for claim in claims.claims:
        try:
            rows.append(_check(claim, tables, formulas))
        except FormulaError as error:
            raise InputError(f"{claims.name}: claim {claim.id}", str(error)) from error
    return rows


def _check(claim: Claim, tables: Tables, formulas: Formulas) -> AuditRow:
    text, printed = _published(claim, tables)
    found = None
    if claim.formula is not None:
        found = recompute(Evaluator(tables, formulas), claim.formula)
    notes = [*(found.remarks if found else ())]
    if claim.underivable is not None or found is None or printed is None:
        verdict = UNDERIVABLE
        notes.insert(0, claim.underivable or "")
    else:
        verdict, remark = judge(printed, found, claim.relation)
        notes.insert(0, remark or "")
    notes.insert(0, claim.note or "")
    return AuditRow(
        id=claim.id,
        where=claim.where,
        statement=claim.statement,
        published=text,
        recomputed=float(found.value) if found else None,
        low=float(found.low) if found else None,
        high=float(found.high) if found else None,
        verdict=verdict,
        formula=_formula_text(claim),
        inputs=_inputs(found),
        note="; ".join(note for note in notes if note) or None,
    )


def _published(claim: Claim, tables: Tables) -> tuple[str | None, Printed | None]:
    """Return the published figure, from the claim or from the cell that it names."""
    if claim.cell is None:
        return claim.published_text, claim.published
    cells = select(tables, claim.cell)
    if len(cells) != 1:
        raise FormulaError(f"cell: {len(cells)} cells are selected; expected one")
    text = cells[0].text
    printed = parse_printed(text, claim.decimals)
    if printed is None:
        raise FormulaError(f"cell: {cells[0].address} holds {text!r}; expected a number")
    return text, printed


def _formula_text(claim: Claim) -> str | None:
    if claim.formula_text is None or claim.relation == "equal":
        return claim.formula_text
    return f"{claim.relation} {claim.formula_text}"


def _inputs(found: Recomputed | None) -> str | None:
    if found is None:
        return None
    return "; ".join(f"{cell.address} = {cell.text}" for cell in found.cells) or None
