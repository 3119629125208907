"""The language of claims, through the audit of small tables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evalcore.audit import AuditRow, audit_rows
from ngramscan.errors import InputError

SCORES = """task,method,accuracy_pct,n,p,stars,bold
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
Compute = Callable[..., AuditRow]


def compute_in(folder: Path, formula: str, **file: object) -> AuditRow:
    """Recompute one formula from the tables of a folder."""
    claim = {"id": "x", "where": "here", "statement": "it", "underivable": "no figure"}
    content = {**file, "claims": [{**claim, "formula": formula}]}
    (folder / "claims.yaml").write_text(yaml.safe_dump(content, allow_unicode=True))
    return audit_rows(folder)[0]


@pytest.fixture
def compute(tmp_path: Path) -> Compute:
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "tokens_used.csv").write_text(TOKENS)

    def of_tables(formula: str, **named: str) -> AuditRow:
        return compute_in(tmp_path, formula, values=named, **READING)

    return of_tables


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        pytest.param("1 + 2 * 3", 7, id="products bind closer than sums"),
        pytest.param("10 - 4 - 3", 3, id="differences go from left to right"),
        pytest.param("-(2 - 5) / 1.5", 2, id="a sign before a bracket"),
        pytest.param("--2", 2, id="two signs"),
        pytest.param("1e3 / 4", 250, id="an exponent"),
        pytest.param('scores[task == "algebra", method == "A"].accuracy_pct', 61.9, id="one cell"),
        pytest.param(
            'scores[task == "sets, maps", method != "A"].accuracy_pct', 40, id="a comma in quotes"
        ),
        pytest.param("mean(scores.accuracy_pct)", 55.825, id="all rows"),
        pytest.param(
            'mean(1, 2, scores[method == "B", n == "21"].n)', 8, id="numbers and cells together"
        ),
        pytest.param(
            'sum(scores[task in ("algebra", "sets")].n)', None, id="a name that no row has"
        ),
        pytest.param("count(scores[p < 0.05].p)", 3, id="a bound is below its limit"),
        pytest.param("count(scores[p < 0.001].p)", 1, id="a bound is below itself"),
        pytest.param("count(scores[p >= 0.9].p)", 0, id="no cell to count"),
        pytest.param(
            'count(scores[method == "B"].accuracy_pct > scores[method == "A"].accuracy_pct)',
            1,
            id="rows are compared by the names that are open",
        ),
        pytest.param(
            'count(scores.stars == "*")', 1, id="texts are compared, and the true ones counted"
        ),
        pytest.param(
            "sum(scores.accuracy_pct * tokens.tokens)",
            61.9 * 100 + 71.4 * 300 + 50 * 400 + 40 * 200,
            id="tables in another order, with another name for the same method",
        ),
        pytest.param(
            'max(scores[method == "A"].accuracy_pct - scores[method == "B"].accuracy_pct)',
            10,
            id="the largest of one list",
        ),
        pytest.param(
            'sum(max(scores[method == "A"].n, 15))', 36, id="the larger of two values row by row"
        ),
        pytest.param(
            'weighted_mean(scores[method == "A"].accuracy_pct, by=n)',
            (61.9 * 21 + 500) / 31,
            id="weights from another column",
        ),
        pytest.param("abs(2 - 5) + sqrt(16)", 7, id="functions of one number"),
        pytest.param("round(2.5, 0) + round(-0.125, 2)", 3 - 0.13, id="halves away from zero"),
        pytest.param("mcnemar(9, 8)", 1, id="McNemar"),
        pytest.param("mcnemar(1, 7)", 2 * (1 + 8) / 2**8, id="McNemar by hand"),
        pytest.param("half * 4", 2, id="a formula with a name"),
        pytest.param("mcnemar_usual(-6, 8)", 2 * (1 + 8) / 2**8, id="few pairs: the exact test"),
        pytest.param("mcnemar_usual(-1, 31)", 1, id="the correction is no more than the distance"),
        pytest.param("signed_rank(5, 0)", 2 / 32, id="all signs alike, by hand"),
        pytest.param("signed_rank(2, 1)", 1, id="one of each sign, by hand"),
        pytest.param(
            'exact_pct(scores[task == "algebra", method == "A"].accuracy_pct, 21)',
            1300 / 21,
            id="13 of 21 is the only count that prints as 61.9",
        ),
        pytest.param(
            'exact_pct(scores[task == "algebra", method == "A"].accuracy_pct, of=n)',
            1300 / 21,
            id="of how many, from another column",
        ),
        pytest.param(
            'exact_pct(scores[task == "algebra", method == "A"].accuracy_pct, 7)',
            61.9,
            id="what no count gives stays as it is",
        ),
        pytest.param(
            'impossible_pct(scores[method == "B"].accuracy_pct, 7)',
            1,
            id="5 of 7 is 71.4, nothing of 7 is 40.0",
        ),
        pytest.param("wrong_bold_max(scores.accuracy_pct, among=method)", 0, id="bold is the best"),
        pytest.param("wrong_bold_min(scores.accuracy_pct, among=method)", 4, id="or the worst"),
        pytest.param("wrong_stars(scores.p)", 0, id="stars fit"),
    ],
)
def test_a_formula_gives_what_its_rules_say(
    compute: Compute, formula: str, expected: float | None
) -> None:
    if expected is None:
        with pytest.raises(InputError, match="no row of scores has task 'sets'"):
            compute(formula)
    else:
        assert compute(formula, half="0.5").recomputed == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        pytest.param("1 +", r"formula, character \d: invalid syntax", id="an end too early"),
        pytest.param("(1 + 2", r"character 1: '\(' was never closed", id="an open bracket"),
        pytest.param("1e999", "character 1: Invalid literal .* .inf.", id="a number without end"),
        pytest.param("1 + 2j", "character 5: Invalid literal .* .2j.", id="an imaginary number"),
        pytest.param("1 + True", "character 5: Invalid literal .* .True.", id="a truth value"),
        pytest.param("1 2", r"formula, character \d: invalid syntax", id="no operator"),
        pytest.param(r'"\d"', "invalid escape sequence", id="a text that needs r before it"),
        pytest.param("scores[task == algebra].n", "no row of scores has task None", id="no quotes"),
        pytest.param("scores[task].n", "task: expected column == ", id="no comparison"),
        pytest.param("scores[1 < n < 30].n", "1 < n < 30: expected column", id="two comparisons"),
        pytest.param('scores[task == "algebra"]', "not part of the language", id="no column"),
        pytest.param("(" * 300 + "1" + ")" * 300, "too many", id="too many brackets"),
        pytest.param("-" * 3000 + "1", "too many|recursion", id="too many signs"),
        pytest.param("1 +" * 3000 + "1", "too many|recursion", id="too many terms"),
        pytest.param("grades.n", "no table 'grades'; there are scores, tokens", id="no such table"),
        pytest.param("scores.size", "no column 'size'; it has task,", id="no such column"),
        pytest.param('scores[size == "1"].n', "scores has no column", id="nor for a condition"),
        pytest.param("1 + scores.n", "character 5: 4 cells; expected one", id="several cells"),
        pytest.param("sum(scores[n > 90].n)", "no cell is selected", id="no cell"),
        pytest.param("1 + scores[n > 90].n", "0 cells; expected one", id="no cell to add"),
        pytest.param("scores[task > 3].n", "can't be compared by size", id="texts have no size"),
        pytest.param("sum(scores.stars)", "is not a number", id="a text in a sum"),
        pytest.param("sum(scores.p)", "'<0.001' is not a number", id="a bound in a sum"),
        pytest.param("1 / (2 - 2)", "character 10: division by zero", id="division by zero"),
        pytest.param("1 < 2", "True is not a number", id="a comparison is no number"),
        pytest.param("median(scores.n)", "no function 'median'; there are abs", id="no function"),
        pytest.param("sqrt(1, 2)", "sqrt: too many positional arguments", id="too many arguments"),
        pytest.param("sqrt()", "sqrt: missing a required argument", id="too few arguments"),
        pytest.param("mean()", "no cell is selected", id="the mean of nothing"),
        pytest.param("mean(1, by=n)", "mean: got an unexpected keyword", id="an unknown option"),
        pytest.param("sqrt(0 - 1)", "math domain error|nonnegative", id="no such root"),
        pytest.param("mcnemar_usual(3, 2)", "no two counts", id="more apart than together"),
        pytest.param("mcnemar_usual(1, 8)", "no two counts", id="an odd difference of even many"),
        pytest.param("signed_rank(2, 4)", "no ranks of 2 differences", id="too large a rank sum"),
        pytest.param("signed_rank_normal(0, 0)", "one difference or more", id="no difference"),
        pytest.param("mcnemar(1.5, 2)", "1.5 is not a count", id="half a count"),
        pytest.param("wilson_low(5, 4)", "0 <= k <= n", id="more than all"),
        pytest.param("effect_paired_t(2, 18)", "a power between alpha and 1", id="no such power"),
        pytest.param("power_paired_t(1, 1)", "enough pairs", id="one pair"),
        pytest.param("count(1)", "count takes a selection or a comparison", id="nothing to count"),
        pytest.param("weighted_mean(scores.n)", "missing a required .*'by'", id="no weights"),
        pytest.param("weighted_mean(1, by=n)", "expected a selection", id="weights of a number"),
        pytest.param("weighted_mean(scores.n, by=b)", "no column 'b'", id="no such weights"),
        pytest.param("weighted_mean(scores.n, by=stars)", "is not a number", id="weights of text"),
        pytest.param(
            'weighted_mean(scores[bold == "0"].n, by=bold)', "sum to nothing", id="weights of zero"
        ),
        pytest.param(
            "wrong_bold_max(scores.n, among=method, marks=n)", "expected 0 or 1", id="no marks"
        ),
        pytest.param("wrong_bold_max(scores.n, among=m)", "no column 'm'", id="no such group"),
        pytest.param("wrong_stars(scores.stars)", "can't be compared by size", id="no p-values"),
        pytest.param("impossible_pct(scores.n, 0)", "0 is not a number of things", id="of nothing"),
        pytest.param("impossible_pct(scores.n)", "no column ''", id="of what"),
        pytest.param(
            'sum(scores.n * tokens[method == "B"].tokens)',
            "two rows have the same task",
            id="two rows of one list for one of the other",
        ),
        pytest.param(
            'sum(scores[method == "A"].n * scores[task == "algebra"].n)',
            "rows have no name",
            id="lists that share no open name",
        ),
        pytest.param(
            "sum(scores[p < 0.1].n * tokens.tokens)",
            "only one of two selections has a row .*sets, maps, A",
            id="a row without counterpart",
        ),
        pytest.param("nothing", "nothing of the name 'nothing'", id="an unknown name"),
        pytest.param("circle", "defined by itself: circle → circle", id="a definition in a circle"),
        pytest.param("claim(1)", "no function 'claim'; .*claim..id", id="a claim without quotes"),
        pytest.param('claim("y")', """nothing of the name 'claim."y".'""", id="an unknown claim"),
        pytest.param('claim("x")', "defined by itself", id="a claim that follows from itself"),
    ],
)
def test_a_formula_that_is_wrong_says_what_and_where(
    compute: Compute, formula: str, problem: str
) -> None:
    with pytest.raises(InputError, match=f"claims.yaml: .*(?:{problem})"):
        compute(formula, circle="circle + 1")


@pytest.mark.parametrize(
    "program",
    [
        "__import__('os').system('true')",
        "(lambda: 1)()",
        "[n for n in (1, 2)]",
        "().__class__",
        "scores.n.__class__",
        "sum(*scores)",
        "sum(**{})",
        "f'{1}'",
        "2 ** 99999999",
        "1 if 2 else 3",
        "(x := 1)",
        "[1][0]",
        "1 << 9",
        "~1",
        "not 1",
        "1 and 2",
        "b'1'",
        "...",
    ],
)
def test_nothing_but_the_language_is_computed(compute: Compute, program: str) -> None:
    with pytest.raises(InputError, match=r"claims\.yaml"):
        compute(program)


_NUMBERS = st.decimals(min_value=0, max_value=99, places=2).map(str)


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", " - "])
    return st.tuples(parts, operators, parts).map("".join) | parts.map("({})".format)


@settings(max_examples=60, deadline=None)
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


A = 'scores[task == "algebra", method == "A"].accuracy_pct'
B = 'scores[task == "algebra", method == "B"].accuracy_pct'
RANGES: dict[str, Callable[..., Fraction]] = {
    "mean(scores.accuracy_pct)": lambda a, b, c, d: (a + b + c + d) / 4,
    f"{B} - {A}": lambda a, b, c, d: b - a,
    f'{A} / sum(scores[task == "algebra"].accuracy_pct)': lambda a, b, c, d: a / (a + b),
    "100 / min(scores.accuracy_pct)": lambda a, b, c, d: 100 / min(a, b, c, d),
    f'-mean(scores[method == "A"].accuracy_pct) * {B}': lambda a, b, c, d: -(a + c) / 2 * b,
}


@pytest.mark.parametrize("formula", RANGES)
def test_the_range_is_that_of_all_corners(compute: Compute, formula: str) -> None:
    half = Fraction(1, 20)
    cells = [Fraction(text) for text in ("61.9", "71.4", "50.0", "40.0")]
    corners = itertools.product(*((cell - half, cell + half) for cell in cells))
    values = [RANGES[formula](*corner) for corner in corners]
    found = compute(formula)
    assert (found.low, found.high) == (float(min(values)), float(max(values)))


def test_counted_cells_have_no_range(compute: Compute) -> None:
    found = compute("mean(scores.n) / sum(tokens.tokens)")
    assert found.low == found.recomputed == found.high == 62 / 4 / 1000


def test_figures_are_compared_as_printed_whatever_they_were_before(compute: Compute) -> None:
    found = compute("count(scores.accuracy_pct >= 50)")
    assert found.low == found.recomputed == found.high == 3


def test_the_cells_that_were_read_are_shown(compute: Compute) -> None:
    found = compute(
        'scores[task == "algebra", method == "A"].n + sum(tokens[method == "A"].tokens)'
    )
    assert found.inputs == (
        "scores[algebra, A].n = 21; tokens_used[sets, maps, A].tokens = 400; "
        "tokens_used[algebra, A].tokens = 100"
    )


@pytest.mark.parametrize(
    ("p", "stars", "wrong"),
    [
        pytest.param("0.049", "*", 0, id="below .05"),
        pytest.param("0.050", "*", 0, id="it may have been 0.0496"),
        pytest.param("0.050", "", 0, id="or 0.0504"),
        pytest.param("0.052", "*", 1, id="above .05"),
        pytest.param("0.003", "***", 1, id="one star too many"),
        pytest.param("<0.05", "**", 1, id="a bound says no more than it says"),
        pytest.param("<0.001", "***", 0, id="the bound of three stars"),
        pytest.param("0.000", "***", 0, id="rounded to nothing"),
    ],
)
def test_stars_fit_a_p_value_if_they_fit_one_that_is_rounded_to_it(
    tmp_path: Path, p: str, stars: str, wrong: int
) -> None:
    (tmp_path / "tests.csv").write_text(f"p,stars\n{p},{stars}\n")
    assert compute_in(tmp_path, "wrong_stars(tests.p)").recomputed == wrong


@pytest.mark.parametrize(
    ("marks", "wrong"),
    [
        pytest.param("110", [], id="both of a tie"),
        pytest.param("000", [], id="none of a tie"),
        pytest.param("100", ["B].score = 5.0 is not bold"], id="one of a tie"),
        pytest.param("001", ["C].score = 4.9 is bold"], id="a lower one"),
        pytest.param(
            "011", ["A].score = 5.0 is not bold", "C].score = 4.9 is bold"], id="one and a lower"
        ),
    ],
)
def test_cells_that_tie_are_bold_alike_and_no_lower_one(
    tmp_path: Path, marks: str, wrong: list[str]
) -> None:
    rows = zip("ABC", ("5.0", "5.0", "4.9"), marks, strict=True)
    lines = ["task,method,score,bold", *(f"t,{a},{b},{c}" for a, b, c in rows)]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    formula = "wrong_bold_max(scores.score, among=method)"
    found = compute_in(tmp_path, formula, keys=["task", "method"])
    assert found.recomputed == len(wrong)
    assert found.note == "; ".join(["no figure", *(f"scores[t, {cell}" for cell in wrong)])


@pytest.mark.parametrize(
    ("row", "fewest", "most"),
    [
        pytest.param("-3.25,400,0.182", 81, 81, id="one number gives the p-value"),
        pytest.param("6.75,400,0.003", 75, 79, id="several do"),
        pytest.param("0.50,200,1.000", 1, 199, id="nearly all do"),
        pytest.param("-0.50,400,0.839", 24, 24, id="by the exact test"),
        pytest.param("26.00,200,<0.001", 52, 200, id="a bound"),
        pytest.param("0.50,200,0.500", 1, 1, id="none does: the nearest"),
    ],
)
def test_discordant_pairs_follow_from_a_difference_and_its_p_value(
    tmp_path: Path, row: str, fewest: int, most: int
) -> None:
    (tmp_path / "t.csv").write_text(f"delta,n,p\n{row}\n")
    for end, expected in (("min", fewest), ("max", most)):
        formula = f"discordant_{end}(t.p, delta=delta, of=n)"
        assert compute_in(tmp_path, formula).recomputed == expected


def test_mcnemar_and_signed_ranks_are_those_of_statsmodels_and_scipy(compute: Compute) -> None:
    from scipy.stats import wilcoxon
    from statsmodels.stats.contingency_tables import mcnemar

    for b, c in ((8, 14), (12, 12), (13, 12), (34, 47), (118, 89), (5, 40)):
        expected = mcnemar([[0, b], [c, 0]], exact=b + c < 25, correction=True).pvalue
        assert compute(f"mcnemar_usual({b - c}, {b + c})").recomputed == pytest.approx(expected)
    for n, negative in ((2, [1]), (7, [2, 3]), (18, [1, 4, 9]), (12, [12, 11])):
        differences = [-rank if rank in negative else rank for rank in range(1, n + 1)]
        exact = wilcoxon(differences, method="exact").pvalue
        normal = wilcoxon(differences, method="approx", correction=False).pvalue
        ranks = f"({n}, {sum(negative)})"
        assert compute(f"signed_rank{ranks}").recomputed == pytest.approx(exact)
        assert compute(f"signed_rank_normal{ranks}").recomputed == pytest.approx(normal)


def test_p_values_of_no_exact_signed_rank_test_are_counted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("p\n0.063\n0.180\n0.500\n")
    found = compute_in(tmp_path, "impossible_signed_rank(t.p, 5)")
    assert (found.recomputed, found.note) == (1, "no figure; t[].p = 0.180 is none")


def test_a_difference_may_be_a_negative_whole_number(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("delta\n-3.25\n-3.24\n")
    assert compute_in(tmp_path, "impossible_pct(t.delta, 400)").recomputed == 1


def test_wilson_and_power_are_those_of_statsmodels(compute: Compute) -> None:
    from statsmodels.stats.power import TTestPower
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(52, 86, method="wilson")
    assert compute("wilson_low(52, 86)").recomputed == pytest.approx(low, abs=1e-10)
    assert compute("wilson_high(52, 86)").recomputed == pytest.approx(high, abs=1e-10)
    power = TTestPower().power(0.5, 18, 0.05)
    assert compute("power_paired_t(0.5, 18)").recomputed == pytest.approx(power, abs=1e-8)
    back = compute(f"effect_paired_t({power:.12f}, 18)").recomputed
    assert back == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        pytest.param("61.90", 61.895, 61.905, id="decimals count, zeros too"),
        pytest.param("-3", -3.5, -2.5, id="a whole number"),
        pytest.param(".211", 0.2105, 0.2115, id="no zero before the point"),
    ],
)
def test_a_number_is_read_with_the_unit_of_its_last_decimal(
    tmp_path: Path, text: str, low: float, high: float
) -> None:
    (tmp_path / "t.csv").write_text(f"a\n{text}\n")
    found = compute_in(tmp_path, "t.a")
    assert (found.low, found.recomputed, found.high) == (low, float(text), high)


@pytest.mark.parametrize("text", ['""', ".", "10-100+", '"1,000"', "no", "+"])
def test_what_is_no_number_is_not_read_as_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(f"a\n{text}\n")
    with pytest.raises(InputError, match="is not a number"):
        compute_in(tmp_path, "t.a")


@pytest.mark.parametrize(
    ("files", "reading", "problem"),
    [
        pytest.param({}, {}, "no CSV file in it", id="an empty folder"),
        pytest.param({"t.csv": b""}, {}, "t.csv: expected rows below a header", id="empty"),
        pytest.param({"t.csv": b"a\n"}, {}, "t.csv: expected rows below a header", id="no rows"),
        pytest.param({"t.csv": b"a,a\n1,2\n"}, {}, "names each column once", id="a column twice"),
        pytest.param({"t.csv": b"a,b\n1\n"}, {}, "row 1: 1 fields; the header has 2", id="short"),
        pytest.param({"t.csv": b"a\n\xff\n"}, {}, "t.csv: not UTF-8 at byte 2", id="no UTF-8"),
        pytest.param({"t.csv": b'a\n"x\n'}, {}, "t.csv: not valid CSV", id="an open quote"),
        pytest.param({"t.csv": b"a\n1\n"}, {"keys": ["b"]}, "no table has a column 'b'", id="keys"),
        pytest.param(
            {"t.csv": b"a\n1\n"}, {"counts": ["t.b"]}, "t.b: t has no column 'b'", id="counts"
        ),
        pytest.param(
            {"t.csv": b"a\n1\n"}, {"decimals": {"a": 1}}, "a: no table .a.", id="no table"
        ),
    ],
)
def test_tables_that_cannot_be_read_are_refused(
    tmp_path: Path, files: dict[str, bytes], reading: dict[str, object], problem: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        compute_in(tmp_path, "1", **reading)


def test_a_folder_that_is_not_there_and_a_table_that_is_a_folder_are_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "claims.yaml").write_text("claims: []")
    with pytest.raises(InputError, match="there is no such folder"):
        audit_rows(tmp_path / "none", tmp_path / "claims.yaml")
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(InputError, match=r"t\.csv: is a directory"):
        audit_rows(tmp_path)
