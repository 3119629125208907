"""Where the answer of a reply ends: a model may write on, and answer another question."""

import re

_TURN_TOKENS = (
    # the end of a turn or of a text
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end_of_turn|>",
    "<|endofturn|>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
    "[/INST]",
    "<｜end▁of▁sentence｜>",
    # the beginning of another turn
    "<|im_start|>",
    "<|start_header_id|>",
    "<|start_of_role|>",
    "<|user|>",
    "<|human|>",
    "<|system|>",
    "<|observation|>",
    "<start_of_turn>",
    "[INST]",
    "<｜User｜>",
)
"""Tokens between turns, as servers leave them in the text."""
_TOKENS = "|".join(re.escape(token) for token in _TURN_TOKENS)
_TURN_END = re.compile(rf"(?<![`'\"])(?:{_TOKENS})(?![`'\"])", re.IGNORECASE)
_TURN_START = re.compile(
    rf"\s*(?:(?:{_TOKENS}|<\|assistant\|>|<｜Assistant｜>|<s>)\s*)+"
    r"(?:(?:assistant|model)\b\s*(?:<\|end_header_id\|>|<\|end_of_role\|>)?\s*)?",
    re.IGNORECASE,
)
_ECHO = re.compile(  # the prompt once more, with the tokens of its template
    r"\s*+(?:<s>|<\|begin_of_text\|>|<bos>|<｜begin▁of▁sentence｜>)?\s*+(?:"
    r"\[INST\].*?\[/INST\]"
    r"|(?:<\|im_start\|>|<start_of_turn>|<\|start_header_id\|>|<\|start_of_role\|>)\s*(?:user|system)\b"
    r".*?(?=(?:<\|im_start\|>|<start_of_turn>|<\|start_header_id\|>|<\|start_of_role\|>)\s*"
    r"(?:assistant|model)\b)"
    r"|<\|(?:user|system)\|>.*?(?=<\|assistant\|>)"
    r"|<｜User｜>.*?(?=<｜Assistant｜>))",
    re.DOTALL,
)
_FINAL_MARK = re.compile(
    r"\\(?:boxed|fbox)(?![A-Za-z])|^[ \t]*####[ \t]*[^\s#]"
    r"|\banswers?[ \t*_]*(?:is\b|are\b|[:：=])|</answer>|^[ \t]*```[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_QUESTION = re.compile(
    r"^[ \t>*_]*+(?:#{1,6}[ \t*]*+)?(?:"
    r"(?:Q|Question|Problem|Exercise|Query|Instruction|(?P<role>User|Human))(?P<number>[ \t]?\d+)?"
    r"[ \t*_]*+[:：.)]"
    r"|Example[ \t]+\d+[ \t*_]*+[:：.]"
    r"|(?:Next|Another|New)[ \t]+(?:question|problem)\b)"
    r"|^[ \t]*#{2,6}[ \t]*(?:Instruction|Question|Problem|Input|User|Human)s?[ \t:：]*$",
    re.IGNORECASE | re.MULTILINE,
)


_BARE_ANSWER = re.compile(r"\W*(?:[^\W\d_]{1,3}\W{1,3})?\d[^\n]{0,40}|\W{0,3}[A-Z]\W{0,3}")


def without_run_on(text: str) -> str:
    """Return a reply up to the end of its turn, or up to another question behind its final answer.

    Numbered questions that begin before any answer are steps of one solution.
    """
    if echo := _ECHO.match(text):
        text = text[echo.end() :]
    if start := _TURN_START.match(text):
        text = text[start.end() :]
    if end := _TURN_END.search(text):
        text = text[: end.start()]
    mark = _FINAL_MARK.search(text)
    has_steps = False
    for question in _QUESTION.finditer(text):
        before = text[: question.start()].rstrip()
        is_behind = mark is not None and mark.end() <= question.start()
        if is_behind and not (has_steps and question["number"]):
            return before
        if before and (question["role"] or _BARE_ANSWER.fullmatch(before)):
            return before
        has_steps = has_steps or (not is_behind and bool(question["number"]))
    return text
