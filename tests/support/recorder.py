"""A progress that keeps what it hears."""

from collections import Counter

from ngramscan.progress import Progress


class Recorder(Progress):
    """Keeps amounts, per unit, and lines."""

    def __init__(self) -> None:
        self.expected: list[int] = []
        self.announced, self.done = Counter[str](), Counter[str]()
        self.advanced = 0
        self.units: set[str] = set()
        self.notices: list[str] = []
        self.details: list[str] = []

    def expect(self, amount: int, unit: str) -> None:
        self.units.add(unit)
        self.announced[unit] += amount
        if amount:
            self.expected.append(amount)

    def advance(self, amount: int, unit: str) -> None:
        self.units.add(unit)
        self.done[unit] += amount
        self.advanced += amount

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def detail(self, text: str) -> None:
        self.details.append(text)
