"""Reasoning that models write into their replies, separated from the answer by its marks.

Most marks are tokens of a model's own vocabulary, and servers leave them in the text unless they
are asked to parse it. The opening mark is often part of the prompt, so that only the closing one is
in the reply. A reply may also talk about such marks, as one about HTML does.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class SplitReply(NamedTuple):
    """The reasoning of a reply and its answer."""

    reasoning: str
    """Empty if the reply has no reasoning."""
    answer: str | None
    """None if the reply ends within its reasoning."""


@dataclass(frozen=True, slots=True)
class _MarkKind:
    """How one family of models marks reasoning; regular expressions, whatever the case."""

    opening: str
    closing: str
    closes_alone: bool = True
    """Whether a closing mark without an opening one says that all before it is reasoning."""


def _tag(names: str) -> _MarkKind:
    r"""Return the kind of tags such as `<think>`, `</think >`, `<THINK effort="3">`, `<|think|>`.

    Pages and files also have them escaped: `&lt;think&gt;`, `\<think\>`, `\u003cthink\u003e`.
    """
    opening = r"(?:[<＜]|&(?:amp;)?lt;|\\<|\\u003c|(?m:^)<[ \t])\|?"  # not in `8 < think > 7`
    more = r"(?:\s(?:[^<>&\\/]|/(?!>)){0,200})?\|?(?:[>＞]|&(?:amp;)?gt;|\\>|\\u003e)"
    return _MarkKind(rf"{opening}(?:{names}){more}", rf"{opening}[ \t]?\\?/[ \t]?(?:{names}){more}")


_OF_THOUGHT = "(?:think(?:ing)?|thoughts?|reasoning)"
_KINDS = (
    _MarkKind(  # OpenThinker, Sky-T1; before the tags, which may have any word behind `reasoning_`
        rf"<\|?(?:(?:begin|start)_(?:of_)?{_OF_THOUGHT}|{_OF_THOUGHT}_(?:begin|start))\|?>",
        rf"<\|?/?(?:end_(?:of_)?{_OF_THOUGHT}|{_OF_THOUGHT}_end)\|?>"
        r"(?:\s*<\|begin_of_solution\|>)?|<\|begin_of_solution\|>",
    ),
    _tag(  # DeepSeek, Qwen, GLM, Seed, EXAONE
        r"(?:[a-z]\w{0,20}:|inner_|internal_|redacted_|ant)?"
        r"(?:think(?:ing)?|thoughts?)(?:[_ -]?process)?"
    ),
    _tag(r"(?:[a-z]{1,20}_)?reasoning(?:_[a-z]{1,20})?"),
    _tag("rationale|reason"),
    _tag(r"cot|chain[_-]of[_-]thoughts?"),
    _tag(r"(?:inner[_-]?)?monologue"),
    _tag("reflection"),
    _tag("scratchpad|deliberation|思考"),
    _tag("analysis"),
    _MarkKind(r"\[think(?:ing)?\]", r"\[/think(?:ing)?\]"),  # Magistral
    _MarkKind(r"\[(?:reasoning|thoughts?|analysis)\]", r"\[/(?:reasoning|thoughts?|analysis)\]"),
    _MarkKind("◁think▷", "◁/think▷"),  # Kimi
    _MarkKind(  # Command A
        r"<\|start_thinking\|>",
        r"<\|end_thinking\|>(?:\s*<\|start_(?:response|text)\|>)?|<\|start_response\|>",
    ),
    _MarkKind(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),  # Apertus
    _MarkKind(r"<\|channel>\s*thought|<unused94>(?:thought)?", r"<channel\|>|<unused95>"),  # Gemma
    _MarkKind(r"\[unused16\]", r"\[unused17\]"),  # Pangu
    _MarkKind(  # Open WebUI; others fold the part below a heading
        r"<details\s[^<>]{0,80}type=.?reasoning[^<>]{0,200}>"
        r"|<details(?:\s[^<>]{0,80})?>\s{0,9}<summary>[^<>]{0,40}\b(?:think|thought|reason)[^<>]{0,60}"
        r"</summary>",
        "</details>",
        closes_alone=False,
    ),
)


def _group_names(number: int) -> tuple[str, str]:
    return f"opening_{number}", f"closing_{number}"


def _any_mark() -> re.Pattern[str]:
    groups = []
    for number, kind in enumerate(_KINDS):
        opening, closing = _group_names(number)
        groups += [f"(?P<{opening}>{kind.opening})", f"(?P<{closing}>{kind.closing})"]
    return re.compile("|".join(groups), re.IGNORECASE)


_MARK = _any_mark()
_FIRST_CHARACTER = re.compile(r"[<＜\[◁&\\]")  # of every mark; most texts have few of them
_KIND_OF = {name: kind for number, kind in enumerate(_KINDS) for name in _group_names(number)}
_IN_WORDS = _MarkKind(  # Granite, Ollama; others begin so too, and go straight to the answer
    r"[\s*#]*here(?: is|'s) my thought process:|\s*thinking(?:\.{3}|…)[ \t]*\n",
    r"here(?: is|'s) my response:|(?:\.{3}|…)done thinking\.?",
    closes_alone=False,
)
_WORDS_THAT_OPEN = re.compile(_IN_WORDS.opening, re.IGNORECASE)
_WORDS_THAT_CLOSE = re.compile(_IN_WORDS.closing, re.IGNORECASE)
_END_OF_ANSWER = re.compile(r"<\|(?:end_of_solution|end_response|end_text)\|>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _ReasoningMark:
    kind: _MarkKind
    is_opening: bool
    start: int
    stop: int


def split_reasoning(text: str) -> SplitReply:
    """Separate the reasoning of a reply from its answer.

    The answer is what follows the last reasoning; only where nothing does, what is before it.
    Marks in code, in quotation marks or as words of a sentence are part of the answer.

    Parameters
    ----------
    text : str
        A reply of a model. It takes time proportional to its length, whatever it is.

    Returns
    -------
    SplitReply
        Without marks, the answer is the text, unchanged.
    """
    text = _without_fence(text)
    return _split_channels(text) or _split_bare_channels(text) or _split_marked(text)


_WHOLE_FENCE = re.compile(
    r"\s*(?P<fence>```+|~~~+)[^`\n]*\n(?P<content>.*)\n(?P=fence)\s*", re.DOTALL
)


def _without_fence(text: str) -> str:
    """Return the content of a fence around a whole reply that begins with a mark; else the text."""
    fence = _WHOLE_FENCE.fullmatch(text)
    if fence is None:
        return text
    content = fence["content"].lstrip()
    mark = _MARK.match(content)
    is_opening = mark is not None and (mark.lastgroup or "").startswith("opening")
    return content if is_opening or _CHANNEL.match(content) else text


def _split_marked(text: str) -> SplitReply:
    marks = _find_marks(text)
    if not marks:
        return SplitReply("", text)
    parts = _ReplyParts(text)
    last_closing = {mark.kind: mark.start for mark in marks if not mark.is_opening}
    for mark in marks:
        parts.pass_mark(mark, last_closing)
    return parts.finish()


class _ReplyParts:
    """The reasoning and the visible parts of a text, as far as its marks have been passed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.text_stop = len(text.rstrip())
        self.start = 0  # of the part that is not ended
        self.reasoning: list[str] = []
        self.visible: list[str] = []
        self.open_kind: _MarkKind | None = None
        self.inner_kinds: set[_MarkKind] = set()  # opened within the reasoning: `<reflection>`
        self.has_closed = False

    def pass_mark(self, mark: _ReasoningMark, last_closing: dict[_MarkKind, int]) -> None:
        """Take a mark into account; the first one first."""
        if self.open_kind is not None:
            self._pass_within(mark, self.open_kind, last_closing)
        elif mark.is_opening:
            self.visible.append(self._take(mark))
            self.open_kind = mark.kind
        elif mark.kind.closes_alone:
            part = self._take(mark)
            if self.has_closed and mark.stop >= self.text_stop:
                self.visible.append(part)  # a closing mark once more, behind the answer
            else:
                self.reasoning += [*self.visible, part]
                self.visible.clear()
            self.has_closed = True

    def _pass_within(
        self, mark: _ReasoningMark, kind: _MarkKind, last_closing: dict[_MarkKind, int]
    ) -> None:
        if mark.is_opening:
            self.inner_kinds.add(mark.kind)
            return
        if mark.kind != kind:
            # `<think> … </reasoning>` is closed, unless its own mark comes or the other was opened
            is_inner = mark.kind in self.inner_kinds or not mark.kind.closes_alone
            if is_inner or last_closing.get(kind, -1) > mark.start:
                return
        self.reasoning.append(self._take(mark))
        self.open_kind, self.has_closed = None, True
        self.inner_kinds.clear()

    def _take(self, mark: _ReasoningMark) -> str:
        part, self.start = self.text[self.start : mark.start], mark.stop
        return part

    def finish(self) -> SplitReply:
        """Return the parts, at the end of the text."""
        ending = self.text[self.start :]
        before = "\n".join(part for part in self.visible if part.strip())
        if self.open_kind is None:
            answer = ending if ending.strip() else before
        elif before and not ending.strip():  # an opening mark, and nothing else, behind an answer
            answer = before
        elif tagged := _tagged_end(ending):
            self.reasoning.append(ending.removesuffix(tagged))
            answer = tagged
        else:
            return SplitReply(_joined([*self.reasoning, ending]), None)
        return SplitReply(_joined(self.reasoning), _without_end(answer))


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(filter(None, (part.strip() for part in parts)))


def _without_end(answer: str) -> str:
    end = _END_OF_ANSWER.search(answer)
    return (answer[: end.start()] if end else answer).strip()


def _tagged_end(text: str) -> str:
    """Return the `<answer>…</answer>` with which a text ends, and what follows it; or nothing."""
    lowered = text.lower()
    if len(lowered) != len(text) or not lowered.rstrip().endswith("</answer>"):
        return ""
    start = lowered.rfind("<answer>")
    return text[start:] if start >= 0 else ""


# Marks that are meant, and those that are only mentioned

_FENCED = re.compile(  # up to the next fence, which has to close it
    r"^[ \t]*(```+|~~~+)[^`\n]*\n(?:(?![ \t]*(?:```|~~~)).*\n)*[ \t]*\1[ \t]*$", re.MULTILINE
)
_INLINE = re.compile(r"`[^`\n]+`")
_QUOTES = frozenset({"''", '""', "“”", "‘’", "«»", "„“"})
_NOUN_BEHIND = re.compile(r"[ \t]+(?:tags?|elements?|tokens?|blocks?|markers?|marks?|labels?)\b")
_SENTENCE_BEHIND = re.compile(r"[ \t]+[a-z]|[,;)]")
_SENTENCE_BEFORE = re.compile(r"[\w,;(][ \t]*\Z")


class _Spans:
    """Places in a text, which do not overlap."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self.spans = list(spans)
        self.starts = [start for start, _ in self.spans]

    def cover(self, place: int) -> bool:
        """Tell whether one of them has a place in it."""
        number = bisect_right(self.starts, place) - 1
        return number >= 0 and place < self.spans[number][1]


def _tokens_and_tags(text: str) -> Iterator[_ReasoningMark]:
    stop = 0
    for character in _FIRST_CHARACTER.finditer(text):
        start = character.start()
        if start >= stop and (match := _MARK.match(text, start)):
            name, stop = match.lastgroup or "", match.end()
            yield _ReasoningMark(_KIND_OF[name], name.startswith("opening"), start, stop)


def _marks_in_words(text: str) -> list[_ReasoningMark]:
    """Return the two marks in words, if a reply begins with one and has the other."""
    opening = _WORDS_THAT_OPEN.match(text)
    closing = opening and _WORDS_THAT_CLOSE.search(text, opening.end())
    if not (opening and closing):
        return []
    return [
        _ReasoningMark(_IN_WORDS, True, *opening.span()),
        _ReasoningMark(_IN_WORDS, False, *closing.span()),
    ]


def _find_marks(text: str) -> list[_ReasoningMark]:
    """Return the marks that are meant, in the order of the text."""
    candidates = [*_marks_in_words(text), *_tokens_and_tags(text)]
    if not candidates:
        return []
    fenced = _Spans(match.span() for match in _FENCED.finditer(text))
    inline = _Spans(match.span() for match in _INLINE.finditer(text))
    marks: list[_ReasoningMark] = []
    open_kind, mentioned = None, set[_MarkKind]()
    for mark in sorted(candidates, key=lambda mark: mark.start):
        is_mention = inline.cover(mark.start) or _is_quoted(text, mark)
        if open_kind is None:  # within reasoning, code and strings may be left off at any place
            is_mention = is_mention or fenced.cover(mark.start) or _is_in_string(text, mark)
            may_be_words = mark.is_opening or mark.kind in mentioned
            is_mention = is_mention or (may_be_words and _is_in_sentence(text, mark))
        if is_mention:
            mentioned.add(mark.kind)
            continue
        marks.append(mark)
        if mark.is_opening:
            open_kind = open_kind or mark.kind
        elif mark.kind == open_kind:
            open_kind = None
    return marks


def _is_quoted(text: str, mark: _ReasoningMark) -> bool:
    around = text[mark.start - 1 : mark.start] + text[mark.stop : mark.stop + 1]
    return around in _QUOTES or bool(_NOUN_BEHIND.match(text, mark.stop))


def _is_in_string(text: str, mark: _ReasoningMark) -> bool:
    """Tell whether a mark begins or ends a string, as in `re.sub("<think>.*</think>", …)`."""
    place = mark.start - 1 if mark.is_opening else mark.stop
    return place > 0 and text[place : place + 1] in {"'", '"'}


def _is_in_sentence(text: str, mark: _ReasoningMark) -> bool:
    before = text[max(0, mark.start - 20) : mark.start]
    return bool(_SENTENCE_BEFORE.search(before) and _SENTENCE_BEHIND.match(text, mark.stop))


# gpt-oss: each message has a channel, and the answer is in `final`

_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*\w+[^<]{0,80})?<\|channel\|>\s*(?P<name>\w+)[^<]{0,200}"
    r"(?:<\|constrain\|>[^<]{0,80})?<\|message\|>"
)
_MESSAGE_END = re.compile(r"<\|(?:end|return|call)\|>")
_ASSISTANT = re.compile(r"\s*<\|start\|>\s*assistant\s*")


def _messages(text: str, heads: Sequence[re.Match[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the channel of each message, the message, and what follows its end."""
    stops = [head.start() for head in heads[1:]]
    for head, stop in zip(heads, [*stops, len(text)], strict=True):
        end = _MESSAGE_END.search(text, head.end(), stop)
        if end is None:
            yield head["name"].lower(), text[head.end() : stop], ""
        else:
            yield head["name"].lower(), text[head.end() : end.start()], text[end.end() : stop]


def _split_channels(text: str) -> SplitReply | None:
    """Return the messages of channel `final`, or the text after the others; None without any."""
    heads = list(_CHANNEL.finditer(text)) if "<|channel|>" in text else []
    if not heads:
        return None
    fenced = _Spans(match.span() for match in _FENCED.finditer(text))
    inline = _Spans(match.span() for match in _INLINE.finditer(text))
    if any(spans.cover(heads[0].start()) for spans in (fenced, inline)):
        return None
    messages = list(_messages(text, heads))
    answers = [message for channel, message, _ in messages if channel == "final"]
    reasoning = [message for channel, message, _ in messages if channel != "final"]
    _, _, remainder = messages[-1]
    answer = (answers[-1] if answers else _ASSISTANT.sub("", remainder, count=1)).strip()
    return SplitReply(_joined([text[: heads[0].start()], *reasoning]), answer or None)


_BARE_ANALYSIS = re.compile(r"\s*(?:assistant)?analysis(?=\S)")
_BARE_SENTENCE = re.compile(r"\s*(?:assistant)?analysis[A-Z]")
_BARE_FINAL = "assistantfinal"


def _split_bare_channels(text: str) -> SplitReply | None:
    """Split `analysisWe add.assistantfinal9`, which is left where a server drops the tokens."""
    start = _BARE_ANALYSIS.match(text)
    if start is None:
        return None
    reasoning, final, answer = text[start.end() :].rpartition(_BARE_FINAL)
    if final:
        return SplitReply(reasoning.strip(), answer.strip())
    return SplitReply(answer.strip(), None) if _BARE_SENTENCE.match(text) else None
