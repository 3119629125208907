"""The commands of evalcore as a person runs them, against a server on loopback."""

import sys
from pathlib import Path
from typing import Any

import pytest

import evalcore
from ngramscan.errors import IncompleteError
from tests.support.chat_server import chat_server
from tests.support.command import invoke_ending
from tests.support.finance_run import answering, run_command, text_of

SECRET = "sk-made-up-1234567890"


def test_a_key_is_sent_and_shown_nowhere(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ""
    monkeypatch.setitem(sys.modules, "math_verify", None)
    for code, key, folder in ((0, SECRET, "right"), (1, f"{SECRET}-wrong", "wrong")):
        monkeypatch.setenv("LAB_KEY", key)
        with chat_server(key=SECRET) as server:
            options = ("--api-key-env", "LAB_KEY", "--limit", "2", "-v", "-o", folder)
            ran = invoke_ending(code, *run_command(server, *options))
            said += ran.stdout + ran.stderr
    assert ("Error: " in said, SECRET in said) == (True, False)
    assert "pip install" not in said
    files = [path.read_bytes() for path in working_folder.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in content for content in files)


def test_functions_return_the_rows_of_the_commands(
    working_folder: Path, subtests: pytest.Subtests
) -> None:
    finance: dict[str, Any] = {"dataset": "financemath", "data": "validation.json"}
    given = {**finance, "model": "lab/made", "methods": ["cot"], "limit": 4}
    with chat_server(answering(working_folder)) as server:
        frame = evalcore.run(**given, base_url=server.url)
        assert list(frame["output"]) == [text_of("cot", n) for n in range(4)]
        assert frame["prompt_tokens"].dtype == "Int64"
    nowhere = {"base_url": "http://127.0.0.1:1/v1"}
    for where in (nowhere, {"replay": "outputs", "output": "again"}):
        with subtests.test(where=where):
            with pytest.raises(IncompleteError, match="1 of 5 answers are missing") as caught:
                evalcore.run(**given | {"limit": 5} | where)
            assert list(caught.value.rows["output"]) == list(frame["output"])
    assert list(evalcore.score("again", **finance)["value"]) == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = evalcore.nothing
