"""How much of each output is in a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.reporting.sentences.differences import DifferenceWords, Verbs
from ngramscan.reporting.sentences.names import corpus, named, quoted, scope_of
from ngramscan.reporting.sentences.phrases import Row, group_rows, known_rows, listed, number
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.shares import (
    MOST_NAMED,
    against,
    broadest,
    has_ends,
    n_of,
    share_of,
    share_text,
)

ALL_KINDS = "all"
_MOST_CORPORA = 2
_USUAL_LENGTH = 5
"""Words of the shortest spans that `trace` looks for by default."""
_OUTPUT = ("index", "dataset", "model", "prompt", "id")


def say_traces(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the share of outputs' words that are in a corpus, by prompt, and the longest span."""
    all_kinds = [row for row in rows if (row.get("kind") or ALL_KINDS) == ALL_KINDS]
    for (index,), group in _by_corpus(all_kinds):
        shares = [
            (prompt, share)
            for (prompt,), rows_of_prompt in group_rows(group, "prompt").items()
            if (share := _share_of_words(rows_of_prompt)) is not None
        ]
        if shares:
            unit, least = _unit(group[0]), group[0].get("min_words")
            span = "spans" if least is None else f"spans of at least {number(least)} {unit}"
            text = f"{_covered(shares, unit)} are in {span} that occur verbatim in {corpus(index)}"
            yield Sentence(f"{text}{_longest(group, unit)}.")
    if unknown := len(all_kinds) - len(known_rows(all_kinds, "coverage")):
        verb = "is" if unknown == 1 else "are"
        yield Sentence(f"{counted(unknown, 'output')} without words to look for {verb} left out.")


def _by_corpus(rows: Sequence[Row]) -> list[tuple[tuple[object, ...], list[Row]]]:
    """Return the rows of the first corpora; those of all together come first."""
    groups = sorted(group_rows(rows, "index").items(), key=lambda group: group[0] != (UNION,))
    return groups[:_MOST_CORPORA]


def _unit(row: Row) -> str:
    return "tokens" if row.get("unit") == "tokens" else "words"


def _share_of_words(rows: Sequence[Row]) -> float | None:
    """Return the share of all words of some outputs that are in spans."""
    measured = [row for row in known_rows(rows, "coverage") if row.get("words")]
    words = sum(row["words"] for row in measured)
    return sum(row["coverage"] * row["words"] for row in measured) / words if words else None


def _covered(shares: Sequence[tuple[object, float]], unit: str) -> str:
    """Return the share of the words of each prompt: the largest first."""
    by_share = sorted(shares, key=lambda pair: -pair[1])
    texts: list[str] = []
    for prompt, share in by_share[:MOST_NAMED]:
        words = f" of the {unit}" if not texts else ""
        outputs = "the outputs" if words else "those"
        outputs += f" of {named(prompt)}" if prompt else ""
        texts.append(f"{share_text(share)}%{words} {'in' if words else 'of'} {outputs}")
    if (n_further := len(shares) - MOST_NAMED) > 0:
        texts[-1] += f" (and {counted(n_further, 'further prompt')})"
    return listed(texts)


def _longest(rows: Sequence[Row], unit: str) -> str:
    """Return the length of the longest span."""
    if not (with_spans := [row for row in rows if row.get("longest")]):
        return ""
    row = max(with_spans, key=lambda row: row["longest"])
    where = f" of {named(row['prompt'])}" if row.get("prompt") else ""
    return f"; the longest has {number(row['longest'])} {unit} (output {named(row['id'])}{where})"


def say_curve(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield the mean coverage of each prompt by spans of a usual length."""
    all_kinds = [row for row in rows if (row.get("kind") or ALL_KINDS) == ALL_KINDS]
    for (index,), group in _by_corpus(all_kinds):
        least = length_of(group)
        at_length = broadest([row for row in group if row["length"] == least])
        by_share = sorted(known_rows(at_length, "coverage"), key=lambda row: -row["coverage"])
        if not by_share:
            continue
        texts = [
            f"{share_of(row, 'coverage')} of {'an output' if row is by_share[0] else 'one'} of"
            f" {named(row['prompt'])}{scope_of(row, ('dataset', 'model'), at_length)}"
            for row in by_share[:MOST_NAMED]
        ]
        if (n_further := len(by_share) - MOST_NAMED) > 0:
            texts[-1] += f" (and {counted(n_further, 'further group')} of outputs)"
        span = f"spans of at least {number(least)} words that occur in {corpus(index)}"
        text = f"On average, {span} cover {listed(texts)}."
        yield Sentence(text, is_finding=True, has_interval=has_ends(at_length, "coverage"))


def length_of(rows: Sequence[Row]) -> int:
    """Return the length of spans to report from a curve: a usual one, or else the shortest."""
    lengths = {int(row["length"]) for row in rows}
    return _USUAL_LENGTH if _USUAL_LENGTH in lengths else min(lengths)


def say_trace_differences(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield which prompts' outputs have a larger or smaller share of words from a corpus."""
    coverage = [
        # Rows about all words need no word on their kind.
        {**row, "kind": None} if row.get("kind") == ALL_KINDS else row
        for row in rows
        if row["measure"] == "coverage"
    ]
    return _COPIED.say(coverage, alpha)


_COPIED = DifferenceWords(
    ("index", "dataset", "model", "kind"),
    lambda row: (f"Outputs of {named(row['prompt'])}", f"those of {named(row['baseline'])}"),
    lambda _: Verbs(
        "have a larger share of words copied from the corpus than",
        "have a smaller share of words copied from the corpus than",
    ),
    lambda row: n_of(row, "problems"),
    values=lambda row: against(row.get("mean"), row.get("mean_baseline")),
    topic=lambda _: " in the share of words copied from the corpus",
)


def say_spans(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many parts of outputs a corpus has, and the longest of them."""
    outputs = group_rows(rows, *_OUTPUT)
    longest = max(rows, key=lambda row: row["words"])
    unit = _unit(longest)
    parts = counted(len(rows), "part")
    first = f"{parts} of {counted(len(outputs), 'output')} {'is' if len(rows) == 1 else 'are'}"
    text = f"{first} in the corpus verbatim; the longest has {number(longest['words'])} {unit}"
    if (occurrences := longest.get("occurrences")) is not None:
        text += f" and occurs {'once' if occurrences == 1 else f'{number(occurrences)} times'}"
    if longest.get("text"):
        text += f": {quoted(longest['text'])}"
    yield Sentence(f"{text}.")


def say_retrieved(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many documents have parts of outputs, and the one with most spans of an output."""
    outputs = group_rows(rows, *_OUTPUT)
    documents = {(row["index"], row["document"]) for row in rows}
    verb = "shares" if len(documents) == 1 else "share"
    text = f"{counted(len(documents), 'document')} {verb} parts with"
    text += f" {counted(len(outputs), 'output')}"
    by_document = {
        (output, name): spans
        for output, of_output in outputs.items()
        for (name,), spans in group_rows(of_output, "document").items()
    }
    most = max(by_document.values(), key=len)
    first = most[0]
    source = first.get("source") or first["document"]
    if len(most) > 1:
        text += f"; most, {counted(len(most), 'span')} of output {named(first['id'])}, are in"
        text += f" {named(source)}"
    yield Sentence(f"{text}.")
