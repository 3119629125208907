"""A program that finds out its limits: memory, descriptors, seconds, core dumps and files."""

import os
import resource

limits = (resource.RLIMIT_AS, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_CORE)
files = 1  # the folder itself
try:
    while files <= 10_000:
        os.mkdir(str(files))
        files += 1
except OSError:
    pass
answer = [*(resource.getrlimit(limit)[1] for limit in limits), files]
