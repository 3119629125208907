"""The tables of the pages in docs/results, from the rows beside them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import evalcore
from ngramscan.reporting.page.results import read_results
from ngramscan.reporting.sentences.families import count_families, level_of_each
from ngramscan.reporting.sentences.phrases import level_text

Row = dict[str, str]
RESULTS = Path(__file__).resolve().parent / "results"
PAIR = ("pot", "cot")


def rows_of(name: str) -> list[Row]:
    """Return the rows of a result."""
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def methods() -> str:
    """Return the accuracies of texts and programs by model and rule, with their differences."""
    lines = [
        "| model | rule | texts, % | programs, % | difference, points | adjusted p |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in rows_of("methods.csv"):
        accuracies = (_percent(row[f"accuracy_{name}"]) for name in ("baseline", "treatment"))
        cells = [row["model"], row["rule"], *accuracies, _interval(row, "difference"), _p(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def methods_sentences() -> str:
    """Return what the comparison of texts and programs shows, in sentences."""
    rows = rows_of("methods.csv")
    # By the rule of a page of these rows, so that both say the same.
    families = count_families([read_results(RESULTS / "methods.csv")])
    level = level_of_each(families)
    strict, lenient = (
        next(row for row in rows if (row["model"], row["rule"]) == ("all", rule))
        for rule in ("strict", "lenient")
    )
    of_models = [row for row in rows if row["rule"] == "strict" and row["model"] != "all"]
    shown = [row for row in of_models if float(row["p_holm"]) <= level]
    better, worse = (
        [row["model"] for row in shown if (float(row["difference"]) > 0) is is_better]
        for is_better in (True, False)
    )
    unshown = [row["model"] for row in of_models if row not in shown]
    sides = [
        f"{word} for {_listed(models)}"
        for word, models in (("better", better), ("worse", worse))
        if models
    ]
    is_shown = float(lenient["p_holm"]) <= level
    gives = "is above" if not is_shown else "is at most"
    texts, programs = (_percent(strict[f"accuracy_{name}"]) for name in ("baseline", "treatment"))
    return "\n".join(
        [
            f"* If answers must agree to three decimals (`strict`), {programs}% of the programs and"
            f" {texts}% of the texts are right: a difference of {_in_points(strict)}.",
            f"* It depends on the model. Programs are {', '.join(sides)}; for {_listed(unshown)} no"
            " difference is shown.",
            "* It depends on the rule. The authors' own (`lenient`), which also accepts a lost sign"
            f" or another power of ten, gives {_in_points(lenient)}; its adjusted p-value of"
            f" {_p(lenient)} {gives} {level_text(level)}, the level of each of {families} families"
            " of tests.",
        ]
    )


def _in_points(row: Row) -> str:
    value, _, interval = _interval(row, "difference").partition(" ")
    return f"{value} percentage points {interval}"


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def markers() -> str:
    """Return the shares of outputs with markers of each method, by model and prompt."""
    rows = rows_of("markers.csv")
    names = list(dict.fromkeys(row["method"] for row in rows))
    lines = [
        f"| model | prompt | outputs | {' | '.join(names)} |",
        "|---|---|---:" + "|---:" * 3 + "|",
    ]
    for model, prompt in dict.fromkeys((row["model"], row["prompt"]) for row in rows):
        some = [row for row in rows if (row["model"], row["prompt"]) == (model, prompt)]
        cells = [model, prompt, some[0]["outputs"], *(_interval(row, "share") for row in some)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def traced() -> str:
    """Return the differences between texts and programs in both corpora, for each model and all."""
    sources, documentation = (
        {
            row["model"]: row
            for row in rows_of(name)
            if (row["prompt"], row["baseline"], row["measure"]) == (*PAIR, "coverage")
        }
        for name in ("traced.csv", "traced-documentation.csv")
    )
    one = "texts, % | programs, % | difference, points"
    lines = [f"| model | sources: {one} | documentation: {one} |", "|---" + "|---:" * 6 + "|"]
    for model in sources:
        cells = [model]
        for row in (sources[model], documentation[model]):
            cells += [_percent(row["mean_baseline"]), _percent(row["mean"])]
            cells.append(_interval(row, "difference"))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def shift_ciphers() -> str:
    """Return the slopes with and without rot-13, for each prompt and each pair of prompts."""
    tables = [RESULTS / f"shift-ciphers{end}.csv" for end in ("-counts", "")]
    rows = evalcore.link(*tables, problems=True, without="13")
    shown = rows.assign(rho=rows["rho"].map("{:.2f}".format).replace("nan", ""))
    lines = [
        "| shifts | prompt | rho | slope, points per tenfold count | p | adjusted p |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in shown.astype(object).where(rows.notna(), "").to_dict(orient="records"):
        shifts = "without rot-13" if "without" in row["counts"] else "all"
        prompt = f"{row['method']} − {row['baseline']}" if row["baseline"] else row["method"]
        p_values = [f"{row[name]:.2g}" for name in ("p", "p_adjusted")]
        cells = [shifts, prompt, row["rho"], _interval(row, "slope"), *p_values]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


COPIES = {
    "whole": ("whole", "whole, with answer", "whole, in many documents", "whole, short question"),
    "wrapped, also with hyphens": ("wrapped", "hyphenated"),
    "embedded in a long document": ("embedded",),
    "upper case, full width, NFD, ligatures": ("upper case", "full width", "NFD", "ligatures"),
    "HTML, Markdown": ("HTML", "Markdown"),
    "other punctuation": ("typographic", "translated punctuation"),
    "2% of the words edited": ("2% edited",),
    "5%": ("5% edited",),
    "10%": ("10% edited",),
    "12%": ("12% edited",),
    "options in another order": ("options reordered",),
}
DECOYS = {
    "template in 1 or 3 documents": ("template in 1", "template in 3"),
    "template in 10 to 100": ("template in 10", "template in 30", "template in 100"),
    "instruction in 1": ("instruction in 1",),
    "instruction in 10 or 100": ("instruction in 10", "instruction in 100"),
    "formula in 1 or 3": ("formula in 1", "formula in 3"),
    "formula in 10 or 30": ("formula in 10", "formula in 30"),
    "quotation in 1 or 5": ("quotation in 1", "quotation in 5"),
    "quotation in 30": ("quotation in 30",),
    "paraphrase": ("paraphrase",),
    "same family": ("same family",),
    "short common question": ("short common question",),
    "other numbers": ("numbers changed", "numbers in words changed"),
    "nothing in the corpus": ("absent",),
}
"""Lines of the table of copies, and the kinds that each has together."""


def copies() -> str:
    """Return the precision of each method, its recall by kind of copies, and its false alarms."""
    rows = rows_of("copies.csv")
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines = [
        f"| | entries | {' | '.join(f'`{method}`' for method in methods)} |",
        "|---|---:" + "|---:" * len(methods) + "|",
    ]
    for measure, heading in (
        ("precision", "**precision**"),
        ("precision without variants", "without entries of other numbers"),
    ):
        by_method = {row["method"]: row for row in rows if row["measure"] == measure}
        cells = [_interval(by_method[method], "share") for method in methods]
        lines.append(f"| {heading} | | {' | '.join(cells)} |")
    lines.append(_copies_line(rows, methods, "**recall**", "recall", "kind", ("all",)))
    for name, kinds in COPIES.items():
        lines.append(_copies_line(rows, methods, name, "recall", "kind", kinds))
    for name in ("english", "chinese", "japanese", "thai", "arabic", "greek", "russian"):
        title = name.capitalize()
        lines.append(_copies_line(rows, methods, title, "recall", "language", (name,)))
    lines.append(f"| **called copies** | |{' |' * len(methods)}")
    for name, kinds in DECOYS.items():
        lines.append(_copies_line(rows, methods, name, "called copies", "kind", kinds))
    lines.append(
        _copies_line(rows, methods, "**variants right**", "variants right", "kind", ("all",))
    )
    return "\n".join(lines)


def _copies_line(
    rows: Iterable[Row],
    methods: Iterable[str],
    name: str,
    measure: str,
    column: str,
    values: Iterable[str],
) -> str:
    """Return a line of the table: the share of all entries of some kinds, or of a language."""
    other = "language" if column == "kind" else "kind"
    n, cells = 0, []
    for method in methods:
        group = [
            row
            for row in rows
            if (row["method"], row["measure"], row[other]) == (method, measure, "all")
            and row[column] in values
        ]
        n = sum(int(row["n"]) for row in group) or n
        k = sum(int(row["k"]) for row in group)
        cells.append(_percent(k / n) if group else "–")
    return f"| {name} | {n} | {' | '.join(cells)} |"


BENCHMARKS = {
    "financemath": "FinanceMath",
    "bbh-word-sorting": "BBH word sorting",
    "imo-answerbench": "IMO-AnswerBench",
    "imo-proofbench": "IMO-ProofBench",
    "olympiadbench": "OlympiadBench",
}
CORPORA = {
    "python": "sources",
    "documentation": "documentation",
    "others": "the other benchmarks",
}


def contamination() -> str:
    """Return the entries in each class of `copied`, and the dirty ones of published rules."""
    counts = {
        (row["index"], row["benchmark"], row["rule"], row["verdict"]): int(row["n"])
        for row in rows_of("contamination.csv")
    }
    classes = ("copied", "variant", "shared", "clean")
    published = ("gpt3", "palm", "mini")
    titles = [f"`copied`: {classes[0]}", *classes[1:], *(f"`{rule}`: dirty" for rule in published)]
    lines = [
        f"| looked for in | benchmark | entries | {' | '.join(titles)} |",
        "|---|---|---:" + "|---:" * len(titles) + "|",
    ]
    for corpus, corpus_title in CORPORA.items():
        for benchmark, title in BENCHMARKS.items():
            numbers = [counts[corpus, benchmark, "copied", verdict] for verdict in classes]
            dirty = [counts[corpus, benchmark, rule, "dirty"] for rule in published]
            shown_numbers = [sum(numbers), *numbers, *dirty]
            cells = [corpus_title, title, *(f"{number}" for number in shown_numbers)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _percent(share: str | float) -> str:
    return f"{100 * float(share):.1f}"


def _p(row: Row) -> str:
    return f"{float(row['p_holm']):.2g}"


def _interval(row: Mapping[str, Any], name: str) -> str:
    value, low, high = (_percent(row[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"
