"""What shells offer after a tab: in this process, and in bash, zsh and fish themselves."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import case_table
from tests.support.command import MAINS
from tests.support.completion import offers
from tests.support.places import ROOT

SET = "name: own\npatterns: [{text: x y, method: X-ray, tier: T1, kind: narrative}]\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus and a pattern set, and programs that run this code."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.jsonl").touch()
    (tmp_path / "two words.txt").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "own.yaml").write_text(SET)
    for name in MAINS:
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        start = f"from {name}.cli import main; main(prog_name='{name}')"
        program.write_text(f"#!{sys.executable}\nimport sys; sys.path[0] = '{ROOT}'\n{start}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_a_line_is_offered_what_can_follow(line: str, expected: list[str]) -> None:
    offered = [word for word in offers(line) if not word.startswith("two") or "--figure" in line]
    assert offered == expected


SHELLS = {
    "bash": (
        ["bash", "--noprofile", "--norc", "-i"],
        'for p in ngramscan evalcore; do eval "$(env _${p^^}_COMPLETE=bash_source $p)"; done',
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        "unset zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; "
        'for p in ngramscan evalcore; do eval "$(env _${(U)p}_COMPLETE=zsh_source $p)"; done',
    ),
}
LINES = {
    "ngramscan count --index scan:co": "ngramscan count --index scan:corpus.jsonl",
    "ngramscan count --index fm9:fol": "ngramscan count --index fm9:folder/",
    "evalcore run --dataset finan": "evalcore run --dataset financemath",
}


@pytest.mark.integration
@pytest.mark.parametrize("shell", SHELLS)
def test_a_tab_completes_the_line_in_a_real_shell(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell} on this machine")
    if shell == "bash" and subprocess.call(["bash", "-c", "((BASH_VERSINFO[0] >= 5))"]):
        pytest.skip("bash is older than 5, as on macOS")
    command, setup = SHELLS[shell]
    leader, follower = pty.openpty()
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), follower)
    environment = {**os.environ, "TERM": "dumb", "PS1": ""}
    with subprocess.Popen(command, **streams, env=environment, start_new_session=True) as process:
        os.close(follower)
        try:
            type_and_wait(leader, f"{setup}; echo rea''dy\n", r"ready\r\n()")
            # The beginning of the line, and its end, so that the shell prints what it became.
            pattern = r"<((?:ngramscan|evalcore) [^'>]*)>\r\n"
            typed = {line: f"{line}\t\x01echo '<'\x05'>'\n" for line in LINES}
            shown = {line: type_and_wait(leader, keys, pattern) for line, keys in typed.items()}
        finally:
            process.kill()
            os.close(leader)
    assert {line: completed.strip() for line, completed in shown.items()} == LINES


def type_and_wait(leader: int, keys: str, pattern: str) -> str:
    """Type into a terminal and return what it then shows."""
    os.write(leader, keys.encode())
    shown, end = "", time.monotonic() + 60
    while not (found := re.search(pattern, shown)):
        ready, *_ = select.select([leader], [], [], max(0, end - time.monotonic()))
        assert ready, shown
        shown += os.read(leader, 65536).decode()
    return found[1]


@pytest.mark.integration
def test_fish_completes_the_line() -> None:
    if not shutil.which("fish"):
        pytest.skip("no fish on this machine")
    setup = "; ".join(f"env _{p.upper()}_COMPLETE=fish_source {p} | source" for p in MAINS)
    asked = "; ".join(f"complete -C '{line}'" for line in LINES)
    command = ["fish", "--no-config", "-c", f"{setup}; {asked}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines() == [line.split()[-1] for line in LINES.values()]


@pytest.mark.parametrize(
    ("line", "also"),
    [
        pytest.param("ngramscan c", "numpy", id="the name of a command"),
        pytest.param("ngramscan count f", "", id="an argument"),
    ],
)
def test_completing_loads_nothing_that_is_slow(line: str, also: str) -> None:
    program = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); "
    program += "from ngramscan.cli import main; main.main([], 'ngramscan')"
    asked = {"_NGRAMSCAN_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": "c"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} | asked
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    offered, loaded = done.stdout.rsplit("\n", 2)[:2]
    assert "plain," in offered
    assert not {"pandas", "pyarrow", "matplotlib", "httpx", "fsspec", also} & {*loaded.split()}
