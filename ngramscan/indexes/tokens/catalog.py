"""The hosted indexes of infini-gram over tokens: their names and sizes.

Documents and tokens are from the service's documentation (infini-gram.readthedocs.io). Its tokens
include a separator for each document; those of text are fewer by the documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class TokenIndexRow:
    """One token-level index of the public service, as documented."""

    name: str
    """`infini-gram:` and the service's name."""
    alias: str
    corpus: str
    kind: str
    documents: int
    tokens: int
    """Tokens of text, without separators."""
    tokenizer: str

    @property
    def service_name(self) -> str:
        """Its name in requests."""
        return self.name.removeprefix(PREFIX)


PREFIX = "infini-gram:"
_LLAMA, _TRAINING, _CURATED = "Llama-2", "all training data of a model", "curated"


def _row(
    name: str, alias: str, corpus: str, kind: str, sizes: tuple[int, int], tokenizer: str = _LLAMA
) -> TokenIndexRow:
    documents, with_separators = sizes
    return TokenIndexRow(
        name=PREFIX + name,
        alias=PREFIX + alias,
        corpus=corpus,
        kind=kind,
        documents=documents,
        tokens=with_separators - documents,
        tokenizer=tokenizer,
    )


TOKEN_CATALOG = (
    _row("v4_olmo-2-0325-32b-instruct_llama", "olmo-2-32b", "OLMo 2 32B Instruct", _TRAINING,
         (3163901920, 4610629088477)),
    _row("v4_olmo-2-1124-13b-instruct_llama", "olmo-2-13b", "OLMo 2 13B Instruct", _TRAINING,
         (3163974994, 4610749614285)),
    _row("v4_olmoe-0125-1b-7b-instruct_llama", "olmoe", "OLMoE 1B-7B Instruct", _TRAINING,
         (3163953717, 4610737979121)),
    _row("v4_olmo-mix-1124_llama", "olmo-mix", "OLMo-mix-1124", _CURATED,
         (3081440534, 4575475702047)),
    _row("v4_dclm-baseline_llama", "dclm", "DCLM-baseline", _CURATED, (2948096911, 4341627197578)),
    _row("v4_dolma-v1_7_llama", "dolma-v1_7", "Dolma 1.7", _CURATED, (3403336408, 2604642372173)),
    _row("v4_rpj_llama_s4", "rpj", "RedPajama", _CURATED, (931361530, 1385942948192)),
    _row("v4_piletrain_llama", "piletrain", "Pile, training", _CURATED, (210607728, 383299322520)),
    _row("v4_c4train_llama", "c4train", "C4, training", _CURATED, (364868892, 198079554945)),
    _row("v4_dolma-v1_6-sample_llama", "dolma-v1_6-sample", "Dolma 1.6, sample", _CURATED,
         (13095416, 9178218956)),
    _row("v4_dolmasample_olmo", "dolmasample", "Dolma 1.6, sample", _CURATED,
         (13095416, 8039098124), "OLMo"),
    _row("v4_pileval_llama", "pileval", "Pile, validation", _CURATED, (214670, 393769120)),
    _row("v4_pileval_gpt2", "pileval-gpt2", "Pile, validation", _CURATED, (214670, 383326404),
         "GPT-2"),
)  # fmt: skip


def find_token_index(name: str) -> TokenIndexRow | None:
    """Return the hosted index with this name or alias, in any case."""
    asked = PREFIX + name.lower()
    return next((row for row in TOKEN_CATALOG if asked in {row.name.lower(), row.alias}), None)


def near_token_names(name: str) -> list[str]:
    """Return the aliases that look most like an unknown name."""
    aliases = {row.alias.removeprefix(PREFIX): row.alias for row in TOKEN_CATALOG}
    begun = [alias for short, alias in aliases.items() if name and short.startswith(name.lower())]
    return begun or [aliases[alias] for alias in get_close_matches(name.lower(), aliases, 2)]
