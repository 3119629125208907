"""Pages of a mapped file that are gone end no process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="guarded on Linux only")
def test_a_server_outlives_a_file_that_is_cut_while_it_is_read(tmp_path: Path) -> None:
    """Even if its state is as before, what is read is no answer; others' files aren't guarded."""
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_bytes(bytes([1]) * 40_000)
        os.utime(path, (0, 0))
    command = [sys.executable, "-m", "tests.support.programs.cut_mapped_file"]
    command += [str(path) for path in paths]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.stdout.splitlines() == ["0", "as it was", "was changed or removed w", "40000"]
    assert ran.returncode == -signal.SIGBUS
