"""Commands count and show by each rule what its definition says, in every format of corpora."""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.errors import IncompleteError, InputError
from ngramscan.index_files.fm9 import in_place_shards
from ngramscan.matching import MatchRule
from tests.support import corpus_files, match_oracle
from tests.support.command import invoke
from tests.support.fm9_shards import write_shard
from tests.support.range_server import Faults, RangeServer

TEXTS = [
    "let us go, let us see",
    "Let user in; outlet us",
    "let\r\n us\u00a0wait,let  us",
    "e\u0301let us\u0301 let_us",
    "",
    "let us",
    "colour, COLOR and colors",
    "a aa aaa\n\taa",
]
QUERIES = ["let us", "us", "let ", "aa", " aa", "colo", "Let", "\u00e9", "us w"]
REGEXES = ["colou?rs?", r"[Ll]et\s+us", "a+", "us|user"]
RULES = [
    MatchRule(),
    MatchRule(whole_words=True),
    MatchRule(any_space=True),
    MatchRule(ignore_case=True),
    MatchRule(whole_words=True, any_space=True, ignore_case=True),
    MatchRule(is_regex=True),
    MatchRule(is_regex=True, whole_words=True, ignore_case=True),
]
NOTES = {
    RULES[0]: "",
    RULES[1]: "whole words",
    RULES[2]: "any white space",
    RULES[3]: "ASCII case ignored",
    RULES[4]: "whole words; any white space; ASCII case ignored",
    RULES[5]: "regular expression",
    RULES[6]: "regular expression; whole words; case ignored",
}


def id_of(rule: MatchRule) -> str:
    return NOTES[rule] or "exact"


def options_of(rule: MatchRule) -> dict[str, Any]:
    return {
        "regex": rule.is_regex,
        "whole_words": rule.whole_words,
        "any_space": rule.any_space,
        "ignore_case": rule.ignore_case,
    }


def queries_of(rule: MatchRule) -> list[str]:
    return REGEXES if rule.is_regex else QUERIES


@pytest.mark.parametrize("rule", RULES, ids=id_of)
@pytest.mark.parametrize("name", corpus_files.WRITERS)
def test_counts_are_those_of_the_definition(tmp_path: Path, name: str, rule: MatchRule) -> None:
    path, queries = corpus_files.write(tmp_path, name, TEXTS), queries_of(rule)
    rows = ngramscan.count(literal=queries, index=f"scan:{path}", workers=1, **options_of(rule))
    counted = [*zip(rows["occurrences"], rows["documents"], strict=True)]
    assert counted == match_oracle.tally(queries, TEXTS, rule)
    assert set(rows.get("note", [""])) == {NOTES[rule]}
    documents = ngramscan.docnorm(
        literal=queries, index=f"scan:{path}", workers=1, **options_of(rule)
    )
    assert documents["documents"].tolist() == [number for _, number in counted]


@pytest.mark.parametrize("rule", RULES, ids=id_of)
def test_contexts_show_each_match_at_its_place(tmp_path: Path, rule: MatchRule) -> None:
    path, queries = corpus_files.write(tmp_path, "c.jsonl", TEXTS), queries_of(rule)
    rows = ngramscan.contexts(
        literal=queries, index=f"scan:{path}", n=1000, width=50, **options_of(rule)
    )
    shown = sorted(
        (row.pattern, row.document, row.offset, row.left, row.match, row.right)
        for row in rows.itertuples()
    )
    expected = sorted(
        (
            query,
            f"{path}:{number}",
            len(text[:start].encode()),
            text[:start],
            text[start:stop],
            text[stop:],
        )
        for query in queries
        for number, text in enumerate(TEXTS, 1)
        for start, stop in match_oracle.matches(query, text, rule)
    )
    assert [row[0] for row in shown] == [row[0] for row in expected]
    assert shown == expected


SET = """
name: nested
patterns:
  - {method: A, tier: T1, kind: narrative, text: let us}
  - {method: A, tier: T1, kind: narrative, text: et}
  - {method: B, tier: T1, kind: narrative, text: let}
  - {method: B, tier: T1, kind: narrative, text: us}
"""
OF_UNIONS = {"union_of_occurrences", "ratio_of_unions"}
OF_METHODS = {"A": ["let us", "et"], "B": ["let", "us"]}


@pytest.mark.parametrize("rule", RULES, ids=id_of)
def test_totals_of_methods_are_right_or_unknown(tmp_path: Path, rule: MatchRule) -> None:
    path, totals = corpus_files.write(tmp_path, "c.jsonl", TEXTS), tmp_path / "totals.jsonl"
    patterns = tmp_path / "nested.yaml"
    patterns.write_text(SET)
    ngramscan.docnorm(patterns, index=f"scan:{path}", workers=1, totals=totals, **options_of(rule))
    rows = [json.loads(line) for line in totals.read_text().splitlines()]
    values = {(row["method"], row["statistic"]): row for row in rows if row["versus"] is None}
    for method, texts in OF_METHODS.items():
        expected = sum(
            any(match_oracle.matches(query, text, rule) for query in texts) for text in TEXTS
        )
        assert values[method, "documents"]["value"] == expected
    ngramscan.count(patterns, index=f"scan:{path}", workers=1, totals=totals, **options_of(rule))
    rows = [json.loads(line) for line in totals.read_text().splitlines()]
    unions = [row for row in rows if row["statistic"] in OF_UNIONS]
    is_known = rule in {RULES[0], RULES[3]}
    assert {row["value"] is not None for row in unions} == {is_known}
    if not is_known:
        assert {row["note"] for row in unions} == {
            "unknown: which places two patterns share can't be told from counts by this rule"
        }
        assert not any(row["statistic"] == "nested_patterns" for row in rows)


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(("let us", "Let us"), id="alike"),
        pytest.param(("Let us go", "US"), id="one within the other"),
    ],
)
def test_patterns_that_differ_in_case_count_once_where_it_is_ignored(
    tmp_path: Path, texts: tuple[str, str]
) -> None:
    path, patterns = corpus_files.write(tmp_path, "c.jsonl", TEXTS), tmp_path / "cases.json"
    entries = [{"method": "A", "tier": "T1", "kind": "narrative", "text": text} for text in texts]
    patterns.write_text(json.dumps({"name": "cases", "patterns": entries}))
    totals, rule = tmp_path / "totals.jsonl", MatchRule(ignore_case=True)
    ((shortest, _),) = match_oracle.tally([min(texts, key=len)], TEXTS, rule)
    for command in (ngramscan.count, ngramscan.docnorm):
        command(patterns, index=f"scan:{path}", workers=1, totals=totals, ignore_case=True)
        rows = [json.loads(line) for line in totals.read_text().splitlines()]
        unions = [row["value"] for row in rows if row["statistic"] == "union_of_occurrences"]
        assert unions == [shortest]


def test_a_table_says_why_occurrences_of_a_method_are_unknown(tmp_path: Path) -> None:
    path, patterns = corpus_files.write(tmp_path, "c.jsonl", TEXTS), tmp_path / "nested.yaml"
    patterns.write_text(SET)
    done = invoke("count", patterns, "--index", f"scan:{path}", "-w")
    assert done.code == 0
    assert "–: unknown, as patterns may share places; --all has sums" in done.stdout
    assert "whole words" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(
            ("-e", "colou(r", "--regex"),
            "Error: --literal: colou(r: not a regular expression of RE2: missing ): colou(r; to"
            " count the text itself, leave out --regex",
            id="a parenthesis",
        ),
        pytest.param(
            ("-e", r"\b", "--regex"),
            "Error: --literal: \\b: it matches the empty text; to count the text itself, leave out"
            " --regex",
            id="empty between words",
        ),
        pytest.param(
            ("-e", "x*", "--regex"),
            "Error: --literal: x*: it matches the empty text; to count the text itself, leave out"
            " --regex",
            id="empty",
        ),
        pytest.param(
            ("-e", r"(a)\1", "--regex"),
            "Error: --literal: (a)\\1: not a regular expression of RE2: invalid escape sequence:"
            " \\1; to count the text itself, leave out --regex",
            id="a back reference",
        ),
        pytest.param(
            ("-e", "a b", "--regex", "--any-space"),
            "Error: --any-space: not allowed with --regex; write \\s+ for white space",
            id="two rules",
        ),
        pytest.param(
            ("-e", " \n", "--any-space"),
            "Error: --literal: it has only white space; leave out --any-space",
            id="white space alone",
        ),
        pytest.param(
            ("-e", "a", "--regex", "--case-variants"),
            "Error: --case-variants: not allowed with --regex; --ignore-case counts them too",
            id="variants",
        ),
    ],
)
def test_what_can_not_be_counted_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", TEXTS)
    done = invoke("count", *arguments, "--index", f"scan:{path}")
    assert (done.code, done.stdout, done.stderr.strip()) == (2, "", problem)


def test_an_expression_of_a_file_is_named_by_its_line(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", TEXTS)
    phrases = tmp_path / "phrases.txt"
    phrases.write_text("a+\n\n[\n")
    with pytest.raises(InputError, match=r"phrases\.txt:3: \[: not a regular expression of RE2"):
        ngramscan.count(literals_file=phrases, index=f"scan:{path}", regex=True)


def test_an_expression_of_a_set_is_named_by_its_set(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", TEXTS)
    problem = "pattern set f1: def solve(: not a regular expression of RE2: missing ): def solve("
    done = invoke("count", "f1", "--regex", "--index", f"scan:{path}")
    assert (done.code, done.stdout, done.stderr) == (
        2,
        "",
        f"Error: {problem}; to count its texts, leave out --regex; or choose others with --tier, or"
        " give expressions with -e TEXT\n",
    )
    cure = "leave out regex; or choose others with tier, or give expressions with literal=TEXT"
    with pytest.raises(InputError) as raised:
        ngramscan.count("f1", index=f"scan:{path}", regex=True)
    assert str(raised.value) == f"{problem}; to count its texts, {cure}"


@pytest.mark.parametrize(
    ("index", "option", "takers"),
    [
        *(
            (index, option, "scan:, fm9: and python")
            for index in ("infini-gram:dolma-v1_7", "tokens:x")
            for option in ("whole_words", "any_space", "ignore_case")
        ),
        *(
            (index, "regex", "scan: and python")
            for index in ("dclm", "infini-gram:dolma-v1_7", "tokens:x", "fm9:x", "fm9:http://x/y")
        ),
    ],
)
def test_indexes_that_can_not_follow_a_rule_refuse_it(index: str, option: str, takers: str) -> None:
    rule: dict[str, Any] = {option: True}
    with pytest.raises(InputError) as error:
        ngramscan.count("let us", index=index, **rule)
    assert str(error.value) == (
        f'{option}: only {takers} take it, not {index}; to read a corpus: index="scan:PATH"'
    )


INDEX_RULES = [rule for rule in RULES if not rule.is_regex]


def index_of(folder: Path) -> Path:
    """Return an index of the texts in two shards."""
    for name, texts in (("0", TEXTS[:3]), ("1", TEXTS[3:])):
        lines = [b'{"source": "' + name.encode() + b'"}'] * len(texts)
        write_shard(folder / "index" / name, [text.encode() for text in texts], lines)
    return folder / "index"


@pytest.mark.parametrize("rule", INDEX_RULES, ids=id_of)
def test_a_local_index_counts_what_a_scan_counts(tmp_path: Path, rule: MatchRule) -> None:
    corpus, index = corpus_files.write(tmp_path, "c.jsonl", TEXTS), index_of(tmp_path)
    both = [f"fm9:{index}", f"scan:{corpus}"]
    counts = ngramscan.count(literal=QUERIES, index=both, workers=1, **options_of(rule))
    indexed, scanned = (group for _, group in counts.groupby("index"))
    assert indexed["occurrences"].tolist() == scanned["occurrences"].tolist()
    assert set(indexed.get("note", [""])) == {NOTES[rule]}
    expected = match_oracle.tally(QUERIES, TEXTS, rule)
    rows = ngramscan.docnorm(literal=QUERIES, index=f"fm9:{index}", **options_of(rule))
    assert [*zip(rows["occurrences"], rows["documents"], strict=True)] == expected
    assert set(rows["estimator"]) == {"exact"}
    assert set(rows.get("note", [""])) == {NOTES[rule]}
    sources = ngramscan.sources(
        literal=QUERIES, index=f"fm9:{index}", by="source", **options_of(rule)
    )
    assert sources.groupby("query")["occurrences"].sum().to_dict() == {
        query: number for query, (number, _) in zip(QUERIES, expected, strict=True) if number
    }
    assert set(sources.get("note", [""])) == {NOTES[rule]}


@pytest.mark.parametrize("rule", INDEX_RULES, ids=id_of)
def test_contexts_of_a_local_index_are_those_of_a_scan(tmp_path: Path, rule: MatchRule) -> None:
    corpus, index = corpus_files.write(tmp_path, "c.jsonl", TEXTS), index_of(tmp_path)
    columns = ["pattern", "offset", "left", "match", "right"]
    indexed, scanned = (
        ngramscan.contexts(
            literal=QUERIES, index=spec, n=1000, width=50, workers=1, **options_of(rule)
        )
        for spec in (f"fm9:{index}", f"scan:{corpus}")
    )
    shown, expected = (
        sorted(rows[columns].itertuples(index=False, name=None)) for rows in (indexed, scanned)
    )
    assert shown == expected


@pytest.mark.parametrize("rule", INDEX_RULES, ids=id_of)
def test_an_index_in_place_counts_and_shows_what_a_scan_does(
    tmp_path: Path, rule: MatchRule
) -> None:
    corpus, index = corpus_files.write(tmp_path, "c.jsonl", TEXTS), index_of(tmp_path)
    columns = ["pattern", "offset", "left", "match", "right"]
    options = options_of(rule) | {"journal": tmp_path / "journal"}
    with RangeServer(index) as server:
        spec = f"fm9:{server.url}"
        rows = ngramscan.count(literal=QUERIES, index=spec, **options)
        again = ngramscan.count(literal=QUERIES, index=spec, **options)
        shown, scanned, shown_again = (
            sorted(
                ngramscan.contexts(
                    literal=QUERIES, index=place, n=1000, width=50, workers=1, **options
                )[columns].itertuples(index=False, name=None)
            )
            for place in (spec, f"scan:{corpus}", spec)
        )
    expected = [number for number, _ in match_oracle.tally(QUERIES, TEXTS, rule)]
    assert rows["occurrences"].tolist() == again["occurrences"].tolist() == expected
    assert (set(rows["source"]), set(again["source"])) == ({"fm9"}, {"journal"})
    assert set(rows.get("note", [""])) == set(again.get("note", [""])) == {NOTES[rule]}
    assert shown == scanned == shown_again


def test_counts_of_another_rule_are_not_taken_from_the_journal(tmp_path: Path) -> None:
    with RangeServer(index_of(tmp_path)) as server:
        for rule in [*INDEX_RULES, *reversed(INDEX_RULES)]:
            rows = ngramscan.count(
                literal=QUERIES,
                index=f"fm9:{server.url}",
                journal=tmp_path / "journal",
                **options_of(rule),
            )
            expected = [number for number, _ in match_oracle.tally(QUERIES, TEXTS, rule)]
            assert (rule, rows["occurrences"].tolist()) == (rule, expected)


@pytest.mark.parametrize("option", ["--whole-words", "--any-space", "--ignore-case"])
@pytest.mark.parametrize("command", ["docnorm", "sources"])
def test_documents_by_a_rule_are_not_looked_up_in_place(command: str, option: str) -> None:
    done = invoke(command, "-e", "let us", option, "--index", "fm9:http://127.0.0.1:9/x")
    problem = "only count and contexts take it in place, not with fm9:http://127.0.0.1:9/x;"
    assert (done.code, done.stdout) == (2, "")
    expected = f"Error: {option}: {problem} to read a corpus: --index scan:PATH"
    assert done.stderr.split() == expected.split()


@pytest.mark.parametrize("command", ["count", "contexts"])
def test_a_plan_in_place_says_that_a_rule_takes_more(tmp_path: Path, command: str) -> None:
    with RangeServer(index_of(tmp_path)) as server:
        spec = ("--index", f"fm9:{server.url}", "--journal", tmp_path / "journal", "--dry-run")
        exact = invoke(command, "-e", "let us", *spec)
        planned = invoke(command, "-e", "let us", "-w", *spec)
    assert (exact.code, planned.code) == (0, 0)
    assert "by this rule expect at least as many" not in exact.stderr
    assert "by this rule expect at least as many" in " ".join(planned.stderr.split())


@pytest.mark.parametrize("option", ["--whole-words", "--any-space", "--ignore-case"])
def test_where_a_request_in_place_fails_there_is_no_count(
    tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_place_shards, "_KEPT_BYTES", 0)
    # More than the first bytes, which are read when a file is opened.
    draw = random.Random(1)
    texts = ["".join(draw.choices("let us ,Aé中", k=2000)).encode() for _ in range(4)]
    write_shard(tmp_path / "index" / "0", texts, [b"{}"] * 4)
    with RangeServer(tmp_path / "index", faults=Faults(changed_from=20)) as server:
        spec = ("--index", f"fm9:{server.url}", "--journal", tmp_path / "journal")
        done = invoke("count", "-e", "let us", "-e", "t u", option, *spec, "--format", "csv")
    assert done.code != 0
    assert done.rows == []
    assert "Error" in done.stderr


@pytest.mark.parametrize("rule", INDEX_RULES, ids=id_of)
def test_totals_of_a_local_index_are_those_of_a_scan(tmp_path: Path, rule: MatchRule) -> None:
    corpus, index = corpus_files.write(tmp_path, "c.jsonl", TEXTS), index_of(tmp_path)
    patterns = tmp_path / "nested.yaml"
    patterns.write_text(SET)
    for command in (ngramscan.count, ngramscan.docnorm):
        values = []
        for spec in (f"fm9:{index}", f"scan:{corpus}"):
            totals = tmp_path / "totals.jsonl"
            command(patterns, index=spec, workers=1, totals=totals, **options_of(rule))
            rows = [json.loads(line) for line in totals.read_text().splitlines()]
            values.append([(row["method"], row["statistic"], row["value"]) for row in rows])
        assert values[0] == values[1]


@pytest.mark.parametrize("rule", INDEX_RULES[1:], ids=id_of)
def test_documents_by_a_rule_are_never_estimated_by_the_text(
    tmp_path: Path, rule: MatchRule
) -> None:
    ((number, _),) = match_oracle.tally(["us"], TEXTS, rule)
    index, options = f"fm9:{index_of(tmp_path)}", options_of(rule)
    with pytest.raises(IncompleteError, match=f"look up all {number} occurrences: exact_up_to="):
        ngramscan.docnorm(literal="us", index=index, exact_up_to=number - 1, **options)
    with pytest.raises(IncompleteError, match=f"look up all {number} occurrences: exact_up_to="):
        ngramscan.sources(literal="us", index=index, by="source", exact_up_to=number - 1, **options)


@pytest.mark.parametrize("index", ["dclm", "paper", "http://127.0.0.1:9/x"])
@pytest.mark.parametrize("command", ["count", "docnorm", "contexts", "sources"])
def test_expressions_are_refused_in_hosted_indexes(command: str, index: str) -> None:
    done = invoke(command, "-e", "let us", "--regex", "--index", index)
    problem = f"only scan: and python take it, not {index}; to read a corpus: --index scan:PATH"
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.split() == f"Error: --regex: {problem}".split()


@pytest.mark.parametrize("index", ["dclm", "paper", "http://127.0.0.1:9/x"])
@pytest.mark.parametrize("option", ["--whole-words", "--any-space", "--ignore-case"])
@pytest.mark.parametrize("command", ["docnorm", "contexts", "sources"])
def test_only_count_follows_rules_in_hosted_indexes(command: str, option: str, index: str) -> None:
    done = invoke(command, "-e", "let us", option, "--index", index)
    problem = f"only count takes it in hosted indexes, as {index}; to read a corpus:"
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.split() == f"Error: {option}: {problem} --index scan:PATH".split()


@pytest.mark.parametrize(
    ("command", "text", "has_hint"),
    [
        pytest.param("count", "colou?r", True, id="count"),
        pytest.param("docnorm", r"\d+", True, id="docnorm"),
        pytest.param("contexts", "(?i)let", True, id="contexts"),
        pytest.param("count", "a|b", True, id="alternatives"),
        pytest.param("count", "let.*us", True, id="anything"),
        pytest.param("count", "[a-z]x", True, id="a class"),
        pytest.param("count", "no such text", False, id="a text"),
        pytest.param("count", "why?", False, id="a question"),
        pytest.param("count", r"\sqrt{", False, id="LaTeX"),
        pytest.param("count", "let us", False, id="a text that occurs"),
    ],
)
def test_a_text_that_looks_like_an_expression_has_a_hint(
    tmp_path: Path, command: str, text: str, has_hint: bool
) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", TEXTS)
    done = invoke(command, "-e", text, "--index", f"scan:{path}")
    hint = f"0 occurrences of the exact text {text}; for regular expressions use --regex"
    assert (done.code, hint in done.stderr) == (0, has_hint)
    other = invoke(command, "-e", "colou?rx", "--index", f"scan:{path}", "--regex")
    assert (other.code, "for regular expressions" in other.stderr) == (0, False)


# grep's word characters are those of these texts, and its matches are within a line.
WORDS = ["let", "us", "user", "é", "let_us", "Us", "colour", "aa", "\\frac{", "x", "usé", "中"]
SEPARATORS = [" ", "", ".", "\n", "-", " (", "\t"]


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_grep(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    text = "".join(draw.choice(WORDS) + draw.choice(SEPARATORS) for _ in range(5000))
    path = tmp_path / "c.txt"
    path.write_text(text)
    cases: list[tuple[list[str], dict[str, Any], list[str]]] = [
        (["-F", "-w"], {"whole_words": True}, ["let us", "us", "é", "中", "colour", "let", "x"]),
        (["-F"], {}, ["let us", "us", "\\frac{"]),
        (["-E", "-w"], {"regex": True, "whole_words": True}, ["us", "let.us", "[uU]s"]),
        (["-E"], {"regex": True}, ["colou?r", "let[ .-]us", "é|中", "[a-z]us", "^let", "(u)s"]),
        (["-E", "-i"], {"regex": True, "ignore_case": True}, ["us", "let|é"]),
    ]
    for flags, options, queries in cases:
        # `^` is the beginning of a document, and of a line in grep.
        literals = [f"(?m){query}" if options.get("regex") else query for query in queries]
        rows = ngramscan.count(literal=literals, index=f"scan:{path}", workers=1, **options)
        for query, occurrences in zip(queries, rows["occurrences"], strict=True):
            command = ["grep", "--only-matching", *flags, "-e", query, str(path)]
            matches = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
            )
            assert (query, occurrences) == (query, len(matches.stdout.splitlines()))
