"""The words of servers for the end of a reply, and what they mean for scores and runs."""

import json
from pathlib import Path
from typing import Any

import pytest

import evalcore
from evalcore.finish_reasons import Ending, classify_finish_reason, describe_finish_reason
from tests.support import made_logs
from tests.support.made_benchmarks import write
from tests.support.made_records import recorded

COMPLETE, CUT, REFUSED, BROKEN_OFF = Ending
WORDS: dict[str, dict[str, Ending]] = {
    "OpenAI": {
        "stop": COMPLETE,
        "tool_calls": COMPLETE,
        "function_call": COMPLETE,
        "length": CUT,
        "content_filter": REFUSED,
        "max_output_tokens": CUT,
        "completed": COMPLETE,
        "incomplete": CUT,
        "failed": BROKEN_OFF,
        "cancelled": BROKEN_OFF,
        "in_progress": BROKEN_OFF,
    },
    "Anthropic": {
        "end_turn": COMPLETE,
        "stop_sequence": COMPLETE,
        "tool_use": COMPLETE,
        "max_tokens": CUT,
        "pause_turn": CUT,
        "model_context_window_exceeded": CUT,
        "refusal": REFUSED,
    },
    "Gemini": {
        "STOP": COMPLETE,
        "FINISH_REASON_UNSPECIFIED": COMPLETE,
        "MAX_TOKENS": CUT,
        "SAFETY": REFUSED,
        "RECITATION": REFUSED,
        "LANGUAGE": REFUSED,
        "BLOCKLIST": REFUSED,
        "PROHIBITED_CONTENT": REFUSED,
        "SPII": REFUSED,
        "MODEL_ARMOR": REFUSED,
        "MALFORMED_FUNCTION_CALL": CUT,
        "UNEXPECTED_TOOL_CALL": CUT,
        "OTHER": CUT,
        "content_filter: RECITATION": REFUSED,
        "function_call_filter: MALFORMED_FUNCTION_CALL": CUT,
        "FinishReason.STOP": COMPLETE,
        "FinishReason.MAX_TOKENS": CUT,
        "<FinishReason.SAFETY: 3>": REFUSED,
    },
    "Mistral": {"model_length": CUT, "error": BROKEN_OFF},
    "Cohere": {
        "COMPLETE": COMPLETE,
        "STOP_SEQUENCE": COMPLETE,
        "TOOL_CALL": COMPLETE,
        "MAX_TOKENS": CUT,
        "ERROR_LIMIT": CUT,
        "ERROR_TOXIC": REFUSED,
        "ERROR": BROKEN_OFF,
        "TIMEOUT": BROKEN_OFF,
        "USER_CANCEL": BROKEN_OFF,
    },
    "DeepSeek": {"insufficient_system_resource": BROKEN_OFF},
    "vLLM and SGLang": {"abort": BROKEN_OFF, "repetition": CUT},
    "TGI": {"eos_token": COMPLETE, "length": CUT, "stop_sequence": COMPLETE},
    "llama.cpp": {"eos": COMPLETE, "word": COMPLETE, "limit": CUT, "none": COMPLETE},
    "Ollama": {"load": BROKEN_OFF, "unload": BROKEN_OFF},
    "LM Studio": {
        "eosFound": COMPLETE,
        "stopStringFound": COMPLETE,
        "maxPredictedTokensReached": CUT,
        "contextLengthReached": CUT,
        "userStopped": BROKEN_OFF,
        "modelUnloaded": BROKEN_OFF,
    },
    "TensorRT-LLM": {"END_ID": COMPLETE, "STOP_WORDS": COMPLETE, "TIMED_OUT": BROKEN_OFF},
    "Bedrock": {
        "FINISH": COMPLETE,
        "endoftext": COMPLETE,
        "guardrail_intervened": REFUSED,
        "CONTENT_FILTERED": REFUSED,
        "malformed_model_output": CUT,
    },
    "xAI": {"REASON_STOP": COMPLETE, "REASON_MAX_LEN": CUT, "REASON_MAX_CONTEXT": CUT},
    "Zhipu": {"sensitive": REFUSED, "network_error": BROKEN_OFF},
    "Baidu and DashScope": {"normal": COMPLETE, "null": COMPLETE},
    "watsonx": {"time_limit": CUT, "token_limit": CUT, "not_finished": BROKEN_OFF},
    "Vercel and Inspect": {"tool-calls": COMPLETE, "content-filter": REFUSED, "unknown": COMPLETE},
    "no server": {"": COMPLETE, " ": COMPLETE, "4": CUT, "?": CUT, "stopped early": CUT, "停": CUT},
}


@pytest.mark.parametrize(
    ("word", "ending"),
    [
        pytest.param(word, ending, id=f"{server}: {word}")
        for server, words in WORDS.items()
        for word, ending in words.items()
    ],
)
def test_a_word_means_the_same_in_upper_and_lower_case(word: str, ending: Ending) -> None:
    assert {classify_finish_reason(one).ending for one in (word, word.lower(), word.upper())} == {
        ending
    }


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        (None, ""),
        ("stop", ""),
        ("length", "cut at the token limit"),
        ("MAX_TOKENS", "cut at the token limit"),
        ("model_length", "cut at the model's context limit (model_length)"),
        ("SAFETY", "refused: stopped by a content filter (SAFETY)"),
        ("refusal", "refused: the model refused (refusal)"),
        ("insufficient_system_resource", "broken off by the server (insufficient_system_resource)"),
        ("abort", "aborted before its end (abort)"),
        ("a\nnew one", "cut for an unknown reason (a new one)"),
    ],
)
def test_the_reason_names_the_word_of_the_server(word: str | None, reason: str) -> None:
    assert describe_finish_reason(word) == reason


@pytest.mark.parametrize(
    ("word", "value", "status"),
    [
        pytest.param("stop", 1.0, "scored", id="a complete answer is scored"),
        pytest.param(None, 1.0, "scored", id="so is one without a reason"),
        pytest.param("MAX_TOKENS", None, "no_answer", id="one cut at the limit has no value"),
        pytest.param("content_filter", None, "no_answer", id="nor one that a filter stopped"),
        pytest.param("abort", None, "no_answer", id="nor one that was broken off"),
        pytest.param("surprise", None, "no_answer", id="nor one with a word that is not known"),
    ],
)
def test_only_complete_answers_are_scored(
    tmp_path: Path, word: str | None, value: float | None, status: str
) -> None:
    write(tmp_path / "sums.json", [{"id": "1", "question": "2 + 2?", "answer": "4"}])
    record: Any = {"id": "1", "output": "The answer is 4.", "finish_reason": word}
    write(tmp_path / "outputs/sums/made/cot.jsonl", json.dumps(record) + "\n")
    rows = evalcore.score(tmp_path / "outputs", data=tmp_path / "sums.json", rule="numbers")
    found = None if rows["value"].isna()[0] else rows["value"][0]
    assert (found, rows["status"][0]) == (value, status)
    assert recorded(finish_reason=word).not_scorable == (describe_finish_reason(word) or None)


@pytest.mark.parametrize(
    ("word", "value", "reason"),
    [
        pytest.param("stop", 1.0, "recorded as C", id="complete"),
        pytest.param("unknown", 1.0, "recorded as C", id="Inspect's word for any other"),
        pytest.param("max_tokens", None, "cut at the token limit (recorded as C)", id="limit"),
        pytest.param(
            "SAFETY", None, "refused: stopped by a content filter (recorded as C)", id="filter"
        ),
        pytest.param("abort", None, "aborted before its end (recorded as C)", id="broken off"),
    ],
)
def test_logs_of_inspect_are_read_by_the_same_words(
    tmp_path: Path, word: str, value: float | None, reason: str
) -> None:
    log = made_logs.write_inspect(tmp_path / "a.eval", [made_logs.sample("s1", stop_reason=word)])
    rows = evalcore.logs(log)
    found = None if rows["value"].isna()[0] else rows["value"][0]
    assert (found, rows["reason"][0]) == (value, reason)
