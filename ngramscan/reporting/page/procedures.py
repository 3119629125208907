"""The procedures behind the p-values of some rows, by the column `test`."""

from __future__ import annotations

from collections.abc import Iterable

from ngramscan.reporting.page.results import Results

PROCEDURES = {
    "mid-p McNemar": "mid_p_mcnemar",
    "exact McNemar": "exact_mcnemar",
    "tilting": "tilting",
    "bootstrap-t": "bootstrap_t",
    "signed-rank": "signed_rank",
    "sign flips": "sign_flips",
    "permutation": "permutation",
    "degrees of freedom": "slope_t",
    "Fisher": "fisher",
}
"""Parts of the names of procedures, and the templates that explain them, without their suffixes."""


def procedures_of(results: Iterable[Results]) -> list[str]:
    """Return the templates that explain the tests of some rows, in the order of `PROCEDURES`."""
    tests = {str(row["test"]) for result in results for row in result.rows if row.get("test")}
    return [
        template for name, template in PROCEDURES.items() if any(name in test for test in tests)
    ]
