r"""The verdict in a judge's reply: in the form that was asked for, or in another one as clear.

Judges write `**Correct**`, `Verdict: correct.` or `Score: 6/7` where a box or a tag was asked for.
Such a statement counts if it is all that its line says and nothing after it contradicts it. Remarks
on the way to it, such as that a step is correct, never count.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

JudgeVerdict = str | int


class VerdictForm(NamedTuple):
    """How a prompt asks for the verdict: one of some labels, or whole points up to a maximum."""

    pattern: str
    """A regular expression whose group is the answer."""
    expected: str
    """The same, as a reader would write it."""
    labels: Sequence[str] = ()
    most: float = 0


class _Weight(IntEnum):
    """How clearly a statement is the verdict."""

    LONE = 1
    """The first or the last line is nothing but a verdict."""
    NAMED = 2
    """`Verdict: …`, `Score: …`, `<verdict>…</verdict>`."""
    REQUESTED = 3
    """The form that the prompt asks for."""


class _Statement(NamedTuple):
    """The verdict of a line of a reply; its answer is None if that is not clear."""

    line: int
    weight: _Weight
    answer: JudgeVerdict | None
    text: str


_VERDICTS = (
    "verdict|judge?ment|grade|decision|assessment|evaluation|rating|correctness"
    "|score|points?|marks?"
)
_OTHERS = "answer|result|conclusion|total"
"""Nouns that judges also use of what they judge."""
_NOUN = (
    r"(?:(?:so|thus|hence|therefore)\W+)?(?:(?:my|the|our)\s+)?(?:(?:final|overall|total)\s+)?"
    rf"(?:(?P<verdict>{_VERDICTS})|(?P<other>{_OTHERS}))"
)
_NAMED = re.compile(
    rf"{_NOUN}\s*(?P<sign>is\s*:|is\b|:|=|-|–|—)\s*(?P<value>.*)",
    re.IGNORECASE,
)
_HEADING = re.compile(rf"{_NOUN}\s*:?", re.IGNORECASE)
_YES_OR_NO = re.compile(
    r"(?:is\s*)?(?P<not>in)?correct\s*[:=?]+\s*(?:(?P<yes>yes|true)|no|false)[.,!]*", re.IGNORECASE
)
_TAGGED = re.compile(rf"<({_VERDICTS}|{_OTHERS})>(.{{0,200}}?)</\1>", re.IGNORECASE | re.DOTALL)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\}){0,200})\}")
_WRAPPED = re.compile(
    r"\\(?:boxed|fbox|text|textbf|textit|texttt|mathrm|mathbf|mathit|mathsf)\s*\{([^{}]*)\}"
)
_DECORATION = re.compile(r"[*_`#>~\"“”$✅❌✔✓✗✘☑\ufe0f]|\\[()\[\]]")
_BULLET = re.compile(r"^\s*(?:[-+•]|\d+[.)])\s+(?=\D)")
_BRACKETED = re.compile(r"[\[({]+\s*([^\[\](){}]*?)\s*[\])}]+[.,!]*")
_DENIED = re.compile(r"(?:\bnot|\bnever|\bnor|n['’]t)[ *_$`(\\\[]*$", re.IGNORECASE)

# What may follow a verdict in its line: nothing, another sentence, or a clause that explains it.
_NEXT_SENTENCE = r"[.!]+\s+(?P<sentence>\S.*)"
_CLAUSE = r"(?:\s+[-–—]+\s*|[,;]\s+|\s*\(\s*)(?P<clause>[^\W\d].*)"
_REST = rf"\s*(?:[.,!]*|{_NEXT_SENTENCE}|{_CLAUSE})"
_HEDGE = re.compile(
    r"^not\b|^(?:no|false)\W*$|\bnot (?:sure|certain|clear|fully|entirely|quite|complete)|\?"
    r"|\b(?:but|except|although|though|unless|only if|partial\w*|partly|almost|mostly|nearly"
    r"|maybe|perhaps|possibly|probably|unsure|uncertain|unclear|or|out of)\b",
    re.IGNORECASE,
)
_REVERSAL = re.compile(
    r"(?:^|[.!?]\s|\n)\W{0,9}(?:hmm+\W{1,3})?(?:but |no\W{1,3})?"
    r"(?:wait\b|on second thought|on reflection|let me re-?(?:consider|think|check|examine))",
    re.IGNORECASE,
)
_OBJECTION = re.compile(r"\b(?:incorrect|wrong|not (?:correct|right)|however)\b", re.IGNORECASE)
_VERDICT_WORD = re.compile(r"\b(?:right|wrong|true|false|valid|invalid)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_UNIT = r"\s*(?:points?|pts?|marks?)?"
_SUBJECT = re.compile(
    r"^(?:it|this|the (?:[\w'’]+ ){0,2}(?:answer|solution|proof|response)) is ",
    re.IGNORECASE,
)
_POINTS = (
    rf"(?P<points>\d{{1,3}})(?:\.0+)?{_UNIT}"
    rf"(?:\s*\(?\s*(?:/|out\s+of|of)\s*(?P<total>\d{{1,3}}){_UNIT}\s*\)?)?"
)


def read_verdict(form: VerdictForm, reply: str) -> JudgeVerdict:
    """Return the one verdict of a reply: a label as the form spells it, or a number of points.

    Raises a ValueError if there is none, or if the reply contradicts itself.
    """
    breaks = [place for place, character in enumerate(reply) if character == "\n"]
    statements = [
        *_requested(form, reply, breaks),
        *_tagged(form, reply, breaks),
        *_in_lines(form, reply),
    ]
    if not statements:
        raise ValueError(f"no {form.expected} in the reply")
    heaviest = max(statement.weight for statement in statements)
    last = max(statement.line for statement in statements if statement.weight == heaviest)
    # A lighter statement before the verdict led to it; one after it would correct it.
    decisive = [
        statement
        for statement in statements
        if statement.weight == heaviest or statement.line >= last
    ]
    if unclear := [statement.text for statement in decisive if statement.answer is None]:
        raise ValueError(f"no {form.expected} in the reply, which says {unclear[0][:100]!r}")
    if _REVERSAL.search("\n".join(reply.split("\n")[last + 1 :])):
        raise ValueError("the reply takes its verdict back")
    answers = list(
        dict.fromkeys(statement.answer for statement in decisive if statement.answer is not None)
    )
    if len(answers) > 1:
        raise ValueError(f"the reply has several labels: {', '.join(map(str, answers))}")
    return answers[0]


def read_fields(reply: str) -> dict[str, Any]:
    """Return the JSON object that a reply is, alone or in a fence; its names in lower case.

    Raises a ValueError if it is something else.
    """
    try:
        pairs = json.loads(_without_fence(reply), object_pairs_hook=tuple)
        fields = json.loads(_without_fence(reply))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    by_name = {name.lower(): value for name, value in fields.items()}
    if len(pairs) > len(by_name):
        raise ValueError("it has a key twice")
    return by_name


def label_of(answer: object, labels: Sequence[str]) -> str | None:
    """Return the label that an answer is, in upper or lower case; None if it is none of them."""
    by_name = {label.lower(): label for label in labels}
    return by_name.get(answer.strip().lower()) if isinstance(answer, str) else None


def _without_fence(reply: str) -> str:
    """Return the content of the only fenced block of a reply, or all of it."""
    lines = reply.strip().split("\n")
    fences = [number for number, line in enumerate(lines) if line.startswith("```")]
    if len(fences) != 2:
        return reply.strip()
    first, last = fences
    return "\n".join(lines[first + 1 : last])


def _requested(form: VerdictForm, reply: str, breaks: Sequence[int]) -> Iterator[_Statement]:
    """Yield the statements in the form of the prompt, and boxes that have no label of it."""
    matches = list(re.finditer(form.pattern, reply))
    for match in matches:
        answer = label_of(match[1], form.labels) if form.labels else int(match[1])
        is_denied = _DENIED.search(reply[max(0, match.start() - 20) : match.start()])
        line = bisect_left(breaks, match.end())
        yield _Statement(line, _Weight.REQUESTED, None if is_denied else answer, match[0])
    places = {match.start() for match in matches}
    for box in _BOXED.finditer(reply):
        if form.labels and box.start() not in places and _mentions_verdict(form, box[1]):
            yield _Statement(bisect_left(breaks, box.end()), _Weight.REQUESTED, None, box[0])


def _tagged(form: VerdictForm, reply: str, breaks: Sequence[int]) -> Iterator[_Statement]:
    for match in _TAGGED.finditer(reply):
        text = _plain(_field_line(match[1], match[2]))
        statement = _named_statement(form, text, bisect_left(breaks, match.end()))
        if statement is not None:
            yield statement


def _in_lines(form: VerdictForm, reply: str) -> Iterator[_Statement]:
    lines = _lines_of(reply)
    texts = [text for _, text in lines]
    for place, (line, text) in enumerate(lines):
        statement = _named_statement(form, text, line)
        if statement is None and place == len(lines) - 1:
            # The verdict may end a paragraph that explains it.
            last_sentence = _SENTENCE_END.split(text)[-1]
            statement = _named_statement(form, last_sentence, line)
        if statement is not None:
            yield statement
        elif place == len(lines) - 1 or (
            place == 0 and not _takes_back(form, text, "\n".join(texts[1:]))
        ):
            yield from _lone_statement(form, text, line, is_alone=len(lines) == 1)


def _lines_of(reply: str) -> list[tuple[int, str]]:
    """Return the lines with any text and their numbers; a heading is joined with its content.

    Each field of a JSON object is a line.
    """
    try:
        fields = json.loads(_without_fence(reply), object_pairs_hook=lambda pairs: pairs)
    except (ValueError, RecursionError):
        fields = None
    raw = reply.split("\n")
    if isinstance(fields, list) and all(isinstance(pair, tuple) for pair in fields):
        raw = [_field_line(name, value) for name, value in fields]
    lines = list[tuple[int, str]]()
    for line, full_text in enumerate(raw):
        is_fence = full_text.startswith("```")
        text = "" if is_fence else _plain(_BULLET.sub("", full_text, count=1))
        if text and lines and _HEADING.fullmatch(lines[-1][1]):
            heading = lines.pop()[1].rstrip(": ")
            text = f"{heading}: {text}"
        if text:
            lines.append((line, text))
    return lines


def _field_line(name: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    name = name.replace("_", " ")
    # A field is named, so that `answer` can't be taken for a word in passing.
    name = "verdict" if re.fullmatch(f"(?:final )?(?:{_OTHERS})", name.lower()) else name
    return f"{name}: {' '.join(text.split())}"


def _plain(text: str) -> str:
    """Return a text without emphasis, quotation marks, boxes and brackets around it."""
    for _ in range(3):  # a box of bold text in brackets
        text = _WRAPPED.sub(r"\1", text)
    text = " ".join(_DECORATION.sub("", text).split())
    bracketed = _BRACKETED.fullmatch(text)
    return bracketed[1] if bracketed else text


def _named_statement(form: VerdictForm, text: str, line: int) -> _Statement | None:
    """Return what a line such as `Verdict: correct.` says; None: it says nothing of the verdict."""
    if form.labels and (yes_or_no := _YES_OR_NO.fullmatch(text)):
        is_correct = bool(yes_or_no["yes"]) != bool(yes_or_no["not"])
        label = label_of("correct" if is_correct else "incorrect", form.labels)
        return _Statement(line, _Weight.NAMED, label, text)
    match = _NAMED.fullmatch(text)
    if not match or not match["verdict"] or not match["value"]:
        return None
    value = _SUBJECT.sub("", _plain(match["value"]), count=1)
    answer = _answer_in(form, _with_label(form, value), may_be_other=False)
    if answer is None and not _mentions_verdict(form, match["value"]):
        return None
    return _Statement(line, _Weight.NAMED, answer, text)


_SYNONYMS = {"right": "correct", "wrong": "incorrect"}
_SYNONYM = re.compile(rf"(?:{'|'.join(_SYNONYMS)})\b", re.IGNORECASE)


def _with_label(form: VerdictForm, value: str) -> str:
    """Return a named verdict with the label of the form for `right` or `wrong` in front."""
    word = _SYNONYM.match(value)
    label = word and label_of(_SYNONYMS[word[0].lower()], form.labels)
    return f"{label}{value[word.end() :]}" if word and label else value


def _lone_statement(
    form: VerdictForm, text: str, line: int, is_alone: bool
) -> Iterator[_Statement]:
    """Yield what the first or the last line says, if it is a verdict and nothing else."""
    match = _NAMED.fullmatch(text)
    if match and match["sign"].lower() == "is" and not is_alone:
        return  # in a discussion, the answer may be correct and the proof wrong
    value = _plain(match["value"]) if match else text
    answer = _answer_in(form, value, may_be_other=bool(match) or not is_alone)
    if answer is not None:
        yield _Statement(line, _Weight.LONE, answer, text)


def _answer_in(form: VerdictForm, value: str, may_be_other: bool) -> JudgeVerdict | None:
    """Return the verdict that a text is, with an explanation at most; None: it is none.

    A number that `may_be_other` than a verdict needs its total, such as `6/7`.
    """
    names = "|".join(map(re.escape, form.labels))
    match = re.fullmatch(f"(?P<answer>{names or _POINTS}){_REST}", value, re.IGNORECASE)
    if not match or _takes_back(form, match["answer"], match["sentence"] or ""):
        return None
    explanation = (match["clause"] or match["sentence"] or "").strip(" .!)")
    if _HEDGE.search(match["clause"] or "") or label_of(explanation, form.labels):
        return None
    if form.labels:
        return label_of(match["answer"], form.labels)
    is_of_total = match["total"] == f"{form.most:g}"
    return int(match["points"]) if is_of_total or not (match["total"] or may_be_other) else None


def _mentions_verdict(form: VerdictForm, value: str) -> bool:
    """Tell whether a text says something of the verdict, however unclear."""
    if not form.labels:
        return bool(re.search(r"\d", value))
    names = "|".join(map(re.escape, form.labels))
    is_named = re.search(rf"\b(?:{names})\b", value, re.IGNORECASE)
    return bool(is_named or _VERDICT_WORD.search(value))


def _takes_back(form: VerdictForm, verdict: str, rest: str) -> bool:
    """Tell whether what follows a verdict takes it back, or objects to an approval."""
    is_objection = form.labels and not _OBJECTION.search(verdict)
    return bool(_REVERSAL.search(rest) or (is_objection and _OBJECTION.search(rest)))
