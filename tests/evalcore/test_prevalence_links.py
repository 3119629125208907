"""`evalcore link --problems`: what is joined, said and refused, and what was published."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import evalcore
from ngramscan.errors import IncompleteError, InputError
from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.trace import TraceRow
from ngramscan.reporting import to_frame
from ngramscan.reporting.keyed_counts import read_counts
from ngramscan.statistics.p_values import holm
from ngramscan.statistics.slopes import SlopeErrors, residuals
from tests.support.cases import case_table
from tests.support.counted_problems import COUNTS, SCORES
from tests.support.places import ROOT

RESULTS = ROOT / "docs" / "results"
TOPICS = pd.DataFrame({"topic": [f"t{n}" for n in range(13)], "n": [3**n for n in range(13)]})


def link(counts: Any = COUNTS, scores: Any = SCORES, **options: Any) -> Any:
    return evalcore.link(counts, scores, problems=True, **{"resamples": 200} | options)


def test_a_row_is_that_of_scipy_and_holm_is_over_all() -> None:
    rows = link()
    assert [*zip(rows["method"], rows["baseline"].fillna(""), strict=True)] == [
        ("cot", ""),
        ("pot", ""),
        ("pot", "cot"),
    ]
    x = np.log10(COUNTS["n"] + 0.5)
    values = [SCORES["value"][SCORES["method"] == name].to_numpy() for name in ("cot", "pot")]
    slopes = [stats.linregress(x, y).slope for y in [*values, values[1] - values[0]]]
    assert [*rows["slope"]] == pytest.approx(slopes)
    rhos = [stats.spearmanr(COUNTS["n"], y).statistic for y in values]
    assert [*rows["rho"][:2]] == pytest.approx(rhos)
    tests = ("permutation", "sign flips", "exact sign flips", "t")
    assert {*rows["test"].str.split(",").str[0]} <= {*tests}
    assert [*rows["p_adjusted"]] == holm([*rows["p"]])
    assert {*rows["groups"], *rows["n"]} == {40}
    assert {*rows["transformation"]} == {"log10(count + 0.5)"}


def test_each_column_of_a_slope_is_as_by_hand() -> None:
    scores = SCORES.assign(status="scored")
    scores.loc[0, "value"] = np.nan
    scores.loc[0, "status"] = "unknown"
    rows = link(scores=scores, level=0.9)
    row = rows[rows["method"] == "cot"].iloc[0]
    known = scores[(scores["method"] == "cot") & (scores["status"] == "scored")]
    x, y = np.log10(COUNTS["n"][1:] + 0.5).to_numpy(), known["value"].to_numpy()
    fit = stats.linregress(x, y)
    exact = {
        "counts": "prevalence",
        "role": "prevalence",
        "transformation": "log10(count + 0.5)",
        "dataset": "d",
        "model": "m",
        "rule": "r",
        "method": "cot",
        "n": 39,
        "n_unknown": 1,
        "groups": 39,
        "level": 0.9,
    }
    assert {name: row[name] for name in exact} == exact
    assert pd.isna(row["baseline"])
    assert row["slope"] == pytest.approx(fit.slope)
    assert row["rho"] == pytest.approx(stats.spearmanr(x, y).statistic)
    # Errors of Bell and McCaffrey: those of statsmodels' HC2, with a t of fewer degrees of freedom.
    errors = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC2").bse[1]
    hat = 1 / 39 + (x - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    weights = (x - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum() / (1 - hat)
    design = np.column_stack([np.ones(39), x])
    maker = np.eye(39) - design @ np.linalg.inv(design.T @ design) @ design.T
    spread = maker * np.sqrt(np.outer(weights, weights))
    degrees = np.trace(spread) ** 2 / (spread**2).sum()
    half = errors * stats.t.ppf(0.95, degrees)
    assert row["slope_high"] - row["slope"] == pytest.approx(half)
    assert row["slope"] - row["slope_low"] == pytest.approx(half)


def test_problems_of_one_topic_are_one_value() -> None:
    rows = link(TOPICS, on="topic")
    assert ({*rows["groups"]}, {*rows["n"]}) == ({13}, {40})
    means = SCORES[SCORES["method"] == "cot"].groupby("topic")["value"].mean()
    found = stats.spearmanr(means, TOPICS.set_index("topic")["n"][means.index]).statistic
    assert rows["rho"][0] == pytest.approx(found)
    fewer = link(TOPICS, on="topic", without="t12,t3")
    assert [*fewer["groups"]] == [13, 13, 13, 11, 11, 11]
    assert fewer["counts"][5] == "prevalence without t12, t3"
    rest = TOPICS[~TOPICS["topic"].isin(["t12", "t3"])]
    assert [*fewer["slope"][3:]] == pytest.approx([*link(rest, on="topic")["slope"]])
    pd.testing.assert_frame_equal(
        fewer[:3].drop(columns="p_adjusted"), rows.drop(columns="p_adjusted")
    )


def test_the_order_of_rows_changes_nothing() -> None:
    shuffled = SCORES.sample(frac=1, random_state=3)
    shuffled = pd.concat([shuffled[shuffled["method"] == name] for name in ("cot", "pot")])
    pd.testing.assert_frame_equal(link(COUNTS.sample(frac=1, random_state=4), shuffled), link())


def test_covariates_are_held_constant() -> None:
    rows = link(covariate="length")
    design = np.column_stack([np.ones(40), SCORES["length"][:40]])

    def rest(values: Any) -> Any:
        return values - design @ np.linalg.lstsq(design, np.asarray(values), rcond=None)[0]

    x, y = rest(np.log10(COUNTS["n"] + 0.5)), rest(SCORES["value"][:40])
    assert rows["slope"][0] == pytest.approx(x @ y / (x @ x))
    design[:, 1] = stats.rankdata(design[:, 1])
    ranks = [rest(stats.rankdata(each)) for each in (COUNTS["n"], SCORES["value"][:40])]
    assert rows["rho"][0] == pytest.approx(np.corrcoef(ranks)[0, 1])


NOISY = np.random.default_rng(5)
TRUE = NOISY.normal(4, 1, 3000)
MEASURED = [np.round(10 ** (TRUE + NOISY.normal(0, sd, 3000))) for sd in (0.3, 0.9)]
RISING = pd.DataFrame(
    {"dataset": "d", "model": "m", "method": "cot", "id": range(3000), "epoch": None, "rule": "r"}
).assign(value=np.clip(0.4 + 0.1 * (TRUE - 4), 0, 1))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(0, 1, id="the other corpus has more noise"),
        pytest.param(1, 0, id="the other corpus has less noise"),
    ],
)
def test_counts_in_another_corpus_correct_slopes_for_noise(first: int, second: int) -> None:
    also = pd.DataFrame({"id": range(3000), "hits": MEASURED[second]})
    counts = pd.DataFrame({"id": range(3000), "n": MEASURED[first]})
    rows = link(counts, RISING, also=also, placebo=also)
    logs = np.log10(np.array(MEASURED) + 0.5)
    assert [*rows["counts"]] == [*rows["role"]] == ["prevalence", "also", "placebo"]
    assert rows["count_correlation"][0] == pytest.approx(np.corrcoef(logs)[0, 1])
    assert rows["slope"][0] < 0.095
    x, other, y = logs[first], logs[second], RISING["value"]
    ratio = np.cov(other, y)[0, 1] / np.cov(other, x)[0, 1]
    assert rows["slope_corrected"][0] == pytest.approx(ratio)
    assert rows["slope_corrected"][0] == pytest.approx(0.1, abs=0.005)
    assert rows["slope_corrected_low"][0] < 0.1 < rows["slope_corrected_high"][0]
    assert rows["slope_corrected"][1:].isna().all()


@pytest.mark.parametrize(
    ("also", "note"),
    [
        pytest.param(
            COUNTS.assign(n=COUNTS["n"].max() - COUNTS["n"]),
            "no corrected slope: the counts of the two corpora are not positively correlated",
            id="counts that fall with the others",
        ),
        pytest.param(
            COUNTS.assign(n=7),
            "no corrected slope: the counts of the two corpora are not positively correlated",
            id="equal counts",
        ),
        pytest.param(
            COUNTS,
            "no corrected slope: the two corpora have the same counts",
            id="the same counts",
        ),
    ],
)
def test_why_a_slope_is_not_corrected_is_in_the_note(also: Any, note: str) -> None:
    rows = link(also=also)
    assert "slope_corrected" in rows.attrs["left_out"]
    assert [note in each for each in rows["note"]] == [True] * 3 + [False] * (len(rows) - 3)


def test_a_weakly_related_corpus_leaves_a_corrected_slope_without_limits() -> None:
    random = np.random.default_rng(8)
    related = COUNTS["n"] ** 0.1 * np.exp(random.normal(5, 2, 40))
    rows = link(also=COUNTS.assign(n=related.astype(int)))
    assert rows["slope_corrected"][:2].notna().all()
    assert "slope_corrected_low" in rows.attrs["left_out"]
    assert all("are too weakly related; it may have any value" in note for note in rows["note"][:2])


def test_each_group_counts_once_however_many_answers_it_has() -> None:
    topics = [f"t{n}" for n in range(13)]
    often = SCORES[SCORES["topic"] == "t12"]
    more = [often.assign(id=often["id"] + f"-{n}") for n in range(20)]
    scores = pd.concat([SCORES, *more])
    rows = link(TOPICS, scores, on="topic")
    slopes = []
    for method in rows["method"][:2]:
        means = scores[scores["method"] == method].groupby("topic")["value"].mean()[topics]
        slopes.append(stats.linregress(np.log10(TOPICS["n"] + 0.5), means)[0])
    assert [*rows["slope"][:2]] == pytest.approx(slopes)
    once = link(TOPICS, on="topic")
    ignored = ["n", "test"]
    pd.testing.assert_frame_equal(rows.drop(columns=ignored), once.drop(columns=ignored))


SOURCES = SCORES.assign(source=SCORES["id"].astype(int) // 4, own=SCORES["id"])


def test_clusters_of_groups_are_the_independent_values() -> None:
    rows, plain = link(scores=SOURCES, cluster="source"), link(scores=SOURCES)
    assert [{*rows["groups"]}, {*rows["n_clusters"]}] == [{40}, {10}]
    assert "n_clusters" in plain.attrs["left_out"]
    assert [*rows["slope"]] == [*plain["slope"]]
    x = np.log10(COUNTS["n"] + 0.5)
    clusters = np.arange(40) // 4
    halves = []
    for method in rows["method"][:2]:
        y = SCORES[SCORES["method"] == method]["value"].to_numpy()
        design = residuals(x, y, np.ones(40))
        assert design
        errors = SlopeErrors(design, clusters)
        quantile = stats.t.ppf(0.975, errors.degrees)
        halves.append(float(np.linalg.norm(errors.sums(design.y)) * quantile))
    assert [*(rows["slope_high"] - rows["slope"])[:2]] == pytest.approx(halves)


def test_clusters_that_are_groups_change_nothing_but_the_test() -> None:
    rows, plain = link(scores=SOURCES, cluster="own"), link(scores=SOURCES)
    columns = ["slope", "slope_low", "slope_high"]
    assert rows[columns].to_numpy() == pytest.approx(plain[columns].to_numpy())


def test_topics_of_a_source_are_corrected_for_noise_by_clusters() -> None:
    also = COUNTS.assign(n=COUNTS["n"] * (1 + np.arange(40) % 3))
    rows, plain = (link(scores=SOURCES, also=also, cluster=name) for name in ("source", None))
    assert rows["slope_corrected"][0] == plain["slope_corrected"][0]
    assert rows["slope_corrected_low"][0] != pytest.approx(plain["slope_corrected_low"][0])


def counted(index: str, pattern: str, n: int) -> CountRow:
    return CountRow(index, "bytes", "cot", "T1", None, pattern, pattern, n, None, "scan", "2026")


def test_counts_of_other_commands_are_known_by_their_columns() -> None:
    counts = [counted(index, f"{n}", 3 * n + (index == "j")) for index in "ij" for n in range(40)]
    more = [counted("i", "5", 7)]  # of another variant
    found = link(to_frame([*counts, *more], CountRow), on="id=pattern")
    assert [*found["counts"]] == ["i"] * 3 + ["j"] * 3
    plain = pd.DataFrame({"id": range(40), "n": [3 * n + 7 * (n == 5) for n in range(40)]})
    assert [*found["slope"][:3]] == pytest.approx([*link(plain)["slope"]])
    no: Any = None
    entries = [
        EntryRow("i", "r", str(n), 50, 50, 3 * n, no, no, no, no, no, no, 0) for n in range(40)
    ]
    traced = [
        TraceRow(
            "i", "d", "m", "p", str(n), "all", "words", 9, 0, 5, 3 * n, 9, no, no, 5, 9, no, no, no
        )
        for n in range(40)
    ]
    plain = plain.assign(n=range(0, 120, 3))
    slopes = [[*link(to_frame(*one))["slope"]] for one in ((entries, EntryRow), (traced, TraceRow))]
    assert slopes == [pytest.approx([*link(plain)["slope"]])] * 2


def test_no_answer_is_wrong_and_unknown_is_left_out() -> None:
    some = SCORES.assign(status="scored")
    some.loc[[0, 1], "value"] = np.nan
    some.loc[[0, 1], "status"] = ["no_answer", "unknown"]
    rows = link(scores=some)
    assert [*rows["n"]] == [39, 40, 39]
    wrong = SCORES.drop(index=1)
    wrong.loc[0, "value"] = 0.0
    assert [*rows["slope"]] == pytest.approx([*link(scores=wrong)["slope"]])
    unknown = SCORES.assign(value=SCORES["value"].where(SCORES["method"] == "cot"))
    with pytest.raises(IncompleteError, match="d, m, r, pot: nothing to compare") as found:
        link(scores=unknown)
    assert len(found.value.rows) == 1


TABLES: dict[str, Any] = {
    "counts": COUNTS,
    "topics": TOPICS,
    "two counts": COUNTS.assign(hits=COUNTS["n"]),
    "no counts": COUNTS.assign(n="many"),
    "equal": COUNTS.assign(n=5),
    "others": COUNTS.assign(id=COUNTS["id"] + 100),
    "twice": pd.concat([COUNTS, COUNTS]),
    "negative": COUNTS.assign(n=-1),
    "without a key": COUNTS.assign(id=None),
    "scores": SCORES,
    "two benchmarks": pd.concat([SCORES, SCORES.assign(dataset="e")]),
    "missing length": SCORES.assign(length=SCORES["length"].where(SCORES.index != 3)),
    "lengths of answers": SCORES.assign(length=range(80)),
    "of sources": SCORES.assign(source=[n // 9 for n in range(40)] * 2),
    "passages of a topic": SCORES.assign(passage=SCORES["id"]),
    "without a topic": SCORES.assign(topic=SCORES["topic"].where(SCORES.index != 3)),
}


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_what_can_not_be_linked_is_one_line(
    counts: str, scores: str, options: dict[str, Any], problem: str
) -> None:
    given = {"problems": True} | options
    with pytest.raises(InputError) as found:
        evalcore.link(TABLES[counts], TABLES[scores], **given)
    assert problem in str(found.value)
    assert "\n" not in str(found.value)


def test_one_method_has_a_slope_and_no_difference() -> None:
    assert len(link(scores=SCORES[SCORES["method"] == "cot"])) == 1


@pytest.fixture(scope="module")
def ciphers() -> list[pd.DataFrame]:
    return [pd.read_csv(RESULTS / f"shift-ciphers{end}.csv") for end in ("-counts", "")]


def test_the_published_correlations_of_shift_ciphers_come_out(ciphers: Any) -> None:
    """McCoy et al. 2024: 25 shifts, GPT-4 with three prompts."""
    counts, scores = ciphers
    rows = link(counts, scores)
    known = rows[rows["baseline"].isna()].set_index("method")
    assert known["rho"].round(2).to_dict() == {"standard": 0.62, "step": 0.65, "cot": 0.73}
    accuracies = scores.groupby("method")["value"].mean().round(3).to_dict()
    assert accuracies == {"standard": 0.084, "step": 0.14, "cot": 0.31}


def test_the_sentences_of_the_page_have_numbers_of_its_table() -> None:
    page = (RESULTS / "shift-ciphers.md").read_text()
    table, _, after = page.partition("<!-- [[[end]]] -->")
    numbers = re.findall(r"\d+\.\d\b", after.partition("## Commands")[0])
    assert len(numbers) == 18
    assert {*numbers} <= {*re.findall(r"\d+\.\d\b", table)}


def test_rows_of_the_page_are_those_of_the_authors_logs(shared: Path, ciphers: Any) -> None:
    counts, scores = ciphers
    folder = shared / "data" / "embers"
    with gzip.open(folder / "shift.jsonl.gz", "rt") as file:
        logs = [json.loads(line) for line in file]
    answers = pd.DataFrame(
        {
            "dataset": "shift-ciphers",
            "model": row["model"],
            "method": row["prompt"],
            "id": f"{row['shift']}-{row['item']}",
            "epoch": None,
            "rule": "authors",
            "value": float(row["correct"]),
            "shift": row["shift"],
        }
        for row in logs
        if row["model"] == "gpt-4-0613"
    )
    rows = link(folder / "c4_counts.csv", answers, on="shift", without="13")
    ours = link(counts, scores, without="13")
    assert {*rows["n"]} == {2500, 2400}
    pd.testing.assert_frame_equal(rows.drop(columns="n"), ours.drop(columns="n"))


@pytest.mark.parametrize("count", ["true", "-1", "1e400", "NaN", "1" + "0" * 400], ids=str.__len__)
def test_what_is_no_count_of_a_problem_is_one_line(tmp_path: Path, count: str) -> None:
    path = tmp_path / "counts.jsonl"
    path.write_text(f'{{"id": "1", "hits": 3}}\n{{"id": "2", "hits": {count}}}\n')
    with pytest.raises(InputError, match=r"counts.jsonl:2: hits: .* is not a (number|count)"):
        read_counts(path, "id", "hits")
