"""The commands as functions: what the terminal and Python share."""

from ngramscan.commands.blending import blend
from ngramscan.commands.concordances import contexts
from ngramscan.commands.counting import count
from ngramscan.commands.documents import docnorm
from ngramscan.commands.index_building import index_build
from ngramscan.commands.index_checking import index_verify
from ngramscan.commands.indexes import index_info, index_list
from ngramscan.commands.keywords import keyness
from ngramscan.commands.strategy import strategies
from ngramscan.commands.tiering import tiers

__all__ = [
    "blend",
    "contexts",
    "count",
    "docnorm",
    "index_build",
    "index_info",
    "index_list",
    "index_verify",
    "keyness",
    "strategies",
    "tiers",
]
