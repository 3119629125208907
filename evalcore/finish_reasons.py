"""How a reply ended, by the word that its server gives as the reason.

Servers agree on the field and not on its words. A word that is in no table here is not taken for a
complete answer: a truncated one that is scored would be an error of the method that wrote it.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Ending(Enum):
    """How a reply ended."""

    COMPLETE = "complete"
    """The model ended it, or called a tool; or the server gives no reason."""
    CUT = "cut"
    """It stops before its end, and would again."""
    REFUSED = "refused"
    """The model or a filter withheld it, or the rest of it."""
    BROKEN_OFF = "broken off"
    """The server failed meanwhile; the same question may get an answer later."""


class FinishReason(NamedTuple):
    """An ending, and why the reply is not an answer; empty for a complete one."""

    ending: Ending
    reason: str = ""


_COMPLETE = FinishReason(Ending.COMPLETE)
_OF_OTHER_WORDS = FinishReason(Ending.CUT, "cut for an unknown reason")
_TOKEN_LIMIT = FinishReason(Ending.CUT, "cut at the token limit")

_COMPLETE_WORDS = {
    # OpenAI and who follows it; Inspect; Vercel; Ollama; Baidu
    *("stop", "tool_calls", "tool_call", "function_call", "completed", "normal"),
    # Anthropic, Bedrock, Cohere, Gemini
    *(
        "end_turn",
        "stop_sequence",
        "tool_use",
        "COMPLETE",
        "FINISH",
        "FINISHED",
        "STOP_CRITERIA_MET",
    ),
    # TGI, Together, AI21, TensorRT-LLM, llama.cpp, LM Studio, ExLlama
    *("eos", "eos_token", "eos_found", "eot", "end_of_text", "endoftext", "end_of_sequence"),
    *("end_id", "end", "done", "word", "stop_word", "stop_words", "stop_token", "stop_string"),
    *("stop_string_found", "eog_token", "stop_str"),
    # Replicate, and records of other tools
    *("success", "succeeded", "ok"),
    # no reason: the default of a field, or another language's null
    *("null", "none", "nil", "unknown", "unspecified"),
}

_OTHER_WORDS: Mapping[FinishReason, set[str]] = {
    _TOKEN_LIMIT: {
        *("length", "max_tokens", "max_length", "max_len", "max_output_tokens", "max_output"),
        *("max_new_tokens", "max_completion_tokens", "max_predicted_tokens_reached"),
        *("token_limit", "limit", "truncated", "cutoff", "incomplete"),
    },
    FinishReason(Ending.CUT, "cut at the model's context limit"): {
        *("model_length", "model_context_window_exceeded", "context_length_exceeded"),
        *("context_length_reached", "context_length", "max_context", "context_window_exceeded"),
        *("context_window", "error_limit"),
    },
    FinishReason(Ending.CUT, "cut at the server's time limit"): {"time_limit"},
    FinishReason(Ending.CUT, "cut because it repeated itself"): {"repetition", "loop_detected"},
    FinishReason(Ending.CUT, "paused by the server before its end"): {
        *("pause_turn", "compaction", "continuation"),
    },
    FinishReason(Ending.CUT, "cut at a malformed or unexpected call of a tool"): {
        *("malformed_function_call", "malformed_tool_use", "malformed_model_output"),
        *("malformed_response", "unexpected_tool_call", "too_many_tool_calls"),
        *("function_call_filter", "missing_thought_signature"),
    },
    FinishReason(Ending.REFUSED, "stopped by a content filter"): {
        *("content_filter", "content_filtered", "content_policy", "filter", "filtered"),
        *("guardrail_intervened", "guardrails", "moderation", "sensitive", "error_toxic"),
        *("safety", "recitation", "language", "blocklist", "prohibited_content", "spii"),
        *("model_armor", "blocked", "escalation", "jailbreak"),
        *("image_safety", "image_prohibited_content", "image_recitation"),
    },
    FinishReason(Ending.REFUSED, "the model refused"): {"refusal", "refused"},
    FinishReason(Ending.BROKEN_OFF, "broken off by the server"): {
        *("error", "failed", "failure", "internal_error", "server_error", "network_error"),
        *("insufficient_system_resource", "overloaded", "preempt", "preempted"),
        *("timeout", "timed_out", "model_unloaded", "load", "unload", "loading"),
        *("not_finished", "in_progress", "queued", "processing", "starting"),
    },
    FinishReason(Ending.BROKEN_OFF, "aborted before its end"): {
        *("abort", "aborted", "cancel", "cancelled", "canceled", "interrupted"),
        *("user_cancel", "user_stopped", "disconnect", "disconnected"),
    },
}


def _spelling_of(word: str) -> str:
    """Return what `MAX_TOKENS`, `max-tokens` and `maxTokens` have in common."""
    return re.sub(r"[\W_]", "", word.lower())


_BY_SPELLING = {_spelling_of(word): _COMPLETE for word in _COMPLETE_WORDS} | {
    _spelling_of(word): reason for reason, words in _OTHER_WORDS.items() for word in words
}
_TYPE_NAME = re.compile(r"^<?(?:(?:finish|stop)_?)?reason[._]", re.IGNORECASE)


def classify_finish_reason(word: str | None) -> FinishReason:
    """Return how a reply ended, by its server's word for the reason.

    Parameters
    ----------
    word : str or None
        In any case, as `max_tokens` or `maxTokens`; also with details behind a colon
        (`content_filter: OTHER`), or after the name of its type (`FinishReason.STOP`).

    Returns
    -------
    FinishReason
        Complete if the server gives no reason; cut if its word is not known.
    """
    word = _TYPE_NAME.sub("", (word or "").strip())
    if not word:
        return _COMPLETE
    first = _spelling_of(word.partition(":")[0])
    return _BY_SPELLING.get(first, _OF_OTHER_WORDS)


def describe_finish_reason(word: str | None) -> str:
    """Return why a reply is not an answer, with the server's word; empty for a complete one."""
    ending, reason = classify_finish_reason(word)
    if ending is Ending.COMPLETE or reason == _TOKEN_LIMIT.reason:
        return reason
    reason = f"refused: {reason}" if ending is Ending.REFUSED else reason
    return f"{reason} ({' '.join((word or '').split())[:60]})"
