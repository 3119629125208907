"""The made files that examples of the pages use, and what commands print about them, for cog."""

from __future__ import annotations

import atexit
import contextlib
import csv
import functools
import io
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import click
from click.testing import CliRunner

import evalcore.cli
import ngramscan.cli

ROOT = Path(__file__).resolve().parent.parent
FOLDERS: dict[str, Path] = {}
MAINS = {"ngramscan": ngramscan.cli.main, "evalcore": evalcore.cli.main}
OF_THE_SHELL = re.compile(r"[<>$*~]|&&|^(?!ngramscan |evalcore )")
TEXTS = {
    "verdicts.csv": "id,cot,f-1\nq1,1,1\nq2,0,1\nq3,0,0\nq4,1,1\nq5,,1\n",
    "corpus.jsonl": r"""
{"id": 1, "text": "Let's think step by step, one step at a time. Let us first find x."}
{"id": 2, "text": "The formula is A = \\frac{a h}{2}; the formula is easy: r = \\sqrt{A / \\pi}."}
{"id": 3, "text": "def solve(x):\n    return answer"}
{"id": 4, "text": "Step by step, the valley grew wider; step by step, we slowed down."}
""",
    "essay.txt": """
It begins as prompts do: let's think step by step. The rest is new.
""",
    "mine.yaml": r"""
name: mine
patterns:
  - {method: CoT, tier: T1, kind: narrative, text: one step at a time}
  - {method: CoT, tier: T2, kind: narrative, text: let us first}
  - {method: F-1, tier: T2, kind: narrative, text: the formula is}
  - {method: F-1, tier: T2, kind: latex, text: '\sqrt{'}
""",
    "phrases.txt": "step by step\nlet me\n",
    "questions.jsonl": """
{"id": 1, "question": "What is 17 + 25?", "answer": 42}
{"id": 2, "question": "How many minutes are three hours?", "answer": 180}
{"id": 3, "question": "What is 15 % of 80?", "answer": 12}
""",
    "outputs/questions/some-model/cot.jsonl": r"""
{"id": 1, "output": "17 and 25 are 42. The answer is 42."}
{"id": 2, "output": "An hour has 60 minutes, so it is \\boxed{180}."}
{"id": 3, "output": "15 % is 0.15, and 0.15 times 80 is 16. The answer is 16."}
""",
    "outputs/questions/some-model/f-1.jsonl": r"""
{"id": 1, "output": "x = 17 + 25, so x = \\boxed{42}."}
{"id": 2, "output": "t = 3 \\cdot 60 = \\boxed{180}"}
{"id": 3, "output": "x = 0.15 \\cdot 80 = \\boxed{12}"}
""",
}
REPORT = (
    "evalcore link shift-ciphers-counts.csv shift-ciphers.csv --problems --without 13 -q"
    " -o slopes.csv --provenance",
    "ngramscan report methods.csv markers.csv traced.csv slopes.csv"
    " --title 'Programs or texts on FinanceMath?' -o report.html",
)
"""The commands that make docs/report-example.html of the rows in docs/results."""
NAMES = ("Ada", "Emil", "Noor", "Tom", "Yuki")
THINGS = ("apples", "pencils", "oranges", "stamps", "red balloons", "paper boats")
METHODS = {"zero-shot": 0.45, "cot": 0.55, "pot": 0.5, "f-1": 0.68}
VARIANTS = {"formulate-and-solve": 0.6, "f-1+zs": 0.68, "f-1+cot": 0.66, "f-1+pot": 0.6}
VARIANTS = {"cot": 0.55, "f-1": 0.68, "f-1+verify": 0.68, **VARIANTS}


def make_files(folder: Path) -> None:
    """Write the files, and scores, tokens and labels drawn at random with a fixed seed."""
    shutil.copytree(ROOT / "outputs", folder / "outputs")
    shutil.copytree(ROOT / "patterns", folder / "patterns")
    for file in (ROOT / "docs/results").glob("*.csv*"):
        shutil.copy(file, folder)
    (folder / "tests").mkdir()
    (folder / "tests/tokens").symlink_to(ROOT / "tests/tokens")
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.lstrip("\n"), encoding="utf-8")
    _write_exam(folder)
    _write_passages(folder)
    dice = random.Random(1)
    _write_scores(folder, "", METHODS, dice)
    _write_scores(folder, "variants-", VARIANTS, dice)
    labels = ["item,anna,ben,chris"]
    for item in range(1, 41):
        truth = dice.choice("AABCCCC")
        said = [truth if dice.random() < 0.8 else dice.choice("ABC") for _ in range(3)]
        labels.append(",".join([str(item), *said]))
    (folder / "labels.csv").write_text("\n".join(labels) + "\n", encoding="utf-8")
    _write_judged(folder)
    counts = [f"{number},{round(dice.lognormvariate(4, 2))}" for number in range(1, 121)]
    (folder / "prevalence.csv").write_text("\n".join(["id,count", *counts]), encoding="utf-8")
    with (folder / "scores.jsonl").open(encoding="utf-8") as scores_file:
        scores = [json.loads(line) for line in scores_file]
    with (folder / "passages.jsonl").open("w", encoding="utf-8") as passages_file:
        for score in scores:
            passage = f"passage {(int(score['id']) + 4) // 5}"
            passages_file.write(json.dumps({**score, "passage": passage}) + "\n")
    others = []
    for row in counts:
        number, _, count = row.partition(",")
        others.append(f"{number},{round(int(count) * dice.lognormvariate(0, 1))}")
    (folder / "other-corpus.csv").write_text("\n".join(["id,count", *others]), encoding="utf-8")


def _write_passages(folder: Path) -> None:
    """Write verdicts on questions about passages, and on four answers to each problem."""
    dice = random.Random(3)
    lines = ["id,passage,cot,pot"]
    for passage in range(1, 31):
        hardness = dice.gauss(0, 0.8)
        gain = dice.gauss(0.35, 0.8)
        for question in range(dice.randint(2, 8)):
            first, second = dice.gauss(hardness, 1) > 0, dice.gauss(hardness + gain, 1) > 0
            lines.append(f"{passage}-{question},{passage},{int(first)},{int(second)}")
    (folder / "passages.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = ["id,method,epoch,value"]
    for problem in range(1, 61):
        chance = dice.betavariate(0.6, 1)
        for method, power in (("cot", 1.0), ("pot", 0.7)):
            for epoch in range(1, 5):
                lines.append(f"{problem},{method},{epoch},{int(dice.random() < chance**power)}")
    (folder / "epochs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_exam(folder: Path) -> None:
    """Write the questions of the made scores, and a crawl that has some of them in some form."""
    dice, questions, pages = random.Random(2), [], []
    for number in range(1, 121):
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
    texts = [{"id": number, "text": text} for number, text in enumerate(pages)]
    for file, rows in (("exam.jsonl", questions), ("crawl.jsonl", texts)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / file).write_text(lines, encoding="utf-8")


def _write_scores(
    folder: Path, kind: str, methods: Mapping[str, float], dice: random.Random
) -> None:
    """Write the scores of made answers, and the tokens that they used."""
    scores, used = [], []
    for model, skill in (("large-model", 0.15), ("small-model", -0.1)):
        for number in range(1, 121):
            luck = dice.gauss(0, 0.25)
            for method, accuracy in methods.items():
                key = {"dataset": "made", "model": model, "method": method, "id": str(number)}
                is_right = dice.random() < accuracy + skill + luck
                rule = {"rule": "numbers", "subtask": "even" if number % 2 == 0 else "odd"}
                scores.append({**key, **rule, "value": float(is_right)})
                tokens = round(dice.lognormvariate(6 + 0.4 * (method == "cot"), 0.5))
                tokens_used = {"prompt_tokens": 80, "completion_tokens": tokens}
                used.append({**key, "epoch": None, **tokens_used, "reasoning_tokens": 0})
    for name, records in ((f"{kind}scores.jsonl", scores), (f"{kind}usage.jsonl", used)):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (folder / name).write_text(text, encoding="utf-8")


def _write_judged(folder: Path) -> None:
    """Write verdicts of a judge that favours one method, and people's labels of 60 problems."""
    dice, rows, labels = random.Random(3), [], ["id,method,label"]
    labelled = dice.sample(range(1, 301), 60)
    for method, accuracy, leniency in (("cot", 0.55, 0.1), ("f-1", 0.55, 0.35)):
        for number in range(1, 301):
            is_right = dice.random() < accuracy
            says_right = dice.random() < (0.95 if is_right else leniency)
            key = {"dataset": "proofs", "model": "some-model", "method": method, "id": str(number)}
            rows.append({**key, "rule": "judge:other-model", "value": float(says_right)})
            if number in labelled:
                labels.append(f"{number},{method},{'right' if is_right else 'wrong'}")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "proofs.jsonl").write_text(text, encoding="utf-8")
    (folder / "people.csv").write_text("\n".join(labels) + "\n", encoding="utf-8")


def begin(page: str) -> None:
    """Give the commands of a page a folder of their own; the blocks of one page share it."""
    if page not in FOLDERS:
        made = FOLDERS[page] = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        make_files(made)
    FOLDERS["now"] = FOLDERS[page]


def printed(command: str, columns: int = 80) -> str:
    """Return what a command prints on a terminal of so many columns; a shell runs it if need be."""
    here = FOLDERS["now"]
    plain = {"COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"}
    env = {**plain, "XDG_CACHE_HOME": str(here / ".cache")}
    first, _, rest = command.partition(" | ")
    if OF_THE_SHELL.search(first):
        rest, text = command, ""
    else:
        main, *arguments = shlex.split(first)
        runner, width = CliRunner(env=env, catch_exceptions=False), columns - 2  # as click takes it
        with contextlib.chdir(here):  # a process each would take most of the time
            done = runner.invoke(MAINS[main], arguments, prog_name=main, terminal_width=width)
        assert done.exit_code == 0, done.output
        text = done.stdout
    if not rest:
        return text
    shell, env = ["bash", "-c", rest], {**os.environ, **env}
    return subprocess.run(
        shell, cwd=here, env=env, input=text, text=True, check=True, stdout=subprocess.PIPE
    ).stdout


def show(*commands: str, lines: int | None = None, columns: int = 80) -> str:
    """Return commands, and the first lines of what each prints, as a block of a page."""
    shown = list[str]()
    for command in commands:
        text = "\n".join(map(str.rstrip, printed(command, columns).splitlines()[:lines]))
        shown += [f"$ {command}", text.strip("\n")]
    return "\n".join(["```console", *filter(None, shown), "```"])


def kept(before: str, shown: str) -> str:
    """Return the block as it is in the page if only its numbers and their widths have changed.

    What a command prints about this machine's own files differs everywhere; with FRESH set, which
    `just fix` does, it is replaced all the same.
    """
    masked = [re.sub(r"[\d.,]+|[ ─]+", " ", text.strip()) for text in (before, shown)]
    masked = [" ".join(text.split()) for text in masked]
    is_kept = masked[0] == masked[1] and not os.environ.get("FRESH")
    return before.strip("\n") if is_kept else shown


def show_file(name: str, language: str = "json") -> str:
    """Return one of the files as a block of a page."""
    return f"```{language}\n{TEXTS[name].strip()}\n```"


def usages() -> str:
    """Return the help of every command of both packages as blocks of a page."""
    return "\n\n".join(text for name, main in MAINS.items() for text in _usages(main, name))


def _usages(command: click.Command, main: str, *names: str) -> Iterator[str]:
    """Yield the help of a command as a block, and those of all commands in a group."""
    option = "--help" if isinstance(command, click.Group) else "--help-all"
    shown = CliRunner().invoke(MAINS[main], [*names, option], prog_name=main, terminal_width=80)
    yield f"```text\n{shown.output.strip()}\n```"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            if found := command.get_command(context, each):
                yield from _usages(found, main, *names, each)


@functools.cache
def _mismatches() -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(printed("evalcore audit --format csv")))
    return [row for row in rows if row["verdict"] == "mismatch"]


def mismatches(*ids: str) -> str:
    """Return the claims of the paper that do not hold, among those with such ids, as a table."""
    lines = ["| claim | statement | printed | recomputed |", "|---|---|---:|---:|"]
    for pattern in ids:
        found = [row for row in _mismatches() if fnmatchcase(row["id"], pattern)]
        assert found, f"no claim {pattern} is a mismatch"
        lines += _lines(found)
    return "\n".join(lines)


def _lines(rows: Iterable[dict[str, str]]) -> Iterable[str]:
    for row in rows:
        decimals = max(2, len(row["published"].partition(".")[2]))
        recomputed = f"{float(row['recomputed']):,.{decimals}f}".rstrip("0").rstrip(".")
        statement = row["statement"].replace("|", "\\|")
        yield f"| `{row['id']}` | {statement} | {row['published']} | {recomputed} |"
