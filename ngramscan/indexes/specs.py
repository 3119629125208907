"""The values of `--index` → specs, and the names that users give to corpora: `web=scan:web.jsonl`.

Other rooms than `opening` read them too, and so nothing slow is imported.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ngramscan.errors import InputError
from ngramscan.indexes.catalog import find_hosted, find_token_index
from ngramscan.indexes.kinds import (
    FORMS,
    HTTP,
    HTTPS,
    KINDS,
    SCAN,
    TOKEN_SERVICE,
    kind_at,
    kind_of,
    kinds_at,
)
from ngramscan.indexes.options import SpecValues
from ngramscan.messages import OptionUse, Text
from ngramscan.options import CORPUS_NAME
from ngramscan.reading.streams import is_stream, refuse_impossible

_OF_PLACES = re.compile(r"[:/\\@~*?\[]")
"""Signs of specs, paths, addresses and globs, which no name has."""
_RESERVED = frozenset({"all", "union"})
"""Stand for several corpora in the rows of commands (see `prevalence.several_corpora`)."""
_EXPECTED_NAME = "expected NAME=SPEC, with a name of letters, digits, _, . and -"


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """Where one corpus or index is, and what the user calls it."""

    place: str
    """Its spec: `scan:PATH`, the name of a hosted index, or a path."""
    name: str = ""
    """Stands in rows and messages; empty: the index has the name that its spec gives it."""

    def __str__(self) -> str:
        """Return the spec as a user gives it."""
        return f"{self.name}={self.place}" if self.name else self.place


def read_specs(values: SpecValues) -> list[IndexSpec]:
    """Return specs one by one, each once: a pipe can't be read twice.

    An InputError says that a name can't be one, or that two corpora have the same.
    """
    if isinstance(values, Mapping):
        values = [f"{name}={place}" for name, place in values.items()]
    texts = [values] if isinstance(values, str) else values
    specs = list(dict.fromkeys(_read_spec(spec) for text in texts for spec in _split(text)))
    first_by_name: dict[str, IndexSpec] = {}
    for spec in specs:
        first = first_by_name.setdefault(spec.name, spec) if spec.name else spec
        if first is not spec:
            problem = f"two corpora are named {spec.name}; give each a name of its own"
            raise InputError(OptionUse("index", str(spec)), problem)
    return specs


def spec_of_path(place: str) -> str:
    """Return a spec with the prefix of its kind, which the path of a corpus or index may lack.

    A path without files stays as it is. A hosted index goes before a file of the same name, which
    is `./NAME`.
    """
    if kind_of(place) is not None or find_hosted(place) is not None:
        return place
    path = os.path.expanduser(place)
    refuse_impossible(path)
    if is_stream(path):  # a look at its content would read it
        return SCAN.spec_of(place)
    kind = kind_at(path)
    if kind is None and os.path.isfile(path):
        kind = SCAN  # which says why it can't be read
    return kind.spec_of(place) if kind else place


def other_meaning(place: str, spec: str) -> Text:
    """Return a notice on what else a place may mean, where it was taken as a spec; usually empty.

    It may be a word or the name of a hosted index, and a file here; or the folder of an index with
    the files of a corpus in it.
    """
    path = os.path.expanduser(place)
    kind = kind_of(place)
    for named in kind.places_in(place) if kind else ():
        if kind and kind.find_place(named) != named and os.path.exists(named):
            meaning = "a published index is meant, not the folder here, which is "
            return f"{place}: {meaning}" + OptionUse("index", kind.spec_of(f"./{named}"))
    if spec == place:
        is_word = kind is not None or find_hosted(place) is not None
        if not is_word or not os.path.exists(path):
            return ""
        meaning = "the name of an index is meant, not the file or folder here, which is "
        return f"{place}: {meaning}" + OptionUse("index", f"./{place}")
    others = (
        [kind for kind in kinds_at(path) if not kind.names(spec)] if os.path.isdir(path) else []
    )
    if not others:
        return ""
    taken = "taken as " + OptionUse("index", spec)
    return f"{place}: " + taken + "; it may also be " + OptionUse("index", others[0].spec_of(place))


def _split(value: str) -> list[str]:
    """Return the specs of one value: commas separate them, but may also be part of a path."""
    prefixes = "|".join(re.escape(kind.prefix) for kind in KINDS if kind.has_place)
    starts = f"(?:{CORPUS_NAME}=)?(?:{prefixes})"
    if re.match(f"{CORPUS_NAME}=", value) and "://" not in value:
        starts += f"|{CORPUS_NAME}="
    texts = list[str]()
    for part in re.split(f",(?={starts})", value):
        is_whole = _is_there(part.strip()) or (":" in part and len(_joining_places(part)) < 2)
        for text in [part] if is_whole else part.split(","):
            if texts and _continues(texts[-1], text.strip()):
                texts[-1] += f",{text.strip()}"
            elif text.strip():
                texts.append(text.strip())
    return texts


def _continues(spec: str, text: str) -> bool:
    """Tell whether a text after a comma is another place of the index before it."""
    places = _joining_places(spec)
    if not places or not text:
        return False
    kind = kind_of(text)
    if kind in (HTTP, HTTPS):
        return "://" in places[0]  # otherwise the address of an index of its own
    is_named = re.match(f"{CORPUS_NAME}=", text) is not None and not _is_there(text)
    return kind is None and find_hosted(text) is None and not is_named


def _joining_places(text: str) -> list[str]:
    """Return the places of an index that may have several; of any other none."""
    place = re.sub(f"^{CORPUS_NAME}=", "", text.strip())
    kind = kind_of(place)
    return kind.places_in(place) if kind and kind.joins_places else []


def _is_there(path: str) -> bool:
    """Tell whether a path or glob leads to a file or folder."""
    pattern = os.path.expanduser(path)
    try:
        return os.path.lexists(pattern) or (
            glob.has_magic(pattern) and any(glob.iglob(pattern, recursive=True))
        )
    except ValueError:  # a text that no file can be called
        return False


def _read_spec(text: str) -> IndexSpec:
    """Return a spec and its name; addresses and paths may have an equals sign in them."""
    name, sign, place = (part.strip() for part in text.partition("="))
    if not sign or _OF_PLACES.search(name) or _is_there(text):
        return IndexSpec(text)
    if not name:
        raise InputError(OptionUse("index", text), f"the name is empty; {_EXPECTED_NAME}")
    if not re.fullmatch(CORPUS_NAME, name):
        raise InputError(OptionUse("index", text), f"{name!r} can't be a name; {_EXPECTED_NAME}")
    if not place:
        raise InputError(OptionUse("index", text), f"nothing after the name; expected {FORMS}")
    if _names_another(name, place):
        problem = f"{name} already means something else; give the corpus a different name"
        raise InputError(OptionUse("index", text), problem)
    return IndexSpec(place, name)


def _names_another(name: str, place: str) -> bool:
    """Tell whether a name already means something else than a place."""
    if name in _RESERVED:
        return True
    if kind_of(name) is not None:
        return name != place
    token_place = TOKEN_SERVICE.place_in(place) if TOKEN_SERVICE.names(place) else ""
    hosted, of_tokens = find_hosted(name), find_token_index(name)
    is_same = hosted is not None and hosted is find_hosted(place)
    is_same |= of_tokens is not None and of_tokens is find_token_index(token_place)
    return (hosted is not None or of_tokens is not None) and not is_same
