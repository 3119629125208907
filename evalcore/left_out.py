"""How comparisons tell what they leave out, since nothing is known of it."""

from __future__ import annotations


def say_left_out(what: str, n: int, n_known: int) -> str:
    """Return the line before all others; empty: of all `what`, pairs or problems, something is."""
    if not n:
        return ""
    left_out = f"{n:,} of {_counted(n + n_known, what)} {'is' if n == 1 else 'are'} left out"
    return f"{left_out}, since nothing is known of one of the answers"


def reasons_for_left_out(what: str, unknown: int, one_sided: int, excluded: int = 0) -> str:
    """Return how many `what` are left out of a cell, and why; empty: none.

    Nothing is known of an answer to the `unknown`, the `one_sided` were not put to all methods, and
    of the `excluded` an answer is missing.
    """
    reasons = [f"{unknown:,} with an unknown result"] * bool(unknown)
    reasons += [f"{one_sided:,} not put to every method"] * bool(one_sided)
    counted = f"{_counted(unknown + one_sided, what)} left out: {', '.join(reasons)}"
    without = [f"{excluded:,} without an answer left out"] * bool(excluded)
    return ", ".join([counted] * bool(reasons) + without)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
