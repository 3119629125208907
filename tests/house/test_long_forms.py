"""What `--all` prints: texts made by the version before commands had a first screen."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.command import invoke
from tests.support.places import ROOT

EXAMPLES = ROOT / "docs/examples"
COMMANDS = re.findall(
    r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", Path(__file__).with_suffix(".txt").read_text(), re.MULTILINE
)


def test_each_command_with_a_first_screen_has_a_text() -> None:
    of_commands = {command.split()[0] for command, _ in COMMANDS}
    assert of_commands == {"count", "docnorm", "blend", "contaminate", "trace", "tiers"}
    assert all(len(text.splitlines()) > 5 for _, text in COMMANDS)


@pytest.mark.parametrize(
    ("command", "text"), [pytest.param(*each, id=each[0]) for each in COMMANDS]
)
def test_all_prints_what_was_printed_before_there_was_a_first_screen(
    command: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("COLUMNS", "80")
    ran = invoke(*shlex.split(command), "--quiet")
    # Patterns that tokens can't count are missing.
    assert ran.code == (1 if "tokens:" in command else 0)
    assert ran.stdout == text
