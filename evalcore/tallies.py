"""Score rows of which each answer to a problem has one."""

from __future__ import annotations

from collections.abc import Sequence

from evalcore.row_files import GivenTables, as_tables, name_of
from evalcore.score_runs import choose_runs
from evalcore.scores import ScoreRow, read_scores, refuse_unscored
from ngramscan.errors import InputError


def read_chosen(
    scores: GivenTables, rules: Sequence[str] = (), runs: Sequence[str] = ()
) -> list[ScoreRow]:
    """Read score rows, by one rule per benchmark and of one run per method; or an InputError."""
    rows: list[ScoreRow] = []
    seen: dict[tuple[object, ...], str] = {}
    for table in as_tables(scores):
        for row in read_scores(table):
            key = (row.dataset, row.model, row.method, row.id, row.epoch, row.rule, row.run)
            if key in seen:
                named = " ".join(str(part) for part in key if part is not None)
                problem = f"two rows of {named}; the other is in {seen[key]}"
                raise InputError(name_of(table), problem)
            seen[key] = name_of(table)
            rows.append(row)
    if not rows:
        raise InputError("scores", "there are no rows")
    refuse_unscored(rules, (row.rule for row in rows))
    chosen = [row for row in rows if not rules or row.rule in rules]
    by_dataset: dict[str, dict[str, None]] = {}
    for row in chosen:
        by_dataset.setdefault(row.dataset, {})[row.rule] = None
    for dataset, named_rules in by_dataset.items():
        if len(named_rules) > 1:
            scored = f"scored by {', '.join(named_rules)}"
            raise InputError(dataset, f"{scored}; --rule says which is meant")
    return choose_runs(chosen, runs)
