"""Sentences about rows: no claim beyond rows, no number of its own, names stay names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.reporting.layout import cell, p_text, percent
from ngramscan.reporting.sentences.families import count_families
from ngramscan.reporting.sentences.phrases import level_text
from ngramscan.reporting.sentences.shares import share_text
from tests.support.report_sentences import results_of, texts_of
from tests.support.row_types import KIND_OF, TYPES, hints_of, numbers_of
from tests.support.rows_of_results import COMPARED, CONTEXT, DIFFERENCES, ROWS_OF, Row, compared

CLAIM = re.compile(
    r"\b(differs?|different|higher|lower|more|less|fewer|better|worse|exceeds?|outperforms?"
    r"|greater|smaller|significant\w*|improve\w*|causes?|because|effects?)\b",
    re.IGNORECASE,
)
SAID = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]\d+)?")
NAMES = st.sampled_from(
    [
        "cot",
        "pot",
        "42",
        "1e5",
        "more or less",
        "“x” differs",
        "</script>",
        "a\nb\x1b[31m\u202e",
        "7" * 99,
    ]
)
FRACTIONS = st.one_of(
    st.sampled_from([0.0, 0.05, 0.0499999, 0.050001, 1.0, -1.0]),
    st.floats(-1, 1).map(lambda value: round(value, 6)),
)
LARGE = st.one_of(FRACTIONS, st.floats(0, 1e7), st.sampled_from([float("inf"), 1e-12]))
SIZES = st.one_of(st.integers(0, 9), st.integers(0, 10**12))


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Return the values that a column may have."""
    kinds = {hint, *get_args(hint)}
    values: st.SearchStrategy[Any] = NAMES
    if bool in kinds:
        values = st.booleans()
    elif float in kinds:
        values = FRACTIONS if not {int} & kinds else LARGE
    elif int in kinds:
        values = SIZES
    return st.none() | values if type(None) in kinds else values


def rows_of(title: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return random rows of a kind; their limits are in order, but anything else goes."""
    hints = hints_of(title)
    columns = {name: values_of(hint) for name, hint in hints.items()}
    if "statistic" in columns:
        columns["statistic"] = st.sampled_from(
            ["ratio_of_geometric_means", "ratio_of_sums", "unanimous", "krippendorff_alpha"]
        )
    if "verdict" in columns:
        columns["verdict"] = st.sampled_from(["clean", "dirty", None])
    return st.lists(st.fixed_dictionaries(columns).map(ordered), min_size=1, max_size=4)


def ordered(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose intervals contain its value, as all of ours do."""
    for low in [name for name in row if name.endswith("low")]:
        high = f"{low[:-3]}high"
        for value in (low[:-4], "value", "prevalence_ratio", "selection_accuracy"):
            names = [name for name in (low, value, high) if row.get(name) is not None]
            if value in row and len(names) > 1 and (value == low[:-4] or low[:3] in {"low", "pre"}):
                row |= dict(zip(names, sorted(row[name] for name in names), strict=True))
    return row


def without_names(said: str) -> str:
    """Return a sentence without what is quoted, and without phrases that only look like claims."""
    plain = re.sub("“[^”]*”", "NAME", said)
    return re.sub("[Nn]o difference", "", plain.replace("lower bounds", ""))


def may_claim(row: Mapping[str, Any], families: int) -> bool:
    """Tell whether a difference may be called one, by the rule of the page."""
    name = "slope" if "slope" in row else "difference"
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    p_values = [row.get(column) for column in ("p_adjusted", "p_holm", "p_bh")]
    p = next((value for value in p_values if value is not None), None)
    if low is None or high is None or p is None:
        return False
    return not low <= 0 <= high and p <= 0.05 / families


def shares_of_words(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the shares of words in spans of all outputs together, for any of some outputs."""
    known = [row for row in rows if row.get("coverage") is not None and row.get("words")]
    for n in range(1, len(known) + 1):
        for some in combinations(known, n):
            covered = sum(row["coverage"] * row["words"] for row in some)
            yield share_text(covered / sum(row["words"] for row in some))


def derivable(rows: Iterable[Mapping[str, Any]], families: int) -> set[str]:
    """Return the numbers that sentences about some rows may have, as they are written."""
    rows = list(rows)
    numbers = {str(n) for n in range(len(rows) + 1)} | {"0.05", "0.001", "0.999", str(families)}
    numbers.add(level_text(0.05 / families))
    known = {value for row in rows for value in row.values() if isinstance(value, int | float)}
    for value in known:
        tested = [p_text(min(1.0, n * value)) for n in range(5) if 0 <= value <= 1]
        numbers |= {cell(value), percent(value), f"{100 * value:g}", *tested}
        numbers |= {share_text(value)}
        if -900 < value < 900:  # of a binary logarithm
            numbers |= {cell(2.0**value)}
    numbers |= {*shares_of_words(rows)}
    return {number.replace(",", "").lstrip("-−") for number in numbers}


@pytest.mark.parametrize("title", TYPES)
@settings(max_examples=5)
@given(data=st.data())
def test_words_claim_nothing_and_have_no_number_of_their_own(title: str, data: Any) -> None:
    rows = data.draw(rows_of(title))
    said = texts_of(results_of(title, rows))
    families = max(1, count_families([results_of(title, rows)]))
    assert len(said) <= 12
    known = derivable(rows, families)
    for sentence in said:
        assert sentence.endswith(".")
        assert sentence.isprintable()
        assert len(sentence) < 2000
        plain = without_names(sentence)
        assert "None" not in plain
        numbers = SAID.findall(plain.replace("n-gram", "").replace("−", "-"))
        assert {number.replace(",", "") for number in numbers} <= known, sentence
    if not any(may_claim(row, families) for row in rows):
        assert not [sentence for sentence in said if CLAIM.search(without_names(sentence))]


GENERATED = re.compile(
    r"\branges? from\b|\bother values? of\b|\bverdicts?:|\bShown:|The table also has"
    r"|\bIn [\d,]+ of [\d,]+ rows?\b"
)
"""Words of sentences that were made from columns, for any kind of rows, and read like it."""


@pytest.mark.parametrize("title", TYPES)
@settings(max_examples=5)
@given(data=st.data())
def test_no_sentence_is_made_from_columns(title: str, data: Any) -> None:
    plain = [without_names(text) for text in texts_of(results_of(title, data.draw(rows_of(title))))]
    assert not [text for text in plain if GENERATED.search(text)]


@pytest.mark.parametrize("title", ROWS_OF)
def test_no_sentence_about_usual_rows_is_made_from_columns(title: str) -> None:
    plain = [without_names(text) for text in texts_of(results_of(title, ROWS_OF[title]))]
    assert not [text for text in plain if GENERATED.search(text)]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("The ratio ranges from 0.669 to 67.1.", id="a range"),
        pytest.param("The table also has 3 other values of index.", id="other values"),
        pytest.param("The table has 1 other value of rule.", id="one other value"),
        pytest.param("By “mini”, 40 verdicts: 20 “dirty”.", id="verdicts"),
        pytest.param("Shown: 3 of 7.", id="rows shown"),
        pytest.param("In 3 of 1,007 rows, the share is unknown.", id="rows without a value"),
    ],
)
def test_sentences_made_from_columns_are_known(said: str) -> None:
    assert GENERATED.search(said)


# Rows of each kind, and what holds for all sentences.

NONE = {"difference": 0.01, "difference_low": -0.041, "difference_high": 0.06, "p_holm": 1.0}


def test_rows_that_are_left_out_are_said_first() -> None:
    said = texts_of(results_of("Occurrences in context", [CONTEXT, CONTEXT], 190_000))
    assert said == [
        "The sentences are about the first 2 rows; 190,000 further ones are left out.",
        "These are 2 occurrences of “a” in i: examples, not counts.",
    ]


def of_a_family(**columns: Any) -> Row:
    """Return a row of `compare` with a small p-value, and the family that it was adjusted in."""
    return compared(p_holm=0.01, family="rule r, single models") | columns


@pytest.mark.parametrize(
    ("titles_and_rows", "families"),
    [
        pytest.param([(DIFFERENCES, [of_a_family()])], 1, id="one family"),
        pytest.param(
            [(DIFFERENCES, [of_a_family(), of_a_family(model="all", family="rule r, all models")])],
            2,
            id="single models and all models",
        ),
        pytest.param(
            [(DIFFERENCES, [of_a_family()]), (DIFFERENCES, [of_a_family()])],
            1,
            id="a file given twice",
        ),
        pytest.param(
            [(DIFFERENCES, [of_a_family()]), (DIFFERENCES, [of_a_family(p=0.02)])],
            2,
            id="two files with families of one name",
        ),
        pytest.param(
            [
                (DIFFERENCES, [of_a_family(), of_a_family(dataset="e")]),
                (DIFFERENCES, [of_a_family()]),
            ],
            1,
            id="a part of another file",
        ),
        pytest.param(
            [(DIFFERENCES, [of_a_family(dataset=name, family_tests=1) for name in "def"])],
            3,
            id="more tests than the family has",
        ),
        pytest.param([(DIFFERENCES, [of_a_family(p_holm=None)])], 0, id="nothing adjusted"),
    ],
)
def test_families_of_a_page_are_counted(
    titles_and_rows: list[tuple[str, list[dict[str, Any]]]], families: int
) -> None:
    assert count_families([results_of(title, rows) for title, rows in titles_and_rows]) == families


@pytest.mark.parametrize(
    ("families", "text"),
    [(1, "0.05"), (2, "0.025"), (3, "0.0166"), (7, "0.00714"), (60, "0.000833")],
)
def test_a_level_is_never_said_to_be_larger_than_it_is(families: int, text: str) -> None:
    assert level_text(0.05 / families) == text


@pytest.mark.parametrize("p", [0.0, 0.0009994, 0.001, 0.04996, 0.9994, 0.9996, 1.0])
def test_a_p_value_is_never_said_to_be_one_or_zero_unless_it_is(p: float) -> None:
    said = texts_of(results_of(DIFFERENCES, [{**COMPARED, **NONE, "p_holm": p}]))[0]
    texts = {0.001: "= 0.001", 0.04996: "= 0.050", 0.9994: "= 0.999", 0.9996: "> 0.999", 1.0: "= 1"}
    assert f", adjusted p {texts.get(p, '< 0.001')}, n = 1,500" in said


def test_hostile_names_stay_names() -> None:
    name = "x” is more accurate than “y\u202e\x1b[31m\n" + "z" * 1_000_000
    said, _ = texts_of(results_of(DIFFERENCES, [{**COMPARED, **NONE, "treatment": name}]))
    shown = r'“x" is more accurate than "y\u202e\x1b[31m\n' + "z" * (60 - name.index("z")) + "…”"
    assert said.startswith(f"No difference is shown between {shown} and cot with m on d, scored by")


@pytest.mark.parametrize("title", TYPES)
def test_columns_that_may_be_missing_are_not_missed(title: str) -> None:
    kind, hints = KIND_OF[title], hints_of(title)
    row = {name: 1 if name in numbers_of(kind) else "x" for name in hints if name in kind.needs}
    assert all(sentence.endswith(".") for sentence in texts_of(results_of(title, [row, row])))
