"""AutoScraper, which also learns fields from examples; for environments where somebody installed it."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec

Finder = Callable[[bytes], Mapping[str, Sequence[str]]]

PACKAGES = ("autoscraper", "beautifulsoup4")
"""Distributions whose versions shape what it finds: its rules match with Beautiful Soup 4.12, and not with 4.15."""


def autoscraper_versions() -> str | None:
    """Return its version and that of Beautiful Soup, None where it is not installed."""
    if find_spec("autoscraper") is None:
        return None
    return ", ".join(f"{name} {version(name)}" for name in PACKAGES)


def learn_with_autoscraper(examples: Sequence[tuple[bytes, Mapping[str, Sequence[str]]]]) -> Finder:
    """Return what finds fields by the rules that AutoScraper builds of pages and their values.

    Its exact results are taken, which are better here than its similar ones.

    Parameters
    ----------
    examples : the source of each page, and its values by field.
    """
    from autoscraper import AutoScraper  # type: ignore[import-not-found]

    scraper = AutoScraper()
    for source, values in examples:
        wanted = {name: list(own) for name, own in values.items()}
        scraper.build(html=_text(source), wanted_dict=wanted, update=True)

    def found(source: bytes) -> Mapping[str, Sequence[str]]:
        values = scraper.get_result_exact(html=_text(source), group_by_alias=True) or {}
        return {name: [value for value in own if value] for name, own in values.items()}

    return found


def _text(source: bytes) -> str:
    return source.decode("utf-8", "replace")
