"""Statistics of paired results: arrays in, values with their intervals out, nothing else."""

from __future__ import annotations

from evalcore.statistics.bootstrap import (
    ITEMS_FOR_AN_INTERVAL,
    Ratio,
    Resampling,
    Studentized,
    drawn_sums,
    studentized_limits,
)
from evalcore.statistics.bootstrap_t import MeanDifference, bootstrap_mean, bootstrap_t
from evalcore.statistics.multiplicity import holm
from evalcore.statistics.p_values import PValue
from evalcore.statistics.paired import Comparison, GradedTest, Settings, compare_pairs
from evalcore.statistics.power import (
    mcnemar_detectable,
    mcnemar_power,
    t_detectable,
    t_power,
)
from evalcore.statistics.sign_flips import sign_flip_test
from evalcore.statistics.signed_ranks import signed_rank_test

__all__ = [
    "ITEMS_FOR_AN_INTERVAL",
    "Comparison",
    "GradedTest",
    "MeanDifference",
    "PValue",
    "Ratio",
    "Resampling",
    "Settings",
    "Studentized",
    "bootstrap_mean",
    "bootstrap_t",
    "compare_pairs",
    "drawn_sums",
    "holm",
    "mcnemar_detectable",
    "mcnemar_power",
    "sign_flip_test",
    "signed_rank_test",
    "studentized_limits",
    "t_detectable",
    "t_power",
]
