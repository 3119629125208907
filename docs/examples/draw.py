"""Write the files of this folder that are drawn at random, with fixed seeds: python draw.py.

Nothing in them was observed: they show what commands do, and are not results.
"""

from __future__ import annotations

import json
import random
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Record = dict[str, object]

N_PROBLEMS = 120
NAMES = ("Ada", "Emil", "Noor", "Tom", "Yuki")
THINGS = ("apples", "pencils", "oranges", "stamps", "red balloons", "paper boats")
MODELS = {"large-model": 0.15, "small-model": -0.1}
METHODS = {"zero-shot": 0.45, "cot": 0.55, "pot": 0.5, "f-1": 0.68}
VARIANTS = {
    "cot": 0.55,
    "f-1": 0.68,
    "f-1+verify": 0.68,
    "formulate-and-solve": 0.6,
    "f-1+zs": 0.68,
    "f-1+cot": 0.66,
    "f-1+pot": 0.6,
}
"""Mean accuracy of each method; models add to it."""


def write_all(folder: Path) -> None:
    """Write every file that is drawn."""
    write_exam(folder)
    dice = random.Random(3)
    write_passages(folder, dice)
    write_epochs(folder, dice)
    dice = random.Random(1)
    scores, usage = draw_scores(METHODS, dice)
    write_lines(folder / "scores.jsonl", scores)
    write_lines(folder / "usage.jsonl", usage)
    write_lines(folder / "passages.jsonl", with_passages(scores))
    write_lines(folder / "variants-scores.jsonl", draw_scores(VARIANTS, dice)[0])
    write_labels(folder / "labels.csv", dice)
    write_prevalence(folder, dice)
    write_proofs(folder)
    write_points(folder / "points.jsonl")


def write_lines(path: Path, records: Iterable[Record]) -> None:
    """Write records as JSON lines."""
    text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_text(text, encoding="utf-8")


def write_table(path: Path, header: str, rows: Iterable[Sequence[object]]) -> None:
    """Write rows of values without commas as CSV."""
    lines = [header]
    lines += [",".join(str(value) for value in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_exam(folder: Path) -> None:
    """Write questions, and a crawl that contains half of them in some form."""
    dice = random.Random(2)
    questions: list[Record] = []
    pages: list[str] = []
    for number in range(1, N_PROBLEMS + 1):
        name, (thing, other) = dice.choice(NAMES), dice.sample(THINGS, 2)
        n, price, note, more = (dice.randint(3, 99) for _ in range(4))
        text = f"{name} buys {n} {thing} at {price} cents each and pays with {note} euros. What is"
        text += f" left of the money if {name} also takes {more} {other} home?"
        questions.append({"id": number, "question": text})
        match number % 10:
            case 1 | 2:
                pages.append(f"Exercise {number}. {text} Answer: see page {more}.")
            case 3:
                pages.append(textwrap.fill(text, 40))
            case 4:
                pages.append(text.upper())
            case 5:
                pages.append(text[: len(text) * 2 // 3])
    write_lines(folder / "exam.jsonl", questions)
    write_lines(folder / "crawl.jsonl", ({"id": i, "text": page} for i, page in enumerate(pages)))


def write_passages(folder: Path, dice: random.Random) -> None:
    """Write verdicts on two to eight questions about each of thirty passages."""
    rows: list[Sequence[object]] = []
    for passage in range(1, 31):
        hardness = dice.gauss(0, 0.8)
        gain = dice.gauss(0.35, 0.8)
        for question in range(dice.randint(2, 8)):
            first, second = dice.gauss(hardness, 1) > 0, dice.gauss(hardness + gain, 1) > 0
            rows.append((f"{passage}-{question}", passage, int(first), int(second)))
    write_table(folder / "passages.csv", "id,passage,cot,pot", rows)


def write_epochs(folder: Path, dice: random.Random) -> None:
    """Write verdicts on four answers of two methods to each of sixty problems."""
    rows: list[Sequence[object]] = []
    for problem in range(1, 61):
        chance = dice.betavariate(0.6, 1)
        for method, power in (("cot", 1.0), ("pot", 0.7)):
            for epoch in range(1, 5):
                rows.append((problem, method, epoch, int(dice.random() < chance**power)))
    write_table(folder / "epochs.csv", "id,method,epoch,value", rows)


def draw_scores(
    methods: Mapping[str, float], dice: random.Random
) -> tuple[list[Record], list[Record]]:
    """Return scores of answers by two models, and the tokens that the answers took."""
    scores: list[Record] = []
    usage: list[Record] = []
    for model, skill in MODELS.items():
        for number in range(1, N_PROBLEMS + 1):
            luck = dice.gauss(0, 0.25)
            for method, accuracy in methods.items():
                key = {"dataset": "made", "model": model, "method": method, "id": str(number)}
                is_right = dice.random() < accuracy + skill + luck
                rule = {"rule": "numbers", "subtask": "even" if number % 2 == 0 else "odd"}
                scores.append({**key, **rule, "value": float(is_right)})
                tokens = round(dice.lognormvariate(6.4 if method == "cot" else 6, 0.5))
                taken = {"prompt_tokens": 80, "completion_tokens": tokens, "reasoning_tokens": 0}
                usage.append({**key, "epoch": None, **taken})
    return scores, usage


def with_passages(scores: Iterable[Record]) -> Iterable[Record]:
    """Yield scores of problems of which five each are about one passage."""
    for score in scores:
        yield {**score, "passage": f"passage {(int(str(score['id'])) + 4) // 5}"}


def write_labels(path: Path, dice: random.Random) -> None:
    """Write labels of forty items by three people, who are right four times in five."""
    rows: list[Sequence[object]] = []
    for item in range(1, 41):
        truth = dice.choice("AABCCCC")
        labels = [truth if dice.random() < 0.8 else dice.choice("ABC") for _ in range(3)]
        rows.append((item, *labels))
    write_table(path, "item,anna,ben,chris", rows)


def write_prevalence(folder: Path, dice: random.Random) -> None:
    """Write counts of something about each problem, in two corpora that resemble each other."""
    numbers = range(1, N_PROBLEMS + 1)
    counts = {number: round(dice.lognormvariate(4, 2)) for number in numbers}
    others = {number: round(counts[number] * dice.lognormvariate(0, 1)) for number in numbers}
    write_table(folder / "prevalence.csv", "id,count", counts.items())
    write_table(folder / "other-corpus.csv", "id,count", others.items())


def write_proofs(folder: Path) -> None:
    """Write verdicts of a judge that favours one method, and people's labels of 60 problems."""
    dice = random.Random(3)
    verdicts: list[Record] = []
    labels: list[Sequence[object]] = []
    labelled = dice.sample(range(1, 301), 60)
    for method, accuracy, leniency in (("cot", 0.55, 0.1), ("f-1", 0.55, 0.35)):
        for number in range(1, 301):
            is_right = dice.random() < accuracy
            says_right = dice.random() < (0.95 if is_right else leniency)
            key = {"dataset": "proofs", "model": "some-model", "method": method, "id": str(number)}
            verdicts.append({**key, "rule": "judge:other-model", "value": float(says_right)})
            if number in labelled:
                labels.append((number, method, "right" if is_right else "wrong"))
    write_lines(folder / "proofs.jsonl", verdicts)
    write_table(folder / "people.csv", "id,method,label", labels)


def write_points(path: Path) -> None:
    """Write a judge's marks of sixty proofs by two methods; some proofs have more points."""
    dice = random.Random(5)
    marks: list[Record] = []
    for number in range(1, 61):
        points = dice.choice((5, 10, 15))
        subtask = "algebra" if number % 2 else "number theory"
        for method, mean in (("cot", 3.5), ("f-1", 4.5)):
            mark = min(7, max(0, round(dice.gauss(mean, 2.5))))
            key = {"dataset": "proofs", "model": "some-model", "method": method, "id": str(number)}
            graded = {"rule": "judge:other-model", "value": mark / 7, "answer": str(mark)}
            marks.append({**key, **graded, "points": points, "subtask": subtask})
    write_lines(path, marks)


if __name__ == "__main__":
    write_all(Path(__file__).resolve().parent)
