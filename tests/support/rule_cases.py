"""Rules of matching that indexes follow, and texts in which the rules differ."""

from ngramscan.matching.rules import MatchRule

RULES = [
    MatchRule(whole_words=whole_words, any_space=any_space, ignore_case=ignore_case)
    for whole_words in (False, True)
    for any_space in (False, True)
    for ignore_case in (False, True)
    if whole_words or any_space or ignore_case
]
CHARACTERS = "aAb1_ \n\u00a0\u2003.é\u0301中“😀\U00010400"
"""Words and other characters of each length in UTF-8, marks, and white space that shares bytes."""
PHRASES = ["a b", "a ", " a", "A", "a\n b", "ab", "é", ".a", "“"]
