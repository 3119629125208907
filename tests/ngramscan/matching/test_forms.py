"""Searches of unchanged text say that a corpus has another normal form of what is looked for."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ngramscan.cli import main
from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.index_files.fm9.build import build_index
from ngramscan.matching.forms import other_forms
from ngramscan.progress import SILENT

CAFE = "The owner of the café Élan on Señor Muñoz street sells thirty crème brûlées each day"
KOREAN = "정원사는 튤립을 열아홉 줄 심었고 한 줄에 알뿌리가 스물네 개씩 있습니다 그런 다음 이웃에게"


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def ran(folder: Path, corpus: str, *arguments: str, kind: str = "scan") -> tuple[int, str, str]:
    (folder / "corpus.jsonl").write_text(json.dumps({"text": f"So: {corpus}."}) + "\n")
    spec = f"scan:{folder}/corpus.jsonl"
    if kind == "fm9":
        build_index(open_corpus(f"{folder}/corpus.jsonl"), folder / "index", SILENT, ReadOptions())
        spec = f"fm9:{folder}/index"
    options = [*arguments, "--index", spec, "--journal", str(folder / "journal")]
    done = CliRunner().invoke(main, options)
    return (
        done.exit_code,
        done.stdout,
        done.stderr.replace(spec, "CORPUS").replace(f"{folder}/", ""),
    )


def rows_file(folder: Path, row: dict[str, Any]) -> str:
    (folder / "rows.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n")
    return str(folder / "rows.jsonl")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("café", {"NFD": nfd("café")}, id="composed"),
        pytest.param(nfd("café"), {"NFC": "café"}, id="decomposed"),
        pytest.param("２４", {"NFKC": "24"}, id="full width"),
        pytest.param("ﬁn", {"NFKC": "fin"}, id="a ligature"),
        pytest.param("한국", {"NFD": nfd("한국")}, id="Korean"),
        pytest.param("今天", {}, id="Chinese has one form"),
        pytest.param("cafe", {}, id="ASCII"),
    ],
)
def test_forms_that_differ_are_named(text: str, expected: dict[str, str]) -> None:
    assert other_forms(text) == expected


@pytest.mark.parametrize(
    ("phrase", "corpus", "form"),
    [
        pytest.param("crème brûlées", nfd(CAFE), "NFD", id="a corpus in NFD"),
        pytest.param(nfd("crème brûlées"), CAFE, "NFC", id="a phrase in NFD"),
        pytest.param("튤립을 열아홉", nfd(KOREAN), "NFD", id="Korean in jamo"),
        pytest.param("２４ boxes", "sells 24 boxes", "NFKC", id="a phrase of full width"),
    ],
)
def test_count_says_that_another_form_occurs(
    phrase: str, corpus: str, form: str, tmp_path: Path
) -> None:
    code, stdout, stderr = ran(
        tmp_path, corpus, "count", "-e", phrase, "-o", "-", "--format", "jsonl"
    )
    assert (code, json.loads(stdout.splitlines()[0])["occurrences"]) == (0, 0)
    assert stderr.splitlines()[-1] == (
        f'"{phrase}" occurs 1 time more in CORPUS in Unicode\'s form {form}, which is not counted'
        " (as given: 0 times); count that form as well"
    )


@pytest.mark.parametrize(
    "phrase", [pytest.param("café Élan", id="as it is"), pytest.param("Søren", id="not at all")]
)
def test_count_says_nothing_where_no_other_form_occurs(phrase: str, tmp_path: Path) -> None:
    _, _, stderr = ran(tmp_path, CAFE, "count", "-e", phrase, "-o", "-", "--format", "jsonl")
    assert "Unicode" not in stderr


@pytest.mark.parametrize("kind", ["scan", "fm9"])
@pytest.mark.parametrize("rule", ["mini", "gpt4"])
@pytest.mark.parametrize(
    "text", [pytest.param(KOREAN, id="Korean"), pytest.param(CAFE * 2, id="accents")]
)
def test_contaminate_says_that_an_entry_occurs_in_another_form(
    kind: str, rule: str, text: str, tmp_path: Path
) -> None:
    entries = rows_file(tmp_path, {"id": "q", "question": text})
    code, stdout, stderr = ran(
        tmp_path, nfd(text), "contaminate", entries, "--rule", rule, "-o", "-", "--format", "jsonl"
    )
    row = json.loads(stdout.splitlines()[0])
    assert (code, row["verdict"]) == (0, "clean")
    assert "clean entries that occur in another normal form of Unicode: 1, the first is q" in stderr
    assert "windows in NFD, CORPUS); --rule palm and gpt3 find all forms" in stderr


@pytest.mark.parametrize("kind", ["scan", "fm9"])
def test_trace_says_that_a_text_occurs_in_another_form(kind: str, tmp_path: Path) -> None:
    (tmp_path / "essay.txt").write_text(KOREAN)
    essay = str(tmp_path / "essay.txt")
    command = ("trace", essay, "--plain", "-o", "-", "--format", "jsonl")
    code, stdout, stderr = ran(tmp_path, nfd(KOREAN), *command, kind=kind)
    assert (code, json.loads(stdout.splitlines()[0])["spans"]) == (0, 0)
    assert stderr.splitlines()[-1] == (
        "texts of which more is found in another normal form of Unicode: 1, the first is"
        " essay.txt (14 words in NFD, as given 0, CORPUS); trace the texts in that form as well"
    )
