"""The language of claims, through formulas over small tables."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from docs.errata.claims import CheckedClaim, check_claims
from ngramscan.errors import InputError
from tests.support.cases import cases

SCORES = """task,method,pct,n,p,stars,bold
algebra,A,61.9,21,0.031,*,0
algebra,B,71.4,21,<0.001,***,1
"sets, maps",A,50.0,10,.20,,1
"sets, maps",B,40.0,10,0.004,**,0
"""
TOKENS = """task,method,tokens
"sets, maps",A-long,400
algebra,A-long,100
algebra,B,300
"sets, maps",B,200
"""
READING = {
    "keys": ["task", "method"],
    "counts": ["scores.n", "tokens_used.tokens"],
    "aliases": {"A": ["A-long"]},
}
Compute = Callable[..., CheckedClaim]


def compute_in(folder: Path, formula: str, **file: object) -> CheckedClaim:
    """Recompute one formula from the tables of a folder."""
    claim = {"id": "x", "where": "here", "statement": "it", "underivable": "no figure"}
    content = {**file, "claims": [{**claim, "formula": formula}]}
    (folder / "claims.yaml").write_text(yaml.safe_dump(content, allow_unicode=True))
    return check_claims(folder, folder / "claims.yaml")[0]


@pytest.fixture
def compute(tmp_path: Path) -> Compute:
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "tokens_used.csv").write_text(TOKENS)

    def of_tables(formula: str, **named: str) -> CheckedClaim:
        return compute_in(tmp_path, formula, values=named, **READING)

    return of_tables


@pytest.mark.parametrize(
    "case", cases(Path(__file__).with_suffix(".csv")), ids=lambda case: str(case["formula"])
)
def test_a_formula_gives_what_its_rules_say(compute: Compute, case: dict[str, str]) -> None:
    recomputed = compute(case["formula"]).recomputed
    assert recomputed == pytest.approx(float(case["value"]), abs=1e-12)


REFUSED = [
    *(
        [case["formula"], case["problem"]]
        for case in cases(Path(__file__).with_suffix(".refused.csv"))
    ),
    ["(" * 300 + "1" + ")" * 300, "too many"],
    ["1 +" * 3000 + "1", "too many|recursion"],
    ["circle", "defined by itself: circle → circle"],
]


@pytest.mark.parametrize(("formula", "problem"), REFUSED)
def test_a_formula_that_is_wrong_says_what_and_where(
    compute: Compute, formula: str, problem: str
) -> None:
    with pytest.raises(InputError, match=f"claims.yaml: .*(?:{problem})"):
        compute(formula, circle="circle + 1")


_NUMBERS = st.decimals(min_value=0, max_value=99, places=2).map(str)


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", " - "])
    return st.tuples(parts, operators, parts).map("".join) | parts.map("({})".format)


@settings(max_examples=60)
@given(st.recursive(_NUMBERS, _joined, max_leaves=12))
def test_arithmetic_is_that_of_python(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("tables", numbered=True)
    (folder / "scores.csv").write_text(SCORES)
    program = re.sub(r"\d+\.\d+", r'Fraction("\g<0>")', text)
    try:
        expected = eval(program, {"Fraction": Fraction})
    except ZeroDivisionError:
        with pytest.raises(InputError, match="division by zero"):
            compute_in(folder, text)
    else:
        assert compute_in(folder, text).recomputed == float(expected)


@pytest.mark.parametrize(
    ("table", "formula", "expected"),
    [
        ("p,stars 0.050,* 0.050,", "wrong_stars(t.p)", "0"),
        ("p,stars 0.052,*", "wrong_stars(t.p)", "1"),
        ("p,stars <0.05,**", "wrong_stars(t.p)", "1"),
        ("p,stars 0.049,* <0.001,*** 0.000,***", "wrong_stars(t.p)", "0"),
        ("delta,n,p -3.25,400,0.182", "discordant_max(t.p, delta=delta, size=n)", "81"),
        ("delta,n,p 0.50,200,1.000", "discordant_max(t.p, delta=delta, size=n)", "199"),
        ("delta,n,p -0.50,400,0.839", "discordant_min(t.p, delta=delta, size=n)", "24"),
        ("delta,n,p 26.00,200,<0.001", "discordant_min(t.p, delta=delta, size=n)", "52"),
        ("delta,n,p 26.00,200,<0.001", "discordant_max(t.p, delta=delta, size=n)", "200"),
        ("delta,n,p 0.50,200,0.500", "discordant_max(t.p, delta=delta, size=n)", "1"),
        ("p 0.063 0.180 0.500", "impossible_signed_rank(t.p, 5)", "1"),
        ("delta -3.25 -3.24", "impossible_pct(t.delta, 400)", "1"),
        ("a 61.90", "t.a", "61.895 61.9 61.905"),
        ("a -3", "t.a", "-3.5 -3 -2.5"),
        ("a .211", "t.a", "0.2105 0.211 0.2115"),
    ],
)
def test_figures_are_judged_as_they_are_printed(
    tmp_path: Path, table: str, formula: str, expected: str
) -> None:
    (tmp_path / "t.csv").write_text(table.replace(" ", "\n") + "\n")
    claim, ends = compute_in(tmp_path, formula), [float(end) for end in expected.split()]
    assert (claim.low, claim.high) == (ends[0], ends[-1])
    assert claim.recomputed == ends[len(ends) // 2]


@pytest.mark.parametrize(("b", "c"), [(8, 14), (12, 12), (13, 12), (34, 47), (118, 89), (5, 40)])
def test_the_usual_mcnemar_test_is_that_of_statsmodels(compute: Compute, b: int, c: int) -> None:
    expected = mcnemar([[0, b], [c, 0]], exact=b + c < 25, correction=True).pvalue
    assert compute(f"mcnemar_usual({b - c}, {b + c})").recomputed == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n", "negative"),
    [
        pytest.param(2, [1], id="two ranks"),
        pytest.param(7, [2, 3], id="seven"),
        pytest.param(18, [1, 4, 9], id="eighteen"),
        pytest.param(12, [12, 11], id="the largest"),
    ],
)
def test_signed_ranks_are_those_of_scipy(compute: Compute, n: int, negative: list[int]) -> None:
    differences = [-rank if rank in negative else rank for rank in range(1, n + 1)]
    exact = wilcoxon(differences, method="exact").pvalue
    normal = wilcoxon(differences, method="approx", correction=False).pvalue
    ranks = f"({n}, {sum(negative)})"
    assert compute(f"signed_rank{ranks}").recomputed == pytest.approx(exact)
    assert compute(f"signed_rank_normal{ranks}").recomputed == pytest.approx(normal)


def test_wilson_and_power_are_those_of_statsmodels(compute: Compute) -> None:
    low, high = proportion_confint(52, 86, method="wilson")
    assert compute("wilson_low(52, 86)").recomputed == pytest.approx(low, abs=1e-10)
    assert compute("wilson_high(52, 86)").recomputed == pytest.approx(high, abs=1e-10)
    power = TTestPower().power(0.5, 18, 0.05)
    assert compute("power_paired_t(0.5, 18)").recomputed == pytest.approx(power, abs=1e-8)
    back = compute(f"effect_paired_t({power:.12f}, 18)").recomputed
    assert back == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("files", "reading", "problem"),
    [
        pytest.param({}, {}, "it has no .csv files", id="no table"),
        pytest.param({"t.csv": "a\n"}, {}, "t.csv: no rows", id="no rows"),
        pytest.param({"t.csv": "a\n\udcff\n"}, {}, "t.csv:2: not UTF-8", id="not UTF-8"),
        pytest.param({"t.csv/a": ""}, {}, r"t\.csv: a folder; expected a table", id="a folder"),
        pytest.param({"t.csv": 'a\n""\n'}, {}, "is not a number", id="an empty cell"),
        pytest.param({"t.csv": "a\n.\n"}, {}, "is not a number", id="a point"),
        pytest.param({"t.csv": "a\n10-100+\n"}, {}, "is not a number", id="a range"),
        pytest.param(
            {"t.csv": 'a\n"1,000"\n'}, {}, "is not a number", id="a thousand with a comma"
        ),
        pytest.param({"t.csv": "a\nno\n"}, {}, "is not a number", id="a word"),
        pytest.param({"t.csv": "a\n+\n"}, {}, "is not a number", id="a sign"),
        pytest.param(
            {"t.csv": "a\n1\n"}, {"keys": ["b"]}, "no table has a column 'b'", id="no such key"
        ),
        pytest.param(
            {"t.csv": "a\n1\n"},
            {"counts": ["t.b"]},
            "decimals: t has no column 'b'",
            id="no such count",
        ),
        pytest.param(
            {"t.csv": "a\n1\n"},
            {"decimals": {"a": 1}},
            "decimals: a: expected table.conditions..column",
            id="decimals without a table",
        ),
    ],
)
def test_tables_that_cannot_be_read_are_refused(
    tmp_path: Path, files: dict[str, str], reading: dict[str, object], problem: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=problem):
        compute_in(tmp_path, "t.a", **reading)
