"""The options that several commands share."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from ngramscan.options import FASTEST, LONGEST_S, OPTIONS, READING, SERVICE, Option
from ngramscan.statistics.pass_rates import PassRate

# Types of options that several commands have.
Name = Annotated[str | None, Option(metavar="NAME")]
OptionNames = Annotated[str | Sequence[str], Option(metavar="NAME")]
Methods = Annotated[str | Sequence[str], Option(metavar="METHOD")]
ColumnName = Annotated[str | None, Option(metavar="COLUMN")]
ColumnNames = Annotated[str | Sequence[str], Option(metavar="COLUMNS")]
OptionalFile = Annotated[str | Path | None, Option(metavar="FILE")]
FileOrFolder = Annotated[str | Path | None, Option(metavar="PATH")]
Limit = Annotated[int | None, Option(least=1)]
LeastDifference = Annotated[float, Option(over=0, most=1)]
DrawCount = Annotated[int, Option(metavar="N", least=100)]
Seed = Annotated[int, Option(least=0)]
_FieldName = Annotated[str, Option(metavar="COLUMN", heading=READING, is_rare=True)]


@dataclass(frozen=True, kw_only=True)
class BenchmarkOptions:
    """Which benchmark the problems are from, and how they are read.

    Parameters
    ----------
    dataset : str, optional
        The benchmark (see `evalcore datasets list`), or a name for your own questions.
    data : str or Path, optional
        A local copy of the benchmark, by default the fetched one; or a file of your own questions
        (.jsonl, .csv, .json or .parquet).
    id_field, question_field, answer_field : str
        Name of this column in your own questions.
    """

    heading: ClassVar[str] = OPTIONS

    dataset: Name = None
    data: FileOrFolder = None
    id_field: _FieldName = "id"
    question_field: _FieldName = "question"
    answer_field: _FieldName = "answer"


@dataclass(frozen=True, kw_only=True)
class RecordOptions(BenchmarkOptions):
    """How recorded outputs are read.

    Parameters
    ----------
    layout : str
        Layout of the files of outputs; `auto` recognises it.
    method : str, optional
        Score only outputs of this method; in layouts other than `evalcore`, the method of all.
    cluster : str, optional
        Column of the questions that names what several have in common, such as their passage:
        questions of one cluster are not independent.
    """

    layout: Literal["auto", "evalcore", "financemath", "bbh"] = "auto"
    method: Name = None
    cluster: ColumnName = None


@dataclass(frozen=True, kw_only=True)
class PassOptions:
    """Which chances of several answers to a problem (epochs) are estimated.

    Parameters
    ----------
    pass_at : int, optional
        pass@k: the chance that any of this many answers to a problem is right.
    pass_hat : int, optional
        pass^k: the chance that all of this many answers to a problem are right.
    """

    heading: ClassVar[str] = OPTIONS

    pass_at: Annotated[int | None, Option(metavar="K", least=1)] = None
    pass_hat: Annotated[int | None, Option(metavar="K", least=1)] = None

    @property
    def rates(self) -> list[PassRate]:
        """Return what is estimated."""
        rates = list[PassRate]()
        if self.pass_at is not None:
            rates.append(PassRate(self.pass_at))
        if self.pass_hat is not None:
            rates.append(PassRate(self.pass_hat, all_right=True))
        return rates


@dataclass(frozen=True, kw_only=True)
class ScoringOptions(RecordOptions, PassOptions):
    """The shared options of `score`."""


@dataclass(frozen=True, kw_only=True)
class EndpointOptions:
    """How requests to an endpoint are sent.

    Parameters
    ----------
    base_url : str, optional
        Address of an OpenAI-compatible endpoint (chat completions).
    api_key_env : str
        Environment variable that holds the key.
    concurrency : int
        Maximum number of simultaneous requests.
    rate : float, optional
        Maximum number of requests per second. By default no limit.
    timeout_s : float
        Retry if a whole answer takes longer than this.
    temperature : float, optional
        Sampling temperature; 0 picks the likeliest words. None, and `params` with
        `temperature=null`, leave it out of the requests.
    max_tokens : int, optional
        Maximum tokens of a reply, reasoning included.
    params : str or sequence of str
        Another field of each request; the value is JSON or text.
    """

    heading: ClassVar[str] = SERVICE

    base_url: Annotated[str | None, Option(metavar="URL", envvar="OPENAI_BASE_URL")] = None
    api_key_env: Annotated[str, Option(metavar="VARIABLE")] = "OPENAI_API_KEY"
    concurrency: Annotated[int, Option(least=1)] = 16
    rate: Annotated[float | None, Option(metavar="N", over=0, most=FASTEST)] = None
    timeout_s: Annotated[
        float, Option(flags="--timeout", metavar="SECONDS", over=0, most=LONGEST_S)
    ] = 600.0
    temperature: Annotated[float | None, Option(metavar="T", least=0, most=100)] = 0.0
    max_tokens: Limit = None
    params: Annotated[str | Sequence[str], Option(flags="--param", metavar="KEY=VALUE")] = ()


@dataclass(frozen=True, kw_only=True)
class RunOptions(BenchmarkOptions, EndpointOptions):
    """The shared options of `run`."""


@dataclass(frozen=True, kw_only=True)
class JudgeOptions(RecordOptions, EndpointOptions):
    """The shared options of `judge`."""
