"""Claims about small tables: how they are read, and the verdicts on them."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from docs.errata.claims import CheckedClaim, check_claims
from ngramscan.errors import InputError
from tests.support.cases import case_table

SCORES = "task,pct,n,mark\nx,10.0,4,a\ny,20.5,4,b\n"


def check(folder: Path, claims: str, scores: str = SCORES) -> list[CheckedClaim]:
    (folder / "scores.csv").write_text(scores)
    (folder / "claims.yaml").write_text(claims)
    return check_claims(folder, folder / "claims.yaml")


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_a_claims_file_that_is_wrong_says_where(tmp_path: Path, claims: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        check(tmp_path, claims)


def test_files_that_are_absent_or_not_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "claims.yaml"
    with pytest.raises(InputError, match=r"claims\.yaml: no such file"):
        check_claims(tmp_path, file)
    file.write_text("claims: []")
    with pytest.raises(InputError, match=r"none: it has no \.csv files"):
        check_claims(tmp_path / "none", file)
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8 at byte 0"):
        check_claims(tmp_path, file)


CLAIM = """claims:
- id: one
  where: text
  statement: the sum
  published: "30.5"
  formula: sum(scores.pct)
"""


def test_each_column_of_a_claim_is_as_by_hand(tmp_path: Path) -> None:
    (row,) = check(tmp_path, CLAIM)
    assert row == CheckedClaim(
        id="one",
        where="text",
        statement="the sum",
        published="30.5",
        recomputed=30.5,
        # Each of two figures is printed to a tenth.
        low=30.4,
        high=30.6,
        verdict="ok",
        formula="sum(scores.pct)",
        inputs="scores[].pct = 10.0; scores[].pct = 20.5",
        note=None,
    )


def printed_as(figure: str) -> list[Fraction]:
    """Return figures in hundredths, and the ends themselves, that a figure in tenths may be."""
    return [Fraction(figure) + Fraction(cent, 100) for cent in range(-5, 6)]


@pytest.mark.parametrize(
    ("formula", "compute"),
    [
        pytest.param("{a} - {b}", lambda a, b: a - b, id="a difference"),
        pytest.param("({a} + {b}) / 2", lambda a, b: (a + b) / 2, id="a mean"),
        pytest.param("{a} / {b}", lambda a, b: a / b, id="a ratio"),
    ],
)
def test_what_unrounded_figures_can_explain_is_no_mismatch(
    tmp_path: Path, formula: str, compute: Callable[[Fraction, Fraction], Fraction]
) -> None:
    """By brute force: what every pair of unrounded figures would be printed as."""
    results = [compute(a, b) for a in printed_as("7.3") for b in printed_as("2.6")]
    middle = compute(Fraction("7.3"), Fraction("2.6"))
    cells = {name: f'scores[task == "{name}"].pct' for name in "ab"}
    expected, verdicts = {}, {}
    for tenths in range(round(10 * middle) - 4, round(10 * middle) + 5):
        figure = f"{tenths / 10:.1f}"
        ends = printed_as(figure)[0], printed_as(figure)[-1]
        expected[figure] = any(ends[0] < result < ends[1] for result in results)
        claim = CLAIM.replace("30.5", figure).replace("sum(scores.pct)", formula.format(**cells))
        (row,) = check(tmp_path, claim, "task,pct\na,7.3\nb,2.6\n")
        verdicts[figure] = row.verdict
    assert {*verdicts.values()} <= {"ok", "rounding", "mismatch"}
    assert {figure: verdict != "mismatch" for figure, verdict in verdicts.items()} == expected
    assert {*expected.values()} == {False, True}


@pytest.mark.parametrize(
    ("published", "rounded", "verdict"),
    [
        pytest.param("30.2", "30.2", "rounding", id="as printed on the way"),
        pytest.param("30.2", "30.3", "mismatch", id="another step"),
        pytest.param("30.2", "30.16", "rounding", id="a step that is rounded so"),
        pytest.param("30.5", "99", "ok", id="a step that is not needed"),
    ],
)
def test_printed_steps_explain_what_they_give_and_nothing_else(
    tmp_path: Path, published: str, rounded: str, verdict: str
) -> None:
    claim = CLAIM.replace("30.5", published) + f"  rounded: '{rounded}'\n"
    (row,) = check(tmp_path, claim)
    assert (row.verdict, row.recomputed, row.formula) == (verdict, 30.5, "sum(scores.pct)")
    with pytest.raises(InputError, match=r"rounded\(.one.\): formula, character 4"):
        check(tmp_path, CLAIM + "  rounded: 1 +\n")


LOOPS = """
keys: [task]
lists: {tasks: {first: x, second: y}}
claims:
- for: {task: tasks, column: [n, pct]}
  id: "{task.id}-{column}"
  where: text
  statement: "{task}: {column}"
  cell: scores[task == "{task}"].{column}
  formula: scores[task == "{task}"].{column}
"""


def test_loops_make_a_claim_of_each_combination(tmp_path: Path) -> None:
    rows = check(tmp_path, LOOPS)
    assert [(row.id, row.published, row.statement) for row in rows] == [
        ("first-n", "4", "x: n"),
        ("first-pct", "10.0", "x: pct"),
        ("second-n", "4", "y: n"),
        ("second-pct", "20.5", "y: pct"),
    ]
    assert {row.verdict for row in rows} == {"ok"}


FIGURE = 'published: "30.5"'
ANOTHER = """- id: two
  where: text
  statement: twice
  published: "0.50"
  formula: claim("one") / double
  note: of course
"""
APART = CLAIM + "  different: a mean and a sum\n"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        pytest.param(
            CLAIM.replace("claims:", "values: {double: 'sum(scores.pct) * 2'}\nclaims:") + ANOTHER,
            {"verdict": "ok", "low": 0.5, "high": 0.5, "note": "of course"},
            id="a claim and a value with names",
        ),
        pytest.param(
            CLAIM.replace("claims:", "decimals: {scores.pct: 0}\nclaims:").replace(
                FIGURE, 'published: "30.00"\n  decimals: 0'
            ),
            {"low": 29.5, "high": 31.5},
            id="fewer decimals than are printed",
        ),
        pytest.param(
            CLAIM.replace("formula:", "is: above\n  formula:"),
            {"formula": "above sum(scores.pct)"},
            id="a relation",
        ),
        pytest.param(APART, {"verdict": "ok", "note": "a mean and a sum"}, id="ok all the same"),
        pytest.param(
            APART.replace("30.5", "50.0"),
            {"verdict": "different quantity", "note": "a mean and a sum"},
            id="another quantity",
        ),
        pytest.param(
            CLAIM.replace(FIGURE, "underivable: none"),
            {"verdict": "not derivable", "published": None, "recomputed": 30.5, "note": "none"},
            id="a figure that nothing gives",
        ),
    ],
)
def test_the_last_claim_gives_a_row(tmp_path: Path, claims: str, expected: dict[str, Any]) -> None:
    row = check(tmp_path, claims)[-1]
    assert {name: getattr(row, name) for name in expected} == expected
