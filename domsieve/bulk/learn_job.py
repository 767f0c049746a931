"""Learn models of the sites of a shard, and read existing models."""

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from typing import Any

from domsieve.analysis.model_file import model_from_bytes, model_to_bytes
from domsieve.analysis.registry import DEFAULT_METHOD, Method, MethodParams, new_site_model
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.style_tree import capped
from domsieve.budget import budgeted
from domsieve.bulk._places import write
from domsieve.bulk.job import Done, Failures, PageEnded, Reading, ignore, pages_of, place_of
from domsieve.bulk.page_list import Member
from domsieve.bulk.plan import Plan, Shard
from domsieve.errors import DomsieveError
from domsieve.tasks.pages import Page
from domsieve.tasks.site_learning import fit
from domsieve.tasks.site_models import ENDING, model_file

PARTIAL = "_partial"
"""The folder of partial models, until the models are finished."""
EMPTY = ".empty"
"""The ending of a file that replaces the model of a site without any readable page."""


def worth_learning(members: Iterable[Member], *, per_site: int) -> Iterator[Member]:
    """Yield the pages to learn from: the first `per_site` pages of each site, without duplicates."""
    seen: set[bytes] = set()
    count: dict[str, int] = {}
    for member in members:
        keys = {
            blake2b(f"{member.site} {key}".encode("utf-8", "replace"), digest_size=8).digest()
            for key in member.keys
        }
        if not seen.isdisjoint(keys) or count.get(member.site, 0) >= per_site:
            continue
        seen |= keys
        count[member.site] = count.get(member.site, 0) + (member.damage is None)
        yield member


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnJob(Reading):
    """Learn a partial model of each site in a shard.

    Parameters
    ----------
    method, params : the method and its parameters.
    """

    method: Method = DEFAULT_METHOD
    params: MethodParams = MethodParams()  # noqa: RUF009 (frozen)

    def check(self) -> None:
        """Check the options before the run.

        Raises
        ------
        UsageError : the method does not learn, or does not have an option.
        """
        new_site_model(self.method, self.params).check()

    def part(self, shard: str) -> str:
        """Return the name of the partial models of a shard."""
        return f"{PARTIAL}/{shard}.zip"

    def on(self, shard: Shard, page_ended: PageEnded = ignore) -> Done:  # noqa: ARG002
        """Write a partial model for each site in a shard."""
        failures, place, learned = Failures(), place_of(self), 0

        def failed(page: Page, error: DomsieveError) -> None:
            failures.add(page.label, page.site, error)

        with (
            pages_of(shard, self, failures) as pages,
            place.writing(self.part(shard.name)) as path,
            zipfile.ZipFile(path, "w") as file,
        ):
            for site, group in groupby(sorted(pages, key=lambda page: page.site), key=lambda page: page.site):
                model = new_site_model(self.method, self.params)
                fit(model, group, failed)
                if model.learned:
                    file.writestr(model_file(site), model_to_bytes(model))
                    learned += model.learned
            failures.write(place, shard.name)
        return Done(shard=shard.name, pages=shard.pages, failed=len(failures), rows=learned)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeJob(Reading):
    """Merge partial models; a shard of this job contains one site and the names of the shards with its pages.

    Parameters
    ----------
    period : the period of the models, which is part of their names.
    cap : whether to count features of a single page together, which makes models smaller.
    """

    period: str = ""
    cap: bool = False

    def part(self, shard: str) -> str:
        """Return the name of the model, which is the name of the shard."""
        return shard

    def on(self, shard: Shard, page_ended: PageEnded = ignore) -> Done:  # noqa: ARG002
        """Write the model of a site."""
        place, name = place_of(self), model_file(shard.sites[0])
        failures = Failures()
        model: SiteModel[Any] | None = None
        with budgeted(self.budget):
            try:
                for partial in shard.content():
                    with place.opened(f"{PARTIAL}/{partial}.zip") as file, zipfile.ZipFile(file) as told:
                        if name in told.namelist():
                            one = model_from_bytes(told.read(name), name=partial)
                            model = one if model is None else model.merge(one)
                if model is not None:
                    write(place, shard.name, model_to_bytes(capped(model) if self.cap else model))
                    failures.write(place, shard.name)
            except DomsieveError as error:
                failures.add(name, shard.sites[0], error)
                failures.write(place, shard.name)
        if model is None and not failures:
            write(place, shard.name.removesuffix(ENDING) + EMPTY, b"")
        return Done(shard=shard.name, pages=1, failed=len(failures), rows=model.learned if model else 0)


def sites_to_merge(plan: Plan, there: set[str], *, period: str) -> Iterator[Shard]:
    """Yield a shard for `MergeJob` for each site of a plan without a model."""
    for site, shards in plan.sites().items():
        name = model_file(site, period)
        if name not in there and name.removesuffix(ENDING) + EMPTY not in there:
            yield Shard.of(name, shards, [site])
