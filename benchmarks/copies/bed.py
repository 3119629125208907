"""The benchmark, the corpus with its planted copies and decoys, and the truth about each entry."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from benchmarks.copies.background import Background, read_background
from benchmarks.copies.edits import (
    NUMBER,
    change_numbers,
    edit,
    numbers_in_words,
    words_to_insert,
)
from benchmarks.copies.families import FAMILIES
from benchmarks.copies.forms import FORMS
from benchmarks.copies.nearness import EDITED_SHARE, nearest
from benchmarks.copies.problems import (
    ENGLISH,
    LETTERS,
    OTHER_LANGUAGES,
    Problem,
    draw_problem,
    draw_story,
    fill,
    language,
    make_problem,
    redraw,
    shared,
    with_options,
)

Truth = Literal["copied", "variant", "decoy", "absent"]
"""A variant has other numbers in the corpus; of a decoy, something else than the entry is there."""
COMPOSED = ("story", "story", "theorem", "choice")
MOST_PARAGRAPHS = 60
"""A long document into which a text is put has no more of them."""
FULL_SIZE = 6_000_000
"""Bytes of documents from this machine in the whole bed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the benchmark, and the truth about it."""

    id: str
    question: str
    answer: str
    truth: Truth
    kind: str
    """How it was copied, or what the corpus has instead of it."""
    language: str
    documents: tuple[int, ...]
    """Numbers of the documents that have the copy, or what is shared."""
    placed: str
    """The text that was put into these documents; empty if they differ."""
    has_answer: bool
    """Whether the answer follows the copy."""


@dataclass(frozen=True, slots=True)
class Bed:
    """A benchmark and a corpus."""

    entries: Sequence[Entry]
    documents: Sequence[str]

    def of(self, truth: Truth) -> list[Entry]:
        """Return the entries with this truth."""
        return [entry for entry in self.entries if entry.truth == truth]


COPIES: dict[str, tuple[int, int]] = {
    "whole": (30, 4),
    "whole, with answer": (20, 2),
    "whole, in many documents": (16, 1),
    "whole, short question": (20, 2),
    "wrapped": (30, 4),
    "hyphenated": (20, 0),
    "embedded": (30, 4),
    "upper case": (12, 2),
    "HTML": (16, 2),
    "Markdown": (16, 2),
    "full width": (12, 2),
    "NFD": (12, 2),
    "ligatures": (12, 0),
    "typographic": (12, 1),
    "translated punctuation": (12, 2),
    "2% edited": (30, 4),
    "5% edited": (50, 6),
    "10% edited": (50, 6),
    "12% edited": (40, 6),
    "options reordered": (30, 3),
}
"""Entries that are in the corpus: in English, and in each other language."""
EDITED_SHARES = {
    "2% edited": 0.02,
    "5% edited": 0.05,
    "10% edited": 0.10,
    "12% edited": 0.12,
}
LANGUAGES_OF_FORMS = {
    "upper case": (ENGLISH, "greek", "russian"),
    "NFD": (ENGLISH, "japanese", "arabic", "greek", "russian"),
    "translated punctuation": (ENGLISH, "chinese", "japanese", "arabic", "greek", "russian"),
}
"""Languages whose texts some forms change; others change all."""
MOST_DRAWS = 200
"""Problems are drawn again, so often at most, until the form of the copy differs."""
TEMPLATES = {1: (24, 2), 3: (24, 2), 10: (24, 2), 30: (24, 2), 100: (24, 1)}
"""By the number of documents that have the template: entries in English, in each other language."""
LONG_TEMPLATES = 5
"""Entries for each number of documents whose templates have few slots."""
INSTRUCTIONS = {1: 10, 10: 10, 100: 6}
"""By the number of documents that have the instruction before other questions: English entries."""
FORMULAS = {1: 12, 3: 12, 10: 12, 30: 12}
QUOTATIONS = {1: 12, 5: 12, 30: 12}
PARAPHRASES = (40, 4)
CHANGED_NUMBERS = (60, 5)
CHANGED_NUMBER_WORDS = 10
OF_EACH_FAMILY, SIBLINGS = 6, 60
COMMON_QUESTIONS, COMMON_SIBLINGS = 36, 150
ABSENT = (110, 8)
BACKGROUND_PROBLEMS = (1500, 200)
"""Problems of the corpus that no entry was copied from: in English, in each other language."""


def make_bed(seed: int = 1, size: float = 1.0) -> Bed:
    """Make the bed; `size` is the share of its entries and documents.

    Decoys and absent entries that a document has by chance, with at most one word in eight edited,
    are left out.
    """
    maker = _Maker(random.Random(seed), size)
    maker.add_copies()
    maker.add_templates()
    maker.add_instructions()
    maker.add_formulas()
    maker.add_quotations()
    maker.add_paraphrases()
    maker.add_variants()
    maker.add_families()
    maker.add_common_questions()
    maker.add_absent()
    maker.add_background()
    bed = maker.shuffled()
    by_chance = ids_by_chance(bed)
    entries = [entry for entry in bed.entries if entry.id not in by_chance]
    return Bed(entries, bed.documents)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()


def ids_by_chance(bed: Bed) -> set[str]:
    """Return the ids of decoys and absent entries that some document has all the same."""
    texts = {
        entry.id: entry.question for entry in bed.entries if entry.truth in ("decoy", "absent")
    }
    corpus = "\n".join(letters_of(document) for document in bed.documents)
    by_letters = {id_ for id_, text in texts.items() if letters_of(text) in corpus}
    shares = nearest(texts, bed.documents)
    return by_letters | {id_ for id_, share in shares.items() if share <= EDITED_SHARE}


@dataclass(slots=True)
class _Maker:
    """A bed that is being made."""

    draw: random.Random
    size: float
    entries: list[Entry] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    background: Background = field(init=False)
    words: dict[str, list[str]] = field(default_factory=dict)
    """What edits insert, by language."""

    def __post_init__(self) -> None:
        self.background = read_background(self.draw, round(FULL_SIZE * self.size))
        self.draw.shuffle(self.background.passages)
        self.draw.shuffle(self.background.summaries)
        prose = self.background.documents[:20]
        for name in (ENGLISH, *OTHER_LANGUAGES):
            self.words[name] = words_to_insert(name, prose if name == ENGLISH else ())

    def number(self, full: int) -> int:
        """Return a number of the whole bed for this size; at least 1, if it is not 0."""
        return max(1, round(full * self.size)) if full else 0

    def by_language(self, numbers: tuple[int, int]) -> Iterator[str]:
        """Yield the language of each entry of a kind."""
        for _ in range(self.number(numbers[0])):
            yield ENGLISH
        for name in OTHER_LANGUAGES:
            for _ in range(self.number(numbers[1])):
                yield name

    # Questions

    def composed(self, name: str, kinds: Sequence[str] = COMPOSED) -> Problem:
        """Draw a problem; in English, a third of them about prose that is nowhere else."""
        if name == ENGLISH and "story" in kinds and self.draw.random() < 0.35:
            if self.draw.random() < 0.6 and self.background.passages:
                return self.about_a_passage()
            if len(self.background.summaries) >= len(LETTERS):
                return self.about_summaries()
        return draw_problem(self.draw, name, kinds)

    def about_a_passage(self) -> Problem:
        """Return a question about a paragraph of prose."""
        passage = self.background.passages.pop()
        asked = self.draw.choice(
            (
                "According to this passage, what should {name1} do first?",
                "Which of the statements above would a {trade1} doubt?",
                "Summarize the passage in {n1} words for a {trade1} from {town1}.",
            )
        )
        problem = make_problem(self.draw, ENGLISH, "passage", [asked])
        return replace(problem, frames=[passage.replace("{", "(").replace("}", ")"), asked])

    def about_summaries(self) -> Problem:
        """Return a choice between four sentences of prose."""
        options = tuple(self.background.summaries.pop() for _ in LETTERS)
        asked = self.draw.choice(
            (
                "Which of these sentences did {name1} find in a manual at the {place1}?",
                "{name1} needs help with a program at the {place1}. Which description fits it?",
            )
        )
        return make_problem(self.draw, ENGLISH, "choice", [asked], options)

    def add(
        self,
        problem: Problem,
        truth: Truth,
        kind: str,
        documents: Iterable[int] = (),
        placed: str = "",
        *,
        has_answer: bool = False,
    ) -> None:
        """Add an entry."""
        entry = Entry(
            id=f"{truth}-{len(self.entries)}",
            question=problem.text,
            answer=problem.answer,
            truth=truth,
            kind=kind,
            language=problem.language,
            documents=tuple(documents),
            placed=placed,
            has_answer=has_answer,
        )
        self.entries.append(entry)

    # Documents

    def put(self, document: str) -> int:
        """Add a document; return its number."""
        self.documents.append(document)
        return len(self.documents) - 1

    def put_somewhere(self, text: str, name: str) -> int:
        """Put a text into a document alone, into a sheet with others, or into a long document."""
        layout = self.draw.choice((self.alone, self.in_sheet, self.embedded))
        return self.put(layout(text, name))

    def alone(self, text: str, name: str) -> str:
        """Return a document with hardly anything else."""
        start = self.draw.choice(("", "", "1. ", "Q: "))
        del name
        return f"{start}{text}\n"

    def in_sheet(self, text: str, name: str) -> str:
        """Return a sheet of problems that has a text among them."""
        title = self.draw.choice(language(name).parts["sheet"])
        problems = [
            draw_problem(self.draw, name, COMPOSED).text for _ in range(self.draw.randint(3, 9))
        ]
        problems.insert(self.draw.randint(0, len(problems)), text)
        numbered = [f"{number}. {problem}" for number, problem in enumerate(problems, 1)]
        heading = make_problem(self.draw, name, "sheet", [title]).text
        return "\n\n".join([heading, *numbered])

    def embedded(self, text: str, name: str) -> str:
        """Return a long document that has a text between its paragraphs."""
        if name == ENGLISH:
            paragraphs = self.draw.choice(self.background.documents).split("\n\n")
            first = self.draw.randint(0, max(0, len(paragraphs) - MOST_PARAGRAPHS))
            paragraphs = paragraphs[first : first + MOST_PARAGRAPHS]
        else:
            number = self.draw.randint(20, 60)
            paragraphs = [draw_problem(self.draw, name, COMPOSED).text for _ in range(number)]
        paragraphs.insert(self.draw.randint(0, len(paragraphs)), text)
        return "\n\n".join(paragraphs)

    # Copies

    def add_copies(self) -> None:
        """Add the entries that are in the corpus, in all forms."""
        for kind, numbers in COPIES.items():
            for name in self.by_language(numbers):
                if name in LANGUAGES_OF_FORMS.get(kind, (name,)):
                    self.add_copy(kind, name)

    def add_copy(self, kind: str, name: str) -> None:
        """Add an entry and its copy."""
        kinds: Sequence[str] = COMPOSED
        if kind == "whole, short question":
            kinds = ("short",)
        elif kind == "options reordered":
            kinds = ("choice",)
        problem, copy = self.problem_and_copy(kind, name, kinds)
        layout: Callable[[str, str], str] | None = None
        if kind == "embedded":
            layout = self.embedded
        elif kind.startswith("whole"):
            layout = self.draw.choice((self.alone, self.in_sheet))
        has_answer = kind == "whole, with answer" or (
            not kind.startswith("whole") and self.draw.random() < 0.5
        )
        if has_answer:
            frame = self.draw.choice(language(name).parts["answer"])
            copy += "\n" + fill(frame.replace("{answer}", "{answer1}"), lambda _: problem.answer)
        times = self.draw.randint(12, 60) if kind == "whole, in many documents" else 1
        if layout is None:
            numbers = [self.put_somewhere(copy, name) for _ in range(times)]
        else:
            numbers = [self.put(layout(copy, name)) for _ in range(times)]
        self.add(problem, "copied", kind, numbers, copy, has_answer=has_answer)

    def problem_and_copy(self, kind: str, name: str, kinds: Sequence[str]) -> tuple[Problem, str]:
        """Return a problem and its copy; a RuntimeError if a kind of copies changes no text."""
        for _ in range(MOST_DRAWS):
            problem = self.composed(name, kinds)
            copy = self.changed(kind, problem)
            if copy != problem.text or kind.startswith(("whole", "embedded")):
                return problem, copy
        raise RuntimeError(f"copies of the kind {kind} don't differ in {name}")

    def changed(self, kind: str, problem: Problem) -> str:
        """Return the text of a problem as a kind of copies has it."""
        name = problem.language
        if kind in FORMS:
            return FORMS[kind](problem.text, self.draw, name)
        if kind in EDITED_SHARES:
            words = self.words[name]
            return edit(problem.text, EDITED_SHARES[kind], self.draw, name, words)
        if kind == "options reordered":
            options = list(problem.options)
            while options == list(problem.options):
                self.draw.shuffle(options)
            return with_options(problem.question, options)
        return problem.text

    # Decoys

    def add_templates(self) -> None:
        """Add entries whose templates are in documents with other names, numbers and things."""
        templates = list(shared().templates)
        self.draw.shuffle(templates)
        for n_documents, numbers in TEMPLATES.items():
            for position, name in enumerate(self.by_language(numbers)):
                if name == ENGLISH and position < LONG_TEMPLATES and templates:
                    problem = make_problem(self.draw, ENGLISH, "template", [templates.pop()])
                else:
                    problem = draw_problem(self.draw, name, ("story", "story", "theorem"))
                documents = [
                    self.put_somewhere(redraw(self.draw, problem).text, name)
                    if n_documents <= 3
                    else self.put(self.alone(redraw(self.draw, problem).text, name))
                    for _ in range(n_documents)
                ]
                self.add(problem, "decoy", f"template in {n_documents}", documents)

    def add_instructions(self) -> None:
        """Add questions after instructions that documents have before other questions."""
        instructions = list(shared().instructions)
        for n_documents, n_entries in INSTRUCTIONS.items():
            for _ in range(self.number(n_entries)):
                if not instructions:
                    instructions = list(shared().instructions)
                instruction = instructions.pop(self.draw.randrange(len(instructions)))
                documents = [
                    self.put(self.alone(self.instructed(instruction).text, ENGLISH))
                    for _ in range(n_documents)
                ]
                problem = self.instructed(instruction)
                self.add(problem, "decoy", f"instruction in {n_documents}", documents, instruction)

    def instructed(self, instruction: str) -> Problem:
        """Return a problem after an instruction."""
        problem = draw_problem(self.draw, ENGLISH, (*COMPOSED, "short"))
        return replace(problem, frames=[instruction, *problem.frames])

    def with_text(self, frame: str, slot: str, text: str) -> Problem:
        """Return a problem with a text in one of its slots."""
        return make_problem(self.draw, ENGLISH, slot, [frame], values={slot: text})

    def add_formulas(self) -> None:
        """Add entries with formulas that documents have."""
        for n_documents, n_entries in FORMULAS.items():
            for _ in range(self.number(n_entries)):
                formula = self.draw.choice(shared().formulas)
                frame = self.draw.choice(shared().formula_problems)
                documents = []
                for _ in range(n_documents):
                    sentence = self.draw.choice(shared().formula_documents)
                    text = self.with_text(sentence, "formula", formula).text
                    documents.append(self.put(self.in_sheet(text, ENGLISH)))
                problem = self.with_text(frame, "formula", formula)
                self.add(problem, "decoy", f"formula in {n_documents}", documents, formula)

    def add_quotations(self) -> None:
        """Add entries with quotations that documents have."""
        quotations = list(shared().quotations)
        self.draw.shuffle(quotations)
        for n_documents, n_entries in QUOTATIONS.items():
            for _ in range(self.number(n_entries)):
                quotation = quotations.pop() if quotations else shared().quotations[0]
                quotations.insert(0, quotation)
                documents = [
                    self.put(self.embedded(f"“{quotation}”", ENGLISH)) for _ in range(n_documents)
                ]
                frame = self.draw.choice(shared().quotation_questions)
                problem = self.with_text(frame, "quotation", quotation)
                self.add(problem, "decoy", f"quotation in {n_documents}", documents, quotation)

    def add_paraphrases(self) -> None:
        """Add entries of which a document has names, things and numbers in other sentences."""
        for name in self.by_language(PARAPHRASES):
            problem = make_problem(self.draw, name, "story", draw_story(self.draw, name))
            frames = draw_story(self.draw, name, other_than=problem.frames)
            other = make_problem(self.draw, name, "story", frames, values=problem.values)
            document = self.put_somewhere(other.text, name)
            self.add(problem, "decoy", "paraphrase", [document], other.text)

    def add_variants(self) -> None:
        """Add entries that documents have with other numbers."""
        for name in self.by_language(CHANGED_NUMBERS):
            problem = self.with_numbers(name, ("story", "story", "theorem"))
            changed = change_numbers(problem.text, self.draw)
            document = self.put_somewhere(changed, name)
            self.add(problem, "variant", "numbers changed", [document], changed)
        for _ in range(self.number(CHANGED_NUMBER_WORDS)):
            problem = self.with_numbers(ENGLISH, ("story",))
            changed = numbers_in_words(change_numbers(problem.text, self.draw))
            in_words = replace(problem, frames=[numbers_in_words(problem.text)])
            document = self.put_somewhere(changed, ENGLISH)
            self.add(in_words, "variant", "numbers in words changed", [document], changed)

    def with_numbers(self, name: str, kinds: Sequence[str]) -> Problem:
        """Draw a problem that has a number in digits."""
        problem = draw_problem(self.draw, name, kinds)
        while not NUMBER.search(problem.text):
            problem = draw_problem(self.draw, name, kinds)
        return problem

    def add_families(self) -> None:
        """Add generated problems whose siblings are in the corpus."""
        for family, generate in FAMILIES.items():
            siblings = [generate(self.draw) for _ in range(self.number(SIBLINGS))]
            numbers = [self.put(f"{text}\n") for text in siblings[::2]]
            numbers += [
                self.put("\n\n".join(siblings[first : first + 10]))
                for first in range(0, len(siblings), 10)
            ]
            corpus = letters_of(" ".join(siblings))
            for _ in range(self.number(OF_EACH_FAMILY)):
                text = generate(self.draw)
                while letters_of(text) in corpus:
                    text = generate(self.draw)
                problem = make_problem(self.draw, ENGLISH, family, [text])
                self.add(problem, "decoy", "same family", numbers)

    def add_common_questions(self) -> None:
        """Add short questions that differ from others of the corpus in one name."""
        siblings: list[Problem] = []
        for _ in range(self.number(COMMON_SIBLINGS)):
            frame = self.draw.choice(shared().common)
            siblings.append(make_problem(self.draw, ENGLISH, "common", [frame]))
        texts = [sibling.text for sibling in siblings]
        numbers = [
            self.put("\n".join(texts[first : first + 5])) for first in range(0, len(texts), 5)
        ]
        for _ in range(self.number(COMMON_QUESTIONS)):
            problem = make_problem(
                self.draw, ENGLISH, "common", [self.draw.choice(shared().common)]
            )
            while problem.text in texts:
                frame = self.draw.choice(shared().common)
                problem = make_problem(self.draw, ENGLISH, "common", [frame])
            texts.append(problem.text)
            self.add(problem, "decoy", "short common question", numbers)

    def add_absent(self) -> None:
        """Add entries of which nothing was put into the corpus."""
        for name in self.by_language(ABSENT):
            kinds = (*COMPOSED, "short")
            self.add(self.composed(name, kinds), "absent", "absent")

    # The rest of the corpus

    def add_background(self) -> None:
        """Add documents of this machine, and problems that no entry is."""
        for text in self.background.documents:
            self.put(text)
        for name in self.by_language(BACKGROUND_PROBLEMS):
            self.put(self.alone(draw_problem(self.draw, name, COMPOSED).text, name))

    def shuffled(self) -> Bed:
        """Return the bed with its documents in another order."""
        order = list(range(len(self.documents)))
        self.draw.shuffle(order)
        places = {number: place for place, number in enumerate(order)}
        entries = [
            replace(entry, documents=tuple(sorted(places[number] for number in entry.documents)))
            for entry in self.entries
        ]
        return Bed(entries, [self.documents[number] for number in order])
