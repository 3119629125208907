"""A script without a main guard that does tasks on two processes, and then waits to be killed."""

import time

from ngramscan.processes.pool import Watch, run_on_processes
from tests.support.telling import tell
from tests.support.worker_tasks import ignore, square

tell("started")
stream = run_on_processes(square, list(range(9)), 2, Watch(ignore, ignore))
tell(next(stream).task < 9)
time.sleep(600)
