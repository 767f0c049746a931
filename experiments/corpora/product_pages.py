"""Product pages with right answers and outputs of services: half of scrapinghub/product-extraction-benchmark."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domsieve.errors import TargetError
from experiments.corpora.origins import domain_of

SERVICES = ("Zyte", "Diffbot", "extruct")
"""The systems whose outputs the corpus has."""


@dataclass(frozen=True, slots=True)
class ProductPage:
    """One page.

    Parameters
    ----------
    name : its hash in the benchmark.
    url : its address.
    source : the HTML as it came, in UTF-8.
    truth : the right values by attribute; several are all right, and none means that the page has no such value.
    outputs : what the services gave, by service and attribute.
    """

    name: str
    url: str
    source: bytes
    truth: dict[str, list[str]]
    outputs: dict[str, dict[str, str]]

    @property
    def domain(self) -> str:
        """Host of its address without ``www.``."""
        return domain_of(self.url, self.name)


def page_names(data: Path) -> list[str]:
    """Return the names of the pages below the folder of the corpora, sorted."""
    return sorted(
        path.name.removesuffix(".html.gz") for path in (data / "products" / "html").glob("*.html.gz")
    )


def product_pages(data: Path, names: tuple[str, ...]) -> list[ProductPage]:
    """Return pages by name.

    Raises
    ------
    TargetError : one of the files is not there, or is not what it should be.
    """
    folder = data / "products"
    try:
        truth: dict[str, dict[str, Any]] = json.loads((folder / "ground-truth.json").read_text("utf-8"))
        outputs = {name: json.loads((folder / f"output-{name}.json").read_text("utf-8")) for name in SERVICES}
        return [
            ProductPage(
                name,
                truth[name]["url"],
                gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()),
                {key: value for key, value in truth[name].items() if isinstance(value, list)},
                {service: output[name] for service, output in outputs.items()},
            )
            for name in names
        ]
    except (OSError, LookupError, ValueError) as error:
        raise TargetError(f"'{folder}' is not the corpus of product pages: {error}.") from error
