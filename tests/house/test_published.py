"""Patterns, corpora and figures, against those of the paper and of other publications."""

import csv
import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import evalcore
import ngramscan
from docs.errata.claims import check_claims
from ngramscan.indexes.catalog import find_hosted
from ngramscan.patterns.files import load_patterns, shipped_sets
from ngramscan.patterns.overlaps import closing_forms, merged_strings, nesting
from tests.support import corpus_files, oracle
from tests.support.outputs import count_starts
from tests.support.places import ROOT

F1 = load_patterns("f1")


@pytest.fixture
def paper(shared: Path) -> Path:
    return shared / "paper"


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# Patterns and corpora


def test_the_shipped_set_is_the_table_of_the_paper(paper: Path) -> None:
    names = ("method", "tier", "kind", "pattern")
    rows = read_csv(paper / "patterns.csv")
    printed = [(*(row[name] for name in names), row["status"] == "expanded") for row in rows]
    assert [(p.method, p.tier, p.kind, p.text, bool(p.expands)) for p in F1.patterns] == printed
    assert (len(printed), shipped_sets()) == (46, ["f1", "verify"])


def test_the_overlaps_of_the_errata_are_found(paper: Path, subtests: pytest.Subtests) -> None:
    texts = [p.text for p in F1.patterns]
    merged = {string for pair in permutations(texts, 2) for string in merged_strings(*pair)}
    inner, closing = nesting(texts), closing_forms(texts)
    words = {p.text: "; ".join(p.longer_words) for p in F1.patterns}
    for row in read_csv(paper / "pattern_overlaps.csv"):
        pattern, another = row["pattern"], row["other_pattern"]
        with subtests.test(pattern=pattern, another=another):
            assert row["relation"] in {
                "nested" if pattern in inner.get(another, ()) else "",
                "overlap" if row["merged_string"] in merged else "",
                "paired" if closing.get(another) == pattern else "",
                "unwanted extension" if words[pattern] == another else "",
            }, row


def test_the_catalog_has_the_documented_sizes(paper: Path, subtests: pytest.Subtests) -> None:
    for row in read_csv(paper / "corpora.csv"):
        with subtests.test(name=row["index_name"]):
            hosted = find_hosted(row["index_name"])
            assert hosted is not None
            printed = (int(row["bytes_of_text"]), int(row["documents"]), row["corpus"], row["kind"])
            assert (hosted.bytes, hosted.documents, hosted.corpus, hosted.kind) == printed


def test_recorded_outputs_are_counted_as_by_brute_force_and_on_the_page(
    shared: Path, tmp_path: Path
) -> None:
    folders = [shared / f"data/financemath/validation/raw_{m}_outputs" for m in ("cot", "pot")]
    texts = {
        (path.stem, path.parent.name[4:7]): [
            row["output"][0] or "" for row in json.loads(path.read_bytes())
        ]
        for folder in folders
        for path in folder.glob("*.json")
    }
    every = [text for own in texts.values() for text in own]
    corpus = corpus_files.write(tmp_path, "c.jsonl.zst", every)
    counted = ngramscan.count("f1", index=f"scan:{corpus}")
    assert len(every) == 2400
    occurrences, documents = oracle.tally([query.text for query in F1.queries()], every)
    assert counted["occurrences"].tolist() == occurrences
    assert counted["documents"].tolist() == documents

    rows = ngramscan.blend(*folders)
    page = pd.read_csv(ROOT / "docs/results/markers.csv")
    columns = page.columns.drop("dataset")
    pd.testing.assert_frame_equal(rows[[*columns]], page[[*columns]], check_dtype=False, rtol=1e-9)
    expected = []
    of_model = rows[rows["model"] == "gemma-7b-it"]
    for row in of_model.to_dict("records"):
        patterns = [p.text for p in F1.patterns if p.method == row["method"]]
        own = texts[row["model"], row["prompt"]]
        counts = np.array([[count_starts(p, text, False) for p in patterns] for text in own])
        expected.append([counts.sum(), counts.any(axis=1).sum()])
    assert of_model[["occurrences", "with_marker"]].to_numpy().tolist() == expected


# Tables


KINDS = ("all_fail", "all_solve", "adaptive_right", "adaptive_wrong", "only_adaptive")
PRINTED = ("all_fail", "all_correct", "adapt_correct", "adapt_wrong", "f1_only")
SOLVED = ("000", "111", "110", "010", "100")  # by the adaptive method and two baselines


def test_printed_bounds_and_selection_accuracies_have_the_method_in_them(
    paper: Path, subtests: pytest.Subtests
) -> None:
    names = "table20_strategy_analysis.csv", "table22_upper_bound.csv"
    tables = [pd.read_csv(paper / name) for name in names]
    shares, bounds = ({(a, b): value for a, b, value in table.to_numpy()} for table in tables)
    selection = {"FinanceMath": 73.0, "OlympiadBench": 69.9, "IMO-Bench": 61.0}
    for benchmark in dict.fromkeys(name for name, _ in shares):
        with subtests.test(benchmark=benchmark):
            counts = [round(10 * shares[benchmark, name]) for name in PRINTED]
            solved = [flags for flags, n in zip(SOLVED, counts, strict=True) for _ in range(n)]
            scores = [
                {
                    "dataset": "d",
                    "model": "m",
                    "rule": "r",
                    "id": number,
                    "method": name,
                    "value": v,
                }
                for number, flags in enumerate(solved)
                for name, v in zip("fxy", map(float, flags), strict=True)
            ]
            compared = evalcore.outcomes(pd.DataFrame(scores), baselines="x,y", adaptive="f")
            (row,) = compared.to_dict("records")
            assert [row[name] for name in KINDS] == counts
            if bound := bounds.get((benchmark, "upper_bound")):
                assert 100 * row["upper_bound_with_adaptive"] == pytest.approx(bound, abs=0.11)
                assert 100 * row["upper_bound"] < bound - 2
            if benchmark in selection:
                with_alone = row["adaptive_right"] + row["only_adaptive"]
                share = with_alone / (with_alone + row["adaptive_wrong"])
                assert 100 * share == pytest.approx(selection[benchmark], abs=0.2)
                assert row["selection_accuracy"] < share


# Xu, Liu, Choi, Smith & Hajishirzi 2025, arXiv 2506.12229: table 2 has the dirty entries of 24
# benchmarks in 8 corpora in percent, table 7 their numbers.
CORPORA = {"Pile": "pile_train", "DCLM": "dclm_baseline"}
CORPORA |= {f"CC-{week}": f"cc_2025_{week}" for week in ("05", "08", "13", "18", "21", "26")}
DISAGREEING = {
    "MMLU": "Pile DCLM CC-13 CC-18 CC-21 CC-26",
    "MMLU-Pro": "Pile CC-05 CC-13 CC-18 CC-21 CC-26",
    "HLE": "DCLM CC-05",
    "GSM8K": "DCLM CC-05",
    "SWE-bench": "CC-18",
    "ARC-Challenge": "Pile",
    "ARC-Easy": "Pile",
}


def test_two_published_tables_of_contamination_disagree_in_nineteen_cells(
    shared: Path, tmp_path: Path
) -> None:
    """One table as claims about the other."""
    for file in (shared / "contamination").glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    table = "contamination_table2"
    row = f'{table}[benchmark == "{{benchmark}}"]'
    every = [one["benchmark"] for one in read_csv(tmp_path / f"{table}.csv")]
    claim = {
        "for": {"benchmark": every, "corpus": CORPORA},
        "id": "{benchmark} {corpus.id}",
        "where": "tables 2 and 7",
        "statement": "dirty entries of {benchmark} in {corpus.id}",
        "cell": 'contamination_table7[benchmark == "{benchmark}"].{corpus}_dirty',
        "formula": f"exact_pct({row}.{{corpus}}, size=test_size) * {row}.test_size / 100",
    }
    content = {
        "keys": ["benchmark"],
        "counts": [f"{table}.test_size"],
        # `13.20` is 13.2: the second decimal is always 0.
        "decimals": {f"{table}.{column}": 1 for column in CORPORA.values()},
        "claims": [claim],
    }
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump(content))
    rows = check_claims(tmp_path, tmp_path / "claims.yaml")
    named = {f"{name} {corpus}" for name, own in DISAGREEING.items() for corpus in own.split()}
    assert (len(rows), len(named)) == (192, 19)
    assert {one.id for one in rows if one.verdict != "ok"} == named
    assert {one.verdict for one in rows} == {"ok", "mismatch"}
