"""The commands of the command line: parse, call, print. What they do with pages is the service's business."""

from domsieve.commands.bulk import clean as bulk_clean
from domsieve.commands.bulk import learn as bulk_learn
from domsieve.commands.bulk import records as bulk_records
from domsieve.commands.bulk import render as bulk_render
from domsieve.commands.cache import (
    cache_list,
    cache_prune,
    cache_remove,
    cache_show,
    cache_verify,
    doctor,
)
from domsieve.commands.cleaning import clean, learn
from domsieve.commands.comparing import compare
from domsieve.commands.evaluating import evaluate
from domsieve.commands.general_options import general, general_of_all
from domsieve.commands.help_text import HelpfulCommand, HelpfulGroup
from domsieve.commands.mcp_serving import mcp
from domsieve.commands.mining import records
from domsieve.commands.rendering import render, site
from domsieve.commands.reporting import report
from domsieve.commands.serving import serve
from domsieve.commands.signing_in import login
from domsieve.commands.weighing import weigh

__all__ = [
    "HelpfulCommand",
    "HelpfulGroup",
    "bulk_clean",
    "bulk_learn",
    "bulk_records",
    "bulk_render",
    "cache_list",
    "cache_prune",
    "cache_remove",
    "cache_show",
    "cache_verify",
    "clean",
    "compare",
    "doctor",
    "evaluate",
    "general",
    "general_of_all",
    "learn",
    "login",
    "mcp",
    "records",
    "render",
    "report",
    "serve",
    "site",
    "weigh",
]
