"""Answers that words announce: "The answer is 5", "Final Answer: 5", "#### 5"."""

import re
from collections.abc import Callable, Iterator

from evalcore.extraction.boxes import last_box, linked_boxes

THE_ANSWER = r"(?i)\bthe (?:final )?answer is\b"
_FINAL_ANSWER_LINE = r"(?i)\bfinal answer[ \t*_]*+(?:\([^()\n]*\)[ \t*_]*+)?[:：](?=[^\n\w]*\w)"
HEADING = r"(?im)^[ \t#*_]*+final answer[ \t*_]*+(?:\([^()\n]*\))?[ \t*_:：]*+$"
_CONCLUSION = r"(?im)(?:^[ \t*#>]*+|(?<=[.:!?*]\s))(?:therefore|thus|hence|so|consequently)\b"
_VERB = re.compile(r"\b(?:is|are|was|were|be|equals)\b", re.IGNORECASE)

_CLAUSE = re.compile(  # up to a line break or a full stop, but not one within an abbreviation
    r"(?:[\s*_`:：#]|(?<=[\n>])>|\\\[|\$\$)*+(?P<clause>.*?)(?=\n|\Z"
    r"|(?<!approx)(?<!\b[A-Z]\.[A-Z])\.(?=[*_`\"'”’)}\]$\\]*(?:\s(?!\s*[a-z])|$)))",
    re.DOTALL,
)
_PLACEHOLDER = re.compile(r"[\W_]*|[{\[<(][a-z_ ]*[}\]>)]|(?:final )?answer\W*", re.IGNORECASE)
_WRAPPERS = (
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("$$", "$$"),
    ("$", "$"),
    ("{", "}"),
    ("**", "**"),
    ("`", "`"),
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
)

_CLOSING_MARKS = {
    "$": "$",
    "\\(": "\\)",
    '"': '"',
    "'": "'",
    "“": "”",
    "‘": "’",
}

_ClauseReader = Callable[[str], str | None]
"""Finds the answer in the words of a clause."""


def _boxed_or_bare(clause: str) -> str | None:
    return last_box(clause) or _unwrap(clause)


def _with_closing_mark(clause: str, rest: str) -> str:
    """Add what closes a quotation or a formula that has its full stop inside: `"yes."`."""
    for opening, closing in _CLOSING_MARKS.items():
        is_open = clause.startswith(opening) and closing not in clause[len(opening) :]
        if is_open and rest.startswith(f".{closing}"):
            return f"{clause}.{closing}"
    return clause


def _clauses(
    text: str, phrase: str, read_answer: _ClauseReader = _boxed_or_bare
) -> Iterator[tuple[str, int]]:
    """Yield what follows each occurrence of a phrase, from the last to the first, and its end."""
    stop = len(text)
    for match in reversed(list(re.finditer(phrase, text))):
        clause = _CLAUSE.match(text, match.end(), stop)
        if clause and (
            answer := read_answer(_with_closing_mark(clause["clause"], text[clause.end() : stop]))
        ):
            yield answer, clause.end()
        stop = match.start()


def after(phrase: str, text: str) -> str | None:
    """Take what follows the last occurrence of a phrase that an answer follows."""
    return next((clause for clause, _ in _clauses(text, phrase)), None)


def final_answer_2(text: str) -> str | None:
    """Take what follows the last "Final answer:"; where that is prose, an answer marked below."""
    final_answer, stop = next(_clauses(text, _FINAL_ANSWER_LINE), ("", 0))
    # a value begins with a digit or a sign; a colon announces one that is still to come
    if not re.search(r"^[^\W\d_]|:$", final_answer):
        return final_answer or None
    rest = text[stop:]
    return last_box(rest) or after(THE_ANSWER, rest) or after(HEADING, rest) or final_answer


def conclusion(text: str) -> str | None:
    """Take what follows the last verb before a digit in the last sentence that begins with "so"."""
    for sentence, _ in _clauses(text, _CONCLUSION):
        last_digit = re.match(r"(?s).*\d", sentence)
        verbs = last_digit and list(_VERB.finditer(sentence, 0, last_digit.end()))
        if verbs:
            return _unwrap(sentence[verbs[-1].end() :])
    return None


def _unwrap(text: str, placeholder: re.Pattern[str] = _PLACEHOLDER) -> str | None:
    """Take quotes, bold type and the like off both ends; None for words of the prompt: `{x}`."""
    bare, text = text, ""
    while bare != text:
        text = bare
        bare = text.strip(" \t*_").removesuffix(".")
        if placeholder.fullmatch(bare):
            return None
        for opening, closing in _WRAPPERS:
            inner = bare[len(opening) : -len(closing)]
            # `$a$ and $b$` is not one formula: nothing inside may close what is opened outside
            if bare == opening + inner + closing and closing not in inner:
                bare = inner
    return text


# Later versions: `(A)` is an answer, and an answer ends where its reason begins

_PROMPT_WORDS = re.compile(  # `{x}`, `<number>`, `(your answer)`, `___`
    r"(?!(?:[)\]}>]\s?)+\Z)[\s._?…:,;()\[\]{}$\\*\"'-]*"  # closing brackets may be an answer
    r"|[{<][a-z_ ]*[}>]|(?:final )?answer\W*"
    r"|[(\[][a-z_ ]*\b(?:answer|number|value|letter|option|choice|result|final|your|here)\b"
    r"[a-z_ ]*[)\]]",
    re.IGNORECASE,
)
_ADVERBS = re.compile(
    r"(?i)(?:(?:therefore|thus|hence|then|simply|just|indeed|still|clearly|now|actually|in fact"
    r"|(?:given|as follows)(?: by)?|[,:])[\s:]*)+"
)
_REASON = re.compile(
    r"(?i)(?:[,;]\s*|\s+[-–—]+\s+|\s+\(?)(?:since|because)\b"
    r"|[,;]\s*(?:as|so|where|which|given|giving|i\.e|that is|(?:and |but )?not)\b"
    r"|[,;]?\s+\(?(?:rather than|instead of)\b|(?<!\band)(?<!\bor)\s+\(not\b"
)
_CORRECTION = re.compile(  # `not 5 but 7`, `not (B), it is (A)`
    r"(?i)not\s+(?!only\b|just\b|merely\b)[^.;\n]{1,60}?"
    r"(?:[,;]?\s+but(?:\s+rather)?|[,;]\s*(?:it(?:['’]s|\s+is)|rather|instead))\s+(?=\S)"
)
_EVALUATION = re.compile(
    r"(?i)(?:also |indeed |not |now |clearly )?(?:correct|incorrect|right|wrong|clear|obvious"
    r"|consistent|reasonable|trivial|interesting"
    r"|simple|straightforward|verified|confirmed|the same|above|below|found|as (?:above|below)"
    r"|as follows|here|there)\b.*"
)
_OPENS_SENTENCE = re.compile(
    r"(?i)(?:the|it|this|that|there|its|so|thus|hence|therefore|we|she|he|they)\b"
)
_IS = re.compile(r"\b(?:is|are|was|were|equals)\b", re.IGNORECASE)
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_KIND = r"(?:final|correct|right|best|exact|numerical|required|overall)\s+"
_THE_ANSWER = (
    r"(?im)(?<!\bif )(?<!\bwhether )"
    rf"(?:\b(?:the|my|our)\s+(?:{_KIND}){{0,3}}+|\b(?:{_KIND}){{1,3}}+|^[^\w\n]*+)"
    r"(?:answers?|options?|choices?)(?:\s+(?:to|for|of)\s[^.:\n]{0,60}?)?"
    r"(?:,?\s+(?:therefore|then|thus|hence),?)?\s+"
)
_STATEMENT = rf"{_THE_ANSWER}(?:is|are|equals|(?:must|should|will)\s+be)(?![\w'’])"
_HYPOTHESIS = rf"{_THE_ANSWER}would\s+be(?![\w'’])"
"""A hypothesis; the answer itself if nothing else states one, since some say it politely."""
_FINAL_LINE = (
    r"(?i)\bfinal answer[ \t*_]*+(?:\([^()\n]*\)[ \t*_]*+)?(?:[:：=]|[-–—→]\s)"
    r"(?=[^\n\w]*[\w∞∅])"
)
_ANSWER_LINE = (
    r"(?im)(?:^[^\w\n]{0,20}+|(?<=[.!?]\s))(?:(?:the|my|our)\s+)?"
    rf"(?:{_KIND}){{0,3}}+(?:answer|ans\b\.?|option|choice)[ \t*_]*+(?:\([^()\n]*\)[ \t*_]*+)?"
    r"(?:[:：=]|[-–—→]\s)(?=[^\n\w]*[\w∞∅])"
)
_ANSWER_HEADING = (
    rf"(?im)^[^\w\n]{{0,20}}+(?:(?:the|my|our)\s+)?(?:{_KIND}){{0,3}}+answer[ \t*_]*+"
    r"(?:\([^()\n]*\))?[ \t*_:：]*+$"
)
_ITEM = r"\s{0,9}(?:[-+•*]|\d{1,2}[.)])[ \t]"
_NO_STEPS = rf"(?!{_ITEM}[^\n]*\n{_ITEM})"
"""Behind a heading: a list of several items is a solution."""
_CORRECT_CHOICE = re.compile(
    r"\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+\(?([A-J])\)? is (?:the )?(?:correct|right|best)\b"
    r"|(?<![\w(])\(?([A-J])\)? is the (?:(?:correct|right|best) (?:answer|option|choice)|answer)\b"
    r"|\bI(?:['’]d| would| will|['’]ll)? (?:choose|pick|select|go with|say)"
    r" (?:(?:the )?(?:[Oo]ption|[Aa]nswer|[Cc]hoice) )?(?:\*\*)?\(?([A-J])\)?"
    r"(?=\W{0,9}(?:$|\n|\.\s|because|since))"
)


_DISPLAYS = (
    ("\\[", "\\]"),
    ("$$", "$$"),
    ("`", "`"),
)
"""Marks of a formula or code that is set apart."""


def _without_display_end(clause: str) -> str:
    """Drop the mark that closes a formula or code, if its opening one is before the clause."""
    for opening, closing in _DISPLAYS:
        bare = clause.rstrip(" .,")
        if bare.endswith(closing) and opening not in bare[: -len(closing)]:
            return bare[: -len(closing)]
    return clause


def _without_reason(clause: str) -> str:
    """Return a clause up to its `, since …`, unless that is within a formula."""
    for reason in _REASON.finditer(clause):
        is_formula = clause.count("$", 0, reason.start()) % 2 and "$" in clause[reason.end() :]
        if reason.start() and not is_formula:
            return clause[: reason.start()]
    return clause


def _value(clause: str) -> str | None:
    """Return the answer in a clause, without its reason; None for a verdict or a placeholder."""
    if boxes := linked_boxes(clause):
        return ", ".join(boxes)
    if adverbs := _ADVERBS.match(clause):
        clause = clause[adverbs.end() :]
    if correction := _CORRECTION.match(clause):
        clause = clause[correction.end() :]
    bare = _unwrap(_without_reason(_without_display_end(clause)), _PROMPT_WORDS)
    if bare is None or _EVALUATION.fullmatch(bare):
        return None
    return bare.removesuffix(",")  # `"yes," since …` has its comma inside


def _stated(text: str) -> str | None:
    for phrase in (_STATEMENT, _HYPOTHESIS):
        if stated := next((value for value, _ in _clauses(text, phrase, _value)), None):
            return stated
    return None


def the_answer_is_2(text: str) -> str | None:
    """Take what follows the last "the answer is", "the correct option is" and the like."""
    return _stated(text)


def _is_sentence(clause: str) -> bool:
    return bool(_OPENS_SENTENCE.match(clause) and _IS.search(clause))


def _end_of_sentence(sentence: str) -> str:
    """Return what follows the last verb before a digit: 19 of `The maximum of points is 19`."""
    last_digit = re.match(r"(?s).*\d", sentence)
    verbs = list(_IS.finditer(sentence, 0, last_digit.end() if last_digit else len(sentence)))
    end = sentence[verbs[-1].end() :] if verbs else ""
    return _value(end) or sentence


def final_answer_3(text: str) -> str | None:
    """Take what follows the last "Final answer:"; in a sentence, what it says the answer is."""
    final_answer, stop = next(_clauses(text, _FINAL_LINE, _value), ("", 0))
    if not re.search(r"^[^\W\d_]|:$", final_answer):  # a value begins with a digit or a sign
        return final_answer or None
    rest = text[stop:]
    below = ", ".join(linked_boxes(rest)) or _stated(rest) or final_heading_2(rest)
    statement = _stated(final_answer) or below
    return statement or (
        _end_of_sentence(final_answer) if _is_sentence(final_answer) else final_answer
    )


def _short_value(clause: str) -> str | None:
    """Return the answer in a clause that is no more than an answer."""
    value = _value(clause)
    if value is None:
        return None
    if _is_sentence(value):
        value = _end_of_sentence(value)
    plain = re.sub(r"\\[A-Za-z]+", " ", value)
    before, *between = re.split(r"\d[\d.,/]*", plain)
    words, words_before = (len(_WORD.findall(part)) for part in (plain, before))
    if not between:
        is_short = words <= 12
    elif len(between) == 1:
        is_short = words <= 5 and words_before <= 1
    else:
        is_short = words <= 3 and words_before <= 1
    return value if is_short else None


def answer_line(text: str) -> str | None:
    """Take what follows the last "Answer:", unless a solution does."""
    return next((value for value, _ in _clauses(text, _ANSWER_LINE, _short_value)), None)


def final_heading_2(text: str) -> str | None:
    """Take what follows the last heading "Final answer" or "Answer", unless a solution does."""
    below_final, end_of_final = next(_clauses(text, HEADING + _NO_STEPS, _value), ("", 0))
    answers = _clauses(text, _ANSWER_HEADING + _NO_STEPS, _short_value)
    below_answer, end_of_answer = next(answers, ("", 0))
    last = below_final if end_of_final >= end_of_answer else below_answer
    return last or None


def correct_choice(text: str) -> str | None:
    """Take the letter of the last "option B is correct"."""
    last = next(reversed(list(_CORRECT_CHOICE.finditer(text))), None)
    return last and next(filter(None, last.groups()))


_HASHES = re.compile(r"^[ \t]*####[ \t]*+(?P<line>[^\s#][^\n]*)$", re.MULTILINE)
_NUMBERED_HEADING = re.compile(r"\d+[.)]\s|(?i:step|part|case)\b")
_NUMBER_AND_UNIT = re.compile(
    r"[*$\\£€¥+−(-]*\d[\d,./]*(?:\s*(?:[%°$)*]|\\%|[a-z][a-z./²³]*\.?)){0,3}\W*"
)


def hashes(text: str) -> str | None:
    """Take what follows `####` on the last line that it begins, unless that is a heading."""
    for match in reversed(list(_HASHES.finditer(text))):
        if "\\boxed" in text[match.end() :]:
            return None
        line = match["line"].strip()
        is_last = not text[match.end() :].strip()
        if _NUMBERED_HEADING.match(line):
            continue
        if is_last or _NUMBER_AND_UNIT.fullmatch(line):
            return _value(line)
    return None


_TAGGED = re.compile(
    r"<(?P<name>final[ _-]?answer|answer)\s*>(?P<content>(?:(?!<(?:final[ _-]?)?answer\s*>).)*?)"
    r"(?:</(?P=name)\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_RESULT_TAGGED = re.compile(  # others mean a result as often as a solution
    r"[<\[](?P<name>final|(?:final[ _-]?)?result|solution|answer)\s*[>\]]"
    r"(?P<content>[^<>\n]{1,200})[<\[]/(?P=name)\s*[>\]]",
    re.IGNORECASE,
)
_CLOSING_TAG = "</answer>"


def tagged(text: str) -> str | None:
    """Take the content of the last `<answer>…</answer>`, one of which may be left off."""
    contents = [match["content"].strip() for match in _TAGGED.finditer(text)]
    whole = text.rstrip()
    if not contents and whole[-len(_CLOSING_TAG) :].lower() == _CLOSING_TAG:
        before = whole[: -len(_CLOSING_TAG)].rstrip()  # the opening one is in the prompt
        contents.append(before.rpartition("\n")[2])
    if not contents:
        contents = [match["content"].strip() for match in _RESULT_TAGGED.finditer(text)]
    for content in reversed(contents):
        if re.match(r"tags?\b", content):  # it is only mentioned
            continue
        if answer := ", ".join(linked_boxes(content)) or _stated(content):
            return answer
        if "\n" not in content and (value := _value(content)):
            return value
    return None
