"""Literals → occurrences and documents in texts."""

from ngramscan.matching.engines import (
    Engine,
    Hit,
    TextBytes,
    aho_corasick_engine,
    compile_engine,
    count_by_brute_force,
    find_starts,
    gram_engine,
    hyperscan_engine,
    least_distance,
)
from ngramscan.matching.matcher import Counts, Matcher, count_texts
from ngramscan.matching.normalization import Normalization, normalized
from ngramscan.matching.rules import MatchRule

__all__ = [
    "Counts",
    "Engine",
    "Hit",
    "MatchRule",
    "Matcher",
    "Normalization",
    "TextBytes",
    "aho_corasick_engine",
]
__all__ += ["compile_engine", "count_by_brute_force", "count_texts", "find_starts", "gram_engine"]
__all__ += ["hyperscan_engine", "least_distance", "normalized"]
