"""Folders of files that come with the packages, which commands read by default."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = ("ngramscan", "evalcore")


def shipped_folders() -> list[Path]:
    """Return the folders of shipped pattern sets: in the wheel, or in the checkout."""
    package = Path(str(resources.files("ngramscan")))
    return [package / "shipped_patterns", package.parent / "patterns"]


def own_folders() -> Iterator[Path]:
    """Yield the folders with files that come with the packages."""
    yield from shipped_folders()
    for package in _PACKAGES:
        specification = find_spec(package)
        if specification:
            yield from map(Path, specification.submodule_search_locations or ())
