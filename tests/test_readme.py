"""What the README and the changelog say is there."""

from __future__ import annotations

import re
from pathlib import Path

import ngramscan

ROOT = Path(__file__).resolve().parent.parent


def test_the_changelog_has_this_version_first() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)", changelog, flags=re.MULTILINE)
    assert versions[0] in {"Unreleased", ngramscan.__version__}


def test_the_files_that_the_readme_links_to_are_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", readme):
        assert (ROOT / target).exists(), target
