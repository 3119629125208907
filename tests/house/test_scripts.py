"""A copy is found in every script by whatever finds a plain English one."""

import pytest

from docs.script_tables import NOTICE, QUESTIONS, Form, found_copies

NORMALIZING = ("gpt4-stripped", "gpt3", "palm")
VERBATIM = ("mini", "gpt4", "trace")
ENGLISH = {
    "mini": ["whole", "embedded"],
    "gpt4": ["whole", "embedded"],
    "gpt4-stripped": ["whole", "embedded", "wrapped"],
    "gpt3": ["whole", "embedded", "wrapped"],
    "palm": ["whole", "embedded", "wrapped"],
    "trace": ["whole", "embedded", "wrapped"],
}


@pytest.mark.parametrize("language", QUESTIONS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_copies_in_the_same_form_are_found_as_in_english(language: str, form: Form) -> None:
    assert found_copies(language, form, form) == ENGLISH


@pytest.mark.parametrize("language", ["Japanese", "Korean", "Arabic", "Greek"])
@pytest.mark.parametrize(
    ("given", "copied"),
    [pytest.param("NFC", "NFD", id="copied in NFD"), pytest.param("NFD", "NFC", id="given in NFD")],
)
def test_copies_in_another_form_are_found_or_named_in_a_notice(
    language: str, given: Form, copied: Form
) -> None:
    found = found_copies(language, given, copied)
    assert {rule: found[rule] for rule in NORMALIZING} == {
        rule: ENGLISH[rule] for rule in NORMALIZING
    }
    assert {rule: found[rule] for rule in VERBATIM} == {
        rule: [f"{name} ({NOTICE})" for name in ENGLISH[rule]] for rule in VERBATIM
    }
