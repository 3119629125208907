"""docs/evaluation.md has each benchmark with its problems and rules, and each rule."""

import re

import pytest

from evalcore.benchmarks import benchmarks
from evalcore.formats import Benchmark
from evalcore.rules import RULES
from tests.support.places import ROOT

PAGE = (ROOT / "docs/evaluation.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("| name | problems | rules |\n")[2].partition("\n\n")[0]
COMPARING = PAGE.partition("\n### Comparing\n")[2].partition("\n### ")[0]
PUBLISHED = [benchmark for benchmark in benchmarks().values() if benchmark.files]


def row_of(name: str) -> tuple[str, str]:
    """Return the problems of a benchmark and its rules, as the table has them."""
    for line in TABLE.splitlines()[1:]:
        names, sizes, rules = line.strip("| ").split(" | ")
        if f"`{name}`" in names:
            return sizes.split(", ")[names.split(", ").index(f"`{name}`")], rules
    pytest.fail(f"add {name} to the table of benchmarks in docs/evaluation.md")


@pytest.mark.parametrize("benchmark", PUBLISHED, ids=lambda benchmark: str(benchmark.name))
def test_each_benchmark_has_its_problems_and_rules(benchmark: Benchmark) -> None:
    size, rules = row_of(benchmark.name)
    assert int(size) == benchmark.sizes[0]
    assert tuple(re.findall(r"`(.+?)`", rules)) == benchmark.rules
    assert benchmark.rules or "judged" in rules


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_says_which_answers_are_equal(rule: str) -> None:
    assert f"\n* `{rule}`" in COMPARING, "add it to Comparing in docs/evaluation.md"
