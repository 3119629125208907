"""The terminal's tables of entries by the rule `copied`; the command's test has other rules."""

import io

import pytest
from rich.console import Console

from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.contamination.contaminate import ContaminateResult, EntryRow
from ngramscan.prevalence.contamination.effects import EffectRow, make_effects
from ngramscan.prevalence.contamination.rules import make_rule
from ngramscan.prevalence.contamination.shares import make_shares
from ngramscan.prevalence.contamination.thresholds import COVERED, RARE, SCORE, WHOLE
from ngramscan.reporting.tables.contaminate import print_contaminate
from ngramscan.reporting.tables.several_corpora import print_contaminate_screen
from tests.support.contaminated_entries import judged_entry, score

RULE = make_rule("copied")
ROWS = [
    judged_entry(
        "low", "copied", score=0.4, covered=0.7, document="crawl.jsonl:7", source="example.org"
    ),
    judged_entry("high", "copied", score=0.95, covered=0.8, document="crawl.jsonl:9"),
    judged_entry(
        "other", "variant", score=1.0, covered=1.0, document="crawl.jsonl:2", changed="49 → 50"
    ),
    judged_entry("some", "shared", score=0.3, covered=0.5, document="crawl.jsonl:1"),
    judged_entry("idiom", "shared"),
    judged_entry("none", "clean", score=0.05, covered=0.2, document="crawl.jsonl:4"),
    judged_entry("lost", None),
    judged_entry("elsewhere", "copied", "union", score=1.0, covered=1.0),
]


def shown(rows: list[EntryRow], width: int, effects: list[EffectRow] | None = None) -> list[str]:
    """Return the lines of the screen of one corpus."""
    screen = io.StringIO()
    console = Console(file=screen, width=width, color_system=None)
    of_index = [row for row in rows if row.index == "a"]
    shares = make_shares(of_index, RULE, len(of_index), None)
    result = ContaminateResult(rows, sizes={"a": IndexSize(documents=9, bytes=1000)})
    print_contaminate(result, shares, effects or [], console)
    return screen.getvalue().splitlines()


def test_copies_are_shown_by_class_and_score_with_their_documents() -> None:
    lines = shown(ROWS, 200)
    start = next(n for n, line in enumerate(lines) if line.startswith("Entries that documents"))
    assert lines[start : start + 8] == [
        "Entries that documents have, by class and score · index a",
        ("  id     class    score, %  covered, %  document       source       changed numbers"),
        ("  ─────  ───────  ────────  ──────────  ─────────────  ───────────  ───────────────"),
        "  high   copied       95.0        80.0  crawl.jsonl:9  –            –",
        "  low    copied       40.0        70.0  crawl.jsonl:7  example.org  –",
        "  other  variant     100.0       100.0  crawl.jsonl:2  –            49 → 50",
        "  some   shared       30.0        50.0  crawl.jsonl:1  –            –",
        "",
    ]


def test_the_first_table_has_the_shares_of_the_four_classes() -> None:
    lines = shown(ROWS, 200)
    assert lines[1] == "Classes of entries, %"
    assert lines[2].split() == ["index", "entries", "clean", "shared", "variant", "copied"]
    # Wilson's limits for 2 to 3 of 7 copied entries.
    assert lines[4].endswith("[8.2, 75.0]")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_screen_of_copies_fits_and_has_each_number(width: int) -> None:
    effects = make_effects(ROWS, [score(row.id, n % 2) for n, row in enumerate(ROWS)])
    lines = shown(ROWS, width, effects)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for value in ("crawl.jsonl:9", "95.0", "49 → 50", "variant"):
        assert value in text
    assert "difference: copied minus clean, in percentage points" in text
    assert "dirty" not in text
    assert "suspicious" not in text


def test_notes_say_the_thresholds_in_words() -> None:
    text = " ".join(" ".join(shown(ROWS, 80)).split())
    assert (
        f"copied: one document has {COVERED:.0%} or more of the words and {SCORE:.0%} or more of "
        f"the rare windows, weighed by their rarity, or {WHOLE:.0%} of the windows (rare: up to "
        f"{RARE} occurrences in the corpus); "
        "variant: the same, but with other numbers; shared: only common text or a part of it "
        "occurs; clean: none of these score: the share of the rare windows that the document has; "
        "covered: that of the words rule copied: 4 words"
    ) in text
    assert "class unknown, as windows are: 1 row; intervals allow for them" in text


def test_more_copies_than_the_screen_has_are_counted() -> None:
    rows = [
        judged_entry(f"e{n}", "copied", score=n / 10, covered=0.9, document=f"d:{n}")
        for n in range(1, 8)
    ]
    lines = shown(rows, 80)
    assert [line.split()[0] for line in lines if line.startswith("  e")] == [
        *("entries", "e7", "e6", "e5", "e4", "e3")
    ][1:]
    assert "2 more rows with text in a document: -o FILE has all of them" in lines
    assert not any("Entries that documents" in line for line in shown(ROWS[4:6], 80))


def test_answers_have_a_column_where_they_were_looked_for() -> None:
    near = judged_entry("1", "copied", score=1.0, covered=1.0, document="d:1", answer="near")
    lines = shown([near], 200)
    cells = ["a", "1", "copied", "100.0", "100.0", "d:1", "near"]
    assert cells in [line.split() for line in lines]
    assert not any("answer" in line for line in shown(ROWS, 200))


def test_several_corpora_have_a_screen_of_copies_and_of_scores() -> None:
    rows = [
        judged_entry(f"{n}", "copied" if n < 3 else "clean", index, score=0.9, covered=0.9)
        for index in ("a", "b", "union")
        for n in range(6)
    ]
    screen = io.StringIO()
    console = Console(file=screen, width=80, color_system=None)
    shares = make_shares(rows, RULE, 6, None)
    effects = make_effects(rows, [score(n, float(n < 3)) for n in range(6)])
    sizes = {name: IndexSize(documents=9, bytes=1000) for name in ("a", "b")}
    print_contaminate_screen(ContaminateResult(rows, sizes=sizes), shares, effects, console)
    lines = screen.getvalue().splitlines()
    assert lines[0] == "Classes of questions by copied, %"
    assert "Questions that were copied in most corpora" in lines
    said = " ".join(" ".join(lines).split())
    assert "between copied questions and clean ones in scores with m and cot on gsm8k" in said
