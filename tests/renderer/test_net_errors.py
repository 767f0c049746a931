"""The names of network errors in words."""

import pytest

from domsieve.renderer.net_errors import explained, meaning_of, without_names


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("ERR_EMPTY_RESPONSE", "the site's server closed the connection without an answer"),
        ("ERR_CERT_DATE_INVALID", "the site's certificate has expired"),
        ("ERR_CERT_AUTHORITY_INVALID", "the site's certificate cannot be trusted"),
        ("ERR_NEVER_SEEN", "the browser could not load it"),
    ],
)
def test_names_have_a_meaning(name: str, meaning: str) -> None:
    assert meaning_of(name) == meaning


def test_a_message_has_both_or_only_the_words() -> None:
    both = explained("No document arrived: net::ERR_EMPTY_RESPONSE.")
    words = "No document arrived: the site's server closed the connection without an answer"
    assert both == f"{words} (net::ERR_EMPTY_RESPONSE)."
    assert without_names(both) == f"{words}."
    assert without_names("net::ERR_TIMED_OUT") == "the site's server did not answer in time"
