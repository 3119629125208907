"""A program as models write them: files, a data base, locks, clocks, NumPy and descriptors."""

import os
import sqlite3
import sys
import tempfile
import threading
import time
from multiprocessing.dummy import Pool

import numpy as np

with tempfile.TemporaryFile("w+") as file:
    file.write("5")
    file.seek(0)
    read = int(file.read())
with sqlite3.connect(":memory:") as base:
    (counted,) = base.execute("SELECT 1 + 1").fetchone()
lock, condition = threading.Lock(), threading.Condition()
with lock, condition, open("own.txt", "w") as own:
    own.write("x")
started, taken = time.time(), time.process_time()
time.sleep(0.001)
solved = np.linalg.solve(np.eye(200) * 2, np.ones(200)).sum()
mapped = np.memmap("array", dtype=float, mode="w+", shape=(100,))
copied = os.dup(1)
os.set_inheritable(copied, True)
os.set_blocking(copied, True)
answer = [
    read,
    counted,
    round(solved),
    bool(time.perf_counter()),
    sys.stdout.isatty(),
    (os.cpu_count() or 0) > 0,
    len(os.sched_getaffinity(0)) > 0,
    os.getpgid(0) >= 0,
    callable(Pool),
]
