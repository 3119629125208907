"""docs/errata.md: claims about the paper, against the same figures by pandas and by hand."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from docs.errata.__main__ import main
from docs.errata.claims import CheckedClaim, check_paper
from docs.errata.page import place_of, verdict_table
from tests.support.cases import cases
from tests.support.places import ROOT

PAGE = (ROOT / "docs/errata.md").read_text()
TABLES = ROOT / "docs/errata/tables"
READ_OFF_PROMPTS = {"prompt_parts.csv", "prompt_phrases.csv"}
"""Tables that are not among the published ones."""
# The loader in C takes a tenth of the time.
CLAIMS = yaml.load((ROOT / "docs/errata/claims.yaml").read_text(), yaml.CSafeLoader)
METHODS, MODELS = (CLAIMS["lists"][name] for name in ("methods", "models"))
OWN_NAMES = {other: name for name, others in CLAIMS["aliases"].items() for other in others}


@pytest.fixture(scope="module")
def rows() -> Mapping[str, CheckedClaim]:
    return {claim.id: claim for claim in check_paper()}


def table(prefix: str, *names: str, value: str = "accuracy_pct") -> Any:
    """Return a column of a table, under the names of its rows, numbers where they are some."""
    (path,) = TABLES.glob(f"{prefix}[._]*csv")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False).replace(OWN_NAMES)
    column = frame.set_index(list(names))[value].sort_index()
    numbers = pd.to_numeric(column, errors="coerce")
    return column if numbers.isna().all() else numbers


MAIN = table("table03", "benchmark", "model", "method")
EACH = MAIN.drop("Overall").drop("Overall", level="model")
IMO = table("table11", "subtask", "model", "method")
OLYMPIAD = table("table12", "subtask", "model", "method")
SIZES = {"OE_maths": 674, "OE_physics": 236, "TP_maths": 503, "TP_physics": 25}
OTHERS = {"IMO-AnswerBench": 400, "IMO-ProofBench": 60, "FinanceMath": 200, "AICrypto": 18}
VARIANTS = table("table16", "benchmark", "model", "variant").unstack()
TESTS = ("table27", "benchmark", "model", "baseline")
DELTA, P, N = (table(*TESTS, value=name) for name in ("delta_pp", "p_value", "n"))
PATTERNS = table("patterns", "method", "tier", value="pattern")
ENDS = ["min", "max"]


def costs(value: str) -> Any:
    numbers = {"FinanceMath": "06", "OlympiadBench": "07", "IMO-Bench": "08", "AICrypto": "09"}
    each = {name: table(f"table{n}", "model", "method", value=value) for name, n in numbers.items()}
    return pd.concat(each, names=["benchmark"]).drop("Average", level="model")


def of(column: Any, **names: str) -> Any:
    return column.xs(tuple(names.values()), level=tuple(names))


def gains(accuracies: Any) -> Any:
    """Return by how much F-1 is better than each of the other methods."""
    wide = accuracies.unstack()
    return (-wide.drop(columns="F-1").sub(wide["F-1"], axis=0)).stack()


def weighted(values: Any, weights: Mapping[str, int]) -> Any:
    """Return the mean of what has weights; of several cells of one name their mean counts."""
    means = values.groupby(level=0).mean()
    return sum(means[name] * weight for name, weight in weights.items()) / sum(weights.values())


def impossible(printed: Any, n: int, unit: float = 0.01) -> int:
    """Count percentages that no whole number of n gives, by trying all."""
    wholes = [100 * whole / n for whole in range(-n, n + 1)]
    return sum(min(abs(one - whole) for whole in wholes) > unit / 2 + 1e-9 for one in printed)


def accuracies() -> dict[str, Any]:
    average = table("table21", "quantity", "benchmark", "method", value="value")
    ratios = 100 * EACH / costs("avg_tokens")
    qwen, gain = ratios["IMO-Bench", "Qwen3-30B"], gains(MAIN)
    once = OLYMPIAD.groupby("method").apply(weighted, SIZES)
    others = pd.concat([IMO, EACH[["FinanceMath", "AICrypto"]]]).groupby("method")
    return {
        "main-col-{}-{}": EACH.groupby(["benchmark", "method"]).mean(),
        "macro-both-{}": table("table24", "average", "method")["macro"],
        "weighted-problems-{}": (678 * others.apply(weighted, OTHERS) + 1438 * once) / 2116,
        "eff-derived-{}": ratios.groupby(["method", "benchmark"]).mean().groupby("method").mean(),
        **{f"eff-text-{one:.2f}": one for one in average["efficiency_ratio", "Average"]},
        "eval-proofs-{}": IMO["IMO-ProofBench"].groupby("method").apply(impossible, 60),
        "eval-crypto-{}": EACH["AICrypto"].groupby("method").apply(impossible, 18),
        "bold-08-qwen30": sum(qwen[["CoT", "PoT"]] > qwen["F-1"]),
        "data-saturated": EACH.max(),
        "outcomes-f1-AICrypto": of(EACH["AICrypto"], method="F-1").mean(),
        "verify-f1": EACH["FinanceMath", "GPT-5", "F-1"],
        "verify-variant": VARIANTS["F-1+ZS"]["FinanceMath", "GPT-5"],
        "verify-largest": of(gains(EACH), method="CoT").max(),
        "conclusion-proofs-crypto": gain["AICrypto", "Overall", "CoT"],
        "tests-overall-{}": gain["Overall", "Overall"],
        "cell-main-{0}-{2}-{1}": gains(EACH)[["IMO-Bench", "OlympiadBench"]],
    }


def differences() -> dict[str, Any]:
    untold = [("CoT", "AICrypto"), ("PoT", "AICrypto")]
    untold += [("CoT", "IMO-Bench"), ("Zero-Shot", "IMO-Bench")]
    wins = (DELTA > 0).unstack()
    stars = P.isna() | (P < 0.05)  # <0.001 is not a number
    told = stars.groupby(["baseline", "benchmark"]).sum().drop(untold)
    pooled = table("table26", "benchmark", "baseline", value="delta_pp").groupby("baseline")
    crypto = table("table28", "model", "baseline", value="delta_pp").drop("Pooled")
    olympiad = DELTA["OlympiadBench"].groupby("baseline")
    sizes = dict.fromkeys(MODELS.values(), 1438) | {"Qwen3-235B": 1411}
    whole = {"IMO-Bench": 400, "OlympiadBench": 1438, "FinanceMath": 200}
    assert all(N[name].iloc[0] == n for name, n in whole.items())
    return {
        "cells-17-tested": wins["CoT"].sum(),
        "cells-14-tested": wins.all(axis=1).sum(),
        "wins-53-tested": wins.sum().sum(),
        **{f"cells-significant-{'-'.join(names)}": count for names, count in told.items()},
        "cells-significant-better-pot": of(stars & (DELTA > 0), baseline="PoT").sum(),
        "tests-pooled-{}": pooled.apply(weighted, {"Olympiad": 7163, "IMO-AnswerBench": 2000}),
        "tests-models-{}": olympiad.apply(weighted, sizes),
        **{f"whole-tests-{name}": impossible(DELTA[name], n) for name, n in whole.items()},
        "whole-tests-qwen235": impossible(DELTA["OlympiadBench", "Qwen3-235B"], 1411),
        "power-below": of(crypto, baseline="CoT").max(),
        "flips-pot-olympiad-f1": DELTA["OlympiadBench", "GPT-5", "PoT"] * 14.38,
        "flips-pot-answer-f1": DELTA["IMO-Bench", "GPT-5", "PoT"] * 4,
    }


def shares() -> dict[str, Any]:
    outcomes = table("table20", "benchmark", "outcome", value="share_pct")["AICrypto"]
    bound = table("table22", "quantity", "benchmark", value="value_pct")["f1_over_upper_bound"]
    each = table("table19", "benchmark", "strategy", "model", value="share_pct")
    sizes = {"FinanceMath": 200, "IMO-Bench": 460, "OlympiadBench": 1438, "AICrypto": 18}
    styles = table("table18", "benchmark", "quantity", value="value_pct").unstack()
    hard = VARIANTS.loc[["OB Math", "OB Physics"]].drop("Qwen3-30B", level="model")
    others, crypto = ["F-1+ZS", "F-1+CoT"], VARIANTS.loc["AICrypto (CryptoProof)"]
    better = VARIANTS[["F-1+CoT", "F-1+PoT"]].max(axis=1) > VARIANTS["F-1+ZS"]
    f1, cot = (of(OLYMPIAD, model="GPT-5", method=method) for method in ("F-1", "CoT"))
    names = {"OE_maths": "OB Math", "OE_physics": "OB Physics"}
    variant = {part: VARIANTS["F-1+CoT"][name, "GPT-5"] for part, name in names.items()}
    gain = of(gains(IMO), model="GPT-5", method="CoT")
    proofs = of(gains(OLYMPIAD), method="CoT")

    def net(side: Any, *parts: str) -> Any:
        right = [[round(SIZES[one] * own[one] / 100) for one in parts] for own in (side, cot)]
        return sum(right[0]) - sum(right[1])

    return {
        "outcomes-whole-AICrypto": impossible(outcomes, 90, 0.1),
        "ub-text-{}": bound.agg(ENDS),
        **{f"styles-whole-{name}": impossible(each[name], n, 0.1) for name, n in sizes.items()},
        **{f"styles-highest-{style}": styles[style].max() for style in ("PoT", "Hybrid")},
        "styles-exclusive-AICrypto": styles.loc["AICrypto", ["CoT", "Hybrid"]].sum(),
        "variants-weakest": (hard["F-1+PoT"] < hard[others].min(axis=1)).sum(),
        "variants-no-gain": better.sum(),
        "whole-variants-finance-{}": VARIANTS.loc["FinanceMath"].apply(impossible, n=200),
        "whole-variants-crypto-{}": crypto.apply(impossible, n=330, unit=0.1),
        "flips-oe-variant": net(variant, "OE_maths", "OE_physics"),
        "flips-oe-f1": net(f1, "OE_maths", "OE_physics"),
        "flips-tp-f1": net(f1, "TP_maths", "TP_physics"),
        "flips-answer-f1": 4 * gain["IMO-AnswerBench"],
        "flips-proof-points": 0.6 * gain["IMO-ProofBench"],
        "flips-strongest": table("table02", "benchmark", value="net").drop("Total").max(),
        "conclusion-proofs-olympiad": weighted(proofs, {"TP_maths": 503, "TP_physics": 25}),
        "drill-order-OE": f1["OE_maths"] - 85.91,
        "drill-order-TP": f1["TP_maths"] - 32.21,
    }


def others() -> dict[str, Any]:
    each = (table("table29", "category", "judge", value=value) for value in ("pct", "count"))
    pct, counts = (one.unstack().drop(columns="majority") for one in each)
    text = table("text_numbers", "section", "quantity", value="value").droplevel("section")
    example = 2.4 + 5.0 + 2.3 - 50 / 14.5
    kappas = text[text.index.str.match("Cohen kappa .*/")]
    failed = of(OLYMPIAD["TP_physics"], method="F-1")[["GPT-5", "Gemini 2.5 Pro"]]
    wide = table("table31", "benchmark", "model", "quantity", value="value").unstack()
    both, union = wide[["F-1 accuracy_pct", "F&S accuracy_pct"]], wide["union_pct"]
    ahead, hard = both.iloc[:, 0] - both.iloc[:, 1], ["FinanceMath", "OB Math"]
    kinds = table("corpora", "corpus", value="kind")
    sizes = PATTERNS.drop("T3", level="tier").groupby("method").size()
    rest = ["CoT", "PoT"]
    share = pd.Series({"CoT": 18.4, "PoT": 0.6, "F-1": 69.6})
    documents = pd.Series({"CoT": 1882925.6, "PoT": 118307.1, "F-1": 10755424 / 21}) / 15
    relations = table("pattern_overlaps", "pattern", value="relation").value_counts()
    return {
        "judges-range-{}-{}": pct.loc[["A", "B", "C"]].agg(ENDS, axis=1).stack(),
        "judges-whichever": pct.loc["C"].min(),
        "judges-recovered": counts.loc["B"].sum(),
        "judges-labelled": 88 - counts.loc["unparsed"].sum(),
        "judges-pool": ((100 - failed) / 4).sum(),
        "judges-strata": 88,
        "verify-f1-tokens": 2271,
        "fs-53-other": 53,
        "fs-union-exact": 100 * 583 / 674,
        "example-finance-gold": example / 100,
        **dict.fromkeys(["example-finance-pot", "example-finance-zs"], example),
        "kappa-{}": kappas.agg(ENDS).set_axis(["low", "high"]),
        "fs-close": ahead.abs().max(),
        "fs-ahead-{}": ahead.groupby("benchmark").sum()[hard],
        "fs-union-{}-{}": union.groupby("benchmark").agg(ENDS).loc[hard].stack(),
        "fs-over-better-{}": (union - both.max(axis=1)).agg(ENDS),
        "fs-over-either": (union - both.min(axis=1)).max(),
        "corpora-count": len(kinds),
        "corpora-snapshots": (kinds == "raw web snapshot").sum(),
        "patterns-not-specific": len(PATTERNS["F-1", "T2"]),
        "patterns-sampled-{}": sizes,
        "docnorm-fifteen-{}": 100 / documents / (1 - (1 - 1 / documents) ** 100),
        "ratio-per-pattern-{}": (share / sizes)["F-1"] / (share / sizes)[rest],
        "ratio-without-frac-{}": (share["F-1"] - 23.9) / share[rest],
        "patterns-{}": relations.rename({"overlap": "overlapping", "unwanted extension": "longer"}),
    }


FAMILIES = (accuracies, differences, shares, others)
SHORT = {name: short for names in (METHODS, MODELS) for short, name in names.items()}


def values_of(expected: Mapping[str, Any]) -> dict[str, float]:
    """Return a value by the name of each claim; of a series, one for each of its entries."""
    found = {}
    for pattern, values in expected.items():
        for key, value in pd.Series(values).items():
            names = key if isinstance(key, tuple) else (key,)
            found[pattern.format(*(SHORT.get(name, name) for name in names))] = float(value)
    return found


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_claims_have_the_values_that_pandas_gives(
    rows: Mapping[str, CheckedClaim], family: Callable[[], dict[str, Any]]
) -> None:
    expected = values_of(family())
    assert {name: rows[name].recomputed for name in expected} == pytest.approx(expected, abs=2e-5)


# Each computed by hand from the printed page: what is published, what it should be, why.
@pytest.mark.parametrize(
    "case", cases(Path(__file__).with_suffix(".csv")), ids=lambda case: case["claim"]
)
def test_mismatches_have_the_figures_that_were_computed_by_hand(
    rows: Mapping[str, CheckedClaim], case: dict[str, str]
) -> None:
    row = rows[case["claim"]]
    assert (row.published, row.verdict) == (case["published"], "mismatch")
    assert row.recomputed == pytest.approx(float(case["recomputed"]), abs=0.02)


def test_tables_are_the_published_ones_and_verdicts_those_found_by_hand(
    rows: Mapping[str, CheckedClaim], shared: Path, subtests: pytest.Subtests
) -> None:
    paper = shared / "paper"
    for path in TABLES.glob("*.csv"):
        with subtests.test(name=path.name):
            if path.name == "text_numbers.csv":  # without the words around each figure
                ours, theirs = pd.read_csv(path), pd.read_csv(paper / path.name)
                assert ours.equals(theirs.drop(columns="quote_latex"))
            elif path.name not in READ_OFF_PROMPTS:
                assert path.read_bytes() == (paper / path.name).read_bytes(), path.name
    by_hand = dict(pd.read_csv(paper / "audit_examples.csv")[["id", "verdict"]].values)
    assert {name: rows[name].verdict for name in by_hand} == by_hand


def test_the_page_of_errata_counts_verdicts_and_shows_mismatches_alone(
    rows: Mapping[str, CheckedClaim],
) -> None:
    counts = pd.Series([row.verdict for row in rows.values()]).value_counts()
    totals = re.search(r"recomputes (.+) figures(?s:.*?)(\d+) agree, (\d+) .*?rounding", PAGE)
    further = re.search(r"way, (\d+) are two\s+different .*, (\d+) can't .*, and (\d+) do", PAGE)
    assert totals
    assert further
    named = ("ok", "rounding", "different quantity", "not derivable", "mismatch")
    assert totals[1] == f"{len(rows):,}"
    assert [int(n) for n in (*totals.groups()[1:], *further.groups())] == [counts[n] for n in named]
    shown = re.findall(r"^\| `([^`]+)` \| .+ \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(shown) > 60
    names = [name for name, _, _ in shown]
    assert {rows[name].verdict for name in names} == {"mismatch"}
    assert [(name, rows[name].published) for name in names] == [
        (name, printed) for name, printed, _ in shown
    ]
    values = [float(recomputed.replace(",", "")) for _, _, recomputed in shown]
    assert [rows[name].recomputed for name in names] == pytest.approx(values, abs=0.00501)


@pytest.mark.parametrize(
    ("claim", "place"),
    [
        pytest.param("data-total", ("table", 1), id="a caption"),
        pytest.param("data-olympiad", ("table", 12), id="the later of two tables"),
        pytest.param("data-saturated", ("text", 0), id="the text"),
    ],
)
def test_a_claim_counts_for_the_last_table_that_it_names(
    rows: Mapping[str, CheckedClaim], claim: str, place: tuple[str, int]
) -> None:
    assert place_of(rows[claim]) == place


def cells_of(line: str) -> list[str]:
    """Return the cells of a line of a table in Markdown."""
    return [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]


def test_verdicts_are_counted_by_table_on_the_page(rows: Mapping[str, CheckedClaim]) -> None:
    assert verdict_table() in PAGE
    heads, _, *lines = map(cells_of, verdict_table().splitlines())
    printed = pd.DataFrame(lines, columns=heads).set_index("where").replace("", "0").astype(int)
    places = [
        f"{kind} {number}".removesuffix(" 0") for kind, number in map(place_of, rows.values())
    ]
    verdicts = [claim.verdict for claim in rows.values()]
    counts = pd.crosstab(pd.Series(places), pd.Series(verdicts), margins=True, margins_name="all")
    counted = counts.drop(columns="all")[[*printed]].loc[[*printed.index]]
    assert counted.to_dict() == printed.to_dict()
    assert {*counts.index} == {*printed.index}


# The script


def test_the_script_prints_every_mismatch_that_the_page_shows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main([])
    printed = capsys.readouterr().out.splitlines()
    shown = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert {*shown} <= {*printed}
    assert len([line for line in printed if line.startswith("| `")]) == 172


def test_the_script_explains_a_claim(capsys: pytest.CaptureFixture[str]) -> None:
    main(["ratio-f1-pot-s*"])
    assert (
        capsys.readouterr().out
        == """ratio-f1-pot-same
  where: abstract, appendix on patterns
  statement: F-1 over PoT, occurrences: abstract and appendix
  published: 121
  recomputed: 121.6
  low: 121.55
  high: 121.65
  verdict: mismatch
  formula: text_numbers[quantity == "F-1/PoT occurrence ratio"].value
  inputs: text_numbers[appendix patterns, F-1/PoT occurrence ratio].value = 121.6
"""
    )
    with pytest.raises(SystemExit, match="no claim nothing; names are in"):
        main(["nothing"])
