"""An option whose value may be 0 is absent only where it is None: 0 is what was asked for."""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
import ngramscan
from evalcore.commands.run import Spending
from evalcore.endpoint import request_parameters
from evalcore.pilots import assume_variation
from tests.support.command_options import COMMANDS
from tests.support.places import ROOT

NUMBERS = {"_Integer", "_Float", "IntRange", "FloatRange"}


def may_be_zero(option: dict[str, Any]) -> bool:
    """Tell whether 0 is among the values of an option."""
    kind = option["type"]
    if kind["param_type"] not in NUMBERS:
        return False
    least, is_open = kind["min"], kind["min_open"]
    return least is None or least < 0 or (least == 0 and not is_open)


ZERO_OPTIONS = {
    option["name"]
    for known in COMMANDS.values()
    for option in known["params"]
    if may_be_zero(option)
}
ZERO_IS_AS_NONE = {
    ("evalcore/commands/plan.py", "icc"): "0 is its default, and asks for no clusters",
    ("evalcore/commands/run.py", "first.epoch"): "epochs of a run begin at 1",
    ("evalcore/commands/run.py", "record.epoch"): "epochs of a run begin at 1",
    ("evalcore/commands/run.py", "sent_record.epoch"): "epochs of a run begin at 1",
    ("evalcore/records.py", "record.epoch"): "a place in an order",
    ("ngramscan/indexes/http/client.py", "options.rate"): "0 is no limit; plans are at the usual",
    (
        "ngramscan/indexes/http/client.py",
        "(self.public(usual.protocol) or usual).rate",
    ): "each service has a rate above 0",
    ("ngramscan/indexes/in_place.py", "self._options.rate"): "0 is no limit",
    ("ngramscan/indexes/resources.py", "options.rate"): "files have no limit of their own",
    ("ngramscan/prevalence/draws.py", "options.exact_up_to"): "0: all is drawn",
    ("ngramscan/prevalence/plans.py", "options.exact_up_to"): "0: all is drawn",
    ("ngramscan/remote/exchange.py", "terms.rate"): "0 is no limit, as None is here",
    ("ngramscan/remote/pace.py", "rate"): "0 is no limit, as None is here",
    ("ngramscan/remote/pace.py", "self.rate"): "0 is no limit",
    ("ngramscan/remote/range_connections.py", "url.port"): "of an address, no option",
    ("ngramscan/remote/ranges.py", "options.rate"): "files have no limit of their own",
    ("ngramscan/reporting/sentences/documents.py", "rate"): "a text, no option",
    ("ngramscan/reporting/summaries/documents.py", "rate"): "a text, no option",
    ("ngramscan/reporting/summaries/totals.py", "rate"): "a text, no option",
}
"""Where an option, or something of the same name, may be tested for truth, and why."""
MODULES = [
    path.relative_to(ROOT)
    for package in ("evalcore", "ngramscan")
    for path in sorted((ROOT / package).rglob("*.py"))
]


def asked_whether_true(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that `or`, `and`, `not`, `if` or `bool` takes for true or false."""
    for node in ast.walk(tree):
        match node:
            case ast.BoolOp(values=values):
                yield from values
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield test
            case ast.Assert(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
                yield test
            case ast.comprehension(ifs=conditions):
                yield from conditions
            case ast.Call(func=ast.Name(id="bool"), args=[test]):
                yield test


def name_of(expression: ast.expr) -> str:
    """Return the last name of a variable, an attribute or a key; empty: it is something else."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""


def test_options_that_may_be_zero_are_found() -> None:
    assert {"exact_up_to", "min_score", "seed", "temperature", "width"} <= ZERO_OPTIONS
    assert ZERO_OPTIONS.isdisjoint({"draws", "timeout_s", "workers"})


def test_no_option_that_may_be_zero_is_asked_whether_true() -> None:
    found = {
        (path.as_posix(), ast.unparse(expression))
        for path in MODULES
        for expression in asked_whether_true(ast.parse((ROOT / path).read_bytes()))
        if name_of(expression) in ZERO_OPTIONS
    }
    assert found - ZERO_IS_AS_NONE.keys() == set(), "compare it with None"
    assert ZERO_IS_AS_NONE.keys() - found == set(), "no longer there"


ROW: dict[str, Any] = {"dataset": "d", "model": "m", "id": "1", "rule": "r", "status": ""}


def right_answers_of_epoch(epoch: int) -> Any:
    """Return how many problems both methods solve in one of two epochs, of which one is right."""
    rows = [
        ROW | {"method": method, "epoch": number, "value": float(number == 0)}
        for method in ("x", "y")
        for number in (0, 1)
    ]
    frame = evalcore.outcomes(json_frame(rows), baselines="x", adaptive="y", epoch=epoch)
    return int(frame["all_solve"].iloc[0])


def json_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a table of scores has them."""
    return pd.DataFrame([{"answer": None, "extraction": None, "reason": "", **row} for row in rows])


def sides_at(width: int, folder: Path) -> set[str]:
    """Return the texts on both sides of the only occurrence in a corpus."""
    corpus = folder / "c.txt"
    corpus.write_text("left step right")
    (row,) = ngramscan.contexts(
        literal="step", index=f"scan:{corpus}", width=width, journal=folder / "j"
    ).to_dict("records")
    return {row["left"], row["right"]}


def seed_of(folder: Path, seed: int) -> tuple[str, ...]:
    """Return which places are drawn from a corpus with a seed."""
    corpus = folder / "c.jsonl"
    corpus.write_text("".join(json.dumps({"text": f"step {n}"}) + "\n" for n in range(200)))
    frame = ngramscan.contexts(
        literal="step", index=f"scan:{corpus}", n=8, seed=seed, journal=folder / "j"
    )
    return tuple(frame["right"])


def test_a_width_of_zero_shows_nothing_beside_a_match(tmp_path: Path) -> None:
    assert sides_at(0, tmp_path) == {""}
    assert sides_at(2, tmp_path) == {"t ", " r"}


def test_a_seed_of_zero_draws_otherwise_than_the_usual_one(tmp_path: Path) -> None:
    assert seed_of(tmp_path, 0) == seed_of(tmp_path, 0)
    assert len({seed_of(tmp_path, seed) for seed in (0, 1, 2)}) == 3


@pytest.mark.parametrize(
    ("get", "expected"),
    [
        # Right on half of the problems each: if they never agree, all problems differ.
        pytest.param(
            lambda: assume_variation((0.5, 0.5), 0.0, None).discordance, 1, id="agreement"
        ),
        pytest.param(lambda: assume_variation((0.5, 0.5), 0.0, 0.0).within, 1, id="self_agreement"),
        pytest.param(lambda: right_answers_of_epoch(0), 1, id="epoch"),
        pytest.param(lambda: right_answers_of_epoch(1), 0, id="epoch of one"),
        pytest.param(
            lambda: str(Spending(price_in=0.0, price_out=0.0, prompt_tokens=1)),
            "1 prompt and 0 completion tokens, cost 0.00",
            id="price_in and price_out",
        ),
        pytest.param(
            lambda: str(Spending(price_in=0.0, price_out=1e6, completion_tokens=2)),
            "0 prompt and 2 completion tokens, cost 2.00",
            id="price_in",
        ),
        pytest.param(
            lambda: request_parameters(0.0, None, []), {"temperature": 0.0}, id="temperature"
        ),
    ],
)
def test_zero_is_what_was_asked_for(get: Callable[[], Any], expected: object) -> None:
    assert get() == expected
