"""What messages say: the nearest name, some of many, foreign reasons; and exit codes."""

import pickle
import re
from datetime import UTC, datetime

import pandas as pd
import pytest

from ngramscan import clock, errors
from ngramscan.errors import (
    CorpusError,
    DiskFullError,
    FileChangedError,
    IncompleteError,
    IndexFormatError,
    InputError,
    NgramscanError,
    RemoteError,
    WorkerLostError,
    nearest,
    needs_extra,
    reason_of,
    some_of,
)


@pytest.mark.parametrize(
    ("value", "known", "expected"),
    [
        pytest.param("verfy", ["f1", "verify"], "verify", id="a near one"),
        pytest.param("VERIFI", ["f1", "Verify"], "Verify", id="in any case"),
        pytest.param("nothing", ["f1", "verify"], "", id="none"),
        pytest.param("a" * 100, ["a" * 99], "a" * 99, id="a long name"),
        pytest.param("a" * 99, ["a" * 100], "a" * 100, id="a known name that is as long"),
        pytest.param("a" * 101, ["a" * 100], "", id="a text"),
        pytest.param("a" * 100, ["a" * 101], "", id="known texts"),
    ],
)
def test_the_nearest_name_is_proposed(value: str, known: list[str], expected: str) -> None:
    assert nearest(value, known) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param([], "", id="none"),
        pytest.param(["a", 2], "a, 2", id="two"),
        pytest.param(["x" * 100], "x" * 100, id="one that is shown whole"),
        pytest.param(["x" * 101], "x" * 100 + "…", id="a long one"),
        pytest.param(["a"] * 40, ", ".join(["a"] * 40), id="40"),
        pytest.param(["a"] * 41, ", ".join(["a"] * 40) + " and 1 more", id="41"),
        pytest.param(["a"] * 5040, ", ".join(["a"] * 40) + " and 5,000 more", id="thousands"),
    ],
)
def test_of_many_names_the_first_are_shown(names: list[object], expected: str) -> None:
    assert some_of(names) == expected


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        pytest.param(OSError(2, "No such file", "x"), "No such file", id="of the system"),
        pytest.param(ValueError("two\n lines"), "two lines", id="on one line"),
        pytest.param(ValueError(), "ValueError", id="without a text"),
    ],
)
def test_a_foreign_reason_is_one_line(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason


def test_a_missing_library_is_named_with_its_extra() -> None:
    said = r"figure: nothing_like_it is not installed; pip install 'ngramscan\[plots\]'"
    with pytest.raises(InputError, match=said), needs_extra("figure", "plots"):
        raise ModuleNotFoundError(name="nothing_like_it")


@pytest.mark.parametrize(
    ("error_type", "code"),
    [
        (NgramscanError, 1),
        (InputError, 2),
        (errors.NoRowsError, 2),
        (FileChangedError, 1),
        (CorpusError, 1),
        (DiskFullError, 1),
        (IndexFormatError, 1),
        (errors.IndexChangedError, 1),
        (RemoteError, 1),
        (errors.RemoteRefused, 1),
        (errors.RemoteUnavailable, 1),
        (WorkerLostError, 1),
        (errors.SandboxError, 1),
        (IncompleteError, 1),
        (errors.EngineError, 1),
    ],
)
def test_only_wrong_input_ends_with_two(error_type: type[NgramscanError], code: int) -> None:
    assert error_type.exit_code == code


def test_an_error_reaches_another_process_whole() -> None:
    error = pickle.loads(pickle.dumps(CorpusError("a.jsonl:3", "no text")))
    assert (type(error), str(error.where)) == (CorpusError, "a.jsonl:3")
    assert str(error.problem) == "no text"
    assert str(error) == "a.jsonl:3: no text"


def test_what_is_incomplete_has_the_rows_that_are_there() -> None:
    rows = pd.DataFrame({"a": [1]})
    error = IncompleteError("1 missing", rows)
    assert (str(error), error.rows is rows) == ("1 missing", True)


def test_times_are_in_utc_to_the_second() -> None:
    shown = clock.now()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", shown)
    assert abs((datetime.now(UTC) - datetime.fromisoformat(shown)).total_seconds()) < 600
