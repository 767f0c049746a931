"""The form of a job that teaches fields: values that were chosen on its page, each with a name."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from domsieve.sanitize import plain
from domsieve.service.jobs.requests import LearnFieldsRequest
from domsieve.service.web.forms import FormError, address_in, lines_in, number_in, sentence_about

TAUGHT_ROWS = 8
"""Number of rows of the form."""
_LONGEST = 100  # characters of a text in a message


def learning_from(form: Mapping[str, str], request: Mapping[str, Any]) -> LearnFieldsRequest:
    """Return the request to learn the fields that a person named on the page of a job.

    Parameters
    ----------
    form : a name and a value for each row, addresses of other pages, and the number of known pages. Values with the
        same name are a list.
    request : the stored request of the job. Its pages are captured in the same way, so that they are found again.

    Raises
    ------
    FormError : no value has a name, or an address is wrong.
    """
    fields: dict[str, list[str]] = {}
    for row in range(TAUGHT_ROWS):
        name, value = (form.get(f"{what}_{row}", "").strip() for what in ("name", "value"))
        if bool(name) != bool(value):
            raise FormError(f"“{plain(name or value)[:_LONGEST]}” needs both a name and a value.")
        if name:
            fields.setdefault(name, []).append(value)
    if not fields:
        raise FormError("Click a value on the page and give it a name.")
    own = LearnFieldsRequest.model_fields.keys() - {"url", "urls", "known_pages", "refresh"}
    values: dict[str, Any] = {name: value for name, value in request.items() if name in own}
    example = {name: held if len(held) > 1 else held[0] for name, held in fields.items()}
    values |= {
        "examples": [{"url": str(request["url"]), "fields": example}],
        "urls": [address_in(line) for line in lines_in(form.get("urls", ""))],
        "known_pages": number_in(form.get("known_pages", "") or "20"),
    }
    try:
        return LearnFieldsRequest(**values)
    except ValidationError as error:
        sentences = dict.fromkeys(sentence_about(LearnFieldsRequest, one, "") for one in error.errors())
        raise FormError(" ".join(sentences)) from error
