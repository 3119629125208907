"""`evalcore judge` against a server on loopback: what is asked, kept, sampled and summed up."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
from evalcore.scores import ScoreRow, read_scores
from ngramscan.errors import IncompleteError
from ngramscan.statistics.proportions import stratified_share
from tests.support.chat_server import Faults, Messages, chat_server
from tests.support.command import invoke_ending, json_rows
from tests.support.finance_run import FINANCE, answering, run_command
from tests.support.made_benchmarks import write, write_proofbench

JUDGE = (
    *("judge", "outputs", "--dataset", "imo-proofbench", "--data", "proofbench_v2.csv"),
    *("--judge", "judge-a", "--judge", "judge-b", "--base-url"),
)
PROOFBENCH: dict[str, Any] = {"dataset": "imo-proofbench", "data": "proofbench_v2.csv"}


def judged_reply(messages: Messages) -> str:
    number = int(messages[1]["content"].split("SOLUTION of ")[1].split()[0])
    assert f"GUIDELINES of {number}" in messages[1]["content"]
    said = f"Fine.\n<points>{(7, 6, 1, 0)[number % 4]} out of 7</points>"
    return "I like this proof." if number == 7 else said


@pytest.fixture
def proofs(working_folder: Path) -> Path:
    """60 proofs, of which one is cut."""
    write_proofbench(working_folder)
    records = [{"id": f"PB-Basic-{n:03}", "output": f"Proof {n}."} for n in range(60)]
    records[59] |= {"finish_reason": "length"}
    lines = "".join(json.dumps(record) + "\n" for record in records)
    write(working_folder / "outputs/imo-proofbench/made/f-1.jsonl", lines)
    return working_folder


def test_judges_are_asked_once_and_their_replies_kept_and_summed_up(proofs: Path) -> None:
    with chat_server(judged_reply) as server:
        ran = invoke_ending(0, *JUDGE, server.url, "-o", "judged.jsonl")
        assert ran.stdout == ""
        assert server.seen.requests.total() == 2 * 59, "a cut output is not judged"
        lines = invoke_ending(0, *JUDGE, server.url, "--format", "jsonl").stdout
        table = invoke_ending(0, *JUDGE, server.url).stdout
        frame = evalcore.judge("outputs", judges="judge-a", **PROOFBENCH, base_url=server.url)
        assert server.seen.requests.total() == 2 * 59, "replies are kept"
    assert "f-1" not in json.dumps([body["messages"] for body in server.seen.bodies])
    assert (
        "judge:judge-a: 1 of 59 replies have no value; unusable reply: no <points>N" in ran.stderr
    )
    rows = json_rows((proofs / "judged.jsonl").read_text())
    assert json_rows(lines) == rows
    by_id = {row["id"]: row for row in rows if row["rule"] == "judge:judge-a"}
    assert (len(rows), len(frame), frame["value"].isna().sum()) == (120, 60, 2)
    assert (by_id["PB-Basic-000"]["value"], by_id["PB-Basic-001"]["answer"]) == (1.0, "6")
    unread, cut = by_id["PB-Basic-007"], by_id["PB-Basic-059"]
    assert (unread["value"], unread["reply"]) == (None, "I like this proof.")
    assert (cut["reply"], cut["reason"]) == (None, "cut at the token limit")
    assert read_scores(proofs / "judged.jsonl", ScoreRow)[0].rule == "judge:judge-a"
    # Of 59 proofs, 15 have 7 points, 15 have 6, 15 have 1 and 14 none, but for the unread one.
    assert re.search("judge:judge-a .*60 +58 +", table), table


def test_a_judge_whose_every_reply_is_unusable_ends_with_1(proofs: Path) -> None:
    with chat_server(lambda _: "Fine proof.") as server:
        ran = invoke_ending(1, *JUDGE, server.url, "--format", "jsonl")
    assert {(row["rule"], row["value"]) for row in json_rows(ran.stdout)} == {
        ("judge:judge-a", None),
        ("judge:judge-b", None),
    }
    problem = "59 of 59 replies have no value; unusable reply: no <points>N out of 7</points>"
    errors = [f"Error: judge:{name}: {problem}" for name in ("judge-a", "judge-b")]
    assert [error for error in errors if error not in ran.stderr] == [], ran.stderr


@pytest.mark.parametrize(
    ("faults", "key", "reason"),
    [
        pytest.param(Faults(refusal=0.2, seed=1), "", "(the judge refused", id="refusals"),
        pytest.param(
            Faults(length=1.0),
            "",
            "118 of 120 judgements are missing (the reply was cut at the",
            id="cut replies",
        ),
        pytest.param(
            Faults(),
            "sk-made-up-1234567890",
            "118 of 120 judgements are missing (http://127.0.0.1",
            id="a missing key",
        ),
    ],
)
def test_what_no_judge_said_is_asked_later(
    proofs: Path, faults: Faults, key: str, reason: str
) -> None:
    with chat_server(judged_reply, faults, key) as server:
        stderr = invoke_ending(1, *JUDGE, server.url, "-o", "judged.jsonl").stderr
        assert ("judgements are missing" in stderr, reason in stderr) == (True, True)
        given: dict[str, Any] = {**PROOFBENCH, "base_url": server.url, "journal": "own.sqlite"}
        with pytest.raises(IncompleteError, match="judgements are missing"):
            evalcore.judge("outputs", judges=["judge-a"], **given)
        assert (proofs / "own.sqlite").exists()
        there = len((proofs / "judged.jsonl").read_text().splitlines())
        server.plan, server.key, before = Faults(), "", server.seen.requests.total()
        invoke_ending(0, *JUDGE, server.url, "-o", "judged.jsonl")
        assert server.seen.requests.total() - before == 120 - there > 0


@pytest.fixture
def two_methods(proofs: Path) -> Path:
    """59 proofs of one method that can be judged, and four of another."""
    few = [{"id": f"PB-Basic-{n:03}", "output": f"Proof {n}."} for n in (0, 1, 4, 7)]
    lines = "".join(json.dumps(record) + "\n" for record in few)
    write(proofs / "outputs/imo-proofbench/made/cot.jsonl", lines)
    return proofs


def of_first_judge(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["rule"] == "judge:judge-a"]


@pytest.mark.usefixtures("two_methods")
def test_a_sample_of_each_stratum_is_judged_once_and_weighted() -> None:
    with chat_server(judged_reply) as server:
        sampled = (*JUDGE, server.url, "--sample", "10", "-o", "judged.csv")
        stderr = invoke_ending(0, *sampled).stderr
        assert "14 of 63 outputs drawn from 2 strata (dataset, model, method), seed 1" in stderr
        asked = server.seen.requests.total()
        invoke_ending(0, *sampled)
        assert asked == server.seen.requests.total() <= 28  # both methods may have one text
    by_method = of_first_judge(pd.read_csv("judged.csv")).groupby("method")
    assert by_method["weight"].sum().to_dict() == {"f-1": 59, "cot": 4}
    assert by_method["weight"].max().to_dict() == {"f-1": 5.9, "cot": 1}
    assert by_method.size().to_dict() == {"f-1": 10, "cot": 4}


@pytest.mark.usefixtures("two_methods")
def test_shares_of_a_sample_are_weighted_back_to_all_outputs(subtests: pytest.Subtests) -> None:
    with chat_server(judged_reply) as server:
        sampled = (*JUDGE, server.url, "--sample", "10", "--shares", "shares.csv")
        screen = invoke_ending(0, *sampled).stdout
        rows = json_rows(invoke_ending(0, *sampled, "--format", "jsonl").stdout)
    shares = of_first_judge(pd.read_csv("shares.csv")).astype({"label": object})
    assert [None if pd.isna(label) else str(int(label)) for label in shares["label"]] == [
        *("0", "1", "6", "7", None)
    ]
    own = [row for row in rows if row["rule"] == "judge:judge-a"]
    for row, label in zip(shares.to_dict("records"), ["0", "1", "6", "7", None], strict=True):
        with subtests.test(label=label):
            counts = {
                method: sum(
                    judged["method"] == method and judged["answer"] == label for judged in own
                )
                for method in ("f-1", "cot")
            }
            assert row["count"] == sum(counts.values())
            assert row["share"] == pytest.approx((5.9 * counts["f-1"] + counts["cot"]) / 63)
            expected = stratified_share([(counts["f-1"], 10, 59), (counts["cot"], 4, 4)])
            assert (row["share_low"], row["share_high"]) == pytest.approx(expected.limits)
    constants = {
        "population": 63,
        "drawn": 14,
        "strata": 2,
        "seed": 1,
        "level": 0.95,
        "per": "dataset,model,method",
    }
    assert {name: [*shares[name].unique()] for name in constants} == {
        name: [value] for name, value in constants.items()
    }
    shown = screen.partition("Shares of labels in all 63 outputs\n")[2].splitlines()[2:7]
    assert [row.split()[3] for row in shown] == [f"{100 * share:.1f}" for share in shares["share"]]


def sampled_outputs(url: str, *options: str) -> set[tuple[str, str]]:
    """Return the methods and ids of the outputs that were drawn."""
    ran = invoke_ending(0, *JUDGE, url, *options, "--format", "jsonl")
    return {(row["method"], row["id"]) for row in json_rows(ran.stdout)}


@pytest.mark.usefixtures("two_methods")
def test_a_larger_sample_adds_to_a_smaller_one() -> None:
    with chat_server(judged_reply) as server:
        small = sampled_outputs(server.url, "--sample", "10")
        large = sampled_outputs(server.url, "--sample", "20")
        other = sampled_outputs(server.url, "--sample", "10", "--seed", "2")
    assert small < large
    assert (len(small), len(large), len(other)) == (14, 24, 14)
    assert len(small & other) < 14


@pytest.mark.usefixtures("proofs")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param(["--per", "model"], "--sample N", id="strata without a sample"),
        pytest.param(["--sample", "1", "--per", "modle"], "did you mean", id="a misspelled name"),
    ],
)
def test_strata_that_can_not_be_drawn_are_refused(options: list[str], problem: str) -> None:
    stderr = invoke_ending(2, *JUDGE, "http://localhost:1", *options).stderr
    assert re.match(f"Error: --per.*{problem}", stderr)


@pytest.mark.usefixtures("sandbox_here")
def test_causes_are_asked_of_wrong_answers_only(working_folder: Path) -> None:
    with chat_server(answering(working_folder)) as server:
        invoke_ending(0, *run_command(server, "--limit", "6"))
    invoke_ending(0, "score", "outputs", *FINANCE, "-o", "scores.jsonl", "-q")
    task = ("--method", "f-1", "--judge", "j", "--task", "failure-causes", "--base-url")
    with chat_server(lambda _: '{"cause": "A", "why": "wrong equation"}') as server:
        command = ("judge", "outputs", *FINANCE, *task, server.url)
        stdout = invoke_ending(0, *command, "--scores", "scores.jsonl", "--format", "jsonl").stdout
        told = [(row["id"], row["answer"]) for row in json_rows(stdout)]
        assert told == [(f"validation-{n}", "A") for n in (1, 3, 5)]
        assert invoke_ending(2, *command).stderr.startswith("Error: --scores: missing")
