"""Runs of three methods on a made copy of FinanceMath, by a model that solves every other one."""

from pathlib import Path

from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.prompts import load_templates
from tests.support.chat_server import Answer, ChatServer, hash_of

METHODS = ("cot", "pot", "f-1")
FINANCE = ("--dataset", "financemath", "--data", "validation.json")


def text_of(method: str, number: int) -> str:
    """Return a right answer to even problems, a wrong one to odd ones."""
    value = number / 8 + number % 2
    if method == "pot":
        return f"```python\ndef solution():\n    return {value}\n```"
    last = "Final Answer (3 decimal) : " if method == "f-1" else "Therefore, the answer is "
    return f"We divide.\n{last}{value:.3f}"


def answering(data: Path) -> Answer:
    """Return a model that answers the exact messages of a method, and nothing else."""
    benchmark = find_benchmark("financemath")
    dataset, prompts = load_dataset(benchmark, data), load_templates(benchmark)
    known = {
        hash_of(prompts.render(method, problem)): text_of(method, number)
        for number, problem in enumerate(dataset.problems)
        for method in METHODS
    }

    return lambda messages: known.get(hash_of(messages))


def run_command(server: ChatServer, *more: str) -> list[str]:
    """Return the command that puts the problems to a server's model, into the folder `outputs`."""
    model = ("--model", "lab/made", "--method", ",".join(METHODS))
    return ["run", *FINANCE, *model, "--base-url", server.url, "-o", "outputs", *more]
