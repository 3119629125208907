"""The commands: a function each, for Python and for the terminal, and what a shell completes."""

from collections.abc import Iterable, Mapping
from typing import Any

from ngramscan.commands.blend import blend
from ngramscan.commands.contaminate import contaminate
from ngramscan.commands.contexts import contexts
from ngramscan.commands.count import count
from ngramscan.commands.docnorm import DEFAULT_SET, docnorm
from ngramscan.commands.index import index_add, index_build, index_info, index_list, index_verify
from ngramscan.commands.journal import journal_clear, journal_info
from ngramscan.commands.keyness import keyness
from ngramscan.commands.patterns import patterns_list, patterns_show
from ngramscan.commands.report import report
from ngramscan.commands.serve import serve
from ngramscan.commands.strategies import strategies
from ngramscan.commands.tiers import tiers
from ngramscan.indexes.catalog import CATALOG
from ngramscan.indexes.tokens.catalog import TOKEN_CATALOG
from ngramscan.patterns.files import load_patterns, shipped_sets
from ngramscan.reading.row_files import has_rows, read_table
from ngramscan.reporting.completion import paths

__all__ = ["blend", "contaminate", "contexts", "count", "docnorm", "index_add", "index_build"]
__all__ += ["index_info", "index_list", "index_verify", "journal_clear", "journal_info"]
__all__ += ["keyness", "patterns_list", "patterns_show", "report", "serve", "strategies", "tiers"]


def complete(name: str, given: Mapping[str, Any], typed: str) -> Iterable[str] | None:
    """Return what a parameter may be, for shells; None: nothing is known of it."""
    kind, colon, path = typed.partition(":")
    known: Iterable[str] | None = None
    match name:
        case "index" | "spec" if colon:
            tokens = [name for row in TOKEN_CATALOG for name in (row.alias, row.name)]
            is_path = kind in {"scan", "fm9", "tokens"}
            known = [f"{kind}:{one}" for one in paths(path)] if is_path else tokens
        case "index" | "spec":
            hosted = [name for one in CATALOG for name in (one.alias, one.name)]
            kinds = ["scan:", "fm9:", "tokens:", "infini-gram:", "http://"]
            known = [*hosted, "paper", "python", *kinds]
        case "patterns" | "others" | "name":
            known = [*shipped_sets(), *paths(typed)]
        case "literals":
            known = paths(typed)
        case "method":
            shipped = shipped_sets()
            sets = [one for one in given["arguments"] if one in shipped or one.endswith(".yaml")]
            known = [name for one in sets or [DEFAULT_SET] for name in load_patterns(one).methods]
        case "rule":
            known = ["mini", "gpt4", "gpt4-stripped", "gpt3", "palm", "ngram-13"]
        case "field" | "id_field":
            table = next((one for one in given["arguments"] if has_rows(one)), None)
            known = next(read_table(table))[1] if table else []
    return known
