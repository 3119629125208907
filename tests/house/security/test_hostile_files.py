"""Files that are too long, too deep or hold half a character cost one line, never the run."""

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalcore
import ngramscan
from evalcore.commands.logs import read_logs
from ngramscan.corpora import Piece, ReadOptions, open_corpus, read_piece
from ngramscan.errors import CorpusError, InputError
from ngramscan.reading import streams
from ngramscan.reading.row_files import read_rows
from tests.support import corpus_files
from tests.support.command import invoke
from tests.support.corpus_files import PACK
from tests.support.made_benchmarks import write_financemath
from tests.support.made_logs import header, row, sample, write_lm_eval, zip_bytes
from tests.support.places import ROOT

DEEP = "[" * 100_000 + "]" * 100_000
DEEP_YAML = "name: " + "[" * 600
HALF = "\\ud83d"
WHOLE = "\\ud83d\\ude00"
PATTERNS = (
    "name: p\npatterns:\n"
    "  - {text: first, method: CoT, tier: T1, kind: narrative}\n"
    "  - {text: def f, method: PoT, tier: T1, kind: code}\n"
)


def error_of(*arguments: str | Path, code: int = 2) -> str:
    """Return the only line that a command writes."""
    result = invoke(*arguments)
    assert (result.code, result.stdout) == (code, ""), result
    (line,) = result.stderr.splitlines()
    return line


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_financemath(tmp_path)
    (tmp_path / "p.yaml").write_text(PATTERNS)
    return tmp_path


# A longest line


@pytest.mark.parametrize("suffix", PACK)
def test_a_line_of_a_corpus_has_a_longest_length(
    tmp_path: Path, suffix: str, subtests: pytest.Subtests
) -> None:
    path = tmp_path / f"c.jsonl{suffix}"

    def n_texts(most: int, *lines: bytes) -> int:
        path.write_bytes(PACK[suffix](b"\n".join(lines)))
        (piece,) = open_corpus(str(path)).pieces()
        return sum(len(b.texts) for b in read_piece(piece, ReadOptions(most_line_bytes=most)))

    first, line = b'{"text": "first"}', b'{"text": "%b"}' % (b"x" * 999_988)
    assert n_texts(1_000_000, first, line, line) == 3
    for end in ([], [b""], [first]):
        with subtests.test(end=end):
            with pytest.raises(CorpusError) as error:
                n_texts(999_999, first, first, line, *end)
            assert f"{path}:3: a line of more than 0.999999 MB; --max-line" in str(error.value)


@pytest.mark.parametrize("place", [2, 30_000])
def test_a_long_line_of_a_plain_file_in_parts_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr("ngramscan.corpora.jsonl.PART_BYTES", 500_000)
    lines = [b'{"text": "first"}'] * 30_000
    lines[place - 1] = b'{"text": "' + b"x" * 2_500_000 + b'"}'
    (tmp_path / "c.jsonl").write_bytes(b"\n".join(lines))
    pieces = open_corpus(str(tmp_path)).pieces()
    assert len(pieces) > 3

    def error_in(piece: Piece) -> str:
        try:
            list(read_piece(piece, ReadOptions(most_line_bytes=1_000_000)))
        except CorpusError as error:
            return str(error)
        return ""

    (told,) = filter(None, map(error_in, pieces))
    assert told.startswith(f"{tmp_path}/c.jsonl:{place}: a line of more than 1 MB")
    assert sum(len(b.texts) for p in pieces for b in read_piece(p, ReadOptions())) == 30_000


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_bomb_of_one_line_takes_no_memory(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c.jsonl{suffix}"
    path.write_bytes(PACK[suffix](b" " * 50_000_000))
    command = [sys.executable, "-m", "tests.support.programs.memory_of_reading", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    error, kilobytes = done.stdout.splitlines()
    assert error.startswith(f"{path}:1: a line of more than 1 MB")
    assert int(kilobytes) < 40_000


def test_commands_take_the_longest_length(here: Path) -> None:
    (here / "c.jsonl").write_bytes(b'{"text": "' + b"x" * 1_000_000 + b'"}\n')
    options = ("--index", "scan:c.jsonl", "--workers", "1", "-q")
    told = error_of("count", "p.yaml", *options, "--max-line", "1", code=1)
    assert "c.jsonl:1: a line of more than 1 MB" in told
    assert invoke("count", "p.yaml", *options).code == 0
    with pytest.raises(CorpusError, match=r"c\.jsonl:1: a line of more than 1 MB"):
        ngramscan.index_build("c.jsonl", output=here / "index", max_line=1)
    assert not (here / "index").exists()


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
    told = error_of("logs", path, "--max-line", "1")
    assert f"{path}:samples/s2_epoch_1.json: longer than 1 MB; see --max-line" in told
    # A list that lies about the size.
    lying = path.read_bytes().replace(len(long).to_bytes(4, "little"), (999).to_bytes(4, "little"))
    path.write_bytes(lying)
    first, second = read_logs([path], max_line=1).rows
    assert (first.value, second.value) == (1.0, None)
    assert second.reason.startswith("error: damaged in the log (Bad CRC-32")


def test_a_line_of_a_log_has_a_longest_length(tmp_path: Path, subtests: pytest.Subtests) -> None:
    long = {**row(2), "resps": [["x" * 1_000_000]]}
    whole = tmp_path / "log.json"
    whole.write_text(json.dumps({**header(), "samples": [sample("s1", text="x" * 1_000_000)]}))
    with pytest.raises(InputError, match=r"log\.json: longer than 1 MB"):
        evalcore.logs(whole, max_line=1)
    whole.unlink()
    for rows, place in (([row(1), long], 2), ([long, row(1)], 1)):
        with subtests.test(rows=rows):
            write_lm_eval(tmp_path, rows)
            with pytest.raises(InputError, match=rf"jsonl:{place}: longer than 1 MB"):
                evalcore.logs(tmp_path, max_line=1)
            assert len(evalcore.logs(tmp_path)) == 2


# Deep nesting


def recorded(line: str, method: str = "cot") -> Path:
    path = Path(f"outputs/financemath/m/{method}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(line)
    return path


SCORE = ("score", "outputs", "--dataset", "financemath", "--data", "validation.json")
KEYNESS = ("keyness", "outputs", "--of", "cot", "--against", "pot")


def test_json_that_is_nested_deeply_is_one_line_in_each_reader(here: Path) -> None:
    line = f'{{"id": "validation-0", "output": "1", "x": {DEEP}}}'
    path = recorded(line + "\n")
    commands = (SCORE, ("blend", "outputs", "p.yaml"), ("strategies", "outputs"), KEYNESS)
    assert not [one for one in commands if f"{path}:1: no" not in error_of(*one)]
    assert ":1: not valid JSON" in error_of("compare", path, "--baseline", "pot")
    assert error_of("logs", path)
    told = error_of("count", "p.yaml", "--index", f"scan:{path}", "-q", code=1)
    assert f"{path}:1: not valid JSON" in told
    (here / "validation.json").write_text(line)
    recorded('{"id": "validation-0", "output": "1"}\n')
    assert "validation.json: not valid JSON" in error_of(*SCORE)
    (here / "log.eval").write_bytes(zip_bytes([("header.json", line.encode())]))
    assert "log.eval:header.json: not valid JSON" in error_of("logs", "log.eval")


def test_yaml_that_is_nested_deeply_is_one_line_in_each_reader(here: Path) -> None:
    recorded('{"id": "validation-0", "output": "1"}\n')
    (here / "deep.yaml").write_text(DEEP_YAML)
    asked = ("--dataset", "financemath", "--data", "validation.json", "--model", "m")
    prompts = ("run", *asked, "--method", "cot", "--dry-run", "--prompts")
    commands = (
        ("count", "deep.yaml", "--index", "python"),
        ("strategies", "outputs", "--rules", "deep.yaml"),
        (*prompts, "deep.yaml"),
    )
    told = [error_of(*command) for command in commands]
    assert told == ["Error: deep.yaml: not valid YAML: it is nested too deeply"] * 3
    (here / "number.yaml").write_text(f"phases: {'9' * 5000}")
    assert error_of(*prompts, "number.yaml").startswith("Error: number.yaml: not valid YAML")


# Halves of characters


def test_halves_of_characters_in_records_lose_no_grading(here: Path) -> None:
    texts = [f"{HALF} the answer is 0.125", f"{WHOLE} \\\\ud83d the answer is 5", "0.25"]
    lines = [f'{{"id": "validation-{n}", "output": "{text}"}}\n' for n, text in enumerate(texts, 1)]
    path = recorded("".join(lines))
    with path.open("ab") as file:
        half = "\udc00".encode("utf-8", "surrogatepass")
        file.write(b'{"id": "validation-4", "output": "' + half + b' the answer is 0.5"}\n')
    done = invoke(*SCORE, "-o", "rows.parquet")
    assert done.code == 0, done
    told = f"{path}: halves of characters (lone surrogates) replaced by U+FFFD: 2"
    assert told in done.stderr
    scored = evalcore.score("outputs", dataset="financemath", data="validation.json")
    assert scored["value"].tolist() == [1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("option", ["--control", "--mask"])
@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('{"id": "1", "solution": "a %s", "question": "a %s"}', "has a lone surrogate"),
        ('{"id": "%s", "solution": "a", "question": "a"}', "id has a lone surrogate at"),
    ],
    ids=["text", "id"],
)
def test_halves_of_characters_in_tables_of_trace_are_one_line(
    here: Path, option: str, row: str, problem: str
) -> None:
    (here / "corpus.jsonl").write_text('{"text": "one two three"}\n')
    (here / "o.jsonl").write_text('{"id": "1", "model": "m", "output": "one two three"}\n')
    (here / "table.jsonl").write_text(row.replace("%s", HALF) + "\n")
    error = error_of("trace", "o.jsonl", "--index", "scan:corpus.jsonl", option, "table.jsonl")
    assert error.startswith("Error: table.jsonl:1: ")
    assert problem in error


@dataclass
class Named:
    name: str


def test_halves_of_characters_in_typed_rows_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"name": "a{HALF}"}}\n')
    with pytest.raises(InputError, match=r"rows\.jsonl:1: name has a lone surrogate"):
        read_rows(path, Named, "a name")


@pytest.mark.parametrize("word", ["x" * 10_000_000, "a\0b"], ids=["10 MB", "NUL"])
def test_a_mask_with_a_word_of_any_length_or_a_nul_masks(here: Path, word: str) -> None:
    output = "a b c d e f"
    (here / "corpus.jsonl").write_text(json.dumps({"text": output}) + "\n")
    (here / "o.jsonl").write_text(json.dumps({"id": "1", "model": "m", "output": output}) + "\n")
    (here / "t.jsonl").write_text(json.dumps({"id": "1", "question": f"{word} {output}"}))
    command = ("trace", "o.jsonl", "--index", "scan:corpus.jsonl", "--mask", "t.jsonl")
    done = invoke(*command, "--journal", "j.sqlite", "-o", "rows.jsonl")
    assert done.code == 0, done
    assert json.loads((here / "rows.jsonl").read_text())["masked"] == 6


def test_halves_of_characters_in_outputs_lose_no_run(here: Path, subtests: pytest.Subtests) -> None:
    for method in ("cot", "pot"):
        line = f'{{"id": 1, "output": "first {HALF} step {method} {WHOLE}"}}\n'
        recorded(line, method)
    for name, command in {
        "b.csv": ("blend", "outputs", "p.yaml"),
        "s.parquet": ("strategies", "outputs"),
        "k.csv": (*KEYNESS, "--min-count", "1"),
    }.items():
        with subtests.test(name=name):
            done = invoke(*command, "-o", name)
            assert done.code == 0, done
            assert done.stderr.count("replaced by U+FFFD: 1") == 2
            assert (here / name).stat().st_size > 0


# Numbers of tokens


@pytest.mark.parametrize("number", [-1, 10**30])
def test_numbers_of_tokens_that_can_not_be_are_refused(here: Path, number: int) -> None:
    line = {"id": "validation-0", "output": "1", "completion_tokens": number}
    path = recorded('{"id": "validation-1", "output": "1"}\n' + json.dumps(line) + "\n")
    told = error_of(*SCORE)
    assert f"{path}:2: " in told
    assert "completion_tokens" in told
    used = {"lab/made": {"input_tokens": 5, "output_tokens": number}}
    text = json.dumps(sample("s1", model_usage=used))
    members = [("header.json", json.dumps(header())), ("samples/s1_epoch_1.json", text)]
    (here / "log.eval").write_bytes(zip_bytes([(name, said.encode()) for name, said in members]))
    told = error_of("logs", "log.eval")
    assert "log.eval:samples/s1_epoch_1.json: " in told
    assert "output_tokens" in told


# Spreadsheets


def test_csv_can_be_made_safe_for_spreadsheets(here: Path) -> None:
    texts = ["=1+1", "+1", "-1 step", "@SUM(A1)", "\\tfirst", "\\rfirst", "plain", "a=1"]
    entries = (f'  - {{text: "{text}", method: CoT, tier: T1, kind: code}}\n' for text in texts)
    (here / "q.yaml").write_text(f"name: q\npatterns:\n{''.join(entries)}")
    (here / "c.jsonl").write_text('{"text": "plain"}\n')
    options = ("--index", "scan:c.jsonl", "--workers", "1", "--format", "csv")
    usual = invoke("count", "q.yaml", *options).stdout
    safe = invoke("count", "q.yaml", *options, "--csv-safe").stdout
    raw = [text.encode().decode("unicode_escape") for text in texts]
    assert not [text for text in raw if f"'{text}" in usual]
    assert [text for text in raw if f"'{text}" not in safe] == ["plain", "a=1"]
    commands = ("datasets list", "strategies outputs")
    helps = {one: invoke(*one.split(), "--help-all").stdout for one in commands}
    assert not [one for one, shown in helps.items() if "--csv-safe" not in shown]


# More than fits


MOST = ("--max-bytes", "1000000")
LONG = "more than 1,000,000 bytes, decompressed; --max-bytes N takes more"


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize(
    "command",
    [
        ("contaminate", "b.csv", "--index", "python"),
        ("report", "b.csv"),
        ("compare", "b.csv"),
        ("strategies", "b.jsonl"),
    ],
    ids=lambda command: command[0],
)
def test_a_table_or_text_of_more_than_max_bytes_is_refused(
    command: tuple[str, ...], suffix: str, here: Path
) -> None:
    name, file, *others = command
    path = here / f"{file}{suffix}"
    path.write_bytes(PACK[suffix](b'{"question": "' + b"a" * 1_000_000))
    assert error_of(name, path.name, *others, *MOST) == f"Error: {path.name}: {LONG}"
    assert LONG not in invoke(name, path.name, *others).stderr


def test_a_parquet_table_whose_rows_share_a_long_value_is_refused(here: Path) -> None:
    rows = pa.table({"question": pa.array(["a" * 10_000] * 500).dictionary_encode()})
    pq.write_table(rows, here / "b.parquet")
    assert (here / "b.parquet").stat().st_size < 100_000
    assert error_of("contaminate", "b.parquet", *MOST) == f"Error: b.parquet: {LONG}"


@pytest.mark.parametrize("suffix", PACK)
def test_a_text_or_record_of_a_corpus_of_more_than_max_bytes_is_refused(
    suffix: str, here: Path, subtests: pytest.Subtests
) -> None:
    text = "aa" + "b" * 999_999
    (here / f"c.txt{suffix}").write_bytes(PACK[suffix](text.encode()))
    (here / f"c.wet{suffix}").write_bytes(PACK[suffix](corpus_files.wet([text])))
    for name in (f"c.txt{suffix}", f"c.wet{suffix}"):
        with subtests.test(name=name):
            asked = ("count", "-e", "aa", "--index", f"scan:{name}", "--journal", "j.sqlite")
            assert LONG in error_of(*asked, *MOST, code=1)
            assert invoke(*asked, "--format", "csv").rows[0]["occurrences"] == "1"


def test_a_device_without_an_end_is_refused() -> None:
    assert error_of("contaminate", "/dev/zero", *MOST) == f"Error: /dev/zero: {LONG}"
    assert LONG in error_of("count", "/dev/zero", *MOST)
    assert LONG in error_of(
        "count", "-e", "a", "--index", "scan:/dev/zero", "--input-format", "text", *MOST, code=1
    )


def test_a_named_pipe_that_nobody_writes_to_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(here / "pipe")
    monkeypatch.setattr(streams, "_WRITER_WAIT_S", 0.1)
    cure = "no program wrote to this pipe in 0.1 seconds; start that one first"
    assert error_of("contaminate", "pipe") == f"Error: pipe: {cure}"
    assert error_of("count", "-e", "a", "--index", "scan:pipe") == f"Error: pipe: {cure}"


def test_a_named_pipe_whose_writer_takes_its_time_is_read(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(here / "pipe")
    monkeypatch.setattr(streams, "_WRITER_WAIT_S", 60)

    def write() -> None:
        time.sleep(0.3)
        with (here / "pipe").open("wb", buffering=0) as pipe:
            for part in (b"aaa", b" aa"):
                time.sleep(0.3)
                pipe.write(part)

    threading.Thread(target=write, daemon=True).start()
    asked = ("count", "-e", "aa", "--index", "scan:pipe", "--input-format", "text")
    assert invoke(*asked, "--format", "csv").rows[0]["occurrences"] == "3"


def test_memory_that_runs_out_is_one_line(here: Path) -> None:
    (here / "b.csv.zst").write_bytes(PACK[".zst"](b"a" * 100_000_000) * 15)
    limit = "import resource as r; r.setrlimit(r.RLIMIT_AS, (1_000_000_000, r.RLIM_INFINITY))"
    code = f"{limit}; from evalcore.cli import main; main(['compare', 'b.csv.zst'])"
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    line = "Error: out of memory; process less at once, or use a machine with more\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)


# Names and links


def test_a_corpus_whose_names_are_not_utf_8_is_indexed_and_goes_on(here: Path) -> None:
    (here / "c").mkdir()
    draw = random.Random(1)
    texts = [f"text {number} {draw.randbytes(200).hex()}" for number in range(40)]
    Path(os.fsdecode(os.fsencode(here / "c") + b"/a\xff.jsonl")).write_bytes(
        corpus_files.jsonl(texts)
    )
    built = invoke("index", "build", "c", "-o", "whole", "--shard-size", "6800")
    assert (built.code, len(list(Path("whole").glob("*/data.fm9")))) == (0, 3)
    arguments = ["index", "build", "c", "-o", "index", "--shard-size", "6800"]
    code = f"""import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (4_000, 4_000))
from ngramscan.cli import main; main({arguments})"""
    subprocess.run([sys.executable, "-Bc", code], check=False, capture_output=True, timeout=60)
    assert Path("index", "plan.json").exists()  # it stopped under way
    assert invoke(*arguments).code == 0
    whole, index = (
        {str(path.relative_to(top)): path.read_bytes() for path in Path(top).rglob("*.fm9")}
        for top in ("whole", "index")
    )
    assert whole == index
    counts = [
        invoke("count", "-e", "text", "--index", spec, "--format", "csv").rows[0]["occurrences"]
        for spec in ("fm9:index", "scan:c")
    ]
    assert counts == ["40", "40"]
    shown = invoke("contexts", "-e", "text 7", "--index", "fm9:index", "--format", "csv").rows[0]
    assert json.loads(shown["metadata"])["path"] == "a\udcff.jsonl"


@pytest.mark.parametrize(
    "command",
    [
        "index build c.jsonl -o loop",
        "index build c.jsonl -o loop/x",
        "index build c.jsonl -o tokens:loop",
        "count -e a --index scan:c.jsonl -o loop.csv",
        "count -e a --index scan:c.jsonl -o loop/x.csv",
        "count -e a --index scan:c.jsonl --totals loop.csv",
        "count -e a --index scan:c.jsonl --journal loop",
        "count -e a --index scan:loop",
        "count -e a --index fm9:loop",
        "report loop -o loop.html",
        "contaminate loop",
        "compare loop",
        "serve loop",
    ],
)
def test_a_link_that_leads_to_itself_costs_one_line(command: str, here: Path) -> None:
    for name in ("loop", "loop.csv", "loop.html"):
        (here / name).symlink_to(name)
    (here / "c.jsonl").write_bytes(corpus_files.jsonl(["a"]))
    line = error_of(*command.split())
    assert "loop" in line
    assert "did you mean loop?" not in line


def test_links_that_lead_back_are_not_followed_in_a_corpus(here: Path) -> None:
    (here / "c").mkdir()
    (here / "c" / "a.jsonl").write_bytes(corpus_files.jsonl(["a"]))
    (here / "c" / "up").symlink_to("../c")
    (here / "c" / "loop.jsonl").symlink_to("loop.jsonl")
    counted = invoke("count", "-e", "a", "--index", "scan:c", "--format", "csv")
    assert counted.rows[0]["occurrences"] == "1"


# Many columns, and columns of bad names


@pytest.mark.parametrize(
    "command",
    [
        ("contaminate", "b.csv", "--field", "zzz"),
        ("contaminate", "twice.csv"),
        ("compare", "b.csv"),
        ("agreement", "b.csv"),
        ("strategies", "o.jsonl"),
        ("report", "b.csv"),
    ],
    ids=" ".join,
)
def test_a_table_of_many_columns_costs_one_short_line(here: Path, command: tuple[str, ...]) -> None:
    names = [f"column {number}" for number in range(50_000)]
    (here / "b.csv").write_text(",".join(names) + "\n" + "," * (len(names) - 1))
    (here / "twice.csv").write_text(",".join([*names, "column 0"]) + "\n")
    (here / "o.jsonl").write_text(json.dumps(dict.fromkeys(names, "x")))
    line = error_of(*command)
    assert len(line) < 1_000, line[:300]
    if command == ("contaminate", "twice.csv"):
        assert "column 39 and 49,961 more" in line


def test_a_record_of_many_fields_costs_one_short_line(here: Path) -> None:
    names = [f"column {number}" for number in range(50_000)]
    (here / "o.jsonl").write_text(json.dumps(dict.fromkeys(names, "x")))
    line = error_of("count", "-e", "a", "--index", "scan:o.jsonl", code=1)
    assert len(line) < 1_000, line[:300]


def test_names_of_columns_are_escaped_on_the_page_as_values_are(here: Path) -> None:
    steering, kept = "\u202eevil\u2066", "\\u202eevil\\u2066"
    scan = "--index", "scan:p.yaml", "--input-format", "text"
    assert invoke("count", "-e", "first", "-e", "b", *scan, "-o", "counts.jsonl").code == 0
    rows = [json.loads(line) for line in Path("counts.jsonl").read_text().splitlines()]
    values: dict[str, list[str | None]] = {
        "same": ["s", "s"],
        "empty": [None, None],
        "other": ["s", "t"],
    }
    for name, given in values.items():
        for counted, value in zip(rows, given, strict=True):
            counted[f"{steering} {name}"] = value
    Path("counts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    assert invoke("report", "counts.jsonl", "-o", "page.html").code == 0
    text = re.sub(r"<[^>]*>", "", Path("page.html").read_text())
    assert "\u202e" not in text
    assert "\u2066" not in text
    assert [name for name in values if f"{kept} {name}" not in text] == []
