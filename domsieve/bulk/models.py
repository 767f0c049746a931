"""Site models by the names of their sites: one file a site, or one for each period that it was learned in.

Imports the analysis and places.
"""

from collections import OrderedDict
from typing import Any

from domsieve.analysis.model_file import model_from_bytes
from domsieve.analysis.site_model import SiteModel
from domsieve.bulk.places import Place
from domsieve.errors import DomsieveError
from domsieve.tasks.targets import output_name

ENDING = ".model"
_PERIOD = "@"
_HELD = 4  # models of sites that pages come from by turns


def model_file(site: str, period: str = "") -> str:
    """Return the name of the file of a site's model; it depends on nothing else."""
    name = output_name(f"://{site}")
    return f"{name}{_PERIOD}{period}{ENDING}" if period else f"{name}{ENDING}"


class SiteModels:
    """The models at a place, read when pages of their sites come; a few of them are held.

    Models that were learned in several periods are merged.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._files: dict[str, list[str]] = {}
        for name in sorted(place.names()):
            if name.endswith(ENDING):
                stem = name.removesuffix(ENDING).partition(_PERIOD)[0]
                self._files.setdefault(stem, []).append(name)
        self._held: OrderedDict[str, SiteModel[Any] | DomsieveError | None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._files)

    def of(self, site: str) -> SiteModel[Any] | None:
        """Return the model of a site, None where there is none.

        Raises
        ------
        DomsieveError : a file of it cannot be used, or those of several periods do not merge.
        """
        if site not in self._held:
            if len(self._held) == _HELD:
                self._held.popitem(last=False)
            try:
                self._held[site] = self._read(model_file(site).removesuffix(ENDING))
            except DomsieveError as error:
                self._held[site] = error
        self._held.move_to_end(site)
        found = self._held[site]
        if isinstance(found, DomsieveError):
            raise found
        return found

    def _read(self, stem: str) -> SiteModel[Any] | None:
        model: SiteModel[Any] | None = None
        for name in self._files.get(stem, ()):
            part = model_from_bytes(self._place.read(name), name=name)
            model = part if model is None else model.merge(part)
        return model
