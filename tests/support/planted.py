"""A made benchmark, planted in a made corpus in several ways, and what each rule says about it.

The rules are written here a second time, from their definitions; nothing of the package is used.
"""

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from tests.support.corpus_files import PACK

KINDS = {"whole": 6, "half": 6, "wrapped": 6, "upper": 3, "question": 6, "reworded": 2, "absent": 3}
"""Entries by the way they are planted: other line ends; without the options; with every fifth word
replaced by another."""
ODD = 6
"""The first entries of each kind are odd: short, padded, repeated, within others."""
SHORT = (19, 49, 50)
"""Characters of the first entries of each kind."""
CONSONANTS, VOWELS, OTHERS = "bdfgklmnprstvz", "aeiou", "éßøжя中ñ"
UNSPACED = "中"
"""The letter that is written without spaces, and so a word by itself."""
Span = tuple[int, int]
Key = TypeVar("Key", str, tuple[str, ...])


class MadeEntry(NamedTuple):
    """One entry of the benchmark; `planted` is what a document has of it."""

    id: str
    kind: str
    text: str
    planted: str


class Planted(NamedTuple):
    """A benchmark, and the documents of a corpus, by file."""

    entries: list[MadeEntry]
    files: list[list[str]]

    @property
    def texts(self) -> list[str]:
        return [text for file in self.files for text in file]


class Expected(NamedTuple):
    """What a rule says about an entry."""

    windows: int
    found: int
    eta: float | None
    verdict: str | None
    rarest: str | None
    rarest_occurrences: int | None
    longest_run: int


# The benchmark and the corpus


class _Writer:
    """Writes text in words of a made language."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.words = [self.word("") for _ in range(1500)]
        self.foreign = self.words[:100] + [self.word(OTHERS) for _ in range(400)]

    def word(self, others: str) -> str:
        letters = (CONSONANTS + others, VOWELS + others)
        n = self.draw.choice((1, 1, 2, 2, 3))
        return "".join(self.draw.choice(letters[place]) for place in (0, 1) * n)

    def sentence(self, n: int, is_foreign: bool = False, end: str = ".") -> str:
        words = self.draw.choices(self.foreign if is_foreign else self.words, k=n)
        words[n // 2] += ","
        words[-1] += end
        words[0] = words[0].capitalize()
        return " ".join(words)

    def document(self) -> str:
        lines = (self.sentence(self.draw.randint(6, 40)) for _ in range(self.draw.randint(1, 20)))
        return "\n".join(lines)


def make_planted(megabytes: float, times: int = 10, seed: int = 1) -> Planted:
    """Return `times` the entries of KINDS, and a corpus of so many megabytes that has them."""
    writer = _Writer(random.Random(seed))
    boilerplate = writer.sentence(11)
    entries: list[MadeEntry] = []
    for kind, share in KINDS.items():
        for number in range(share * times):
            question, options = _made(writer, boilerplate, (kind, number), entries)
            text = f"{question}\n{options}" if options else question
            planted = _as_planted(kind, text, question, writer)
            shown = f" \t{text}\n\n" if number == len(SHORT) else text
            entries.append(MadeEntry(f"{kind}-{number}", kind, shown, planted))
    texts = [writer.document() for _ in range(40)]
    length = sum(map(len, texts))
    while length < megabytes * 1e6:
        texts.append(writer.document())
        length += len(texts[-1])
    draw = writer.draw
    texts += [f"{boilerplate} {writer.sentence(20)}" for _ in range(5)]
    texts += [text for entry in entries for text in _documents_with(entry, writer)]
    order = draw.sample(range(len(texts)), len(texts))
    shuffled = _with_ends([texts[place] for place in order], entries)
    third = len(shuffled) // 3
    return Planted(entries, [shuffled[:third], shuffled[third : 2 * third], shuffled[2 * third :]])


def _made(
    writer: _Writer, boilerplate: str, place: tuple[str, int], before: Sequence[MadeEntry]
) -> tuple[str, str]:
    """Return a question and its options, which some don't have."""
    kind, number = place
    is_foreign = number % 5 == 1
    question = writer.sentence(writer.draw.randint(9, 24), is_foreign, "?")
    if number < len(SHORT):
        return writer.sentence(30, is_foreign)[: SHORT[number] - 1] + "x", ""
    if number == 4:
        question = f"{question} {question}"  # some of its windows are there twice
    if number == 5:
        question = f"{'y' * 70} {question}"
    if kind == "absent" and number == 4:
        return " ".join(before[8].text.split(" ")[3:-3]), ""  # within an entry that is there
    if kind == "absent" and number == 5:
        return f"{before[9].text} {question}", ""  # contains one
    letters = "ABCD"[: writer.draw.randint(2, 4)]
    options = "\n".join(f"{letter}) {writer.sentence(3, is_foreign)}" for letter in letters)
    return f"{boilerplate} {question}", options


def _as_planted(kind: str, text: str, question: str, writer: _Writer) -> str:
    words = text.split(" ")
    others = [writer.draw.choice(writer.words) if n % 5 == 2 else w for n, w in enumerate(words)]
    wrapped = [" ".join(words[place : place + 4]) for place in range(0, len(words), 4)]
    return {
        "whole": text,
        "half": text[: len(text) // 2],
        "wrapped": "\n".join(wrapped),
        "upper": text.upper(),
        "question": question,
        "reworded": " ".join(others),
        "absent": "",
    }[kind]


def _documents_with(entry: MadeEntry, writer: _Writer) -> list[str]:
    """Return documents that have an entry: at the beginning, at the end, or several times."""
    if not entry.planted:
        return []
    number, one = int(entry.id.rpartition("-")[2]), entry.planted
    before, behind = f"{writer.sentence(9)}\n", f" {writer.sentence(5)}"
    shapes = (one, before + one + behind, before + one, one + behind + before + one + one)
    return [shapes[number % 4]] * (1 + number % 3)


def _with_ends(texts: list[str], entries: Sequence[MadeEntry]) -> list[str]:
    """Let some absent entries stand across the ends of documents, where they don't count."""
    absent = [entry for entry in entries if entry.kind == "absent"]
    for place, entry in enumerate(absent[: len(SHORT) + 1]):
        middle = len(entry.text) // 2
        texts[2 * place] += " " + entry.text[:middle]
        texts[2 * place + 1] = entry.text[middle:] + " " + texts[2 * place + 1]
    return texts


def write_planted(folder: Path, planted: Planted) -> tuple[Path, Path]:
    """Write the benchmark and the corpus; return the file of one and the folder of the other."""
    benchmark, corpus = folder / "questions.jsonl", folder / "corpus"
    rows = ({"id": one.id, "kind": one.kind, "question": one.text} for one in planted.entries)
    benchmark.write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus.mkdir()
    pack = PACK | {".gz": lambda content: gzip.compress(content, 1)}
    for number, (suffix, texts) in enumerate(zip(pack, planted.files, strict=True)):
        lines = (json.dumps({"text": text}, ensure_ascii=number == 1) + "\n" for text in texts)
        content = pack[suffix]("".join(lines).encode())
        (corpus / f"part-{number}.jsonl{suffix}").write_bytes(content)
    return benchmark, corpus


# The rules


def expect_mini(planted: Planted, width: int = 50) -> dict[str, Expected]:
    """Windows of so many characters, one from the beginning of each word on."""
    windows = {
        one.id: {span: one.text[slice(*span)] for span in mini_spans(one.text, width)}
        for one in planted.entries
    }
    counts = _count({key for of in windows.values() for key in of.values()}, planted.texts)
    return {
        name: _judge(of, [counts[key] for key in of.values()], (1, 5), (4, 5))
        for name, of in windows.items()
    }


def mini_spans(text: str, width: int = 50) -> list[Span]:
    """Return where windows begin and end."""
    first, last = 0, len(text)
    while first < last and text[first].isspace():
        first += 1
    while first < last and text[last - 1].isspace():
        last -= 1
    if 0 < last - first < width:
        return [(first, last)]
    return [
        (place, place + width)
        for place in range(first, last - width + 1)
        if not text[place].isspace() and _begins_window(text, place, first)
    ]


def _begins_window(text: str, place: int, first: int) -> bool:
    """Tell whether a word begins there, with white space or `中` before it or as its character."""
    is_after = place == first or text[place - 1].isspace()
    is_beside = text[place] == UNSPACED or (text[place - 1] == UNSPACED and text[place].isalnum())
    return is_after or is_beside


def expect_words(
    planted: Planted, n: int, suspicious: Span = (1, 5), dirty: Span = (4, 5)
) -> dict[str, Expected]:
    """N words in a row, in lower case and without punctuation; shares as fractions."""
    windows, grams = {}, {}
    for one in planted.entries:
        words = _words(one.text)
        size = min(n, len(words))
        starts = range(len(words) - size + 1 if size else 0)
        rows = [words[place : place + size] for place in starts]
        spans = [(row[0][0], row[-1][1]) for row in rows]
        grams[one.id] = [tuple(word for _, _, word in row) for row in rows]
        shown = [f" {' '.join(gram)} " for gram in grams[one.id]]
        windows[one.id] = dict(zip(spans, shown, strict=True))
    documents = (tuple(word for _, _, word in _words(text)) for text in planted.texts)
    counts = _count({gram for of in grams.values() for gram in of}, documents)
    return {
        name: _judge(of, [counts[gram] for gram in grams[name]], suspicious, dirty)
        for name, of in windows.items()
    }


def _words(text: str) -> list[tuple[int, int, str]]:
    found = re.finditer(rf"{UNSPACED}|[^\W{UNSPACED}]+", text)
    return [(word.start(), word.end(), word[0].casefold()) for word in found]


def _count(sought: set[Key], documents: Iterable[Key]) -> Counter[Key]:
    """Count some sequences, wherever they begin in a document."""
    counts, lengths = Counter[Key](), {len(one) for one in sought}
    for document in documents:
        for length in lengths:
            slices = (document[at : at + length] for at in range(len(document) - length + 1))
            counts.update(filter(sought.__contains__, slices))
    return counts


def _judge(
    windows: dict[Span, str], counts: Sequence[int], suspicious: Span, dirty: Span
) -> Expected:
    found = sum(count > 0 for count in counts)

    def reaches(share: Span) -> bool:
        return found * share[1] >= share[0] * len(windows) and found > 0

    if not windows:
        return Expected(0, 0, None, None, None, None, 0)
    verdict = "dirty" if reaches(dirty) else "suspicious" if reaches(suspicious) else "clean"
    evidence = [(n, place) for place, n in enumerate(counts) if n]
    least, first = min(evidence, default=(None, 0))
    rarest = [*windows.values()][first] if found else None
    run = _longest_run([*windows], [count > 0 for count in counts])
    return Expected(len(windows), found, found / len(windows), verdict, rarest, least, run)


def _longest_run(spans: Sequence[Span], is_found: Sequence[bool]) -> int:
    """Try every window as the first of a run."""
    longest = 0
    for first, (start, _) in enumerate(spans):
        reached = start
        for (begins, ends), found in zip(spans[first:], is_found[first:], strict=True):
            if not found or begins > reached:
                break
            reached = ends
        longest = max(longest, reached - start)
    return longest
