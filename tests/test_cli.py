from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import ngramscan
from ngramscan.cli import main
from ngramscan.errors import IncompleteError, InputError
from tests.command import NGRAMSCAN, run

SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: "next, we", method: CoT, tier: T2, kind: narrative}
  - {text: '\\frac{', method: F-1, tier: T2, kind: latex}
"""
TEXTS = [
    "step by step by step",
    "Next, we \\frac{1}{2}",
    "next, we rest. \\frac{a}{b} \\frac{c}{d}",
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small pattern set and corpus, which is the current one."""
    (tmp_path / "small.yaml").write_text(SET)
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in TEXTS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.stdout, result.stderr


COUNT = ("count", "small.yaml", "--index", "scan:c.jsonl")


def test_the_table_shows_counts_totals_ratios_and_what_they_mean(here: Path) -> None:
    code, stdout, stderr = invoke(*COUNT)
    assert (code, stderr) == (0, "")
    assert stdout.splitlines()[0] == "scan:c.jsonl · 78 B of text · 3 documents"
    assert sum(len(text) for text in TEXTS) == 78
    cells = [line.split() for line in stdout.splitlines()]
    assert ["CoT", "T1", "step", "by", "step", "2", "1", "25,641,026"] in cells
    assert ["F-1", "T2", "\\frac{", "3", "2", "38,461,538"] in cells
    assert [
        "CoT",
        "T1+T2",
        "step",
        "by",
        "step",
        "(67%)",
        "3",
        "3",
        "38,461,538",
        "1,000,000",
    ] in cells
    assert cells[next(i for i, line in enumerate(stdout.splitlines()) if "F-1 : CoT" in line)][
        :7
    ] == ["F-1", ":", "CoT", "T2", "3", "3", "0"]
    assert "sum: sum of pattern counts, overlaps counted repeatedly" in stdout


def test_a_table_in_a_pipe_is_whole_and_has_no_colour(here: Path) -> None:
    done = subprocess.run([*NGRAMSCAN, *COUNT], capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout + done.stderr
    assert "…" not in done.stdout


def test_patterns_that_look_like_markup_are_shown_as_they_are(here: Path) -> None:
    (here / "m.yaml").write_text(
        "name: m\npatterns:\n"
        "  - {text: '[/INST] :smile:', method: '[bold]', tier: T1, kind: code}\n"
    )
    code, stdout, _ = invoke("count", "m.yaml", "--index", "scan:c.jsonl")
    assert code == 0
    assert "[/INST] :smile:" in stdout
    assert "[bold]" in stdout


def test_rows_in_all_formats_on_stdout(here: Path) -> None:
    _, as_csv, _ = invoke(*COUNT, "--format", "csv")
    header, first, *_ = as_csv.splitlines()
    assert header == (
        "index,method,tier,kind,pattern,query,occurrences,documents,source,asked_at,"
        "estimated,occurrences_low,occurrences_high,documents_low,documents_high,level,note"
    )
    assert first.startswith("scan:c.jsonl,CoT,T1,narrative,step by step,step by step,2,1,scan,20")
    _, as_lines, _ = invoke(*COUNT, "--format", "jsonl")
    _, as_json, _ = invoke(*COUNT, "--format", "json")
    records = [json.loads(line) for line in as_lines.splitlines()]
    assert [(r["occurrences"], r["documents"]) for r in records] == [(2, 1), (1, 1), (3, 2)]
    assert [record["query"] for record in json.loads(as_json)] == [
        "step by step",
        "next, we",
        "\\frac{",
    ]


def test_rows_and_totals_in_files(here: Path) -> None:
    code, stdout, stderr = invoke(*COUNT, "-o", "rows.parquet", "--totals", "totals.csv")
    assert (code, stdout, stderr) == (0, "", "")
    assert pd.read_parquet("rows.parquet")["occurrences"].tolist() == [2, 1, 3]
    totals = pd.read_csv("totals.csv")
    ratio = totals.query("statistic == 'ratio_of_sums' and tiers == 'T1+T2'")
    assert ratio["value"].tolist() == [1.0]
    assert sorted(path.name for path in here.iterdir() if path.is_file()) == [
        "c.jsonl",
        "rows.parquet",
        "small.yaml",
        "totals.csv",
    ]


def test_variants_tiers_and_methods_select_rows(here: Path) -> None:
    _, stdout, _ = invoke(*COUNT, "--case-variants", "--method", "cot", "--format", "csv")
    assert [line.split(",")[6:8] for line in stdout.replace('"', "").splitlines()[1:3]] == [
        ["2", "1"],
        ["0", "0"],
    ]
    assert '"Next, we",1,1' in stdout
    _, stdout, _ = invoke(*COUNT, "--tier", "t1", "--format", "csv")
    assert len(stdout.splitlines()) == 2


def test_python_has_the_same_function(here: Path) -> None:
    frame = ngramscan.count("small.yaml", index="scan:c.jsonl", tier=["T2"], totals="t.json")
    assert frame["occurrences"].tolist() == [1, 3]
    assert str(frame["documents"].dtype) == "Int64"
    assert json.loads(Path("t.json").read_text())[0]["statistic"] == "patterns"
    assert ngramscan.index_list()["alias"].tolist()[:2] == ["dclm", "cc-2025-05"]
    info = ngramscan.index_info("scan:c.jsonl")
    assert info[["documents", "bytes"]].iloc[0].tolist() == [3, 78]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ngramscan.nothing  # noqa: B018


def test_what_failed_is_an_exception_in_python_that_has_the_rest(here: Path) -> None:
    (here / "cut.jsonl").write_text('{"text": "a')
    with pytest.raises(IncompleteError, match=r"cut\.jsonl:1: not valid JSON.*3 of 6") as error:
        ngramscan.count("small.yaml", index=["scan:c.jsonl", "scan:cut.jsonl"])
    assert error.value.rows["occurrences"].tolist() == [2, 1, 3]
    for options in (
        {"concurrency": 0},
        {"rate": -1.0},
        {"workers": 0},
        {"limit_documents": 0},
        {"limit_documents": 5, "sample_files": 1},
    ):
        with pytest.raises(InputError):
            ngramscan.count("small.yaml", index="scan:c.jsonl", **options)


def test_a_bad_corpus_leaves_the_rows_of_the_others(here: Path) -> None:
    (here / "cut.jsonl").write_text('{"text": "a')
    code, stdout, stderr = invoke(*COUNT, "--index", "scan:cut.jsonl", "-o", "rows.csv")
    assert (code, stdout) == (1, "")
    assert stderr.startswith("Error: cut.jsonl:1: not valid JSON: Unterminated string")
    assert stderr.endswith("; 3 of 6 counts missing (scan:cut.jsonl)\n")
    assert len(Path("rows.csv").read_text().splitlines()) == 4


def test_of_many_reasons_some_are_shown_and_all_counted(here: Path) -> None:
    specs = []
    for n in range(8):
        (here / f"cut{n}.jsonl").write_text('{"text": "a')
        specs += ["--index", f"scan:cut{n}.jsonl"]
    code, stdout, stderr = invoke("count", "small.yaml", *specs)
    assert (code, stdout) == (1, "")
    lines = stderr.splitlines()
    assert len(lines) == 6
    assert lines[-1] == "Error: and 3 more reasons; 24 counts are missing in all"


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["count", "no.yaml"], 2, "Error: no.yaml: no such file", id="no file"),
        pytest.param(
            ["count", "key.yaml"],
            2,
            "Error: key.yaml:3: patterns[0]: unknown key 'teir'",
            id="an unknown key",
        ),
        pytest.param(
            [*COUNT[:2], "--index", "scan:cut.jsonl.gz"],
            1,
            "Error: cut.jsonl.gz:1: the file is truncated",
            id="a cut gz",
        ),
        pytest.param(
            [*COUNT[:2], "--index", "scan:cut.jsonl.zst"],
            1,
            "Error: cut.jsonl.zst:1: the file is truncated",
            id="a cut zst",
        ),
        pytest.param(
            [*COUNT[:2], "--index", "scan:field.jsonl"],
            1,
            "Error: field.jsonl:1: no field 'text'; it has: body (see --text-field)",
            id="no text field",
        ),
        pytest.param(
            [*COUNT[:2], "--index", "dlcm"],
            2,
            "Error: --index dlcm: no index of this name; did you mean dclm?",
            id="a misspelt index",
        ),
        pytest.param(
            [*COUNT[:2], "--index", "c.jsonl"],
            2,
            "to read the corpus there: --index scan:c.jsonl",
            id="a path without scan:",
        ),
        pytest.param(
            [*COUNT[:2], "--index", "http://127.0.0.1:9/"],
            2,
            "no index named; http://HOST:PORT/NAME",
            id="a URL without a name",
        ),
        pytest.param([*COUNT, "-o", "."], 2, "it is a folder", id="output is a folder"),
        pytest.param([*COUNT, "-o", "no/x.csv"], 2, "there is no folder no", id="no folder"),
        pytest.param([*COUNT, "-o", "/proc/x.csv"], 2, "can't be written", id="unwritable"),
        pytest.param([*COUNT, "--totals", "/proc/x.csv"], 2, "can't be written", id="totals too"),
        pytest.param([*COUNT, "--method", "ToT"], 2, "has no such method", id="no such method"),
        pytest.param(
            [*COUNT, "--tier", "T3"], 2, "no such tier; it has T1, T2", id="nothing selected"
        ),
        pytest.param(
            [*COUNT[:2], "--index", "dclm", "--journal", "small.yaml"],
            2,
            "Error: --journal small.yaml: can't be opened as a journal",
            id="a journal that is none",
        ),
        pytest.param(["count", "--tier", "T9", "x"], 2, "'T9' is not one of", id="no such tier"),
        pytest.param(["count"], 2, "Missing argument", id="no patterns"),
        pytest.param(["index", "info", "c4"], 2, "no index of this name", id="info of nothing"),
    ],
)
def test_bad_input_is_one_line_that_names_the_place(
    here: Path, arguments: list[str], code: int, message: str
) -> None:
    write(here / "key.yaml", SET.replace("tier: T1", "teir: T1").encode())
    write(here / "field.jsonl", b'{"body": "a"}\n')
    write(here / "cut.jsonl.gz", bytes.fromhex("1f8b0800000000000003ab562a49ad"))
    write(here / "cut.jsonl.zst", bytes.fromhex("28b52ffd04589900"))
    before = sorted(here.iterdir())
    ended, stdout, stderr = invoke(*arguments)
    assert (ended, stdout) == (code, "")
    assert message in stderr
    if "Usage" not in stderr:
        assert stderr.count("\n") == 1
    assert sorted(here.iterdir()) == before


def test_the_index_list_is_the_catalog(here: Path) -> None:
    code, stdout, _ = invoke("index", "list", "--format", "csv")
    assert code == 0
    assert stdout.splitlines()[0] == "name,alias,corpus,kind,documents,bytes"
    assert stdout.splitlines()[1] == (
        "v2_dclm_all,dclm,DCLM-baseline,curated,2948096911,16666308904212"
    )
    assert len(stdout.splitlines()) == 11
    _, table, _ = invoke("index", "list")
    assert "16,666,308,904,212" in table
    invoke("index", "list", "-o", "list.jsonl")
    assert len(Path("list.jsonl").read_text().splitlines()) == 10


def test_index_info_tells_the_size_of_a_corpus(here: Path) -> None:
    code, stdout, _ = invoke("index", "info", "scan:c.jsonl", "--format", "json")
    assert code == 0
    (info,) = json.loads(stdout)
    assert (info["name"], info["documents"], info["bytes"]) == ("scan:c.jsonl", 3, 78)


def test_version_and_module() -> None:
    assert invoke("--version")[1] == f"ngramscan, version {ngramscan.__version__}\n"
    assert run("--version").stdout == f"ngramscan, version {ngramscan.__version__}\n"


def test_an_error_of_our_own_is_no_one_liner(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not anticipated must not look as if it were."""
    module = sys.modules[ngramscan.docnorm.__module__]
    monkeypatch.setattr(module, "load_selection", lambda *_: 1 / 0)
    result = CliRunner().invoke(main, ["docnorm", "--dry-run"])
    assert isinstance(result.exception, ZeroDivisionError)


def test_a_reader_that_stops_early_is_no_error(here: Path) -> None:
    command = " ".join(NGRAMSCAN)
    done = subprocess.run(
        ["bash", "-c", f"{command} {' '.join(COUNT)} --format csv | head -1"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("index,")
    assert "Traceback" not in done.stderr


def test_progress_bars_are_for_terminals_only(here: Path) -> None:
    """In a real terminal of 80 columns there are bars and colours; rows are the same."""
    import os
    import pty

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ngramscan", "count", "small.yaml", "--index", "python"],
        stdout=subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"},
    )
    os.close(follower)
    assert process.stdout is not None
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        shown += part
    stdout = process.stdout.read()
    process.stdout.close()
    os.close(leader)
    assert process.wait() == 0
    assert b"bytes" in shown
    assert b"MB/s" in shown
    assert b"\x1b" not in stdout
