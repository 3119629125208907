"""The public services of indexes: addresses, rates and indexes.

A service is one value in `SERVICES`; all else that depends on it is derived from there. Sizes are
from the documentation of the services. infini-gram-mini gives documents and bytes of UTF-8 text;
papers call the bytes "tokens". It has spelled crawls `v2_cc_2025-05`, and since 2026
`v2_cc-2025-05`. infini-gram (infini-gram.readthedocs.io) gives documents and tokens, which include
a separator for each document; their tokens of text are fewer by the number of documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from ngramscan.errors import nearest

ApiProtocol = Literal["infini-gram-mini", "infini-gram"]
"""How a service is asked: for strings of bytes, or for n-grams of tokens."""
TOKEN_PREFIX = "infini-gram:"
"""How specs of indexes begin that are asked for tokens."""
REQUESTER_PAYS_BUCKETS = frozenset({"infini-gram"})
"""Public buckets of S3 with indexes whose readers pay for requests and bytes."""
_LLAMA, _TRAINING, _CURATED = "Llama-2", "all training data of a model", "curated"


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One index of a public service, as documented."""

    name: str
    """Its name in `--index`: for tokens, `infini-gram:` and the name that the service knows."""
    alias: str
    corpus: str
    kind: str
    unit: str
    """`bytes` or `tokens`: whether strings of bytes are asked for, or n-grams of tokens."""
    documents: int
    bytes: int | None = None
    """Bytes of text, in UTF-8; null: not documented, as for indexes over tokens."""
    tokens: int | None = None
    """Tokens of text, without separators; null: an index over bytes."""
    tokenizer: str | None = None
    """Null: an index over bytes."""

    @property
    def service_name(self) -> str:
        """Its name in requests."""
        return self.name.removeprefix(TOKEN_PREFIX)

    @property
    def is_crawl_snapshot(self) -> bool:
        """Whether it is a snapshot of the crawl, which shares pages with other snapshots."""
        return self.alias.startswith("cc-")

    def has_word(self, word: str) -> bool:
        """Tell whether a word is one of the corpus's name, or begins the alias."""
        words = re.findall(r"[a-z]+", self.corpus.lower())
        return word in words or self.alias.startswith(word)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The names to try, the most likely first."""
        return tuple(dict.fromkeys((self.name, self.name.replace("v2_cc-", "v2_cc_"))))


@dataclass(frozen=True, slots=True)
class HostedService:
    """A public service, which answers questions about some large indexes."""

    name: str
    protocol: ApiProtocol
    url: str
    rate: float
    """Requests per second, the default of `--rate`: it answers 403 to those who ask faster."""
    longest_context: int
    """Bytes on each side of an occurrence that it shows at most."""
    indexes: tuple[IndexRow, ...]


def _crawl(week: str, documents: int, size_bytes: int) -> IndexRow:
    return IndexRow(
        name=f"v2_cc-{week}",
        alias=f"cc-{week}",
        corpus=f"Common Crawl {week}",
        kind="raw web snapshot",
        unit="bytes",
        documents=documents,
        bytes=size_bytes,
    )


def _curated(name: str, alias: str, corpus: str, documents: int, size_bytes: int) -> IndexRow:
    return IndexRow(
        name=name,
        alias=alias,
        corpus=corpus,
        kind=_CURATED,
        unit="bytes",
        documents=documents,
        bytes=size_bytes,
    )


PAPER = (
    _curated("v2_dclm_all", "dclm", "DCLM-baseline", 2948096911, 16666308904212),
    _crawl("2025-05", 3031278337, 9078722426438),
    _crawl("2025-08", 2679706056, 8163085167146),
    _crawl("2025-13", 2740844187, 10392880591539),
    _crawl("2025-18", 2747336110, 10498329726165),
    _crawl("2025-21", 2477165602, 9221516423510),
    _crawl("2025-26", 2385603949, 8724467185944),
    _crawl("2025-30", 2422580507, 9006670841302),
)
"""The eight corpora of the Formula-One Prompting paper."""

INFINI_GRAM_MINI = HostedService(
    name="infini-gram-mini",
    protocol="infini-gram-mini",
    url="https://api.infini-gram-mini.io/",
    rate=4.0,
    longest_context=10_000,
    indexes=(
        *PAPER,
        _curated("v2_piletrain", "piletrain", "Pile, training", 210607728, 1307910802542),
        _curated("v2_pileval", "pileval", "Pile, validation", 214670, 1344908273),
    ),
)


def _tokens(
    name: str, alias: str, corpus: str, kind: str, sizes: tuple[int, int], tokenizer: str = _LLAMA
) -> IndexRow:
    documents, with_separators = sizes
    return IndexRow(
        name=TOKEN_PREFIX + name,
        alias=TOKEN_PREFIX + alias,
        corpus=corpus,
        kind=kind,
        unit="tokens",
        documents=documents,
        tokens=with_separators - documents,
        tokenizer=tokenizer,
    )


_TOKEN_INDEXES = (
    _tokens(
        "v4_olmo-2-0325-32b-instruct_llama",
        "olmo-2-32b",
        "OLMo 2 32B Instruct",
        _TRAINING,
        (3163901920, 4610629088477),
    ),
    _tokens(
        "v4_olmo-2-1124-13b-instruct_llama",
        "olmo-2-13b",
        "OLMo 2 13B Instruct",
        _TRAINING,
        (3163974994, 4610749614285),
    ),
    _tokens(
        "v4_olmoe-0125-1b-7b-instruct_llama",
        "olmoe",
        "OLMoE 1B-7B Instruct",
        _TRAINING,
        (3163953717, 4610737979121),
    ),
    _tokens(
        "v4_olmo-mix-1124_llama", "olmo-mix", "OLMo-mix-1124", _CURATED, (3081440534, 4575475702047)
    ),
    _tokens(
        "v4_dclm-baseline_llama", "dclm", "DCLM-baseline", _CURATED, (2948096911, 4341627197578)
    ),
    _tokens(
        "v4_dolma-v1_7_llama", "dolma-v1_7", "Dolma 1.7", _CURATED, (3403336408, 2604642372173)
    ),
    _tokens("v4_rpj_llama_s4", "rpj", "RedPajama", _CURATED, (931361530, 1385942948192)),
    _tokens(
        "v4_piletrain_llama", "piletrain", "Pile, training", _CURATED, (210607728, 383299322520)
    ),
    _tokens("v4_c4train_llama", "c4train", "C4, training", _CURATED, (364868892, 198079554945)),
    _tokens(
        "v4_dolma-v1_6-sample_llama",
        "dolma-v1_6-sample",
        "Dolma 1.6, sample",
        _CURATED,
        (13095416, 9178218956),
    ),
    _tokens(
        "v4_dolmasample_olmo",
        "dolmasample",
        "Dolma 1.6, sample",
        _CURATED,
        (13095416, 8039098124),
        "OLMo",
    ),
    _tokens("v4_pileval_llama", "pileval", "Pile, validation", _CURATED, (214670, 393769120)),
    _tokens(
        "v4_pileval_gpt2",
        "pileval-gpt2",
        "Pile, validation",
        _CURATED,
        (214670, 383326404),
        "GPT-2",
    ),
)

INFINI_GRAM = HostedService(
    name="infini-gram",
    protocol="infini-gram",
    url="https://api.infini-gram.io/",
    rate=1.0,
    longest_context=10_000,
    indexes=_TOKEN_INDEXES,
)

SERVICES: tuple[HostedService, ...] = (INFINI_GRAM_MINI, INFINI_GRAM)


def service_at(url: str) -> HostedService | None:
    """Return the public service that has an address, if any."""
    return next((service for service in SERVICES if service.url == url), None)


def service_of(row: IndexRow) -> HostedService:
    """Return the service that has an index."""
    return next(service for service in SERVICES if row in service.indexes)


def all_indexes() -> list[IndexRow]:
    """Return the indexes of all services."""
    return [row for service in SERVICES for row in service.indexes]


def byte_indexes() -> list[IndexRow]:
    """Return the indexes over bytes of all services."""
    return [row for row in all_indexes() if row.unit == "bytes"]


def token_indexes() -> list[IndexRow]:
    """Return the indexes over tokens of all services."""
    return [row for row in all_indexes() if row.unit == "tokens"]


def find_hosted(name: str) -> IndexRow | None:
    """Return the index over bytes with this name, alias or other spelling, in any case."""
    searched = name.lower().replace("cc-main-", "cc-")
    for index in byte_indexes():
        short = (spelling.removeprefix("v2_") for spelling in index.spellings)
        if searched in {index.alias, *index.spellings, *short}:
            return index
    return None


def find_token_index(name: str) -> IndexRow | None:
    """Return the index over tokens with this name or alias, in any case."""
    searched = TOKEN_PREFIX + name.lower()
    return next((row for row in token_indexes() if searched in {row.name.lower(), row.alias}), None)


def nearest_names(name: str) -> list[str]:
    """Suggest names for an unknown index: those it begins, those with a word of it, the nearest."""
    hosted = [name for index in byte_indexes() for name in (index.alias, index.name)]
    names, searched = ["python", "paper", *hosted], name.lower()
    begun = [name for name in names if searched and name.startswith(searched)]
    # Not in a path: train.jsonl is none of the indexes.
    words = [] if re.search(r"[./\\]", name) else re.findall(r"[a-z]{3,}", searched)
    alike = [index.alias for index in byte_indexes() if any(map(index.has_word, words))]
    return begun[:3] or [*filter(None, [nearest(name, names)])] or alike[:3]


def near_token_names(name: str) -> list[str]:
    """Return the aliases of indexes over tokens that look most like an unknown name."""
    aliases = {row.alias.removeprefix(TOKEN_PREFIX): row.alias for row in token_indexes()}
    begun = [alias for short, alias in aliases.items() if name and short.startswith(name.lower())]
    return begun or [aliases[alias] for alias in get_close_matches(name.lower(), aliases, 2)]
