"""Code that searches a note or has a regex over words is found, and other code is not."""

import pytest

from tests.house.note_texts import note_searches, worded_regexes


@pytest.mark.parametrize(
    "source",
    [
        pytest.param('"doubtful" in row.note', id="a word in a note"),
        pytest.param('WORD not in row["note"]', id="a constant in a note"),
        pytest.param('WORD in str(row.get("note") or "")', id="a note made a text"),
        pytest.param('note.startswith("only")', id="the beginning of a note"),
        pytest.param("row.note.split('; ')", id="the parts of a note"),
        pytest.param("total.note == SNAPSHOTS", id="a note that is another"),
        pytest.param("re.split('x', row.note)", id="a regex"),
    ],
)
def test_a_search_of_a_note_is_found(source: str) -> None:
    assert list(note_searches(source)) == [1]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("note.scope == 'index'", id="its scope"),
        pytest.param("[row.note for row in rows if row.note]", id="whether there is one"),
        pytest.param("print(f'{row.index}: {row.note}')", id="printing"),
        pytest.param("note not in notes", id="a note among others"),
        pytest.param("text.startswith('x')", id="another text"),
    ],
)
def test_other_uses_of_notes_are_not_found(source: str) -> None:
    assert list(note_searches(source)) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        pytest.param(r're.compile(r"(mini|gpt3): (\d+ \w+) .*")', [1], id="names"),
        pytest.param(r're.compile(f"; (?:no interval|{WORD})")', [1], id="English"),
        pytest.param(r're.compile(r"[/:_.=-]|\d\d")', [], id="signs"),
        pytest.param(r're.search(rf"(?<!\w){name}(?!\w)", text)', [], id="a name"),
    ],
)
def test_a_regex_with_words_is_found(source: str, lines: list[int]) -> None:
    assert list(worded_regexes(source)) == lines
