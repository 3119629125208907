"""The options of commands that keep results, by whether they decide what these are.

The keys of what is kept are made from this, and a test walks over all options of all commands. Kept
are counts of files in the journal, replies in it, and indexes. A key has all that an option can
change of them: either the value of the option (`READING`, `MATCHING`), or what the option chose, as
the texts that were asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

READING: Mapping[str, str] = {
    "text_field": "text_field",
    "skip_bad_lines": "skip_bad_lines",
    "skip_null": "skip_null",
    "exclude_source": "exclude_sources",
}
"""Options that decide what the documents of a file are, and their fields of `ReadOptions`.

The keys of the journal and the plans of indexes have their values.
"""

LIMITS: Mapping[str, str] = {"max_line": "most_line_bytes", "max_bytes": "most_text_bytes"}
"""Options that decide whether a file can be read, and their fields of `ReadOptions`.

A result below a limit holds for each higher one, so that a run with a higher limit reads on where
another stopped. The journal keeps the limits with each result.
"""

MATCHING: Mapping[str, str] = {
    "any_space": "any_space",
    "ignore_case": "ignore_case",
    "regex": "is_regex",
    "whole_words": "whole_words",
}
"""Options that decide which places of a text are occurrences, and their fields of `MatchRule`.

The keys of the journal have their values, and the normalization, which has no option to itself:
`--rule` says it.
"""

CHOOSING_FILES = frozenset(
    {
        "api_url",
        "corpus",
        "directory",
        "index",
        "index_from",
        "index_to",
        "input_format",
        "sample_files",
        "seed",
        "skip_bad_files",
        "skip_unknown",
        "spec",
        "tokenizer",
    }
)
"""Options that decide which files or index are asked; a key has the identity of each.

A file is also told by its format, an index at an address by this and its name, an index in place by
its files, and a text that a tokenizer made by its tokens. Results are kept by file, so that a
sample of files shares them with the whole corpus.
"""

CHOOSING_TEXTS = frozenset(
    {
        "answer_field",
        "answer_within",
        "benchmark",
        "by",
        "case_variants",
        "context",
        "control",
        "control_field",
        "curve",
        "density",
        "documents",
        "draws",
        "estimator",
        "exact_up_to",
        "field",
        "id_field",
        "kinds",
        "literal",
        "literals_file",
        "mask",
        "max_draws",
        "max_occurrences",
        "method",
        "min_words",
        "n",
        "no_mask",
        "no_strip",
        "output_field",
        "outputs",
        "patterns",
        "plain",
        "prompt_field",
        "rank",
        "retrieved",
        "rule",
        "sample",
        "short",
        "target",
        "tier",
        "truncate",
        "width",
        "window",
        "window_unit",
        "without_reasoning",
    }
)
"""Options that decide what is asked: a key has the texts, places and widths that follow."""

NEVER_KEPT = frozenset({"limit_documents"})
"""Options with which no count is kept: the journal has whole files, not a number of documents."""

SHARDING = frozenset({"index_version", "memory", "shard_size"})
"""Options that decide which documents are in which shard, and the files of shards.

Plans of indexes have their values, and the names of files the version of an index over tokens.
"""

DECIDING = (
    frozenset(READING)
    | frozenset(LIMITS)
    | frozenset(MATCHING)
    | CHOOSING_FILES
    | CHOOSING_TEXTS
    | NEVER_KEPT
    | SHARDING
)
"""Options that decide the content of results."""

COMPUTED_ANEW = frozenset(
    {
        "contexts",
        "evidence",
        "write_clean",
        "cut",
        "removed",
        "differences",
        "drawn",
        "effects",
        "figure",
        "level",
        "score_rule",
        "scores",
        "shares",
        "spans",
        "stop_when_decided",
        "tail",
        "totals",
    }
)
"""Options that decide what is made of results after these were read, which each run does.

`--stop-when-decided` asks fewer of the same questions.
"""

MANNER = frozenset(
    {
        "concurrency",
        "count_anyway",
        "dry_run",
        "index_cache",
        "index_memory",
        "journal",
        "quiet",
        "rate",
        "refresh",
        "requester_pays",
        "scheduler",
        "timeout_s",
        "verbose",
        "workers",
    }
)
"""Options that decide how, how fast and whether results are got, but not what they are.

A file is split in the same pieces whatever `--workers` says, and also on a cluster. The folder of
`--index-cache` has the parts of files by the identities of these.
"""

SHOWING = frozenset(
    {
        "format_name",
        "has_sidecar",
        "help_all",
        "is_csv_safe",
        "output",
        "show_all",
        "sort",
        "top",
        "wide",
    }
)
"""Options that decide where and how rows are shown, and where an index is written."""

NOT_DECIDING = COMPUTED_ANEW | MANNER | SHOWING
"""Options that don't decide the content of results."""

KEEPING_NOTHING = frozenset(
    {
        "blend",
        "index_list",
        "index_verify",
        "journal_clear",
        "journal_info",
        "keyness",
        "patterns_list",
        "patterns_show",
        "report",
        "serve",
        "strategies",
        "tiers",
    }
)
"""Commands that keep no results, so that none of their options can make a kept one wrong."""
