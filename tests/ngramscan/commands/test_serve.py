"""`ngramscan serve` as a person runs it: how it ends, and what is refused before it starts."""

import signal
from pathlib import Path

import pytest

from ngramscan.serve.server import name_folders
from tests.support.command import invoke
from tests.support.outputs import refusal
from tests.support.serve_process import INDEXES, THE, ask, serving


@pytest.mark.integration
@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="interrupted"),
        pytest.param(signal.SIGTERM, 0, id="told to end"),
    ],
)
def test_the_exit_code_says_which_signal_ended_it(number: int, code: int) -> None:
    with serving("--concurrency", "1", indexes=INDEXES[:1]) as served:
        assert ask(served.url, THE).json()["count"] == 2918
        assert served.end(number) == code


def test_folders_that_are_no_indexes_are_refused(tmp_path: Path) -> None:
    said = refusal("serve", tmp_path)
    assert said.startswith(f"{tmp_path}: not an index: it and its folders lack data.fm9")
    said = refusal("serve", tmp_path / "none")
    assert said.startswith(f"{tmp_path / 'none'}: no such folder; expected that of an index")


def test_addresses_are_refused_with_the_way_to_query_them() -> None:
    for address in ("tokens:https://example.org/index", "s3://bucket/index", "web=http://a/b"):
        said = refusal("serve", address)
        assert said.startswith(f"{address}: serve needs an index on this machine; other commands")
        assert "--index URL" in said


def test_the_kind_before_a_folder_of_tokens_may_be_said(tmp_path: Path) -> None:
    said = refusal("serve", f"tokens:{tmp_path / 'none'}")
    assert said.startswith(f"{tmp_path / 'none'}: no such folder")


def test_two_indexes_of_one_name_are_refused() -> None:
    first = INDEXES[0]
    problem = f"{first} has the same name, so requests can't tell them apart"
    assert refusal("serve", first, first) == f"{first}: {problem}"


def test_an_address_of_another_machine_is_refused() -> None:
    said = refusal("serve", INDEXES[0], "--host", "203.0.113.1", "--port", "8790")
    assert said == "--host 203.0.113.1 --port 8790: cannot assign requested address"


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        pytest.param("--port", "65536", "must be between 0 and 65,535", id="port above"),
        pytest.param("--port", "-1", "must be between 0 and 65,535", id="port below"),
        pytest.param("--concurrency", "0", "must be at least 1", id="no thread"),
        pytest.param("--max-context", "9999", "must be at least 10,000", id="a short context"),
    ],
)
def test_numbers_out_of_range_are_refused(option: str, value: str, problem: str) -> None:
    assert refusal("serve", INDEXES[0], option, value) == f"{option} {value}: {problem}"


def test_without_a_folder_there_is_nothing_to_serve() -> None:
    ran = invoke("serve")
    assert (ran.code, ran.stdout) == (2, "")
    assert "Missing argument 'DIR...'" in ran.stderr


def test_a_folder_may_have_another_name() -> None:
    first, second = INDEXES[:2]
    said = refusal("serve", f"web={first}", f"web={second}")
    problem = f"{first} has the same name, so requests can't tell them apart"
    assert said == f"{second}: {problem}"
    named_folders = [("web", [first]), ("", [first])]
    assert name_folders(named_folders) == {"web": [first], first.name: [first]}


def test_a_folder_with_an_equals_sign_is_itself(tmp_path: Path) -> None:
    (tmp_path / "a=b").mkdir()
    said = refusal("serve", tmp_path / "a=b")
    assert said.startswith(f"{tmp_path / 'a=b'}: not an index")


def test_the_option_of_counts_names_no_folder_to_serve() -> None:
    said = refusal("serve", "--index", "web=my-index")
    assert said == "--index: no such option; folders are arguments: `ngramscan serve web=my-index`"
