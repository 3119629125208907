"""Fixtures of the tests of evalcore."""

import time
from pathlib import Path

import pytest

from ngramscan.remote.pace import Clock
from tests.support.made_benchmarks import write_financemath


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a copy of FinanceMath, where pauses between requests are short."""
    monkeypatch.chdir(tmp_path)
    # How long pauses are is proven by the tests of the pace.
    monkeypatch.setattr(Clock, "wait", lambda _, seconds: time.sleep(seconds / 100))
    write_financemath(tmp_path)
    return tmp_path
