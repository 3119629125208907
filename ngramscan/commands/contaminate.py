"""`ngramscan contaminate`: which entries of a benchmark are in corpora, and whether it matters."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ngramscan.commands.shared import (
    DEFAULT_INDEX,
    AskingOptions,
    IndexSpecs,
    load_ahead,
    refuse_kinds,
)
from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import FindsPassages, Index, Locates, WritesCorpora
from ngramscan.indexes.kinds import OF_TOKENS, SCAN
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import MATCH_OPTIONS, Directory
from ngramscan.indexes.sizes import sizes_in_words
from ngramscan.messages import OptionUse, Text, counted
from ngramscan.options import Level, ShowAll
from ngramscan.prevalence.contamination.answers import ANSWERS, NEAR, OCCURRENCES, find_answers
from ngramscan.prevalence.contamination.benchmark_entries import (
    BenchmarkEntries,
    read_entries,
)
from ngramscan.prevalence.contamination.cleaning import MOST_DOCUMENTS, write_clean_corpus
from ngramscan.prevalence.contamination.contaminate import (
    ContaminateResult,
    Entry,
    EntryForm,
    EntryRow,
    run_contaminate,
)
from ngramscan.prevalence.contamination.copied_entries import explain_found, run_copied
from ngramscan.prevalence.contamination.evidence import EvidenceRow
from ngramscan.prevalence.contamination.removals import RemovedRow
from ngramscan.prevalence.contamination.rules import COPIED, Rule, Short, Tail, make_rule
from ngramscan.prevalence.contamination.shares import ShareRow, make_shares
from ngramscan.prevalence.contexts import ContextRow, run_contexts
from ngramscan.prevalence.failures import describe_lost
from ngramscan.prevalence.plan import PlanRow
from ngramscan.prevalence.plans import (
    describe_charges,
    describe_copied_plan,
    plan_contaminate,
)
from ngramscan.progress import SILENT, Progress
from ngramscan.reading.row_files import GivenTables, Table, as_tables, name_of, read_rows
from ngramscan.reporting import refuse_other, tables
from ngramscan.reporting.command import NewFile, Option, Result, RowsFile, Shared, command
from ngramscan.statistics.streams import draw_sample

if TYPE_CHECKING:
    from ngramscan.prevalence.contamination.effects import GivenScore

CONTEXT = 400
"""Characters on each side of the evidence, as the authors of infini-gram-mini looked at."""
_LOWER_BOUNDS = "its counts are lower bounds, so an entry that is in it could look clean"
Lost = tuple[NgramscanError, str]
"""Why something is missing, and in which index."""


@command
def contaminate(
    benchmark: Table,
    *,
    index: IndexSpecs = DEFAULT_INDEX,
    field: Annotated[str, Option(metavar="COLUMN")] = "question",
    id_field: Annotated[str | None, Option(metavar="COLUMN")] = None,
    answer_field: Annotated[str | None, Option(metavar="COLUMN")] = None,
    answer_within: Annotated[int | None, Option(metavar="CHARACTERS", least=1)] = None,
    rule: Annotated[str, Option(metavar="NAME")] = COPIED,
    window: Annotated[int | None, Option(least=1)] = None,
    window_unit: Literal["characters", "bytes"] | None = None,
    tail: Tail | None = None,
    short: Short | None = None,
    no_strip: bool = False,
    sample: Annotated[int | None, Option(metavar="N", least=1)] = None,
    stop_when_decided: bool = False,
    shares: RowsFile = None,
    scores: Annotated[GivenTables, Option(metavar="FILE", is_verbatim=True)] = (),
    score_rule: Annotated[str | None, Option(metavar="NAME")] = None,
    effects: RowsFile = None,
    contexts: RowsFile = None,
    evidence: RowsFile = None,
    write_clean: Directory = None,
    cut: bool = False,
    removed: RowsFile = None,
    figure: NewFile = None,
    level: Level = 0.95,
    show_all: ShowAll = False,
    progress: Progress = SILENT,
    **options: Annotated[Any, Shared(AskingOptions, without=MATCH_OPTIONS)],
) -> Result[EntryRow] | Result[PlanRow]:
    """Find the entries of a benchmark that are in corpora, and whether models do better on them.

    BENCHMARK is a table with one entry per row: .jsonl, .json, .csv or .parquet, also compressed; -
    is standard input. An entry is copied if a document has most of its rare words in a row, a
    variant if that has other numbers, and shared if its text is common. docs/contaminate.md has the
    rules, also those that others published.

    Parameters
    ----------
    benchmark : str, Path or DataFrame
        A table with one entry per row; `-` is standard input.
    index : see count
    field : str
        Column of the text to look for.
    id_field : str, optional
        Column of the ids. By default the column id, or without one the number of the row.
    answer_field : str, optional
        Column of the answers: look for them near the questions that were found, and tell
        contaminated entries with their answer from the question alone.
    answer_within : int, optional
        How near: characters before and after the question. By default 200.
    rule : str
        How windows are taken and judged: copied, or as published mini, gpt4, gpt4-stripped, gpt3,
        palm, or ngram-N for N words. The last four need corpora that are read (scan:, python).
    window : int, optional
        Length of a window, in place of the rule's.
    window_unit : str, optional
        Unit of the window's length, in place of characters.
    tail : str, optional
        Windows that the end of an entry cuts short: `drop` them, keep them `cut`, or move the first
        of them to the `end`. By default drop.
    short : str, optional
        An entry shorter than a window: take the `whole` entry as one, or `skip` it. By default
        whole.
    no_strip : bool
        Keep white space at both ends of an entry.
    sample : int, optional
        Draw this many entries at random, and ignore the rest.
    stop_when_decided : bool
        Ask about an entry only until its class is known; the share of its windows is then unknown.
    shares : str or Path, optional
        Write the share of each class of entries, and the share of contaminated ones by threshold,
        to this file.
    scores : str, Path, DataFrame, or several of them
        Rows of `evalcore score`: compare the accuracy on contaminated and on clean entries.
    score_rule : str, optional
        Only scores by this rule of scoring.
    effects : str or Path, optional
        Write the accuracies and their differences to this file.
    contexts : str or Path, optional
        Write one occurrence of the rarest window of each entry that is not clean, with 400
        characters on each side, to this file. Requires another rule than copied.
    evidence : str or Path, optional
        Write each entry that is not clean by the rule copied, and the document that has most of it,
        side by side to this file; `ngramscan report` shows them.
    write_clean : str or Path, optional
        Copy the corpus to this new folder without the documents that hold copies of entries: the
        same files, formats and compressions. Interrupted runs resume. Requires the rule copied and
        one corpus of files (scan:).
    cut : bool
        With --write-clean, cut the copies out of their documents, and keep the rest of these.
    removed : str or Path, optional
        With --write-clean, write which documents left, with the entries that they have, to this
        file. By default the name of the folder and -removed.csv.
    figure : str or Path, optional
        Draw the shares of each corpus: .svg, .png or .pdf.
    level : float
        Confidence level of shares and of differences in accuracy.
    show_all : see count
    progress : see count

    Returns
    -------
    DataFrame
        One row per entry and index, then per entry in any of several; see docs/rows.md.

    Raises
    ------
    InputError
        An argument or a file is wrong.
    IncompleteError
        Some windows could not be counted; its `rows` has all entries, with the limits of what is
        known.

    Examples
    --------
    $ ngramscan contaminate questions.jsonl --index python
    $ ngramscan contaminate questions.jsonl --sample 500 --dry-run
    $ ngramscan contaminate questions.jsonl --index scan:corpus.jsonl --rule gpt3 -o entries.csv
    $ ngramscan contaminate questions.jsonl --index python --shares shares.csv --figure shares.svg
    """
    chosen = make_rule(rule, window, window_unit, tail, short, not no_strip)
    if not chosen.weighs:
        refuse_kinds(index, OF_TOKENS, _LOWER_BOUNDS)
    _refuse_other_rule(chosen, contexts=contexts, stop_when_decided=stop_when_decided)
    clean_copy = _clean_copy(chosen, write_clean, cut, removed)
    normalization = "" if chosen.weighs else chosen.normalization
    asking_options = AskingOptions(**options, normalization=normalization)
    if answer_within and not answer_field:
        raise InputError(OptionUse("answer_within"), "requires " + OptionUse("answer_field"))
    benchmark_entries = read_entries(benchmark, field, id_field, answer_field)
    entries = draw_sample(benchmark_entries.entries, sample, asking_options.seed)
    notices = _describe_read(name_of(benchmark), benchmark_entries, sample)
    given_scores = _read_scores(scores, score_rule, effects, entries)
    load_ahead("scipy.special")
    with open_indexes(index, asking_options, progress) as indexes:
        if asking_options.dry_run:
            windows_per_entry = (OCCURRENCES if answer_field else 0) + (1 if contexts else 0)
            plan = plan_contaminate(
                entries, chosen, asking_options.seed, indexes, windows_per_entry, CONTEXT
            )
            charges = describe_charges(plan, asking_options.reader_pays)
            return Result(plan, PlanRow, [*describe_copied_plan(chosen, plan), *charges])
        within = (answer_within or NEAR) if answer_field else None
        search = _EntrySearch(entries, chosen, indexes, asking_options.seed, within)
        if clean_copy:
            outcome = search.clean(clean_copy, asking_options, progress)
        elif chosen.weighs:
            outcome = search.judge()
        else:
            outcome = search.look(
                decides=stop_when_decided,
                shows_contexts=contexts is not None,
                shows_evidence=evidence is not None,
            )
    result = outcome.result
    drawn_with = asking_options.seed if len(entries) < len(benchmark_entries.entries) else None
    answers = ANSWERS if answer_field else ()
    summed = make_shares(
        result.rows, chosen, len(benchmark_entries.entries), drawn_with, level, answers
    )
    files: list[Any] = [
        (shares, summed, ShareRow),
        (contexts, outcome.contexts, ContextRow),
        (evidence, result.evidence, EvidenceRow),
        (clean_copy.removed if clean_copy else None, outcome.removed, RemovedRow),
    ]
    compared = []
    if given_scores:
        from ngramscan.prevalence.contamination.effects import EffectRow, make_effects  # slow

        compared = make_effects(result.rows, given_scores, level, answers)
        files.append((effects, compared, EffectRow))
    notices += [*_describe_short(result.whole_entries), *_describe_forms(result.found_forms)]
    notices += outcome.notices
    unknown = [(failure.error, failure.index) for failure in result.missing]
    # The rule `copied` counts windows and shows them; most that fails is counted.
    lost_kind = "window" if chosen.weighs else "context"
    failures = [*describe_lost(unknown, "window"), *describe_lost(outcome.lost, lost_kind)]
    failures += outcome.failures
    is_screen = len(result.sizes) > 1 and not show_all
    show = tables.print_contaminate_screen if is_screen else tables.print_contaminate
    table = partial(show, result, summed, compared)
    sizes = sizes_in_words(result.sizes)
    return Result(
        result.rows,
        EntryRow,
        notices,
        failures,
        print_table=table,
        is_screen=is_screen,
        files=files,
        figure=(figure, summed),
        sizes=sizes,
    )


@dataclass(frozen=True, slots=True)
class _SearchOutcome:
    """The rows of entries, and the texts that show them."""

    result: ContaminateResult
    contexts: list[ContextRow]
    lost: list[Lost]
    notices: list[Text]
    removed: list[RemovedRow] = dataclass_field(default_factory=list)
    failures: list[str] = dataclass_field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _CleanCopy:
    """A corpus that is written without copies."""

    folder: Path
    is_cut: bool
    """Copies are cut out of documents, instead of leaving these out."""
    removed: str | Path
    """Which documents left."""


def _clean_copy(
    rule: Rule, write_clean: str | Path | None, cut: bool, removed: str | Path | None
) -> _CleanCopy | None:
    """Return the corpus to write, or None; an InputError says what does not go together."""
    if write_clean is None:
        for option, value in {"cut": cut, "removed": removed}.items():
            if value:
                raise InputError(OptionUse(option), "requires " + OptionUse("write_clean"))
        return None
    if not rule.weighs:
        problem = f"rule {rule.name} does not tell copies from common text; requires "
        raise InputError(OptionUse("write_clean"), problem + OptionUse("rule", COPIED))
    folder = Path(write_clean)
    return _CleanCopy(folder, cut, removed or f"{os.path.normpath(folder)}-removed.csv")


@dataclass(frozen=True, slots=True)
class _EntrySearch:
    """The entries that are looked for, and where."""

    entries: Sequence[Entry]
    rule: Rule
    indexes: Sequence[Index]
    seed: int
    within: int | None
    """Characters around an entry in which its answer is looked for; None: it is not."""

    def judge(self) -> _SearchOutcome:
        """Look for documents that have most of each entry."""
        outcome = run_copied(self.entries, self.rule, self.indexes, self.seed, self.within)
        return _SearchOutcome(outcome.result, [], outcome.lost, [])

    def clean(
        self, copy: _CleanCopy, asking_options: AskingOptions, progress: Progress
    ) -> _SearchOutcome:
        """Look for these documents, write the corpus without them, and look for others in it."""
        index = _only_corpus(self.indexes, asking_options)
        index.refuse_unwritable(copy.folder, copy.is_cut)
        outcome = run_copied(
            self.entries, self.rule, self.indexes, self.seed, self.within, MOST_DOCUMENTS
        )
        removed = write_clean_corpus(outcome.weighed[0], index, self.rule, copy.folder, copy.is_cut)
        spec = SCAN.spec_of(str(copy.folder))
        n_records = len(removed)
        notices: list[Text] = [f"{copy.folder}: written without {counted(n_records, 'document')}"]
        if copy.is_cut:
            cut_passages = f"written without passages of {counted(n_records, 'document')}"
            notices = [f"{copy.folder}: {cut_passages}"]
        with open_indexes([spec], asking_options, progress) as written:
            judged_again = run_copied(self.entries, self.rule, written, self.seed)
        copies = [row.id for row in judged_again.result.rows if row.verdict == COPIED]
        failures = []
        if copies:
            many = f"{counted(len(copies), 'entry', 'entries')} still copied, the first {copies[0]}"
            failures = [f"{copy.folder}: {many}; give this folder as the corpus to clean it again"]
        return _SearchOutcome(outcome.result, [], outcome.lost, notices, removed, failures)

    def look(self, *, decides: bool, shows_contexts: bool, shows_evidence: bool) -> _SearchOutcome:
        """Look for the windows of a published rule, and say which of what it finds is common."""
        by_windows = self.within is not None and not self.rule.normalization
        if shows_contexts or by_windows:
            option = OptionUse("contexts" if shows_contexts else "answer_field")
            _refuse_unseen(self.indexes, option)
        result = run_contaminate(self.entries, self.rule, self.indexes, self.seed, decides)
        contexts, lost, notices = list[ContextRow](), list[Lost](), list[Text]()
        if shows_contexts:
            contexts, lost = _show_contexts(result.rows, self.indexes, self.seed)
        if by_windows and self.within is not None:
            result, unseen = find_answers(
                result, self.entries, self.indexes, self.within, self.seed
            )
            lost += unseen
        is_asked = shows_evidence or (self.within is not None and not by_windows)
        local = [index for index in self.indexes if isinstance(index, FindsPassages | Locates)]
        explained_in = self.indexes if is_asked else local
        within = None if by_windows else self.within
        try:
            result, unexplained = explain_found(
                result, self.entries, explained_in, self.seed, within
            )
            lost += unexplained
        except InputError as error:
            if is_asked:
                raise
            notices.append(f"{error}; so what is shared, not copied, is not told apart")
        return _SearchOutcome(result, contexts, lost, notices)


def _only_corpus(indexes: Sequence[Index], options: AskingOptions) -> WritesCorpora:
    """Return the corpus to clean; an InputError says why there is none."""
    option = OptionUse("write_clean")
    if len(indexes) > 1:
        raise InputError(option, f"requires one corpus, not {len(indexes)}")
    for name in ("sample_files", "limit_documents"):
        if getattr(options, name) is not None:
            raise InputError(option, "requires the whole corpus, without " + OptionUse(name))
    if not isinstance(indexes[0], WritesCorpora):
        raise InputError(option, f"requires a corpus of files (scan:PATH), not {indexes[0].name}")
    return indexes[0]


def _refuse_other_rule(rule: Rule, contexts: str | Path | None, stop_when_decided: bool) -> None:
    """Raise an InputError for an option that makes no sense with rule `copied`."""
    if not rule.weighs:
        return
    if contexts:
        cure = OptionUse("evidence", str(contexts)) + " shows the documents that it found"
        raise InputError(OptionUse("contexts"), f"requires another rule than {rule.name}; " + cure)
    if stop_when_decided:
        problem = (
            f"rule {rule.name} weighs all windows; choose another rule, or fewer entries with "
        )
        raise InputError(OptionUse("stop_when_decided"), problem + OptionUse("sample"))


def _read_scores(
    scores: GivenTables, rule: str | None, effects: str | Path | None, entries: Sequence[Entry]
) -> list[GivenScore]:
    files = as_tables(scores)
    for option, value in {"score_rule": rule, "effects": effects}.items():
        if value and not files:
            problem = "requires " + OptionUse("scores") + ", which has the scores to compare"
            raise InputError(OptionUse(option), problem)
    if not files:
        return []
    from ngramscan.prevalence.contamination.effects import GivenScore, check_scores  # slow

    what = "rows of `evalcore score`"
    given_scores = [
        row for file in files for row in read_rows(file, GivenScore, what, {"status": ""})
    ]
    if rule:
        refuse_other("score_rule", rule, (row.rule for row in given_scores))
    chosen = [row for row in given_scores if rule in {None, row.rule}]
    check_scores(chosen, [entry.id for entry in entries])
    return chosen


def _describe_read(
    where: str, benchmark_entries: BenchmarkEntries, sample: int | None
) -> list[Text]:
    """Say how a file was read, where its owner may have expected something else."""
    n = len(benchmark_entries.entries)
    notices: list[Text] = []
    if benchmark_entries.is_numbered:
        notices.append(f"{where}: no column id, so ids are the numbers of the rows, from 1")
    if sample is not None and sample >= n:
        every = f"the file has no more than {n:,} entries; all are looked at"
        notices.append(OptionUse("sample", sample) + f": {every}")
    return notices


def _describe_short(ids: Sequence[str]) -> list[Text]:
    """Say how many entries are a single window: short ones are found by chance."""
    if not ids:
        return []
    short = f"entries no longer than a window: {len(ids):,}, the first is {ids[0]}"
    cure = OptionUse("short", "skip") + " leaves out shorter ones"
    return [f"{short}; each is looked for as a whole (" + cure + ")"]


def _describe_forms(other_forms: Sequence[EntryForm]) -> list[str]:
    """Say which entries only look clean, since the corpus has another form of their characters."""
    entries = list(dict.fromkeys((form.index, form.id) for form in other_forms))
    if not entries:
        return []
    first = other_forms[0]
    return [
        f"clean entries that occur in another normal form of Unicode: {len(entries):,}, the first"
        f" is {first.id} ({first.found} of {first.windows} windows in {first.form},"
        f" {first.index}); --rule palm and gpt3 find all forms in corpora that are read"
    ]


def _refuse_unseen(indexes: Sequence[Index], option: OptionUse) -> None:
    """Raise an InputError, before anything is asked, where an index can't show texts."""
    try:
        for index in indexes:
            list(index.find([]))
    except InputError as error:
        raise InputError(option, error.message) from error


def _show_contexts(
    rows: Sequence[EntryRow], indexes: Sequence[Index], seed: int
) -> tuple[list[ContextRow], list[Lost]]:
    """Return one occurrence of the rarest window of each entry that is not clean."""
    contexts, lost = list[ContextRow](), list[Lost]()
    for index in indexes:
        dirty = [row for row in rows if row.index == index.name and row.verdict != "clean"]
        if texts := list(dict.fromkeys(row.rarest for row in dirty if row.rarest)):
            contexts_of_texts, failed = run_contexts(texts, index, 1, CONTEXT, seed)
            contexts += [row for windows in contexts_of_texts for row in windows.rows]
            lost += [(failure.error, failure.index) for failure in failed]
            lost += [
                (failure.error, index.name)
                for each in contexts_of_texts
                for failure in each.failures
            ]
    return contexts, lost
