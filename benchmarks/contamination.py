"""The tables that docs/results/contamination.md is made of, apart from what `ngramscan` does.

    python benchmarks/contamination.py entries FOLDER > entries.jsonl
    python benchmarks/contamination.py texts FOLDER ... > texts.jsonl
    python benchmarks/contamination.py shares ROWS.csv ... > contamination.csv

`entries` has the problems of five benchmarks, from a folder with the files that their authors
publish. `texts` has the text files below folders, also those that gzip compressed. `shares` has the
number and the share of entries in each class, by benchmark, index and rule, from rows of
`contaminate`; it has no text of a benchmark.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.statistics.proportions import wilson

COLUMNS = (
    "benchmark",
    "index",
    "rule",
    "verdict",
    "n",
    "entries",
    "share",
    "share_low",
    "share_high",
)


def read_entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the id, which begins with the name of the benchmark, and the text of each problem."""
    for row in json.loads((folder / "validation.json").read_text()):
        yield f"financemath {row['question_id']}", row["question"]
    examples = json.loads((folder / "word_sorting.json").read_text())["examples"]
    for number, example in enumerate(examples, start=1):
        yield f"bbh-word-sorting {number}", example["input"]
    for name in ("answerbench", "proofbench"):
        with (folder / f"{name}_v2.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                yield f"imo-{name} {row['Problem ID']}", row["Problem"]
    with (folder / "OE_TO_maths_en_COMP.jsonl").open() as file:
        for line in file:
            problem = json.loads(line)
            yield f"olympiadbench {problem['id']}", problem["question"]


def read_texts(folders: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file in UTF-8; links, other files and empty ones are left out."""
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        try:
            if path.suffix == ".gz":
                content = gzip.decompress(content)
            text = content.decode()
        except (OSError, EOFError, UnicodeDecodeError):
            continue
        if text.strip() and "\0" not in text:
            yield str(path), text


def share_rows(tables: Sequence[Path]) -> Iterator[tuple[str | int | float, ...]]:
    """Yield each class of each benchmark, index and rule, also empty ones, with its share."""
    verdicts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for table in tables:
        with table.open(newline="") as file:
            for row in csv.DictReader(file):
                benchmark, rule = row["id"].partition(" ")[0], row["rule"].partition(":")[0]
                verdicts[benchmark, row["index"], rule][row["verdict"]] += 1
    for group, counts in sorted(verdicts.items()):
        entries = counts.total()
        classes = possible_classes(group[-1])
        if unknown := counts.keys() - set(classes):
            raise ValueError(f"{', '.join(group)}: no such class: {', '.join(sorted(unknown))!r}")
        for verdict in classes:
            estimate = wilson(counts[verdict], entries)
            numbers = (round(number, 5) for number in (estimate.value, *estimate.limits))
            yield (*group, verdict, counts[verdict], entries, *numbers)


def possible_classes(name: str) -> tuple[str, ...]:
    """Return the classes that an entry can have by a rule; most have none between two others."""
    rule = make_rule(name)
    return rule.classes if rule.weighs else tuple(rule.found_by_verdict(windows=100))


def print_lines(rows: Iterator[Mapping[str, str]]) -> None:
    for row in rows:
        print(json.dumps(row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", choices=("entries", "texts", "shares"))
    parser.add_argument("paths", type=Path, nargs="+")
    options = parser.parse_args()
    if options.table == "entries":
        entries = (entry for folder in options.paths for entry in read_entries(folder))
        print_lines({"id": name, "question": text} for name, text in entries)
    elif options.table == "texts":
        texts = read_texts(options.paths)
        print_lines({"source": path, "text": text} for path, text in texts)
    else:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(share_rows(options.paths))


if __name__ == "__main__":
    main()
