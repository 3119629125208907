"""Names of other tools lead to options and commands that exist, through the real command line."""

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

import evalcore.synonyms
import ngramscan.synonyms
from ngramscan.reporting.synonyms import (
    ALWAYS,
    COLUMN_ALIASES,
    Synonyms,
    column_meant,
    cure_of_option,
)
from ngramscan.reporting.terminal import Commands
from tests.support.command import MAINS, invoke
from tests.support.places import ROOT

TABLES = {
    "ngramscan": ngramscan.synonyms.SYNONYMS,
    "ngramscan index": ngramscan.synonyms.INDEX_SYNONYMS,
    "ngramscan journal": ngramscan.synonyms.JOURNAL_SYNONYMS,
    "ngramscan patterns": ngramscan.synonyms.PATTERNS_SYNONYMS,
    "evalcore": evalcore.synonyms.SYNONYMS,
    "evalcore datasets": evalcore.synonyms.DATASETS_SYNONYMS,
}
PACKAGES = ("ngramscan", "evalcore")
GENERAL = {"--help", "--help-all", "--version"}


@cache
def flags_of_commands(package: str) -> dict[str, frozenset[str]]:
    """Return the flags of all commands, by what is typed to run them."""
    return dict(_walk(MAINS[package], package))


def _walk(group: Commands, typed: str) -> Iterator[tuple[str, frozenset[str]]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, Commands):
            yield from _walk(command, f"{typed} {name}")
        else:
            flags = (flag for option in command.params for flag in option.opts)
            yield f"{typed} {name}", frozenset(flags) | GENERAL


def group_of(typed: str) -> Commands:
    """Return the group of commands that a table belongs to."""
    package, *names = typed.split()
    group = MAINS[package]
    for name in names:
        inner = group.get_command(click.Context(group), name)
        assert isinstance(inner, Commands)
        group = inner
    return group


@pytest.mark.parametrize("typed", TABLES)
def test_each_group_has_its_table(typed: str) -> None:
    assert group_of(typed).synonyms is TABLES[typed]


@pytest.mark.parametrize("typed", TABLES)
def test_aliases_of_commands_stand_for_commands_and_hide_none(typed: str) -> None:
    names, synonyms = set(group_of(typed).commands), TABLES[typed]
    assert set(synonyms.command_aliases.values()) <= names
    assert not names & {*synonyms.command_aliases, *synonyms.command_cures}
    assert not {*synonyms.command_aliases} & {*synonyms.command_cures}
    assert synonyms.default_command in {"", *names}


@pytest.mark.parametrize("package", PACKAGES)
def test_phrases_stand_for_commands(package: str) -> None:
    synonyms = TABLES[package]
    for meant in synonyms.phrase_aliases.values():
        assert " ".join((package, *meant)) in flags_of_commands(package)
    assert not {*synonyms.phrase_aliases} & {*synonyms.phrase_cures}


@pytest.mark.parametrize("package", PACKAGES)
def test_flags_for_arguments_stand_for_arguments(package: str) -> None:
    names = {
        parameter.name
        for command in commands_of(MAINS[package])
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    }
    for meant in TABLES[package].argument_aliases.values():
        assert {*meant} <= names


def commands_of(group: Commands) -> Iterator[click.Command]:
    """Yield the commands of a group and of the groups in it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, Commands):
            yield from commands_of(command)
        else:
            yield command


@pytest.mark.parametrize("package", PACKAGES)
def test_aliases_of_options_stand_for_options(package: str) -> None:
    flags = frozenset[str]().union(*flags_of_commands(package).values())
    missing = {
        flag
        for meant in TABLES[package].option_aliases.values()
        for flag in meant
        if flag not in flags
    }
    assert missing == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_guess_leads_to_an_option_of_some_command(package: str) -> None:
    commands, synonyms = flags_of_commands(package), TABLES[package]
    for guess, cures in synonyms.option_cures.items():
        reached = [
            typed
            for typed, flags in commands.items()
            if cure_of_option({guess: cures}, guess, flags, "")
        ]
        assert reached, guess


def cures_in(typed: str) -> Iterator[tuple[str, str]]:
    """Yield the flag that a command must have, and the cure of each guess of a table."""
    synonyms: Synonyms = TABLES[typed]
    for cures in synonyms.option_cures.values():
        yield from cures.items()
    for cure in (*synonyms.command_cures.values(), *synonyms.phrase_cures.values()):
        yield ALWAYS, cure


@pytest.mark.parametrize("typed", TABLES)
def test_commands_in_cures_exist_and_take_their_options(typed: str) -> None:
    for _, cure in cures_in(typed):
        for quoted in re.findall(r"`([^`]+)`", cure):
            words = shlex.split(quoted)
            package = words[0] if words[0] in PACKAGES else typed.split(maxsplit=1)[0]
            line = " ".join(words if words[0] in PACKAGES else [package, *words])
            commands = flags_of_commands(package)
            fitting = [name for name in commands if f"{line} ".startswith(f"{name} ")]
            options = {word for word in words if word.startswith("-")}
            assert fitting or options <= GENERAL, f"{quoted}: no such command"
            for name in fitting:
                assert options <= commands[name], f"{quoted}: no such option"


@pytest.mark.parametrize("typed", TABLES)
def test_options_in_cures_are_those_of_the_command(typed: str) -> None:
    package = typed.split(maxsplit=1)[0]
    for flag, cure in cures_in(typed):
        outside = re.sub(r"`[^`]+`", "", cure)
        named = {*re.findall(r"(?<![\w-])--?[a-z][a-z-]*", outside)}
        fitting = [flags for flags in flags_of_commands(package).values() if flag in flags]
        if flag != ALWAYS and fitting:
            assert any(named <= flags for flags in fitting), cure


@pytest.mark.parametrize("typed", TABLES)
def test_pages_in_cures_exist(typed: str) -> None:
    pages = {page for _, cure in cures_in(typed) for page in re.findall(r"docs/[\w-]+\.md", cure)}
    assert [page for page in sorted(pages) if not (ROOT / page).is_file()] == []


@pytest.mark.parametrize(
    ("package", "command", "arguments"),
    [
        ("ngramscan", "count", ["--index", "scan:nowhere.jsonl"]),
        ("ngramscan", "report", ["nowhere.csv"]),
        ("evalcore", "compare", ["nowhere.csv"]),
        ("evalcore", "run", []),
    ],
)
def test_no_synonym_ends_as_an_unknown_option(
    package: str, command: str, arguments: list[str]
) -> None:
    synonyms, flags = TABLES[package], flags_of_commands(package)[f"{package} {command}"]
    guesses = {*synonyms.option_aliases, *synonyms.option_cures} - flags
    ended = {guess: invoke(command, guess, "1", *arguments, package=package) for guess in guesses}
    assert {guess for guess, done in ended.items() if done.code != 2} == set()
    unknown = {guess for guess, done in ended.items() if "No such option" in done.stderr}
    assert unknown == set()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ngramscan count x --csv", "--csv: no such option; use --format csv, or -o FILE.csv"),
        ("ngramscan contexts x -C 3", "-C: no such option; use --width 100: characters, not lines"),
        ("ngramscan contexts x --context 40", "use --width 40: characters, not lines"),
        ("ngramscan count x --corpus=a.jsonl", "use --index scan:a.jsonl"),
        ("ngramscan trace x --alpha 0.1", "use --level 0.9, which is 1 minus alpha"),
        ("ngramscan keyness x --alpha 0.1", "use --q 0.1, the share of false findings"),
        ("ngramscan report x --threads 3", "--workers is an option of count, docnorm, contexts"),
        ("ngramscan blend x --draws 3", "--draws is an option of count, docnorm, sources"),
        (
            "ngramscan blend x --by method",
            "rows of -o FILE are per dataset, model and method",
        ),
        (
            "ngramscan count x --by url",
            "`ngramscan sources TEXT --by FIELD` has them by a field of the documents",
        ),
        ("ngramscan index nothing", "nothing: no such command; expected one of list, info, build"),
        ("ngramscan count x -P", "use --regex, which has RE2's syntax"),
        ("ngramscan index verify x --api-url y", "`ngramscan index info NAME --api-url URL`"),
        ("ngramscan trend x", "trend: no such command; compare corpora: `ngramscan count TEXT "),
        ("ngramscan zzzzz", "zzzzz: no such command; expected one of count, docnorm, contexts"),
        ("ngramscan compare x", "compare: no such command; `evalcore compare`"),
        ("ngramscan --index x count y", "options follow the command: ngramscan COMMAND --index"),
        ("evalcore compare x --alpha 0.01", "use --level 0.99, which is 1 minus alpha"),
        ("evalcore compare x --alpha", "use --level 0.95, which is 1 minus alpha"),
        ("evalcore plan x --alpha 0.01", "p-values are judged at 0.05; --power X sets the power"),
        ("evalcore compare x --test t", "--graded-test NAME is for graded answers"),
        ("evalcore run --batch-size 8", "use --concurrency 8; the server makes batches"),
        ("evalcore run --top-p 0.9", "use --param top_p=0.9"),
        ("evalcore mcnemar x", "`evalcore compare SCORES` has McNemar's test"),
        ("evalcore count x", "count: no such command; `ngramscan count`"),
        ("evalcore logs list runs", "logs list: no such command; `evalcore logs FOLDER` has the"),
        (
            "evalcore log dump runs",
            "log dump: no such command; `evalcore logs FILE --format jsonl`",
        ),
        ("ngramscan count x -io -e y", "-o -e: -e is an option; -o FILE writes the rows"),
        ("ngramscan count x -o c.xlsx", "-o c.xlsx: .xlsx is not written; spreadsheets open CSV: "),
        ("ngramscan count x --desc", "--desc: requires --sort COLUMN"),
        ("ngramscan count x --sort -freq --desc", "--desc: not allowed with --sort -freq, which"),
        ("ngramscan count x --sort freq:asc --desc", "--desc: not allowed with --sort freq:asc"),
        ("ngramscan count x --sort freq --desc --asc", "--desc: not allowed with --asc"),
        ("evalcore compare x --baseline a --control b", "--control: not allowed with --baseline"),
        ("evalcore compare x --control a --ref b", "--ref: not allowed with --control, which is"),
        ("evalcore compare x -o a.csv --out b.csv", "--out: not allowed with --output, which is"),
        ("ngramscan contexts x -n 3 --limit 4", "--limit: not allowed with -n, which is the same"),
    ],
)
def test_a_guess_is_answered_in_one_line_with_what_to_type(line: str, expected: str) -> None:
    package, *arguments = line.split()
    ended = invoke(*arguments, package=package)
    assert ended.code == 2
    assert expected in ended.stderr
    if "options follow" not in expected:
        assert ended.stderr.startswith("Error: ")
        assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("index ls", "index list"),
        ("index list --output-format csv", "index list --format csv"),
        ("patterns check f1", "patterns show f1"),
        ("patterns f1", "patterns show f1"),
        ("index list --order-by name --format csv", "index list --sort name --format csv"),
    ],
)
def test_an_alias_does_the_same_as_the_name(typed: str, meant: str) -> None:
    ended = invoke(*typed.split(), package="ngramscan")
    assert ended == invoke(*meant.split(), package="ngramscan")
    assert ended.code == 0
    assert ended.stdout


@pytest.mark.parametrize("command", ["count", "contexts", "keyness", "report"])
def test_help_lists_no_alias(command: str) -> None:
    shown = invoke(command, "--help-all").stdout
    aliases = [alias for alias in TABLES["ngramscan"].option_aliases if f" {alias} " in shown]
    flags = flags_of_commands("ngramscan")[f"ngramscan {command}"]
    assert [alias for alias in aliases if alias not in flags] == []


def test_near_names_are_those_that_help_lists() -> None:
    ended = invoke("count", "x", "--whole-wrds")
    assert ended.code == 2
    assert ended.stderr.endswith("No such option '--whole-wrds'. Did you mean '--whole-words'?\n")


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        (
            "ngramscan contaminate e.jsonl my corpus",
            "arguments (my corpus); to look in it: --index",
        ),
        ("ngramscan contaminate e.jsonl c.jsonl", "(c.jsonl); to look in it: --index scan:c.jsonl"),
        ("evalcore run q.csv --model m", "(q.csv); if it has the questions: --data q.csv"),
        ("ngramscan index verify idx more", "Got unexpected extra argument (more)"),
    ],
)
def test_an_extra_argument_is_answered_with_the_option_for_it(line: str, cure: str) -> None:
    package, *arguments = line.split()
    ended = invoke(*arguments, package=package)
    assert (ended.code, ended.stdout) == (2, "")
    assert cure in ended.stderr


TEXTS = {
    "first.jsonl": ["step by step, so by step", "Step up"],
    "second.jsonl": ["step by step", "by step step by step"],
}


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the current folder one with two corpora and an empty journal."""
    monkeypatch.chdir(tmp_path)
    for name, texts in TEXTS.items():
        lines = [json.dumps({"text": text}) + "\n" for text in texts]
        Path(name).write_text("".join(lines))


def counts_of(*arguments: str) -> dict[tuple[str, str], int]:
    """Return the occurrences that `count` writes, by index and pattern."""
    ended = invoke("count", *arguments, "--format", "csv", package="ngramscan")
    assert ended.code == 0, ended.stderr
    return {(row["index"], row["pattern"]): int(row["occurrences"]) for row in ended.rows}


def expected_counts(text: str, *names: str) -> dict[tuple[str, str], int]:
    """Return how often a text occurs in the corpora, overlapping ones included."""
    expression = re.compile(f"(?={re.escape(text)})")
    return {
        (f"scan:{name}", text): sum(len(expression.findall(line)) for line in TEXTS[name])
        for name in names
    }


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        pytest.param(["by step", "second.jsonl"], ["second.jsonl"], id="in the place of --index"),
        pytest.param(["-e", "by step", "first.jsonl"], ["first.jsonl"], id="after -e"),
        pytest.param(["by step", *TEXTS], [*TEXTS], id="several files"),
        pytest.param(["by step", "--index", *TEXTS], [*TEXTS], id="a glob that a shell expands"),
    ],
)
def test_files_of_texts_among_the_phrases_are_read(arguments: list[str], names: list[str]) -> None:
    assert counts_of(*arguments) == expected_counts("by step", *names)


@pytest.mark.usefixtures("corpora")
def test_a_file_of_texts_alone_is_not_a_phrase() -> None:
    ended = invoke("count", "first.jsonl", package="ngramscan")
    assert ended.code == 2
    assert "to count in its texts: --index scan:first.jsonl" in ended.stderr


@pytest.mark.usefixtures("corpora")
def test_a_list_of_phrases_is_not_read_as_a_corpus() -> None:
    Path("phrases.txt").write_text("step\n")
    ended = invoke("count", "by step", "phrases.txt", package="ngramscan")
    assert ended.code == 2
    assert "to count each of its lines: -f phrases.txt" in ended.stderr


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize("flag", ["-F", "--fixed-strings", "-s", "--case-sensitive", "-c", "-r"])
def test_what_is_done_anyway_may_be_asked_for(flag: str) -> None:
    assert counts_of(flag, "step up", "first.jsonl") == {("scan:first.jsonl", "step up"): 0}


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["-F", "--regex"], "Error: -F: not allowed with --regex\n"),
        (["-Fs", "-i"], "Error: -s: not allowed with --ignore-case\n"),
        (["--case-sensitive", "-i"], "Error: --case-sensitive: not allowed with --ignore-case\n"),
        (["--progress", "-q"], "Error: --progress: not allowed with --quiet\n"),
    ],
)
def test_a_flag_that_changes_nothing_contradicts_its_opposite(
    flags: list[str], message: str
) -> None:
    ended = invoke("count", *flags, "by step", "first.jsonl", package="ngramscan")
    assert (ended.code, ended.stdout, ended.stderr) == (2, "", message)


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize("flag", ["--ignore_case", "--case_insensitive"])
def test_underscores_in_options_are_hyphens(flag: str) -> None:
    assert counts_of(flag, "step up", "first.jsonl") == {("scan:first.jsonl", "step up"): 1}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("per_gb", "per_gigabyte"),
        ("-per_gb", "-per_gigabyte"),
        ("per GB", "per_gigabyte"),
        ("Per-Gigabyte", "per_gigabyte"),
        ("freq", "occurrences"),
        ("-hits", "-occurrences"),
        ("freq desc", "-occurrences"),
        ("occurrences:ASC", "occurrences"),
        ("occurrences descending", "-occurrences"),
        ("-occurrences desc", "-occurrences desc"),
        ("text", "text"),
        ("docs", "docs"),
        ("p_value", "p_value"),
    ],
)
def test_near_forms_of_a_column_lead_to_it(typed: str, meant: str) -> None:
    assert column_meant(typed, ["text", "pattern", "occurrences", "per_gigabyte"]) == meant


def test_names_of_columns_stand_for_columns_of_rows() -> None:
    columns = {"occurrences", "documents", "per_gigabyte", "p", "difference", "accuracy"}
    columns |= {"pattern", "index", "asked_at", "bytes", "per_million_documents"}
    columns |= {"documents_per_million", "per_million_tokens"}
    assert {column for meant in COLUMN_ALIASES.values() for column in meant} == columns
    assert [name for name in COLUMN_ALIASES if re.sub(r"[\s_-]+", "_", name.lower()) != name] == []


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize("sort", ["-freq", "count desc", "-per_gb", "rate_per_gb:desc"])
def test_rows_are_sorted_by_the_column_that_was_meant(sort: str) -> None:
    texts = ("Step", "step", "by step")
    arguments = [f"-e{text}" for text in texts]
    ended = invoke(
        "count", *arguments, "second.jsonl", "--sort", sort, "--format", "csv", package="ngramscan"
    )
    expected = {
        text: expected_counts(text, "second.jsonl")["scan:second.jsonl", text] for text in texts
    }
    ordered = sorted(texts, key=expected.__getitem__, reverse=True)
    assert [row["pattern"] for row in ended.rows] == ordered == ["step", "by step", "Step"]


@pytest.mark.usefixtures("corpora")
def test_a_sorted_table_for_a_paper_has_the_columns_of_one() -> None:
    arguments = ["count", "-eStep", "-estep", "second.jsonl"]
    plain = invoke(*arguments, "-o", "plain.tex", package="ngramscan")
    by_count = invoke(*arguments, "--sort", "-count", "-o", "sorted.tex", package="ngramscan")
    assert (plain.code, by_count.code) == (0, 0)
    plain_lines = Path("plain.tex").read_text().splitlines()
    sorted_lines = Path("sorted.tex").read_text().splitlines()
    assert sorted_lines != plain_lines
    assert sorted(sorted_lines) == sorted(plain_lines)
    assert [line.split(" & ")[0] for line in sorted_lines if " & " in line][1:] == ["step", "Step"]


@pytest.mark.usefixtures("corpora")
def test_operators_between_texts_are_words_like_others() -> None:
    ended = invoke("count", "step AND by", "first.jsonl", package="ngramscan")
    assert ended.stderr.endswith(
        "AND and OR are words like others; count each text, as in -e step\n"
    )
    Path("words.jsonl").write_text('{"text": "step AND by"}\n')
    assert "AND" not in invoke("count", "step AND by", "words.jsonl", package="ngramscan").stderr


@pytest.mark.usefixtures("corpora")
def test_questions_without_their_option_are_the_data_of_a_run() -> None:
    Path("questions.jsonl").write_text('{"id": 1, "question": "What is 6 x 7?", "answer": "42"}\n')
    options = ["--model", "m", "--method", "cot", "--dry-run"]
    plain = invoke("run", "--data", "questions.jsonl", *options, package="evalcore")
    assert "What is 6 x 7?" in plain.stdout
    assert invoke("run", "questions.jsonl", *options, package="evalcore") == plain
    both = invoke("run", "--data", "a.jsonl", "questions.jsonl", *options, package="evalcore")
    assert both.code == 2


@pytest.mark.parametrize(
    ("spec", "cure"),
    [
        ("v4_pileval_llama", "an index over tokens: --index infini-gram:v4_pileval_llama"),
        ("all", "no index of this name; the eight of the paper are --index paper"),
    ],
)
def test_an_index_under_another_name_leads_to_its_spec(spec: str, cure: str) -> None:
    ended = invoke("count", "by step", "--index", spec, "--dry-run", package="ngramscan")
    assert (ended.code, ended.stderr) == (2, f"Error: --index {spec}: {cure}\n")


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        pytest.param("--sort freq --desc", "--sort -occurrences", id="descending"),
        pytest.param("--sort count --reverse", "--sort -occurrences", id="turned around"),
        pytest.param("--order-by count --ascending", "--sort occurrences", id="ascending"),
        pytest.param("--format ndjson", "--format jsonl", id="another name of a format"),
        pytest.param("--format md", "--format markdown", id="a short name of a format"),
        pytest.param("--id-field id", "", id="a field that counts do not need"),
        pytest.param("--regex -U", "--regex", id="expressions may match several lines"),
    ],
)
def test_options_of_other_tools_do_what_is_meant(typed: str, meant: str) -> None:
    arguments = ["count", "-eby step", "-estep", "-eStep", "second.jsonl"]
    ended = invoke(*arguments, *typed.split(), package="ngramscan")
    expected = invoke(*arguments, *meant.split(), package="ngramscan")
    assert (ended.code, expected.code) == (0, 0)
    assert without_times(ended.stdout) == without_times(expected.stdout)


def without_times(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.+Z]+", "TIME", text)


@pytest.mark.usefixtures("corpora")
def test_expressions_match_across_lines_as_the_flag_for_it_asks() -> None:
    Path("lines.jsonl").write_text(json.dumps({"text": "step\nby step"}) + "\n")
    counts = counts_of("-e", r"step\s+by", "--regex", "-U", "lines.jsonl")
    assert [*counts.values()] == [len(re.findall(r"step\s+by", "step\nby step"))] == [1]


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize("flag", ["--data_dir", "--data-dir", "--corpus", "--input"])
def test_a_flag_may_stand_before_the_argument(flag: str) -> None:
    ended = invoke("index", "build", "-o", "built", flag, "first.jsonl", package="ngramscan")
    assert ended.code == 0, ended.stderr
    counted = counts_of("by step", "--index", "fm9:built")
    assert [*counted.values()] == [*expected_counts("by step", "first.jsonl").values()]
    both = invoke(
        "index", "build", "second.jsonl", "-o", "b", flag, "first.jsonl", package="ngramscan"
    )
    assert both.code == 2


@pytest.mark.usefixtures("corpora")
def test_the_same_option_twice_is_still_the_last_one() -> None:
    ended = invoke("count", "by step", "first.jsonl", "--format", "csv", "--format", "json")
    assert json.loads(ended.stdout)


def test_several_words_of_another_tool_name_a_command() -> None:
    ended = invoke("ls", "tasks", "--format", "csv", package="evalcore")
    assert ended == invoke("datasets", "list", "--format", "csv", package="evalcore")
    assert ended.code == 0


def test_a_folder_of_logs_may_have_the_name_of_a_command_of_another_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list").mkdir()
    ended = invoke("logs", "list", package="evalcore")
    assert "no such command" not in ended.stderr


def test_the_name_of_a_benchmark_is_the_one_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--model", "m", "--method", "cot", "--dry-run"]
    ended = invoke("run", "financemath", *options, package="evalcore")
    assert ended == invoke("run", "--dataset", "financemath", *options, package="evalcore")
    other = invoke("run", "gsm8k", *options, package="evalcore")
    assert (other.code, other.stdout) == (2, "")
    assert "if it has the questions: --data gsm8k; benchmarks by name: aicrypto, " in other.stderr


@pytest.mark.usefixtures("corpora")
def test_a_file_after_the_outputs_has_the_questions() -> None:
    Path("q.jsonl").write_text('{"id": 1, "question": "What is 6 x 7?", "answer": "42"}\n')
    outputs = Path("outputs", "q", "m", "cot.jsonl")
    outputs.parent.mkdir(parents=True)
    record = {"dataset": "q", "model": "m", "method": "cot", "id": "1", "output": "It is 42."}
    outputs.write_text(json.dumps(record) + "\n")
    options = ["--rule", "numbers", "--format", "csv"]
    plain = invoke("score", "outputs/q", "--data", "q.jsonl", *options, package="evalcore")
    ended = invoke("score", "outputs/q", "q.jsonl", *options, package="evalcore")
    assert (plain.code, ended.code) == (0, 0), plain.stderr + ended.stderr
    assert ended.stdout == plain.stdout
    assert "the questions are those of --data q.jsonl\n" in ended.stderr
    by_alias = ["score", "outputs/q", "q.jsonl", "--rule", "exact_match", "--format", "csv"]
    assert {row["rule"] for row in invoke(*by_alias, package="evalcore").rows} == {"exact"}
