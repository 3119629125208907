"""The README, docs/ and the changelog: their links, sizes, and the page of the paper."""

import re
from pathlib import Path

import pytest

import ngramscan

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAPER = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_changelog_has_this_version_first() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)", changelog, flags=re.MULTILINE)
    assert versions[0] in {"Unreleased", ngramscan.__version__}


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 200


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page, or the ids of an HTML page."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".html":
        return set(re.findall(r' id="([^"]+)"', text))
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.M)
    headings = re.findall(r"^#+ (.*)", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_and_headings_that_a_page_links_to_are_there(page: Path) -> None:
    for target in re.findall(r"\]\((?!http)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target


def test_every_page_of_docs_is_reached_from_the_start_page() -> None:
    start = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = str(page.relative_to(ROOT / "docs"))
        assert name == "README.md" or f"({name}" in start, name


def test_every_page_of_docs_begins_with_a_command() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        opening = "\n".join(page.read_text(encoding="utf-8").splitlines()[:12])
        assert re.search(r"show\(|usages\(|```(sh|console)", opening), page.name


def test_the_page_of_the_paper_has_every_table_and_figure() -> None:
    spans = re.findall(r"[Tt]ables (\d+) to (\d+)", PAPER)
    heads = [
        found[0]
        for found in re.finditer(r"^\*\*[^*:]*[Tt]able[^*:]*|^\*\*Figure[^*:]*", PAPER, re.M)
    ]
    tables = [re.sub(r"Figures? [\d, and]+", "", head) for head in heads]
    named = {int(number) for head in tables for number in re.findall(r"\d+", head)}
    named |= {number for start, end in spans for number in range(int(start), int(end) + 1)}
    assert named >= set(range(1, 34))
    figures = {
        int(n)
        for found in re.findall(r"Figures? ([\d and]+)", PAPER)
        for n in re.findall(r"\d", found)
    }
    assert figures == set(range(1, 7))
    for path in (ROOT / "evalcore" / "published").glob("*.csv"):
        number = re.match(r"table(\d+)_", path.name)
        assert int(number[1]) in named if number else f"`{path.stem}`" in PAPER, path.name
