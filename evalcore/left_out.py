"""What is left out of a comparison, since nothing is known of it, and how that is told."""

from __future__ import annotations


def say_left_out(what: str, n: int, n_known: int) -> str:
    """Return the line before all others; empty: of all `what`, pairs or problems, something is."""
    if not n:
        return ""
    verb = "is" if n == 1 else "are"
    reason = "nothing is known of one of the answers"
    return f"{n:,} of {_counted(n + n_known, what)} {verb} left out, since {reason}"


def reasons_for_left_out(what: str, unknown: int, one_sided: int) -> str:
    """Return how many `what` are left out of a cell, and why; empty: none.

    Parameters
    ----------
    what : str
        The name of one: a pair or a problem.
    unknown : int
        All methods were asked, but what an answer was worth is not known.
    one_sided : int
        Not all of them were asked.
    """
    reasons = [f"{unknown:,} with an unknown result"] * bool(unknown)
    reasons += [f"{one_sided:,} not put to every method"] * bool(one_sided)
    counted = _counted(unknown + one_sided, what)
    return f"{counted} left out: {', '.join(reasons)}" if reasons else ""


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
