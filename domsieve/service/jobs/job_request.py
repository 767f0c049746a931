"""What all requests of the service share: the address, the capture of its pages, and fields made from options."""

from collections.abc import Container, Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator, model_validator

from domsieve.declaration import DeclaredOption, Served, declared
from domsieve.errors import UsageError
from domsieve.options import Budget, CaptureOptions, NetworkOptions
from domsieve.renderer.network.egress import place_of
from domsieve.service.jobs.request_fields import Url, Whole
from domsieve.tasks.render_modes import with_render_mode

JobKind = Literal[
    "clean",
    "records",
    "fields",
    "learn_fields",
    "compare",
    "report",
    "site",
    "sync",
    "clean_html",
    "records_html",
]

NOT_FOR_ALL = ("render",)
"""Options of captures that not all requests have: comparisons and reports are about rendered pages."""

# What needs a browser, in words where the name of the field says too little.
_SHOWN = {
    "viewport_px": "a window of another size",
    "method": "this method",
    "style": "this style",
    "hidden": "this choice about hidden text",
}


def _served_field(one: DeclaredOption, served: Served) -> tuple[Any, Any]:
    """Return the type of an option in requests, and its field: default, help and limits."""
    kind: Any = {timedelta: float, int: Whole}.get(one.kind, one.kind)
    text: Any = Field(min_length=1, max_length=served.max_length, pattern=served.pattern or None)
    if one.kind is str:
        kind = Annotated[str, text]
    if one.is_list:
        kind = Annotated[tuple[kind, ...], Field(max_length=served.max_items, strict=False)]
    field: Any = Field(
        default=one.default.total_seconds() if one.kind is timedelta else one.default,
        description=one.option.help.replace("; repeatable", ""),
        ge=served.low,
        le=served.high,
        examples=[[served.example] if one.is_list else served.example] if served.example else None,
    )
    return kind | None if one.is_optional else kind, field


def serving(base: type[BaseModel], *groups: type, only: Container[str] | None = None) -> Any:
    """Return a request model with a field for each option of the groups that the service offers.

    Parameters
    ----------
    only : the names of the options; None for all but `NOT_FOR_ALL`.
    """
    options = [
        one
        for group in groups
        for one in declared(group).values()
        if (one.name not in NOT_FOR_ALL if only is None else one.name in only)
    ]
    served: dict[str, Any] = {
        one.served_name: _served_field(one, one.option.served) for one in options if one.option.served
    }
    return create_model(base.__name__, __base__=base, **served)


class _Page(BaseModel):
    """A page and the window that it is rendered in."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    kind: ClassVar[JobKind]

    url: Url
    viewport_width: Whole = Field(default=1280, ge=320, le=3840, description="Width of the window in CSS px.")
    viewport_height: Whole = Field(
        default=800, ge=240, le=2160, description="Height of the window in CSS px."
    )

    def options_of(self, group: type) -> dict[str, Any]:
        """Return the values of the options of a group that the service offers, by name."""
        return {
            name: timedelta(seconds=value) if one.kind is timedelta else value
            for name, one in declared(group).items()
            if one.option.served and one.served_name in type(self).model_fields
            for value in (getattr(self, one.served_name),)
        }


class JobRequest(_Page):
    """Base of all requests: an address, and how its pages are captured."""

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        # A pattern cannot express what IDNA makes of a name, or which numbers are addresses.
        if url and place_of(url) is None:
            raise ValueError("The address has no valid host")
        return url

    @model_validator(mode="after")
    def _can_do_without_browser(self) -> Self:
        if self.options_of(CaptureOptions).get("render") == "never":
            try:
                self._mode()
            except UsageError as error:
                name = _SHOWN.get(error.parameter or "", error.parameter)
                raise ValueError(
                    f"{name} needs a browser, and render is never; leave out one of the two."
                ) from error
        return self

    def capture_options(self) -> CaptureOptions:
        """Return the options of the capture, with the mode of rendering that is possible."""
        return self._mode()[0]

    def needing_browser(self) -> str:
        """Return the name of what needs a browser although the mode is ``"auto"``; empty if nothing does."""
        return self._mode()[1]

    def _mode(self) -> tuple[CaptureOptions, str]:
        options, name = with_render_mode(self._requested(), others=self._needs())
        return options, _SHOWN.get(name, name)

    def _requested(self) -> CaptureOptions:
        return CaptureOptions(
            viewport_px=(self.viewport_width, self.viewport_height), **self.options_of(CaptureOptions)
        )

    def _needs(self) -> Mapping[str, bool]:
        """Return what else needs a browser, by name, each with whether it is used."""
        return {}

    def budget(self) -> Budget:
        """Return the budget of a page."""
        options = self.options_of(CaptureOptions)
        return Budget(time=self.options_of(NetworkOptions)["timeout"] + options["settle_extra"])
