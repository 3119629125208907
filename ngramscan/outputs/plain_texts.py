"""Files of text, and texts that were typed themselves, as outputs without prompts."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.outputs.reading import Output, OutputSet, treat_reasoning
from ngramscan.reading.output_paths import PromptGroup
from ngramscan.reading.row_files import name_of
from ngramscan.reading.streams import name_of as name_of_file
from ngramscan.reading.streams import read_bytes


def read_plain_texts(arguments: Sequence[str | Path], without_reasoning: bool) -> OutputSet:
    """Return texts as outputs: the arguments themselves, if they are words, or files.

    Parameters
    ----------
    arguments : sequence of str or Path
        Texts, each named by its number, or paths of files, each named by its file; not both.
    without_reasoning : bool
        Leave out the reasoning that models mark.

    Returns
    -------
    OutputSet
        An output for each argument.

    Raises
    ------
    InputError
        Texts and files are mixed, a file is not UTF-8, or no file has text.
    """
    typed_texts = [str(argument) for argument in arguments if is_typed_text(argument)]
    if typed_texts and len(typed_texts) < len(arguments):
        problem = "no such file or folder; a text to trace is given without files"
        raise InputError(typed_texts[0], problem)
    if typed_texts:
        return _typed_outputs(typed_texts, without_reasoning)
    return _read_files(arguments, without_reasoning)


def is_typed_text(argument: str | Path) -> bool:
    """Tell whether an argument is itself a text to trace: words, which no file is called."""
    if not isinstance(argument, str) or len(argument.split()) < 2:
        return False
    looks_like_path = argument.endswith("/") or re.search(r"\.[A-Za-z]\w*$", argument)
    return not looks_like_path and not os.path.exists(argument)


def _typed_outputs(texts: Sequence[str], without_reasoning: bool) -> OutputSet:
    """Return texts as outputs, each named by its number."""
    outputs = [
        Output(PromptGroup("", "", ""), id=f"text {number}", text=text, place=f"text {number}")
        for number, text in enumerate(texts, 1)
    ]
    return OutputSet(*treat_reasoning(outputs, without_reasoning), "")


def _read_files(paths: Sequence[str | Path], without_reasoning: bool) -> OutputSet:
    """Return files of text as outputs, each named by its file."""
    outputs = []
    for path in paths:
        name, content = name_of_file(Path(path)), read_bytes(Path(path))
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise InputError(name, f"not UTF-8 at byte {error.start} of the file") from error
        outputs.append(Output(PromptGroup("", "", ""), id=name, text=text, place=name))
    if not any(each.has_text for each in outputs):
        where = ", ".join(map(name_of, paths)) or OptionUse("outputs")
        raise InputError(where, "no file contains text")
    return OutputSet(*treat_reasoning(outputs, without_reasoning), "")
