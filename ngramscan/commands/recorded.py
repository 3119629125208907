"""The options of all functions that read recorded outputs."""

from __future__ import annotations

from typing import TypedDict

from ngramscan.outputs import OutputFields


class RecordedOptions(TypedDict, total=False):
    """How outputs are read, as in the commands."""

    output_field: str
    variant_field: str | None
    skip_bad_lines: bool


def output_fields(options: RecordedOptions) -> OutputFields:
    """Return where a record has what."""
    return OutputFields(
        output=options.get("output_field", "output"),
        variant=options.get("variant_field"),
        skip_bad_lines=options.get("skip_bad_lines", False),
    )
