"""Outputs in which markers were counted, and the scopes over which figures are pooled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import InputError
from ngramscan.outputs.markers import Marker, count_markers, markers_of
from ngramscan.outputs.reading import Output, OutputSet, methods_of
from ngramscan.patterns.model import PatternSet
from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.proportions import effective_size, wilson

ALL = "all"
"""What stands for the dataset or model of a pooled row."""

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Marked:
    """Outputs that have text, and how often each marker is in each."""

    markers: list[Marker]
    outputs: list[Output]
    counts: Numbers
    """Of shape (outputs, markers)."""
    characters: Numbers
    problems: Numbers
    """Which problem an output answers, numbered; those without an id have a number of their own."""
    absent: list[Output]
    """Those without text."""

    @property
    def methods(self) -> list[str]:
        """The methods in the order of the markers."""
        return list(dict.fromkeys(marker.method for marker in self.markers))

    @property
    def variants(self) -> list[str]:
        """The variants in the order of the outputs, those of absent ones too."""
        everyone = [*self.outputs, *self.absent]
        return list(dict.fromkeys(output.group.variant for output in everyone))

    def own_variants(self, method: str) -> list[str]:
        """Return the variants that have a method, alone or joined."""
        return [v for v in self.variants if method in methods_of(v, self.methods)]

    def select(self, chosen: Flags, absent: list[Output]) -> Marked:
        """Return some of the outputs."""
        return replace(
            self,
            outputs=[self.outputs[i] for i in np.flatnonzero(chosen)],
            counts=self.counts[chosen],
            characters=self.characters[chosen],
            problems=self.problems[chosen],
            absent=absent,
        )

    def in_variants(self, variants: Sequence[str]) -> Marked:
        """Return the outputs of some variants."""
        chosen = np.array([o.group.variant in variants for o in self.outputs], dtype=bool)
        return self.select(chosen, [o for o in self.absent if o.group.variant in variants])

    def of_method(self, method: str) -> Numbers:
        """Return the occurrences of all markers of a method in each output."""
        chosen = [i for i, marker in enumerate(self.markers) if marker.method == method]
        found: Numbers = self.counts[:, chosen].sum(axis=1)
        return found

    def share(self, has: Flags, level: float) -> Estimate | None:
        """Estimate the share of outputs that have something; None where there are none."""
        n = len(self.outputs)
        if not n:
            return None
        effective = effective_size(has, self.problems)
        return wilson(float(has.mean()) * effective, effective, level)


@dataclass(frozen=True, slots=True)
class Scope:
    """The outputs of one dataset and model, or of several pooled."""

    dataset: str
    model: str
    marked: Marked


def mark(found: OutputSet, patterns: PatternSet, case_sensitive: bool) -> Marked:
    """Count all markers of a pattern set in outputs.

    Raises
    ------
    InputError
        A dataset or model has the name of pooled rows.
    """
    for output in found.outputs:
        if ALL in output.group[:2]:
            problem = f"a dataset or model named {ALL!r}; pooled rows are named so"
            raise InputError(output.place, problem)
    outputs = [output for output in found.outputs if output.is_there]
    texts = [output.text or "" for output in outputs]
    markers = markers_of(patterns)
    numbers: dict[tuple[str, str, str], int] = {}
    problems = [numbers.setdefault(output.problem, len(numbers)) for output in outputs]
    return Marked(
        markers,
        outputs,
        count_markers(markers, texts, case_sensitive),
        np.array([len(text) for text in texts], dtype=np.int64),
        np.array(problems, dtype=np.int64),
        [output for output in found.outputs if not output.is_there],
    )


def scopes(marked: Marked) -> Iterator[Scope]:
    """Yield the outputs of each dataset and model, then pooled, where there are several."""
    everyone = [*marked.outputs, *marked.absent]
    cells = dict.fromkeys((o.group.dataset, o.group.model) for o in everyone)
    datasets = list(dict.fromkeys(dataset for dataset, _ in cells))
    models = list(dict.fromkeys(model for _, model in cells))
    pooled = [(dataset, ALL) for dataset in datasets if sum(d == dataset for d, _ in cells) > 1]
    if len(datasets) > 1:
        pooled += [(ALL, model) for model in models if sum(m == model for _, m in cells) > 1]
        pooled += [(ALL, ALL)] if len(models) > 1 else []
    for dataset, model in [*cells, *pooled]:
        chosen = np.array([_within(o, dataset, model) for o in marked.outputs], dtype=bool)
        absent = [o for o in marked.absent if _within(o, dataset, model)]
        yield Scope(dataset, model, marked.select(chosen, absent))


def _within(output: Output, dataset: str, model: str) -> bool:
    return dataset in {ALL, output.group.dataset} and model in {ALL, output.group.model}
