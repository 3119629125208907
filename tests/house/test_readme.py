"""The README, docs/ and the changelog: their links, and the version."""

import re
from pathlib import Path

import pytest
import yaml

import ngramscan
from tests.support.places import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_changelog_and_the_citation_have_this_version_and_its_date() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (\S+)(?: - (\S+))?$", changelog, flags=re.MULTILINE)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    released = [each for each in versions if each != ("Unreleased", "")]
    assert released[0] == (ngramscan.__version__, str(cited["date-released"]))
    assert cited["version"] == ngramscan.__version__
    assert all(date for _, date in released)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page, or the ids of an HTML page."""
    text = page.read_text()
    if page.suffix == ".html":
        return set(re.findall(r' id="([^"]+)"', text))
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.M)
    headings = re.findall(r"^#+ (.*)", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def leads_somewhere(page: Path, target: str) -> bool:
    """Tell whether the file and the heading of a link are there."""
    name, _, anchor = target.partition("#")
    path = (page.parent / name).resolve() if name else page
    return path.exists() and (not anchor or anchor in anchors(path))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_and_headings_that_a_page_links_to_are_there(page: Path) -> None:
    targets = re.findall(r"\]\((?!http)([^)\s]+)\)", page.read_text())
    assert [target for target in targets if not leads_somewhere(page, target)] == []


def test_every_page_of_docs_is_reached_from_the_start_page() -> None:
    start = (ROOT / "docs" / "README.md").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert {name for name in pages - {"README.md"} if f"({name}" not in start} == set()
