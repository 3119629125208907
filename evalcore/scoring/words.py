"""Compare answers that are words (BBH word_sorting) to the letter."""

from __future__ import annotations

from evalcore.scoring.base import Verdict


def exact(answer: str, gold: str) -> Verdict:
    """Compare two texts to the letter, white space and one full stop at the ends apart.

    Parameters
    ----------
    answer : str
        What a model answered: words with single spaces between them.
    gold : str
        The reference, in the same form.

    Returns
    -------
    Verdict
        1.0 where both are the same, upper and lower case and commas included; else 0.0.
    """
    said, right = (text.strip().removesuffix(".").rstrip() for text in (answer, gold))
    if said == right:
        return Verdict(1.0, "equal")
    if sorted(said.split()) == sorted(right.split()):
        return Verdict(0.0, "the same words in another order")
    return Verdict(0.0, "other words")
