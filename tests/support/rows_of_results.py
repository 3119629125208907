"""Rows of every kind of results, as commands write them, with few columns or with all."""

from typing import Any

Row = dict[str, Any]

COUNTED: Row = {
    "index": "x",
    "method": "x",
    "tier": "x",
    "kind": "x",
    "pattern": "x",
    "query": "x",
    "occurrences": 3,
    "documents": None,
    "source": "scan",
    "asked_at": "2026-03-04T05:06:07Z",
    "estimated": False,
    "occurrences_low": None,
    "occurrences_high": None,
    "documents_low": None,
    "documents_high": None,
    "level": None,
    "note": "",
}
"""A row of `count` with all columns."""

FOUND: Row = {
    "index": "i",
    "pattern": "p",
    "document": "1",
    "offset": 5,
    "left": "before ",
    "match": "p",
    "right": " after",
    "shard": 0,
    "rank": 9,
    "metadata": "",
}
"""A row of `contexts` with all columns."""

CONTEXT: Row = {
    "index": "i",
    "pattern": "a",
    "left": "",
    "match": "a",
    "right": "",
    "document": "1",
}
"""A row of `contexts` with the columns that it needs."""

COMPARED: Row = {
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "baseline": "cot",
    "treatment": "pot",
    "n": 1500,
    "difference": 0.05123,
    "difference_low": 0.010009,
    "difference_high": 0.09211,
    "p": 0.0041,
    "p_holm": 0.0123,
    "n_unknown": 0,
}
"""A row of `compare` that shows a difference."""

HOSTILE = (
    "</script><script>ran()</script>",
    '"><img src=x onerror="ran()">',
    "<svg onload=ran()>",
    "<!--",
    "]]>{{ 7 * 7 }}{% raw %}",
    "\x1b[31mred\x07",
    "a\u202eb\u2066c\u2028d",
    "\x00nul and half \ud800 a character",
    "line\none\ttwo",
    "&lt;b&gt; &amp;",
)
"""Texts that would run, hide or break something where they are taken for more than texts."""

NUMBERS = (
    0,
    7,
    12345,
    9007199254740992,
    9223372036854775808,
    -3,
    0.5,
    1.0,
    -0.0,
    0.1234567,
    5e-09,
    1000000000000000.0,
    1234.56,
    99999.96,
)
"""Numbers of all sizes, with those that a script or a layout rounds."""

DIFFERENCES = "Differences of methods"
"""The title of the rows of `compare`."""


def compared(**columns: Any) -> Row:
    """Return a row of `compare` that shows a difference, with other values."""
    return COMPARED | columns


def variants_of(row: Row, *changes: Row) -> list[Row]:
    """Return a row, and the row with each of some changes."""
    return [row, *(row | change for change in changes)]


ROWS_OF: dict[str, list[Row]] = {
    "Differences of methods": [
        {
            "dataset": "d",
            "model": "m",
            "rule": "r",
            "baseline": "cot",
            "treatment": "pot",
            "n": 1500,
            "difference": 0.05123,
            "difference_low": 0.010009,
            "difference_high": 0.09211,
            "p": 0.0041,
            "p_holm": 0.0246,
            "n_unknown": 0,
        }
    ],
    "Average differences of methods": [
        {
            "dataset": "d",
            "model": "m",
            "rule": "r",
            "baseline": "cot",
            "treatment": "pot",
            "n": 1500,
            "difference": 0.05123,
            "difference_low": 0.010009,
            "difference_high": 0.09211,
            "p": 0.0041,
            "p_holm": 0.0246,
            "n_unknown": 0,
            "average": "micro",
        }
    ],
    "Counts": [
        {"index": None, "query": "", "occurrences": 1},
        *variants_of(
            {
                "index": "i",
                "unit": "bytes",
                "method": "cot",
                "tier": "T1",
                "query": "a",
                "occurrences": 1234,
            },
            {"unit": "tokens", "query": "b", "occurrences": 99},
        ),
    ],
    "Documents with each pattern": variants_of(
        {
            "index": "i",
            "method": None,
            "tier": None,
            "pattern": "a",
            "documents": 80,
            "documents_low": 71,
            "documents_high": 90,
            "estimator": "size-bias",
            "truncated_share": 0.0,
            "level": 0.95,
        },
        {"pattern": "b", "documents": None, "documents_low": None, "documents_high": None},
        {"unit": "tokens"},
    ),
    "Totals of methods": [
        {
            "index": "i",
            "tiers": "T1",
            "method": "pot",
            "kind": "",
            "versus": "cot",
            "unit": "tokens",
            "statistic": "ratio_of_geometric_means",
            "value": 0.5,
            "low": None,
            "high": None,
        }
    ],
    "Occurrences in context": variants_of(
        {"index": "i", "pattern": "a", "left": "", "match": "a", "right": "", "document": "1"},
        {"index": "j", "pattern": "b"},
    ),
    "Contamination of each entry": variants_of(
        {"index": "i", "rule": "mini", "id": "1", "verdict": "clean", "eta": 0.1},
        {"rule": "gpt2"},
        {"rule": "palm"},
    ),
    "How much of each output is in the corpus": variants_of(
        {"index": "i", "dataset": "d", "model": "m", "prompt": "cot", "id": "1", "coverage": 0.031},
        {"id": "2", "coverage": 0.2},
        {"id": "3", "coverage": None},
    ),
    "Parts of outputs that the corpus has": variants_of(
        {"index": "i", "dataset": "d", "model": "m", "prompt": "cot", "id": "1", "words": 7},
        {"id": "2"},
    ),
    "Coverage of outputs by length of spans": variants_of(
        {
            "index": "i",
            "dataset": "d",
            "model": "m",
            "prompt": "cot",
            "length": 5,
            "outputs": 200,
            "coverage": 0.031,
            "coverage_low": 0.024,
            "coverage_high": 0.044,
            "level": 0.95,
        },
        {"index": "j", "length": 2},
        {"index": "j", "prompt": "pot"},
    ),
    "Differences of what prompts copy": variants_of(
        {
            "index": "i",
            "dataset": "d",
            "model": "m",
            "prompt": "pot",
            "baseline": "cot",
            "kind": "all",
            "measure": "coverage",
            "problems": 200,
            "mean": 0.03,
            "mean_baseline": 0.05,
            "difference": -0.02,
            "difference_low": -0.03,
            "difference_high": -0.01,
            "p": 0.001,
            "p_holm": 0.03,
            "level": 0.95,
        },
        {"index": "j", "p_holm": 0.02},
    ),
    "Contaminated shares of the benchmark": variants_of(
        {
            "index": "i",
            "rule": "mini",
            "verdict": "dirty",
            "entries": 50,
            "share": None,
            "share_low": 0.2,
            "share_high": 0.6,
        },
        {"index": "j", "share_low": None},
    ),
    "Scores on clean and on contaminated entries": variants_of(
        {
            "index": "i",
            "dataset": "d",
            "model": "m",
            "method": "cot",
            "score_rule": "r",
            "answer": "near",
            "n": 60,
            "difference": 0.2,
            "difference_low": 0.05,
            "difference_high": 0.34,
            "level": 0.95,
            "p": 0.01,
            "p_adjusted": 0.02,
        },
        {
            "answer": "not near",
            "difference": -0.1,
            "difference_low": -0.2,
            "difference_high": -0.05,
        },
    ),
    "Outputs with markers of each method": variants_of(
        {
            "dataset": "d",
            "model": "m",
            "prompt": "cot",
            "method": "cot",
            "has_method": True,
            "outputs": 400,
            "share": 0.9,
            "share_low": 0.867,
            "share_high": 0.926,
            "level": 0.95,
        },
        {
            "method": "pot",
            "has_method": False,
            "share": 0.31,
            "share_low": 0.25,
            "share_high": 0.375,
        },
        {
            "prompt": "pot",
            "has_method": False,
            "share": 0.0,
            "share_low": 0.0,
            "share_high": 0.0096,
        },
    ),
    "Outputs with each pattern": [
        {
            "dataset": "d",
            "model": "m",
            "prompt": "cot",
            "method": "cot",
            "has_method": True,
            "outputs": 400,
            "share": 0.9,
            "share_low": 0.867,
            "share_high": 0.926,
            "level": 0.95,
            "pattern": "a",
            "with_pattern": 360,
        }
    ],
    "Markers that outputs keep with a solver": variants_of(
        {
            "dataset": "d",
            "model": "m",
            "prefix": "f-1",
            "solver": "pot",
            "method": "F-1",
            "prompt_with": "f-1+pot",
            "pairs": 40,
            "level": 0.95,
            "p": 0.001,
            "p_adjusted": 0.0015,
            "share_alone": 0.5,
            "share_with": 0.7,
            "difference": 0.2,
            "difference_low": 0.05,
            "difference_high": 0.34,
        },
        {
            "solver": "cot",
            "prompt_with": "f-1+cot",
            "p_adjusted": 0.0,
            "share_alone": 0.9,
            "difference": -0.2,
            "difference_low": -0.3,
            "difference_high": -0.1,
            "p_holm": 1e-09,
        },
    ),
    "Markers in outputs of their own method and of others": variants_of(
        {
            "dataset": "d",
            "model": "m",
            "method": "cot",
            "pattern": None,
            "ratio": 12.0,
            "ratio_low": 10.4,
            "ratio_high": 13.9,
            "agrees": True,
            "interval_spans_tiers": False,
            "level": 0.95,
        },
        {"method": "pot", "ratio_low": None, "ratio_high": None},
    ),
    "Specificity of each pattern": [
        {
            "dataset": "d",
            "model": "m",
            "method": "cot",
            "pattern": "a",
            "ratio": None,
            "ratio_low": None,
            "ratio_high": None,
            "agrees": None,
            "interval_spans_tiers": None,
            "level": 0.95,
        }
    ],
    "Key n-grams of the method": variants_of(
        {
            "ngram": "so that",
            "q": 0.01,
            "level": 0.9,
            "log_ratio": 2.0,
            "log_ratio_low": 1.1,
            "log_ratio_high": 2.9,
        },
        {"ngram": "we get", "log_ratio": 1.5},
    ),
    "Strategies of outputs": variants_of(
        {
            "dataset": "d",
            "model": "m",
            "prompt": "cot",
            "strategy": "CoT",
            "outputs": 50,
            "share": 0.62,
            "share_low": 0.481504,
            "share_high": 0.741372,
            "level": 0.95,
        },
        {"strategy": "PoT", "share": 0.38, "share_low": 0.2586, "share_high": 0.5185},
    ),
    "Strategy of each output": variants_of({"strategy": "CoT"}, {}, {"strategy": "Direct"}),
    "Scores of answers": variants_of(
        {"rule": "strict", "status": "scored", "value": 1.0}, {"status": "unknown", "value": None}
    ),
    "Joint outcomes of the adaptive method and its baselines": variants_of(
        {
            "dataset": "d",
            "model": "m",
            "rule": "r",
            "adaptive": "f-1",
            "baselines": "cot",
            "selection_accuracy": 0.62,
            "selection_low": 0.481504,
            "selection_high": 0.741372,
        },
        {"baselines": "cot · pot", "selection_accuracy": 0.6},
    ),
    "Wins, ties and losses": variants_of(
        {
            "model": "m",
            "treatment": "f-1",
            "baseline": "cot",
            "cells": 3,
            "wins": 1,
            "ties": 0,
            "losses": 2,
            "wins_by_test": 1,
            "ties_by_test": 2,
            "losses_by_test": 0,
            "alpha": 0.05,
        },
        {"model": "all", "cells": 1, "wins": 0, "ties": 1, "losses": 1},
        {},
    ),
    "Accuracy and tokens": [
        {
            "dataset": "d",
            "model": "m",
            "method": "cot",
            "rule": "r",
            "n": 50,
            "n_tokens": 48,
            "accuracy": 0.62,
            "accuracy_low": 0.481504,
            "accuracy_high": 0.741372,
            "mean_tokens": 512.25,
            "mean_tokens_low": 480.5,
            "mean_tokens_high": 550.0,
        }
    ],
    "Agreement of judges": variants_of(
        {
            "statistic": "cohen_kappa",
            "judges": "a · b",
            "items": 50,
            "label": None,
            "count": None,
            "value": 0.62,
            "low": 0.481504,
            "high": 0.741372,
        },
        {"statistic": "majority"},
        {"statistic": "share"},
        {"statistic": "missing"},
    ),
    "Votes on each item": variants_of({"label": "yes"}, {"label": None}),
    "Prevalence and accuracy of pairs of methods": variants_of(
        {
            "index": "i",
            "measure": "occurrences",
            "dataset": "d",
            "model": "m",
            "rule": "r",
            "baseline": "cot",
            "treatment": "pot",
            "prevalence_ratio": 4.0,
            "prevalence_low": 2.5,
            "prevalence_high": 6.25,
            "sum_ratio": None,
            "same_direction": True,
            "p_adjusted": 0.0123,
            "difference": 0.05123,
            "difference_low": 0.010009,
            "difference_high": 0.09211,
            "p": 0.0041,
            "family": "rule r, single models",
            "family_tests": 2,
            "scale": "graded",
            "test": "nonparametric tilting",
            "n_problems": 100,
        },
        {"index": "j"},
    ),
    "Prevalence and accuracy, ranks of methods": [
        {
            "index": "i",
            "measure": "occurrences",
            "dataset": "d",
            "model": "m",
            "rule": "r",
            "methods": 4,
            "tau": 0.667,
            "p": None,
        }
    ],
    "Accuracy per tenfold count": variants_of(
        {
            "role": "placebo",
            "counts": "placebo",
            "dataset": "d",
            "model": "m",
            "rule": "r",
            "method": "cot",
            "baseline": None,
            "groups": 25,
            "n": 2500,
            "slope": 0.26401,
            "slope_low": 0.055,
            "slope_high": 0.476,
            "p": 0.007,
            "p_adjusted": 0.014,
            "level": 0.95,
        },
        {"method": "pot", "slope_low": -0.4},
    ),
    "Estimated shares of the judges' labels": variants_of(
        {
            "rule": "judge:a",
            "label": "C",
            "population": 300,
            "drawn": 60,
            "count": 41,
            "share": 0.7,
            "share_low": 0.581504,
            "share_high": 0.791372,
            "per": "model,method",
        },
        {"label": "A", "count": 19, "share": 0.3, "share_low": 0.208628, "share_high": 0.418496},
    ),
    "Ranks": variants_of(
        {
            "dataset": "d",
            "model": "m",
            "method": "cot",
            "rule": "r",
            "n": 120,
            "accuracy": 0.8,
            "accuracy_low": 0.7,
            "accuracy_high": 0.9,
            "rank": 1,
            "rank_low": 1,
            "rank_high": 2,
            "rank_of": 3,
            "level": 0.95,
        },
        {
            "method": "pot",
            "accuracy": 0.5,
            "accuracy_low": 0.4,
            "accuracy_high": 0.6,
            "rank": 2,
            "rank_high": 3,
        },
    ),
}
"""Some rows of each kind, by its title; older ones lack columns of later versions."""
