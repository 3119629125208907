"""The commands: a function each, for Python and for the terminal."""

from ngramscan.commands.blend import blend
from ngramscan.commands.contexts import contexts
from ngramscan.commands.count import count
from ngramscan.commands.docnorm import docnorm
from ngramscan.commands.index import index_build, index_info, index_list, index_verify
from ngramscan.commands.journal import journal_clear, journal_info
from ngramscan.commands.keyness import keyness
from ngramscan.commands.patterns import patterns_list, patterns_show
from ngramscan.commands.serve import serve
from ngramscan.commands.strategies import strategies
from ngramscan.commands.tiers import tiers

__all__ = ["blend", "contexts", "count", "docnorm", "index_build", "index_info", "index_list"]
__all__ += ["index_verify", "journal_clear", "journal_info", "keyness", "patterns_list", "patterns_show", "serve"]
__all__ += ["strategies"]
__all__ += ["tiers"]
