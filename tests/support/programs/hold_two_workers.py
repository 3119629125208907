"""Have two processes each in a long step of compiled code, of which every report is a line."""

from ngramscan.processes.pool import Watch, run_on_processes
from tests.support.telling import tell
from tests.support.worker_tasks import hold_the_interpreter, ignore

SECONDS = 600


def tell_held(_: int) -> None:
    """Say that a worker is at its step."""
    tell("held")


if __name__ == "__main__":
    list(run_on_processes(hold_the_interpreter, [SECONDS, SECONDS], 2, Watch(tell_held, ignore)))
