"""How much of a benchmark is in a corpus, and whether scores differ for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.messages import counted
from ngramscan.prevalence.contamination.rules import (
    CONTAMINATED,
    COPIED,
    COPY_CLASSES,
    classes_by,
    read_described,
)
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.reporting.sentences.differences import DifferenceWords, Verbs
from ngramscan.reporting.sentences.names import corpus, named, short_rule
from ngramscan.reporting.sentences.phrases import (
    Row,
    group_rows,
    known_rows,
    listed,
    more_in_table,
    number,
)
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.reporting.sentences.shares import (
    MOST_NAMED,
    against,
    has_ends,
    n_of,
    share_of,
    share_text,
)


def say_entries(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many questions occur in a corpus, by each rule: in all corpora together first."""
    by_rule = group_rows(rows, "rule")
    for of_rule in [*by_rule.values()][:MOST_NAMED]:
        by_index = group_rows(of_rule, "index")
        union = by_index.pop((UNION,), None) if len(by_index) > 1 else None
        first = union or next(iter(by_index.values()))
        is_weighed = classes_by(first[0]["rule"]) == COPY_CLASSES
        yield Sentence(_how_many_copied(first) if is_weighed else _how_many(first))
        if len(by_index) > 1:
            yield Sentence(_most_and_fewest([*by_index.values()]))
    yield from more_in_table(len(by_rule) - MOST_NAMED, "rule")


def _how_many(rows: Sequence[Row]) -> str:
    """Return how many questions occur in one corpus, how many in part and how many not."""
    dirty, suspicious, clean = (
        _with_verdict(rows, verdict) for verdict in ("dirty", "suspicious", "clean")
    )
    first = f"{number(dirty) if dirty else 'Not one'} of {counted(len(rows), 'question')}"
    text = f"{first} {_occurs(rows[0]['rule'], corpus(rows[0]['index']), dirty)}"
    if suspicious:
        text += f", {number(suspicious)} in part"
    if clean and dirty:
        text += f", {number(clean)} {'does' if clean == 1 else 'do'} not"
    if unknown := len(rows) - dirty - suspicious - clean:
        text += f", {number(unknown)} {'is' if unknown == 1 else 'are'} not decided"
    near = sum(row.get("answer") == "near" and row["verdict"] == "dirty" for row in rows)
    if any(row.get("answer") is not None for row in rows):
        text += f"; {number(near)} of the dirty ones with the answer near"
    return f"{text}."


def _how_many_copied(rows: Sequence[Row]) -> str:
    """Return how many questions were copied into documents of one corpus, and what others are."""
    clean, shared, variant, copied = (_with_verdict(rows, verdict) for verdict in COPY_CLASSES)
    where = f"into a document of {corpus(rows[0]['index'])} (rule {COPIED})"
    first = f"{number(copied) if copied else 'Not one'} of {counted(len(rows), 'question')}"
    text = f"{first} {'was' if copied < 2 else 'were'} copied {where}"
    if variant and copied:
        text += f", {number(variant)} more with other numbers"
    elif variant:
        text += f", but {number(variant)} {'was' if variant == 1 else 'were'} with other numbers"
    if shared:
        them = "them" if rows[0]["index"] == UNION else "it"
        text += f", {number(shared)} {'shares' if shared == 1 else 'share'} common text with {them}"
    if clean and clean < len(rows):
        text += f", {number(clean)} {'does' if clean == 1 else 'do'} not occur"
    if unknown := len(rows) - clean - shared - variant - copied:
        text += f", {number(unknown)} {'is' if unknown == 1 else 'are'} not decided"
    near = sum(row.get("answer") == "near" and row["verdict"] == COPIED for row in rows)
    if any(row.get("answer") is not None for row in rows):
        text += f"; {number(near)} of the copied ones with the answer near"
    return f"{text}."


def _occurs(rule: object, corpus: str, n: int) -> str:
    """Return the predicate of dirty questions, with the rule."""
    s = "s" if n < 2 else ""
    described = read_described(str(rule))
    if described is None:
        return f"{'is' if n < 2 else 'are'} dirty in {corpus} (rule {named(rule)})"
    name, width = described.name, described.window
    if name == "gpt3":
        return f"share{s} {width} in a row with {corpus} (rule {name})"
    if name in {"gpt4", "gpt4-stripped"}:
        return f"share{s} a random part of {width} with {corpus} (rule {name})"
    extent = "for the most part" if name == "palm" else "almost whole"
    return f"occur{s} in {corpus} {extent} (rule {name})"


def _with_verdict(rows: Sequence[Row], verdict: str) -> int:
    return sum(row["verdict"] == verdict for row in rows)


def _most_and_fewest(groups: Sequence[Sequence[Row]]) -> str:
    """Return which corpora have the most and the fewest contaminated questions."""
    *_, contaminated = classes_by(groups[0][0]["rule"])
    by_number = sorted(groups, key=lambda rows: -_with_verdict(rows, contaminated))
    most, fewest = by_number[0], by_number[-1]
    n_most, n_fewest = (_with_verdict(rows, contaminated) for rows in (most, fewest))
    corpora = f"the {number(len(groups))} corpora"
    if n_most == n_fewest:
        return f"Each of {corpora} has {number(n_most)} of them."
    names = named(most[0]["index"]), named(fewest[0]["index"])
    first = f"Among {corpora}, {names[0]} has most ({number(n_most)} {contaminated})"
    return f"{first} and {names[1]} fewest ({number(n_fewest)})."


def say_shares(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield which share of the questions is contaminated by each rule, in all corpora first."""
    by_rule = group_rows([row for row in rows if row["verdict"] in CONTAMINATED], "rule")
    for of_rule in [*by_rule.values()][:MOST_NAMED]:
        for row in _telling(of_rule):
            yield Sentence(_share(row), is_finding=True, has_interval=_is_bracketed(row))
    verdicts = {f"{contaminated}, answer near" for contaminated in CONTAMINATED}
    near = [row for row in known_rows(rows, "share") if row["verdict"] in verdicts]
    for row in _telling(near)[:1]:
        is_copied = row["verdict"].startswith(COPIED)
        where = corpus(row["index"])
        predicate = (
            f"were copied into a document of {where}" if is_copied else f"are dirty in {where}"
        )
        text = f"{share_of(row)} {predicate} with the answer near"
        yield Sentence(f"{text}.", has_interval=_is_bracketed(row))


def _telling(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of all corpora together, and of those with the largest and least shares."""
    union = [row for row in rows if row["index"] == UNION]
    single = [row for row in rows if row["index"] != UNION]
    if union:
        single = sorted(known_rows(single, "share"), key=lambda row: row["share"])
        single = [*single[-1:], *single[:1]] if len(single) > 1 else single
    return [*union[:1], *single][:MOST_NAMED]


def _is_bracketed(row: Row) -> bool:
    return row.get("share") is not None and has_ends([row], "share")


def _share(row: Row) -> str:
    """Return the share of contaminated questions in one corpus; if it is unknown, its limits."""
    entries, population = row["entries"], row.get("population")
    is_sample = population is not None and population > entries
    questions = f"the {counted(row['population'] if is_sample else entries, 'question')}"
    if is_sample:
        questions += " of the file"
    where = corpus(row["index"])
    predicate = f"are dirty by {short_rule(row['rule'])} in {where}"
    if row["verdict"] == COPIED:
        predicate = f"were copied into a document of {where} (rule {COPIED})"
    if row.get("share") is not None:
        text = f"{share_of(row)} of {questions} {predicate}"
    else:
        low, high = row.get("share_low"), row.get("share_high")
        if low is None or high is None:
            return f"It is not known how many of {questions} {predicate}."
        text = f"Between {share_text(low)}% and {share_text(high)}% of {questions} {predicate}"
        text += ": not all of their windows are known"
    if is_sample:
        text += f", estimated from {number(entries)}"
    return f"{text}."


def say_evidence(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many questions are side by side with a document, by class."""
    by_index = group_rows(rows, "index")
    for of_index in [*by_index.values()][:MOST_NAMED]:
        numbers = [
            (verdict, _with_verdict(of_index, verdict)) for verdict in reversed(COPY_CLASSES)
        ]
        classes = [_CLASSES[verdict].format(number(n)) for verdict, n in numbers if n]
        verb = "is" if len(of_index) == 1 else "are"
        first = f"{counted(len(of_index), 'question')} {verb} shown with the document"
        where = f"of {corpus(of_index[0]['index'])} that has most of it"
        if len(of_index) > 1:
            where = f"of {corpus(of_index[0]['index'])} that has most of each"
        yield Sentence(f"{first} {where}: {listed(classes)}.")
    yield from more_in_table(len(by_index) - MOST_NAMED, "index")


def say_removed(rows: Sequence[Row], _alpha: float) -> Iterator[Sentence]:
    """Yield how many documents were removed from a corpus, and how many were cut."""
    by_index = group_rows(rows, "index")
    for of_index in [*by_index.values()][:MOST_NAMED]:
        cut = known_rows(of_index, "characters_cut")
        removed = len(of_index) - len(cut)
        where = f"from a copy of {corpus(of_index[0]['index'])}"
        if removed:
            verb = "was" if removed == 1 else "were"
            yield Sentence(f"{counted(removed, 'document')} {verb} removed {where}.")
        if cut:
            characters = sum(row["characters_cut"] for row in cut)
            verb = "was" if characters == 1 else "were"
            documents = f"in {counted(len(cut), 'document')}"
            yield Sentence(f"{counted(characters, 'character')} {verb} cut {where}, {documents}.")
    yield from more_in_table(len(by_index) - MOST_NAMED, "index")


_CLASSES = {
    "copied": "{} copied",
    "variant": "{} with other numbers",
    "shared": "{} with common text",
    "clean": "{} clean",
}


def say_effects(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield whether scores on dirty questions differ from those on clean ones."""
    return _EFFECTS.say(rows, alpha)


def _contaminated(row: Row) -> str:
    """Return what contaminated questions are called: rows that say their rule may be of copies."""
    is_weighed = classes_by(row.get("rule")) == COPY_CLASSES
    questions = "Copied questions" if is_weighed else "Dirty questions"
    return questions + _ANSWERS.get(row.get("answer") or "", "")


_ANSWERS = {
    "near": " with the answer near",
    "not near": " without the answer near",
}
_EFFECTS = DifferenceWords(
    ("index", "dataset", "model", "method", "score_rule"),
    lambda row: (_contaminated(row), "clean ones"),
    lambda _: Verbs("have higher scores than", "have lower scores than"),
    lambda row: n_of(row, "n"),
    values=lambda row: against(row.get("accuracy_dirty"), row.get("accuracy_clean")),
    topic=lambda _: " in scores",
)
