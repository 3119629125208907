"""Several runs of one method: which of them is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalcore.scores import ScoreRow
from ngramscan.errors import InputError

LATEST = "latest"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d")
_NO_NAME = "one without a name"

Group = tuple[str, str, str, str]
"""Dataset, model, method, rule: what has one run, or of which one is chosen."""
Runs = Mapping[Group, Mapping[str | None, int]]
"""How many rows each run has."""


def choose_runs(rows: Sequence[ScoreRow], wanted: Sequence[str] = ()) -> list[ScoreRow]:
    """Leave one run of each method.

    Parameters
    ----------
    rows : sequence of ScoreRow
        Of any runs.
    wanted : sequence of str
        Names of runs, or parts of them; or `latest`. Methods with one run keep it.

    Raises
    ------
    InputError
        A method has several runs of which none or more than one is wanted, no run has such a name,
        or not all say when they were.
    """
    if not wanted and len({row.run for row in rows}) < 2:
        _refuse_mixed_epochs(rows)
        return list(rows)
    runs = count_runs(rows)
    names = [run for own in runs.values() for run in own if run]
    for name in wanted:
        if name != LATEST and not any(name in run for run in names):
            told = "; ".join(describe_runs(runs)) or "no method has several runs"
            raise InputError(f"--run {name}", f"no run has that name; {told}")
    meant = {group: _meant(list(own), wanted) for group, own in runs.items()}
    if open_groups := {group: runs[group] for group, own in meant.items() if len(own) > 1}:
        cure = "--run NAME says which is meant"
        cure += " (not all have a time)" if LATEST in wanted else f", or --run {LATEST}"
        raise InputError("scores", f"{'; '.join(describe_runs(open_groups))}; {cure}")
    kept = [row for row in rows if row.run == meant[_group(row)][0]]
    _refuse_mixed_epochs(kept)
    return kept


def _refuse_mixed_epochs(rows: Sequence[ScoreRow]) -> None:
    """Refuse a method that was asked once and several times: these were two runs."""
    if len({row.epoch is None for row in rows}) < 2:
        return
    has_epoch: dict[Group, bool] = {}
    for row in rows:
        known = row.epoch is not None
        if has_epoch.setdefault(_group(row), known) != known:
            said = "some rows have an epoch and others have none, so these are several runs"
            raise InputError(", ".join(_group(row)), f"{said}; a column `run` tells them apart")


def count_runs(rows: Iterable[ScoreRow]) -> Runs:
    """Return the runs of each method, with the number of their rows."""
    runs: dict[Group, dict[str | None, int]] = {}
    for row in rows:
        own = runs.setdefault(_group(row), {})
        own[row.run] = own.get(row.run, 0) + 1
    return runs


def describe_runs(runs: Runs) -> Iterator[str]:
    """Tell of each method that has several runs which these are."""
    for group, own in runs.items():
        if len(own) > 1:
            named = ", ".join(f"{run or _NO_NAME} ({n} rows)" for run, n in own.items())
            yield f"{', '.join(group)} has {len(own)} runs: {named}"


def _group(row: ScoreRow) -> Group:
    return row.dataset, row.model, row.method, row.rule


def _meant(runs: Sequence[str | None], wanted: Sequence[str]) -> Sequence[str | None]:
    """Return the runs of a method that may be meant; one, where that is clear."""
    if len(runs) == 1:
        return runs
    exact = [run for run in runs if run in wanted]
    named = exact or [run for run in runs if any(name in (run or "") for name in wanted)]
    timed = [run for run in runs if run and _TIME.match(run)]
    if not named and LATEST in wanted and len(timed) == len(runs):
        return [max(timed)]
    return named or runs
