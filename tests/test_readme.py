"""The README, docs/ and the changelog: their links, sizes, and the page of the paper."""

import re
from pathlib import Path

import pytest

import ngramscan

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAPER = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "README.template.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_changelog_has_this_version_first() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)", changelog, flags=re.MULTILINE)
    assert versions[0] in {"Unreleased", ngramscan.__version__}


def test_the_readme_is_short_and_has_no_generator_in_it() -> None:
    assert len(README.splitlines()) < 200
    assert "[[[" not in README


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
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name}" in start, page.name


def test_every_page_of_docs_begins_with_a_command() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        opening = "\n".join(page.read_text(encoding="utf-8").splitlines()[:12])
        assert re.search(r"show\(|usages\(|```(sh|console)", opening), page.name


def test_the_page_of_the_paper_has_every_table_and_figure() -> None:
    spans = re.findall(r"[Tt]ables (\d+) to (\d+)", PAPER)
    named = {int(number) for number in re.findall(r"Table (\d+)", PAPER)}
    named |= {number for start, end in spans for number in range(int(start), int(end) + 1)}
    assert named >= set(range(1, 34))
    assert {int(n) for n in re.findall(r"Figure (\d)", PAPER)} == set(range(1, 7))
    for path in (ROOT / "evalcore" / "published").glob("*.csv"):
        number = re.match(r"table(\d+)_", path.name)
        assert int(number[1]) in named if number else f"`{path.stem}`" in PAPER, path.name
