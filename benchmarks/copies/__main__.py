"""Make the test bed, run the methods on it, and write what they find.

    python -m benchmarks.copies --out docs/results/copies.csv

A file `--entries` has the verdict of every method on every entry, with the row of the rule
`copied`, to look at false alarms and misses.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.copies.bed import Bed, make_bed
from benchmarks.copies.measures import ALL, MeasureRow, measure_rows, write_rows
from benchmarks.copies.methods import METHODS, Judged, judge, write_bed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.copies", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=float, default=1.0, help="share of the entries and texts")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--out", type=Path, help="CSV of the measures")
    parser.add_argument("--figure", type=Path, help="SVG; needs matplotlib")
    parser.add_argument("--entries", type=Path, help="JSON lines with all verdicts")
    parser.add_argument("--folder", type=Path, help="keep the benchmark and the corpus here")
    return parser.parse_args()


def write_entries(bed: Bed, judged: Mapping[str, Mapping[str, Judged]], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for entry in bed.entries:
            verdicts = {method: by_id[entry.id].verdict for method, by_id in judged.items()}
            details = judged["copied"][entry.id].details if "copied" in judged else {}
            row = {
                "id": entry.id,
                "truth": entry.truth,
                "kind": entry.kind,
                "language": entry.language,
                "question": entry.question,
                "placed": entry.placed,
                "documents": entry.documents,
                "verdicts": verdicts,
                "details": details,
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def print_table(rows: Sequence[MeasureRow]) -> None:
    methods = list(dict.fromkeys(row.method for row in rows))
    shown = {(row.measure, row.truth, row.kind, row.language, row.method): row for row in rows}
    lines = list(dict.fromkeys(key[:-1] for key in shown))
    print(" " * 52 + "".join(f"{method[:16]:>17}" for method in methods))
    for measure, truth, kind, language in lines:
        cells, n = [], 0
        for method in methods:
            row = shown.get((measure, truth, kind, language, method))
            cells.append("–" if row is None else f"{100 * row.share:.1f}")
            n = row.n if row else n
        group = " ".join(name for name in (truth, kind, language) if name != ALL)
        print(f"{measure[:20]:21}{group[:25]:26}{n:5}" + "".join(f"{cell:>17}" for cell in cells))


def main() -> None:
    options = arguments()
    started_at = time.perf_counter()
    bed = make_bed(options.seed, options.size)
    size = sum(len(document.encode()) for document in bed.documents)
    print(f"{platform.platform()}, Python {platform.python_version()}, seed {options.seed}")
    print(
        f"{len(bed.entries):,} entries, {len(bed.documents):,} documents, {size / 1e6:.1f} MB;"
        f" made in {time.perf_counter() - started_at:.0f} s"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write_bed(bed, folder)
        judged = {}
        for method in options.methods:
            began_at = time.perf_counter()
            judged[method] = judge(bed, method, folder)
            print(f"{method}: {time.perf_counter() - began_at:.0f} s", flush=True)
    rows = measure_rows(bed, judged)
    print_table(rows)
    if options.out:
        write_rows(rows, options.out)
    if options.entries:
        write_entries(bed, judged, options.entries)
    if options.figure:
        from benchmarks.copies.figure import draw_figure

        draw_figure(rows, options.figure)


if __name__ == "__main__":
    main()
