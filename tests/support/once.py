"""What several files of tests need and takes seconds: computed once in a process."""

import functools

from evalcore.commands.audit import audit_rows
from ngramscan.corpora.text import python_files

published_claims = functools.cache(audit_rows)
"""The claims of the paper, recomputed from its own tables."""
files_of_python = functools.cache(python_files)
"""The files of the running Python; a test that changes some lists them anew."""
