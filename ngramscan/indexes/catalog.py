"""The hosted indexes of infini-gram-mini: their names and sizes.

Sizes are documents and bytes of UTF-8 text, from the service's documentation; papers call the
bytes "tokens". The service has spelled crawls `v2_cc_2025-05`, and since 2026 `v2_cc-2025-05`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ngramscan.errors import nearest

DEFAULT_URL = "https://api.infini-gram-mini.io/"
TOKEN_URL = "https://api.infini-gram.io/"


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One index of the public service, as documented."""

    name: str
    alias: str
    corpus: str
    kind: str
    documents: int
    bytes: int
    """Bytes of text, in UTF-8."""

    @property
    def is_crawl_snapshot(self) -> bool:
        """Whether it is a snapshot of the crawl, which shares pages with other snapshots."""
        return self.alias.startswith("cc-")

    def has_word(self, word: str) -> bool:
        """Tell whether a word is one of the corpus's name, or begins the alias."""
        known = re.findall(r"[a-z]+", self.corpus.lower())
        return word in known or self.alias.startswith(word)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The names to try, the most likely first."""
        return tuple(dict.fromkeys((self.name, self.name.replace("v2_cc-", "v2_cc_"))))


def _crawl(week: str, documents: int, size_bytes: int) -> IndexRow:
    names = f"v2_cc-{week}", f"cc-{week}", f"Common Crawl {week}"
    return IndexRow(*names, "raw web snapshot", documents, size_bytes)


PAPER = (
    IndexRow("v2_dclm_all", "dclm", "DCLM-baseline", "curated", 2948096911, 16666308904212),
    _crawl("2025-05", 3031278337, 9078722426438),
    _crawl("2025-08", 2679706056, 8163085167146),
    _crawl("2025-13", 2740844187, 10392880591539),
    _crawl("2025-18", 2747336110, 10498329726165),
    _crawl("2025-21", 2477165602, 9221516423510),
    _crawl("2025-26", 2385603949, 8724467185944),
    _crawl("2025-30", 2422580507, 9006670841302),
)
"""The eight corpora of the Formula-One Prompting paper."""

CATALOG = (
    *PAPER,
    IndexRow("v2_piletrain", "piletrain", "Pile, training", "curated", 210607728, 1307910802542),
    IndexRow("v2_pileval", "pileval", "Pile, validation", "curated", 214670, 1344908273),
)


def find_hosted(name: str) -> IndexRow | None:
    """Return the index with this name, alias or other spelling, in any case."""
    asked = name.lower().replace("cc-main-", "cc-")
    for index in CATALOG:
        short = (spelling.removeprefix("v2_") for spelling in index.spellings)
        if asked in {index.alias, *index.spellings, *short}:
            return index
    return None


def nearest_names(name: str) -> list[str]:
    """Suggest names for an unknown index: those it begins, those with a word of it, the nearest."""
    hosted = [name for index in CATALOG for name in (index.alias, index.name)]
    names, asked = ["python", "paper", *hosted], name.lower()
    begun = [name for name in names if asked and name.startswith(asked)]
    # Not in a path: train.jsonl is none of the indexes.
    words = [] if re.search(r"[./\\]", name) else re.findall(r"[a-z]{3,}", asked)
    alike = [index.alias for index in CATALOG if any(map(index.has_word, words))]
    return begun[:3] or [*filter(None, [nearest(name, names)])] or alike[:3]
