"""Verdicts on figures, whatever formula gave them."""

from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest

from docs.errata.cells import parse_printed
from docs.errata.formulas import Recomputed
from docs.errata.verdicts import Relation, judge
from tests.support.cases import cases

RELATIONS: dict[str, Relation] = {relation: relation for relation in get_args(Relation)}


@pytest.mark.parametrize(
    "row", cases(Path(__file__).with_suffix(".csv")), ids=lambda row: row["case"]
)
def test_a_verdict_follows_from_the_figures(row: dict[str, str]) -> None:
    printed = parse_printed(row["published"])
    assert printed is not None
    recomputed = Recomputed(*(Fraction(row[name]) for name in ("value", "low", "high")))
    judgement = judge(printed, recomputed, RELATIONS[row["relation"]])
    assert judgement.verdict == row["verdict"]
