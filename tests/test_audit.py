from __future__ import annotations

import re
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evalcore.claim_formulas import parse_printed
from evalcore.commands.audit import DIFFERENT, AuditRow, audit, audit_rows, judge
from ngramscan.errors import InputError
from tests.support import command

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


def test_the_worked_example_of_the_documentation_gives_what_it_says(tmp_path: Path) -> None:
    text = Path(__file__).parent.with_name("docs").joinpath("audit.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(csv|yaml|text)\n(.*?)```", text, re.DOTALL))
    rows = check(tmp_path, blocks["yaml"], blocks["csv"])
    for row, shown in zip(rows, blocks["text"].splitlines(), strict=True):
        figures = [row.recomputed, row.low, row.high]
        told = ["-" if figure is None else f"{figure:.2f}" for figure in figures]
        assert " ".join([row.id, str(row.published), *told, row.verdict]) == shown
    by_id = {row.id: row for row in rows}
    assert "only inside the range" in str(by_id["gain"].note)
    assert str(by_id["bold"].note).count("bold") == 2
    assert str(by_id["all-B"].formula).startswith('mean(scores[task != "all", method == "B"]')
    inputs = "scores[algebra, B].accuracy_pct = 71.4; scores[geometry, B].accuracy_pct = 40.0"
    assert by_id["all-B"].inputs == inputs


VERDICTS = """
a half rounds both ways | 1.2 | 1.25 1.25 1.25 | equal | ok
cut, not rounded | 1.2 | 1.26 1.26 1.26 | equal | mismatch
at the end of the range | 1.2 | 1.4 1.2 1.6 | equal | ok
what was rounded lies in the range | 1.2 | 1.34 1.24 1.44 | equal | rounding
or on the other side | 1.2 | 1.06 0.96 1.16 | equal | rounding
only a tie rounded both ways | 1.2 | 1.3 1.25 1.35 | equal | mismatch
a tie rounded down | 1.2 | 1.1 1.05 1.15 | equal | mismatch
a unit from the range | 1.2 | 1.4 1.3 1.5 | equal | mismatch
counts are not rounded | 14 | 15 15 15 | equal | mismatch
rounded figures are | 14 | 15 14.4 15.6 | equal | rounding
but not by as much | 14 | 15 14.6 15.4 | equal | mismatch
at least as much | 3 | 3 3 3 | at least | ok
as much is not above | 3 | 3 3 3 | above | mismatch
above | 3 | 2 2 2 | above | ok
what is printed so is at most as much | 0.6 | 0.65 0.65 0.65 | above | mismatch
what is printed so may be more | 0.6 | 0.64 0.64 0.64 | above | rounding
above is not below | 3 | 2 2 2 | below | mismatch
it was rounded down | 0.6 | 0.63 0.63 0.63 | at least | rounding
a subset is larger | 0.6 | 1.18 1.18 1.18 | at least | mismatch
the input was rounded | 0.6 | 0.7 0.65 0.75 | at least | rounding
in both directions | 0.6 | 0.5 0.45 0.55 | at most | rounding
counts have an order too | 9 | 8 8 8 | at most | mismatch
below a bound | <0.001 | 0.0009 0.00085 0.00095 | equal | ok
perhaps below a bound | <0.020 | 0.020 0.0195 0.0205 | equal | ok
above a bound | <0.010 | 0.020 0.0195 0.0205 | equal | mismatch
"""


@pytest.mark.parametrize("line", VERDICTS.strip().splitlines())
def test_a_verdict_follows_from_the_figures(line: str) -> None:
    _, published, figures, relation, verdict = line.split(" | ")
    printed = parse_printed(published)
    assert printed is not None
    value, low, high = map(Fraction, figures.split())
    assert judge(printed, value, low, high, relation)[0] == verdict


def printed_as(figure: str) -> list[Fraction]:
    """Return figures in hundredths, and the ends themselves, that a figure in tenths may be."""
    tenth = Fraction(figure)
    return [tenth + Fraction(cent, 100) for cent in range(-5, 6)]


@pytest.mark.parametrize("formula", ["{a} - {b}", "({a} + {b}) / 2", "{a} / {b}"])
def test_what_unrounded_figures_can_explain_is_no_mismatch_and_all_else_is_one(
    tmp_path: Path, formula: str
) -> None:
    """By brute force: what every pair of unrounded figures would be printed as."""
    result = eval(f"lambda a, b: {formula.format(a='a', b='b')}")
    results = sorted(result(a, b) for a in printed_as("7.3") for b in printed_as("2.6"))
    middle = result(Fraction("7.3"), Fraction("2.6"))
    names = {name: f'scores[task == "{name}"].pct' for name in "ab"}
    expected, found = {}, {}
    for tenths in range(round(10 * middle) - 4, round(10 * middle) + 5):
        figure = f"{tenths / 10:.1f}"
        ends = printed_as(figure)[0], printed_as(figure)[-1]
        expected[figure] = any(ends[0] < one < ends[1] for one in results)
        claim = CLAIM.replace("30.5", figure).replace("sum(scores.pct)", formula.format(**names))
        (row,) = check(tmp_path, claim, "task,pct\na,7.3\nb,2.6\n")
        found[figure] = row.verdict in {"ok", "rounding"}
        assert (row.verdict == "mismatch") != found[figure]
    assert found == expected
    assert {*found.values()} == {False, True}


@pytest.mark.parametrize(
    ("published", "rounded", "verdict"),
    [
        ("30.2", "30.2", "rounding"),  # as printed on the way; not within the range of the cells
        ("30.2", "30.3", "mismatch"),
        ("30.2", "30.16", "rounding"),
        ("30.5", "99", "ok"),
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


def test_loops_make_a_claim_of_each_combination(tmp_path: Path) -> None:
    claims = """
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
    rows = check(tmp_path, claims)
    told = ["first-n 4 x: n", "first-pct 10.0 x: pct", "second-n 4 y: n", "second-pct 20.5 y: pct"]
    assert [f"{row.id} {row.published} {row.statement}" for row in rows] == told
    assert {row.verdict for row in rows} == {"ok"}


FIGURE = 'published: "30.5"'
ANOTHER = """- id: two
  where: text
  statement: twice
  published: "0.50"
  formula: claim("one") / double
  note: of course
"""
NAMED = CLAIM.replace("claims:", "values: {double: 'sum(scores.pct) * 2'}\nclaims:")
ZEROS = CLAIM.replace("claims:", "decimals: {scores.pct: 0}\nclaims:")
APART = CLAIM + "  different: a mean and a sum\n"
NOTHING = CLAIM.replace(FIGURE, "underivable: none")
CLAIMED: list[tuple[str, dict[str, Any]]] = [
    (NAMED + ANOTHER, {"verdict": "ok", "low": 0.5, "high": 0.5, "note": "of course"}),
    (ZEROS.replace(FIGURE, 'published: "30.00"\n  decimals: 0'), {"low": 29.5, "high": 31.5}),
    (CLAIM.replace("formula:", "is: above\n  formula:"), {"formula": "above sum(scores.pct)"}),
    (APART, {"verdict": "ok", "note": "a mean and a sum"}),
    (APART.replace("30.5", "30.7"), {"verdict": DIFFERENT, "note": "a mean and a sum"}),
    (APART.replace("30.5", "50.0"), {"verdict": DIFFERENT, "note": "a mean and a sum"}),
    (NOTHING, {"verdict": "not derivable", "published": None, "recomputed": 30.5, "note": "none"}),
]


@pytest.mark.parametrize(("claims", "expected"), CLAIMED)
def test_the_last_claim_gives_a_row(tmp_path: Path, claims: str, expected: dict[str, Any]) -> None:
    row = check(tmp_path, claims)[-1]
    assert {name: getattr(row, name) for name in expected} == expected
    assert invoke(tmp_path, "--strict")[0] == 0


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


def test_a_mismatch_fails_a_strict_audit_only_and_claims_have_any_name(tmp_path: Path) -> None:
    check(tmp_path, CLAIM.replace("30.5", "40.5"))
    code, shown, said = invoke(tmp_path)
    assert (code, said) == (0, "")
    failed = (1, shown, "Error: 1 of 1 claims are mismatches\n")
    assert invoke(tmp_path, "--strict") == failed
    assert invoke(tmp_path, "--strict", "--verdict", "ok")[0] == 1, "whatever is listed"
    check(tmp_path, CLAIM)
    code, shown, said = invoke(tmp_path, "--strict")
    assert (code, said) == (0, "")
    assert re.findall("text 1|all 1|--verdict", re.sub(" +", " ", shown)) == ["text 1", "all 1"]
    frame = audit(tmp_path, claims=(tmp_path / "claims.yaml").rename(tmp_path / "other.yaml"))
    assert frame.verdict.tolist() == ["ok"]
    assert str(frame.dtypes["recomputed"]) == "Float64"


PLACES = ("table 2", "tables 1 and 2", "tables 1, 2 and 3", "figure 1, example 2", "the text")


def test_a_table_counts_verdicts_and_the_chosen_claims_are_listed(tmp_path: Path) -> None:
    entries = []
    for number, where in enumerate(PLACES):
        entry = CLAIM.partition("claims:\n")[2].replace("where: text", f"where: {where}")
        entry = entry.replace("30.5", "40.5") if number % 2 else entry
        entries.append(entry.replace("id: one", f"id: claim-{number}"))
    check(tmp_path, "claims:\n" + "".join(entries))
    lines = invoke(tmp_path)[1].splitlines()
    counts = [line.split() for line in lines if re.match(r" +(figure|table|text|all)", line)]
    shown = "; ".join(map(" ".join, counts))
    assert shown == "figure 1 1; table 2 1 1; table 3 1; text 1; all 3 2"
    assert lines[-1].startswith("--verdict mismatch lists the mismatches, -v explains")
    assert len(lines) < 15
    listed = invoke(tmp_path, "--verdict", "mismatch")[1]
    for cells in (
        ("claim-1", "tables 1 and 2", "40.5", "30.5"),
        ("claim-3", "figure 1, example 2"),
    ):
        assert re.search(" +".join(map(re.escape, cells)), listed)
    assert ("claim-0" in listed, "formula" in listed) == (False, False)
    details = "id: claim-1\n  where: tables 1 and 2\n  statement: the sum\n  published: 40.5\n"
    details += "  recomputed: 30.5\n  low: 30.4\n  high: 30.6\n  verdict: mismatch\n"
    details += "  formula: sum(scores.pct)\n  inputs: scores[].pct = 10.0; scores[].pct = 20.5\n\n"
    for more in (("-v",), ("--verdict", "mismatch", "-v")):
        assert invoke(tmp_path, *more)[1].startswith(details)
    rows = invoke(tmp_path, "--verdict", "ok", "--format", "csv").rows
    assert [row["id"] for row in rows] == ["claim-0", "claim-2", "claim-4"]
    code, _, said = invoke(str(tmp_path), "--verdict", "mismatc")
    assert (code, "'mismatc' is not one of ok, rounding, mismatch" in said) == (2, True)
    assert len(audit(tmp_path, verdict=["mismatch", "ok"])) == 5
