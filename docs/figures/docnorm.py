"""Draw docs/docnorm.svg: occurrences per document, true and estimated, in simulated corpora.

python docs/figures/docnorm.py

Needs matplotlib. Seeded: the same file every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ngramscan.prevalence.estimators import Draws, documents_of_repeats, estimate_documents

FIGURE = Path(__file__).resolve().parent.parent / "docnorm.svg"
SEED = 20261121
CORPORA = 28
DOCUMENTS = 100_000
DRAWS = 200
# Okabe and Ito's, which differ for colour-blind readers and in grey.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#666666"


@dataclass(frozen=True, slots=True)
class Point:
    """Occurrences per document of one corpus."""

    truth: float
    value: float
    low: float
    high: float

    @property
    def holds_truth(self) -> bool:
        """Whether the truth is within the limits."""
        return self.low <= self.truth <= self.high


def make_counts(random: np.random.Generator, mean: float, even: bool) -> NDArray[np.int64]:
    """Return occurrences of each document: geometric, or lognormal and so more uneven."""
    if even:
        return random.geometric(1 / mean, DOCUMENTS)
    # Rounding up adds a half or more, so the mean is near what is asked and then taken as it is.
    spread = 1.2
    centre = np.log(max(mean - 0.5, 0.05)) - spread**2 / 2
    return np.ceil(np.exp(random.normal(centre, spread, DOCUMENTS))).astype(np.int64)


def estimate(random: np.random.Generator, counts: NDArray[np.int64]) -> tuple[Point, Point]:
    """Draw occurrences of one corpus; return what the shares say, and what repeats say."""
    occurrences = int(counts.sum())
    ranks = random.integers(0, occurrences, DRAWS)
    documents = np.searchsorted(np.cumsum(counts), ranks, side="right")
    truth = occurrences / DOCUMENTS
    shares = 1 / counts[documents]
    draws = [Draws(shares, shares, occurrences)]
    bounds = estimate_documents(draws, len(np.unique(documents)), 0.95)
    repeats = documents_of_repeats([str(one) for one in documents.tolist()], occurrences)
    return (
        Point(
            truth, occurrences / bounds.value, occurrences / bounds.high, occurrences / bounds.low
        ),
        Point(truth, occurrences / repeats.value, 1, occurrences / repeats.limits[0]),
    )


def draw_points(axes: Axes, points: Sequence[Point], colour: str) -> None:
    """Draw estimates with their limits; an open mark where those miss the truth."""
    truths = [point.truth for point in points]
    limits = ([point.low for point in points], [point.high for point in points])
    axes.vlines(truths, *limits, color=colour, lw=1.1, alpha=0.75)
    faces = [colour if point.holds_truth else "white" for point in points]
    axes.scatter(
        truths, [point.value for point in points], s=21, c=faces, edgecolors=colour, zorder=3
    )


def draw_frame(axes: Axes, title: str, colour: str) -> None:
    """Draw what both panels share."""
    axes.plot([0.8, 150], [0.8, 150], color=GREY, lw=1, ls=(0, (4, 3)), zorder=0)
    axes.set(xscale="log", yscale="log", xlim=(0.85, 110), ylim=(0.8, 3500))
    ticks = [1, 3, 10, 30, 100]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks([*ticks, 300, 1000], [*(str(tick) for tick in ticks), "300", "1,000"])
    axes.minorticks_off()
    axes.set_xlabel("true occurrences per document")
    axes.set_title(title, color=colour, fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#E5E5E5", lw=0.6)
    axes.set_axisbelow(True)


def main() -> None:
    """Simulate the corpora and write the figure."""
    random = np.random.default_rng(SEED)
    means = np.geomspace(1.05, 80, CORPORA)
    corpora = [make_counts(random, float(mean), even=n % 2 == 0) for n, mean in enumerate(means)]
    shares, repeats = zip(*(estimate(random, counts) for counts in corpora), strict=True)

    mpl.rcParams.update({"font.size": 9.5, "svg.hashsalt": "documents", "axes.linewidth": 0.7})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4.1), sharey=True, facecolor="white")
    draw_frame(left, "combined: follows the truth", BLUE)
    draw_frame(right, "K/U: 1 whatever the truth", VERMILION)
    draw_points(left, shares, BLUE)
    draw_points(right, repeats, VERMILION)
    left.set_ylabel("estimated occurrences per document")
    left.text(24, 11, "truth", color=GREY, rotation=30, ha="left", va="top")
    missing = sum(not point.holds_truth for point in shares)
    left.text(
        0.03,
        0.97,
        f"open: interval misses ({missing} of {CORPORA})",
        transform=left.transAxes,
        va="top",
        color=BLUE,
    )
    right.text(
        0.03,
        0.97,
        "lines: all that repeats leave possible",
        transform=right.transAxes,
        va="top",
        color=VERMILION,
    )
    figure.suptitle(
        "Shares of a document show occurrences per document; repeated documents do not",
        x=0.01,
        ha="left",
        fontsize=12,
        fontweight="bold",
    )
    figure.tight_layout()
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
