"""A script without a guard that compares two formulas, the second of which takes very long.

It prints the number of each process that it starts. With `next` it waits for the second verdict;
with `close` it does not.
"""

import subprocess
import sys
from typing import Any

from evalcore.formats import Problem
from evalcore.rules import AnswerToGrade
from evalcore.rules.formula_pool import compare_all


def say(text: object) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class ToldProcess(subprocess.Popen[bytes]):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        say(self.pid)


vars(subprocess)["Popen"] = ToldProcess
answer, then = sys.argv[1:]
say("run")
items = [
    AnswerToGrade(Problem("1", "?", "0.5"), "1/2"),
    AnswerToGrade(Problem("2", "?", "7"), answer),
]
verdicts = compare_all(items, seconds=600, workers=1)
say(next(verdicts).reason)
if then == "next":
    next(verdicts)
else:
    verdicts.close()
