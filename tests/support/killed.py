"""Runs of `ngramscan trace` against a service that are killed and run again."""

import json
import signal
import subprocess
import time
from collections.abc import Sequence

from tests.support.command import NGRAMSCAN, invoke
from tests.support.service import ApiServer
from tests.support.started import started


def repeated_after_kills(server: ApiServer, spec: str, at: Sequence[int]) -> int:
    """Trace the outputs of `o.jsonl`, and return how many questions were asked more than once.

    The run is killed after so many questions of its own, each time, and then left to its end.
    """
    trace = ("trace", "o.jsonl", "--index", spec, "--journal", "replies.sqlite")
    nowhere = subprocess.DEVNULL
    for questions in at:
        before = len(server.read_log())
        with started([*NGRAMSCAN, *trace], stdout=nowhere, stderr=nowhere) as process:
            while len(server.read_log()) < before + questions and process.poll() is None:
                time.sleep(0.005)
        assert process.returncode == -signal.SIGKILL, "it ended before it was killed"
    assert invoke(*trace).code == 0
    log = [json.dumps({**one, "arrived_at": 0}, sort_keys=True) for one in server.read_log()]
    return len(log) - len({*log})
