"""The subject of some rows, which a title names: `phrases in eight corpora`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ngramscan.messages import plural
from ngramscan.prevalence.several_corpora import is_one_corpus
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.sentences.names import named
from ngramscan.reporting.sentences.phrases import Row, listed, number

_MOST_NAMED = 3
"""Methods, benchmarks or judges of a kind that a title names; more are counted."""
IN_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


class Subject(NamedTuple):
    """The subject of some rows."""

    family: str
    """Kinds of rows with the same family have one subject on a page."""
    describe: Callable[[Sequence[Row]], str]
    begins_with_name: bool = False


def amount(n: int, singular: str, several: str = "") -> str:
    """Return a number of things, in words up to twelve."""
    in_words = IN_WORDS[n] if n < len(IN_WORDS) else number(n)
    return f"{in_words} {plural(n, singular, several)}"


def _values(rows: Sequence[Row], *columns: str) -> list[str]:
    """Return the names in some columns, each once, but not those of all together."""
    names = {row.get(column): None for row in rows for column in columns}
    return [str(name) for name in names if name not in {None, "", ALL}]


def _names(rows: Sequence[Row], columns: Sequence[str], singular: str, plural: str) -> str:
    """Return a few names, or the number of many; empty without names."""
    names = _values(rows, *columns)
    if len(names) <= _MOST_NAMED:
        return listed([named(name) for name in names])
    return amount(len(names), singular, plural)


def _after(preposition: str, names: str) -> str:
    return f" {preposition} {names}" if names else ""


def _corpora(rows: Sequence[Row]) -> str:
    """Return ` in eight corpora`; one or two have names."""
    names = [name for name in _values(rows, "index") if is_one_corpus(name)]
    if len(names) < _MOST_NAMED:
        return _after("in", listed([named(name) for name in names]))
    return _after("in", amount(len(names), "corpus", "corpora"))


def _where(rows: Sequence[Row]) -> str:
    """Return the benchmarks and the models: ` on FinanceMath with three models`."""
    models = _values(rows, "model")
    model_names = named(models[0]) if len(models) == 1 else amount(len(models), "model")
    benchmarks = _names(rows, ("dataset",), "benchmark", "benchmarks")
    return _after("on", benchmarks) + (_after("with", model_names) if models else "")


def _phrases(rows: Sequence[Row]) -> str:
    """Return how many phrases rows have, or the only one."""
    names = {row.get("pattern") or row.get("query") for row in rows} - {None, ""}
    return "phrases" if not names else amount(len(names), "phrase")


def _say_counts(rows: Sequence[Row]) -> str:
    return _phrases(rows) + _corpora(rows)


def _say_totals(rows: Sequence[Row]) -> str:
    methods = _names(rows, ("method",), "method", "methods")
    return f"phrases{_after('of', methods)}{_corpora(rows)}"


def _say_sources(rows: Sequence[Row]) -> str:
    return f"sources of {_phrases(rows)}{_corpora(rows)}"


def _say_entries(rows: Sequence[Row]) -> str:
    """Return the number of questions, and the corpora that were searched."""
    ids = len(_values(rows, "id")) or max((row.get("entries") or 0 for row in rows), default=0)
    questions = amount(ids, "question") if ids else "questions"
    benchmarks = _names(rows, ("dataset",), "benchmark", "benchmarks")
    return f"{questions}{_after('of', benchmarks)}{_corpora(rows)}"


def _say_traces(rows: Sequence[Row]) -> str:
    return f"outputs{_prompts(rows)} traced{_corpora(rows)}"


def _prompts(rows: Sequence[Row]) -> str:
    names = _values(rows, "prompt", "prompt_with", "prefix")
    return _after("of", amount(len(names), "prompt")) if names else ""


def _say_markers(rows: Sequence[Row]) -> str:
    return f"markers in outputs{_prompts(rows)}{_where(rows)}"


def _say_specificity(rows: Sequence[Row]) -> str:
    methods = _names(rows, ("method",), "method", "methods")
    return f"specificity of {_phrases(rows)}{_after('to', methods)}"


def _say_keyness(rows: Sequence[Row]) -> str:
    return f"{amount(len(_values(rows, 'ngram')), 'key n-gram')} of a method"


def _say_strategies(rows: Sequence[Row]) -> str:
    return f"strategies in outputs{_prompts(rows)}{_where(rows)}"


def _say_scores(rows: Sequence[Row]) -> str:
    methods = _names(rows, ("method",), "method", "methods")
    return f"answers{_after('of', methods)}{_where(rows)}"


def _say_comparisons(rows: Sequence[Row]) -> str:
    """Return `f-1 against cot and pot`; if all were compared with each other, their names."""
    treatments, baselines = (set(_values(rows, name)) for name in ("treatment", "baseline"))
    if treatments & baselines or not (treatments and baselines):
        methods = _names(rows, ("treatment", "baseline"), "method", "methods") or "two methods"
    else:
        first = _names(rows, ("treatment",), "method", "methods")
        methods = f"{first} against {_names(rows, ('baseline',), 'method', 'methods')}"
    return methods + _where(rows)


def _say_ranks(rows: Sequence[Row]) -> str:
    return (_names(rows, ("method",), "method", "methods") or "two methods") + _where(rows)


def _say_plans(rows: Sequence[Row]) -> str:
    methods = _names(rows, ("treatment", "baseline"), "method", "methods")
    return f"how many problems a comparison{_after('of', methods)} needs"


def _say_outcomes(rows: Sequence[Row]) -> str:
    methods = dict.fromkeys(_values(rows, "adaptive", "treatment", "baseline"))
    for names in _values(rows, "baselines"):
        methods |= dict.fromkeys(names.split(", "))
    all_names = listed([named(name) for name in methods])
    names_or_number = all_names if len(methods) <= _MOST_NAMED else amount(len(methods), "method")
    return f"joint outcomes{_after('of', names_or_number)}{_where(rows)}"


def _say_costs(rows: Sequence[Row]) -> str:
    methods = _names(rows, ("method",), "method", "methods")
    return f"accuracy and tokens{_after('of', methods)}{_where(rows)}"


def _say_labels(rows: Sequence[Row]) -> str:
    return f"labels{_after('of', _names(rows, ('rule',), 'judge', 'judges'))}"


def _say_agreement(rows: Sequence[Row]) -> str:
    judges = [row["judges"] for row in rows if row.get("statistic") == "share"]
    number_of_judges = len(set(judges))
    return "agreement of " + (amount(number_of_judges, "judge") if judges else "judges")


def _say_links(rows: Sequence[Row]) -> str:
    methods = _names(rows, ("treatment", "method", "baseline"), "method", "methods")
    return f"prevalence and accuracy{_after('of', methods)}{_where(rows)}"


COUNTS = Subject("counts", _say_counts)
SOURCES = Subject("sources", _say_sources)
ENTRIES = Subject("contamination", _say_entries)
TRACES = Subject("traces", _say_traces)
MARKERS = Subject("markers", _say_markers)
SPECIFICITY = Subject("specificity", _say_specificity)
STRATEGIES = Subject("strategies", _say_strategies)
SCORES = Subject("scores", _say_scores)
COMPARISONS = Subject("comparisons", _say_comparisons, begins_with_name=True)
PLANS = Subject("plans", _say_plans)
OUTCOMES = Subject("outcomes", _say_outcomes)
AGREEMENT = Subject("agreement", _say_agreement)
LINKS = Subject("links", _say_links)
TOTALS = Subject("counts", _say_totals)
KEYNESS = Subject("keyness", _say_keyness)
RANKS = Subject("comparisons", _say_ranks, begins_with_name=True)
EFFICIENCY = Subject("efficiency", _say_costs)
LABELS = Subject("labels", _say_labels)
