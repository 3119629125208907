"""The public services of indexes, and the indexes whose files are published.

A service is one value in `SERVICES`; all else that depends on it is derived from there. Sizes are
from the documentation of the services. infini-gram-mini gives documents and bytes of UTF-8 text;
papers call the bytes "tokens". It has spelled crawls `v2_cc_2025-05`, and since 2026
`v2_cc-2025-05`. infini-gram (infini-gram.readthedocs.io) gives documents and tokens, which include
a separator for each document; their tokens of text are fewer by the number of documents.

infini-gram's authors also publish the files of indexes, in two buckets of S3; `PUBLISHED` has them
as the page "Pre-built Indexes" of the same documentation does (`docs/source/pkg.rst`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from ngramscan.errors import nearest

ApiProtocol = Literal["infini-gram-mini", "infini-gram"]
"""How a service is asked: for strings of bytes, or for n-grams of tokens."""
TOKEN_PREFIX = "infini-gram:"
"""How specs of indexes begin that are asked for tokens."""
PUBLIC = "public/"
"""How a name of `PUBLISHED` begins, which stands where the folder of an index over tokens does."""
PUBLIC_PREFIX = f"tokens:{PUBLIC}"
Access = Literal["free", "requester pays"]
"""Whether files can be read without an account, or by those who have one that pays for it."""
_LLAMA, _TRAINING, _CURATED = "Llama-2", "all training data of a model", "curated"
_PRETRAINING, _LATER = "pre-training", "mid- and post-training"
_BUCKETS: dict[str, Access] = {
    "s3://infini-gram/index/": "requester pays",
    "s3://infini-gram-lite/index/": "free",
}
"""The folders of the published indexes."""
_REQUESTER_PAYS, _FREE = _BUCKETS
REQUESTER_PAYS_BUCKETS = frozenset(
    folder.split("/")[2] for folder, access in _BUCKETS.items() if access == "requester pays"
)
"""Public buckets of S3 with indexes whose readers pay for requests and bytes."""
_GIB, _TIB = 1 << 30, 1 << 40


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One index of a public service, as documented."""

    name: str
    """Its name in `--index`: for tokens, `infini-gram:` and the name that the service knows, or
    `tokens:public/` and the name of the published files."""
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
    index_bytes: int | None = None
    """Bytes of its files, rounded as documented; null: they are not published."""
    access: Access | None = None
    """`free`: no account is needed; `requester pays`: those who read the files pay for it, with an
    account of AWS. Null: its files are not published."""
    url: str | None = None
    """Where its files are; null: they are not published."""

    @property
    def service_name(self) -> str:
        """Its name in requests, or the name of its folder."""
        return self.name.removeprefix(TOKEN_PREFIX).removeprefix(PUBLIC_PREFIX)

    @property
    def short_alias(self) -> str:
        """The alias without the beginning that all indexes of its kind have."""
        return self.alias.removeprefix(TOKEN_PREFIX).removeprefix(PUBLIC_PREFIX)

    @property
    def requester_pays(self) -> bool:
        """Whether its files are published, but those who read them pay for it."""
        return self.access == "requester pays"

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


def _published(row: IndexRow, folder: str, index_bytes: float) -> IndexRow:
    """Return an index over tokens as one whose files are in a folder of a bucket."""
    return replace(
        row,
        name=PUBLIC_PREFIX + row.service_name,
        alias=PUBLIC_PREFIX + row.short_alias,
        index_bytes=round(index_bytes),
        access=_BUCKETS[folder],
        url=folder + row.service_name,
    )


def _published_too(name: str, folder: str, index_bytes: float) -> IndexRow:
    """Return an index that the service has, too."""
    row = next(row for row in _TOKEN_INDEXES if row.service_name == name)
    return _published(row, folder, index_bytes)


PUBLISHED: tuple[IndexRow, ...] = (
    _published(
        _tokens(
            "v4_olmoe-mix-0924-dclm_llama",
            "olmoe-mix-dclm",
            "olmoe-mix-0924, DCLM",
            _PRETRAINING,
            (2948096911, 4341627197578),
        ),
        _REQUESTER_PAYS,
        33 * _TIB,
    ),
    _published(
        _tokens(
            "v4_olmoe-mix-0924-nodclm_llama",
            "olmoe-mix-nodclm",
            "olmoe-mix-0924, all but DCLM",
            _PRETRAINING,
            (133343623, 233848504469),
        ),
        _REQUESTER_PAYS,
        1.8 * _TIB,
    ),
    _published(
        _tokens(
            "v4_olmo-2-0325-32b-anneal-adapt_llama",
            "olmo-2-32b-anneal",
            "OLMo 2 32B: dolmino-mix-1124, SFT, DPO, RLVR",
            _LATER,
            (82461386, 35153386430),
        ),
        _REQUESTER_PAYS,
        268 * _GIB,
    ),
    _published(
        _tokens(
            "v4_olmo-2-1124-13b-anneal-adapt_llama",
            "olmo-2-13b-anneal",
            "OLMo 2 13B: dolmino-mix-1124, SFT, DPO, RLVR",
            _LATER,
            (82534460, 35273912238),
        ),
        _REQUESTER_PAYS,
        269 * _GIB,
    ),
    _published(
        _tokens(
            "v4_olmoe-0125-1b-7b-anneal-adapt_llama",
            "olmoe-anneal",
            "OLMoE 1B-7B: dolmino-mix-1124, SFT, DPO, RLVR",
            _LATER,
            (82513183, 35262277074),
        ),
        _REQUESTER_PAYS,
        269 * _GIB,
    ),
    _published_too("v4_dolma-v1_7_llama", _REQUESTER_PAYS, 20 * _TIB),
    _published_too("v4_rpj_llama_s4", _REQUESTER_PAYS, 8.9 * _TIB),
    _published_too("v4_piletrain_llama", _REQUESTER_PAYS, 2.5 * _TIB),
    _published_too("v4_c4train_llama", _REQUESTER_PAYS, 1.3 * _TIB),
    _published_too("v4_dolma-v1_6-sample_llama", _REQUESTER_PAYS, 62 * _GIB),
    _published_too("v4_dolmasample_olmo", _FREE, 53 * _GIB),
    _published_too("v4_pileval_llama", _FREE, 2.3 * _GIB),
    _published_too("v4_pileval_gpt2", _FREE, 2.2 * _GIB),
)
"""The indexes whose files are published.

Those of mid- and post-training data leave out what was in pre-training data already.
"""
_OLMOE_MIX = ("olmoe-mix-dclm", "olmoe-mix-nodclm")
PUBLISHED_UNIONS: dict[str, tuple[str, ...]] = {
    "olmo-2-32b": (*_OLMOE_MIX, "olmo-2-32b-anneal"),
    "olmo-2-13b": (*_OLMOE_MIX, "olmo-2-13b-anneal"),
    "olmoe": (*_OLMOE_MIX, "olmoe-anneal"),
}
"""Published indexes that together are all that a model was trained on, as the service has it under
the same alias."""


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


def find_published(name: str) -> IndexRow | None:
    """Return the index with published files that has this name or alias, in any case."""
    searched = PUBLIC_PREFIX + name.lower()
    return next((row for row in PUBLISHED if searched in {row.name.lower(), row.alias}), None)


def published_urls(name: str) -> tuple[str, ...]:
    """Return where the files are of an index, or of several together; empty: the name is unknown.

    The name is that of an index or its alias, or a name of `PUBLISHED_UNIONS`, in any case.
    """
    parts = PUBLISHED_UNIONS.get(name.lower(), (name,))
    rows = [find_published(part) for part in parts]
    return tuple(row.url for row in rows if row and row.url)


def published_names() -> list[str]:
    """Return the specs of published indexes, by alias and name, and of unions of them."""
    names = [name for row in PUBLISHED for name in (row.alias, row.name)]
    return [*names, *(PUBLIC_PREFIX + union for union in PUBLISHED_UNIONS)]


def published_at(url: str) -> IndexRow | None:
    """Return the index whose published files are at a URL, if any."""
    return next((row for row in PUBLISHED if row.url == url.rstrip("/")), None)


def access_to(url: str) -> Access | None:
    """Return who may read the files at a URL, for those who pay or for all; None: unknown.

    It is the same for all files of a bucket, also of indexes that are not documented.
    """
    buckets = {folder.removesuffix("index/"): access for folder, access in _BUCKETS.items()}
    return next((access for bucket, access in buckets.items() if url.startswith(bucket)), None)


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
    """Return the aliases of hosted indexes over tokens that look most like an unknown name."""
    aliases = {row.short_alias: row.alias for row in token_indexes()}
    return _near_aliases(name, aliases, token_indexes())


def near_published_names(name: str) -> list[str]:
    """Return the aliases of published indexes that look most like an unknown name."""
    unions = {union: PUBLIC_PREFIX + union for union in PUBLISHED_UNIONS}
    aliases = {row.short_alias: row.alias for row in PUBLISHED}
    return _near_aliases(name, unions | aliases, PUBLISHED)


def _near_aliases(name: str, aliases: Mapping[str, str], rows: Sequence[IndexRow]) -> list[str]:
    """Return the aliases that a name begins; if there are none, those of names spelled alike."""
    begun = [alias for short, alias in aliases.items() if name and short.startswith(name.lower())]
    if begun:
        return begun
    names = {**aliases, **{row.service_name: row.alias for row in rows}}
    alike = [names[near] for near in get_close_matches(name.lower(), names, 2)]
    return list(dict.fromkeys(alike))
