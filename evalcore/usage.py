"""How many tokens answers took, what they cost, and what a run is allowed to use."""

from __future__ import annotations

from dataclasses import dataclass

from evalcore.models.base import Reply


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be used, and what it costs."""

    tokens: int | None = None
    """Of prompts and answers; None: any number."""
    price_in: float | None = None
    """Of a million prompt tokens."""
    price_out: float | None = None
    """Of a million tokens of answers, those of their reasoning among them."""


@dataclass(slots=True)
class Usage:
    """What answers have used so far; the same one for all tasks that share an allowance."""

    answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    """Answers of which the server did not say how many tokens they took."""

    def add(self, reply: Reply) -> None:
        """Count an answer."""
        self.answers += 1
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            self.uncounted += 1
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0

    def exhausts(self, allowance: Allowance) -> str | None:
        """Return why nothing more may be asked; None: more may."""
        if allowance.tokens is None:
            return None
        if self.uncounted:
            return "the server does not count tokens, so no token budget can be kept"
        if self.prompt_tokens + self.completion_tokens >= allowance.tokens:
            return f"the token budget of {allowance.tokens:,} is used up"
        return None

    def cost(self, allowance: Allowance) -> float | None:
        """Return what the counted tokens cost; None where a price is not known."""
        if allowance.price_in is None or allowance.price_out is None:
            return None
        spent = self.prompt_tokens * allowance.price_in
        return (spent + self.completion_tokens * allowance.price_out) / 1e6

    def describe(self, allowance: Allowance) -> str:
        """Return tokens and cost in words."""
        words = f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        if (cost := self.cost(allowance)) is not None:
            words += f", cost {cost:,.2f}"
        if self.uncounted:
            words += f"; the server did not count those of {self.uncounted:,} answers"
        return words
