"""The plan of each command: the texts that it would look up, the windows that it would fetch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ngramscan.indexes.base import (
    Cost,
    CountsBySource,
    FindsPassages,
    FindsSpans,
    Index,
    Locates,
    ReadsDocuments,
    ReadsMetadata,
)
from ngramscan.indexes.tokens.base import MatchesTokens
from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.messages import OptionUse, Text
from ngramscan.patterns.model import Query
from ngramscan.prevalence.contamination.contaminate import Entry, queries_of, queries_of_forms
from ngramscan.prevalence.contamination.index_passages import LOOKED_AT, other_windows, reach_of
from ngramscan.prevalence.contamination.rules import Rule
from ngramscan.prevalence.contamination.rules import windows_of as contamination_windows
from ngramscan.prevalence.contexts import bytes_of
from ngramscan.prevalence.count import collect_replies, forms_of, texts_asked, texts_of
from ngramscan.prevalence.draws import DocnormOptions
from ngramscan.prevalence.hosted_rules import CountsByForms
from ngramscan.prevalence.plan import PlanRow, make_plan, make_row
from ngramscan.prevalence.sources import SourcesOptions, refuse_without_metadata
from ngramscan.prevalence.span_documents import DRAWS_PER_DOCUMENT, SHOWN_CHARACTERS
from ngramscan.prevalence.spans import WordText, cost_of_spans, width_in, windows_of
from ngramscan.prevalence.trace import GivenText, TraceOptions
from ngramscan.prevalence.trace_spans import ListingOptions

_CENT = 0.01
"""In dollars."""
_MORE_PER_WINDOW = 14
"""Questions, at most, about the ends of spans for a window that occurs."""
_TRACED = (
    "requests are for the first windows, requests_at_most for texts that are copied as a whole: a"
    f" window that occurs takes up to {_MORE_PER_WINDOW} more; a corpus that is scanned is read"
    " once, with --spans or --documents twice more, and with --rank rarity once more"
)
_DOCUMENTS = (
    ": requests_at_most also has those for documents, as if a span began with each word: its"
    f" places, and {DRAWS_PER_DOCUMENT} occurrences for each document"
)
_RARITY = ": requests_at_most also has the count of each different word of the texts"
_TRACED_IN_PLACE = (
    "in place, parts of the texts were searched for this plan: one part of 64 words in fifty, but"
    " not fewer than 16; the requests for all are estimated from theirs"
)
_BY_RULE_IN_PLACE = (
    "in place, requests and requests_at_most are those of the exact texts; by this rule expect at"
    " least as many, and as many again for each form of a text that occurs"
)
_COPIED = (
    "requests are the counts of the entries' windows as they are written; requests_at_most adds up"
    f" to {LOOKED_AT} windows on documents for each entry, and counts in other forms (small and"
    " capital letters, single spaces, normal forms) where no document has it as it is written"
)


def plan_count(
    queries: Sequence[Query],
    indexes: Sequence[Index],
    needs_totals: bool,
    count_anyway: bool,
    rule: MatchRule = EXACT,
) -> list[PlanRow]:
    """Return the cost of counting; where bytes are counted, with other normal forms of Unicode."""
    plan = list[PlanRow]()
    for index in _in_order_of_units(indexes):
        if isinstance(index, CountsByForms):
            plan.append(_row_by_forms(queries, index))
            continue
        texts = texts_asked(queries, index, count_anyway, needs_totals, rule, sends_requests=False)
        if index.unit == "bytes":
            texts = list(dict.fromkeys([*texts, *forms_of(queries)]))
        plan += make_plan(len(queries), texts, 0, 0, [index])
    return plan


def _row_by_forms(queries: Sequence[Query], index: CountsByForms) -> PlanRow:
    """Return the cost of counting by a rule in a hosted index."""
    texts = texts_of(queries, for_totals=False)
    forms, windows = index.forms_of(texts), index.windows_at_most(texts)
    return make_row(index, len(queries), len(forms), windows, index.cost(texts, 0, 0))


def plan_docnorm(
    queries: Sequence[Query],
    indexes: Sequence[Index],
    options: DocnormOptions,
    rule: MatchRule = EXACT,
) -> list[PlanRow]:
    """Return the cost of document counts: a window per draw of each text that is not counted."""
    texts = {query.text for query in queries}
    draws = options.draws if options.target is None else options.max_draws
    plan = list[PlanRow]()
    for index in _in_order_of_units(indexes):
        lookups = texts_asked(queries, index, rule=rule, sends_requests=False)
        drawn_texts = _drawn_texts(index, [text for text in lookups if text in texts], options)
        plan += make_plan(len(queries), lookups, draws * len(drawn_texts), options.context, [index])
    return plan


def _drawn_texts(index: Index, texts: list[str], options: DocnormOptions) -> list[str]:
    """Return the texts that may be drawn; where counting documents is cheap, look-ups are, too."""
    if not isinstance(index, Locates) or not options.exact_up_to:
        return texts
    located, _ = collect_replies(index.find(texts), texts)
    return [text for text in located if located[text].occurrences > options.exact_up_to]


def describe_lookups(plan: Sequence[PlanRow]) -> list[str]:
    """Say why a plan has more texts to look up than patterns."""
    more = max((row.lookups - row.patterns for row in plan if row.lookups), default=0)
    if more <= 0:
        return []
    texts = "a text" if more == 1 else f"{more} texts"
    return [
        f"lookups are those of the patterns and of {texts} in which two patterns of a method"
        " overlap, so that no occurrence counts twice in totals"
    ]


def plan_contexts(
    queries: Sequence[Query], indexes: Sequence[Index], n: int, width: int
) -> list[PlanRow]:
    """Return the cost of n occurrences of each text, with `width` characters on each side."""
    texts = list(dict.fromkeys(query.text for query in queries))
    return make_plan(len(queries), texts, n * len(texts), bytes_of(width), indexes)


def plan_sources(
    queries: Sequence[Query], indexes: Sequence[Index], options: SourcesOptions
) -> list[PlanRow]:
    """Return the cost of sources: a window per draw of each text that is not looked up whole."""
    refuse_without_metadata(indexes)
    texts, plan = list(dict.fromkeys(query.text for query in queries)), list[PlanRow]()
    for index in _in_order_of_units(indexes):
        drawn_texts = texts
        if isinstance(index, ReadsMetadata):
            drawn_texts = _drawn_texts(index, texts, options.docnorm)
        windows, context = options.draws * len(drawn_texts), options.docnorm.context
        (row,) = make_plan(len(queries), texts, windows, context, [index])
        if isinstance(index, CountsBySource):  # the corpus is read once, and no window is shown
            row = replace(row, bytes=index.cost(texts, 0, 0).bytes)
        plan.append(row)
    return plan


def plan_contaminate(
    entries: Sequence[Entry],
    rule: Rule,
    seed: int,
    indexes: Sequence[Index],
    windows_per_entry: int,
    width: int,
) -> list[PlanRow]:
    """Return the cost of entries: of their windows, and at most of their other forms.

    So many occurrences of each entry may be `shown`, with `width` characters on each side. For the
    rule `copied` it is known how many, see `describe_copied_plan`.
    """
    if rule.weighs:
        return [_copied_row(entries, rule, index, width) for index in indexes]
    texts_by_entry = queries_of(entries, rule, seed).values()
    texts = list(dict.fromkeys(text for entry_texts in texts_by_entry for text in entry_texts))
    # If no entry is clean, a window of each is looked up again, and `windows_per_entry` are shown.
    first_texts = [entry_texts[0] for entry_texts in texts_by_entry if entry_texts]
    again = first_texts if windows_per_entry else []
    plan = make_plan(
        len(texts), texts + again, len(again) * windows_per_entry, bytes_of(width), indexes
    )
    # If all entries are clean, a service is asked for their other forms.
    others = set(queries_of_forms(entries, rule, seed)).difference(texts)
    costs = [index.cost(list(others), 0, 0) for index in indexes]
    return [
        replace(row, requests_at_most=row.requests_at_most + cost.requests_at_most)
        for row, cost in zip(plan, costs, strict=True)
    ]


def _copied_row(entries: Sequence[Entry], rule: Rule, index: Index, context: int) -> PlanRow:
    """Return the cost of counting windows as they are written, and at most of what follows."""
    windows_by_entry = [
        [entry.text[window.start : window.stop] for window in windows]
        for entry in entries
        if (windows := contamination_windows(entry.text, rule))
    ]
    texts = list(dict.fromkeys(text for windows in windows_by_entry for text in windows))
    (row,) = make_plan(len(texts), texts, 0, 0, [index])
    if isinstance(index, FindsPassages):
        return row
    looked_up = [text for windows in windows_by_entry for text in windows[:LOOKED_AT]]
    forms = list(dict.fromkeys(form for text in texts for form in other_windows(text)))
    n_shown = LOOKED_AT * len(windows_by_entry)
    reach = max((reach_of(windows, rule.width, context) for windows in windows_by_entry), default=0)
    more = index.cost([*looked_up, *forms], n_shown, reach)
    return replace(
        row,
        windows_at_most=n_shown,
        requests_at_most=row.requests_at_most + more.requests_at_most,
    )


def describe_copied_plan(rule: Rule, plan: Sequence[PlanRow]) -> list[str]:
    """Say what the requests in a plan of the rule `copied` are for."""
    return [_COPIED] if rule.weighs and any(row.requests for row in plan) else []


def plan_trace(
    texts: Sequence[GivenText],
    options: TraceOptions,
    indexes: Sequence[Index],
    seed: int,
    listing: ListingOptions,
    documents: int | None,
) -> list[PlanRow]:
    """Return the cost of spans, by how each index searches them; see `describe_trace_plan`.

    At most, `documents` of each span that `listing` may list are fetched, and all words counted.
    """
    return [
        _with_listing(_trace_row(texts, options, index, seed), texts, index, listing, documents)
        for index in indexes
    ]


def _with_listing(
    row: PlanRow,
    texts: Sequence[GivenText],
    index: Index,
    listing: ListingOptions,
    documents: int | None,
) -> PlanRow:
    """Add the most work on listed spans: the counts of words, and the documents."""
    words_of_texts = [WordText(text.text) for text in texts]
    words = dict.fromkeys(
        text.part(number, number + 1)
        for text in words_of_texts
        for number in range(len(text.words))
    )
    cost = Cost()
    if listing.rank == "rarity":
        # No text has more different tokens than requests about its tokens.
        cost += (
            index.cost_of_matches([text.text for text in texts])
            if isinstance(index, MatchesTokens)
            else index.cost(list(words), 0, 0)
        )
    windows = 0
    if documents is not None:
        spans = dict.fromkeys(
            text.part(first, first + listing.least)
            for text in words_of_texts
            for first in range(listing.most_spans(len(text.words)))
        )
        windows = DRAWS_PER_DOCUMENT * documents * len(spans)
        cost += index.cost(list(spans), windows, bytes_of(SHOWN_CHARACTERS))
    return replace(
        row,
        windows_at_most=0 if isinstance(index, ReadsDocuments) else windows,
        requests_at_most=row.requests_at_most + cost.requests_at_most,
    )


def _trace_row(
    texts: Sequence[GivenText], options: TraceOptions, index: Index, seed: int
) -> PlanRow:
    """Return the cost of all tokens, or the first windows of all texts and at most their spans.

    In place it is what a search of some parts of the texts tells.
    """
    if isinstance(index, MatchesTokens):
        cost = index.cost_of_matches([text.text for text in texts])
        return make_row(index, len(texts), len(texts), 0, cost)
    least, words = options.least_in(index), [WordText(text.text) for text in texts]
    if isinstance(index, FindsSpans):
        cost = cost_of_spans(words, index, least, seed)
        return make_row(index, len(texts), len(texts), 0, cost)
    width = width_in(index, least)
    windows = dict.fromkeys(
        window for text in words for window in windows_of(text, least, width).values()
    )
    (row,) = make_plan(len(texts), list(windows), 0, 0, [index])
    return replace(row, requests_at_most=row.requests_at_most * (1 + _MORE_PER_WINDOW))


def describe_rule_plan(indexes: Sequence[Index], rule: MatchRule) -> list[str]:
    """Say what requests in place are in the plan of a count by a rule."""
    is_in_place = any(isinstance(index, FindsSpans) for index in indexes)
    return [_BY_RULE_IN_PLACE] if is_in_place and not rule.is_exact else []


def describe_charges(plan: Sequence[PlanRow], reader_pays: bool) -> list[str]:
    """Say what S3 charges for a plan, and whom."""
    dollars = sum(row.dollars or 0.0 for row in plan)
    if not dollars:
        return []
    amount = f"about ${dollars:,.2f}" if dollars >= _CENT else "less than a cent"
    to_reader = "your account where the bucket's owner has the reader pay"
    payer = to_reader if reader_pays else "the bucket's owner"
    return [f"S3 charges {amount} for this, to {payer}"]


def describe_trace_plan(
    indexes: Sequence[Index], listing: ListingOptions, documents: int | None
) -> Iterator[Text]:
    """Say what the numbers of a plan of `trace` are, for the indexes that are traced in."""
    if not all(isinstance(index, (MatchesTokens, FindsSpans)) for index in indexes):
        yield _TRACED
    if any(isinstance(index, FindsSpans) for index in indexes):
        yield _TRACED_IN_PLACE
    descriptions = [
        index.describe_cost_of_matches() for index in indexes if isinstance(index, MatchesTokens)
    ]
    yield from dict.fromkeys(description for description in descriptions if description)
    if documents is not None:
        yield OptionUse("documents", documents) + _DOCUMENTS
    if listing.rank == "rarity":
        yield OptionUse("rank", "rarity") + _RARITY


def _in_order_of_units(indexes: Sequence[Index]) -> list[Index]:
    """Return byte-level indexes, then token-level ones, as rows have them."""
    return sorted(indexes, key=lambda index: index.unit)
