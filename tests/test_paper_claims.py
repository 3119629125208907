"""Claims about the paper, against the same figures by pandas, scipy and statsmodels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from scipy.stats import wilcoxon
from statsmodels.stats.contingency_tables import mcnemar

import evalcore
from evalcore.audit import AuditRow, audit_rows

PUBLISHED = Path(evalcore.__file__).with_name("published")
CLAIMS = yaml.safe_load((PUBLISHED / "claims.yaml").read_text(encoding="utf-8"))
METHODS, BASELINES, MODELS = (CLAIMS["lists"][name] for name in ("methods", "baselines", "models"))
OWN_NAMES = {other: name for name, others in CLAIMS["aliases"].items() for other in others}


@pytest.fixture(scope="module")
def rows() -> Mapping[str, AuditRow]:
    return {row.id: row for row in audit_rows()}


def table(prefix: str, *names: str, value: str = "accuracy_pct") -> Any:
    """Return a column of a table, under the names of its rows, numbers where they are some."""
    (path,) = PUBLISHED.glob(f"{prefix}[._]*csv")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False).replace(OWN_NAMES)
    column = frame.set_index(list(names))[value].sort_index()
    numbers = pd.to_numeric(column, errors="coerce")
    return column if numbers.isna().all() else numbers


MAIN = table("table03", "benchmark", "model", "method")
IMO = table("table11", "subtask", "model", "method")
OLYMPIAD = table("table12", "subtask", "model", "method")
SIZES = {"OE_maths": 674, "OE_physics": 236, "TP_maths": 503, "TP_physics": 25}
VARIANTS = table("table16", "benchmark", "model", "variant")
DELTA = table("table27", "benchmark", "model", "baseline", value="delta_pp")
P = table("table27", "benchmark", "model", "baseline", value="p_value")
N = table("table27", "benchmark", "model", "baseline", value="n")
POOLED = table("table26", "benchmark", "baseline", value="delta_pp")
OUTCOMES = table("table20", "benchmark", "outcome", value="share_pct")
STYLES = table("table18", "benchmark", "quantity", value="value_pct")
JUDGES = table("table29", "category", "judge", value="pct")
RIVALS = table("table31", "benchmark", "model", "quantity", value="value")
TEXT = table("text_numbers", "section", "quantity", value="value").droplevel("section")
PATTERNS = table("patterns", "method", "tier", value="pattern")
Expected = Iterator[tuple[str, Any]]


def gain(benchmark: str, model: str, baseline: str) -> Any:
    return MAIN[benchmark, model, "F-1"] - MAIN[benchmark, model, baseline]


def once(method: str) -> Any:
    """Return the accuracy on OlympiadBench with every problem once."""
    means = OLYMPIAD.xs(method, level="method").groupby("subtask").mean()
    return (means * pd.Series(SIZES)).sum() / sum(SIZES.values())


def averages() -> Expected:
    macro = table("table24", "average", "method")
    numbers = {"FinanceMath": "06", "OlympiadBench": "07", "IMO-Bench": "08", "AICrypto": "09"}
    tokens = {
        name: table(f"table{number}", "model", "method", value="avg_tokens")
        for name, number in numbers.items()
    }
    average = table("table21", "quantity", "benchmark", "method", value="value")
    cells = MAIN.drop("Overall", level="model")
    for short, method in METHODS.items():
        own = {name: cells[name].xs(method, level="method") for name in tokens}
        for name, column in own.items():
            yield f"main-col-{name}-{short}", column.mean()
        yield f"macro-both-{short}", macro["macro", method]
        imo = IMO.xs(method, level="method").groupby("subtask").mean()
        sums = [400 * imo["IMO-AnswerBench"], 60 * imo["IMO-ProofBench"], 1438 * once(method)]
        sums += [200 * own["FinanceMath"].mean(), 18 * own["AICrypto"].mean()]
        yield f"weighted-problems-{short}", sum(sums) / 2116
        used = {name: tokens[name].xs(method, level="method").drop("Average") for name in tokens}
        ratios = [(100 * own[name][used[name].index] / used[name]).mean() for name in tokens]
        yield f"eff-derived-{short}", sum(ratios) / 4
        value = average["efficiency_ratio", "Average", method]
        yield f"eff-text-{value:.2f}", value
    ratio = MAIN["IMO-Bench", "Qwen3-30B"] / tokens["IMO-Bench"]["Qwen3-30B"]
    yield "bold-08-qwen30", sum(ratio[["CoT", "PoT"]] > ratio["F-1"])
    yield "data-saturated", cells.drop("Overall").max()


def differences() -> Expected:
    wins = (DELTA > 0).unstack()
    yield "cells-17-tested", wins["CoT"].sum()
    yield "cells-14-tested", wins.all(axis=1).sum()
    yield "wins-53-tested", wins.sum().sum()
    stars = P.isna() | (P < 0.05)  # <0.001 is not a number
    for baseline, benchmarks in {
        "Zero-Shot": ["FinanceMath", "OlympiadBench", "AICrypto"],
        "CoT": ["FinanceMath", "OlympiadBench"],
        "PoT": ["IMO-Bench", "OlympiadBench", "FinanceMath"],
    }.items():
        for benchmark in benchmarks:
            count = stars[benchmark].xs(baseline, level="baseline").sum()
            yield f"cells-significant-{baseline}-{benchmark}", count
    against = [stars.xs("PoT", level="baseline"), DELTA.xs("PoT", level="baseline")]
    yield "cells-significant-better-pot", (against[0] & (against[1] > 0)).sum()
    pairs = {"Olympiad": 7163, "IMO-AnswerBench": 2000}
    for short, baseline in BASELINES.items():
        yield f"tests-overall-{short}", gain("Overall", "Overall", baseline)
        sums = sum(n * POOLED[benchmark, baseline] for benchmark, n in pairs.items())
        yield f"tests-pooled-{short}", sums / 9163
        tested = DELTA["OlympiadBench"].xs(baseline, level="baseline")
        sizes = pd.Series(1438, index=tested.index)
        sizes["Qwen3-235B"] = 1411
        yield f"tests-models-{short}", (tested * sizes).sum() / 7163
        for benchmark, (model_id, model) in product(["IMO-Bench", "OlympiadBench"], MODELS.items()):
            name = f"cell-main-{benchmark}-{short}-{model_id}"
            yield name, gain(benchmark, model, baseline)
    for benchmark in ("IMO-Bench", "OlympiadBench", "FinanceMath"):
        yield f"whole-tests-{benchmark}", impossible(DELTA[benchmark], int(N[benchmark].iloc[0]))
    yield "whole-tests-qwen235", impossible(DELTA["OlympiadBench", "Qwen3-235B"], 1411)
    both = [
        MAIN.drop("Overall").drop("Overall", level="model").unstack()[m] for m in ("F-1", "CoT")
    ]
    yield "verify-largest", (both[0] - both[1]).max()
    crypto = table("table28", "model", "baseline", value="delta_pp")
    yield "power-below", crypto.drop("Pooled").xs("CoT", level="baseline").max()


def impossible(printed: Any, n: int, unit: float = 0.01) -> int:
    """Count percentages that no whole number of n gives, by trying all."""
    wholes = [100 * whole / n for whole in range(-n, n + 1)]
    return sum(min(abs(one - whole) for whole in wholes) > unit / 2 + 1e-9 for one in printed)


def shares() -> Expected:
    yield "outcomes-f1-AICrypto", MAIN["AICrypto"].drop("Overall").xs("F-1", level="method").mean()
    yield "outcomes-whole-AICrypto", impossible(OUTCOMES["AICrypto"], 90, 0.1)
    bound = table("table22", "quantity", "benchmark", value="value_pct")["f1_over_upper_bound"]
    yield "ub-text-min", bound.min()
    yield "ub-text-max", bound.max()
    for short, method in METHODS.items():
        points = IMO["IMO-ProofBench"].xs(method, level="method")
        yield f"eval-proofs-{short}", impossible(points, 60)
        scores = MAIN["AICrypto"].drop("Overall").xs(method, level="method")
        yield f"eval-crypto-{short}", impossible(scores, 18)
    each = table("table19", "benchmark", "strategy", "model", value="share_pct")
    sizes = {"FinanceMath": 200, "IMO-Bench": 460, "OlympiadBench": 1438, "AICrypto": 18}
    for benchmark, n in sizes.items():
        yield f"styles-whole-{benchmark}", impossible(each[benchmark], n, 0.1)
    yield "styles-highest-PoT", STYLES.xs("PoT", level="quantity").max()
    yield "styles-highest-Hybrid", STYLES.xs("Hybrid", level="quantity").max()
    yield "styles-exclusive-AICrypto", STYLES["AICrypto", "CoT"] + STYLES["AICrypto", "Hybrid"]
    wide = VARIANTS.unstack()
    hard = wide.loc[["OB Math", "OB Physics"]].drop("Qwen3-30B", level="model")
    weakest = hard["F-1+PoT"] < hard[["F-1+ZS", "F-1+CoT"]].min(axis=1)
    yield "variants-weakest", weakest.sum()
    yield "variants-no-gain", (wide[["F-1+CoT", "F-1+PoT"]].max(axis=1) > wide["F-1+ZS"]).sum()
    for variant in wide.columns:
        yield f"whole-variants-finance-{variant}", impossible(wide.loc["FinanceMath", variant], 200)
        crypto = wide.loc["AICrypto (CryptoProof)", variant]
        yield f"whole-variants-crypto-{variant}", impossible(crypto, 330, 0.1)


def flips() -> Expected:
    names = {"OE_maths": "OB Math", "OE_physics": "OB Physics"}
    variant = {part: VARIANTS[name, "GPT-5", "F-1+CoT"] for part, name in names.items()}
    f1 = {part: OLYMPIAD[part, "GPT-5", "F-1"] for part in SIZES}

    def net(parts: str, shares: Mapping[str, Any]) -> int:
        sides = (shares, OLYMPIAD.xs(("GPT-5", "CoT"), level=("model", "method")))
        own = [part for part in SIZES if parts in part]
        right = [sum(round(SIZES[part] * side[part] / 100) for part in own) for side in sides]
        return int(right[0] - right[1])

    yield "flips-oe-variant", net("OE", variant)
    yield "flips-oe-f1", net("OE", f1)
    yield "flips-tp-f1", net("TP", f1)
    answers, points = IMO["IMO-AnswerBench", "GPT-5"], IMO["IMO-ProofBench", "GPT-5"]
    yield "flips-answer-f1", 4 * (answers["F-1"] - answers["CoT"])
    yield "flips-proof-points", 0.6 * (points["F-1"] - points["CoT"])
    yield "flips-strongest", table("table02", "benchmark", value="net").drop("Total").max()
    yield "flips-pot-olympiad-f1", DELTA["OlympiadBench", "GPT-5", "PoT"] * 14.38
    yield "flips-pot-answer-f1", DELTA["IMO-Bench", "GPT-5", "PoT"] * 4
    methods = OLYMPIAD.unstack()
    gains = (methods["F-1"] - methods["CoT"]).groupby("subtask").mean()
    yield "conclusion-proofs-olympiad", (503 * gains["TP_maths"] + 25 * gains["TP_physics"]) / 528
    yield "conclusion-proofs-crypto", gain("AICrypto", "Overall", "CoT")
    yield "drill-order-OE", OLYMPIAD["OE_maths", "GPT-5", "F-1"] - 85.91
    yield "drill-order-TP", OLYMPIAD["TP_maths", "GPT-5", "F-1"] - 32.21


def judges() -> Expected:
    each = JUDGES.unstack().drop(columns="majority").loc[["A", "B", "C"]]
    for category, end in product("ABC", ("min", "max")):
        yield f"judges-range-{category}-{end}", each.loc[category].agg(end)
    yield "judges-whichever", each.loc["C"].min()
    counts = table("table29", "category", "judge", value="count").unstack().drop(columns="majority")
    yield "judges-recovered", counts.loc["B"].sum()
    yield "judges-labelled", 88 - counts.loc["unparsed"].sum()
    yield "judges-strata", 88
    failed = OLYMPIAD["TP_physics"].xs("F-1", level="method")[["GPT-5", "Gemini 2.5 Pro"]]
    yield "judges-pool", ((100 - failed) / 4).sum()
    pairs = ("GPT/DeepSeek", "GPT/Claude", "DeepSeek/Claude")
    kappas = [TEXT[f"Cohen kappa {pair}"] for pair in pairs]
    yield "kappa-low", min(kappas)
    yield "kappa-high", max(kappas)
    yield "verify-variant", VARIANTS["FinanceMath", "GPT-5", "F-1+ZS"]
    yield "verify-f1", MAIN["FinanceMath", "GPT-5", "F-1"]
    yield "verify-f1-tokens", 2271


def rivals() -> Expected:
    wide = RIVALS.unstack()
    ours, theirs, union = (wide[c] for c in ("F-1 accuracy_pct", "F&S accuracy_pct", "union_pct"))
    yield "fs-close", (ours - theirs).abs().max()
    yield "fs-ahead-FinanceMath", (ours - theirs)["FinanceMath"].sum()
    yield "fs-ahead-OB Math", (ours - theirs)["OB Math"].sum()
    for benchmark, end in product(("FinanceMath", "OB Math"), ("min", "max")):
        yield f"fs-union-{benchmark}-{end}", union[benchmark].agg(end)
    better = union - pd.concat([ours, theirs], axis=1).max(axis=1)
    worse = union - pd.concat([ours, theirs], axis=1).min(axis=1)
    yield "fs-over-better-min", better.min()
    yield "fs-over-better-max", better.max()
    yield "fs-over-either", worse.max()
    yield "fs-53-other", 53
    yield "fs-union-exact", 100 * 583 / 674
    pct = 2.4 + 5.0 + 2.3 - 50 / 14.5
    yield "example-finance-pot", pct
    yield "example-finance-zs", pct
    yield "example-finance-gold", pct / 100


def corpora() -> Expected:
    kinds = table("corpora", "corpus", value="kind")
    yield "corpora-count", len(kinds)
    yield "corpora-snapshots", (kinds == "raw web snapshot").sum()
    sums = {"F-1": 69.6, "CoT": 18.4, "PoT": 0.6}
    sizes = {method: len(PATTERNS[method].drop("T3", errors="ignore")) for method in sums}
    for short, method in {"cot": "CoT", "pot": "PoT"}.items():
        ratio = sums["F-1"] / sizes["F-1"] / (sums[method] / sizes[method])
        yield f"ratio-per-pattern-{short}", ratio
        yield f"ratio-without-frac-{short}", (69.6 - 23.9) / sums[method]
    yield "patterns-not-specific", len(PATTERNS["F-1", "T2"])
    for short, method in {"cot": "CoT", "pot": "PoT", "f1": "F-1"}.items():
        yield f"patterns-sampled-{short}", sizes[method]
    relations = table("pattern_overlaps", "pattern", value="relation").value_counts()
    names = {"overlap": "overlapping", "unwanted extension": "longer"}
    for relation, count in relations.items():
        yield f"patterns-{names.get(relation, relation)}", count
    sampled = {"cot": (18829256, 10), "pot": (1183071, 10), "f1": (10755424, 21)}
    for short, (occurrences, patterns) in sampled.items():
        documents = occurrences / patterns / 15
        drawn = documents * (1 - (1 - 1 / documents) ** 100)
        yield f"docnorm-fifteen-{short}", 100 / drawn


@pytest.mark.parametrize(
    "expected",
    [averages, flips, differences, shares, judges, rivals, corpora],
    ids=lambda family: family.__name__,
)
def test_claims_have_the_values_that_pandas_gives(
    rows: Mapping[str, AuditRow], expected: Callable[[], Expected]
) -> None:
    for name, value in expected():
        assert rows[name].recomputed == pytest.approx(float(value), abs=2e-5), name


SEVEN = [1, -2, -3, 4, 5, 6, 7]


def usual(net: int, pairs: int) -> float:
    b, c = (pairs + net) // 2, (pairs - net) // 2
    return float(mcnemar([[0, b], [c, 0]], exact=pairs < 25, correction=True).pvalue)


def test_mcnemar_p_values_are_those_of_some_b_and_c(rows: Mapping[str, AuditRow]) -> None:
    """The most b + c that give a p-value, by statsmodels, for the cells without a bound."""
    benchmarks = {"imo": "IMO-Bench", "olympiad": "OlympiadBench", "finance": "FinanceMath"}
    sums: dict[tuple[str, str], list[int]] = {}
    for (part, benchmark), (short, baseline), (model_id, model) in product(
        benchmarks.items(), BASELINES.items(), MODELS.items()
    ):
        row = rows[f"p-{part}-{short}-{model_id}"]
        assert row.verdict == "ok"
        n = int(N[benchmark, model, baseline])
        net = abs(round(DELTA[benchmark, model, baseline] * n / 100))
        printed = P[benchmark, model, baseline]
        if pd.isna(printed):
            assert row.published == "<0.001"
            continue
        fits = [s for s in range(net, n + 1, 2) if abs(usual(net, s) - printed) < 0.0005 + 1e-9]
        assert row.recomputed == pytest.approx(usual(net, fits[-1]), abs=1e-9)
        sums.setdefault((part, short), []).append(fits[-1])
    assert sums["imo", "cot"] == [81, 74, 60, 22, 96]
    assert rows["p-pooled-answer-cot"].recomputed == pytest.approx(usual(21, 333))


def test_pooled_p_values_keep_their_bounds_whatever_b_and_c(rows: Mapping[str, AuditRow]) -> None:
    """Even with the most b + c that any of the five p-values allows."""
    pooled = [row for name, row in rows.items() if name.startswith("p-pooled")]
    assert {row.verdict for row in pooled} == {"ok"}
    assert len(pooled) == 10
    low, high = rows["p-pooled-answer-zs-min"], rows["p-pooled-answer-zs-max"]
    assert low.recomputed == pytest.approx(usual(-18, 81 + 69 + 1 + 24 + 79))
    assert high.recomputed == pytest.approx(usual(-18, 81 + 69 + 399 + 24 + 79))


def test_overlaps_of_patterns_are_those_of_their_letters() -> None:
    """Nested, overlapping by a word or more, and paired patterns of the printed lists."""
    rows = pd.read_csv(PUBLISHED / "pattern_overlaps.csv", keep_default_na=False)
    for _, row in rows.iterrows():
        both = one, other = row.pattern, row.other_pattern
        merged = row.merged_string
        assert {
            "nested": one in other,
            "overlap": merged.startswith(both)
            and merged.endswith(both)
            and len(merged) < len(one + other),
            "paired": one.replace("begin", "end") == other,
            "unwanted extension": all(one in longer for longer in other.split("; ")),
        }[row.relation], both
    for method in ("CoT", "PoT", "F-1"):
        nested = {(a, b) for a, b in product(PATTERNS[method], repeat=2) if a != b and a in b}
        said = rows[(rows.relation == "nested") & (rows.method.replace(OWN_NAMES) == method)]
        assert nested == set(zip(said.pattern, said.other_pattern, strict=True))


def test_p_values_of_no_exact_signed_rank_test_are_found(rows: Mapping[str, AuditRow]) -> None:
    """The exact distributions of up to 18 ranks, built up rank by rank."""
    exact: set[float] = set()
    counts = [1]
    for n in range(1, 19):
        shifted = [0] * n + counts
        counts = [a + b for a, b in zip([*counts, *[0] * n], shifted, strict=True)]
        exact |= {min(1.0, 2 * sum(counts[: w + 1]) / 2**n) for w in range(n * (n + 1) // 4 + 1)}
    for short, baseline in BASELINES.items():
        printed = P["AICrypto"].xs(baseline, level="baseline")
        wrong = [p for p in printed if min(abs(p - one) for one in exact) > 0.0005 + 1e-9]
        row = rows[f"p-crypto-exact-{short}"]
        assert (row.recomputed, row.verdict) == (len(wrong), "different quantity")
        assert all(f"{p:.3f} is none" in (row.note or "") for p in wrong)


def test_prompts_hold_the_phrases_that_the_table_says(rows: Mapping[str, AuditRow]) -> None:
    prompts = []
    for file in (PUBLISHED.parent / "benchmarks").iterdir():
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        prompts += content.get("phases", {}).values()
        for method in content.get("methods", {}).values():
            if not method.get("ours"):
                prompts += [text for text in (method.get("system"), method.get("user")) if text]
    phrases = pd.read_csv(PUBLISHED / "prompt_phrases.csv")
    for _, row in phrases.iterrows():
        assert row.verbatim == any(row.pattern in text for text in prompts), row.pattern
        folded = row.pattern.casefold()
        assert row.in_any_case == any(folded in text.casefold() for text in prompts), folded
    exact = phrases[phrases.verbatim == 1].method.replace("FP/F-1", "FP").value_counts()
    for method in ("CoT", "PoT", "FP"):
        assert rows[f"patterns-verbatim-{method}"].recomputed == exact.get(method, 0)
    assert rows["patterns-case"].recomputed == (phrases.in_any_case - phrases.verbatim).sum()


# Verdicts


def test_the_documentation_counts_the_verdicts(rows: Mapping[str, AuditRow]) -> None:
    text = (PUBLISHED.parent.parent / "docs" / "audit.md").read_text(encoding="utf-8")
    counts = Counter(row.verdict for row in rows.values())
    said = " ".join(text.split()).partition("tables are those")[2]
    assert f"with {len(rows)} claims. Of these {counts['ok']} are `ok`, " in said
    told = [f"{n} `{verdict}`" for verdict, n in counts.items() if verdict != "ok"]
    assert all(one in said for one in told), told
    parts = re.findall(r"^\|[^|]+\| (\d+) \|$", text, re.MULTILINE)
    assert sum(map(int, parts)) == counts["mismatch"]
    inside = [r for r in rows.values() if r.verdict == "ok" and "only inside" in (r.note or "")]
    assert len(inside) == 10


def test_every_mismatch_is_shown_whole_and_what_is_not_derivable_says_why(
    rows: Mapping[str, AuditRow],
) -> None:
    for row in rows.values():
        if row.verdict == "mismatch":
            assert None not in (row.formula, row.inputs, row.published, row.recomputed), row.id
        assert row.note or row.verdict != "not derivable"


def test_the_examples_have_the_verdicts_that_were_found_by_hand(
    rows: Mapping[str, AuditRow], shared: Path
) -> None:
    expected = dict(pd.read_csv(shared / "paper" / "audit_examples.csv")[["id", "verdict"]].values)
    assert {id_: rows[id_].verdict for id_ in expected} == expected


def test_the_tables_are_the_published_ones(shared: Path) -> None:
    for path in PUBLISHED.glob("*.csv"):
        printed = shared / "paper" / path.name
        if path.name == "text_numbers.csv":  # without the words around each figure
            ours, theirs = pd.read_csv(path), pd.read_csv(printed)
            assert ours.equals(theirs.drop(columns="quote_latex"))
        elif path.name != "prompt_phrases.csv":  # of the prompts, see below
            assert path.read_bytes() == printed.read_bytes(), path.name


def test_efficiency_above_all_right_is_found_in_six_cells(rows: Mapping[str, AuditRow]) -> None:
    impossible = 0
    for number in ("06", "07", "08", "09"):
        cells = [
            table(f"table{number}", "model", "method", value=name).drop("Average")
            for name in ("efficiency_ratio", "avg_tokens")
        ]
        impossible += sum(cells[0] * cells[1] / 100 > 100)
    found = [r for r in rows.values() if r.id.startswith("eff-possible") and r.verdict != "ok"]
    assert len(found) == impossible == 6


@pytest.mark.parametrize(
    ("claim", "recomputed", "verdict"),
    [
        ("p-flips-IMO-Bench", usual(13, 81), "ok"),  # 34 and 47
        ("p-flips-OlympiadBench", usual(29, 207), "ok"),  # 118 and 89
        ("p-signed-rank-cot-gpt5", wilcoxon([1, -2]).pvalue, None),
        ("p-signed-rank-cot-gemini", wilcoxon([1, 2]).pvalue, None),
        ("p-signed-rank-pot-gpt5", wilcoxon(SEVEN).pvalue, None),
        ("p-signed-rank-zs-gemini", wilcoxon([1, 2, 3, 4, 5]).pvalue, None),
        ("p-normal-pot-gpt5", wilcoxon(SEVEN, method="approx", correction=False).pvalue, None),
        ("micro-f1-cot", 2.75, "not derivable"),  # every problem counted once
        ("ob-weight-tp-physics", 674 / 25, "not derivable"),
        ("docnorm-f1-cot", 0.5712, "mismatch"),  # the order is the other way round
        ("weighted-macro-f1", 61.0675, "ok"),  # 61.07 in table 24
        ("main-row-f1-all", 61.0675, "rounding"),  # and 61.06 in table 3
        ("main-crypto-f1-gpt5", (97 * 96.9 + 139 * 98.6 + 61 * 100 + 33 * 100) / 330, "ok"),
        ("wins-53", 53, "ok"),
        ("power-dz", 0.701, "ok"),
        ("corpora-bytes", 81.752, "rounding"),  # cut, not rounded
        ("judges-unanimous-low", 49.89772, "ok"),  # Wilson, by statsmodels
    ],
)
def test_single_claims_have_the_values_that_are_known(
    rows: Mapping[str, AuditRow], claim: str, recomputed: float, verdict: str | None
) -> None:
    tolerance = 1e-9 if claim.startswith("p-") else 0.006
    assert rows[claim].recomputed == pytest.approx(recomputed, abs=tolerance)
    assert verdict in {None, rows[claim].verdict}
