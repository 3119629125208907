"""SECURITY.md: every promise names tests that there are."""

import ast
import re

from tests.support.places import ROOT

PROMISES = re.split("^## ", (ROOT / "SECURITY.md").read_text(), flags=re.MULTILINE)[1]


def test_every_promise_names_a_test() -> None:
    head, *sections = re.split("^### .*$", PROMISES, flags=re.MULTILINE)
    assert head.startswith("Promises\n")
    paragraphs = [text for section in sections for text in re.split(r"\n\n|\n(?=\* )", section)]
    # One that ends with a comma or a verb is what the list below it begins with.
    promises = [one for one in paragraphs if one.strip().endswith((".", ";"))]
    assert len(promises) > 20
    assert [one for one in promises if "::" not in one] == []


def test_the_named_tests_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PROMISES)
    assert len(named) == PROMISES.count("::")
    files = {name: ast.parse((ROOT / name).read_text()) for name, _ in named}
    found = {
        (name, each.name)
        for name, tree in files.items()
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
    }
    assert sorted(set(named) - found) == []
