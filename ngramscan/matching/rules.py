"""Rules by which a query occurs in a text: exactly, as whole words, with any space or case."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatchRule:
    """How queries are compared with texts; by default byte by byte."""

    is_regex: bool = False
    """Queries are regular expressions of RE2's syntax."""
    whole_words: bool = False
    """No word character continues an occurrence."""
    any_space: bool = False
    """White space within a query stands for any run of white space."""
    ignore_case: bool = False
    """Case is ignored: of ASCII letters, in a regular expression of all letters."""

    @property
    def is_exact(self) -> bool:
        """Whether each occurrence has the very bytes of its query, and each such place counts."""
        return self == EXACT

    @property
    def has_overlaps(self) -> bool:
        """Whether a query occurs in each string that contains it, so that overlaps are strings."""
        return not (self.is_regex or self.whole_words or self.any_space)

    @property
    def notes(self) -> list[str]:
        """How counts differ from those of exact texts, in words."""
        notes = []
        if self.is_regex:
            notes.append("regular expression")
        if self.whole_words:
            notes.append("whole words")
        if self.any_space:
            notes.append("any white space")
        if self.ignore_case:
            notes.append("case ignored" if self.is_regex else "ASCII case ignored")
        return notes


EXACT = MatchRule()
"""Byte by byte."""
