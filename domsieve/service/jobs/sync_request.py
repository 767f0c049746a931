"""The request to follow a site: visit it, and return what changed since the last run on the same store."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field

from domsieve.options import CaptureOptions, NetworkOptions, RenderMode, Scope
from domsieve.service.jobs.job_request import JobRequest, serving
from domsieve.service.jobs.request_fields import NO_URL, WHOLE
from domsieve.service.jobs.request_schemas import unrendered_rules
from domsieve.tasks.site_sync.state import SyncSettings
from domsieve.types import SyncFormat

STORE_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
"""Names of stores: they are shown and compared, but never used as the name of a file."""

MOST_PAGES = SyncSettings(source="").pages

if TYPE_CHECKING:

    class _Sync(JobRequest):
        """`JobRequest` with the served options of captures and of which pages are visited."""

        include: tuple[str, ...] = ()
        exclude: tuple[str, ...] = ()
        depth: int = 0

else:
    _Sync = serving(serving(serving(JobRequest, CaptureOptions), NetworkOptions, only=("timeout",)), Scope)


class SyncRequest(_Sync):
    """Follow a site: bring a store in step with it, and return what changed in its content."""

    kind = "sync"
    model_config = ConfigDict(json_schema_extra=unrendered_rules())

    store: Annotated[str, Field(pattern=STORE_PATTERN, max_length=64)] = Field(
        description="Name of the store, where the pages of the site are kept between runs. A new name makes one.",
        examples=["docs"],
    )
    url: Annotated[
        str,
        Field(
            max_length=8192,
            pattern=NO_URL,
            description="Address of the site; after the first run, it may be left out.",
            examples=["https://example.org/"],
        ),
    ] = ""
    format: SyncFormat | None = Field(
        default=None,
        description="What the files of the store hold; null: as in the first run, markdown by default. With chunks, "
        "passages have ids that stay.",
    )
    pages: Annotated[int, Field(ge=1, le=MOST_PAGES), WHOLE] | None = Field(
        default=None,
        description=f"Most pages; null: as in the first run, {MOST_PAGES:,}.",
    )
    render: RenderMode = Field(
        default="auto",
        description="Which pages are rendered; auto fetches those where a browser adds nothing.",
    )

    def chosen(self) -> dict[str, Any]:
        """Return what the request says about the site: its fields that are not at their defaults, by name."""
        usual = Scope()
        scope = {
            name: value for name, value in self.options_of(Scope).items() if value != getattr(usual, name)
        }
        return {"format": self.format, "pages": self.pages, **scope}
