"""Verify an index deeply with 60 MB more than the process has: `python -m … SMALL LARGE`.

The small index is verified first, so that all is loaded and compiled that the limit is not about.
"""

import resource
import sys
from pathlib import Path

from ngramscan.cli import main
from ngramscan.index_files.fm9.verify import verify_shard
from ngramscan.progress import SILENT

MORE_BYTES = 60_000_000

if __name__ == "__main__":
    assert verify_shard(Path(sys.argv[1]), True, SILENT) == []
    used_pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = used_pages * resource.getpagesize() + MORE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    main(["index", "verify", "--deep", sys.argv[2]])
