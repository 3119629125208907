"""Find the final answer or the program in an output, by named rules with versions."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from evalcore.extraction import statements
from evalcore.extraction.boxes import boxes_of_last_sentence, last_box, linked_boxes
from evalcore.extraction.corrections import correction_in
from evalcore.extraction.endings import without_run_on
from evalcore.extraction.fields import answer_field
from evalcore.extraction.languages import stated_abroad
from evalcore.extraction.markup import without_markup
from evalcore.extraction.programs import FUNCTION_RULES, PROGRAM_RULES

__all__ = [
    "FUNCTION_RULES",
    "PROGRAM_RULES",
    "RULES",
    "extract",
    "find_reference",
    "without_markup",
    "without_run_on",
]

# Models fall into endless repetition, so no pattern may take quadratic time on any text.
_NUMBER = r"[-−]?[$£€¥₤]?(?:\d[\d,]*)?\.?\d+%?"
_LETTER = r"(?:[kKMBT]|mn|bn)\b"
_SCALE = (  # what makes it another number: a word, a letter, an exclamation mark
    r"[ -](?i:(?:hundred|thousand|million|billion|trillion)(?:ths?|s)?|dozens?)\b"
    rf"|(?<=\d)(?![KT]){_LETTER}|(?<=\d)!+"
)
_SCALED = re.compile(rf"[-−]?[$£€¥₤](?:\d[\d,]*)?\.?\d+( ?{_LETTER})|{_NUMBER}({_SCALE})?")


def _scaled_number(text: str) -> str | None:
    """Take the last number, if a word or a letter behind it makes it another one."""
    last = next(reversed(list(_SCALED.finditer(text))), None)
    return last[0] if last and any(last.groups()) else None


_RULES_OF_REPLIES = (
    "answer-tag/1",
    "hashes/1",
    "boxes/2",
    "final-answer/3",
    "the-answer-is/2",
)


def _corrected(text: str) -> str | None:
    """Take the answer behind a "Wait, …" that takes an earlier one back."""
    correction = correction_in(text)
    usual = extract(text, _RULES_OF_REPLIES)
    if correction is None or usual is None or not extract(text[:correction], _RULES_OF_REPLIES):
        return None
    answer, _ = extract(text[correction:], _RULES_OF_REPLIES) or usual
    return answer if answer != usual[0] and _can_replace(answer, usual[0]) else None


def _can_replace(answer: str, earlier: str) -> bool:
    """Tell whether an answer corrects an earlier one; `in dollars` only comments on it."""
    is_comment = "?" in answer or re.match(r"(?:not|in|an?|only|also)\b", answer, re.IGNORECASE)
    is_short = len(answer.split()) <= 1 + len(earlier.split())
    return not is_comment and (bool(re.search(r"\d", answer)) or is_short)


RULES: Mapping[str, Callable[[str], str | None]] = {
    "corrected/1": _corrected,
    "answer-tag/1": statements.tagged,
    "answer-field/1": answer_field,
    "other-languages/1": stated_abroad,
    "hashes/1": statements.hashes,
    "boxed/1": last_box,
    "boxes/1": lambda text: ", ".join(boxes_of_last_sentence(text)) or None,
    "boxes/2": lambda text: ", ".join(linked_boxes(text)) or None,
    "final-answer/2": statements.final_answer_2,
    "final-answer/3": statements.final_answer_3,
    "final-answer-heading/1": partial(statements.after, statements.HEADING),
    "final-answer-heading/2": statements.final_heading_2,
    "the-answer-is/1": partial(statements.after, statements.THE_ANSWER),
    "the-answer-is/2": statements.the_answer_is_2,
    "so-the-final-answer-is/1": partial(statements.after, r"(?i)\bso,? the final answer is\b"),
    "so-the-answer-is/1": partial(statements.after, r"(?i)\bso,? the answer is\b"),
    "answer-line/1": statements.answer_line,
    "correct-choice/1": statements.correct_choice,
    "conclusion/1": statements.conclusion,
    "only-line/1": lambda text: text.strip() if "\n" not in text.strip() else None,
    "scaled-number/1": _scaled_number,
    "last-number/1": lambda text: next(reversed(re.findall(_NUMBER, text)), None),
}


def extract(text: str, names: Sequence[str]) -> tuple[str, str] | None:
    """Return the final answer as it is in the text, and the first rule that finds one."""
    answers = ((RULES[name](text), name) for name in names)
    return next(((answer, name) for answer, name in answers if answer), None)


_RULES_OF_SOLUTIONS = (
    "hashes/1",
    "boxes/2",
    "answer-tag/1",
    "final-answer/3",
    "the-answer-is/2",
)
_CALCULATION = re.compile(r"<<[^<>\n]*>>")  # of GSM8K's calculator


def find_reference(text: str) -> str:
    r"""Return the final answer of a reference, which may be a whole solution.

    GSM8K publishes its answers as solutions that end in `#### 72`, MATH as ones with `\boxed{72}`.
    A text without such a mark is the answer.
    """
    solution = _CALCULATION.sub("", text)
    answer_and_rule = extract(
        re.sub(r"(?<=\S)[ \t]+(?=####[ \t])", "\n", solution), _RULES_OF_SOLUTIONS
    )
    return answer_and_rule[0] if answer_and_rule else solution.strip()
