"""The options of all functions that ask a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypedDict

from evalcore.models.chat import ChatModel
from evalcore.models.settings import Endpoint, read_key, request_parameters
from ngramscan.errors import InputError
from ngramscan.progress import Progress

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
DEFAULT_CONCURRENCY = 16
DEFAULT_TIMEOUT_S = 600.0


class ModelOptions(TypedDict, total=False):
    """The options of every function that asks a model, as in the commands."""

    base_url: str | None
    api_key_env: str
    concurrency: int
    rate: float | None
    timeout_s: float
    temperature: float | None
    max_tokens: int | None
    params: Sequence[str]


@contextmanager
def open_model(name: str, options: ModelOptions, progress: Progress) -> Iterator[ChatModel]:
    """Open a model behind the endpoint of the options, and close it."""
    base_url = options.get("base_url")
    if not base_url:
        raise InputError("--base-url", "missing; the address of an endpoint was expected")
    parameters = request_parameters(
        options.get("temperature", 0.0), options.get("max_tokens"), options.get("params", ())
    )
    endpoint = Endpoint(
        base_url,
        name,
        parameters,
        options.get("rate"),
        options.get("timeout_s", DEFAULT_TIMEOUT_S),
    )
    key = read_key(options.get("api_key_env", DEFAULT_KEY_VARIABLE))
    with ChatModel(endpoint, key, progress) as model:
        yield model
