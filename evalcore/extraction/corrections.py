r"""Where a reply takes its answer back: `\boxed{4}. Wait, that's wrong. The answer is 5.`."""

import re

_REVERSAL = re.compile(
    r"(?:^|(?<=[.!?…)}$*>]\s)|(?<=\n))[ \t>*_(]*(?:(?:but|no|hmm+|oh|ah)[,.!… ]+)?"
    r"(?:wait\b|oops\b|hold on\b|correction\s*[:：]|on (?:second thoughts?|reflection)\b"
    r"|scratch that\b|actually,"
    r"|(?:sorry\W+)?(?:I|we) (?:made|have made|see) (?:an?|my|the) (?:\w+ )?(?:mistake|error)\b"
    r"|(?:no, )?(?:that|this)(?:['’]s| is| was) (?:wrong|incorrect|not (?:right|correct))\b"
    r"|(?:that|this) (?:can['’]t|cannot) be (?:right|correct)\b"
    r"|let me (?:correct|re-?(?:check|do|consider|compute|calculate|think|examine|evaluate))\b)"
    r"|\bis (?:wrong|incorrect|not (?:right|correct))\.\s+(?=the (?:right|correct|true|actual)\b)",
    re.IGNORECASE,
)


def correction_in(text: str) -> int | None:
    """Return the place of the last words that take back what precedes them; None if there are none.

    They do so only if an answer follows, since models also check an answer and keep it.
    """
    reversals = list(_REVERSAL.finditer(text))
    return reversals[-1].start() if reversals else None
