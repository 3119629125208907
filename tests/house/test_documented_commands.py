"""Every command of README.md and docs/ runs as printed, page by page, in a fresh checkout."""

import hashlib
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import pytest

import ngramscan
from docs.checkout import copy_checkout, files_of_checkout
from tests.support import service
from tests.support.chat_server import chat_server
from tests.support.examples import (
    HOSTED,
    commands_of,
    is_installed,
    parse_line,
    reply,
    run_line,
)
from tests.support.made_benchmarks import write, write_financemath
from tests.support.once import files_of_python
from tests.support.places import ROOT
from tests.support.serve_process import send, serving

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = {str(page.relative_to(ROOT)): list(commands_of(page)) for page in PAGES}
COMMANDS = {page: lines for page, lines in COMMANDS.items() if lines}
NOT_RUN = {
    r"^(git|pip|just|pytest|python)\b": "installs something or takes long: .ci/run",
    r"--scheduler": "needs a cluster: test_dask.py",
    r"commoncrawl|s3://|example\.org|infini-gram:": "asks a host: test_remote_web_servers.py",
    r"tokens:public": "asks a store: test_kinds_published.py",
    r"datasets (fetch|check)": "downloads benchmarks: test_datasets_fetch.py",
    r"bbh-word-sorting": "downloads a benchmark: test_datasets_fetch.py",
    r"capitals|unit-first|first-word": "needs additions: test_extending.py",
}
"""Commands that do not run here, and why; their arguments are read all the same."""
OF_OTHERS = {
    r"raw_(cot|pot)_outputs|validation\.json": "published by the authors of FinanceMath",
    r"(entries|texts)\.jsonl": "made of benchmarks and of the texts of a machine",
}
"""Files that pages take from elsewhere; small ones of their form are put in their place."""

WITH_FILES_OF_OTHERS = [
    page
    for page, lines in COMMANDS.items()
    if any(re.search(rule, line) for rule in OF_OTHERS for line in lines)
]
"""Pages whose commands run in a folder with such files, outside the checkout."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a fresh clone."""
    folder = tmp_path_factory.mktemp("fresh") / "ngramscan"
    copy_checkout(folder)
    return folder


def add_files_of_others(folder: Path) -> None:
    """Write outputs of two methods and their problems, as the authors of FinanceMath publish.

    Entries of a benchmark, and a text that contains one, are written as well.
    """
    write_financemath(folder)
    answer = {"question_id": "validation-8", "output": "```python\nanswer = 1\n```"}
    for method in ("cot", "pot"):
        write(folder / f"raw_{method}_outputs/some-model.json", [answer])
    write(folder / "outputs/financemath/some-model/pot.jsonl", json.dumps(answer) + "\n")
    question = "Nine paper boats of three colours drift past a lighthouse; how many are blue?"
    names = ("imo-answerbench 1", "imo-answerbench 2", "olympiadbench 1")
    entries = [{"id": name, "question": f"{question} {name}"} for name in names]
    write(folder / "entries.jsonl", "".join(f"{json.dumps(entry)}\n" for entry in entries))
    write(folder / "texts.jsonl", json.dumps({"source": "a.txt", "text": question}) + "\n")


def digests(folder: Path) -> dict[str, str]:
    """Return what each file of the checkout contains."""
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in files_of_checkout("README.md", "docs", "outputs", "patterns")
    }


@pytest.mark.parametrize("page", COMMANDS)
def test_the_commands_of_a_page_run_in_their_order_in_a_fresh_checkout(
    page: str, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "ngramscan"
    subprocess.run(["cp", "-R", checkout, root], check=True)
    before = digests(root)
    monkeypatch.setattr(ngramscan.corpora, "python_files", lambda _: files_of_python()[:99])
    monkeypatch.setattr(webbrowser, "open", lambda _: True)  # of commands with --open
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    (tmp_path / "home/.config/fish/completions").mkdir(parents=True)
    settings = {"HOME": tmp_path / "home", "XDG_CACHE_HOME": tmp_path / "cache"}
    write_financemath(tmp_path / "cache/ngramscan/datasets/financemath")  # as if fetched
    corpora = dict.fromkeys((*HOSTED, "my-index"), root / "docs/examples/corpus.jsonl")
    with service.ApiServer(corpora) as api, chat_server(reply) as chat:
        for name, value in {**settings, "NGRAMSCAN_API_URL": api.url}.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setenv("OPENAI_API_KEY", "-")
        folder = root
        monkeypatch.chdir(folder)
        for line in COMMANDS[page]:
            if line.startswith("cd "):
                folder = folder / line.removeprefix("cd ")
                monkeypatch.chdir(folder)
            elif line.startswith("pip install '.["):
                assert folder == root
            elif line.startswith("ngramscan serve "):
                serve_and_stop(line)
            elif is_run(line):
                if any(re.search(rule, line) for rule in OF_OTHERS):
                    add_files_of_others(folder)
                here = line.replace("http://localhost:8000/v1", chat.url)
                run_line(here.replace("http://127.0.0.1:8787/", api.url), folder)
    assert digests(root) == before
    assert page in WITH_FILES_OF_OTHERS or new_to_git(root) == []


def serve_and_stop(line: str) -> None:
    """Serve as a command says, but on a free port and without a browser, until Ctrl-C."""
    _, _, *words = shlex.split(line)
    words = [word for word in words if word != "--open"]
    with serving(*words, indexes=()) as server:
        assert send(server.url, None, {}, "GET", "/indexes").status_code == 200
        assert server.end(signal.SIGINT) in {0, 130}


def new_to_git(folder: Path) -> list[str]:
    """Return the files of a folder that `git status` of the checkout would show there."""
    if not (ROOT / ".git").exists():
        return []
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    added = sorted(found - set(files_of_checkout()))
    named = "".join(f"{name}\n" for name in added)
    asked = ["git", "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(asked, cwd=ROOT, input=named, text=True, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return sorted(set(added) - set(done.stdout.splitlines()))


def is_run(line: str) -> bool:
    return is_installed(line) and not any(re.search(rule, line) for rule in NOT_RUN)


def lines_not_run() -> Iterator[str]:
    for lines in COMMANDS.values():
        for line in lines:
            if re.match("ngramscan |evalcore ", line) and not is_run(line):
                yield line


@pytest.mark.parametrize("line", sorted(set(lines_not_run())))
def test_a_command_that_is_not_run_has_known_options_and_arguments(line: str) -> None:
    parse_line(line)


@pytest.mark.parametrize("rule", [*NOT_RUN, *OF_OTHERS])
def test_every_reason_not_to_run_a_command_is_of_one(rule: str) -> None:
    assert any(re.search(rule, line) for page in COMMANDS.values() for line in page)


def test_the_python_of_the_readme_runs_where_its_commands_do(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout / "docs/examples")
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    with service.ApiServer(dict.fromkeys(HOSTED, Path("corpus.jsonl"))) as api:
        monkeypatch.setenv("NGRAMSCAN_API_URL", api.url)
        for block in blocks:
            local = block.replace('"dclm"', f'"{api.url}v2_dclm_all"')
            exec(compile(local, "README.md", "exec"), {})


def test_the_files_that_are_drawn_are_what_the_program_beside_them_draws(tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs/examples/draw.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "draw.py"], check=True)
    drawn = [path for path in tmp_path.iterdir() if path.name != "draw.py"]
    assert len(drawn) == 14
    shipped = ROOT / "docs/examples"
    differing = [
        path.name for path in drawn if path.read_bytes() != (shipped / path.name).read_bytes()
    ]
    assert differing == []
