"""How often a request is repeated that may succeed later, and the pauses between its attempts."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Generic, TypeVar

E = TypeVar("E", bound=Exception)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy(Generic[E]):
    """Which errors may pass, how often to try, and how pauses grow."""

    retryable: type[E]
    """After other errors, a request is not repeated."""
    attempts: int
    """Attempts of one request, the first among them."""
    attempts_to_connect: int | None = None
    """Attempts while the server has never answered: most likely there is none. None: the same."""
    first_pause_s: float
    growth: float
    """Each pause is this many times as long as the one before it."""

    def pause_s(self, number: int) -> float:
        """Return the seconds of a pause, by its number from 1; a pause 0 takes no time."""
        return self.first_pause_s * self.growth ** (number - 1) if number else 0.0


class Retries(Generic[E]):
    """The attempts of one request; as a context, it holds back an error that may pass.

    The caller checks after each attempt that failed whether there is another, and waits.

    >>> retries = Retries(policy)
    >>> while True:
    ...     with retries:
    ...         return send()
    ...     if retries.are_exhausted():
    ...         raise retries.error
    ...     time.sleep(policy.pause_s(retries.failures))
    """

    error: E
    """Why the last attempt failed."""

    def __init__(self, policy: RetryPolicy[E]) -> None:
        self._policy = policy
        self.failures = 0
        """Attempts that failed; those that were forgiven don't count."""

    def forgive(self) -> None:
        """Don't count the last failure."""
        self.failures -= 1

    def are_exhausted(self, is_away: bool = False) -> bool:
        """Whether that was the last attempt; `is_away`: the server has never answered."""
        to_connect = self._policy.attempts_to_connect
        if is_away and to_connect is not None:
            return self.failures >= to_connect
        return self.failures >= self._policy.attempts

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> bool:
        if not isinstance(error, self._policy.retryable):
            return False
        self.error = error
        self.failures += 1
        return True
