"""The options of commands that read corpora, and open indexes; nothing slow is imported."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from ngramscan.errors import InputError
from ngramscan.indexes.catalog import INFINI_GRAM_MINI
from ngramscan.messages import OptionUse, Text
from ngramscan.options import (
    CORPUS_NAME,
    FASTEST,
    LONGEST_S,
    READING,
    SERVICE,
    WHAT,
    WHERE,
    Option,
    ValuesByCorpus,
)
from ngramscan.reading.formats import InputFormat

if TYPE_CHECKING:
    from ngramscan.corpora import ReadOptions
    from ngramscan.matching import MatchRule, Normalization

MAX_LINE = 256
"""The default of --max-line, in MB."""
TIMEOUT_S = 45.0
"""The default of --timeout."""
MATCH_OPTIONS = ("regex", "whole_words", "any_space", "ignore_case")
"""Options that decide what counts as an occurrence; `IndexOptions.match_rule` has their values."""
HOSTED_MATCH_OPTIONS = ("whole_words", "any_space", "ignore_case")
"""Those that `count` follows in hosted indexes too."""
_LARGEST_SIZE = 2**63
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}

SpecValues = str | Sequence[str] | Mapping[str, str]
"""Where corpora and indexes are; each may be `NAME=SPEC`, or a mapping has names and specs."""

Directory = Annotated[str | Path | None, Option(metavar="DIR", is_rare=True)]
RareFile = Annotated[str | Path | None, Option(metavar="FILE", is_rare=True)]
RareFlag = Annotated[bool, Option(is_rare=True)]


@dataclass(frozen=True, kw_only=True)
class LineOptions:
    """How lines of JSON are read.

    Parameters
    ----------
    skip_bad_lines : bool
        Skip JSON lines that can't be read, and count them, instead of stopping.
    """

    heading: ClassVar[str] = READING

    skip_bad_lines: RareFlag = False


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(LineOptions):
    """How the files of a corpus are found and read.

    Parameters
    ----------
    text_field : str
        Field or column that holds the text. It may be inside others: messages.content, or
        messages[role=assistant].content. With text,content, it is the first that a record has.
        Corpora with names can have different values, here and in --input-format, --exclude-source,
        --sample-files, --limit-documents and --tokenizer: web=content,code=text.
    input_format : str, optional
        Format of corpus files. By default their names say it; for scan:- the first bytes do.
    exclude_source : str or sequence of str
        Leave out documents whose path, URL or id matches this glob.
    skip_null : bool
        Skip records whose text is null, or that lack the role in --text-field, and count them.
    skip_unknown : bool
        Leave out files whose names say no format, instead of stopping.
    max_line : int
        Maximum length of a line of JSON, in MB; a longer one is an error.
    scheduler : str, optional
        Read on a running Dask cluster at this address: tcp://HOST:PORT.
    requester_pays : bool
        Pay for what is read from s3:// where the bucket's owner wants that: S3 charges the account
        of your credentials about $0.40 per million requests, and $0.09 per GB to the internet.
    """

    text_field: Annotated[str, Option(metavar="NAME", is_rare=True, is_by_corpus=True)] = "text"
    input_format: Annotated[InputFormat | None, Option(is_rare=True, is_by_corpus=True)] = None
    exclude_source: Annotated[
        str | Sequence[str],
        Option(metavar="GLOB", heading=WHERE, is_verbatim=True, is_rare=True),
    ] = ()
    skip_null: RareFlag = False
    skip_unknown: RareFlag = False
    max_line: Annotated[int, Option(metavar="MB", least=1, is_rare=True)] = MAX_LINE
    scheduler: Annotated[str | None, Option(metavar="ADDRESS", is_rare=True)] = None
    requester_pays: Annotated[bool, Option(heading=SERVICE, is_rare=True)] = False
    by_corpus: Mapping[str, ValuesByCorpus] = field(
        default_factory=dict, hash=False, metadata={"is_option": False}
    )
    """Values of single corpora, by option; the fields have those of all others."""

    def __post_init__(self) -> None:
        """Separate the values of single corpora from those of all."""
        by_corpus = dict(self.by_corpus)
        for option in fields(self):
            if isinstance(values := getattr(self, option.name), ValuesByCorpus):
                by_corpus[option.name] = values
                object.__setattr__(self, option.name, values.get("", option.default))
        object.__setattr__(self, "by_corpus", by_corpus)

    def for_corpus(self, name: str, names: Sequence[str]) -> Self:
        """Return the options of one corpus; an InputError says that no corpus has a name.

        Parameters
        ----------
        name : str
            What the user calls the corpus; empty if it has no name.
        names : sequence of str
            The names of all corpora that have one.
        """
        values_by_option = self.named_values(names)
        for option, values in values_by_option.items():
            if unknown := next((each for each in values if each and each not in names), ""):
                problem: Text = f"no corpus is named {unknown}; "
                if names:
                    problem = problem + f"expected one of {', '.join(names)}"
                else:
                    cure = OptionUse("index", placeholder=f"{unknown}=SPEC")
                    problem = problem + "to name one: " + cure
                raise InputError(OptionUse(option, f"{unknown}={values[unknown]}"), problem)
        chosen = {
            option: values[name] for option, values in values_by_option.items() if name in values
        }
        for_all = [glob for glob in self.exclude_source if not _owner(glob, names)]
        chosen["exclude_source"] = (*for_all, *chosen.get("exclude_source", ()))
        return replace(self, by_corpus={}, **chosen)

    def named_values(self, names: Sequence[str]) -> dict[str, ValuesByCorpus]:
        """Return the values of single corpora by option; `names` are those of corpora."""
        values_by_option = dict(self.by_corpus)
        globs: dict[str, tuple[str, ...]] = {}
        for glob in self.exclude_source:
            if owner := _owner(glob, names):
                globs[owner] = (*globs.get(owner, ()), glob.removeprefix(f"{owner}="))
        if globs:
            values_by_option["exclude_source"] = ValuesByCorpus(globs)
        return values_by_option

    @property
    def reader_pays(self) -> bool:
        """Tell whether the user pays for reading from S3: by the option, or as fsspec is set."""
        from ngramscan.remote.requester_pays import is_configured  # slow to import

        return self.requester_pays or is_configured()

    @property
    def read(self) -> ReadOptions:
        """Return how documents are read."""
        from ngramscan.corpora import ReadOptions  # slow to import

        if "" in self.exclude_source:
            raise InputError(
                OptionUse("exclude_source"), "it is empty; give a value, or leave it out"
            )
        return ReadOptions(
            text_field=self.text_field,
            skip_bad_lines=self.skip_bad_lines,
            skip_null=self.skip_null,
            exclude_sources=tuple(self.exclude_source),
            most_line_bytes=self.max_line * 1_000_000,
        )


@dataclass(frozen=True, kw_only=True)
class SamplingOptions(ReadingOptions):
    """How much of a corpus is read, and by how many processes.

    Parameters
    ----------
    workers : int, optional
        Number of processes that read a corpus. By default one per core.
    sample_files : str or int, optional
        Estimate all counts from a random sample of this many files (50) or this share (10%).
    limit_documents : int, optional
        Read only this many documents, from the start of a corpus.
    skip_bad_files : bool
        Leave out files that can't be read to their end, and count them, instead of stopping. Lines
        and texts that can't be read are not left out; see --skip-bad-lines and --skip-null.
    whole_words : bool
        Count whole words only: no letter, mark, digit or underscore may continue an occurrence.
    any_space : bool
        White space in a text matches any white space: several spaces, or the end of a line.
    ignore_case : bool
        Ignore the case of ASCII letters.
    regex : bool
        Texts and patterns are regular expressions in RE2's syntax. Matches don't overlap.
    seed : int
        Random seed.
    """

    workers: Annotated[int | None, Option(least=1)] = None
    sample_files: Annotated[
        str | int | None, Option(metavar="N|P%", heading=WHERE, is_by_corpus=True)
    ] = None
    limit_documents: Annotated[
        int | None, Option(least=1, heading=WHERE, is_rare=True, is_by_corpus=True)
    ] = None
    skip_bad_files: Annotated[bool, Option(heading=READING, is_rare=True)] = False
    whole_words: Annotated[bool, Option("-w --whole-words", heading=WHAT)] = False
    any_space: Annotated[bool, Option(heading=WHAT)] = False
    ignore_case: Annotated[bool, Option("-i --ignore-case", heading=WHAT)] = False
    regex: Annotated[bool, Option(heading=WHAT)] = False
    seed: Annotated[int, Option(least=0, is_rare=True)] = 1


@dataclass(frozen=True, kw_only=True)
class IndexOptions(SamplingOptions):
    """How indexes are opened and asked: services, index files and corpora.

    Parameters
    ----------
    api_url : str
        Address of the service that has the hosted indexes.
    concurrency : int, optional
        Maximum number of simultaneous requests. By default 4; 256 for index files in place.
    rate : float, optional
        Maximum requests per second; 0 for no limit. By default 4; no limit for loopback addresses.
    timeout_s : float
        Maximum seconds per request, from connecting to the last byte of the reply.
    journal : str or Path, optional
        File that keeps replies. By default ~/.cache/ngramscan/replies.sqlite, on macOS
        ~/Library/Caches/ngramscan/replies.sqlite.
    refresh : bool
        Ask again even where the journal has the reply.
    index_memory : str or int
        Memory for parts of index files in place: 256MB, or bytes.
    index_cache : str or Path, optional
        Folder that keeps parts of index files in place for later runs.
    tokenizer : str or Path, optional
        SentencePiece model or tokenizer.json of a token-level index in files, or a folder with one.
    """

    heading: ClassVar[str] = SERVICE

    api_url: Annotated[str, Option(metavar="URL", is_rare=True)] = INFINI_GRAM_MINI.url
    concurrency: Annotated[int | None, Option(least=1, is_rare=True)] = None
    rate: Annotated[float | None, Option(metavar="N", least=0, most=FASTEST, is_rare=True)] = None
    timeout_s: Annotated[
        float, Option(flags="--timeout", metavar="SECONDS", over=0, most=LONGEST_S, is_rare=True)
    ] = TIMEOUT_S
    journal: Annotated[str | Path | None, Option(metavar="FILE", is_written=True, is_rare=True)] = (
        None
    )
    refresh: bool = False
    index_memory: Annotated[str | int, Option(metavar="SIZE", is_rare=True)] = "256MB"
    index_cache: Directory = None
    tokenizer: Annotated[
        str | Path | None, Option(metavar="FILE", is_rare=True, is_by_corpus=True)
    ] = None
    normalization: Normalization = field(default="", metadata={"is_option": False})

    def __post_init__(self) -> None:
        """Check that the options agree."""
        super().__post_init__()
        if self.sample_files is not None and self.limit_documents is not None:
            raise InputError(
                OptionUse("sample_files"), "not allowed with " + OptionUse("limit_documents")
            )
        if self.any_space and self.regex:
            problem = "not allowed with " + OptionUse("regex") + r"; write \s+ for white space"
            raise InputError(OptionUse("any_space"), problem)
        parse_size(self.index_memory, "index_memory")

    @property
    def match_rule(self) -> MatchRule:
        """Return what counts as an occurrence."""
        from ngramscan.matching.rules import MatchRule  # slow to import

        return MatchRule(
            is_regex=self.regex,
            whole_words=self.whole_words,
            any_space=self.any_space,
            ignore_case=self.ignore_case,
        )

    @property
    def memory_bytes(self) -> int:
        """Return the memory for parts of index files in place."""
        return parse_size(self.index_memory)


def _owner(glob: str, names: Sequence[str]) -> str:
    """Return the name of the corpus that a glob is for, `NAME=GLOB`; empty: it is for all.

    Only where corpora have names: the folders of some corpora are called `year=2020`.
    """
    name, sign, _ = glob.partition("=")
    return name if names and sign and re.fullmatch(CORPUS_NAME, name) else ""


def parse_size(text: str | int, option: str = "shard_size") -> int:
    """Return the bytes of a size like 500MB, 1.5GB or 1000; units are powers of 1000."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Z]*)", str(text).strip().upper(), re.ASCII)
    if match is None or match[2] not in _UNITS:
        raise InputError(OptionUse(option, text), "expected a size like 500MB or 1GB")
    size = float(match[1]) * _UNITS[match[2]]
    if not size < _LARGEST_SIZE:
        raise InputError(
            OptionUse(option, str(text)[:40]), f"expected less than {_LARGEST_SIZE:,} bytes"
        )
    return round(size)
