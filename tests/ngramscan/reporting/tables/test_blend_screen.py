"""The first screen of `ngramscan blend`: the answer, in few lines; `--all` has the long form."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from ngramscan.outputs.blend import BlendResult, run_blend
from ngramscan.patterns.given import load_selection
from ngramscan.reporting.summaries.markers import summarize_markers, summarize_retention
from ngramscan.reporting.tables import print_blend, print_blend_screen
from tests.support.command import run
from tests.support.outputs import outputs_of
from tests.support.places import ROOT

EXAMPLES = ROOT / "outputs/example-formulas"
FORMULAS, STEPS = r"\begin{equation} x = 1 \end{equation}", "We think step by step."


def printed(blending: BlendResult, *, width: int = 80, is_all: bool = False) -> str:
    text = StringIO()
    console = Console(file=text, width=width, markup=False, emoji=False, highlight=False)
    show = print_blend if is_all else print_blend_screen
    show(blending, console)
    return text.getvalue()


def blending_of(models: int, n_kept: int = 40) -> BlendResult:
    """Return markers in outputs of some models: with a solver, some keep those of the prefix."""
    kept, lost = [STEPS + FORMULAS] * n_kept, [STEPS] * (40 - n_kept)
    by_prompt = {"f-1": [FORMULAS] * 40, "f-1+cot": [*kept, *lost], "cot": [STEPS] * 40}
    texts = {
        ("d", f"m{model}", prompt): some
        for model in range(models)
        for prompt, some in by_prompt.items()
    }
    return run_blend(outputs_of(texts), load_selection(["f1"], (), ()))


def test_the_first_screen_is_prompts_by_methods_then_kept_and_confused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = run("blend", EXAMPLES, "--quiet")
    assert done.stdout.splitlines() == [
        "Outputs with a marker, % · dataset example-formulas · model example-texts",
        "  prompt   outputs            CoT             PoT         FP/F-1",
        "  ───────  ───────  ─────────────  ──────────────  ─────────────",
        "  cot           12   67 [39, 86]*       0 [0, 24]  8.3 [1.5, 35]",
        "  f-1+cot       12   75 [47, 91]*       0 [0, 24]   83 [55, 95]*",
        "  f-1+pot       12  8.3 [1.5, 35]  100 [76, 100]*   83 [55, 95]*",
        "  f-1           12      0 [0, 24]       0 [0, 24]   92 [65, 99]*",
        "  pot           12      0 [0, 24]  100 [76, 100]*      0 [0, 24]",
        "",
        "Markers of a prefix that outputs keep when a solver follows · markers of FP/F-1",
        "  in outputs of  share, %  alone, %          difference  adjusted p",
        "  ─────────────  ────────  ────────  ──────────────────  ──────────",
        "  f-1+cot              83        92  -8.3 [-38.2, 22.7]           1",
        "  f-1+pot              83        92  -8.3 [-35.4, 18.1]           1",
        "",
        "With prompts that lack the method, CoT's markers are in at most 8.3% [1.5, 35]",
        "of the outputs (f-1+pot), PoT's in no output and FP/F-1's in at most 8.3%",
        "[1.5, 35] of the outputs (cot).",
        "brackets: 95% intervals; *: the prompt has the method, alone or joined to others",
        "--all: single models, occurrences, ratios, generic patterns; -o FILE: all rows",
    ]


@pytest.mark.parametrize("models", [1, 3, 12])
def test_the_first_screen_has_at_most_thirty_lines(models: int) -> None:
    assert len(printed(blending_of(models)).splitlines()) <= 30


PROMPTS = ["cot", "pot", "f-1", "f-1+cot", "f-1+pot", "zs", "ltm", "tot"]


@pytest.fixture(scope="module")
def many() -> BlendResult:
    """Return markers in outputs of eight prompts, with four models, for three datasets."""
    texts = {
        (f"data{dataset}", f"model{model}", prompt): [STEPS + FORMULAS] * 2
        for dataset in range(3)
        for model in range(4)
        for prompt in PROMPTS
    }
    return run_blend(outputs_of(texts), load_selection(["f1"], (), ()))


@pytest.mark.parametrize(
    ("width", "most_lines"),
    [
        pytest.param(40, 40, id="narrow"),
        pytest.param(80, 30, id="usual"),
        pytest.param(160, 30, id="wide"),
    ],
)
def test_many_datasets_models_and_prompts_have_room(
    many: BlendResult, width: int, most_lines: int
) -> None:
    lines = printed(many, width=width).splitlines()
    assert len(lines) <= most_lines
    assert max(map(len, lines)) <= max(width, 80)


def test_many_datasets_and_models_are_one_table_of_all_prompts(many: BlendResult) -> None:
    lines = printed(many).splitlines()
    assert lines[0].startswith("Outputs with a marker, %, all models and datasets together")
    assert [line.split()[0] for line in lines[3:11]] == PROMPTS
    assert "single models" in lines[-1]


def test_the_outputs_of_the_repository_have_room() -> None:
    lines = run("blend", EXAMPLES.parent, "--quiet").stdout.splitlines()
    assert len(lines) <= 30


def test_all_models_together_are_the_table_of_several() -> None:
    lines = printed(blending_of(3)).splitlines()
    assert lines[0] == "Outputs with a marker, %, all models together · dataset d"
    assert [line.split()[:2] for line in lines[3:6]] == [
        ["f-1", "120"],
        ["f-1+cot", "120"],
        ["cot", "120"],
    ]


def test_many_comparisons_of_what_is_kept_are_said_in_a_sentence() -> None:
    text = " ".join(printed(blending_of(8, n_kept=10)).split())
    assert "Markers of a prefix" not in text
    first = "Outputs of f-1+cot have markers of FP/F-1 less often than those of f-1"
    assert f"{first} with m0 on d: 25% against 100%, −75.0 points" in text


def test_all_shows_the_tables_of_the_long_form() -> None:
    done = run("blend", EXAMPLES, "--quiet", "--all")
    titles = (
        "Outputs with a marker, %",
        "Occurrences of markers per 1,000 characters",
        "Markers of a prefix, alone and with a solver, %",
        "Markers with prompts of their own method and of others, %",
        "Generic patterns, at least half as frequent in other methods",
    )
    assert [title for title in titles if title not in done.stdout] == []
    assert "--all" not in done.stdout


def test_a_narrow_terminal_still_has_the_prompts() -> None:
    text = printed(blending_of(1), width=40)
    assert [text.count(f"  {prompt} ") for prompt in ("f-1+cot", "cot")] != [0, 0]


ROW: dict[str, Any] = {
    "dataset": "d",
    "model": "m",
    "prompt": "cot",
    "method": "CoT",
    "has_method": True,
    "outputs": 12,
    "share": 0.667,
    "share_low": 0.391,
    "share_high": 0.862,
}


def test_shares_of_five_methods_have_no_room_for_intervals() -> None:
    rows = [ROW | {"method": method} for method in ("CoT", "PoT", "F-1", "LtM", "ToT")]
    (table,) = summarize_markers(rows, 9)
    assert table.columns["ToT"] == ["67*"]
    (table,) = summarize_markers(rows[:4], 9)
    assert table.columns["LtM"] == ["67 [39, 86]*"]


def test_an_unknown_share_is_a_dash_and_further_prompts_are_counted() -> None:
    rows = [ROW | {"prompt": f"p{place}", "share": None} for place in range(8)]
    (table,) = summarize_markers(rows, 6)
    assert table.columns["CoT"] == ["–"] * 6
    assert table.note == "2 more prompts"


def test_what_is_kept_without_an_interval_or_a_partner() -> None:
    row = {
        "dataset": "d",
        "model": "m",
        "method": "F-1",
        "prompt_with": "f-1+cot",
        "share_alone": None,
        "share_with": 0.5,
        "difference": None,
    }
    (table,) = summarize_retention([row, row | {"difference": -0.1}], 9)
    assert table.columns["difference"] == ["–", "-10.0"]
    assert table.columns["alone, %"] == ["–", "–"]
    assert summarize_retention([row] * 7, 9) == summarize_retention([], 9) == []
