"""Specs of indexes → indexes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ngramscan.errors import InputError, nearest
from ngramscan.indexes.base import Index
from ngramscan.indexes.catalog import (
    INFINI_GRAM_MINI,
    find_hosted,
    find_published,
    find_token_index,
    nearest_names,
)
from ngramscan.indexes.kinds import (
    FM9,
    FORMS,
    KINDS,
    SCAN,
    TOKENS,
    IndexKind,
    expanded,
    is_hosted,
    kind_at,
    kind_of,
)
from ngramscan.indexes.options import (
    HOSTED_MATCH_OPTIONS,
    MATCH_OPTIONS,
    IndexOptions,
    SpecValues,
)
from ngramscan.indexes.resources import Resources
from ngramscan.indexes.specs import IndexSpec, other_meaning, read_specs, spec_of_path
from ngramscan.messages import Message, OptionUse, Text, message_of
from ngramscan.progress import Progress
from ngramscan.reading.streams import missing, refuse_impossible
from ngramscan.remote.requester_pays import is_on_s3
from ngramscan.remote.stores import is_http


@contextmanager
def open_indexes(
    specs: SpecValues,
    options: IndexOptions,
    progress: Progress,
    *,
    follows_rules: bool = False,
    looks_up_documents: bool = False,
) -> Iterator[list[Index]]:
    """Open the indexes that some specs name, in this order, each once.

    An index has the name that a user gives it, `NAME=SPEC`, or the one that its spec says. An
    InputError suggests the specs nearest to an unknown one, or names an option that would change
    the counts of other kinds of indexes only. A command that `follows_rules` counts by them what
    hosted indexes find as exact texts. One that `looks_up_documents` of all occurrences by a rule
    can't do so in place.
    """
    with ExitStack() as stack:
        resources = Resources(options, progress, stack)
        index_specs = read_specs(specs)
        if not index_specs:
            raise InputError(OptionUse("index"), f"it is empty; expected {FORMS}")
        names = [spec.name for spec in index_specs if spec.name]
        by_name: dict[str, Index] = {}
        for spec in index_specs:
            place = spec_of_path(spec.place)
            if notice := other_meaning(spec.place, place):
                progress.notice(notice)
            resources.options = options.for_corpus(spec.name, names)
            full_place = expanded(place)
            if looks_up_documents:
                _refuse_documents_in_place(full_place, options)
            _add_opened(by_name, spec, place, _open(full_place, resources, follows_rules))
        _refuse_unused(options, by_name.values())
        _refuse_to_pay_elsewhere(options, by_name.values())
        yield list(by_name.values())


def _add_opened(
    by_name: dict[str, Index], spec: IndexSpec, place: str, opened: Sequence[Index]
) -> None:
    """Add indexes by name; an InputError says that two have the same one, or several one name."""
    if spec.name and len(opened) != 1:
        problem = f"{spec.place} is {len(opened)} corpora; name each of them, or none"
        raise InputError(OptionUse("index", str(spec)), problem)
    is_address = SCAN.names(place) and is_http(SCAN.place_in(place))
    for index in opened:
        if spec.name:
            index.name = spec.name
        other = by_name.get(index.name)
        if other and is_address and not spec.name:
            problem = "two addresses that differ only in the query or login, which rows don't show"
            cure = "name each: " + OptionUse("index", placeholder="NAME=SPEC")
            raise InputError(OptionUse("index", index.name), f"{problem}; " + cure)
        if other and other.spec != index.spec:
            problem = f"two corpora are named {index.name}; give each a name of its own"
            raise InputError(OptionUse("index", str(spec)), problem)
        by_name[index.name] = index


def _open(spec: str, resources: Resources, follows_rules: bool) -> Sequence[Index]:
    """Return the indexes of one spec."""
    kind = kind_of(spec)
    if kind is None or kind.has_place:
        _, _, place = spec.partition(":")
        for each in kind.places_in(spec) if kind and kind.joins_places else [place or spec]:
            refuse_impossible(each)
    _refuse_rules(spec, kind, resources.options, follows_rules)
    if kind is None or not kind.reads_texts:
        _refuse_for_texts(spec, resources.options)
    if kind is None:
        return [_open_named(spec, resources)]
    if kind.suggests_others:
        with suggest_spec(OptionUse("index", spec), kind.place_in(spec), kind):
            return kind.open(spec, resources)
    return kind.open(spec, resources)


def _refuse_rules(
    spec: str, kind: IndexKind | None, options: IndexOptions, follows_rules: bool
) -> None:
    """Raise an InputError for a rule of matching that an index doesn't follow."""
    followed_rules = kind.match_rules if kind else ()
    for option in MATCH_OPTIONS:
        is_counted = is_hosted(spec) and option in HOSTED_MATCH_OPTIONS
        is_followed = option in followed_rules or (is_counted and follows_rules)
        if getattr(options, option) and not is_followed:
            names = [kind.prefix for kind in KINDS if option in kind.match_rules]
            takers = ", ".join(names[:-1]) + f" and {names[-1]}"
            problem = f"only {takers} take it, not {spec}; to read a corpus: "
            if is_counted:
                problem = f"only count takes it in hosted indexes, as {spec}; to read a corpus: "
            cure = OptionUse("index", SCAN.spec_of("PATH"))
            raise InputError(OptionUse(option), problem + cure)


def _refuse_documents_in_place(spec: str, options: IndexOptions) -> None:
    """Raise an InputError for a rule by which the documents of an index in place are not known."""
    rule = next((option for option in MATCH_OPTIONS if getattr(options, option)), None)
    if rule in FM9.match_rules and FM9.names(spec) and "://" in spec:
        problem = f"only count and contexts take it in place, not with {spec}; to read a corpus: "
        raise InputError(OptionUse(rule), problem + OptionUse("index", SCAN.spec_of("PATH")))


def _refuse_for_texts(spec: str, options: IndexOptions) -> None:
    """Raise an InputError for an option that only corpora that are read take."""
    if rule := options.normalization:
        how = "in words" if rule == "words" else "by letters and digits alone"
        only = f"only corpora that are read (scan:…, python) can be searched {how}"
        raise InputError(OptionUse("rule"), f"{only}, not {spec}")


def _open_named(name: str, resources: Resources) -> Index:
    """Return an index of the catalog, or one by the name that the host of --api-url has for it.

    A host that doesn't list its indexes is asked for that name.
    """
    if hosted := find_hosted(name):
        return resources.open_hosted(hosted)
    url = resources.options.api_url
    if url == INFINI_GRAM_MINI.url or ":" in name:
        raise InputError(OptionUse("index", name), _unknown(name))
    client = resources.client(url)
    if client.served and name not in client.served:
        served = [*client.served][:20]
        problem = f"{client.url} has no index of this name; it has {', '.join(served)}"
        form = OptionUse("index", client.url + served[0])
        raise InputError(OptionUse("index", name), f"{problem} (or by address: " + form + ")")
    return resources.open_api(name, [name], url=url)


# Error messages with suggestions


def _refuse_unused(options: IndexOptions, indexes: Collection[Index]) -> None:
    """Raise an InputError for an option that would change counts, but that no index takes."""
    defaults = IndexOptions()
    kinds = [kind_of(index.spec) for index in indexes]
    named_values = options.named_values([index.name for index in indexes])
    for option in dict.fromkeys(option for kind in KINDS for option in kind.options):
        takers = [kind for kind in KINDS if option in kind.options]
        for index in indexes:
            if index.name in named_values.get(option, ()) and kind_of(index.spec) not in takers:
                problem = f"only {_prefixes(takers)} it, not {index.name}, which is {index.spec}"
                raise InputError(OptionUse(option, placeholder=f"{index.name}=…"), problem)
        value = getattr(options, option, None)
        # A value in the environment is meant for all commands, though some have no use for it.
        unset = getattr(defaults, option, None), os.environ.get(f"NGRAMSCAN_{option.upper()}")
        if value and value not in unset and not any(kind in takers for kind in kinds):
            all_names = ", ".join(index.name for index in indexes)
            problem = f"only {_prefixes(takers)} it, not {all_names}"
            raise InputError(OptionUse(option), problem)


def _refuse_to_pay_elsewhere(options: IndexOptions, indexes: Collection[Index]) -> None:
    """Raise an InputError where the user would pay for reading from S3, but nothing is there."""
    # In the environment it is meant for all commands.
    if not options.requester_pays or "NGRAMSCAN_REQUESTER_PAYS" in os.environ:
        return
    if not any(is_on_s3(index.spec) or _is_list(index.spec) for index in indexes):
        all_names = ", ".join(index.name for index in indexes)
        problem = f"only addresses that begin with s3:// take it, not {all_names}"
        raise InputError(OptionUse("requester_pays"), problem)


def _is_list(spec: str) -> bool:
    """Tell whether a corpus is a list of files, which may be anywhere."""
    from ngramscan.corpora.files import LISTS  # slow to import

    place = SCAN.place_in(spec)
    return SCAN.names(spec) and (place.startswith("@") or place.endswith(LISTS))


def _prefixes(takers: Sequence[IndexKind]) -> str:
    """Return the prefixes of kinds that take an option, as the beginning of a sentence."""
    verb = "takes" if len(takers) == 1 else "take"
    return f"{' and '.join(kind.prefix for kind in takers)} {verb}"


@contextmanager
def suggest_spec(where: object, place: str, kind: IndexKind) -> Iterator[None]:
    """Where a place can't be opened as one kind of index, say how it can be as another."""
    try:
        yield
    except InputError as error:
        there = kind_at(place) if type(error) is InputError else None
        if there is None or there is kind:
            raise
        raise InputError(where, _lead_to(there, place)) from error


def _lead_to(kind: IndexKind, place: str) -> Message:
    return kind.description + message_of(": ") + OptionUse("index", kind.spec_of(place))


def _is_file_name(spec: str) -> bool:
    from ngramscan.corpora.formats import format_of  # slow to import

    return format_of(spec) is not None


def _unknown(spec: str) -> Text:
    if "://" in spec:
        as_corpus = "to read a corpus there: " + OptionUse("index", SCAN.spec_of(spec))
        if _is_file_name(spec):
            return as_corpus
        of_tokens = "; to query an index over tokens: " + OptionUse("index", TOKENS.spec_of(spec))
        of_bytes = "; over bytes: " + OptionUse("index", FM9.spec_of(spec))
        return as_corpus + of_tokens + of_bytes
    if os.path.exists(spec):
        return "neither an index nor a corpus in a known format"
    if ":" not in spec and (os.sep in spec or _is_file_name(spec)):
        return missing(Path(spec), FORMS)
    if re.match(r"[\w.-]+:\d+/", spec):
        return f"an address begins with http://; did you mean http://{spec}?"
    return _unknown_name(spec)


def _unknown_name(spec: str) -> Text:
    """Return the problem with a spec that is neither an address nor the path of a file."""
    if token_index := find_token_index(spec):
        return "an index over tokens: " + OptionUse("index", token_index.name)
    if published := find_published(spec):
        return "published files of an index over tokens: " + OptionUse("index", published.name)
    if spec.lower() == "all":
        return "no index of this name; the eight of the paper are " + OptionUse("index", "paper")
    word, colon, place = spec.partition(":")
    words = [kind.word for kind in KINDS if kind.has_place]
    near = nearest(word, words) if colon else ""
    if near := f"{near}:{place}" if near else " or ".join(nearest_names(spec)):
        return f"no index of this name; did you mean {near}? (all: ngramscan index list)"
    return f"no index of this name; expected {FORMS}"
