"""Which samples of a log have no answer that could be judged, and how that is told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from evalcore.log_files.base import Failure, LoggedScore

KINDS = {
    "error": "errors",
    "invalidated sample": "invalidated samples",
    "interrupted sample": "interrupted samples",
    "refusal": "refusals",
    "apparent refusal": "apparent refusals",
    "empty reply": "empty replies",
    "cut reply": "cut replies",
    "stopped sample": "stopped samples",
    "unscored sample": "unscored samples",
}
"""The kinds of failures, and their plurals."""

REFUSAL_RULE = "refusal-phrases/1"
"""The list of phrases below; a change of them is a new version."""

_REGRET = (
    r"(?:(?:i am|i'm) (?:very |so |really |truly )?sorry|sorry|i apologi[sz]e|my apologies"
    r"|unfortunately|as an ai(?: language)?(?: model| assistant)?)[,.;:!]? *(?:but )?"
)
_UNWILLING = (
    r"i (?:can ?not|can't|will not|won't|am unable to|am not able to|must decline to|decline to"
    r"|have to decline to|refuse to)|i'm (?:unable|not able) to"
)
_TO_DO = (
    r"(?:answer|assist|help|comply|fulfil|fulfill|provide|discuss|engage|participate|support"
    r"|continue with|do (?:this|that|so))\b"
)
_REFUSAL = re.compile(rf"(?:{_REGRET})?(?:{_UNWILLING}) {_TO_DO}")
_QUOTED_CHARACTERS = 80


def find_failure(
    broken: Failure | None,
    cut: Failure | None,
    replies: Sequence[str],
    value: float | None,
    answer: str | None,
) -> Failure | None:
    """Return why a sample has no answer that could be judged; None: it has one, right or wrong.

    Parameters
    ----------
    broken : Failure or None
        What the log says of an error or a refusal.
    cut : Failure or None
        What it says of a reply that ended at a limit.
    replies : sequence of str
        Those that were scored; empty where the model was not asked for text.
    value : float or None
        The recorded score.
    answer : str or None
        What was extracted from the replies; None: nothing.

    Notes
    -----
    What the log says of an error, a refusal or a cut holds whatever the score: to leave out only
    the wrong ones would favour the method that fails more often. A text is read for more only where
    it scored nothing, since a scorer may have looked at something else than the text.
    """
    if broken:
        return broken
    nothing_scored = bool(replies) and not value
    if nothing_scored and not any(reply.strip() for reply in replies):
        return Failure("empty reply", f"no output, {cut.reason}" if cut else "no output")
    if cut:
        return cut
    if nothing_scored and answer is None and all(map(is_refusal, replies)):
        quoted = " ".join(replies[0].split())[:_QUOTED_CHARACTERS]
        return Failure("apparent refusal", f"looks like a refusal ({REFUSAL_RULE}): {quoted}")
    return None if value is not None else Failure("unscored sample", "not scored by the tool")


def is_refusal(reply: str) -> bool:
    """Tell whether a reply begins like a refusal to answer."""
    start = " ".join(reply[:1000].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    return _REFUSAL.match(start.lower()) is not None


def describe_failures(place: str, scores: Sequence[LoggedScore], keeps_recorded: bool) -> list[str]:
    """Say how many samples of a run are failures, by kind and by what the log makes of them.

    Parameters
    ----------
    place : str
        The log.
    scores : sequence of LoggedScore
        All of the run.
    keeps_recorded : bool
        Whether failures keep the value that the log gives them.
    """
    kinds: dict[str, dict[tuple[str, int | None], str]] = {"wrong": {}, "right": {}, "none": {}}
    samples = {(score.id, score.epoch) for score in scores}
    for score in scores:
        if score.failure:
            recorded = "none" if score.value is None else "right" if score.value else "wrong"
            kinds[recorded].setdefault((score.id, score.epoch), score.failure.kind)
    kept = "they keep that score" if keeps_recorded else "they have no value here"
    sentences = {
        "wrong": f"are failures that the log scores as wrong: {{}}; {kept}",
        "right": f"are failures that the log scores above 0: {{}}; {kept}",
        "none": "are failures without a score in the log: {}",
    }
    return [
        f"{place}: {len(found)} of {len(samples)} samples "
        + sentences[recorded].format(_count(list(found.values())))
        for recorded, found in kinds.items()
        if found
    ]


def _count(kinds: Sequence[str]) -> str:
    counts = Counter(kinds)
    found = ((counts[kind], kind, plural) for kind, plural in KINDS.items())
    return ", ".join(f"{n} {kind if n == 1 else plural}" for n, kind, plural in found if n)
