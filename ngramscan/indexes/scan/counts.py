"""What is in each piece of a corpus: as a journal knows it, or as it is counted now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from ngramscan.corpora import Piece
from ngramscan.errors import CorpusError, NgramscanError
from ngramscan.indexes.scan.counting import Counts, Question, Task, count_task
from ngramscan.indexes.scan.pieces import PieceRunner
from ngramscan.journal import Journal
from ngramscan.progress import Progress


class PieceCounter:
    """Counts in pieces and keeps what it counted.

    Parameters
    ----------
    name : str
        Of the corpus, for people.
    runner : PieceRunner
        Does the work.
    progress : Progress
        Told what is not counted again.
    journal : Journal or None
        Keeps the counts of each piece.
    refresh : bool
        Count also what the journal has.
    """

    def __init__(
        self,
        name: str,
        runner: PieceRunner,
        progress: Progress,
        journal: Journal | None,
        refresh: bool,
    ) -> None:
        self._name = name
        self._runner = runner
        self._progress = progress
        self._journal = journal
        self._refresh = refresh

    def count(self, pieces: Sequence[Piece], question: Question) -> list[Counts]:
        """Count in all pieces, those that the journal has not.

        Parameters
        ----------
        pieces : sequence of Piece
            Of one corpus.
        question : Question
            What to count in each.

        Raises
        ------
        NgramscanError
            A piece can't be read: the first of those. All others were counted by then.
        """
        request = _request(question)
        results = self._journalled(pieces, request, question)
        left = {number: piece for number, piece in enumerate(pieces) if number not in results}

        def make_task(numbers: Sequence[int]) -> Task:
            return Task([pieces[number] for number in numbers], question)

        errors: list[NgramscanError] = []
        for number, result in self._runner.run(count_task, make_task, left):
            if isinstance(result, NgramscanError):
                errors.append(result)
            else:
                results[number] = result
                self._keep(pieces[number], request, result)
        if errors:
            raise _first_of(errors)
        return [results[number] for number in range(len(pieces))]

    def _journalled(
        self, pieces: Sequence[Piece], request: str, question: Question
    ) -> dict[int, Counts]:
        if self._journal is None or self._refresh:
            return {}
        found = self._journal.get_each("scan", [piece.identity for piece in pieces], request)
        known = {identity: _read(reply.text, question) for identity, reply in found.items()}
        results = {
            number: counts
            for number, piece in enumerate(pieces)
            if (counts := known.get(piece.identity)) is not None
        }
        if results:
            self._progress.notice(
                f"{self._name}: {len(results)} of {len(pieces)} files or parts are from the"
                " journal; --refresh reads again"
            )
        if damaged := sum(counts is None for counts in known.values()):
            self._progress.notice(
                f"{self._name}: {damaged} counts in the journal are damaged; counted again"
            )
        return results

    def _keep(self, piece: Piece, request: str, counts: Counts) -> None:
        if self._journal is not None:
            self._progress.detail(f"{piece.file.path}: read{_part(piece)}")
            self._journal.put("scan", piece.identity, request, json.dumps(asdict(counts)))


def _read(text: str, question: Question) -> Counts | None:
    """Return counts as the journal has them; None where they can't be those of any piece."""
    try:
        counts = Counts(**json.loads(text))
        sizes = [counts.documents_read, counts.bytes_read, counts.bytes_consumed, counts.skipped]
        every = [*counts.occurrences, *counts.documents, *counts.unions, *sizes]
        with_any = zip(counts.documents, counts.occurrences, strict=True)
        is_possible = (
            len(counts.occurrences) == len(question.queries)
            and len(counts.unions) == len(question.unions)
            and all(type(number) is int and number >= 0 for number in every)
            and all(few <= many <= counts.bytes_read for few, many in with_any)
            and max(counts.documents + counts.unions, default=0) <= counts.documents_read
        )
    except (TypeError, ValueError, RecursionError):
        return None
    return counts if is_possible else None


def _request(question: Question) -> str:
    """Return what a count of a piece depends on, beside the piece."""
    read = asdict(question.read)
    del read["with_sources"], read["with_fields"], read["most_line_bytes"]  # change no count
    options = {"read": read, "ignore_case": question.ignore_case}
    # Without unions it is what it was before there were any, so older journals stay of use.
    content = [question.queries, options, *([question.unions] if question.unions else [])]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _part(piece: Piece) -> str:
    return "" if piece.is_whole else f" from {piece.start} to {piece.stop}"


def _first_of(errors: list[NgramscanError]) -> NgramscanError:
    """Return the first error, by place, that says how many there are."""
    first = min(errors, key=str)
    if len(errors) == 1 or not isinstance(first, CorpusError):
        return first
    return CorpusError(first.where, f"{first.problem}; and {len(errors) - 1} more can't be read")
