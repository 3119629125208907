"""How many processes scan a corpus."""

from collections.abc import Sequence

import pytest

from ngramscan.corpora import PythonCorpus
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan import pieces
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.indexes.scan.pieces import ScanRun
from ngramscan.progress import SILENT

FEW, MANY = 31_999_999, 10_000_000_000
"""Bytes of a corpus that one process reads, and of one that is worth any number of them."""


@pytest.mark.parametrize(
    ("workers", "scheduler", "expected"),
    [
        pytest.param(None, None, [1, 2, 8, 8], id="as many as are worth it"),
        pytest.param(3, None, [3, 3, 3, 3], id="as many as are asked for"),
        pytest.param(None, "tcp://host:1", [32, 32, 32, 32], id="a cluster"),
        pytest.param(3, "tcp://host:1", [3, 3, 3, 3], id="a cluster, as many as are asked for"),
    ],
)
def test_the_processes_of_a_scan(
    monkeypatch: pytest.MonkeyPatch,
    workers: int | None,
    scheduler: str | None,
    expected: Sequence[int],
) -> None:
    monkeypatch.setattr(pieces, "usable_cores", lambda: 8)
    options = IndexOptions(workers=workers, scheduler=scheduler)
    run: ScanRun = ScanIndex(PythonCorpus(), options, SILENT)._run
    assert [run.count_workers(size) for size in (FEW, FEW + 1, MANY, None)] == expected
