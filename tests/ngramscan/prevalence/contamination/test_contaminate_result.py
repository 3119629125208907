"""What docs/results/contamination.md is made of: benchmarks, texts of a machine, shares."""

import csv
import gzip
from pathlib import Path

import pytest

from benchmarks.contamination import read_entries, read_texts, share_rows
from tests.support.made_benchmarks import write, write_financemath, write_proofbench
from tests.support.places import ROOT

RESULT = ROOT / "docs/results/contamination.csv"
VERDICTS = ("clean", "shared", "copied", "shared")


def test_problems_have_ids_that_begin_with_the_name_of_their_benchmark(tmp_path: Path) -> None:
    write_financemath(tmp_path, size=2)
    write(tmp_path / "word_sorting.json", {"examples": [{"input": "a b"}, {"input": "c d"}]})
    write(tmp_path / "answerbench_v2.csv", 'Problem ID,Problem\nalgebra-1,"Find,\n$x$."\n')
    write_proofbench(tmp_path)
    write(tmp_path / "OE_TO_maths_en_COMP.jsonl", '{"id": 7, "question": "Find $y$."}\n')
    entries = list(read_entries(tmp_path))
    assert entries[:4] == [
        ("financemath validation-0", "What is 0 / 8?"),
        ("financemath validation-1", "What is 1 / 8?"),
        ("bbh-word-sorting 1", "a b"),
        ("bbh-word-sorting 2", "c d"),
    ]
    assert entries[4] == ("imo-answerbench algebra-1", "Find,\n$x$.")
    assert entries[5] == ("imo-proofbench PB-Basic-000", "Prove 0.")
    assert entries[-1] == ("olympiadbench 7", "Find $y$.")
    assert len(entries) == 2 + 2 + 1 + 60 + 1


def test_texts_are_files_in_utf_8_also_compressed_and_no_others(tmp_path: Path) -> None:
    write(tmp_path / "b/copyright", "Ein Ä.")
    write(tmp_path / "a/changelog.gz", gzip.compress("Ein Ö.".encode()))
    write(tmp_path / "a/latin", "Ä".encode("latin-1"))
    write(tmp_path / "a/binary", b"a\0b")
    write(tmp_path / "a/blank", " \n")
    write(tmp_path / "a/truncated.gz", gzip.compress(b"text")[:-9])
    write(tmp_path / "a/no.gz", b"text")
    (tmp_path / "a/link").symlink_to(tmp_path / "b/copyright")
    assert list(read_texts([tmp_path / "b", tmp_path / "a"])) == [
        (str(tmp_path / "a/changelog.gz"), "Ein Ö."),
        (str(tmp_path / "b/copyright"), "Ein Ä."),
    ]


def test_shares_have_each_class_of_a_rule_and_an_unknown_one_stops(tmp_path: Path) -> None:
    heading = "index,rule,id,verdict\n"
    copied = "".join(f"i,copied: 4 words,x {n},{verdict}\n" for n, verdict in enumerate(VERDICTS))
    rows = write(tmp_path / "rows.csv", heading + copied + "i,gpt3: 13 words,y 1,dirty\n")
    # Wilson's limits of 1 and 2 of 4 and 0 and 1 of 1, from statsmodels' proportion_confint.
    assert list(share_rows([rows])) == [
        ("x", "i", "copied", "clean", 1, 4, 0.25, 0.04559, 0.69936),
        ("x", "i", "copied", "shared", 2, 4, 0.5, 0.15004, 0.84996),
        ("x", "i", "copied", "variant", 0, 4, 0.0, 0.0, 0.48989),
        ("x", "i", "copied", "copied", 1, 4, 0.25, 0.04559, 0.69936),
        ("y", "i", "gpt3", "clean", 0, 1, 0.0, 0.0, 0.79345),
        ("y", "i", "gpt3", "dirty", 1, 1, 1.0, 0.20655, 1.0),
    ]
    write(rows, heading + "i,copied: 4 words,x 1,\n")
    with pytest.raises(ValueError, match="x, i, copied: no such class: ''"):
        list(share_rows([rows]))


def test_the_classes_of_the_result_add_up_to_the_sizes_of_the_benchmarks() -> None:
    with RESULT.open(newline="") as file:
        rows = list(csv.DictReader(file))
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault((row["benchmark"], row["index"], row["rule"]), []).append(row)
    sizes = {
        "financemath": 200,
        "bbh-word-sorting": 250,
        "imo-answerbench": 400,
        "imo-proofbench": 60,
        "olympiadbench": 675,
    }
    assert len(groups) == len(sizes) * 4 * 4  # two corpora, both together and others; four rules
    for (benchmark, _, _), classes in groups.items():
        assert {int(row["entries"]) for row in classes} == {sizes[benchmark]}
        assert sum(int(row["n"]) for row in classes) == sizes[benchmark]
