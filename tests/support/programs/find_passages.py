"""Find passages of a corpus: SPEC JOURNAL WORKERS, with the sought texts as JSON in a file."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import msgspec

from ngramscan.indexes.base import FindsPassages, SoughtTexts
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.progress import SILENT

spec, journal, workers, file = sys.argv[1:]
sought = msgspec.json.decode(Path(file).read_bytes(), type=SoughtTexts)
options = IndexOptions(journal=journal, workers=int(workers))
with open_indexes([spec], options, SILENT) as (index,):
    assert isinstance(index, FindsPassages)
    located = index.passages(sought)
content = {"occurrences": located.occurrences, "passages": [*map(asdict, located.passages)]}
sys.stdout.write(json.dumps(content))
