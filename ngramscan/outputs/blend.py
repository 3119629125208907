"""Which methods' markers are in the outputs of which variants: presence, density, retention.

A share is of the outputs that have text. Where several outputs answer the same problem (of several
models, in pooled rows), its interval is that of a sample as large as they are worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ngramscan.outputs.marker_counts import ALL, Flags, Marked, Scope, mark, scopes
from ngramscan.outputs.reading import NO_SOLVER, OutputSet, is_method, methods_of, parts_of
from ngramscan.patterns.model import PatternSet
from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.proportions import (
    Pairs,
    effective_size,
    mcnemar,
    paired_difference,
    share_ratio,
)

LEVEL = 0.95
GENERIC_SHARE = 0.5
"""A pattern in so many outputs of every variant, or in so much of its share elsewhere, is generic:
it tells no method from another."""


@dataclass(frozen=True, slots=True)
class Blend:
    """One row: the markers of a method in the outputs of a variant."""

    dataset: str
    """`all`: pooled."""
    model: str
    variant: str
    method: str
    own: bool
    """The variant has the method, alone or joined."""
    outputs: int
    """With text."""
    absent: int
    """Missing or empty ones, which no other column counts."""
    with_marker: int
    share: float | None
    share_low: float | None
    share_high: float | None
    occurrences: int
    """Of all markers; one inside another counts for both."""
    per_1000_characters: float | None
    level: float


@dataclass(frozen=True, slots=True)
class PatternPresence:
    """One row: a single marker in the outputs of a variant."""

    dataset: str
    model: str
    method: str
    tier: str
    pattern: str
    """The literal, or the name of a regex."""
    variant: str
    own: bool
    outputs: int
    with_pattern: int
    share: float | None
    share_low: float | None
    share_high: float | None
    occurrences: int
    generic: str | None
    """Why the pattern tells no method from another; the same in all rows of a pattern."""
    level: float


@dataclass(frozen=True, slots=True)
class Retention:
    """One row: how far the markers of a prefix stay when a solver follows it."""

    dataset: str
    model: str
    prefix: str
    solver: str
    method: str
    """Of the prefix; its markers are looked for."""
    variant_alone: str | None
    variant_with: str
    pairs: int
    """Problems with an output of both."""
    unpaired: int
    """Outputs of either that are left out, if there are pairs."""
    share_alone: float | None
    share_with: float | None
    difference: float | None
    """With the solver minus alone."""
    difference_low: float | None
    difference_high: float | None
    retention: float | None
    """share_with / share_alone."""
    only_alone: int | None
    only_with: int | None
    p: float | None
    """Exact McNemar."""
    level: float
    note: str


@dataclass(frozen=True, slots=True)
class Isolation:
    """One row: the markers of a method in its own variants, and in those without it."""

    dataset: str
    model: str
    method: str
    outputs_own: int
    outputs_others: int
    share_own: float | None
    share_others: float | None
    difference: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    level: float
    note: str


@dataclass(slots=True)
class Blending:
    """All rows, and what is to be said about them."""

    rows: list[Blend] = field(default_factory=list)
    presence: list[PatternPresence] = field(default_factory=list)
    retention: list[Retention] = field(default_factory=list)
    isolation: list[Isolation] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def find_blends(found: OutputSet, patterns: PatternSet, case_sensitive: bool = False) -> Blending:
    """Look for the markers of a pattern set in outputs.

    Parameters
    ----------
    found : OutputSet
        The outputs.
    patterns : PatternSet
        Its patterns and regexes are the markers.
    case_sensitive : bool
        Upper and lower case differ.

    Returns
    -------
    Blending
        Rows of each dataset and model, then pooled ones.
    """
    marked = mark(found, patterns, case_sensitive)
    blending = Blending(notices=[*found.notices, *describe_unknown(marked)])
    for scope in scopes(marked):
        blending.rows += _blends(scope)
        blending.presence += _presences(scope)
        blending.isolation += [_isolation(scope, method) for method in marked.methods]
        if scope.model != ALL:
            blending.retention += _retentions(scope)
    return blending


def describe_unknown(marked: Marked) -> list[str]:
    """Return which variants have no method of the pattern set."""
    return [
        f"variant {variant}: no method of the patterns chosen"
        for variant in marked.variants
        if not methods_of(variant, marked.methods)
    ]


# Presence and density


def _limits(share: Estimate | None) -> tuple[float | None, float | None, float | None]:
    return (share.value, share.low, share.high) if share else (None, None, None)


def _blends(scope: Scope) -> Iterator[Blend]:
    marked = scope.marked
    for variant in marked.variants:
        outputs = marked.in_variants([variant])
        characters = int(outputs.characters.sum())
        for method in marked.methods:
            found = outputs.of_method(method)
            value, low, high = _limits(outputs.share(found > 0, LEVEL))
            occurrences = int(found.sum())
            yield Blend(
                dataset=scope.dataset,
                model=scope.model,
                variant=variant,
                method=method,
                own=method in methods_of(variant, marked.methods),
                outputs=len(outputs.outputs),
                absent=len(outputs.absent),
                with_marker=int((found > 0).sum()),
                share=value,
                share_low=low,
                share_high=high,
                occurrences=occurrences,
                per_1000_characters=1000 * occurrences / characters if characters else None,
                level=LEVEL,
            )


def _presences(scope: Scope) -> Iterator[PatternPresence]:
    marked = scope.marked
    parts = {variant: marked.in_variants([variant]) for variant in marked.variants}
    for number, marker in enumerate(marked.markers):
        own_variants = marked.own_variants(marker.method)
        generic = _why_generic(
            [(float((p.counts[:, number] > 0).sum()), len(p.outputs)) for p in parts.values()],
            [variant in own_variants for variant in parts],
        )
        for variant, part in parts.items():
            found = part.counts[:, number]
            value, low, high = _limits(part.share(found > 0, LEVEL))
            yield PatternPresence(
                dataset=scope.dataset,
                model=scope.model,
                method=marker.method,
                tier=marker.tier,
                pattern=marker.name,
                variant=variant,
                own=variant in own_variants,
                outputs=len(part.outputs),
                with_pattern=int((found > 0).sum()),
                share=value,
                share_low=low,
                share_high=high,
                occurrences=int(found.sum()),
                generic=generic,
                level=LEVEL,
            )


def _why_generic(counts: Sequence[tuple[float, int]], own: Sequence[bool]) -> str | None:
    """Return why a pattern tells nothing; `counts` are (outputs with it, outputs) per variant."""
    there = [(k, n, is_own) for (k, n), is_own in zip(counts, own, strict=True) if n]
    if len(there) > 1 and all(k >= GENERIC_SHARE * n for k, n, _ in there):
        return "in half or more of the outputs of every variant"
    shares = []
    for wanted in (True, False):
        n = sum(n for _, n, is_own in there if is_own is wanted)
        if not n:
            return None
        shares.append(sum(k for k, _, is_own in there if is_own is wanted) / n)
    if shares[0] and shares[1] >= GENERIC_SHARE * shares[0]:
        return "in variants without its method half as often as in its own, or more"
    return None


# Isolation


def _isolation(scope: Scope, method: str) -> Isolation:
    marked = scope.marked
    own_variants = marked.own_variants(method)
    other_variants = [v for v in marked.variants if v not in own_variants]
    own, others = marked.in_variants(own_variants), marked.in_variants(other_variants)
    (k, n), (k_other, n_other) = _with_marker(own, method), _with_marker(others, method)
    share, share_other = k / n if n else None, k_other / n_other if n_other else None
    known = share is not None and share_other is not None
    ratio = None
    if known and k + k_other:
        sizes = _effective(own, method), _effective(others, method)
        ratio = share_ratio((k, n), (k_other, n_other), LEVEL, sizes)
    value, low, high = _limits(ratio)
    note = ratio.note if ratio else "no occurrence" if known else "no outputs to compare with"
    return Isolation(
        dataset=scope.dataset,
        model=scope.model,
        method=method,
        outputs_own=n,
        outputs_others=n_other,
        share_own=share,
        share_others=share_other,
        difference=None if share is None or share_other is None else share - share_other,
        ratio=value,
        ratio_low=low,
        ratio_high=high,
        level=LEVEL,
        note=note,
    )


def _with_marker(marked: Marked, method: str) -> tuple[int, int]:
    return int((marked.of_method(method) > 0).sum()), len(marked.outputs)


def _effective(marked: Marked, method: str) -> float:
    return effective_size(marked.of_method(method) > 0, marked.problems, LEVEL)


# Retention


def _retentions(scope: Scope) -> Iterator[Retention]:
    marked = scope.marked
    for variant in marked.variants:
        *prefix, solver = parts_of(variant) or [""]
        if solver.lower() in NO_SOLVER:
            continue
        for method in methods_of("+".join(prefix), marked.methods):
            alone = _variant_of(prefix, marked)
            yield _retention(scope, ("+".join(prefix), solver, method), alone, variant)


def _variant_of(parts: Sequence[str], marked: Marked) -> str | None:
    """Return the variant of just these parts, whatever the case or name of a method."""
    for variant in marked.variants:
        own = parts_of(variant)
        if own[1:] and own[-1].lower() in NO_SOLVER:
            own.pop()
        if len(own) == len(parts) and all(
            _same(one, other, marked.methods) for one, other in zip(own, parts, strict=True)
        ):
            return variant
    return None


def _same(part: str, other: str, methods: Sequence[str]) -> bool:
    if part.lower() == other.lower():
        return True
    return any(is_method(part, method) and is_method(other, method) for method in methods)


def _retention(
    scope: Scope, names: tuple[str, str, str], alone: str | None, variant: str
) -> Retention:
    prefix, solver, method = names
    with_solver = scope.marked.in_variants([variant])
    without = scope.marked.in_variants([alone] if alone else [])
    pairs = _pairs(_by_sample(without, method), _by_sample(with_solver, method))
    total = len(with_solver.outputs) + len(without.outputs)
    share_alone, share_with = _shares(pairs, without, with_solver, method)
    difference = paired_difference(pairs, LEVEL) if pairs.n else None
    known = share_alone is not None and share_with is not None
    return Retention(
        dataset=scope.dataset,
        model=scope.model,
        prefix=prefix,
        solver=solver,
        method=method,
        variant_alone=alone,
        variant_with=variant,
        pairs=pairs.n,
        unpaired=total - 2 * pairs.n if pairs.n else 0,
        share_alone=share_alone,
        share_with=share_with,
        difference=(share_with or 0.0) - (share_alone or 0.0) if known else None,
        difference_low=difference.low if difference else None,
        difference_high=difference.high if difference else None,
        retention=share_with / share_alone if share_alone and share_with is not None else None,
        only_alone=pairs.only_first if pairs.n else None,
        only_with=pairs.only_second if pairs.n else None,
        p=mcnemar(pairs.only_first, pairs.only_second) if pairs.n else None,
        level=LEVEL,
        note=_why_unpaired(alone, prefix, pairs.n, total),
    )


def _pairs(alone: dict[tuple[str, str], bool], with_solver: dict[tuple[str, str], bool]) -> Pairs:
    fallen = Counter((alone[key], with_solver[key]) for key in alone.keys() & with_solver.keys())
    yes, no = True, False
    return Pairs(fallen[yes, yes], fallen[yes, no], fallen[no, yes], fallen[no, no])


def _shares(
    pairs: Pairs, without: Marked, with_solver: Marked, method: str
) -> tuple[float | None, float | None]:
    """Return the shares among the pairs; without any, among all outputs."""
    if not pairs.n:
        return _share(without, method), _share(with_solver, method)
    both = pairs.both
    return (both + pairs.only_first) / pairs.n, (both + pairs.only_second) / pairs.n


def _why_unpaired(alone: str | None, prefix: str, pairs: int, total: int) -> str:
    if alone is None:
        return f"no outputs of variant {prefix} alone"
    if not pairs:
        return "not paired, no test: no problem id is in both variants"
    left_out = total - 2 * pairs
    return f"{left_out} outputs without a partner are left out" if left_out else ""


def _by_sample(marked: Marked, method: str) -> dict[tuple[str, str], bool]:
    """Return which outputs have a marker, by problem and epoch; without an id they have none."""
    has: Flags = marked.of_method(method) > 0
    pairs = zip(has, marked.outputs, strict=True)
    return {(output.group.dataset, output.id): bool(flag) for flag, output in pairs if output.id}


def _share(marked: Marked, method: str) -> float | None:
    k, n = _with_marker(marked, method)
    return k / n if n else None
