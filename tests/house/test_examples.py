"""The examples of the help run."""

import json
import re
import shutil
import sys
import webbrowser
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import ngramscan
from tests.support import made_logs, service
from tests.support.chat_server import chat_server
from tests.support.command import MAINS, invoke
from tests.support.corpus_files import PACK
from tests.support.examples import HOSTED, is_installed, reply, run_line
from tests.support.made_benchmarks import write, write_financemath
from tests.support.once import files_of_python
from tests.support.places import ROOT

NOT_RUN = {
    r"^ngramscan serve": "runs until it is stopped: tests/ngramscan/serve/test_protocol.py",
    r"datasets (fetch|check)": "needs the network",
    r"index list --live": "needs a service with a list: tests/ngramscan/indexes/test_listing.py",
    r"--between rules": "needs scores by two rules: tests/evalcore/commands/test_outcomes.py",
    r"imo-proofbench": "needs files that are not shipped",
}
"""Examples that do not run here, and why."""
SMALLER = {
    r"--target 10%": "--max-draws 100",
    r"evalcore (compare|efficiency)|link .*--problems": "--resamples 100",
    r"evalcore run --dataset financemath": "--limit 9",
}
"""What is added to an example, so that it takes less time."""
N_MADE = 8  # problems with scores, of 120


def commands(name: str, command: click.Command) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the examples of a command, or of all in a group."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found
            yield from commands(f"{name} {each}", found)
    else:
        _, _, text = (command.help or "").partition("Examples:\n")
        lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
        yield name, [line for line in lines if line]


EXAMPLES = {name: lines for main in MAINS for name, lines in commands(main, MAINS[main])}
ALL = [line for lines in EXAMPLES.values() for line in lines]


def to_run(command: str) -> Iterator[str]:
    for line in EXAMPLES[command]:
        if is_installed(line) and not any(re.search(rule, line) for rule in NOT_RUN):
            yield smaller(line)


def smaller(line: str) -> str:
    """Return an example that takes less time."""
    for of, more in SMALLER.items():
        line = re.sub(of, rf"\g<0> {more}", line)
    return line


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of docs/examples, and others that examples name; a cache with a benchmark."""
    folder = tmp_path_factory.mktemp("examples") / "here"
    shutil.copytree(ROOT / "docs/examples", folder)
    for name in ("scores.jsonl", "usage.jsonl"):
        rows = (folder / name).read_text().splitlines(keepends=True)
        few = [row for row in rows if int(json.loads(row)["id"]) <= N_MADE]
        (folder / name).write_text("".join(few[: len(few) // 2]))
    record = {"id": 1, "prompt": "cot", "output": "step by step, \\frac{1}{2}"}
    lines = json.dumps(record | {"text": "step by step", "reply": "step by step"}) + "\n"
    for name in ("run", "a"):
        write(folder / f"{name}.jsonl", lines)
    write(folder / "b.jsonl", lines.replace('"id": 1', '"id": 2'))
    write(folder / "outputs.jsonl.gz", PACK[".gz"](lines.encode()))
    write(folder / "crawl/a.jsonl.zst", PACK[".zst"](lines.encode()))
    for name in ("logs/cot", "logs/pot"):
        changes: dict[str, Any] = {"metadata": {"method": name[-3:]}}
        log = made_logs.header(**changes)
        made_logs.write_inspect(folder / f"{name}.eval", [made_logs.sample("s1")], log)
    made_logs.write_lm_eval(folder / "results", [made_logs.row(1)], "gsm8k")
    write(folder / "grades.csv", "item,a,b\n1,poor,fair\n2,good,good\n3,fair,good\n")
    shutil.copy(ROOT / "ngramscan/outputs/strategy_rules.yaml", folder / "rules.yaml")
    write_financemath(folder.parent / "cache/ngramscan/datasets/financemath")
    write_answers(folder)
    make_rows(folder)
    return folder


def make_rows(folder: Path) -> None:
    """Write rows and indexes of the small corpus, as earlier commands would have."""
    corpus = f"scan:{folder / 'corpus.jsonl'}"
    invoke("index", "build", folder / "corpus.jsonl", "-o", folder / "my-index", "-q")
    invoke("index", "build", folder / "corpus.jsonl", "-o", f"tokens:{folder / 'my-tokens'}", "-q")
    invoke("count", "f1", "--index", corpus, "-o", folder / "counts.csv", "-q")
    invoke("docnorm", "f1", "--index", corpus, "-o", folder / "documents.csv", "-q")
    scores, compared = folder / "scores.jsonl", folder / "comparisons.csv"
    invoke("compare", scores, "--all-pairs", "-o", compared, "-q")


def write_answers(folder: Path) -> None:
    """Write outputs of the made scores, of questions and of FinanceMath, and what judges say."""
    answered, judged = defaultdict[Path, str](str), ""
    for line in (folder / "usage.jsonl").read_text().splitlines():
        record = json.loads(line)
        path = folder / "outputs/made" / record["model"] / f"{record['method']}.jsonl"
        answered[path] += json.dumps({**record, "output": "4"}) + "\n"
    for path, text in answered.items():
        write(path, text)
    for line in (folder / "scores.jsonl").read_text().splitlines():
        score = json.loads(line)
        for judge in ("a", "b"):
            said = {
                "judge": judge,
                "rule": f"judge:{judge}",
                "answer": str(score["value"]),
                "points": 5,
            }
            judged += json.dumps({**score, **said, "task": "grade", "status": "scored"}) + "\n"
    write(folder / "judged.jsonl", judged)
    program = json.dumps({"id": "validation-8", "output": "```python\nanswer = 1\n```"}) + "\n"
    write(folder / "outputs/financemath/some-model/pot.jsonl", program)
    answer = {"question_id": "validation-8", "output": "```python\nanswer = 1\n```"}
    write(folder / "raw_pot_outputs/some-model.json", [answer])


def arrange(command: str, folder: Path) -> None:
    """Leave in a folder only the files that the examples of a command are about."""
    if command.startswith("ngramscan"):  # whose examples are of the shipped outputs
        for name in ("made", "questions", "financemath"):
            shutil.rmtree(folder / "outputs" / name)
    if command == "evalcore score":
        shutil.move(folder / "outputs/questions", folder / "outputs/mine/questions")
    if command == "ngramscan index build":
        shutil.rmtree(folder / "my-index")
        shutil.rmtree(folder / "my-tokens")


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_examples_of_a_command_run(
    command: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    arrange(command, folder)
    monkeypatch.setattr(ngramscan.corpora, "python_files", lambda _: files_of_python()[:99])
    monkeypatch.setattr(webbrowser, "open", lambda _: True)  # of the example with --open
    shells = {"XDG_CACHE_HOME": str(made.parent / "cache"), "OPENAI_API_KEY": "-"}
    corpora = dict.fromkeys((*HOSTED, "my-index"), made / "corpus.jsonl")
    with service.ApiServer(corpora) as api, chat_server(reply) as chat:
        for name, value in (shells | {"NGRAMSCAN_API_URL": api.url}).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
        if "journal clear" in command:  # which refuses what is not there
            invoke("count", "-e", "foo", "--index", "dclm", "-q")
        for line in to_run(command):
            here = line.replace("http://localhost:8000/v1", chat.url)
            run_line(here.replace("http://127.0.0.1:8787/", api.url), folder)


@pytest.mark.parametrize("rule", NOT_RUN)
def test_every_reason_not_to_run_an_example_is_of_one(rule: str) -> None:
    assert any(re.search(rule, line) for line in ALL)


def test_every_command_has_an_example() -> None:
    assert [name for name, lines in EXAMPLES.items() if not lines] == []
