"""Texts of this machine: documents of the corpus, and prose that is kept out of it for entries."""

from __future__ import annotations

import ast
import pydoc_data.topics
import random
import re
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STDLIB = Path(sysconfig.get_paths()["stdlib"])
LICENCES = (Path("/usr/share/common-licenses"), STDLIB)
RESERVED_PACKAGES = (
    "asyncio",
    "collections",
    "concurrent",
    "ctypes",
    "curses",
    "dbm",
    "email",
    "encodings",
    "html",
    "http",
    "idlelib",
    "importlib",
    "json",
    "lib2to3",
    "logging",
    "multiprocessing",
    "sqlite3",
    "tkinter",
    "unittest",
    "urllib",
    "wsgiref",
    "xml",
    "xmlrpc",
    "zoneinfo",
)
"""Packages whose docstrings are for entries; none of their sources is in the corpus."""
LONGEST_DOCUMENT = 40_000
RUN = 8
"""Reserved prose has no such number of words in a row that is in the background."""
LEAST_WORDS, MOST_WORDS = 30, 160


@dataclass(frozen=True, slots=True)
class Background:
    """Documents, and prose that none of them has."""

    documents: list[str]
    passages: list[str]
    """Paragraphs of docstrings."""
    summaries: list[str]
    """First lines of docstrings, of five to fourteen words."""


def read_background(draw: random.Random, size: int) -> Background:
    """Return documents of about `size` bytes in all, at random, and prose that is in none."""
    documents = take(list(documentation()), size // 3)
    paths = sorted(STDLIB.glob("*.py"))
    draw.shuffle(paths)
    sources = (path.read_text("utf-8", errors="ignore")[:LONGEST_DOCUMENT] for path in paths)
    documents += take(sources, size - sum(map(len, documents)))
    runs = {run for text in documents for run in runs_of(text)}
    passages, summaries = [], []
    for docstring in reserved_docstrings():
        first, *_ = docstring.strip().split("\n\n")
        if is_prose(first, 5, 14) and "\n" not in first and runs.isdisjoint(runs_of(first)):
            summaries.append(first.strip())
        for paragraph in docstring.split("\n\n"):
            if is_prose(paragraph, LEAST_WORDS, MOST_WORDS) and runs.isdisjoint(runs_of(paragraph)):
                runs.update(runs_of(paragraph))
                passages.append(" ".join(paragraph.split()))
    return Background(documents, passages, list(dict.fromkeys(summaries)))


def take(texts: Iterable[str], size: int) -> list[str]:
    """Return the first texts that have some number of characters together."""
    taken, written = [], 0
    for text in texts:
        if written >= size:
            break
        taken.append(text)
        written += len(text)
    return taken


def documentation() -> Iterator[str]:
    """Yield Python's documentation of topics, and licences."""
    yield from (text for _, text in sorted(pydoc_data.topics.topics.items()))
    for folder in LICENCES:
        # The library has one licence among its modules; the other folders have nothing else.
        pattern = "LICENSE*" if folder == STDLIB else "*"
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and not path.is_symlink():
                yield path.read_text("utf-8", errors="ignore")[:LONGEST_DOCUMENT]


@cache
def reserved_docstrings() -> tuple[str, ...]:
    """Return the docstrings of the packages that are kept out of the corpus."""
    docstrings: list[str] = []
    for package in RESERVED_PACKAGES:
        for path in sorted((STDLIB / package).rglob("*.py")):
            if "test" in path.name or "test" in path.parent.name or "idle_test" in path.parts:
                continue
            docstrings += docstrings_of(path.read_text("utf-8", errors="ignore"))
    return tuple(docstrings)


def docstrings_of(source: str) -> Iterator[str]:
    """Yield the docstrings of a module, its classes and functions; nothing if it can't be read."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # data of lib2to3 in the syntax of Python 2
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield docstring


def runs_of(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the runs of words that may not be in both."""
    words = re.findall(r"\w+", text.lower())
    yield from (tuple(words[first : first + RUN]) for first in range(len(words) - RUN + 1))


def is_prose(text: str, least: int, most: int) -> bool:
    """Tell whether a text has some number of words, hardly any code and no list."""
    words = text.split()
    letters = sum(character.isalpha() or character.isspace() for character in text)
    is_plain = not re.search(r">>>|::|^\s*[-*]|\s{3,}\S|__|==|\\", text, re.MULTILINE)
    return least <= len(words) <= most and letters > 0.9 * len(text) and is_plain
