"""The one table of the kinds of indexes, and all that depends on how a spec begins.

`--index` takes specs such as `scan:PATH`. How a kind is opened, completed by a shell, suggested in
messages, and which options it takes, is in its entry; nothing else looks at the beginning of a
spec. A spec without an entry is the name of a hosted index (see `catalog`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ngramscan.errors import InputError, needs_extra
from ngramscan.index_files.formats import is_shard
from ngramscan.indexes.catalog import (
    INFINI_GRAM,
    PAPER,
    PUBLIC,
    REQUESTER_PAYS_BUCKETS,
    TOKEN_PREFIX,
    byte_indexes,
    find_hosted,
    find_published,
    find_token_index,
    near_published_names,
    published_at,
    published_names,
    published_urls,
    service_of,
    token_indexes,
)
from ngramscan.indexes.options import MATCH_OPTIONS
from ngramscan.messages import OptionUse, Text
from ngramscan.options import CORPUS_NAME
from ngramscan.remote.requester_pays import refuse_unpaid

if TYPE_CHECKING:
    from ngramscan.indexes.base import Index, Unit
    from ngramscan.indexes.resources import Resources


@dataclass(frozen=True, slots=True, eq=False)
class IndexKind:
    """One kind of index, and how specs name its indexes."""

    prefix: str
    """How its specs begin; one without a colon is the whole spec."""
    open: Callable[[str, Resources], Sequence[Index]]
    """Returns the indexes of a spec."""
    form: str = ""
    """Shows in messages how a spec is written; empty: it isn't shown."""
    completion: str = ""
    """The beginning of a spec that shells complete; empty: they don't."""
    unit: Unit = "bytes"
    is_of_files: bool = False
    """The path or URL of files follows the prefix."""
    joins_places: bool = False
    """Several paths or URLs may follow, separated by commas: the files of all are one index."""
    description: Text = ""
    """Stands in messages before the spec of an index of this kind that was meant."""
    options: tuple[str, ...] = ()
    """Options that change counts and that only some kinds take."""
    reads_texts: bool = False
    """Texts of a corpus are read, so that they can be searched in other ways than as they are."""
    match_rules: tuple[str, ...] = ()
    """Options of `IndexOptions.match_rule` that its indexes follow."""
    is_hosted: bool = False
    """A service has its indexes of bytes, and finds exact texts only."""
    suggests_others: bool = False
    """If an index can't be opened, the error names another kind as which it can be."""
    completed_names: Callable[[], list[str]] = list
    """Returns the specs that shells complete after the prefix, besides those of files."""
    find_place: Callable[[str], str] = str
    """Returns the place that a name of the catalog stands for, or several with commas between them;
    other places as they are."""

    def names(self, spec: str) -> bool:
        """Tell whether a spec is one of this kind."""
        return spec.startswith(self.prefix) if self.has_place else spec == self.prefix

    @property
    def has_place(self) -> bool:
        """Whether something follows the prefix."""
        return self.prefix.endswith(":")

    @property
    def word(self) -> str:
        """The prefix without its colon."""
        return self.prefix.removesuffix(":")

    def place_in(self, spec: str) -> str:
        """Return what follows the prefix; without the prefix, all of it."""
        return spec.removeprefix(self.prefix)

    def places_in(self, spec: str) -> list[str]:
        """Return the paths or URLs that follow the prefix: usually one, which may have commas."""
        place = self.place_in(spec)
        if not self.joins_places or os.path.lexists(os.path.expanduser(place)):
            return [place]
        return [part.strip() for part in place.split(",") if part.strip()]

    def spec_of(self, place: object) -> str:
        """Return the spec of a place."""
        return f"{self.prefix}{place}"


def kind_of(spec: str) -> IndexKind | None:
    """Return the kind that a spec names, or that the name of an open index does."""
    return next((kind for kind in KINDS if kind.names(spec)), None)


def is_hosted(spec: str) -> bool:
    """Tell whether a service has the index of bytes that a spec names, by name or by address."""
    kind = kind_of(spec)
    return kind is None or kind.is_hosted


# Opening


def _open_scan(spec: str, resources: Resources) -> Sequence[Index]:
    # Slow to import, and not needed to ask an index.
    from ngramscan.corpora import open_corpus
    from ngramscan.indexes.scan.index import ScanIndex

    location, options = SCAN.place_in(spec), resources.options
    try:
        parts = urlsplit(location)
    except ValueError as error:
        # A malformed address may have a password anywhere.
        shown_option = OptionUse("index") if "@" in spec else OptionUse("index", spec)
        raise InputError(shown_option, "not a URL; expected https://…") from error
    if parts.password is not None and parts.scheme not in {"http", "https"}:
        problem = "a password in it would show in rows; put it into the configuration of fsspec"
        shown_spec = SCAN.spec_of(f"{parts.scheme}://{parts.hostname}/…")
        raise InputError(OptionUse("index", shown_spec), problem)
    refuse_unpaid(location, options.reader_pays, REQUESTER_PAYS_BUCKETS)
    corpus = open_corpus(
        location,
        options.read.exclude_sources,
        options.input_format,
        options.skip_unknown,
        options.reader_pays,
    )
    journal = None if corpus.is_stream else resources.journal
    return [ScanIndex(corpus, options, resources.progress, journal)]


def _open_python(_spec: str, resources: Resources) -> Sequence[Index]:
    # Slow to import, and not needed to ask an index.
    from ngramscan.corpora import PythonCorpus
    from ngramscan.indexes.scan.index import ScanIndex

    return [ScanIndex(PythonCorpus(), resources.options, resources.progress)]


def _open_fm9(spec: str, resources: Resources) -> Sequence[Index]:
    place = FM9.place_in(spec)
    _refuse_empty(spec, [place])
    with needs_extra(OptionUse("index", spec), "index"):  # which is slow to import, too
        from ngramscan.indexes.fm9 import open_fm9
    if "://" not in place:
        folder, rule = index_folder(place), resources.options.match_rule
        return [open_fm9(folder, resources.progress, rule=rule)]
    from ngramscan.indexes.in_place import InPlaceIndex  # slower still

    return [
        InPlaceIndex(
            place,
            lambda: resources.ranges,
            resources.journal,
            resources.options,
            resources.progress,
        )
    ]


def _open_tokens(spec: str, resources: Resources) -> Sequence[Index]:
    places = TOKENS.places_in(spec)
    _refuse_empty(spec, places)
    _refuse_mixed(spec, places)
    _require_tokenizer(places, resources.options.tokenizer)
    if any("://" in place for place in places):
        with needs_extra(OptionUse("index", spec), "tokens"):  # slow to import, too
            from ngramscan.indexes.tokens.in_place import open_in_place
        return [
            open_in_place(
                places,
                lambda: resources.ranges,
                resources.journal,
                resources.options,
                resources.progress,
            )
        ]
    with needs_extra(OptionUse("index", spec), "tokens"):
        from ngramscan.indexes.tokens.local import open_tokens
    folders = [Path(place) for place in places]
    for folder in folders:
        published = find_published(str(folder))
        if published and not folder.exists():
            problem = "no such folder; did you mean " + OptionUse("index", published.alias) + "?"
            raise InputError(OptionUse("index", spec), problem)
    return [open_tokens(folders, resources.options.tokenizer, resources.progress)]


def _require_tokenizer(places: Sequence[str], tokenizer: str | Path | None) -> None:
    """Raise an InputError that says which tokenizer a published index needs, if none was given."""
    rows = [row for place in places if (row := published_at(place))]
    if rows and tokenizer is None:
        names = " and ".join(dict.fromkeys(str(row.tokenizer) for row in rows))
        problem = f"{rows[0].service_name} has the tokens of {names}; give a file of its tokenizer"
        raise InputError(OptionUse("tokenizer", placeholder="FILE"), problem)


def _refuse_empty(spec: str, places: Sequence[str]) -> None:
    """Raise an InputError for a URL that ends with its scheme."""
    if any("://" in place and not place.partition("://")[2].strip("/") for place in places):
        problem = "nothing after ://; expected the address of a folder"
        raise InputError(OptionUse("index", spec), problem)


def _refuse_mixed(spec: str, places: Sequence[str]) -> None:
    """Raise an InputError where URLs and folders are joined, or the same URL twice."""
    urls = [place.rstrip("/") for place in places if "://" in place]
    if repeated := next((url for url in urls if urls.count(url) > 1), ""):
        problem = f"{repeated} is given twice: documents would be counted twice; give each URL once"
        raise InputError(OptionUse("index", spec), problem)
    if urls and len(urls) < len(places):
        folder = next(place for place in places if "://" not in place)
        problem = f"{urls[0]} is a URL, and {folder} is not; give URLs only, or folders only"
        raise InputError(OptionUse("index", spec), problem)


def _open_token_service(spec: str, resources: Resources) -> Sequence[Index]:
    """Return an index of a hosted service, or of another host: `infini-gram:http://HOST/NAME`."""
    from ngramscan.indexes.tokens.hosted import open_hosted  # slow to import

    place = TOKEN_SERVICE.place_in(spec)
    folder, _, name = place.rpartition("/")
    if not name:
        raise InputError(OptionUse("index", spec), f"no index named; expected {spec}NAME")
    if "://" in place:
        return [open_hosted(name, resources.client(f"{folder}/"))]
    row = find_token_index(name)
    service = service_of(row) if row else INFINI_GRAM
    return [open_hosted(name, resources.client(service.url))]


def _open_address(spec: str, resources: Resources) -> Sequence[Index]:
    from ngramscan.indexes.http.client import split_login  # slow to import

    spec_without_login, _ = split_login("index", spec)
    folder, _, name = spec.rpartition("/")
    if not urlsplit(spec).path.strip("/") or not name:
        hosted = find_hosted(urlsplit(spec).hostname or "")
        if hosted:
            expected: Text = OptionUse("index", hosted.alias)
        elif urlsplit(spec).path.strip("/"):
            files = OptionUse("index", TOKENS.spec_of(spec_without_login))
            expected = f"{spec_without_login}NAME, or for the files of an index over tokens "
            expected += files
        else:
            expected = f"{spec_without_login}NAME"
        raise InputError(
            OptionUse("index", spec_without_login), "no index named; expected " + expected
        )
    address = spec_without_login.rstrip("/")
    if _names_corpus(name):
        cure = OptionUse("index", SCAN.spec_of(address))
        raise InputError(OptionUse("index", address), "a file, not an index; to read it: " + cure)
    return [resources.open_api(address, [name], url=f"{folder}/")]


def _names_corpus(name: str) -> bool:
    """Tell whether a name belongs to a corpus file, or to a list of them."""
    from ngramscan.corpora.files import LISTS
    from ngramscan.corpora.formats import format_of

    return name.endswith(LISTS) or format_of(name) is not None


def _open_paper(_spec: str, resources: Resources) -> Sequence[Index]:
    return [resources.open_hosted(row) for row in PAPER]


def _token_service_names() -> list[str]:
    return [name for row in token_indexes() for name in (row.alias, row.name)]


def _find_published_place(place: str) -> str:
    """Return the URL of a published index, or of several with commas; other places as they are.

    An InputError says that there is neither an index nor a folder of this name.
    """
    if not place.startswith(PUBLIC):
        return place
    name = place.removeprefix(PUBLIC).rstrip("/")
    if urls := published_urls(name):
        return ",".join(urls)
    if os.path.exists(place):
        return place
    near = " or ".join(near_published_names(name))
    hint = f"did you mean {near}? (all: ngramscan index list)"
    if not near:
        hint = "see ngramscan index list"
    problem = f"no published index of this name, and no such folder; {hint}"
    raise InputError(OptionUse("index", TOKENS.spec_of(place)), problem)


SCAN = IndexKind(
    prefix="scan:",
    open=_open_scan,
    form="scan:PATH",
    completion="scan:",
    is_of_files=True,
    description="a corpus; to read it",
    options=(
        "text_field",
        "skip_bad_lines",
        "skip_null",
        "input_format",
        "skip_unknown",
        "skip_bad_files",
        "sample_files",
        "limit_documents",
        "exclude_source",
    ),
    reads_texts=True,
    match_rules=MATCH_OPTIONS,
    suggests_others=True,
)
FM9 = IndexKind(
    prefix="fm9:",
    open=_open_fm9,
    form="fm9:DIR",
    completion="fm9:",
    is_of_files=True,
    description="an index; to query it",
    match_rules=("whole_words", "any_space", "ignore_case"),
    suggests_others=True,
)
TOKENS = IndexKind(
    prefix="tokens:",
    open=_open_tokens,
    form="tokens:DIR",
    completion="tokens:",
    unit="tokens",
    is_of_files=True,
    joins_places=True,
    description="an index over tokens; to query it, with "
    + OptionUse("tokenizer", placeholder="FILE"),
    options=("tokenizer",),
    completed_names=published_names,
    find_place=_find_published_place,
)
TOKEN_SERVICE = IndexKind(
    prefix=TOKEN_PREFIX,
    open=_open_token_service,
    form=f"{TOKEN_PREFIX}NAME",
    completion=TOKEN_PREFIX,
    unit="tokens",
    completed_names=_token_service_names,
)
HTTP = IndexKind(
    prefix="http:",
    open=_open_address,
    form="http://HOST:PORT/NAME",
    completion="http://",
    is_hosted=True,
)
HTTPS = IndexKind(prefix="https:", open=_open_address, is_hosted=True)
PAPER_CORPORA = IndexKind(prefix="paper", open=_open_paper, completion="paper", is_hosted=True)
"""The default of `--index`."""
PYTHON = IndexKind(
    prefix="python",
    open=_open_python,
    form="python",
    completion="python",
    options=("sample_files", "limit_documents", "exclude_source", "skip_bad_files"),
    reads_texts=True,
    match_rules=MATCH_OPTIONS,
)

KINDS = (SCAN, FM9, TOKENS, TOKEN_SERVICE, HTTP, HTTPS, PAPER_CORPORA, PYTHON)
OF_TOKENS = tuple(kind for kind in KINDS if kind.unit == "tokens")
FORMS = f"{', '.join(kind.form for kind in KINDS if kind.form)} or a name of `ngramscan index list`"
"""Shows in messages what may be given."""


def index_folder(place: str | Path) -> Path:
    """Return the folder of an index from its path or from its spec, `fm9:DIR` or `tokens:DIR`."""
    spec = str(place)
    kind = next((kind for kind in (FM9, TOKENS) if kind.names(spec)), None)
    return Path(kind.place_in(spec) if kind else spec).expanduser()


def index_folders(place: str | Path) -> list[Path]:
    """Return the folders of an index, of which `tokens:DIR,DIR` has several."""
    spec = str(place)
    places = TOKENS.places_in(spec) if TOKENS.names(spec) else []
    return [index_folder(each) for each in places] or [index_folder(place)]


# The files that are at a path


def _is_shard(place: str) -> bool:
    return is_shard(index_folder(place))


def _has_shards(place: str) -> bool:
    folder = index_folder(place)
    return folder.is_dir() and any(_is_shard(str(inner)) for inner in folder.iterdir())


def _is_token_folder(place: str) -> bool:
    folder = index_folder(place)
    names = ("tokenized.0", "tokenized", "*/tokenized")  # versions 4 and 5, one shard of 6, and 6
    return folder.is_dir() and any(True for name in names for _ in folder.glob(name))


def _is_corpus(place: str) -> bool:
    from ngramscan.corpora import open_corpus

    if "://" in place:
        return False
    try:
        # The manifest of an index is JSON, too.
        open_corpus(place, ("*/manifest.json", "*/plan.json"), skip_unknown=True)
    except InputError:
        return False
    return True


_SIGNS: tuple[tuple[Callable[[str], bool], IndexKind], ...] = (
    (_is_shard, FM9),
    (_is_token_folder, TOKENS),
    (_is_corpus, SCAN),
    (_has_shards, FM9),
)
"""Tests of a path or glob, and the kind whose index is there; the first that holds does."""


def kind_at(place: str) -> IndexKind | None:
    """Return the kind of index whose files are at a path or glob, if any."""
    return next((kind for is_there, kind in _SIGNS if is_there(place)), None)


def kinds_at(place: str) -> list[IndexKind]:
    """Return all kinds of indexes whose files are at a path, the one of `kind_at` first."""
    return list(dict.fromkeys(kind for is_there, kind in _SIGNS if is_there(place)))


# Facts that commands derive from a spec


def expanded(spec: str) -> str:
    """Return a spec with the home folder for `~`, which a shell leaves after a colon.

    A name of the catalog, as in `tokens:public/NAME`, becomes the URL of its files, so that rows,
    replies and draws are the same however the index is named.
    """
    kind = kind_of(spec)
    if kind is None or not kind.has_place:
        return os.path.expanduser(spec)
    place = kind.place_in(spec)
    list_mark = "@" if kind is SCAN and place.startswith("@") else ""
    paths = kind.places_in(kind.spec_of(place.removeprefix(list_mark)))
    if not any(paths):
        raise InputError(OptionUse("index", spec), f"nothing after the colon; expected {FORMS}")
    places = (kind.find_place(os.path.expanduser(path)) for path in paths)
    return kind.spec_of(list_mark + ",".join(places))


def completions(typed: str, paths: Callable[[str], Sequence[str]]) -> list[str]:
    """Return the specs that shells complete; `paths` returns the files that begin in some way."""
    name, sign, place = typed.partition("=")
    has_file = any(path.startswith(typed) for path in paths(typed))
    if sign and re.fullmatch(CORPUS_NAME, name) and not has_file:
        return [f"{name}={spec}" for spec in completions(place, paths)]
    kind = kind_of(typed)
    if kind is None or not kind.has_place:
        hosted = [name for row in byte_indexes() for name in (row.alias, row.name)]
        words = [kind for kind in KINDS if not kind.has_place]
        others = [kind for kind in KINDS if kind.has_place]
        begun = [kind.completion for kind in (*words, *others) if kind.completion]
        return [*hosted, *begun, *(paths(typed) if typed else ())]
    offered = [
        kind.spec_of(path) for path in (paths(kind.place_in(typed)) if kind.is_of_files else ())
    ]
    before, comma, last_place = typed.rpartition(",")
    is_one_place = any(spec.startswith(typed) for spec in offered)
    if kind.joins_places and comma and not is_one_place:
        return [f"{before},{path}" for path in paths(last_place)]
    return [*offered, *kind.completed_names()]


def draw_name(index: str) -> str:
    """Return what seeds the draws in an index: the last part of its name.

    So draws are the same whether an index is in a folder, on a host or on a store.
    """
    kind = kind_of(index)
    places = kind.places_in(index) if kind and kind.has_place else [index]
    is_of_files = kind is not None and kind.is_of_files
    return ",".join(_last_part(place, is_of_files) for place in places)


def _last_part(place: str, is_of_files: bool) -> str:
    if is_of_files and "://" not in place:
        return Path(place).resolve().name
    return place.rstrip("/").rpartition("/")[2]
