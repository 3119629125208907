"""Find the final answer or the program in an output, by named rules whose names carry a version.

Which rules are tried, and in which order, moves the accuracy of a model by up to 25 points: so
every answer is kept with the rule that found it, and a rule that changes gets a new version.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple


class Extracted(NamedTuple):
    """What a rule found in an output."""

    text: str
    rule: str
    """The name of the rule, with its version: `boxed/1`."""


_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)  # an escaped character is neither brace
_BETWEEN_SENTENCES = re.compile(r"\n\s*\n|\.\s")

_THE_ANSWER = re.compile(r"\bthe (?:final )?answer is\b", re.IGNORECASE)
_SO_THE_FINAL_ANSWER = re.compile(r"\bso,? the final answer is\b", re.IGNORECASE)
_SO_THE_ANSWER = re.compile(r"\bso,? the answer is\b", re.IGNORECASE)
_FINAL_ANSWER_LINE = re.compile(
    r"\bfinal answer[ \t*_]*+(?:\([^()\n]*\)[ \t*_]*+)?[:：](?=[^\n\w]*\w)", re.IGNORECASE
)
_FINAL_ANSWER_HEADING = re.compile(
    r"^[ \t#*_]*+final answer[ \t*_]*+(?:\([^()\n]*\))?[ \t*_:：]*+$", re.IGNORECASE | re.MULTILINE
)
_CONCLUSION = re.compile(
    r"(?:^[ \t*#>]*+|(?<=[.:!?*]\s))(?:therefore|thus|hence|so|consequently)\b",
    re.IGNORECASE | re.MULTILINE,
)
_VERB = re.compile(r"\b(?:is|are|was|were|be|equals)\b", re.IGNORECASE)
_LAST_DIGIT = re.compile(r".*\d", re.DOTALL)
_NUMBER = re.compile(r"[-−]?[$£€¥₤]?(?:\d[\d,]*)?\.?\d+%?")

_LEADING = re.compile(r"(?:[\s*_`:：>#]|\\\[|\$\$)*")
_CLAUSE_END = re.compile(
    r"\n|(?<!approx)(?<!\b[A-Z]\.[A-Z])\.(?=[*_`\"'”’)}\]$\\]*(?:\s(?!\s*[a-z])|$))"
)
_PROSE = re.compile(r"^[^\W\d_]|:$")
"""A value begins with a digit or a sign; a colon announces one that is still to come."""
_PLACEHOLDER = re.compile(r"[\W_]*|[{\[<(][a-z_ ]*[}\]>)]|(?:final )?answer\W*", re.IGNORECASE)
_WRAPPERS = (
    ("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"), ("{", "}"), ("**", "**"), ("`", "`"),
    ('"', '"'), ("'", "'"), ("“", "”"),
)  # fmt: skip

# Models fall into endless repetition, so no pattern may take quadratic time on any text.


def _final_boxes(text: str) -> list[str]:
    r"""Return the contents of the last box and of the boxes in the same sentence, in their order.

    A problem with several answers has them in boxes of their own: `$\boxed{1}$ and $\boxed{2}$`.
    A blank line, or a full stop before white space, ends the sentence. Nothing is returned where
    the last box is not closed: an earlier one need not be the answer.
    """
    boxes, closed = _find_boxes(text)
    if not boxes or not closed:
        return []
    first = len(boxes) - 1
    while first and not _BETWEEN_SENTENCES.search(text, boxes[first - 1].stop, boxes[first].start):
        first -= 1
    return [box.content for box in boxes[first:]]


class _Box(NamedTuple):
    start: int
    stop: int
    content: str


def _find_boxes(text: str) -> tuple[list[_Box], bool]:
    """Return the boxes with content, and whether the last box is closed."""
    boxes: list[_Box] = []
    position = 0
    while opening := _BOX.search(text, position):
        closing = _closing_brace(text, opening.end())
        if closing is None:
            return boxes, False
        if content := text[opening.end() : closing].strip():
            boxes.append(_Box(opening.start(), closing + 1, content))
        position = closing + 1
    return boxes, True


def _closing_brace(text: str, start: int) -> int | None:
    """Return where the brace closes that was opened just before `start`."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return None


def _boxed(text: str) -> str | None:
    """Take the content of the last box."""
    return next(reversed(_final_boxes(text)), None)


def _after(phrase: re.Pattern[str]) -> Callable[[str], str | None]:
    """Make a rule: what follows the last occurrence of a phrase, up to the end of the sentence.

    Occurrences that no answer follows are passed over: models repeat the words of their prompt,
    `the answer is {final answer}`.
    """
    return lambda text: next((clause.text for clause in _clauses(text, phrase)), None)


def _final_answer(text: str) -> str | None:
    """Take what follows the last "Final answer:" on its line.

    Where that is prose ("Final answer: the price of the bond is as follows") and an answer is
    marked further down, that is taken: a box, or what follows "the answer is" or a heading.
    """
    for found, stop in _clauses(text, _FINAL_ANSWER_LINE):
        if not _PROSE.search(found):
            return found
        later = (rule(text[stop:]) for rule in (_boxed, _the_answer, _below_heading))
        return next(filter(None, later), found)
    return None


def _conclusion(text: str) -> str | None:
    """Take the number that the last sentence beginning with "therefore", "so" or the like states.

    It is what follows the last verb before a digit.
    """
    for sentence, _ in _clauses(text, _CONCLUSION):
        last_digit = _LAST_DIGIT.match(sentence)
        verbs = list(_VERB.finditer(sentence, 0, last_digit.end())) if last_digit else []
        if verbs:
            return _unwrap(sentence[verbs[-1].end() :])
    return None


class _Clause(NamedTuple):
    text: str
    stop: int
    """Where it ends in the whole text."""


def _clauses(text: str, phrase: re.Pattern[str]) -> Iterator[_Clause]:
    """Yield what follows each occurrence of a phrase, from the last to the first.

    That is the rest of the sentence, or the first line below that has any; placeholders are left
    out.
    """
    stop = len(text)
    for found in reversed(list(phrase.finditer(text))):
        leading = _LEADING.match(text, found.end(), stop)
        start = leading.end() if leading else found.end()
        ending = _CLAUSE_END.search(text, start, stop)
        end = ending.start() if ending else stop
        if answer := _answer_of(text[start:end]):
            yield _Clause(answer, end)
        stop = found.start()


def _answer_of(clause: str) -> str | None:
    """Take the last box of a clause, or all of it."""
    return _boxed(clause) or _unwrap(clause)


def _unwrap(text: str) -> str | None:
    """Take quotes, bold type, braces and dollar signs off both ends; None: it is a placeholder."""
    bare, text = text, ""
    while bare != text:
        text = bare
        bare = text.strip(" \t*_").removesuffix(".")
        if _PLACEHOLDER.fullmatch(bare):
            return None
        for left, right in _WRAPPERS:
            inner = bare[len(left) : -len(right)]
            # `$a$ and $b$` is not one formula: nothing inside may close what is opened outside
            if bare == left + inner + right and right not in inner:
                bare = inner
    return text


_the_answer = _after(_THE_ANSWER)
_below_heading = _after(_FINAL_ANSWER_HEADING)

RULES: Mapping[str, Callable[[str], str | None]] = {
    "boxed/1": _boxed,
    "boxes/1": lambda text: ", ".join(_final_boxes(text)) or None,
    "final-answer/2": _final_answer,
    "final-answer-heading/1": _below_heading,
    "the-answer-is/1": _the_answer,
    "so-the-final-answer-is/1": _after(_SO_THE_FINAL_ANSWER),
    "so-the-answer-is/1": _after(_SO_THE_ANSWER),
    "conclusion/1": _conclusion,
    "only-line/1": lambda text: text.strip() if "\n" not in text.strip() else None,
    "last-number/1": lambda text: next(reversed(_NUMBER.findall(text)), None),
}
FINANCEMATH_RULES = (
    "final-answer/2",
    "the-answer-is/1",
    "boxed/1",
    "final-answer-heading/1",
    "conclusion/1",
    "last-number/1",
)
"""The last number comes last: an answer that nothing marks must not count as wrong in texts alone,
for a program gives its value without any mark."""
BBH_RULES = ("so-the-answer-is/1", "only-line/1")
"""Prompts without reasoning have the bare answer on one line."""


MATHEMATICS_RULES = (
    "boxes/1",
    "so-the-final-answer-is/1",
    "final-answer/2",
    "the-answer-is/1",
    "final-answer-heading/1",
)
GENERAL_RULES = (
    "boxed/1",
    "final-answer/2",
    "the-answer-is/1",
    "final-answer-heading/1",
    "only-line/1",
    "last-number/1",
)
"""For questions of one's own: a bare answer stands on one line, `3/4` whole."""


def extract(text: str, names: Sequence[str]) -> Extracted | None:
    """Return the final answer by the first of several rules in `RULES` that finds one.

    It is as it stands in the text, without quotes, bold type and the like around it.
    """
    found = ((RULES[name](text), name) for name in names)
    return next((Extracted(answer, name) for answer, name in found if answer), None)


# Programs

_FENCE = "```"
_PYTHON_BLOCK = re.compile(r"```python(.*?)```", re.DOTALL)
_ANY_BLOCK = re.compile(r"```(.*?)```", re.DOTALL)
_FUNCTION = "def solution():"
_PYTHON = ("python", "python3", "py")
_BLOCK = re.compile(
    r"^[ \t]*```(?P<name>[^`\n]*)\n(?P<body>.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)


def _financemath_program(output: str) -> str | None:
    """Do what the evaluation of FinanceMath's authors does, to the letter of its published results.

    It takes the first block, and makes a function of an output that goes on where a prompt ending
    in `def solution():` stopped.
    """
    if not output or "argparse" in output:
        return None
    block = _PYTHON_BLOCK.search(output) or _ANY_BLOCK.search(output)
    if block:
        program = block[1].strip("\n")
    elif _FUNCTION in output:
        program = output.strip()  # so that the backticks of a fence are at the end
    else:
        indent = "" if output.startswith("    ") else "    "
        body = output.split(_FENCE, maxsplit=1)[0] if output.count(_FENCE) == 1 else output
        program = f"{_FUNCTION}\n{indent}{body}"
    return program.strip("`").strip()


def _fenced_program(output: str) -> str | None:
    """Take the last block marked as Python, or else the last block that is marked as nothing.

    A model that corrects itself does so further down; its sample of what is printed comes last
    too, and is seldom marked as Python. As Markdown has it, a block that is not closed runs to the
    end of the text.
    """
    marked, unmarked = None, None
    for block in _BLOCK.finditer(output):
        name = block["name"].strip().lower()
        if name in _PYTHON:
            marked = textwrap.dedent(block["body"])
        elif not name:
            unmarked = textwrap.dedent(block["body"])
    program = (marked or unmarked or "").strip("\n").rstrip()
    return program or None


PROGRAM_RULES: Mapping[str, Callable[[str], str | None]] = {
    "financemath-authors/2": _financemath_program,
    "fenced/1": _fenced_program,
}
"""The first is for functions called `solution`, where an output without any fence is a program as
well; the second for scripts. What they find need not be valid Python."""
