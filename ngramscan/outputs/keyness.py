"""Which n-grams distinguish some texts from others: frequencies, effect, evidence.

Occurrences in one text are not independent: a text that has a word once tends to have it again.
Texts about the same problem are not independent either. So tests and intervals take problems as
clusters. G2, which treats occurrences as independent, only ranks n-grams.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from numpy.typing import ArrayLike, NDArray

from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.outputs.markers import LEVEL
from ngramscan.outputs.ngram_rates import frequencies
from ngramscan.outputs.ngrams import MinFrequency, Ngrams, count_ngrams
from ngramscan.outputs.presence import PresenceTest, Sides
from ngramscan.outputs.reading import OutputSet, has_method, methods_of, parts_of
from ngramscan.outputs.tokens import (
    Booleans,
    Ints,
    NumberedTexts,
    split_characters,
    split_words,
    usual_forms,
)
from ngramscan.rows import LABEL, Label, Plot, PValue, Share, row_kind

NgramColumns = dict[str, NDArray[Any]]
MODELS_NAMED = 3
"""A warning names this many models of a side, and counts the others."""


@row_kind(
    "keyness",
    "Key n-grams of the method",
    Plot(
        "log_ratio",
        panel=("n",),
        label=("ngram",),
    ),
    key=("count", "other_count", "q"),
)
@dataclass(frozen=True, slots=True)
class KeynessRow:
    """One n-gram that is more frequent in the outputs of a method than in others."""

    ngram: Label
    """As it is spaced most often in the outputs of the method."""
    n: Annotated[int, LABEL]
    """Its length in words or characters."""
    count: int
    """Occurrences in the outputs of the method."""
    other_count: int
    per_million: float
    """Occurrences per million n-grams of this length."""
    other_per_million: float
    documents: int
    """Outputs of the method that have it."""
    document_share: Share
    other_documents: int
    other_document_share: Share
    g2: float
    """Log-likelihood ratio statistic of the counts."""
    log_ratio: float
    """Binary logarithm of the ratio of the rates: 1 is twice as frequent, 2 four times."""
    log_ratio_low: float
    log_ratio_high: float
    """Limits of its interval, with problems as clusters."""
    dispersion: float
    """DP over the outputs of the method: 0 evenly spread, 1 all in one of the smallest."""
    p: PValue
    """One-sided: a larger share of the outputs has it. This is not a test of G2."""
    q: float
    """The smallest share of false discoveries at which this n-gram is a discovery."""
    level: float
    """Confidence level of the interval."""
    note: str = ""
    """That the outputs of the two sides are of different models; usually empty."""


@dataclass(frozen=True, slots=True)
class KeynessOptions:
    """The options of the command."""

    of: str
    against: Sequence[str]
    unit: str
    """`word` or `character`."""
    lengths: tuple[int, int]
    minimum: MinFrequency
    """Minimum frequency of a tested n-gram, both sides together."""
    top: int
    q: float
    all: bool
    """Also show n-grams that occur only within a longer one that is shown."""


@dataclass(frozen=True, slots=True)
class KeynessResult:
    """The n-grams that were found, and the numbers of tested ones."""

    rows: list[KeynessRow]
    """The first `top`, those with the largest G2 first."""
    tested: int
    significant: int
    """How many n-grams have a q that is small enough."""
    found_inside: int
    """How many of them are left out because they occur only within a longer one."""
    test: PresenceTest


def run_keyness(outputs: OutputSet, options: KeynessOptions) -> KeynessResult:
    """Find the n-grams that distinguish the outputs of a method from those of others."""
    texts, sides = split_sides(outputs, options)
    tokens = split_words(texts) if options.unit == "word" else split_characters(texts)
    result, note = compare(tokens, sides, options), describe_models(outputs, options)
    return replace(result, rows=[replace(row, note=note) for row in result.rows])


def split_sides(outputs: OutputSet, options: KeynessOptions) -> tuple[list[str], Sides]:
    """Return the texts of both sides, sorted by problem; an InputError says that one has none."""
    methods = [options.of, *options.against]
    prompts = dict.fromkeys(output.group.prompt for output in outputs.outputs)
    for method in methods:
        if not any(has_method(prompt, method) for prompt in prompts):
            available = ", ".join(
                dict.fromkeys(part for name in prompts for part in parts_of(name))
            )
            raise InputError(outputs.where, f"no outputs of {method}; available: {available}")
    problems: dict[tuple[str, str, str], int] = {}
    rows: list[tuple[int, bool, str]] = []
    for output in outputs.outputs:
        present = methods_of(output.group.prompt, methods)
        if present and output.has_text:
            number = problems.setdefault(output.problem, len(problems))
            rows.append((number, options.of not in present, output.text or ""))
    if len({is_other for _, is_other, _ in rows}) < 2:
        side = OptionUse("against") if rows and not rows[0][1] else OptionUse("of")
        problem = "no output of " + side + " has text and belongs to that side alone"
        raise InputError(outputs.where, problem)
    rows.sort(key=lambda row: row[:2])
    numbers, is_other, texts = zip(*rows, strict=True)
    return list(texts), Sides(~np.array(is_other), numbers)


def compare(tokens: NumberedTexts, sides: Sides, options: KeynessOptions) -> KeynessResult:
    """Return the n-grams that more of the method's texts have than of the others."""
    test = PresenceTest(sides, tokens.sizes)
    table, tested = compared_ngrams(tokens, test, options)
    if not tested:
        return KeynessResult([], tested=0, significant=0, found_inside=0, test=test)
    significant = np.flatnonzero((table["q"] <= options.q) & (table["log_ratio"] > 0))
    n_significant = int(table["times"][significant].sum())
    listed = significant if options.all else _not_inside(table, tokens, significant)
    order = np.lexsort((table["first"][listed], -table["n"][listed], -table["g2"][listed]))
    rows = _rows(table, listed[order][: options.top], tokens, sides.is_own)
    return KeynessResult(
        rows,
        tested=tested,
        significant=n_significant,
        found_inside=n_significant - listed.size,
        test=test,
    )


def compared_ngrams(
    tokens: NumberedTexts, test: PresenceTest, options: KeynessOptions
) -> tuple[NgramColumns, int]:
    """Return columns of the n-grams with p ≤ `options.q`, and how many n-grams were tested.

    As q is never smaller than p, no other can be found. Without `options.all`, an n-gram that
    occurs only as the beginning of a longer one shares its row, of `times` n-grams.
    """
    parts: list[NgramColumns] = []
    p, times = [np.zeros(0)], [np.zeros(0, dtype=np.int8)]
    n_tested = 0
    for ngrams in _made_ahead(_ngrams(tokens, test.sides.is_own, options)):
        p.append(test.p_values(ngrams.starts, ngrams.documents, ngrams.counts))
        times.append((ngrams.n + 1 - ngrams.shortest).astype(np.int8))
        chosen = p[-1] <= options.q
        numbers = np.flatnonzero(chosen) + n_tested
        for part, rows in _by_length(ngrams.subset(chosen), options.all):
            columns = frequencies(part, tokens.sizes, test.sides, LEVEL)
            columns["n"] = np.full(part.first.size, part.n, dtype=np.int8)
            parts.append({**columns, "first": part.first, "test": numbers[rows]})
        n_tested += p[-1].size
    if not n_tested:
        return {}, 0
    p_values, counted = np.concatenate(p), np.concatenate(times)
    table = {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}
    tests = table.pop("test")
    table["p"], table["q"] = p_values[tests], adjusted(p_values, counted)[tests]
    table["times"] = np.ones(tests.size, dtype=np.int8) if options.all else counted[tests]
    return table, int(counted.sum())


def _ngrams(tokens: NumberedTexts, is_own: Booleans, options: KeynessOptions) -> Iterator[Ngrams]:
    # If one side has no text of that length there is nothing to compare.
    shortest, longest = options.lengths
    longest = min(longest, *(int(tokens.sizes[side].max()) for side in (is_own, ~is_own)))
    if longest >= shortest:
        yield from count_ngrams(tokens, (shortest, longest), options.minimum)


def _made_ahead(parts: Iterator[Ngrams]) -> Iterator[Ngrams]:
    """Yield parts while a second thread counts the next one; NumPy lets both run at once."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, parts, None)
        while (part := following.result()) is not None:
            following = thread.submit(next, parts, None)
            yield part


def _by_length(ngrams: Ngrams, all_lengths: bool) -> Iterator[tuple[Ngrams, Booleans]]:
    """Yield n-grams, with `all_lengths` also their prefixes by length, and where they come from."""
    shortest = int(ngrams.shortest.min(initial=ngrams.n)) if all_lengths else ngrams.n
    for n in range(shortest, ngrams.n + 1):
        chosen = ngrams.shortest <= n
        yield replace(ngrams.subset(chosen), n=n), chosen


def adjusted(p: ArrayLike, times: ArrayLike = 1) -> NDArray[np.float64]:
    """Return Benjamini and Hochberg's adjusted p-values.

    Each p-value stands for `times` tests. Rejecting those of at most q bounds the false discovery
    rate by q, for independent tests and for positively dependent ones, such as those of n-grams.
    Source: Benjamini & Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x; Benjamini & Yekutieli
    2001, doi:10.1214/aos/1013699998.
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values)
    ranks = np.cumsum(np.broadcast_to(times, values.shape)[order])
    scaled = values[order] * ranks[-1:] / ranks
    q = np.empty_like(values)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return q


def _not_inside(table: NgramColumns, tokens: NumberedTexts, rows: Ints) -> Ints:
    """Return the n-grams that are not always the last tokens of a longer one of them."""
    names = ("first", "n", "count", "other_count")
    inside, candidates = {}, []
    for first, n, *counts in zip(*(table[name][rows].tolist() for name in names), strict=True):
        ids = tokens.ids[first : first + n]
        inside[ids[1:].tobytes()] = counts
        candidates.append((ids.tobytes(), counts))
    return rows[[inside.get(ids) != counts for ids, counts in candidates]]


def _rows(
    table: NgramColumns, chosen: Ints, tokens: NumberedTexts, is_own: Booleans
) -> list[KeynessRow]:
    places = [(int(table["first"][k]), int(table["n"][k])) for k in chosen]
    names = table.keys() - {"first", "times"}
    rows = []
    for k, form, (_, n) in zip(chosen, usual_forms(tokens, places, is_own), places, strict=True):
        values = {name: table[name][k].item() for name in names}
        for side, texts in (("", is_own), ("other_", ~is_own)):
            size = int(np.maximum(tokens.sizes[texts] - n + 1, 0).sum())
            values[f"{side}per_million"] = values[f"{side}count"] / size * 1e6
            values[f"{side}document_share"] = values[f"{side}documents"] / int(texts.sum())
        rows.append(KeynessRow(ngram=form, level=LEVEL, **values))
    return rows


# What is said and written


def describe_keyness(
    outputs: OutputSet, result: KeynessResult, options: KeynessOptions
) -> list[str]:
    """Return the lines above the table: outputs and problems compared, n-grams tested and found."""
    sides, against = result.test.sides, ", ".join(options.against)
    problems, others_problems = result.test.problems
    n_own, others = int(sides.is_own.sum()), int((~sides.is_own).sum())
    compared = f"{n_own:,} outputs of {options.of} against {others:,} of {against}"
    if result.test.paired:
        compared += f", paired by the {problems:,} problems that both answer"
        if left_out := sum(sides.problems) - 2 * problems:
            compared += f"; {left_out:,} that one side alone answers are not tested"
    else:
        compared += f", for {problems:,} and {others_problems:,} problems"
    longer = f"outputs of {options.of} are longer than those of {against}"
    parts = [f"{longer}: the test compares parts of equal length"] if result.test.part < 1 else []
    within = (
        f", {result.found_inside:,} of them only within longer ones"
        if result.found_inside > 0
        else ""
    )
    larger = (
        f"{result.significant:,} in a larger share of outputs of {options.of} at q ≤ {options.q:g}"
    )
    listed = f"{len(result.rows):,} shown, largest G2 first"
    models = describe_models(outputs, options)
    return [
        _scope(outputs, options),
        compared,
        *([models] if models else []),
        *parts,
        f"{result.tested:,} n-grams tested, {larger}{within}; {listed}",
    ]


def describe_models(outputs: OutputSet, options: KeynessOptions) -> str:
    """Return a warning if the two sides have different models; empty if they have the same."""
    methods = [options.of, *options.against]
    models: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for output in outputs.outputs:
        if output.has_text and (present := methods_of(output.group.prompt, methods)):
            models[options.of in present][output.group.model or "unnamed"] = None
    own_models, others = (sorted(models[side]) for side in (True, False))
    if own_models == others:
        return ""
    named = f"{options.of} of {_some(own_models)}; {', '.join(options.against)} of {_some(others)}"
    return f"different models ({named}): an n-gram may be the style of a model, not of the method"


def _some(models: Sequence[str]) -> str:
    more = f" and {len(models) - MODELS_NAMED:,} more" if len(models) > MODELS_NAMED else ""
    return ", ".join(models[:MODELS_NAMED]) + more


def _scope(outputs: OutputSet, options: KeynessOptions) -> str:
    methods = [options.of, *options.against]
    groups = {
        output.group for output in outputs.outputs if methods_of(output.group.prompt, methods)
    }
    datasets, models = {group.dataset for group in groups}, {group.model for group in groups}
    named = f" · model {max(models)}" if len(models) == 1 else f" · {len(models)} models"
    return f"dataset {', '.join(sorted(datasets))}{named if any(models) else ''}"


_COMMAND = re.compile(r"\\[A-Za-z]+|\\[\[\](){}]")
_CODE = re.compile(r"[`_=#;{}<>]|\w\(|\)\s*:|^\s*(?:def|return|import|print)\b|^ {2,}|\n[ \t]+\S")


def kind_of(text: str) -> str:
    """Return which kind of pattern a text is: `latex` has a command, `code` looks like it."""
    if _COMMAND.search(text):
        return "latex"
    return "code" if _CODE.search(text) else "narrative"


def to_patterns(
    rows: Sequence[KeynessRow], options: KeynessOptions, file: Path, tier: str
) -> tuple[str, list[str]]:
    """Return n-grams as the YAML of a pattern set for a file, and what was left out."""
    chosen = [row for row in rows if options.all or any(map(str.isalnum, row.ngram))]
    if rows and not chosen:
        cure = OptionUse("all") + " writes the others too"
        raise InputError(str(file), "not written: no n-gram has a letter or digit; " + cure)
    # A pattern can have no NUL and no lone surrogate.
    writable = [row for row in chosen if not re.search("[\0\ud800-\udfff]", row.ngram)]
    if not writable:
        raise InputError(
            str(file), "not written: no n-gram was found; try a larger " + OptionUse("q")
        )
    unique: dict[str, KeynessRow] = {}
    for row in writable:
        unique.setdefault(row.ngram, row)
    patterns = [
        {
            "text": text,
            "method": options.of,
            "tier": tier,
            "kind": kind_of(text),
            "note": f"keyness: G2 {row.g2:.1f}, log ratio {row.log_ratio:.2f}",
        }
        for text, row in unique.items()
    ]
    source = f"ngramscan keyness: {options.of} against {', '.join(options.against)}"
    content = {"name": file.stem, "source": source, "patterns": patterns}
    # ASCII with escapes: white space and rare characters come back as they were.
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=False, width=10_000)
    left_out = {
        ("n-grams without a letter or digit left out (" + OptionUse("all") + " writes them)"): len(
            rows
        )
        - len(chosen),
        "n-grams left out that no pattern can have": len(chosen) - len(writable),
    }
    return text, [f"{file}: {reason}: {number}" for reason, number in left_out.items() if number]
