from fractions import Fraction
from pathlib import Path

import pytest

from evalcore.claim_formulas import parse_printed
from evalcore.commands.audit import AuditRow, audit, audit_rows, judge
from ngramscan.errors import InputError
from tests.support.cases import case_table, cases
from tests.support.command import invoke

SCORES = "task,pct,n,mark\nx,10.0,4,a\ny,20.5,4,b\n"


def check(folder: Path, claims: str, scores: str = SCORES) -> list[AuditRow]:
    (folder / "scores.csv").write_text(scores)
    (folder / "claims.yaml").write_text(claims)
    return audit_rows(folder)


@pytest.mark.parametrize(
    "row", cases(Path(__file__).with_suffix(".audit_verdicts.csv")), ids=lambda row: row["case"]
)
def test_a_verdict_follows_from_the_figures(row: dict[str, str]) -> None:
    printed = parse_printed(row["published"])
    assert printed is not None
    value, low, high = (Fraction(row[name]) for name in ("value", "low", "high"))
    assert judge(printed, value, low, high, row["relation"])[0] == row["verdict"]


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".malformed_claims.jsonl")))
def test_a_claims_file_that_is_wrong_says_where(tmp_path: Path, claims: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        check(tmp_path, claims)


def test_what_is_not_there_and_claims_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "claims.yaml"
    with pytest.raises(InputError, match=r"claims\.yaml: no such file"):
        audit(tmp_path)
    file.write_text("claims: []")
    with pytest.raises(InputError, match="none: no such file or folder; expected a folder of CSV"):
        audit(tmp_path / "none", claims=file)
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8 at byte 0"):
        audit(tmp_path)


def test_details_are_those_of_claims_that_do_not_hold(tmp_path: Path) -> None:
    claim = '- {id: %s, where: w, statement: s, published: "%s", formula: sum(scores.pct)}\n'
    check(tmp_path, "claims:\n" + claim % ("right", "30.5") + claim % ("wrong", "40.0"))
    told = invoke("audit", tmp_path, "--verbose").stdout
    assert "published: 40.0\n  recomputed: 30.5\n" in told
    assert ("id: wrong" in told, "id: right" in told) == (True, False)
