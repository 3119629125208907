"""The examples of the help, of the README and of docs/ run; the README's Python has real names."""

import ast
import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
import webbrowser
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import evalcore
import ngramscan
from docs.examples import make_files
from tests.support import made_logs, service
from tests.support.chat_server import Messages, chat_server
from tests.support.command import MAINS, Ran, invoke
from tests.support.corpus_files import PACK
from tests.support.made_benchmarks import write, write_financemath
from tests.support.once import files_of_python

ROOT = Path(__file__).resolve().parent.parent

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
GENERATED = re.compile(r"<!-- \[\[\[cog.*?\[\[\[end\]\]\] -->", re.DOTALL)
"""What `just check` runs again, and compares with what is printed then."""
NOT_RUN = {
    r"^(git|pip|just|python) ": "installs something, takes long, or is no command of ours",
    r"^ngramscan serve": "runs until it is stopped: test_serve.py",
    r"--scheduler": "needs a cluster: test_scan_runs.py",
    r"commoncrawl|datasets (fetch|check)|s3://|example\.org|infini-gram:": "needs the network",
    r"--between rules": "needs scores by two rules: test_score_options.py",
    r"imo-proofbench|bbh-word-sorting": "needs files that are not shipped",
    r"capitals|unit-first|first-word": "needs the files that docs/extending.md lists",
}
"""Examples that do not run here, and why."""
SMALLER = {
    r"evalcore audit(?! tables)": "tables/",
    r"--target 10%": "--max-draws 100",
    r"evalcore (compare|efficiency)|link .*--problems": "--resamples 100",
    r"evalcore run --dataset financemath(?!.*--limit)": "--limit 9",
}
"""What is added to an example, so that it takes less time."""
N_MADE = 8  # problems with made scores, of 120
LINKED = ("counts.csv", "compared.csv")
PROGRAMS = ("duckdb", "jq", "fish")
WEEKS = ("05", "08", "13", "18", "21", "26", "30")
HOSTED = ("v2_dclm_all", "v2_piletrain", "v2_pileval", *(f"v2_cc-2025-{week}" for week in WEEKS))
QUOTED = r"""'[^']*'|"[^"]*\""""
PIPE = re.compile(rf" \| (?=(?:{QUOTED}|[^'\"])*$)")
OF_THE_SHELL = re.compile(r"[<>$*~]|&&|^\w+=|^(?!ngramscan |evalcore )")


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
        yield name, [line.strip() for line in text.replace("\\\n", " ").splitlines()]


def examples_in(page: Path) -> Iterator[str]:
    """Yield the commands of a page: sh blocks, and lines with a $ in console blocks."""
    for kind, block in BLOCK.findall(GENERATED.sub("", page.read_text())):
        for line in block.replace("\\\n", " ").splitlines():
            if kind == "sh" or line.startswith("$ "):
                yield line.removeprefix("$ ").partition("    #")[0].strip()


SOURCES = {name: lines for main in MAINS for name, lines in commands(main, MAINS[main])} | {
    str(page.relative_to(ROOT)): list(examples_in(page)) for page in PAGES
}
ALL = [line for lines in SOURCES.values() for line in lines]


def to_run(source: str) -> Iterator[str]:
    """Yield the examples of a source, without those of an earlier one whose files nobody reads."""
    earlier = {line for name in SOURCES for line in SOURCES[name] if name < source}
    lines = SOURCES[source]
    for number, line in enumerate(lines):
        written = re.findall(r"(?:-o|--[a-z]+|>) (\S+)", line)
        is_used = any(name in later for name in written for later in lines[number + 1 :])
        is_again = line in earlier and not is_used
        absent = [name for name in PROGRAMS if name in line and not shutil.which(name)]
        is_left_out = any(re.search(rule, line) for rule in NOT_RUN)
        if line and not (absent or is_again or is_left_out):
            yield smaller(line)


def smaller(line: str) -> str:
    """Return an example that takes less time."""
    for of, more in SMALLER.items():
        line = re.sub(of, rf"\g<0> {more}", line)
    return line


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that examples name, and a cache with a benchmark."""
    folder = tmp_path_factory.mktemp("examples")
    make_files(folder)
    for file in (*folder.glob("*scores.jsonl"), *folder.glob("*usage.jsonl")):
        rows = file.read_text().splitlines(keepends=True)
        few = [row for row in rows if int(json.loads(row)["id"]) <= N_MADE]
        file.write_text("".join(few[: len(few) // 2]))
    record = {"id": 1, "prompt": "cot", "output": "step by step, \\frac{1}{2}"}
    lines = json.dumps(record | {"text": "step by step", "reply": "step by step"}) + "\n"
    for name in ("replies", "run", "dclm/a", "corpus/a", "a"):
        write(folder / f"{name}.jsonl", lines)
    write(folder / "b.jsonl", lines.replace('"id": 1', '"id": 2'))
    write(folder / "outputs.jsonl.gz", PACK[".gz"](lines.encode()))
    (folder / ".config/fish/completions").mkdir(parents=True)
    for name in ("shards/a", "crawl/a"):
        write(folder / f"{name}.jsonl.zst", PACK[".zst"](lines.encode()))
    write(folder / "corpus.jsonl.gz", PACK[".gz"]((folder / "corpus.jsonl").read_bytes()))
    invoke("index", "build", folder / "corpus.jsonl", "-o", folder / "my-index", "-q")
    shutil.copytree(folder / "my-index", folder / "other-index")
    invoke("index", "build", folder / "corpus.jsonl", "-o", f"tokens:{folder / 'my-tokens'}", "-q")
    for name in ("runs/a", "logs/cot", "logs/pot"):
        changes: dict[str, Any] = {"metadata": {"method": name[-3:]}}
        log = made_logs.header(**changes)
        made_logs.write_inspect(folder / f"{name}.eval", [made_logs.sample("s1")], log)
    made_logs.write_lm_eval(folder / "results", [made_logs.row(1)], "gsm8k")
    write(folder / "tables/t.csv", "method,value\nA,1.5\n")
    claim = "{id: a, where: t, statement: s, published: '1.5', formula: sum(t.value)}"
    for name in ("tables/claims.yaml", "claims.yaml"):
        write(folder / name, f"keys: [method]\nclaims: [{claim}]\n")
    write(folder / "grades.csv", "item,a,b\n1,poor,fair\n2,good,good\n3,fair,good\n")
    shutil.copy(ROOT / "ngramscan/outputs/strategy_rules.yaml", folder / "rules.yaml")
    write_financemath(folder / ".cache/ngramscan/datasets/financemath")
    write_financemath(folder)
    write_answers(folder)
    shutil.copytree(ROOT / "docs/results", folder / "docs/results")
    shutil.copy(ROOT / "docs/results/markers.csv", folder / "blend.csv")
    scores, counts, compared = (folder / name for name in ("scores.jsonl", *LINKED))
    invoke("count", "f1", "--index", f"scan:{folder / 'corpus.jsonl'}", "-o", counts, "-q")
    invoke("compare", scores, "--all-pairs", "-o", compared, "-q")
    shutil.copy(compared, folder / "comparisons.csv")
    corpus, documents = f"scan:{folder / 'corpus.jsonl'}", folder / "documents.csv"
    invoke("docnorm", "f1", "--index", corpus, "-o", documents, "-q")
    return folder


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
    for method in ("cot", "pot"):
        write(folder / f"raw_{method}_outputs/some-model.json", [answer])


def reply(messages: Messages) -> str:
    """Answer as a model, or as a judge of answers or of failures."""
    is_cause = any('"cause"' in message["content"] for message in messages)
    return '{"cause": "C", "why": "a slip"}' if is_cause else "\\boxed{Correct}"


def run_example(line: str, folder: Path) -> None:
    """Run an example: in a shell what needs one, otherwise in this process."""
    content = b""
    for part in PIPE.split(line):
        if OF_THE_SHELL.search(re.sub(QUOTED, "", part)):
            shell: Any = {"cwd": folder, "input": content, "capture_output": True}
            done = subprocess.run(["bash", "-c", part], **shell, check=False)
            ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        else:
            package, *arguments = shlex.split(part)
            ran = invoke(*arguments, package=package, content=content)
            assert not re.search("Traceback|Error", ran.stderr), f"{line}\n{ran.stderr}"
        assert ran.code == 0, f"{line}\n{ran.stderr}"
        content = ran.stdout.encode()


def arrange(source: str, folder: Path) -> None:
    """Leave in a folder only the made files that the examples of a source are about."""
    if source.startswith("ngramscan"):  # whose examples are of the shipped outputs
        for name in ("made", "questions", "financemath"):
            shutil.rmtree(folder / "outputs" / name)
    if source == "evalcore score":
        shutil.move(folder / "outputs/questions", folder / "outputs/mine/questions")
    if "index build" in " ".join(to_run(source)):
        shutil.rmtree(folder / "my-index")
        shutil.rmtree(folder / "my-tokens")


@pytest.mark.parametrize("source", SOURCES)
def test_the_examples_of_a_page_or_a_command_run(
    source: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(made, folder, symlinks=True)
    monkeypatch.chdir(folder)
    arrange(source, folder)
    monkeypatch.setattr(ngramscan.corpora, "python_files", lambda _: files_of_python()[:99])
    monkeypatch.setattr(webbrowser, "open", lambda _: True)  # of the example with --open
    shells = {"HOME": str(folder), "XDG_CACHE_HOME": str(made / ".cache"), "OPENAI_API_KEY": "-"}
    corpora = dict.fromkeys((*HOSTED, "my-index"), made / "corpus.jsonl")
    with service.ApiServer(corpora) as api, chat_server(reply) as chat:
        for name, value in (shells | {"NGRAMSCAN_API_URL": api.url}).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
        if "journal clear" in " ".join(SOURCES[source]):  # which refuses what is not there
            invoke("count", "-e", "foo", "--index", "dclm", "-q")
        for line in to_run(source):
            here = line.replace("http://localhost:8000/v1", chat.url)
            run_example(here.replace("http://127.0.0.1:8787/", api.url), folder)


def test_every_reason_not_to_run_an_example_is_of_one() -> None:
    for rule in NOT_RUN:
        assert any(re.search(rule, line) for line in ALL), rule


def test_every_command_has_an_example() -> None:
    assert [name for name in SOURCES if not SOURCES[name] and not name.endswith(".md")] == []


def test_the_functions_and_options_of_the_readme_s_python_are_there() -> None:
    text = (ROOT / "README.md").read_text()
    calls = [
        node
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).startswith(("ngramscan", "evalcore"))
    ]
    assert len(calls) >= 3
    for call in calls:
        package, _, name = ast.unparse(call.func).partition(".")
        function = getattr({"ngramscan": ngramscan, "evalcore": evalcore}[package], name)
        given = {each.arg: None for each in call.keywords if each.arg}
        inspect.signature(function).bind(*call.args, **given)
