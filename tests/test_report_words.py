"""Sentences about rows: no claim beyond an interval, and no number that no row has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.report.page.kinds import KINDS
from ngramscan.report.page.phrases import number
from ngramscan.report.page.results import Results
from ngramscan.report.page.words import sentences
from tests.test_report_results import TYPES, hints_of

KIND_OF = {kind.title: kind for kind in KINDS}
CLAIM = re.compile(
    r"\b(differs?|different|higher|lower|more|less|fewer|better|worse|exceeds?|outperforms?"
    r"|greater|smaller|significant\w*|improve\w*|causes?|because|effects?)\b",
    re.IGNORECASE,
)
SAID = re.compile(r"−?\d+(?:,\d{3})*(?:\.\d+)?(?:E[+−]\d+)?")
NAMES = st.sampled_from(
    ["cot", "pot", "42", "1e5", "more", "“x” differs", "</script>", "a\nb\x1b[31m\u202e", "7" * 99]
)
FRACTIONS = st.one_of(
    st.sampled_from([0.0, 0.05, 0.0499999, 0.050001, 1.0, -1.0]),
    st.floats(-1, 1).map(lambda one: round(one, 6)),
)
LARGE = st.one_of(FRACTIONS, st.floats(0, 1e7), st.sampled_from([float("inf"), 1e-12]))
SIZES = st.one_of(st.integers(0, 9), st.integers(0, 10**12))


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Return the values that a column may have."""
    kinds = {hint, *get_args(hint)}
    found: st.SearchStrategy[Any] = NAMES
    if bool in kinds:
        found = st.booleans()
    elif float in kinds:
        found = FRACTIONS if not {int} & kinds else LARGE
    elif int in kinds:
        found = SIZES
    return st.none() | found if type(None) in kinds else found


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
            three = [one for one in (low, value, high) if row.get(one) is not None]
            if value in row and len(three) > 1 and (value == low[:-4] or low[:3] in {"low", "pre"}):
                row |= dict(zip(three, sorted(row[one] for one in three), strict=True))
    return row


def results_of(title: str, rows: list[dict[str, Any]], left_out: int = 0) -> Results:
    """Return rows as a page gets them."""
    return Results(KIND_OF[title], "rows.csv", (*rows[0],), rows, left_out)


def without_names(said: str) -> str:
    """Return a sentence without what is quoted, and without phrases that only look like claims."""
    plain = re.sub("“[^”]*”", "NAME", said)
    return plain.replace("lower bounds", "").replace("No difference", "")


def may_claim(row: Mapping[str, Any]) -> bool:
    """Tell whether a difference may be called one, by the rule of the page."""
    low, high = row.get("difference_low"), row.get("difference_high")
    p = row["p_holm"] if row.get("p_holm") is not None else row.get("p")
    if None in {low, high, p} or low is None or high is None or p is None:
        return False
    return not low <= 0 <= high and p <= 0.05


def derivable(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the numbers that sentences about some rows may have, as they are written."""
    rows = list(rows)
    found = {str(n) for n in range(len(rows) + 1)} | {"0.05", "0.001"}
    for value in {one for row in rows for one in row.values() if isinstance(one, int | float)}:
        if abs(value) == float("inf"):
            continue
        for scale in (1, 100):
            exact = Decimal(repr(float(value) if isinstance(value, float) else int(value))) * scale
            found.add(written(exact))
            for rounding in (ROUND_FLOOR, ROUND_CEILING, ROUND_HALF_EVEN):
                place = Decimal(1).scaleb(exact.adjusted() - 2)
                if exact != exact.to_integral_value():
                    found.add(written(exact.quantize(place, rounding)))
    return found


def written(value: Decimal) -> str:
    """Return a number without the digits that say nothing."""
    return str(value.normalize() + 0)


@pytest.mark.parametrize("title", TYPES)
@settings(max_examples=20)
@given(data=st.data())
def test_words_claim_nothing_and_have_no_number_of_their_own(title: str, data: Any) -> None:
    rows = data.draw(rows_of(title))
    said = sentences(results_of(title, rows))
    assert len(said) <= 12
    known = derivable(rows)
    for sentence in said:
        assert sentence.endswith(".")
        assert sentence.isprintable()
        assert len(sentence) < 2000
        plain = without_names(sentence)
        assert "None" not in plain
        for found in SAID.findall(plain.replace("n-gram", "")):
            assert written(Decimal(found.replace(",", "").replace("−", "-"))) in known, sentence
    if not any(map(may_claim, rows)):
        assert not [one for one in said if CLAIM.search(without_names(one))]


@given(
    value=st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers()),
    scale=st.sampled_from([1, 100]),
)
def test_limits_are_rounded_outwards(value: float, scale: int) -> None:
    exact = Decimal(repr(value)) * scale

    def read(rounding: str) -> Decimal:
        text = number(value, rounding, scale)
        return Decimal(text.replace(",", "").replace("−", "-"))

    low, near, high = map(read, (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING))
    assert low <= exact <= high
    assert low <= near <= high
    assert high - low <= abs(exact) / 100


COMPARED = {
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "baseline": "cot",
    "treatment": "pot",
    "n": 1500,
    "difference": 0.05123,
    "difference_low": 0.010009,
    "difference_high": 0.09211,
    "p": 0.0041,
    "p_holm": 0.04996,
    "n_unknown": 0,
}
COMPARE = "Differences of methods"


def said_of(title: str, *rows: dict[str, Any]) -> str:
    """Return the words about rows as one text."""
    return " ".join(sentences(results_of(title, [*rows])))


def test_a_difference_that_was_shown() -> None:
    assert said_of(COMPARE, COMPARED) == (
        "“pot” was more accurate than “cot” (“d”, “m”, “r”): difference 5.12 points [1.00, 9.22],"
        " adjusted p = 0.0500, n = 1,500. Brackets enclose intervals."
    )
    other = {"difference": -0.2, "difference_low": -0.3, "difference_high": -0.1, "p_holm": 1e-9}
    # Both directions are said, each with its largest difference.
    two = [COMPARED | {"dataset": "e"} | other, COMPARED | {"dataset": "f"} | other]
    assert said_of(COMPARE, COMPARED, *two) == (
        "“pot” was more accurate than “cot” (“d”): difference 5.12 points [1.00, 9.22],"
        " adjusted p = 0.0500, n = 1,500."
        " “pot” was less accurate than “cot” (“e”): difference −20 points [−30, −10],"
        " adjusted p < 0.001, n = 1,500, the largest of 2 that were shown in this direction."
        " Brackets enclose intervals."
    )


@pytest.mark.parametrize(
    "change",
    [
        {"difference_low": -1e-9},
        {"difference_low": 0.0},
        {"difference_low": None},
        {"difference_high": None},
        {"p_holm": 0.050001},
        {"p_holm": None, "p": 0.050001},
        {"p_holm": None, "p": None},
        {"difference_low": 0.06},  # the value is not in its interval: the row is damaged
    ],
)
def test_a_difference_that_was_not_shown(change: dict[str, Any]) -> None:
    said = said_of(COMPARE, COMPARED | change)
    assert said.startswith("No difference was shown between “pot” and “cot” (“d”, “m”, “r”): diff")
    assert not CLAIM.search(without_names(said))


def test_rows_that_were_shown_and_others_are_kept_apart() -> None:
    none = {"difference": 0.01, "difference_low": -0.041, "difference_high": 0.06, "p_holm": 1.0}
    said = said_of(COMPARE, COMPARED, COMPARED | {"dataset": "e", "n_unknown": 7} | none)
    assert "more accurate than “cot” (“d”): difference 5.12 points" in said
    assert (
        "No difference was shown in 1 of 2 rows; the widest interval: “pot” and “cot” (“e”):"
        in (said)
    )
    assert "In 1 of 2 rows, pairs with an unknown result are left out: up to 7." in said
    raw = [COMPARED | {"p_holm": None}] * 2
    assert "don't allow for the number of tests" in said_of(COMPARE, *raw)


def test_bytes_and_tokens_are_never_in_one_sentence() -> None:
    names = {"index": "i", "method": "cot", "tier": "T1", "kind": None, "estimated": False}
    counted = names | {"pattern": "a", "query": "a", "occurrences": 1234, "token_occurrences": None}
    tokens = names | {"pattern": "b", "query": "b", "occurrences": None, "token_occurrences": 99}
    said = sentences(results_of("Counts, over bytes and over tokens", [counted, tokens]))
    assert said == [
        "In “i”, the number of occurrences is 1,234 (“a”, “cot”, “T1”).",
        "In “i”, the number of occurrences of token n-grams is 99 (“b”, “cot”, “T1”).",
        "Numbers over tokens are lower bounds of those of the strings.",
    ]


def test_counts_of_indexes_are_not_compared_and_estimates_are_called_so() -> None:
    row: dict[str, Any] = {
        "index": "i",
        "method": None,
        "tier": None,
        "query": "a",
        "occurrences": 10,
    }
    ends: dict[str, Any] = {
        "occurrences_low": 4,
        "occurrences_high": 1701.5,
        "estimated": True,
        "level": 0.95,
    }
    many = [row, row | {"query": "b", "occurrences": 400} | ends, row | {"index": "j"}]
    assert said_of("Counts", *many, row | {"index": "k"}) == (
        "In “i”, the number of occurrences ranges from 10 (“a”) to 400, with a wide interval"
        " between 4 and 1,710 (“b”). In “j”, the number of occurrences is 10 (“a”)."
        " The table also has 1 other value of index, not said here. Estimates: 1 of 4 numbers."
    )
    narrow = row | ends | {"occurrences_low": 9, "occurrences_high": 11}
    assert said_of("Counts", narrow).endswith(
        "is 10 [9, 11] (“a”). Estimates: 1 of 1 number. Brackets enclose 95% confidence intervals."
    )


def test_ratios_of_sums_are_not_read() -> None:
    row = {"index": "i", "tiers": "T1", "method": "pot", "versus": "cot", "low": None, "high": None}
    sums = row | {"statistic": "ratio_of_sums", "value": 31.0}
    means = row | {"statistic": "ratio_of_geometric_means", "value": 2.5, "low": 1.6, "high": 3.9}
    said = said_of("Totals of methods", sums, means, row | {"statistic": "patterns", "value": None})
    assert "ratio of geometric means is 2.50 [1.60, 3.90] (“i”, “T1”, “pot”, “cot”)." in said
    assert "Unknown: 1 of 3 statistics; see the notes." in said
    assert "nothing is read into them" in said
    assert "31" not in said


def test_rows_that_are_left_out_are_said_first() -> None:
    row = {"index": "i", "pattern": "a", "left": "", "match": "a", "right": "", "document": "1"}
    said = sentences(results_of("Occurrences in context", [row, row], 190_000))
    assert said == [
        "The sentences are about the first 2 rows; 190,000 further ones are left out.",
        "Shown: 2 occurrences of 1 pattern in 1 index; these are examples, not counts.",
    ]


def test_hostile_names_stay_names() -> None:
    name = "x” was more accurate than “y\u202e\x1b[31m\n" + "z" * 1_000_000
    said = said_of(COMPARE, COMPARED | {"p_holm": 1.0, "treatment": name})
    assert len(said) < 400
    assert said.isprintable()
    assert not CLAIM.search(without_names(said))


@pytest.mark.parametrize("title", TYPES)
def test_columns_that_may_be_missing_are_not_missed(title: str) -> None:
    kind, hints = KIND_OF[title], hints_of(title)
    row = {name: "x" if name in kind.texts else 1 for name in hints if name in kind.needs}
    assert all(one.endswith(".") for one in sentences(results_of(title, [row, row])))


def test_a_value_that_several_rows_have_names_no_single_one() -> None:
    row: dict[str, Any] = {"index": "i", "method": None, "tier": None, "query": "a"}
    rows = [
        row | {"query": query, "occurrences": n}
        for query, n in zip("abcd", (0, 5, 5, 5), strict=True)
    ]
    assert said_of("Counts", *rows) == (
        "In “i”, the number of occurrences ranges from 0 (“a”) to 5 (“b”) and 2 others."
    )
