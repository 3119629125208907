"""Which methods' markers are in the outputs of which prompts: presence, density, retention.

A share is of the outputs that have text. Where several outputs answer the same problem (epochs, or
models in pooled rows), they are not independent: problems are the clusters of all intervals and
tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import fmean
from typing import Annotated, Any, NamedTuple

from ngramscan.messages import Text, counted
from ngramscan.outputs.markers import ALL, LEVEL, MarkerCounts, mark_outputs
from ngramscan.outputs.reading import OutputSet, has_method, methods_of, parts_of
from ngramscan.outputs.tokens import Booleans, Ints
from ngramscan.patterns.model import PatternSet
from ngramscan.rows import AdjustedP, Heading, Label, Plot, Points, PValue, Share, row_kind
from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.estimates import Estimate, fields_of
from ngramscan.statistics.p_values import holm
from ngramscan.statistics.proportions import Pairs, mcnemar, paired_difference
from ngramscan.statistics.streams import stream

GENERIC_SHARE = 0.5
"""A pattern is generic if it is in this share of all prompts' outputs, or if its share elsewhere
reaches this part of its share in its own prompts' outputs."""
NO_SOLVER = ("zs", "zero", "zero-shot")
"""Last parts of a prompt's name that name no solver: `f-1+zs` is the prefix alone."""


@row_kind(
    "blend",
    "Outputs with markers of each method",
    Plot(
        "share",
        panel=("dataset", "model"),
        label=("prompt", "method"),
        scale="share",
        series="has_method",
        aside="{with_marker} of {outputs} outputs",
    ),
    key=("has_method", "outputs", "with_marker"),
)
@dataclass(frozen=True, slots=True)
class BlendRow:
    """One row: the markers of a method in the outputs of a prompt."""

    dataset: Label
    model: Label
    prompt: Label
    method: Label
    has_method: Annotated[bool, Heading("the prompt asks for the method")]
    """The prompt has the method, alone or joined."""
    outputs: int
    """Outputs that have text."""
    absent: int
    """Missing or empty outputs, which no other column counts."""
    with_marker: int
    share: Share | None
    share_low: Share | None
    share_high: Share | None
    occurrences: int
    """Occurrences of all markers; one inside another counts for both."""
    per_1000_characters: float | None
    level: float


@row_kind(
    "blend --presence",
    "Outputs with each pattern",
    Plot(
        "share",
        panel=("dataset", "model"),
        label=("pattern", "prompt"),
        scale="share",
        series="has_method",
        aside="{with_pattern} of {outputs} outputs",
    ),
    key=("has_method", "outputs", "with_pattern"),
)
@dataclass(frozen=True, slots=True)
class PresenceRow:
    """One row: a single marker in the outputs of a prompt."""

    dataset: Label
    model: Label
    method: Label
    tier: Label
    pattern: Label
    """The literal, or the name of a regex."""
    prompt: Label
    has_method: Annotated[bool, Heading("the prompt asks for the method")]
    outputs: int
    with_pattern: int
    share: Share | None
    share_low: Share | None
    share_high: Share | None
    occurrences: int
    generic: str | None
    """Why the pattern tells no method from another; the same in all rows of a pattern."""
    level: float


@row_kind(
    "blend --retention",
    "Markers that outputs keep with a solver",
    Plot(
        "difference",
        panel=("dataset", "model"),
        label=("method", "prefix", "solver", "prompt_with"),
        series="method",
        aside="{pairs} pairs",
        sides=("fewer with {solver}", "more with {solver}"),
    ),
    key=("pairs", "share_alone", "share_with", "p"),
)
@dataclass(frozen=True, slots=True)
class RetentionRow:
    """One row: how far the markers of a prefix stay when a solver follows it."""

    dataset: Label
    model: Label
    prefix: Label
    solver: Label
    method: Label
    """The prefix's method, whose markers are counted."""
    prompt_alone: str | None
    prompt_with: Label
    pairs: int
    """Problems with an output of both."""
    unpaired: int
    """Outputs without a partner, which are left out if there are pairs."""
    share_alone: Share | None
    """Mean of the problems' shares of outputs with a marker."""
    share_with: Share | None
    difference: Points | None
    """Share with the solver minus share alone."""
    difference_low: Points | None
    difference_high: Points | None
    retention: Share | None
    """share_with / share_alone."""
    only_alone: int | None
    """Problems of which more outputs have a marker alone: a larger share, if there are several."""
    only_with: int | None
    p: PValue | None
    """By `test`: exact McNemar, or sign flips if problems have several outputs."""
    level: float
    note: str
    p_adjusted: AdjustedP | None
    """`p`, adjusted by Holm's method within the family."""
    family: str
    """Which tests are adjusted together; empty without a test."""
    test: str = ""


@row_kind(
    "blend --isolation",
    "Markers in outputs of their own method and of others",
    Plot(
        "ratio",
        panel=("dataset", "model"),
        label=("method",),
        scale="log",
    ),
    key=("outputs_own", "outputs_others", "share_own", "share_others"),
)
@dataclass(frozen=True, slots=True)
class IsolationRow:
    """One row: the markers of a method in outputs of its own prompts, and of those without it."""

    dataset: Label
    model: Label
    method: Label
    outputs_own: int
    outputs_others: int
    share_own: Share | None
    share_others: Share | None
    difference: Points | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    level: float
    note: str


@dataclass(slots=True)
class BlendResult:
    """All rows, and notices on them."""

    rows: list[BlendRow] = field(default_factory=list)
    presence: list[PresenceRow] = field(default_factory=list)
    retention: list[RetentionRow] = field(default_factory=list)
    isolation: list[IsolationRow] = field(default_factory=list)
    notices: list[Text] = field(default_factory=list)


DatasetAndModel = tuple[str, str]  # dataset and model
CountsByPrompt = dict[str, MarkerCounts]  # by prompt
Marked = dict[tuple[str, str, str], list[bool]]
"""Which outputs have a marker, by their problem."""


def run_blend(
    outputs: OutputSet, patterns: PatternSet, case_sensitive: bool = False
) -> BlendResult:
    """Look for patterns and regexes in outputs of each dataset and model, and pooled ones."""
    counts = mark_outputs(outputs, patterns, case_sensitive)
    result = BlendResult(notices=[*outputs.notices, *counts.notices()])
    for scope, part in counts.scopes():
        parts = {prompt: part.select(prompt=prompt) for prompt in part.prompts}
        result.rows += _blends(scope, parts)
        own_prompts = {method: part.is_own(method) for method in part.methods}
        for number, marker in enumerate(part.markers):
            generic = _why_generic(part, parts, number, own_prompts[marker.method])
            result.presence += _presences(scope, parts, number, generic)
        result.isolation += [
            _isolation(scope, part, method, is_own) for method, is_own in own_prompts.items()
        ]
        if scope[1] != ALL:
            result.retention += _retentions(scope, parts, part.methods)
    result.retention = _adjusted(result.retention)
    return result


# Presence and density


def _presence(part: MarkerCounts, counts: Ints) -> dict[str, Any]:
    return {
        "outputs": len(part.outputs),
        **fields_of("share", part.share(counts > 0)),
        "occurrences": int(counts.sum()),
        "level": LEVEL,
    }


def _blends(scope: DatasetAndModel, parts: CountsByPrompt) -> Iterator[BlendRow]:
    for prompt, part in parts.items():
        characters = int(part.characters.sum())
        for method in part.methods:
            counts = part.of_method(method)
            yield BlendRow(
                *scope,
                prompt=prompt,
                method=method,
                has_method=has_method(prompt, method),
                absent=len(part.absent),
                with_marker=int((counts > 0).sum()),
                per_1000_characters=1000 * int(counts.sum()) / characters if characters else None,
                **_presence(part, counts),
            )


def _presences(
    scope: DatasetAndModel, parts: CountsByPrompt, number: int, generic: str | None
) -> Iterator[PresenceRow]:
    for prompt, part in parts.items():
        marker, counts = part.markers[number], part.counts[:, number]
        yield PresenceRow(
            *scope,
            method=marker.method,
            tier=marker.tier,
            pattern=marker.name,
            prompt=prompt,
            has_method=has_method(prompt, marker.method),
            with_pattern=int((counts > 0).sum()),
            generic=generic,
            **_presence(part, counts),
        )


def _why_generic(
    part: MarkerCounts, parts: CountsByPrompt, number: int, is_own: Booleans
) -> str | None:
    has = part.counts[:, number] > 0
    shares = [
        (counted.counts[:, number] > 0).mean() for counted in parts.values() if counted.outputs
    ]
    if len(shares) > 1 and min(shares) >= GENERIC_SHARE:
        return "in half or more of the outputs of every prompt"
    if (
        has[is_own].any()
        and not is_own.all()
        and has[~is_own].mean() >= GENERIC_SHARE * has[is_own].mean()
    ):
        return "at least half as frequent in other methods' outputs"
    return None


def _isolation(
    scope: DatasetAndModel, part: MarkerCounts, method: str, is_own: Booleans
) -> IsolationRow:
    has = part.of_method(method) > 0
    (k, n), (k_other, n_other) = [
        (int(has[side].sum()), int(side.sum())) for side in (is_own, ~is_own)
    ]
    share, share_other = k / n if n else None, k_other / n_other if n_other else None
    ratio = None
    note = "no occurrence" if n and n_other else "no outputs to compare with"
    if n and n_other and k + k_other:
        sides = (ClusteredShare(has[side], part.problems[side]) for side in (is_own, ~is_own))
        ratio = next(sides).ratio(next(sides), LEVEL)
        note = ratio.note
    return IsolationRow(
        *scope,
        method=method,
        outputs_own=n,
        outputs_others=n_other,
        share_own=share,
        share_others=share_other,
        difference=None if share is None or share_other is None else share - share_other,
        **fields_of("ratio", ratio),
        level=LEVEL,
        note=note,
    )


def _retentions(
    scope: DatasetAndModel, parts: CountsByPrompt, methods: Sequence[str]
) -> Iterator[RetentionRow]:
    alone = {_key(prompt, methods): prompt for prompt in reversed(parts)}
    for prompt in parts:
        *others, solver = parts_of(prompt) or [""]
        prefix = "+".join(others)
        if solver.lower() not in NO_SOLVER:
            prompts = alone.get(_key(prefix, methods)), prompt
            for method in methods_of(prefix, methods):
                yield _retention(scope, (prefix, solver, method), prompts, parts)


def _key(prompt: str, methods: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of a prompt without `zs`, whatever the case or name of a method."""
    parts = parts_of(prompt)
    if parts[1:] and parts[-1].lower() in NO_SOLVER:
        parts.pop()
    return tuple((methods_of(part, methods) or [part.lower()])[0] for part in parts)


def _retention(
    scope: DatasetAndModel,
    names: tuple[str, str, str],
    prompts: tuple[str | None, str],
    parts: CountsByPrompt,
) -> RetentionRow:
    prefix, solver, method = names
    sides = [_by_problem(parts[prompt], method) if prompt else {} for prompt in prompts]
    shared = sorted(sides[0].keys() & sides[1].keys())
    # Without pairs, the shares are among all outputs.
    compared_sides = [{problem: side[problem] for problem in shared or side} for side in sides]
    share_alone, share_with = (
        fmean(map(fmean, side.values())) if side else None for side in compared_sides
    )
    has_shares = share_alone is not None and share_with is not None
    comparison = (
        _compare(compared_sides[0], compared_sides[1], (*scope, *names)) if shared else None
    )
    all_outputs, paired_outputs = (
        sum(len(has) for flags in by_problem for has in flags.values())
        for by_problem in (sides, compared_sides)
    )
    return RetentionRow(
        *scope,
        prefix=prefix,
        solver=solver,
        method=method,
        prompt_alone=prompts[0],
        prompt_with=prompts[1],
        pairs=len(shared),
        unpaired=all_outputs - paired_outputs,
        share_alone=share_alone,
        share_with=share_with,
        difference=(share_with or 0.0) - (share_alone or 0.0) if has_shares else None,
        difference_low=comparison.difference.low if comparison else None,
        difference_high=comparison.difference.high if comparison else None,
        retention=share_with / share_alone if share_alone and share_with is not None else None,
        only_alone=comparison.only_alone if comparison else None,
        only_with=comparison.only_with if comparison else None,
        p=comparison.p if comparison else None,
        level=LEVEL,
        note=_why_unpaired(prefix, prompts[0], len(shared), all_outputs - paired_outputs),
        p_adjusted=None,
        family="",
        test=comparison.test if comparison else "",
    )


def _by_problem(part: MarkerCounts, method: str) -> Marked:
    """Return which outputs to each problem have a marker; an output without an id is its own."""
    marked: Marked = {}
    for output, has in zip(part.outputs, part.of_method(method) > 0, strict=True):
        marked.setdefault(output.problem, []).append(bool(has))
    return marked


class _PairedComparison(NamedTuple):
    only_alone: int
    only_with: int
    difference: Estimate
    p: float
    test: str


def _compare(alone: Marked, with_solver: Marked, names: Sequence[str]) -> _PairedComparison:
    """Compare outputs for the same problems, in the same order; `names` seed the random draws."""
    shares = [(fmean(alone[problem]), fmean(with_solver[problem])) for problem in alone]
    fewer, more = (sum(a > b for a, b in shares), sum(a < b for a, b in shares))
    if all(len(has) == 1 for side in (alone, with_solver) for has in side.values()):
        n_both = shares.count((1, 1))
        pairs = Pairs(n_both, fewer, more, len(shares) - n_both - fewer - more)
        p = mcnemar(fewer, more)
        return _PairedComparison(fewer, more, paired_difference(pairs, LEVEL), p, "exact McNemar")
    first, second = map(_clustered, (alone, with_solver))
    p = first.p_value(second, stream(1, *names))
    return _PairedComparison(fewer, more, first.difference(second, LEVEL), p, "sign flips")


def _clustered(marked: Marked) -> ClusteredShare:
    numbers = [number for number, flags in enumerate(marked.values()) for _ in flags]
    return ClusteredShare([*chain(*marked.values())], numbers, by_cluster=True)


def _why_unpaired(prefix: str, alone: str | None, pairs: int, unpaired: int) -> str:
    if alone is None:
        return f"no outputs of prompt {prefix} alone"
    if not pairs:
        return "not paired, no test: the prompts share no problem id"
    return f"outputs without a partner, left out: {unpaired}" if unpaired else ""


def _adjusted(rows: Sequence[RetentionRow]) -> list[RetentionRow]:
    """Adjust the p-values of all rows together: one table is one family of tests."""
    tested = sum(row.p is not None for row in rows)
    family = f"{counted(tested, 'retention test')} of this table"
    return [
        row if p is None else replace(row, p_adjusted=p, family=family)
        for row, p in zip(rows, holm([row.p for row in rows]), strict=True)
    ]
