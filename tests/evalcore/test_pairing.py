"""Pairs are of the same document, in logs of each tool and in tables with hashes."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
from ngramscan.errors import IncompleteError, InputError
from tests.support.command import Ran, invoke
from tests.support.made_logs import Fields, header, row, sample, write_inspect, write_lm_eval
from tests.support.outputs import write_lines

COT, POT = {"metadata": {"method": "cot"}}, {"metadata": {"method": "pot"}}
RIGHT = {0, 1}
"""The documents that both methods answer right."""


def documents(
    numbers: list[int], field: str | None = None, right: set[int] = RIGHT
) -> list[Fields]:
    """Rows of lm-evaluation-harness in this order; a field may name the documents."""
    named = [{field: f"q{number}"} if field else {} for number in numbers]
    docs = [
        {"question": f"What is {number} + 1?", **name}
        for number, name in zip(numbers, named, strict=True)
    ]
    values = [float(number in right) for number in numbers]
    return [
        row(position, value, doc=doc, filter="none")
        for position, (doc, value) in enumerate(zip(docs, values, strict=True))
    ]


def write_two(
    folder: Path, first: list[Fields], second: list[Fields], tasks: tuple[str, str] = ("t", "t")
) -> tuple[Path, Path]:
    write_lm_eval(folder / "cot", first, tasks[0], **COT)
    write_lm_eval(folder / "pot", second, tasks[1], **POT)
    return folder / "cot", folder / "pot"


def only(found: pd.DataFrame) -> dict[str, Any]:
    [row] = found.to_dict("records")
    return {str(name): cell for name, cell in row.items()}


def discordant(found: pd.DataFrame) -> tuple[int, int, int]:
    row = only(found)
    return row["n"], row["baseline_only"], row["treatment_only"]


# lm-evaluation-harness


@pytest.mark.parametrize("field", [None, "id", "question_id", "idx"])
def test_documents_in_another_order_are_paired_by_their_hash(
    tmp_path: Path, field: str | None
) -> None:
    logs = write_two(tmp_path, documents([0, 1, 2, 3], field), documents([3, 2, 1, 0], field))
    assert discordant(evalcore.compare(logs, baseline="cot")) == (4, 0, 0)
    assert only(evalcore.outcomes(logs, baselines="cot", adaptive="pot"))["all_solve"] == 2


def test_positions_that_mean_other_documents_are_paired_on_request(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    logs = write_two(tmp_path, documents([0, 1, 2, 3]), documents([3, 2, 1, 0]))
    notice = "t: 4 ids name different documents (0, 1, 2 and 1 more), so answers are paired by the"
    for command in ("compare --baseline cot", "outcomes --baselines cot --adaptive pot"):
        name, *options = command.split()
        with subtests.test(name=name):
            assert notice in invoke(name, *logs, *options).stderr
    assert discordant(evalcore.compare(logs, pair_by="id")) == (4, 2, 2)


@pytest.mark.parametrize(
    "tasks",
    [
        pytest.param(("t", "t"), id="one task"),
        pytest.param(("t_cot", "t_pot"), id="a task for each method"),
    ],
)
def test_half_of_the_documents_are_compared_and_that_is_said(
    tmp_path: Path, tasks: tuple[str, str]
) -> None:
    logs = write_two(
        tmp_path, documents([0, 1, 2, 3]), documents([0, 1, 12, 13], None, {0, 1, 12}), tasks
    )
    done = invoke("compare", *logs, "--baseline", "cot")
    pairs = "4 pairs left out: 4 not put to every method; 2 of 4 documents are in both"
    assert f"t, lab/made, exact_match, pot − cot: {pairs}" in done.stderr.splitlines()
    found = evalcore.compare(logs, baseline="cot")
    assert discordant(found) == (2, 0, 0)
    assert only(found)["dataset"] == "t"
    assert "2 of 4 documents are in both" in (
        invoke("outcomes", *logs, "--baselines", "cot", "--adaptive", "pot").stderr
    )


def test_no_document_in_common_is_an_error_that_names_both(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    logs = write_two(tmp_path, documents([0, 1, 2, 3]), documents([10, 11, 12, 13]))
    commands = ("compare --baseline cot", "outcomes --baselines cot --adaptive pot")
    for command in commands:
        name, *options = command.split()
        with subtests.test(name=name):
            done = invoke(name, *logs, *options)
            last = done.stderr.splitlines()[-1]
            assert (done.code, last.startswith("Error: t, lab/made, exact_match")) == (1, True)
            assert ": nothing to compare; 8 " in last
            assert "no document in common: " in last
            assert "cot has 0, 1, 2 and 1 more" in last
            assert last.endswith("(if their ids mean the same, --pair-by id)")
    with pytest.raises(IncompleteError, match=r'if their ids mean the same, pair_by="id"\)'):
        evalcore.compare(logs, baseline="cot")
    assert only(evalcore.compare(logs, baseline="cot", pair_by="id"))["n"] == 4


@pytest.mark.parametrize(
    ("second", "common"),
    [
        pytest.param([10, 11, 12, 13], "no document in common", id="none"),
        pytest.param([0, 11, 12, 13], "1 of 4 documents in common", id="fewer than half"),
    ],
)
def test_tasks_of_other_documents_are_not_one_benchmark(
    tmp_path: Path, second: list[int], common: str
) -> None:
    logs = write_two(tmp_path, documents([0, 1, 2, 3]), documents(second), ("t_cot", "t_pot"))
    cure = "for one benchmark, `evalcore logs --dataset NAME`, then `compare --pair-by id`"
    message = rf"two of the methods; t_cot and t_pot have {common} \({cure}\); available: t_cot, "
    with pytest.raises(InputError, match=message):
        evalcore.compare(logs, baseline="cot")


def test_tasks_that_are_two_prompts_are_one_benchmark(tmp_path: Path) -> None:
    tasks = ("sums_a", "sums_b")
    logs = write_two(tmp_path, documents([0, 1, 2]), documents([2, 0, 1], None, {0}), tasks)
    done = invoke("compare", *logs, "--baseline", "cot")
    assert "sums_a, sums_b have documents in common: compared as sums" in done.stderr.splitlines()
    found = evalcore.compare(logs, baseline="cot")
    assert (only(found)["dataset"], *discordant(found)) == ("sums", 3, 1, 0)
    rows = tmp_path / "scores.jsonl"
    assert invoke("logs", *logs, "-o", rows).code == 0
    assert discordant(evalcore.compare(rows, baseline="cot")) == (3, 1, 0)


def test_the_overlap_of_pooled_benchmarks_is_that_of_all_their_documents(tmp_path: Path) -> None:
    logs = list[Path]()
    for task, first, second in (("s", [0, 1], [0, 2]), ("t", [5, 6], [7, 6])):
        logs += write_two(tmp_path / task, documents(first), documents(second), (task, task))
    done = invoke("compare", *logs, "--baseline", "cot", "--by", "model")
    assert "2 of 4 documents are in both" in done.stderr


def test_a_question_that_is_there_twice_makes_two_pairs(tmp_path: Path) -> None:
    logs = write_two(tmp_path, documents([0, 1, 1, 2]), documents([1, 2, 1, 0]))
    assert discordant(evalcore.compare(logs, baseline="cot")) == (4, 0, 0)


def test_rows_without_a_hash_are_paired_by_id(tmp_path: Path) -> None:
    plain: list[Fields] = [{**row, "doc": None} for row in documents([0, 1, 2, 3])]
    logs = write_two(tmp_path, plain, documents([0, 1, 2, 3], None, {0}))
    assert discordant(evalcore.compare(logs, baseline="cot")) == (4, 1, 0)


def unnamed(folder: Path, numbers: list[int], task: str = "t") -> Path:
    write_lm_eval(folder, documents(numbers), task, metadata={"version": 3.0})
    return folder


def test_methods_without_a_name_are_the_tasks(tmp_path: Path) -> None:
    logs = [unnamed(tmp_path / name, [0, 1, 2], f"t_{name}") for name in ("cot", "pot")]
    done = invoke("compare", *logs)
    source = "these logs do not name the method, so it is the task: t_cot, t_pot"
    assert done.stderr.splitlines()[0].startswith(source)
    row = only(evalcore.compare(logs))
    assert [row[name] for name in ("dataset", "baseline", "treatment")] == ["t", "t_cot", "t_pot"]


def test_methods_without_a_name_are_the_folders_of_one_task(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    logs = [unnamed(tmp_path / name / "lab__made", [0, 1, 2]) for name in ("cot", "pot")]
    notice = "these logs do not name the method, so it is the folder: cot, pot"
    for paths in (logs, [tmp_path]):
        with subtests.test(paths=paths):
            assert notice in invoke("compare", *paths).stderr
            row = only(evalcore.compare(paths))
            assert [row[name] for name in ("baseline", "treatment", "n")] == ["cot", "pot", 3]
    assert {row["method"] for row in evalcore.logs(tmp_path).to_dict("records")} == {"cot", "pot"}
    assert set(evalcore.logs(tmp_path / "cot", method="x")["method"]) == {"x"}


def test_methods_without_a_name_are_folders_if_each_has_several_tasks(tmp_path: Path) -> None:
    for name in ("cot", "pot"):
        unnamed(tmp_path / name, [0, 1], f"sums_{name}")
        unnamed(tmp_path / name, [5, 6, 7], f"terms_{name}")
    found = evalcore.compare(tmp_path)
    names = ["dataset", "baseline", "treatment", "n"]
    assert found[names].to_numpy().tolist() == [
        ["sums", "cot", "pot", 2],
        ["terms", "cot", "pot", 3],
    ]


# Inspect


def inspect_log(path: Path, method: str, samples: list[Fields], **changes: Any) -> Path:
    about = header(dataset={}, eval_id=method, metadata={"method": method}, **changes)
    return write_inspect(path / f"{method}.eval", samples, about)


def problem(id_: str | int, text: Any, value: str = "C", **changes: Any) -> Fields:
    return sample(id_, value, input=text, **{"target": "5"} | changes)


def test_samples_are_paired_by_their_input_and_target(tmp_path: Path) -> None:
    first = [problem(1, "2 + 3?"), problem(2, "1 + 4?", "I"), problem(3, "0 + 5?")]
    second = [problem(1, "1 + 4?", "I"), problem(2, "2 + 3?"), problem(3, "0 + 5?", target="6")]
    logs = [inspect_log(tmp_path, "cot", first), inspect_log(tmp_path, "pot", second)]
    found = evalcore.compare(logs, baseline="cot")
    assert (discordant(found), only(found)["n_unknown"]) == ((2, 0, 0), 2)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param([{"role": "user", "content": "2 + 3?"}], id="a message"),
        pytest.param(
            [
                {"role": "system", "content": "Use an equation."},
                {"role": "user", "content": "2 + 3?", "id": "Xy", "source": "input"},
            ],
            id="a system message, which is a prompt",
        ),
        pytest.param(
            [{"role": "user", "content": [{"type": "text", "text": "2 + 3?"}]}], id="parts"
        ),
        pytest.param("attachment://a1", id="an attachment"),
    ],
)
def test_the_form_of_an_input_and_prompts_are_not_the_document(tmp_path: Path, text: Any) -> None:
    other = problem("b", text, target=["5"], attachments={"a1": "2 + 3?"})
    logs = [inspect_log(tmp_path, "cot", [problem("a", "2 + 3?")])]
    logs += [inspect_log(tmp_path, "pot", [other])]
    assert only(evalcore.compare(logs, baseline="cot"))["n"] == 1


def test_shuffled_choices_are_the_same_document(tmp_path: Path) -> None:
    first = problem(1, "Which?", target="A", choices=["x", "y"])
    second = problem(1, "Which?", target="B", choices=["y", "x"])
    third = problem(1, "Which?", target="A", choices=["x", "z"])
    methods = {"cot": first, "pot": second, "fp": third}
    logs = [inspect_log(tmp_path, method, [one]) for method, one in methods.items()]
    assert only(evalcore.compare(logs[:2], baseline="cot"))["n"] == 1
    with pytest.raises(IncompleteError, match="no document in common: cot has 1; fp has 1 "):
        evalcore.compare(logs[::2], baseline="cot")


def test_samples_without_an_input_are_paired_by_id(tmp_path: Path) -> None:
    logs = [inspect_log(tmp_path, "cot", [sample("s1")])]
    logs += [inspect_log(tmp_path, "pot", [problem("s1", "2 + 3?")])]
    assert only(evalcore.compare(logs, baseline="cot"))["n"] == 1


# Tables


def scores(method: str, hashes: dict[int, Any], right: set[Any], **names: Any) -> pd.DataFrame:
    """Scores of a method: a hash for each id, and which documents are right."""
    values = [float(one in right) for one in hashes.values()]
    table = pd.DataFrame({"id": [*hashes], "hash": [*hashes.values()], "value": values})
    return table.assign(**{"dataset": "d", "model": "m", "method": method, "rule": "r"} | names)


FIRST, SECOND = {0: "aa", 1: "bb", 2: "cc", 3: "dd"}, {0: "dd", 1: "cc", 2: "bb", 3: "aa"}


def test_a_column_of_hashes_pairs_scores_in_every_command(tmp_path: Path) -> None:
    both = [scores("cot", FIRST, {"aa", "bb"}), scores("pot", SECOND, {"aa", "bb"})]
    assert discordant(evalcore.compare(both, baseline="cot")) == (4, 0, 0)
    assert only(evalcore.outcomes(both, baselines="cot", adaptive="pot"))["all_fail"] == 2
    usage = pd.concat(both).assign(completion_tokens=7, reasoning_tokens=0, epoch=None)
    usage["prompt_tokens"] = pd.array([1, 2, 3, 4, None, 13, 12, 11], dtype="Int64")
    usage.to_csv(tmp_path / "usage.csv", index=False)
    costs = evalcore.efficiency(both, usage=tmp_path / "usage.csv", baseline="cot")
    assert costs.set_index("method")["prompt_overhead"]["pot"] == 10
    topics = {"aa": 1.0, "bb": 10.0, "cc": 100.0, "dd": 1000.0}
    table = pd.concat(both).assign(topic=lambda table: table["hash"])
    counts = pd.DataFrame({"topic": [*topics], "count": [*topics.values()]})
    slopes = evalcore.link(counts, table, problems=True, on="topic")
    assert [*slopes["n"]] == [4, 4, 4]
    assert slopes["slope"][2] == pytest.approx(0)
    with pytest.raises(InputError, match="an id names different documents; join counts by anot"):
        evalcore.link(counts.assign(id=range(4)), table, problems=True, count="count")


def test_two_editions_of_questions_are_paired_where_they_are_the_same(
    tmp_path: Path,
) -> None:
    editions = {
        "cot": [("2 + 3?", "5"), ("1 + 1?", "2"), ("About?", "3")],
        "zero-shot": [("2 + 3?", "5"), ("1 + 2?", "3"), ("About?", "4")],
    }
    found = []
    for method, problems in editions.items():
        numbered = list(enumerate(problems))
        questions = [{"id": n, "question": text, "answer": gold} for n, (text, gold) in numbered]
        outputs = [{"id": n, "output": f"The answer is {gold}."} for n, (_, gold) in numbered]
        write_lines(tmp_path / method / "q.jsonl", *questions)
        write_lines(tmp_path / "q" / "m" / f"{method}.jsonl", *outputs)
        asked: dict[str, Any] = {"data": tmp_path / method / "q.jsonl", "rule": "numbers"}
        found.append(evalcore.score(tmp_path / "q", method=method, **asked))
    assert discordant(evalcore.compare(found, baseline="cot")) == (1, 0, 0)


@pytest.mark.parametrize(("pair_by", "difference"), [("hash", 0.0), ("id", 1 / 3)])
def test_link_pairs_as_it_is_asked_to(pair_by: Any, difference: float) -> None:
    both = pd.concat([scores("cot", FIRST, {"aa"}), scores("pot", SECOND, {"aa"})[1:]])
    names = {"index": "i", "tier": "T1", "documents": 1}
    rows = [
        names | {"method": method, "pattern": f"{method} {n}", "occurrences": n + 3}
        for method in ("cot", "pot")
        for n in range(3)
    ]
    found = evalcore.link(pd.DataFrame(rows), both, pair_by=pair_by)
    assert only(found)["difference"] == pytest.approx(difference)


def test_the_subtask_is_that_of_the_document() -> None:
    subtasks = {"aa": "s", "bb": "s", "cc": "t", "dd": "t"}
    both = [scores("cot", FIRST, {"aa"}), scores("pot", SECOND, {"aa"})]
    both = [one.assign(subtask=one["hash"].map(subtasks)) for one in both]
    assert discordant(evalcore.compare(both, baseline="cot")) == (4, 0, 0)


def test_hashes_that_are_not_of_documents_can_be_left_aside() -> None:
    both = [scores("cot", FIRST, {"aa"}), scores("pot", {0: 1, 1: 2, 2: 3, 3: 4}, {1})]
    with pytest.raises(IncompleteError, match="no document in common"):
        evalcore.compare(both, baseline="cot")
    assert discordant(evalcore.compare(both, baseline="cot", pair_by="id")) == (4, 0, 0)
    same = [one.assign(hash="v1") for one in both]  # such as the version of a file
    assert discordant(evalcore.compare(same, baseline="cot")) == (4, 0, 0)


def test_three_methods_are_paired_two_by_two() -> None:
    three = [scores("a", FIRST, {"aa"}), scores("b", SECOND, {"aa"})]
    three += [scores("c", {7: "aa", 8: "bb", 9: "xx"}, {"xx"})]
    found = evalcore.compare(three, all_pairs=True)
    assert [*zip(found["baseline"], found["treatment"], found["n"], strict=True)] == [
        ("a", "b", 4),
        ("a", "c", 2),
        ("b", "c", 2),
    ]
    said = invoke_on(three, "compare", "--all-pairs").stderr
    assert "of the documents (4 of a, 3 of c) 2 are in both" in said


def invoke_on(tables: list[pd.DataFrame], command: str, *options: str) -> Ran:
    text = pd.concat(tables).to_csv(index=False)
    return invoke(command, "-", *options, content=text.encode())


def test_points_of_one_document_must_be_the_same() -> None:
    both = [scores("cot", FIRST, set(), points=1), scores("pot", SECOND, set(), points=2)]
    with pytest.raises(InputError, match="another row of this document has another val"):
        evalcore.compare(both, baseline="cot", weight="points")


def test_labels_of_different_documents_with_one_id_are_of_two_items() -> None:
    first = scores("cot", FIRST, {"aa", "bb"}, rule="judge:j", answer="A")
    second = scores("cot", SECOND, {"aa", "bb"}, rule="judge:k", answer="A")
    other = second.assign(hash=["ee", "ff", "gg", "hh"])
    items = [
        evalcore.agreement([first, labels]).set_index("statistic").loc["unanimous", "items"]
        for labels in (second, other)
    ]
    assert items == [4, 0]


# Without a baseline


@pytest.mark.parametrize(
    ("options", "pair"),
    [
        pytest.param({}, ("cot", "pot"), id="the first"),
        pytest.param({"treatment": "cot"}, ("pot", "cot"), id="the one that is no treatment"),
        pytest.param({"treatment": "POT"}, ("cot", "pot"), id="the treatment in capitals"),
    ],
)
def test_of_two_methods_the_first_is_the_baseline(
    options: dict[str, Any], pair: tuple[str, str]
) -> None:
    both = [scores("cot", FIRST, {"aa"}), scores("pot", FIRST, {"bb"})]
    row = only(evalcore.compare(both, **options))
    assert (row["baseline"], row["treatment"]) == pair
    notice = "the baseline is cot, and not pot; --baseline METHOD chooses it"
    assert invoke_on(both, "compare").stderr.splitlines()[0] == notice


# Genuine logs


@pytest.mark.parametrize(
    ("logs", "rule", "n", "discordant_pairs"),
    [
        pytest.param("lm_eval/method_{}", "strict-match", 120, (19, 9), id="strict"),
        pytest.param("lm_eval/method_{}", "flexible-extract", 120, (24, 12), id="flexible"),
        pytest.param("inspect/method_{}.eval", "answer", 118, (18, 9), id="Inspect"),
    ],
)
def test_genuine_logs_of_two_prompts_are_paired(
    shared: Path, logs: str, rule: str, n: int, discordant_pairs: tuple[int, int]
) -> None:
    paths = [shared / "logs" / logs.format(letter) for letter in "ab"]
    found = evalcore.compare(paths, baseline="A", rule=rule)
    assert (only(found)["dataset"], *discordant(found)) == ("word_problems", n, *discordant_pairs)
