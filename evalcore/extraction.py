"""Find the final answer or the program in an output, by named rules with versions."""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

# Models fall into endless repetition, so no pattern may take quadratic time on any text.
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)  # an escaped character is neither brace
_THE_ANSWER = r"(?i)\bthe (?:final )?answer is\b"
_FINAL_ANSWER_LINE = r"(?i)\bfinal answer[ \t*_]*+(?:\([^()\n]*\)[ \t*_]*+)?[:：](?=[^\n\w]*\w)"
_HEADING = r"(?im)^[ \t#*_]*+final answer[ \t*_]*+(?:\([^()\n]*\))?[ \t*_:：]*+$"
_CONCLUSION = r"(?im)(?:^[ \t*#>]*+|(?<=[.:!?*]\s))(?:therefore|thus|hence|so|consequently)\b"
_VERB = re.compile(r"\b(?:is|are|was|were|be|equals)\b", re.IGNORECASE)
_NUMBER = r"[-−]?[$£€¥₤]?(?:\d[\d,]*)?\.?\d+%?"
_LETTER = r"(?:[kKMBT]|mn|bn)\b"
_SCALE = (  # what makes it another number: a word, a letter, an exclamation mark
    r"[ -](?i:(?:hundred|thousand|million|billion|trillion)(?:ths?|s)?|dozens?)\b"
    rf"|(?<=\d)(?![KT]){_LETTER}|(?<=\d)!+"
)
_SCALED = re.compile(rf"[-−]?[$£€¥₤](?:\d[\d,]*)?\.?\d+( ?{_LETTER})|{_NUMBER}({_SCALE})?")

_CLAUSE = re.compile(  # up to a line break or a full stop, but not one within an abbreviation
    r"(?:[\s*_`:：>#]|\\\[|\$\$)*+(?P<clause>.*?)(?=\n|\Z"
    r"|(?<!approx)(?<!\b[A-Z]\.[A-Z])\.(?=[*_`\"'”’)}\]$\\]*(?:\s(?!\s*[a-z])|$)))",
    re.DOTALL,
)
_PLACEHOLDER = re.compile(r"[\W_]*|[{\[<(][a-z_ ]*[}\]>)]|(?:final )?answer\W*", re.IGNORECASE)
_WRAPPERS = ("\\(|\\)", "\\[|\\]", "$$|$$", "$|$", "{|}", "**|**", "`|`", '"|"', "'|'", "“|”")


def _final_boxes(text: str) -> list[str]:
    """Return the contents of the boxes in the last sentence that has any; none if one is cut."""
    boxes: list[str] = []
    start = stop = 0
    while opening := _BOX.search(text, start):
        depth = 1
        for brace in _BRACE.finditer(text, opening.end()):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                break
        else:
            return []  # an earlier one need not be the answer
        start = brace.end()
        if content := text[opening.end() : start - 1].strip():
            is_new = re.search(r"\n\s*\n|\.\s", text[stop : opening.start()])
            boxes, stop = [content] if is_new else [*boxes, content], start
    return boxes


def _boxed(text: str) -> str | None:
    return next(reversed(_final_boxes(text)), None)


def _clauses(text: str, phrase: str) -> Iterator[tuple[str, int]]:
    """Yield what follows each occurrence of a phrase, from the last to the first, and its end."""
    stop = len(text)
    for found in reversed(list(re.finditer(phrase, text))):
        clause = _CLAUSE.match(text, found.end(), stop)
        if clause and (answer := _boxed(clause["clause"]) or _unwrap(clause["clause"])):
            yield answer, clause.end()
        stop = found.start()


def _after(phrase: str, text: str) -> str | None:
    return next((clause for clause, _ in _clauses(text, phrase)), None)


def _final_answer(text: str) -> str | None:
    """Take what follows the last "Final answer:"; where that is prose, an answer marked below."""
    found, stop = next(_clauses(text, _FINAL_ANSWER_LINE), ("", 0))
    # a value begins with a digit or a sign; a colon announces one that is still to come
    if not re.search(r"^[^\W\d_]|:$", found):
        return found or None
    rest = text[stop:]
    return _boxed(rest) or _after(_THE_ANSWER, rest) or _after(_HEADING, rest) or found


def _conclusion(text: str) -> str | None:
    """Take what follows the last verb before a digit in the last sentence that begins with "so"."""
    for sentence, _ in _clauses(text, _CONCLUSION):
        last_digit = re.match(r"(?s).*\d", sentence)
        verbs = last_digit and list(_VERB.finditer(sentence, 0, last_digit.end()))
        if verbs:
            return _unwrap(sentence[verbs[-1].end() :])
    return None


def _unwrap(text: str) -> str | None:
    """Take quotes, bold type and the like off both ends; None for words of the prompt: `{x}`."""
    bare, text = text, ""
    while bare != text:
        text = bare
        bare = text.strip(" \t*_").removesuffix(".")
        if _PLACEHOLDER.fullmatch(bare):
            return None
        for left, _, right in (pair.partition("|") for pair in _WRAPPERS):
            inner = bare[len(left) : -len(right)]
            # `$a$ and $b$` is not one formula: nothing inside may close what is opened outside
            if bare == left + inner + right and right not in inner:
                bare = inner
    return text


def _scaled_number(text: str) -> str | None:
    """Take the last number, if a word or a letter behind it makes it another one."""
    last = next(reversed(list(_SCALED.finditer(text))), None)
    return last[0] if last and any(last.groups()) else None


RULES: Mapping[str, Callable[[str], str | None]] = {
    "boxed/1": _boxed,
    "boxes/1": lambda text: ", ".join(_final_boxes(text)) or None,
    "final-answer/2": _final_answer,
    "final-answer-heading/1": partial(_after, _HEADING),
    "the-answer-is/1": partial(_after, _THE_ANSWER),
    "so-the-final-answer-is/1": partial(_after, r"(?i)\bso,? the final answer is\b"),
    "so-the-answer-is/1": partial(_after, r"(?i)\bso,? the answer is\b"),
    "conclusion/1": _conclusion,
    "only-line/1": lambda text: text.strip() if "\n" not in text.strip() else None,
    "scaled-number/1": _scaled_number,
    "last-number/1": lambda text: next(reversed(re.findall(_NUMBER, text)), None),
}


def extract(text: str, names: Sequence[str]) -> tuple[str, str] | None:
    """Return the final answer as it is in the text, and the first rule that finds one."""
    found = ((RULES[name](text), name) for name in names)
    return next(((answer, name) for answer, name in found if answer), None)


def _financemath_program(output: str) -> str | None:
    """Take the first block, or all, as FinanceMath's authors do, to the letter of their results."""
    if not output or "argparse" in output:
        return None
    block = re.search(r"(?s)```python(.*?)```", output) or re.search(r"(?s)```(.*?)```", output)
    if block:
        program = block[1].strip("\n")
    elif "def solution():" in output:
        program = output.strip()  # so that the backticks of a fence are at the end
    else:
        indent = "" if output.startswith("    ") else "    "
        body = output.split("```", maxsplit=1)[0] if output.count("```") == 1 else output
        program = f"def solution():\n{indent}{body}"  # with which the prompt ended
    return program.strip("`").strip()


def _fenced_program(output: str) -> str | None:
    """Take the last block marked as Python, or else the last block that is marked as nothing."""
    found = re.findall(r"(?ms)^[ \t]*```([^`\n]*)\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", output)
    blocks = {re.sub("^python3?$", "py", name.strip().lower()): body for name, body in found}
    program = textwrap.dedent(blocks.get("py") or blocks.get("") or "")
    return program.strip("\n").rstrip() or None


PROGRAM_RULES: Mapping[str, Callable[[str], str | None]] = {
    "financemath-authors/2": _financemath_program,
    "fenced/1": _fenced_program,
}
FUNCTION_RULES = frozenset({"financemath-authors/2"})
"""Rules whose programs are always functions called `solution`; others find scripts too."""
