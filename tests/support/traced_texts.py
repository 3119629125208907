"""Two documents, and texts of models that copy parts of the first."""

import random
from collections.abc import Sequence
from typing import Any, cast

from ngramscan.prevalence.trace import GivenText

COPIED = "the quick brown fox jumps over the lazy dog and then sleeps until the next morning comes"
DOUBLED = f"{COPIED} {COPIED}"
OTHER = "a second document tells of rivers and mountains that no one has ever seen before at all"


def given(text: str, *, asked: Sequence[str] = (), **names: str) -> GivenText:
    """Return a text of a model, with the names of its output."""
    all_names = {"dataset": "d", "model": "m", "prompt": "cot", "id": "1", "problem": "1"} | names
    return GivenText(text=text, asked=(*asked,), **cast(Any, all_names))


def planted(rng: random.Random, problems: int, share: float, more: float) -> list[GivenText]:
    """Return texts of two prompts and two models; `more` is how much more of one is copied."""
    words, texts = COPIED.split() * 9, []
    for problem in range(problems):
        ease = rng.uniform(-share, share)  # alike for all outputs for a problem
        for model, prompt in [(m, p) for m in "ab" for p in ("cot", "pot")]:
            parts = []
            for _ in range(12):
                start = rng.randrange(100)
                is_copied = rng.random() < share + ease + (more if prompt == "pot" else 0)
                parts += words[start : start + 6] if is_copied else [f"w{rng.random()}"] * 6
            names = {"problem": str(problem), "id": str(problem)}
            texts.append(given(" ".join(parts), model=model, prompt=prompt, **names))
    return texts
