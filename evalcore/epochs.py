"""Several answers to a problem (epochs) as one value of the problem: pass@k and pass^k."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from evalcore.scores import ScoreRow, SummaryRow, group_of, summarise
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, counted
from ngramscan.reading.score_values import NO_ANSWER
from ngramscan.statistics.estimates import fields_of
from ngramscan.statistics.pass_rates import PassRate

_Score = TypeVar("_Score", bound=ScoreRow)


@dataclass(slots=True)
class _AnswersToProblem(Generic[_Score]):
    """The known answers of a run to one problem."""

    first: _Score
    values: list[float] = field(default_factory=list)

    def estimate(self, rate: PassRate) -> float | None:
        """Return the estimate of a rate for this problem; None: there are too few answers."""
        if len(self.values) < rate.k:
            return None
        return rate.estimate(len(self.values), self.values.count(1.0))


def take_passes(
    rows: Sequence[_Score], rate: PassRate, counts_no_answer: bool
) -> tuple[list[_Score], list[str]]:
    """Return a row for each problem of a run, whose value is its pass rate; and notices.

    Parameters
    ----------
    rows : sequence of ScoreRow
        Right and wrong answers.
    rate : PassRate
        What is estimated for each problem.
    counts_no_answer : bool
        Whether a missing answer counts, as a wrong one. Unknown results never count.

    Returns
    -------
    tuple of list of ScoreRow and list of str
        Problems with too few answers have a row without a value, which is `unknown`.

    Raises
    ------
    InputError
        No problem of a run has enough answers, or an answer is neither right nor wrong.
    """
    if graded := _describe_graded(rows):
        option = OptionUse(rate.column, rate.k)
        raise InputError(option, f"{graded}; set a limit with " + OptionUse("right_from"))
    passed, notices = list[_Score](), list[str]()
    for answers in _by_run(rows, counts_no_answer):
        if shortage := _describe_shortage(answers, rate):
            if all(answers_to_problem.estimate(rate) is None for answers_to_problem in answers):
                raise InputError(OptionUse(rate.column, rate.k), shortage)
            notices.append(f"{shortage}; they are left out")
        passed += [_passed_row(answers_to_problem, rate) for answers_to_problem in answers]
    if n_missing := sum(row.status == NO_ANSWER for row in rows):
        treatment = "counted as wrong" if counts_no_answer else "left out"
        notices.append(f"{rate.name}: {counted(n_missing, 'output')} without an answer {treatment}")
    return passed, notices


def summarise_passes(
    rows: Sequence[ScoreRow], rates: Sequence[PassRate]
) -> tuple[list[SummaryRow], list[str], list[str]]:
    """Return accuracies of runs with their pass rates, notices, and failures.

    A missing answer counts as wrong. A rate that no problem of a run has enough answers for is a
    failure, and so is one of answers that are neither right nor wrong.
    """
    if rates and (graded := _describe_graded(rows)):
        cure = "use `evalcore compare --right-from`"
        return summarise(rows), [], [f"{rates[0].name}: {graded}; {cure}"]
    notices, failures, summaries = list[str](), list[str](), list[SummaryRow]()
    for summary, answers in zip(summarise(rows), _by_run(rows, True), strict=True):
        with_rates = summary
        for rate in rates:
            columns, shortage = _estimate_rate(answers, rate)
            with_rates = with_rates._replace(**columns)
            if shortage:
                (notices if columns else failures).append(shortage)
        summaries.append(with_rates)
    return summaries, notices, failures


def _estimate_rate(
    answers: Sequence[_AnswersToProblem[ScoreRow]], rate: PassRate
) -> tuple[dict[str, Any], str]:
    """Return the columns of a rate, if it is known, and what was left out."""
    # Slow to import.
    from ngramscan.statistics.two_samples import estimate_clustered_accuracy

    values, units = list[float](), list[str]()
    for answers_to_problem in answers:
        value = answers_to_problem.estimate(rate)
        if value is not None:
            values.append(value)
            units.append(
                answers_to_problem.first.id
                if answers_to_problem.first.cluster is None
                else answers_to_problem.first.cluster
            )
    columns = fields_of(rate.column, estimate_clustered_accuracy(values, units)) if values else {}
    return columns, _describe_shortage(answers, rate)


def _passed_row(answers: _AnswersToProblem[_Score], rate: PassRate) -> _Score:
    value = answers.estimate(rate)
    return replace(
        answers.first,
        epoch=None,
        rule=f"{answers.first.rule} ({rate.name})",
        value=value,
        answer=None,
        extraction=None,
        reason="too few answers" if value is None else "",
        sandbox=None,
        status="",
    )


def _by_run(
    rows: Iterable[_Score], counts_no_answer: bool
) -> list[list[_AnswersToProblem[_Score]]]:
    """Return the answers to each problem of each run, in the order of their first rows."""
    runs = defaultdict[Hashable, dict[Hashable, _AnswersToProblem[_Score]]](dict)
    for row in rows:
        by_problem = runs[group_of(row), row.run]
        answers = by_problem.setdefault((row.id, row.hash), _AnswersToProblem(row))
        if row.value is not None:
            answers.values.append(row.value)
        elif row.status == NO_ANSWER and counts_no_answer:
            answers.values.append(0.0)
    return [list(by_problem.values()) for by_problem in runs.values()]


def _describe_graded(rows: Iterable[ScoreRow]) -> str:
    """Name an answer that is neither right nor wrong; empty if there is none."""
    graded = next((row for row in rows if row.value not in {None, 0, 1}), None)
    if graded is None:
        return ""
    named = ", ".join((*group_of(graded), f"id {graded.id}"))
    return f"{named}: value {graded.value:g} is neither right nor wrong"


def _describe_shortage(answers: Sequence[_AnswersToProblem[_Score]], rate: PassRate) -> str:
    """Say how many problems of a run have fewer answers than a rate needs; empty for none."""
    n_short = sum(len(answers_to_problem.values) < rate.k for answers_to_problem in answers)
    if not n_short:
        return ""
    name = ", ".join(filter(None, group_of(answers[0].first)))
    have = "has" if n_short == 1 else "have"
    needed = counted(rate.k, "known answer")
    problems = f"{n_short:,} of {counted(len(answers), 'problem')}"
    return f"{name}: {problems} {have} fewer than {needed} (epochs), which {rate.name} needs"
