"""What several files of tests need and takes seconds: computed once in a process."""

import functools

from ngramscan.corpora.text import python_files

files_of_python = functools.cache(python_files)
"""The files of the running Python; a test that changes some lists them anew."""
