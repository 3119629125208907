"""The kinds of rows that commands write, recognised by their columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ngramscan.reporting.plots import Kind, make_kind, make_plot


def _joined(of_bytes: Kind, of_tokens: Kind) -> Kind:
    """Return the kind of rows over bytes and over tokens in one file, which are never compared."""
    return replace(
        of_bytes,
        title=f"{of_bytes.title}, over bytes and over tokens",
        needs=of_bytes.needs | of_tokens.needs,
        numbers=of_bytes.numbers | of_tokens.numbers,
        plots=of_bytes.plots + of_tokens.plots,
        may_lack=of_bytes.may_lack | of_tokens.may_lack,
    )


_NAMES_OF_PATTERNS = frozenset({"method", "tier", "kind"})
"""The columns that only patterns of a set have a value in."""
_COUNT = make_kind(
    "count",
    "Counts",
    "index method tier kind pattern query",
    "occurrences documents | estimated documents_low documents_high level bytes per_gigabyte"
    " per_million_documents",
    make_plot("occurrences", "index", "query", "log", series="method"),
    may_lack=_NAMES_OF_PATTERNS | {"documents", "occurrences_low", "occurrences_high"},
)
_TOKEN_COUNT = make_kind(
    "count",
    "Counts over tokens",
    "index method tier kind pattern query",
    "token_occurrences | token_occurrences_after_space per_million_tokens",
    make_plot("token_occurrences", "index", "query", "log", limits=None, series="method"),
    may_lack=_NAMES_OF_PATTERNS,
)
_DOCNORM = make_kind(
    "docnorm",
    "Documents with each pattern",
    "index method tier pattern",
    "occurrences documents | draws occurrences_per_document occurrences_per_document_low"
    " occurrences_per_document_high level truncated_share unique_documents seed standard_error"
    " documents_lower_estimate documents_upper_estimate documents_per_million"
    " documents_per_million_low documents_per_million_high",
    make_plot("documents", "index", "pattern", "log", series="method"),
    texts="estimator",
    may_lack=_NAMES_OF_PATTERNS,
)
_TOKEN_DOCNORM = make_kind(
    "docnorm",
    "Documents with each pattern, over tokens",
    "index method tier pattern",
    "token_occurrences token_documents | draws token_occurrences_per_document"
    " token_occurrences_per_document_low token_occurrences_per_document_high level"
    " truncated_share unique_documents seed standard_error token_documents_lower_estimate"
    " token_documents_upper_estimate token_documents_per_million token_documents_per_million_low"
    " token_documents_per_million_high",
    make_plot("token_documents", "index", "pattern", "log", series="method"),
    texts="estimator",
    may_lack=_NAMES_OF_PATTERNS,
)
KINDS: tuple[Kind, ...] = (
    _joined(_COUNT, _TOKEN_COUNT),
    _COUNT,
    _TOKEN_COUNT,
    make_kind(
        "totals",
        "Totals of methods",
        "index tiers method kind versus statistic",
        "value low high | level lower_estimate upper_estimate",
    ),
    _joined(_DOCNORM, _TOKEN_DOCNORM),
    _DOCNORM,
    _TOKEN_DOCNORM,
    make_kind(
        "contexts",
        "Occurrences in context",
        "index pattern document",
        "| offset shard rank",
        texts="left match right",
    ),
    make_kind(
        "contaminate",
        "Contamination of each entry",
        "index rule id",
        "windows found | asked rarest_occurrences longest_run occurrences_seen",
        make_plot("eta", "index rule", "id", "share", series="verdict"),
        texts="verdict",
    ),
    make_kind(
        "contaminate --shares",
        "Contaminated shares of the benchmark",
        "index rule verdict eta_from",
        "entries n share | eta_below population n_unknown level seed",
        make_plot(
            "share",
            "rule",
            "index verdict",
            "share",
            series="verdict",
            across="eta_from",
            aside="{n} of {entries} entries",
        ),
    ),
    make_kind(
        "contaminate --effects",
        "Scores on clean and on contaminated entries",
        "index dataset model method score_rule answer",
        "n_clean n_dirty accuracy_clean accuracy_dirty p | n accuracy accuracy_clean_low"
        " accuracy_clean_high n_suspicious accuracy_suspicious accuracy_suspicious_low"
        " accuracy_suspicious_high accuracy_dirty_low accuracy_dirty_high level detectable"
        " n_without_verdict n_without_score p_adjusted",
        make_plot(
            "difference",
            "index",
            "dataset model method score_rule",
            sides=("clean entries better", "dirty entries better"),
        ),
    ),
    make_kind(
        "trace",
        "How much of each output is in the corpus",
        "index dataset model prompt id kind unit",
        "words masked coverage novelty | min_words spans longest index_from index_to"
        " creativity_index truncated_words coverage_truncated",
    ),
    make_kind(
        "trace --curve",
        "Coverage of outputs by length of spans",
        "index dataset model prompt kind",
        "outputs length | problems novelty novelty_low novelty_high level",
        make_plot(
            "coverage",
            "index dataset model kind",
            "model",
            "share",
            series="prompt",
            across="length",
        ),
    ),
    make_kind(
        "trace --differences",
        "Differences of what prompts copy",
        "index dataset model prompt baseline kind measure",
        "problems mean mean_baseline p p_holm | level family_tests",
        make_plot(
            "difference",
            "index measure",
            "dataset model prompt baseline",
            aside="{problems} problems, p = {p_holm} (Holm)",
            sides=("more with {baseline}", "more with {prompt}"),
        ),
    ),
    make_kind(
        "trace --spans",
        "Parts of outputs that the corpus has",
        "index dataset model prompt id",
        "start end words masked occurrences | documents",
        texts="text",
    ),
    make_kind(
        "blend",
        "Outputs with markers of each method",
        "dataset model prompt method",
        "has_method outputs with_marker | absent occurrences per_1000_characters level",
        make_plot(
            "share",
            "dataset model",
            "prompt method",
            "share",
            series="has_method",
            aside="{with_marker} of {outputs} outputs",
        ),
    ),
    make_kind(
        "blend --presence",
        "Outputs with each pattern",
        "dataset model method tier pattern prompt",
        "has_method outputs with_pattern | occurrences level",
        make_plot(
            "share",
            "dataset model",
            "pattern prompt",
            "share",
            series="has_method",
            aside="{with_pattern} of {outputs} outputs",
        ),
    ),
    make_kind(
        "blend --retention",
        "Markers that outputs keep with a solver",
        "dataset model prefix solver method prompt_with",
        "pairs share_alone share_with p | unpaired retention only_alone only_with level p_adjusted",
        make_plot(
            "difference",
            "dataset model",
            "method prefix solver prompt_with",
            series="method",
            aside="{pairs} pairs",
            sides=("fewer with {solver}", "more with {solver}"),
        ),
    ),
    make_kind(
        "blend --isolation",
        "Markers in outputs of their own method and of others",
        "dataset model method",
        "outputs_own outputs_others share_own share_others | difference level",
        make_plot("ratio", "dataset model", "method", "log"),
    ),
    make_kind(
        "tiers",
        "Specificity of each pattern",
        "dataset model method pattern",
        "| outputs_own outputs_others with_pattern_own with_pattern_others occurrences_own"
        " occurrences_others rate_own rate_others agrees interval_spans_tiers clusters level",
        make_plot("ratio", "dataset model measure", "method pattern", "log", series="tier"),
        texts="measure tier tier_by_ratio",
    ),
    make_kind(
        "keyness",
        "Key n-grams of the method",
        "ngram n",
        "n count other_count q | per_million other_per_million documents document_share"
        " other_documents other_document_share g2 dispersion p level",
        make_plot("log_ratio", "n", "ngram"),
    ),
    make_kind(
        "strategies",
        "Strategies of outputs",
        "dataset model prompt strategy",
        "outputs with_strategy | mean_formula_density formula_density_of_group level",
        make_plot(
            "share",
            "dataset model",
            "prompt strategy",
            "share",
            series="strategy",
            aside="{with_strategy} of {outputs} outputs",
        ),
    ),
    make_kind(
        "strategies --per-output",
        "Strategy of each output",
        "dataset model prompt id",
        "formula_density | has_code steps steps_before_code words characters",
        texts="strategy rule",
    ),
    # Before `score`, whose columns these rows have, too.
    make_kind(
        "show",
        "Outputs for a problem, side by side",
        "dataset model method id epoch rule",
        "epoch value |",
        texts="output answer reason reply status",
    ),
    make_kind(
        "score",
        "Scores of answers",
        "dataset model method id epoch rule",
        "epoch value |",
        texts="status",
    ),
    make_kind(
        "compare",
        "Differences of methods",
        "dataset model rule baseline treatment",
        "n accuracy_baseline accuracy_treatment p p_holm | n_no_answer n_unknown treatment_only"
        " baseline_only unanswered_baseline unanswered_treatment p_exact n_complete"
        " difference_complete p_complete detectable level needed_n n_problems right_from"
        " family_tests n_clusters p_bh n_labelled judge_weight difference_judged",
        make_plot(
            "difference",
            "dataset",
            "model group rule baseline treatment",
            aside="n = {n_problems}, p = {p_holm} (Holm)",
            sides=("{baseline} better", "{treatment} better"),
        ),
        may_lack=frozenset({"p_holm"}),  # with another adjustment
    ),
    make_kind(
        "rank",
        "Ranks",
        "dataset model method rule",
        "n accuracy accuracy_low accuracy_high rank_of level | better worse n_labelled judge_weight"
        " accuracy_judged",
        make_plot("rank", "dataset", "model group method rule", aside="of {rank_of}"),
    ),
    make_kind(
        "compare --averages",
        "Average differences of methods",
        "average dataset model rule baseline treatment",
        "parts n accuracy_baseline accuracy_treatment | n_unknown",
        make_plot(
            "difference",
            "dataset model",
            "average group rule baseline treatment",
            sides=("{baseline} better", "{treatment} better"),
        ),
    ),
    # Before `plan --curve`, whose columns these rows have, too.
    make_kind(
        "plan",
        "Planned comparisons",
        "dataset model rule baseline treatment",
        "epochs cluster_size difference target_power needed_n needed_answers n power detectable"
        " spread | needed_clusters discordance",
        texts="test",
    ),
    make_kind(
        "plan --curve",
        "Power against the number of problems",
        "dataset model rule baseline treatment",
        "epochs difference n power",
        make_plot(
            "power",
            "dataset model rule baseline treatment",
            "epochs",
            "share",
            limits=None,
            series="epochs",
            across="n",
        ),
    ),
    make_kind(
        "outcomes",
        "Joint outcomes of the adaptive method and its baselines",
        "dataset model rule adaptive baselines",
        "n adaptive_right adaptive_wrong | n_no_answer n_unknown all_fail all_solve only_adaptive"
        " all_baselines_but_adaptive accuracy upper_bound upper_bound_with_adaptive n_clusters",
        make_plot(
            "selection_accuracy",
            "dataset model",
            "group rule adaptive baselines",
            "share",
            limits="selection",
        ),
    ),
    make_kind(
        "outcomes --agreements",
        "Accuracy where two methods agree",
        "dataset model rule baseline adaptive",
        "n n_agree | agree agree_low agree_high accuracy_baseline_differ"
        " accuracy_baseline_differ_low accuracy_baseline_differ_high accuracy_adaptive_differ"
        " accuracy_adaptive_differ_low accuracy_adaptive_differ_high accepted accepted_low"
        " accepted_high verified verified_low verified_high",
        make_plot(
            "accuracy_agree",
            "dataset model",
            "group rule baseline adaptive",
            "share",
            aside="{n_agree} of {n} agree",
        ),
    ),
    make_kind(
        "outcomes --wins",
        "Wins, ties and losses",
        "model baseline treatment",
        "cells wins ties losses | wins_by_test ties_by_test losses_by_test alpha",
    ),
    make_kind(
        "efficiency",
        "Accuracy and tokens",
        "dataset model method rule",
        "n on_frontier | n_no_answer n_unknown correct n_tokens mean_tokens_low mean_tokens_high"
        " tokens_per_correct tokens_per_correct_low tokens_per_correct_high"
        " accuracy_per_100_tokens accuracy_per_100_tokens_low accuracy_per_100_tokens_high"
        " mean_of_ratios mean_prompt_tokens mean_completion_tokens mean_reasoning_tokens"
        " prompt_overhead prompt_overhead_n frontier_share cost_per_answer cost_per_answer_low"
        " cost_per_answer_high cost_per_correct cost_per_correct_low cost_per_correct_high"
        " n_clusters",
        make_plot(
            "accuracy",
            "dataset model group rule",
            "method",
            "share",
            across="mean_tokens",
            across_limits="mean_tokens",
        ),
    ),
    make_kind(
        "judge --shares",
        "Estimated shares of the judges' labels",
        "rule label",
        "population drawn count | level strata seed",
        make_plot("share", "", "rule label", "share", aside="{count} of {drawn} drawn"),
        texts="per",
    ),
    # Before `agreement`, whose `judges` are names.
    make_kind("agreement --votes", "Votes on each item", "item", "votes judges", texts="label"),
    make_kind(
        "agreement",
        "Agreement of judges",
        "statistic judges label",
        "items value low high | count",
        make_plot("value", "statistic", "judges label"),
    ),
    make_kind(
        "audit",
        "Published figures, recomputed",
        "id where statement",
        "recomputed | low high",
        texts="published verdict",
    ),
    make_kind(
        "link",
        "Prevalence and accuracy of pairs of methods",
        "index measure dataset model rule baseline treatment",
        "difference difference_low difference_high same_direction | sum_ratio p p_adjusted"
        " n_problems right_from family_tests",
        make_plot(
            "prevalence_ratio",
            "index measure",
            "dataset model group rule baseline treatment",
            "log",
            limits="prevalence",
        ),
        make_plot(
            "difference",
            "index measure",
            "dataset model group rule baseline treatment",
            across="prevalence_ratio",
            across_limits="prevalence",
        ),
    ),
    make_kind(
        "link --problems",
        "Accuracy per tenfold count",
        "counts dataset model rule method baseline",
        "groups p p_adjusted | n n_unknown rho count_correlation slope_corrected"
        " slope_corrected_low slope_corrected_high n_clusters level",
        make_plot(
            "slope",
            "counts",
            "dataset model rule method baseline",
            aside="{groups} groups, p = {p_adjusted} (adjusted)",
        ),
        texts="transformation",
    ),
    make_kind(
        "link --ranks",
        "Prevalence and accuracy, ranks of methods",
        "index measure dataset model rule",
        "methods p",
        make_plot("tau", "index measure", "dataset model group rule", limits=None),
    ),
)
"""All kinds, in the order of a page; one that has all columns of another comes first."""


def kind_of(columns: Iterable[str]) -> Kind | None:
    """Return the kind of rows with these columns; None: no command writes them."""
    there = {*columns}
    return next((kind for kind in KINDS if kind.marks <= there), None)
