"""A progress that keeps what it hears."""

from ngramscan.messages import Text
from ngramscan.progress import Progress


class Recorder(Progress):
    """Keeps the sum of amounts, and lines."""

    def __init__(self) -> None:
        self.advanced = 0
        self.notices: list[str] = []
        self.details: list[str] = []

    def advance(self, amount: int, unit: str) -> None:
        self.advanced += amount

    def notice(self, text: Text) -> None:
        self.notices.append(str(text))

    def detail(self, text: str) -> None:
        self.details.append(text)
