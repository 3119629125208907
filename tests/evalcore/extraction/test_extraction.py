"""What each rule finds in a text, and the order in which rules are tried."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcore.benchmarks import find_benchmark
from evalcore.extraction import PROGRAM_RULES, RULES, extract
from tests.support.cases import cases

ORDERS = {"all": [*RULES], "financemath": find_benchmark("financemath").extraction}
ORDERS["own"] = find_benchmark(None, Path("mine.jsonl")).extraction


@given(st.recursive(st.text("ab1frac", max_size=4), lambda inner: inner.map("{{{}}}x{{}}".format)))
def test_a_box_ends_where_its_braces_balance(content: str) -> None:
    assert RULES["boxed/1"](f"x \\boxed{{{content}}} y}}") == (content or None)


@pytest.mark.parametrize(
    "case",
    cases(Path(__file__).with_suffix(".csv")),
    ids=lambda case: f"{case['rules']}: {case['text'][:30]}",
)
def test_a_rule_finds_what_it_is_named_for_and_rules_are_tried_in_order(
    case: dict[str, str],
) -> None:
    names = case["rules"]
    rules = ORDERS.get(names) or names.split(", ")
    found = {**RULES, **PROGRAM_RULES}.get(names, lambda text: extract(text, rules))(case["text"])
    assert (" by ".join(found) if isinstance(found, tuple) else str(found)) == case["found"]
