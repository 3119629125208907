"""Markers of methods in outputs: how often each occurs in each text.

Literals are counted as in corpora, at every byte offset, overlaps included, but upper and lower
case of ASCII letters are one unless asked otherwise. (Other letters always differ, as do straight
and typographic apostrophes.) Regexes are counted as RE2 finds them, without overlaps, and say by
themselves whether case matters. A literal inside another (`step by step` in `think step by step`)
is an occurrence of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from ngramscan.errors import InputError
from ngramscan.matching import Matcher, MatchRule
from ngramscan.outputs.reading import Output, OutputSet, has_method, methods_of, number_problems
from ngramscan.outputs.tokens import Booleans, Ints
from ngramscan.patterns.model import PatternSet
from ngramscan.patterns.regexes import compile_regex, whole
from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.estimates import Estimate

ALL = "all"
"""The dataset or model of a pooled row."""
REGEX_TIER = "regex"
"""The tier of a regex, which has none."""
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Marker:
    """A literal or regex that shows a method in an output."""

    method: str
    tier: str
    name: str
    """The literal itself, or the name of a regex."""
    regex: str | None = None


def count_markers(
    markers: Sequence[Marker], texts: Sequence[str], case_sensitive: bool = False
) -> Ints:
    """Return the occurrences of markers in texts, of shape (texts, markers)."""
    literals = [marker.name for marker in markers if marker.regex is None]
    matcher = Matcher(literals, MatchRule(ignore_case=not case_sensitive))
    hits: list[int] = []

    def hit(number: int, *_: object) -> None:
        hits.append(number)

    by_query = np.zeros((len(texts), len(matcher.queries)), dtype=np.int64)
    for row, text in enumerate(texts):
        # A lone surrogate, which JSON may escape, is no character of any literal.
        matcher.scan(text.encode(errors="replace"), hit)
        if hits:
            by_query[row] = np.bincount(hits, minlength=len(matcher.queries))
            hits.clear()
    counts = np.zeros((len(texts), len(markers)), dtype=np.int64)
    queries = {query: number for number, query in enumerate(matcher.queries)}
    for number, marker in enumerate(markers):
        if marker.regex is None:
            counts[:, number] = by_query[:, queries[marker.name]]
        else:
            find = compile_regex(marker.regex).finditer
            counts[:, number] = [sum(1 for _ in find(whole(text))) for text in texts]
    return counts


@dataclass(frozen=True, slots=True)
class MarkerCounts:
    """Outputs that have text, and how often each marker is in each."""

    markers: list[Marker]
    outputs: list[Output]
    counts: Ints
    """Occurrences, of shape (outputs, markers)."""
    characters: Ints
    problems: Ints
    """The number of the problem that each output answers; without an id, each has its own."""
    absent: list[Output]
    """Outputs without text."""

    @property
    def methods(self) -> list[str]:
        """The methods in the order of the markers."""
        return list(dict.fromkeys(marker.method for marker in self.markers))

    @property
    def prompts(self) -> list[str]:
        """The prompts in the order of the outputs, then those without any text."""
        everyone = [*self.outputs, *self.absent]
        return list(dict.fromkeys(output.group.prompt for output in everyone))

    def notices(self) -> list[str]:
        """Return which prompts have no method of the markers."""
        problem = "it names no method of the chosen patterns"
        unknown = [prompt for prompt in self.prompts if not methods_of(prompt, self.methods)]
        return [f"prompt {prompt}: {problem}" for prompt in unknown]

    def select(
        self, dataset: str = ALL, model: str = ALL, prompt: str | None = None
    ) -> MarkerCounts:
        """Return the outputs of a dataset, a model, a prompt."""

        def is_in(output: Output) -> bool:
            group = output.group
            in_scope = dataset in {ALL, group.dataset} and model in {ALL, group.model}
            return in_scope and prompt in {None, group.prompt}

        chosen = np.array([is_in(output) for output in self.outputs], dtype=bool)
        return replace(
            self,
            outputs=list(compress(self.outputs, chosen)),
            counts=self.counts[chosen],
            characters=self.characters[chosen],
            problems=self.problems[chosen],
            absent=[output for output in self.absent if is_in(output)],
        )

    def scopes(self) -> Iterator[tuple[tuple[str, str], MarkerCounts]]:
        """Yield each dataset and model with its outputs, then several of them together."""
        everyone = [*self.outputs, *self.absent]
        cells = dict.fromkeys((o.group.dataset, o.group.model) for o in everyone)
        datasets = Counter(dataset for dataset, _ in cells)
        models = Counter(model for _, model in cells)
        pooled = [(dataset, ALL) for dataset, n in datasets.items() if n > 1]
        pooled += [(ALL, model) for model, n in models.items() if n > 1]
        if len(datasets) > 1 and len(models) > 1:
            pooled.append((ALL, ALL))
        for dataset, model in [*cells, *pooled]:
            yield (dataset, model), self.select(dataset, model)

    def is_own(self, method: str) -> Booleans:
        """Tell which outputs are of prompts that have a method, alone or joined."""
        own_prompts = {prompt for prompt in self.prompts if has_method(prompt, method)}
        return np.array([output.group.prompt in own_prompts for output in self.outputs], dtype=bool)

    def of_method(self, method: str) -> Ints:
        """Return the occurrences of all markers of a method in each output."""
        occurrences: Ints = self.counts[:, [m.method == method for m in self.markers]].sum(axis=1)
        return occurrences

    def share(self, has: Booleans) -> Estimate | None:
        """Estimate the share of outputs that have something; None if there are no outputs."""
        return ClusteredShare(has, self.problems).estimate(LEVEL) if self.outputs else None


def mark_outputs(
    outputs_read: OutputSet, patterns: PatternSet, case_sensitive: bool = False
) -> MarkerCounts:
    """Count the patterns and regexes of a set in outputs."""
    for output in outputs_read.outputs:
        if ALL in output.group[:2]:
            problem = f"a dataset or model named {ALL!r}; pooled rows are named so"
            raise InputError(output.place, problem)
    outputs = [output for output in outputs_read.outputs if output.has_text]
    texts = [output.text or "" for output in outputs]
    markers = [Marker(p.method, p.tier, p.text) for p in patterns.patterns if p.method and p.tier]
    markers += [
        Marker(regex.method, REGEX_TIER, regex.name, regex.regex) for regex in patterns.regexes
    ]
    return MarkerCounts(
        markers=markers,
        outputs=outputs,
        counts=count_markers(markers, texts, case_sensitive),
        characters=np.array([len(text) for text in texts], dtype=np.int64),
        problems=np.array(number_problems(outputs), dtype=np.int64),
        absent=[output for output in outputs_read.outputs if not output.has_text],
    )
