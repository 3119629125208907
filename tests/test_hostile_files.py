"""Files that are too long, too deep or hold half a character cost one line, never the run."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import evalcore
import ngramscan
from evalcore.cli import main as evalcore_main
from evalcore.logs import read_logs
from ngramscan.cli import main as ngramscan_main
from ngramscan.corpora import ReadOptions, open_corpus, read_piece
from ngramscan.errors import CorpusError, InputError
from tests.made_benchmarks import write_financemath
from tests.made_logs import header, row, sample, write_lm_eval, zip_bytes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DEEP = "[" * 100_000 + "]" * 100_000
HUGE = 200_000_000
HALF = "\\ud83d"
WHOLE = "\\ud83d\\ude00"
PATTERNS = (
    "name: p\npatterns:\n"
    "  - {text: first, method: CoT, tier: T1, kind: narrative}\n"
    "  - {text: def f, method: PoT, tier: T1, kind: code}\n"
)


def ngramscan_run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(ngramscan_main, [str(argument) for argument in arguments])


def evalcore_run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(evalcore_main, [str(argument) for argument in arguments])


def one_line(result: Result, code: int) -> str:
    """Return the only line on stderr."""
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


# A longest line

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".jsonl": bytes,
    ".jsonl.gz": gzip.compress,
    ".jsonl.zst": zstd.compress,
}


@pytest.mark.parametrize("suffix", PACK)
def test_a_line_of_a_corpus_has_a_longest_length(tmp_path: Path, suffix: str) -> None:
    def line(length: int) -> bytes:
        return b'{"text": "' + b"x" * (length - 12) + b'"}'

    path = tmp_path / f"c{suffix}"
    (tmp_path / "p.yaml").write_text(PATTERNS)
    first = b'{"text": "first"}\n'
    options = ("--index", f"scan:{path}", "--format", "csv", "--workers", "1")
    path.write_bytes(PACK[suffix](first + line(1_000_000) + b"\n" + line(1_000_000)))
    done = ngramscan_run("count", tmp_path / "p.yaml", *options, "--max-line", "1")
    assert (done.exit_code, done.stdout.count("first")) == (0, 2), done.output
    for end in (b"", b"\n", b"\n" + first):
        path.write_bytes(PACK[suffix](first * 2 + line(1_000_001) + end))
        told = one_line(ngramscan_run("count", tmp_path / "p.yaml", *options, "--max-line", "1"), 1)
        assert f"{path}:3: a line of more than 1 MB; --max-line" in told
    done = ngramscan_run("count", tmp_path / "p.yaml", *options)
    assert done.exit_code == 0


@pytest.mark.parametrize("place", [2, 3, 40_000, 100_000])
def test_a_long_line_of_a_plain_file_in_parts_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr("ngramscan.corpora.jsonl.PART_BYTES", 700_000)
    lines = [b'{"text": "first"}'] * 100_000
    lines[place - 1] = b'{"text": "' + b"x" * 2_500_000 + b'"}'
    (tmp_path / "c.jsonl").write_bytes(b"\n".join(lines))
    corpus = open_corpus(str(tmp_path))
    texts, errors = 0, []
    for piece in corpus.pieces():
        try:
            for batch in read_piece(piece, ReadOptions(most_line_bytes=1_000_000)):
                texts += len(batch.texts)
        except CorpusError as error:
            errors.append(str(error))
    assert len(corpus.pieces()) > 3
    assert len(errors) == 1
    assert errors[0].startswith(f"{tmp_path}/c.jsonl:{place}: a line of more than 1 MB")
    assert place - 1 <= texts < 100_000
    whole = sum(len(b.texts) for p in corpus.pieces() for b in read_piece(p, ReadOptions()))
    assert whole == 100_000


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".jsonl.zst"])
def test_a_bomb_of_one_line_takes_no_memory(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c{suffix}"
    blank = b" " * HUGE
    path.write_bytes(gzip.compress(blank, 1) if suffix == ".jsonl.gz" else zstd.compress(blank))
    program = (
        "import resource, sys\n"
        "from ngramscan.corpora import ReadOptions, open_corpus, read_piece\n"
        "from ngramscan.errors import CorpusError\n"
        "piece = open_corpus(sys.argv[1]).pieces()[0]\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n"
        "    list(read_piece(piece, ReadOptions(most_line_bytes=1_000_000)))\n"
        "except CorpusError as error:\n"
        "    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    error, kilobytes = done.stdout.splitlines()
    assert error.startswith(f"{path}:1: a line of more than 1 MB")
    assert int(kilobytes) < 40_000


def test_an_index_is_not_built_of_a_line_that_is_too_long(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b'{"text": "' + b"x" * 1_000_000 + b'"}\n')
    with pytest.raises(CorpusError, match=r"c\.jsonl:1: a line of more than 1 MB"):
        ngramscan.index_build(str(tmp_path / "c.jsonl"), output=tmp_path / "index", max_line=1)
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("method", [0, 8, 93])
def test_a_sample_of_a_log_has_a_longest_length(tmp_path: Path, method: int) -> None:
    long = json.dumps(sample("s2", text="x" * 2_000_000)).encode()
    members = [
        ("header.json", json.dumps(header()).encode()),
        ("samples/s1_epoch_1.json", json.dumps(sample("s1")).encode()),
        ("samples/s2_epoch_1.json", long),
    ]
    path = tmp_path / "log.eval"
    path.write_bytes(zip_bytes(members, method))
    assert len(read_logs([path]).rows) == 2
    told = one_line(evalcore_run("logs", path, "--max-line", "1"), 2)
    assert f"{path}:samples/s2_epoch_1.json: more than 1 MB in one; --max-line MB" in told
    # A list that lies about the size.
    lying = path.read_bytes().replace(len(long).to_bytes(4, "little"), (999).to_bytes(4, "little"))
    path.write_bytes(lying)
    with pytest.raises(InputError, match=r"damaged|more than 1 MB"):
        read_logs([path], max_line=1)


def test_a_line_of_a_log_has_a_longest_length(tmp_path: Path) -> None:
    long = row(2)
    long["resps"] = [["x" * 1_000_000]]
    write_lm_eval(tmp_path, [row(1), long])
    path = next(tmp_path.glob("samples_*.jsonl"))
    assert len(evalcore.logs(path)) == 2
    with pytest.raises(InputError, match=rf"{path.name}:2: more than 1 MB in one"):
        evalcore.logs(path, max_line=1)
    write_lm_eval(tmp_path, [long, row(1)])
    with pytest.raises(InputError, match=rf"{path.name}:1: more than 1 MB in one"):
        evalcore.logs(tmp_path, max_line=1)
    whole = tmp_path / "log.json"
    whole.write_text(json.dumps({**header(), "samples": [sample("s1", text="x" * 1_000_000)]}))
    with pytest.raises(InputError, match=r"log\.json: more than 1 MB in one"):
        evalcore.logs(whole, max_line=1)


# Deep nesting


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_financemath(tmp_path)
    (tmp_path / "p.yaml").write_text(PATTERNS)
    return tmp_path


def recorded(line: str, folder: Path) -> Path:
    path = folder / "outputs/financemath/m/cot.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line)
    return path


SCORE = ("score", "outputs", "--dataset", "financemath", "--data", "validation.json")


@pytest.mark.parametrize(
    "line", [f'{{"x": {DEEP}}}', f'{{"id": "validation-0", "output": "1", "x": {DEEP}}}']
)
def test_json_that_is_nested_deeply_is_one_line_in_each_reader(here: Path, line: str) -> None:
    path = recorded(line + "\n", here)
    place = "outputs/financemath/m/cot.jsonl:1"
    assert f"{place}: not valid JSON" in one_line(evalcore_run(*SCORE), 2)
    place += ": no JSON"
    for command in (("blend", "outputs", "p.yaml"), ("strategies", "outputs")):
        assert place in one_line(ngramscan_run(*command), 2)
    assert place in one_line(
        ngramscan_run("keyness", "outputs", "--of", "cot", "--against", "pot"), 2
    )
    assert ":1: not valid JSON" in one_line(evalcore_run("compare", path, "--baseline", "pot"), 2)
    assert one_line(evalcore_run("logs", path), 2)
    (here / "c.jsonl").write_text(line + "\n")
    done = ngramscan_run("count", "p.yaml", "--index", "scan:c.jsonl", "-q")
    assert "c.jsonl:1: no JSON" in one_line(done, 1)
    (here / "validation.json").write_text(line)
    recorded('{"id": "validation-0", "output": "1"}\n', here)
    assert "validation.json: not valid JSON" in one_line(evalcore_run(*SCORE), 2)
    (here / "log.eval").write_bytes(zip_bytes([("header.json", line.encode())]))
    assert "log.eval:header.json: not valid JSON" in one_line(evalcore_run("logs", "log.eval"), 2)


def test_yaml_that_is_nested_deeply_is_one_line_in_each_reader(here: Path) -> None:
    recorded('{"id": "validation-0", "output": "1"}\n', here)
    (here / "deep.yaml").write_text("name: " + DEEP)
    for command in (
        ("count", "deep.yaml", "--index", "python"),
        ("strategies", "outputs", "--rules", "deep.yaml"),
    ):
        told = one_line(ngramscan_run(*command), 2)
        assert told == "Error: deep.yaml: not valid YAML: it is nested too deeply"
    run = ("run", "--dataset", "financemath", "--data", "validation.json", "--model", "m")
    told = one_line(evalcore_run(*run, "--method", "cot", "--prompts", "deep.yaml", "--dry-run"), 2)
    assert told == "Error: deep.yaml: not valid YAML: it is nested too deeply"
    audited = evalcore_run("audit", "--claims", "deep.yaml")
    assert "deep.yaml: not valid YAML: it is nested too deeply" in one_line(audited, 2)
    (here / "number.yaml").write_text(f"phases: {'9' * 5000}")
    told = one_line(
        evalcore_run(*run, "--method", "cot", "--prompts", "number.yaml", "--dry-run"), 2
    )
    assert told.startswith("Error: number.yaml: not valid YAML")


# Halves of characters


def test_halves_of_characters_in_records_lose_no_grading(here: Path) -> None:
    texts = [f"{HALF} the answer is 0.125", f"{WHOLE} \\\\ud83d the answer is 5", "0.25"]
    lines = [f'{{"id": "validation-{n}", "output": "{text}"}}\n' for n, text in enumerate(texts, 1)]
    path = recorded("".join(lines), here)
    with path.open("ab") as file:
        half = "\udc00".encode("utf-8", "surrogatepass")
        file.write(b'{"id": "validation-4", "output": "' + half + b' the answer is 0.5"}\n')
    done = evalcore_run(*SCORE, "-o", "rows.csv")
    assert done.exit_code == 0, done.output
    told = "outputs/financemath/m/cot.jsonl: halves of characters (lone surrogates) replaced by"
    assert f"{told} U+FFFD: 2" in done.stderr
    scored = evalcore.score("outputs", dataset="financemath", data="validation.json")
    assert scored["value"].tolist() == [1.0, 0.0, 0.0, 1.0]
    assert len((here / "rows.csv").read_text().splitlines()) == 5
    assert evalcore_run(*SCORE, "-o", "rows.parquet").exit_code == 0


def test_halves_of_characters_in_outputs_lose_no_run(here: Path) -> None:
    for method in ("cot", "pot"):
        path = here / f"outputs/d/m/{method}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"id": 1, "output": "first {HALF} step {method} {WHOLE}"}}\n' * 1)
    for name, command in {
        "b.csv": ("blend", "outputs", "p.yaml"),
        "s.parquet": ("strategies", "outputs"),
        "k.csv": ("keyness", "outputs", "--of", "cot", "--against", "pot", "--min-count", "1"),
    }.items():
        done = ngramscan_run(*command, "-o", name)
        assert done.exit_code == 0, done.output
        assert done.stderr.count("replaced by U+FFFD: 1") == 2
        assert (here / name).stat().st_size > 0
    frame = ngramscan.blend("outputs", "p.yaml")
    assert frame["prompt"].tolist()


# Numbers of tokens


@pytest.mark.parametrize("number", [-1, 10**30])
def test_numbers_of_tokens_that_can_not_be_are_refused(here: Path, number: int) -> None:
    line = {"id": "validation-0", "output": "1", "completion_tokens": number}
    recorded('{"id": "validation-1", "output": "1"}\n' + json.dumps(line) + "\n", here)
    told = one_line(evalcore_run(*SCORE), 2)
    assert "outputs/financemath/m/cot.jsonl:2: " in told
    assert "completion_tokens" in told
    used: dict[str, Any] = {"lab/made": {"input_tokens": 5, "output_tokens": number}}
    members = [
        ("header.json", json.dumps(header()).encode()),
        ("samples/s1_epoch_1.json", json.dumps(sample("s1", model_usage=used)).encode()),
    ]
    (here / "log.eval").write_bytes(zip_bytes(members))
    told = one_line(evalcore_run("logs", "log.eval"), 2)
    assert "log.eval:samples/s1_epoch_1.json: " in told
    assert "output_tokens" in told


# Spreadsheets


def test_csv_can_be_made_safe_for_spreadsheets(here: Path) -> None:
    texts = ["=1+1", "+1", "-1 step", "@SUM(A1)", "\\tfirst", "\\rfirst", "plain", "a=1"]
    entries = "".join(
        f'  - {{text: "{text}", method: CoT, tier: T1, kind: code}}\n' for text in texts
    )
    (here / "q.yaml").write_text(f"name: q\npatterns:\n{entries}")
    (here / "c.jsonl").write_text('{"text": "plain"}\n')
    run = ("count", "q.yaml", "--index", "scan:c.jsonl", "--workers", "1", "--format", "csv")
    usual = ngramscan_run(*run).stdout
    safe = ngramscan_run(*run, "--csv-safe", "--totals", "totals.csv").stdout
    for text in texts[:6]:
        raw = text.encode().decode("unicode_escape")
        assert f"'{raw}" not in usual
        assert f"'{raw}" in safe
    assert "'plain" not in safe
    assert "'a=1" not in safe
    assert "'=1+1" not in ngramscan_run(*run).stdout
    assert evalcore_run("datasets", "list", "--csv-safe", "--format", "csv").exit_code == 0
    numbers = ngramscan_run("keyness", "--help").stdout
    assert "--csv-safe" in numbers
