"""Formats that can be written without some records: each format can, or has a way out."""

import pytest

from ngramscan.corpora.base import CorpusFile, CorpusFormat
from ngramscan.corpora.formats import FORMATS
from ngramscan.corpora.rewriting.formats import CURES, REWRITERS, rewriter_of
from ngramscan.errors import InputError


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_each_format_is_written_or_has_a_way_out(form: CorpusFormat) -> None:
    file = CorpusFile("c", form.name)
    if form.name in REWRITERS:
        assert form.name not in CURES
        assert rewriter_of(file) is REWRITERS[form.name]
        return
    with pytest.raises(InputError) as caught:
        rewriter_of(file)
    problem = f"c: {form.title} can't be written without some documents; {CURES[form.name]}"
    assert str(caught.value) == f"{problem}, or --exclude-source leaves it out"
