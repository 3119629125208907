r"""The forms in which a text is usually written: with other white space, with other case.

A service that finds exact texts only can count by them. They never share an occurrence, so the sum
of their counts is a lower bound of the text's occurrences with any white space, or in any case.
"""

from __future__ import annotations

import re

from ngramscan.matching.rules import MatchRule
from ngramscan.matching.white_space import WHITE_SPACE

WRITTEN_SPACES = (" ", "\n", "  ", "\r\n", "\t")
"""The usual white space between two words; one form has the same in all places."""
_RUN = re.compile(WHITE_SPACE + rb"++")
_BEGIN_OF_WORD = re.compile(r"(?<!\S)[^\w\s]*[a-z]")
"""The first letter of a word and the signs before it."""


def written_forms(query: str, rule: MatchRule) -> list[str]:
    r"""Return the usual forms of a query by a rule, each once, the query as it was typed first.

    White space at an end of a query stands for one character, and so has one in each form.

    >>> written_forms("let us", MatchRule(ignore_case=True))
    ['let us', 'Let us', 'Let Us', 'LET US']
    >>> written_forms("let us", MatchRule(any_space=True))
    ['let us', 'let\nus', 'let  us', 'let\r\nus', 'let\tus']
    """
    spaced = spaced_forms(query) if rule.any_space else [query]
    if not rule.ignore_case:
        return spaced
    return list(dict.fromkeys(form for text in spaced for form in cased_forms(text)))


def spaced_forms(query: str) -> list[str]:
    r"""Return a query with each usual white space, each form once, as it was typed first.

    >>> spaced_forms("a\u00a0b")
    ['a\xa0b', 'a b', 'a\nb', 'a  b', 'a\r\nb', 'a\tb']
    """
    content = query.encode()
    parts = [part.decode() for part in _RUN.split(content)]
    typed_spaces = [run.decode() for run in _RUN.findall(content)]
    forms = [_joined(parts, typed_spaces)]
    forms += [_joined(parts, [space for _ in typed_spaces]) for space in WRITTEN_SPACES]
    return list(dict.fromkeys(forms))


def _joined(parts: list[str], spaces: list[str]) -> str:
    """Return parts with white space between them, of which the ends have one character."""
    text = parts[0]
    for number, (space, part) in enumerate(zip(spaces, parts[1:], strict=True)):
        is_at_begin = number == 0 and not parts[0]
        is_at_end = number == len(spaces) - 1 and not part
        shown_space = space[-1] if is_at_begin else space[0] if is_at_end else space
        text += shown_space + part
    return text


def cased_forms(query: str) -> list[str]:
    """Return a query in each usual case of its ASCII letters, each form once, as typed first.

    >>> cased_forms("(let's GO)")
    ["(let's GO)", "(let's go)", "(Let's go)", "(Let's Go)", "(LET'S GO)"]
    """
    content = query.encode()  # whose methods change ASCII letters only
    lower, upper = content.lower().decode(), content.upper().decode()
    capitalized = _BEGIN_OF_WORD.sub(_with_capital, lower, count=1)
    in_title_case = _BEGIN_OF_WORD.sub(_with_capital, lower)
    return list(dict.fromkeys([query, lower, capitalized, in_title_case, upper]))


def _with_capital(begin: re.Match[str]) -> str:
    return begin[0][:-1] + begin[0][-1].upper()
