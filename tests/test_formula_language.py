from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalcore.claim_checks.evaluation import Evaluator, Formulas
from evalcore.claim_checks.parsing import FormulaError, parse_formula
from evalcore.claim_checks.ranges import Recomputed, recompute
from evalcore.claim_checks.tables import Reading, Tables, parse_printed, read_tables
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
READING = Reading(
    keys=frozenset({"task", "method"}),
    counts=frozenset({"scores.n", "tokens_used.tokens"}),
    aliases={"A-long": "A"},
)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    (tmp_path / "scores.csv").write_text(SCORES)
    (tmp_path / "tokens_used.csv").write_text(TOKENS)
    return read_tables(tmp_path, READING)


def compute(tables: Tables, formula: str, **named: str) -> Recomputed:
    formulas = Formulas({name: parse_formula(text) for name, text in named.items()}, {})
    return recompute(Evaluator(tables, formulas), parse_formula(formula))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        pytest.param("1 + 2 * 3", 7, id="products bind closer than sums"),
        pytest.param("10 - 4 - 3", 3, id="differences go from left to right"),
        pytest.param("-(2 - 5) / 1.5", 2, id="a sign before a bracket"),
        pytest.param("--2", 2, id="two signs"),
        pytest.param("1e3 / 4", 250, id="an exponent"),
        pytest.param("scores[task=algebra, method=A].accuracy_pct", 61.9, id="one cell"),
        pytest.param(
            'scores[task="sets, maps", method!=A].accuracy_pct', 40, id="a comma in quotes"
        ),
        pytest.param("mean(scores.accuracy_pct)", 55.825, id="all rows"),
        pytest.param("mean(1, 2, scores[method=B, n=21].n)", 8, id="numbers and cells together"),
        pytest.param("sum(scores[task=algebra|sets].n)", None, id="a name that no row has"),
        pytest.param("count(scores[p<0.05].p)", 3, id="a bound is below its limit"),
        pytest.param("count(scores[p<0.001].p)", 1, id="a bound is below itself"),
        pytest.param("count(scores[p>=0.9].p)", 0, id="no cell to count"),
        pytest.param(
            "count(scores[method=B].accuracy_pct > scores[method=A].accuracy_pct)",
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
            "max(scores[method=A].accuracy_pct - scores[method=B].accuracy_pct)",
            10,
            id="the largest of one list",
        ),
        pytest.param(
            "sum(max(scores[method=A].n, 15))", 36, id="the larger of two values row by row"
        ),
        pytest.param(
            "weighted_mean(scores[method=A].accuracy_pct, by=n)",
            (61.9 * 21 + 500) / 31,
            id="weights from another column",
        ),
        pytest.param("abs(2 - 5) + sqrt(16)", 7, id="functions of one number"),
        pytest.param("round(2.5, 0) + round(-0.125, 2)", 3 - 0.13, id="halves away from zero"),
        pytest.param("mcnemar(9, 8)", 1, id="McNemar"),
        pytest.param("mcnemar(1, 7)", 2 * (1 + 8) / 2**8, id="McNemar by hand"),
        pytest.param("half * 4", 2, id="a formula with a name"),
        pytest.param(
            "exact_pct(scores[task=algebra, method=A].accuracy_pct, 21)",
            1300 / 21,
            id="13 of 21 is the only count that prints as 61.9",
        ),
        pytest.param(
            "exact_pct(scores[task=algebra, method=A].accuracy_pct, of=n)",
            1300 / 21,
            id="of how many, from another column",
        ),
        pytest.param(
            "exact_pct(scores[task=algebra, method=A].accuracy_pct, 7)",
            61.9,
            id="what no count gives stays as it is",
        ),
        pytest.param(
            "impossible_pct(scores[method=B].accuracy_pct, 7)",
            1,
            id="5 of 7 is 71.4, nothing of 7 is 40.0",
        ),
        pytest.param("wrong_bold_max(scores.accuracy_pct, among=method)", 0, id="bold is the best"),
        pytest.param("wrong_bold_min(scores.accuracy_pct, among=method)", 4, id="or the worst"),
        pytest.param("wrong_stars(scores.p)", 0, id="stars fit"),
    ],
)
def test_a_formula_gives_what_its_rules_say(
    tables: Tables, formula: str, expected: float | None
) -> None:
    if expected is None:
        with pytest.raises(FormulaError, match="no row of scores has task 'sets'"):
            compute(tables, formula)
    else:
        found = compute(tables, formula, half="0.5")
        assert float(found.value) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        pytest.param("1 +", "character 4: found the end; expected a number", id="an end too early"),
        pytest.param("(1 + 2", r"character 7: found the end; expected '\)'", id="an open bracket"),
        pytest.param("1e999", "character 5: found '9'", id="a number without end"),
        pytest.param("1 2", "character 3: found '2'; expected an operator", id="no operator"),
        pytest.param("scores[task=].n", "character 13: found .* expected a value", id="no value"),
        pytest.param("scores[task].n", "expected one of = != ", id="no comparison"),
        pytest.param("scores[task=algebra]", "expected '.'", id="no column"),
        pytest.param("(" * 60 + "1", "more than 50 brackets", id="too deep"),
        pytest.param("grades.n", "no table 'grades'; there are scores, tokens", id="no such table"),
        pytest.param("scores.size", "no column 'size'; it has task,", id="no such column"),
        pytest.param(
            "scores[size=1].n", "character 8: scores has no column", id="nor for a condition"
        ),
        pytest.param("scores.n", "4 cells; expected one", id="several cells where one is needed"),
        pytest.param("sum(scores[n>90].n)", "no row meets all conditions", id="no cell"),
        pytest.param(
            "scores[task>algebra].n", "can't be compared by size", id="texts have no size"
        ),
        pytest.param("sum(scores.stars)", "is no number", id="a text in a sum"),
        pytest.param("sum(scores.p)", "'<0.001' is no number", id="a bound in a sum"),
        pytest.param("1 / (2 - 2)", "character 3: division by zero", id="division by zero"),
        pytest.param("1 < 2", "True is no number", id="a comparison is no number"),
        pytest.param("median(scores.n)", "no function 'median'; there are abs", id="no function"),
        pytest.param("sqrt(1, 2)", "sqrt does not take 2 arguments", id="too many arguments"),
        pytest.param("mean()", "mean does not take 0 arguments", id="too few arguments"),
        pytest.param("mean(1, by=n)", "mean has no option 'by'", id="an unknown option"),
        pytest.param("sqrt(0 - 1)", "square root of a negative", id="no such root"),
        pytest.param("mcnemar(1.5, 2)", "1.5 is no count", id="half a count"),
        pytest.param("wilson_low(5, 4)", "0 <= k <= n", id="more than all"),
        pytest.param("effect_paired_t(2, 18)", "formula, character 1", id="an impossible power"),
        pytest.param("power_paired_t(1, 1)", "two pairs or more", id="one pair"),
        pytest.param("count(1)", "count takes a selection or a comparison", id="nothing to count"),
        pytest.param("weighted_mean(scores.n)", "the option by=… is missing", id="no weights"),
        pytest.param("weighted_mean(1, by=n)", "expected a selection", id="weights of a number"),
        pytest.param(
            "weighted_mean(scores.n, by=bold2)",
            "no column 'bold2'",
            id="weights that are not there",
        ),
        pytest.param(
            "weighted_mean(scores.n, by=stars)", "is no number", id="weights without a size"
        ),
        pytest.param(
            "weighted_mean(scores[bold=0].n, by=bold)", "sum to nothing", id="weights of zero"
        ),
        pytest.param(
            "wrong_bold_max(scores.n, among=method, marks=n)", "expected 0 or 1", id="no marks"
        ),
        pytest.param("wrong_stars(scores.stars)", "is no p-value", id="no p-values"),
        pytest.param("impossible_pct(scores.n, 0)", "0 is no number of things", id="of nothing"),
        pytest.param(
            "sum(scores.n * tokens[method=B].tokens)",
            "two rows have the same task",
            id="two rows of one list for one of the other",
        ),
        pytest.param(
            "sum(scores[method=A].n * scores[task=algebra].n)",
            "rows have no name",
            id="lists that share no open name",
        ),
        pytest.param(
            "sum(scores[p<0.1].n * tokens.tokens)",
            "only one of two selections has a row .*sets, maps, A",
            id="a row without counterpart",
        ),
        pytest.param("nothing", "nothing of the name 'nothing'", id="an unknown name"),
        pytest.param("circle", "defined by itself: circle → circle", id="a definition in a circle"),
        pytest.param("claim(1)", "expected the id of a claim", id="a claim is named in quotes"),
        pytest.param('claim("x")', "nothing of the name 'x'", id="an unknown claim"),
    ],
)
def test_a_formula_that_is_wrong_says_what_and_where(
    tables: Tables, formula: str, problem: str
) -> None:
    with pytest.raises(FormulaError, match=problem):
        compute(tables, formula, circle="circle + 1")


_NUMBERS = st.decimals(min_value=0, max_value=99, places=2).map(str)


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", " - "])
    return st.tuples(parts, operators, parts).map("".join) | parts.map("({})".format)


@settings(max_examples=100, deadline=None)
@given(st.recursive(_NUMBERS, _joined, max_leaves=12))
def test_arithmetic_is_that_of_python(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    import re

    program = re.sub(r"\d+\.\d+", r'Fraction("\g<0>")', text)
    empty = Tables({}, Reading())
    try:
        expected = eval(program, {"Fraction": Fraction})
    except ZeroDivisionError:
        with pytest.raises(FormulaError, match="division by zero"):
            compute(empty, text)
    else:
        assert compute(empty, text).value == expected


RANGES = {
    "mean(scores.accuracy_pct)": lambda a, b, c, d: (a + b + c + d) / 4,
    "scores[task=algebra, method=B].accuracy_pct - scores[task=algebra, method=A].accuracy_pct": (
        lambda a, b, c, d: b - a
    ),
    "scores[task=algebra, method=A].accuracy_pct / sum(scores[task=algebra].accuracy_pct)": (
        lambda a, b, c, d: a / (a + b)
    ),
    "100 / min(scores.accuracy_pct)": lambda a, b, c, d: 100 / min(a, b, c, d),
    "-mean(scores[method=A].accuracy_pct) * scores[task=algebra, method=B].accuracy_pct": (
        lambda a, b, c, d: -(a + c) / 2 * b
    ),
}


@pytest.mark.parametrize("formula", RANGES)
def test_the_range_is_that_of_all_corners(tables: Tables, formula: str) -> None:
    half = Fraction(1, 20)
    cells = [Fraction(text) for text in ("61.9", "71.4", "50.0", "40.0")]
    corners = itertools.product(*((cell - half, cell + half) for cell in cells))
    values = [RANGES[formula](*corner) for corner in corners]
    found = compute(tables, formula)
    assert (found.low, found.high) == (min(values), max(values))


def test_counted_cells_have_no_range(tables: Tables) -> None:
    found = compute(tables, "mean(scores.n) / sum(tokens.tokens)")
    assert found.low == found.value == found.high == Fraction(62, 4) / 1000


def test_figures_are_compared_as_printed_whatever_they_were_before(tables: Tables) -> None:
    found = compute(tables, "count(scores.accuracy_pct >= 50)")
    assert found.low == found.value == found.high == 3


def test_the_cells_that_were_read_are_known(tables: Tables) -> None:
    found = compute(tables, "scores[task=algebra, method=A].n + sum(tokens[method=A].tokens)")
    assert [cell.address for cell in found.cells] == [
        "scores[algebra, A].n",
        "tokens_used[sets, maps, A].tokens",
        "tokens_used[algebra, A].tokens",
    ]


@pytest.mark.parametrize(
    ("p", "stars", "wrong"),
    [
        pytest.param("0.049", "*", 0, id="below .05"),
        pytest.param("0.050", "*", 0, id="it may have been 0.0496"),
        pytest.param("0.050", "", 0, id="or 0.0504"),
        pytest.param("0.052", "*", 1, id="above .05"),
        pytest.param("0.003", "***", 1, id="one star too many"),
        pytest.param("<0.05", "**", 1, id="a bound says no more than it says"),
        pytest.param("0.000", "***", 0, id="rounded to nothing"),
    ],
)
def test_stars_fit_a_p_value_if_they_fit_one_that_is_rounded_to_it(
    tmp_path: Path, p: str, stars: str, wrong: int
) -> None:
    (tmp_path / "tests.csv").write_text(f"p,stars\n{p},{stars}\n")
    assert compute(read_tables(tmp_path, Reading()), "wrong_stars(tests.p)").value == wrong


def test_of_equal_cells_any_may_be_bold_but_no_lower_one(tmp_path: Path) -> None:
    lines = ["task,method,score,bold", "t,A,5.0,1", "t,B,5.0,0", "t,C,4.9,1"]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    tables = read_tables(tmp_path, Reading(keys=frozenset({"task", "method"})))
    found = compute(tables, "wrong_bold_max(scores.score, among=method)")
    assert found.value == 1
    assert found.remarks == ("scores[t, C].score = 4.9 is bold",)


def test_wilson_and_power_are_those_of_statsmodels(tables: Tables) -> None:
    from statsmodels.stats.power import TTestPower
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(52, 86, method="wilson")
    assert float(compute(tables, "wilson_low(52, 86)").value) == pytest.approx(low, abs=1e-10)
    assert float(compute(tables, "wilson_high(52, 86)").value) == pytest.approx(high, abs=1e-10)
    power = TTestPower().power(0.5, 18, 0.05)
    assert float(compute(tables, "power_paired_t(0.5, 18)").value) == pytest.approx(power, abs=1e-8)
    back = compute(tables, f"effect_paired_t({power:.12f}, 18)")
    assert math.isclose(back.value, 0.5, abs_tol=1e-6)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        pytest.param("61.90", "61.9", "0.01", id="decimals count, zeros too"),
        pytest.param("-3", "-3", "1", id="a whole number"),
        pytest.param(".211", "0.211", "0.001", id="no zero before the point"),
    ],
)
def test_a_number_is_read_with_the_unit_of_its_last_decimal(
    text: str, value: str, unit: str
) -> None:
    printed = parse_printed(text)
    assert printed is not None
    assert (printed.value, printed.unit) == (Fraction(value), Fraction(unit))


@pytest.mark.parametrize("text", ["", ".", "10-100+", "1,000", "no", "+"])
def test_what_is_no_number_is_not_read_as_one(text: str) -> None:
    assert parse_printed(text) is None


@pytest.mark.parametrize(
    ("files", "reading", "problem"),
    [
        pytest.param({}, Reading(), "no CSV file in it", id="an empty folder"),
        pytest.param({"t.csv": b""}, Reading(), "t.csv: the file is empty", id="an empty file"),
        pytest.param({"t.csv": b"a,a\n"}, Reading(), "t.csv: two columns", id="a column twice"),
        pytest.param(
            {"t.csv": b"a,b\n1\n"},
            Reading(),
            "t.csv: row 1: 1 fields; the header has 2",
            id="short",
        ),
        pytest.param({"t.csv": b"a\n\xff\n"}, Reading(), "not UTF-8 at byte 2", id="no UTF-8"),
        pytest.param({"t.csv": b'a\n"x\n'}, Reading(), "t.csv: not valid CSV", id="an open quote"),
        pytest.param(
            {"t.csv": b"a\n"}, Reading(frozenset({"b"})), "no table has a column 'b'", id="keys"
        ),
        pytest.param(
            {"t.csv": b"a\n"},
            Reading(counts=frozenset({"t.b"})),
            "there is no column 't.b'",
            id="counts",
        ),
    ],
)
def test_tables_that_cannot_be_read_are_refused(
    tmp_path: Path, files: dict[str, bytes], reading: Reading, problem: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_tables(tmp_path, reading)


def test_a_folder_that_is_not_there_and_a_table_that_is_a_folder_are_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        read_tables(tmp_path / "none", Reading())
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(InputError, match=r"t\.csv: is a directory"):
        read_tables(tmp_path, Reading())
