"""Rules that find programs: those whose programs are always functions."""

from evalcore.extraction import FUNCTION_RULES, PROGRAM_RULES


def test_rules_of_functions_are_rules_of_programs() -> None:
    assert {*PROGRAM_RULES} == {"financemath-authors/2", "fenced/1"}
    assert {"financemath-authors/2"} == FUNCTION_RULES
