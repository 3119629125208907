"""Notes below tables: general ones once, those of an index after its name, none on one query."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import CountResult, CountRow, shared_notes
from ngramscan.reporting.tables import print_count, print_count_screen
from ngramscan.reporting.tables.parts import describe_shared_notes
from ngramscan.rows import Note, join_notes

GENERAL = Note("fewer than 30 draws", "general")
SAMPLE = Note("estimate from 2 of 9 files", "index")
CASE = Note("ASCII case ignored; so it is", "index")
QUERY = Note("only of one query", "query")


@pytest.mark.parametrize(
    ("notes", "lines"),
    [
        pytest.param({}, [], id="no index"),
        pytest.param({"a": ()}, [], id="no note"),
        pytest.param(
            {"a": (SAMPLE, GENERAL, QUERY, CASE)},
            [GENERAL.text, SAMPLE.text, CASE.text],
            id="one index",
        ),
        pytest.param(
            {"a": (CASE, SAMPLE), "b": (GENERAL, CASE)},
            [GENERAL.text, CASE.text, f"a: {SAMPLE.text}"],
            id="two indexes share a note",
        ),
        pytest.param(
            {"a": (SAMPLE, CASE), "b": ()},
            [f"a: {SAMPLE.text}; {CASE.text}"],
            id="one of two indexes has notes",
        ),
        pytest.param({"a": (GENERAL,), "b": (GENERAL,)}, [GENERAL.text], id="general notes"),
    ],
)
def test_notes_are_printed_once_for_what_they_are_about(
    notes: dict[str, Sequence[Note]], lines: list[str]
) -> None:
    assert describe_shared_notes(notes) == lines


def test_the_text_of_a_row_has_all_its_notes() -> None:
    assert join_notes([SAMPLE, QUERY]) == "estimate from 2 of 9 files; only of one query"
    assert join_notes([]) == ""


def test_notes_on_a_single_query_are_not_shared() -> None:
    assert shared_notes([[SAMPLE, QUERY], [SAMPLE, GENERAL]]) == [SAMPLE, GENERAL]


@pytest.mark.parametrize("show", [print_count, print_count_screen])
def test_the_words_of_a_note_do_not_matter(show: object) -> None:
    """Its scope says where it goes; a row's own text is never searched."""
    names = ("bytes", "CoT", "T1", "narrative", "a b", "a b", 3, None, "scan", "t")
    rows = [CountRow(index, *names, note="only x; no interval; at most") for index in ("i", "j")]
    result = CountResult(
        [],
        rows=rows,
        sizes=dict.fromkeys(("i", "j"), IndexSize(2, 100)),
        notes={"i": [Note("unreliable interval", "index")], "j": []},
    )
    file = io.StringIO()
    assert callable(show)
    show(Console(file=file, width=150), result, [])
    shown = file.getvalue()
    assert shown.count("unreliable interval") == 1
    assert "only x" not in shown
    assert "doubtful" not in shown
