import re
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from evalcore.claim_formulas import parse_printed
from evalcore.commands.audit import AuditRow, audit, audit_rows, judge
from ngramscan.errors import InputError
from tests.support import command
from tests.support.cases import cases

SCORES = "task,pct,n,mark\nx,10.0,4,a\ny,20.5,4,b\n"
invoke = partial(command.invoke, "audit")
CLAIM = """
claims:
- id: one
  where: text
  statement: the sum
  published: "30.5"
  formula: sum(scores.pct)
"""


def check(folder: Path, claims: str, scores: str = SCORES) -> list[AuditRow]:
    (folder / "scores.csv").write_text(scores)
    (folder / "claims.yaml").write_text(claims, encoding="utf-8")
    return audit_rows(folder)


@pytest.mark.parametrize("row", cases("audit_verdicts"), ids=lambda row: row["case"])
def test_a_verdict_follows_from_the_figures(row: dict[str, str]) -> None:
    printed = parse_printed(row["published"])
    assert printed is not None
    value, low, high = (Fraction(row[name]) for name in ("value", "low", "high"))
    assert judge(printed, value, low, high, row["relation"])[0] == row["verdict"]


FIGURE = 'published: "30.5"'
NAMED = CLAIM.replace("claims:", "values: {double: 'sum(scores.pct) * 2'}\nclaims:")


WRONG: list[tuple[str, str]] = [
    ("[1]", "claims.yaml: Expected object, got array"),
    ("claims: [", "claims.yaml:1: not valid YAML"),
    ("claims: []\ntables: []", "unknown field tables"),
    (CLAIM + "  for: {a: []}", "for: a list is empty"),
    ("claims: []\nlists: {a: [1]}", "Expected str, got int"),
    ("claims: []\naliases: {a: [b], c: [b]}", "'b' is an alias twice"),
    ("claims: []\ndecimals: {scores.n: x}", "Expected int, got str"),
    ("claims: []\nvalues: {a: '1 +'}", "a: formula, character 4: invalid"),
    ("claims: [x]", "Expected object, got str"),
    (CLAIM + "  sum: x", r"claim 1 \(one\): .* unknown field `sum`"),
    (CLAIM.replace('"30.5"', "30.5"), "`float` - at `..published`"),
    (CLAIM.replace("30.5", "many"), "expected a number as printed"),
    (re.sub(".*published.*\n", "", CLAIM), "published is missing"),
    (re.sub(".*formula.*\n", "", CLAIM), "formula is missing"),
    (CLAIM + "  is: near", "Invalid enum value 'near'"),
    (CLAIM + "  cell: scores.n", "both given; expected one"),
    (CLAIM.replace(FIGURE, "cell: '1'"), "claim one: 1: expected table"),
    (CLAIM + "  for: {a: b}", "for: there is no list 'b'"),
    (CLAIM.replace("the sum", "'{b}'") + "  for: {a: [x]}", "{b} is not the name"),
    (CLAIM + "  for: {a: [x, y]}", "two claims have the id 'one'"),
    (CLAIM.replace("pct", "score"), "claim one: formula, char.* no col"),
    (CLAIM.replace(FIGURE, "cell: scores.n"), "cell: 2 cells are"),
    (CLAIM.replace(FIGURE, 'cell: scores[task == "x"].mark'), "'a' is published; expected"),
]


@pytest.mark.parametrize(("claims", "problem"), WRONG)
def test_a_claims_file_that_is_wrong_says_where(tmp_path: Path, claims: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        check(tmp_path, claims)


def test_what_is_not_there_and_claims_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "claims.yaml"
    with pytest.raises(InputError, match=r"claims\.yaml: no such file"):
        audit(tmp_path)
    file.write_text("claims: []")
    with pytest.raises(InputError, match="none: no such file or folder; a folder of CSV"):
        audit(tmp_path / "none", claims=file)
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8 at byte 0"):
        audit(tmp_path)
