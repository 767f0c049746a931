"""Many pages at once: shards of targets, functions of a shard, parts that are whole or absent, and what maps them.

Nothing here is an engine: processes of this machine are those of the standard library's pool, those of a cluster
Ray's.
"""

from typing import TYPE_CHECKING

from domsieve.doors import opened_on_use

if TYPE_CHECKING:
    from domsieve.bulk.cleaning import CleanJob
    from domsieve.bulk.job import Done, Job
    from domsieve.bulk.learning import LearnJob
    from domsieve.bulk.listing import Named
    from domsieve.bulk.local import LocalEngine
    from domsieve.bulk.members import Member
    from domsieve.bulk.mining import RecordsJob
    from domsieve.bulk.models import SiteModels, model_file
    from domsieve.bulk.on_ray import RayEngine
    from domsieve.bulk.places import Place, place_at
    from domsieve.bulk.plan import Plan, Shard
    from domsieve.bulk.rendering import RenderJob, close_browser, store_name
    from domsieve.bulk.running import Died, Engine, Event, Outcome, run
    from domsieve.bulk.runs import (
        PAGES_PER_SHARD,
        PAGES_PER_SITE,
        Progress,
        Summary,
        clean_pages,
        learn_sites,
        mine_pages,
        processors,
        render_sites,
    )
__all__ = [
    "PAGES_PER_SHARD",
    "PAGES_PER_SITE",
    "CleanJob",
    "Died",
    "Done",
    "Engine",
    "Event",
    "Job",
    "LearnJob",
    "LocalEngine",
    "Member",
    "Named",
    "Outcome",
    "Place",
    "Plan",
    "Progress",
    "RayEngine",
    "RecordsJob",
    "RenderJob",
    "Shard",
    "SiteModels",
    "Summary",
    "clean_pages",
    "close_browser",
    "learn_sites",
    "mine_pages",
    "model_file",
    "place_at",
    "processors",
    "render_sites",
    "run",
    "store_name",
]

_PLACES = {
    "bulk.cleaning": "CleanJob",
    "bulk.job": "Done Job",
    "bulk.learning": "LearnJob",
    "bulk.listing": "Named",
    "bulk.local": "LocalEngine",
    "bulk.members": "Member",
    "bulk.mining": "RecordsJob",
    "bulk.models": "SiteModels model_file",
    "bulk.places": "Place place_at",
    "bulk.plan": "Plan Shard",
    "bulk.on_ray": "RayEngine",
    "bulk.rendering": "RenderJob close_browser store_name",
    "bulk.running": "Died Engine Event Outcome run",
    "bulk.runs": (
        "PAGES_PER_SHARD PAGES_PER_SITE Progress Summary clean_pages learn_sites mine_pages processors "
        "render_sites"
    ),
}

# Type checkers, which know all names from above, shall not take this for a promise of any other.
if not TYPE_CHECKING:
    __getattr__, __dir__ = opened_on_use(__name__, _PLACES)
