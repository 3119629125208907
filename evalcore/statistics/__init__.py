"""Statistics of paired results: arrays in, values with their intervals out, nothing else."""

from __future__ import annotations

from evalcore.statistics.paired import Comparison, GradedTest, Settings, compare_pairs
from evalcore.statistics.power import mcnemar_detectable, mcnemar_power, t_detectable, t_power
from ngramscan.statistics.resampling import (
    ITEMS_FOR_AN_INTERVAL,
    Ratio,
    Resampling,
    Studentized,
    drawn_sums,
    studentized_limits,
)

__all__ = [
    "ITEMS_FOR_AN_INTERVAL",
    "Comparison",
    "GradedTest",
    "Ratio",
    "Resampling",
    "Settings",
    "Studentized",
    "compare_pairs",
    "drawn_sums",
    "mcnemar_detectable",
    "mcnemar_power",
    "studentized_limits",
    "t_detectable",
    "t_power",
]
