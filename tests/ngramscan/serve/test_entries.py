"""An entry in several indexes, one of which can't say everything."""

from ngramscan.serve.entries import EntryAnswer, EntryQuestion, judge_entry
from tests.support.counted_documents import CountedDocuments

TEXT = "Mina stacked 31 wooden crates beside the lighthouse until the tide carried most away"


def judged(*indexes: CountedDocuments) -> list[EntryAnswer]:
    named = {str(number): index for number, index in enumerate(indexes)}
    return list(judge_entry(EntryQuestion(TEXT, tuple(named)), named))


def test_what_failed_is_said_and_the_verdict_is_unknown() -> None:
    windows = [" ".join(TEXT.split()[at : at + 4]) for at in range(11)]
    whole, lost = judged(CountedDocuments([TEXT]), CountedDocuments(["other words"], lost=windows))
    assert whole.row
    assert (whole.row.verdict, whole.problems) == ("copied", [])
    assert whole.evidence
    assert whole.evidence.passage == TEXT
    assert lost.row
    assert (lost.row.verdict, lost.evidence) == (None, None)
    assert len(lost.problems) == len({*lost.problems}) >= 1
