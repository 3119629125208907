"""Where the tests find files: the checkout, what is shared beside it, recordings and indexes."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
SHARED = ROOT.parent / "shared"
RECORDED = TESTS / "recorded"
FM9 = TESTS / "fm9"
TOKENS = TESTS / "tokens"
REPLAY = TESTS / "replay"
