"""What commands print of six models and three methods, and how a screen is read back."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

import evalcore
import ngramscan
from evalcore.scores import ScoreRow
from ngramscan.index_files.findings import Finding
from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import CountResult, CountRow
from ngramscan.reporting import to_frame
from ngramscan.reporting.command import Result
from ngramscan.reporting.layout import print_rows
from ngramscan.reporting.options import FOR_TABLE, checked, parameters
from ngramscan.reporting.signatures import signature_of
from ngramscan.reporting.tables import print_count
from tests.support.chat_server import chat_server
from tests.support.made_logs import header, sample, write_inspect
from tests.support.outputs import write_lines

MODELS = (
    *("claude-3-5-sonnet-20240620", "deepseek-chat", "gemini-1.5-pro-002"),
    *("gpt-4o-2024-08-06", "Meta-Llama-3-70B-Instruct", "Qwen2.5-72B-Instruct-Turbo"),
)
DATASET = "questions-of-finance"
_TEXTS = {
    "cot": "Let's think step by step. {}First, we need to find x. The answer is {}.",
    "pot": "```python\ndef solution():\n    # {}\n    return {}\n```",
    "f-1": "Key variables: x. The governing equation is $x = \\frac{{1}}{{2}}$. {}So x = {}",
}
_MORE = ("", "we need to find it. ", "step by step, import math. ", "\\frac{1}{2} ")
METHODS = (*_TEXTS,)
Screen = Callable[[Console], None]


def screen_of(function: Any, *arguments: Any, **options: Any) -> Screen:
    """Run the function of a command, and return what prints its rows in a terminal."""
    own = function.__wrapped__
    signature = signature_of(own)
    given = signature.bind(*arguments, **options)
    given.apply_defaults()
    for name, option in parameters(own).items():
        given.arguments[name] = checked(option, given.arguments[name])
    if FOR_TABLE in signature.parameters:
        given.arguments[FOR_TABLE] = True
    found: Result[Any] = own(*given.args, **given.kwargs)
    rows = [*found.rows]
    return found.print_table or partial(print_rows, rows=rows, row_type=found.row_type)


@dataclass
class Made:
    """Outputs, scores, counts and logs of all models in a folder."""

    folder: Path

    @cached_property
    def outputs(self) -> Path:
        drawn = random.Random(1)
        for model, (method, text) in product(MODELS, _TEXTS.items()):
            names = {"dataset": DATASET, "model": model, "method": method}
            chance = 0.4 + 0.1 * METHODS.index(method)
            records = []
            for number in range(12):
                answer = number if drawn.random() < chance else -1
                output = text.format(drawn.choice(_MORE), answer)
                records.append({"id": str(number), **names, "output": output})
            write_lines(self.folder / "outputs" / DATASET / model / f"{method}.jsonl", *records)
        return self.folder / "outputs"

    @cached_property
    def questions(self) -> Path:
        rows = [{"id": str(n), "question": f"What is x_{n}?", "answer": str(n)} for n in range(12)]
        return write_lines(self.folder / "questions.jsonl", *rows)

    @cached_property
    def scores(self) -> Any:
        """Score rows, of which some have no answer."""
        drawn = random.Random(2)
        rows = []
        for model, method, number in product(MODELS, METHODS, range(30)):
            value = float(drawn.random() < 0.3 + 0.2 * METHODS.index(method))
            known = None if drawn.random() < 0.05 else value
            status = "no_answer" if known is None else ""
            names = (DATASET, model, method, str(number), None, "numbers")
            rows.append(ScoreRow(*names, known, "1", status=status))
        return to_frame(rows, ScoreRow)

    @cached_property
    def corpus(self) -> str:
        texts = [text.format("", 1) * (number + 1) for number, text in enumerate(_TEXTS.values())]
        lines = ({"text": text} for text in texts * 40)
        return f"scan:{write_lines(self.folder / 'corpus.jsonl', *lines)}"

    @cached_property
    def counts(self) -> Any:
        return ngramscan.count("f1", index=self.corpus)

    def literals(self) -> Screen:
        no: Any = None
        texts = ("step by step", "let's think about this one problem at a time, slowly")
        rows = [
            CountRow(index, "bytes", no, no, no, text, text, 1234567, None, "api", "2026-11-20")
            for index in ("dclm", "a tiny one")
            for text in texts
        ]
        sizes = {"dclm": IndexSize(2_000_000, 4_000_000_000), "a tiny one": IndexSize(2, 100)}
        found = CountResult([], rows=rows, sizes=sizes)
        return partial(print_count, counting=found, totals=[])

    def usage(self) -> Path:
        frame = self.scores[["dataset", "model", "method", "id", "epoch"]].copy()
        for number, name in enumerate(("prompt_tokens", "completion_tokens", "reasoning_tokens")):
            frame[name] = [50 + (7 * row + number) % 31 for row in range(len(frame))]
        return write_lines(self.folder / "usage.jsonl", *frame.to_dict(orient="records"))

    def labels(self) -> Any:
        drawn = random.Random(3)
        rows = [{model: drawn.choice("ABC") for model in MODELS} for _ in range(20)]
        return pd.DataFrame(rows).reset_index(names="item")

    def logs(self) -> Path:
        for number, (model, method) in enumerate(product(MODELS, METHODS)):
            of: Any = {"model": f"lab/{model}", "eval_id": f"E{number}"}
            of |= {"metadata": {"method": method}}
            samples = [sample(f"s{k}", "CI"[(number + k) % 2]) for k in (1, 2, 3)]
            write_inspect(self.folder / "logs" / f"{number}.json", samples, header(**of))
        return self.folder / "logs"

    def prevalence(self) -> Any:
        return pd.DataFrame({"id": range(30), "count": [n * n for n in range(30)]})

    def findings(self) -> Screen:
        problem = "3 entries point behind the end of the text, which has 1,234,567 bytes"
        rows = [Finding(f"shard-{k}", "sa.bin", f"byte {1000 * k}", problem) for k in range(3)]
        return partial(print_rows, rows=rows, row_type=Finding)

    def scored(self) -> Screen:
        asked = {"dataset": DATASET, "data": self.questions}
        return screen_of(evalcore.score, self.outputs / DATASET, **asked, rule="numbers")

    def judged(self) -> Screen:
        asked = {"dataset": DATASET, "data": self.questions, "judges": "judge-1"}
        with chat_server(lambda _: "\\boxed{Correct}") as server:
            return screen_of(evalcore.judge, self.outputs / DATASET, **asked, base_url=server.url)


e, n = evalcore, ngramscan
COMMANDS: dict[str, Callable[[Made], Screen]] = {
    "count": lambda made: screen_of(n.count, "f1", index=made.corpus, show_all=True),
    "count of literals": Made.literals,
    "docnorm": lambda made: screen_of(n.docnorm, "f1", index=made.corpus, show_all=True),
    "blend": lambda made: screen_of(n.blend, made.outputs),
    "tiers": lambda made: screen_of(n.tiers, made.outputs),
    "keyness": lambda made: screen_of(n.keyness, made.outputs, of="f-1", against="cot"),
    "strategies": lambda made: screen_of(n.strategies, made.outputs),
    "index list": lambda _: screen_of(n.index_list),
    "index info": lambda made: screen_of(n.index_info, made.corpus),
    "index verify": Made.findings,
    "score": Made.scored,
    "compare": lambda made: screen_of(e.compare, made.scores, baseline="cot"),
    "plan": lambda made: screen_of(e.plan, made.scores, baseline="cot", treatment="f-1"),
    "rank": lambda made: screen_of(e.rank, made.scores),
    "outcomes": lambda made: screen_of(
        e.outcomes, made.scores, baselines="cot,pot", adaptive="f-1"
    ),
    "efficiency": lambda made: screen_of(
        e.efficiency, made.scores, usage=made.usage(), baseline="cot"
    ),
    "agreement": lambda made: screen_of(e.agreement, made.labels()),
    "logs": lambda made: screen_of(e.logs, made.logs()),
    "judge": Made.judged,
    "link": lambda made: screen_of(e.link, made.counts, made.scores),
    "link --problems": lambda made: screen_of(
        e.link, made.prevalence(), made.scores, problems=True, without="3", resamples=200
    ),
    "datasets list": lambda _: screen_of(e.datasets_list),
}
"""What prints the rows of each command."""
