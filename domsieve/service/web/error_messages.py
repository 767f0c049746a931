"""What a problem means for the person who sees it: what happened, and what to do. Imports nothing heavy.

Chrome tells failures of the network as codes (``net::ERR_…``); here is what those say that people meet.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domsieve.plain import plain
from domsieve.service.jobs.values import Title

_CODE = re.compile(r"net::(ERR_[A-Z0-9_]{1,60})")
_LONGEST = 2_000

_SPELLING = "Check the spelling of the address. If it is right, the site may have moved or closed."
_LATER = "Try again in a few minutes. If other people can open the page, the site may block bots."
_CERTIFICATE = "Only the site can fix this. Try again later, or look for another address of the page."
# By the beginning of the code, the longer first: what happened, as the end of a sentence, and what to do.
_CODES: tuple[tuple[str, str, str], ...] = (
    ("ERR_NAME_NOT_RESOLVED", "there is no site of this name", _SPELLING),
    ("ERR_CONNECTION_REFUSED", "the site's server takes no connections", _LATER),
    ("ERR_CONNECTION_TIMED_OUT", "the site's server did not answer in time", _LATER),
    ("ERR_TIMED_OUT", "the site's server did not answer in time", _LATER),
    ("ERR_CONNECTION_RESET", "the site's server broke off the connection", _LATER),
    ("ERR_CONNECTION_CLOSED", "the site's server broke off the connection", _LATER),
    ("ERR_CONNECTION_ABORTED", "the connection to the site broke off", _LATER),
    ("ERR_EMPTY_RESPONSE", "the site's server closed the connection without an answer", _LATER),
    ("ERR_ADDRESS_UNREACHABLE", "there is no way to the site's server from here", _LATER),
    ("ERR_INTERNET_DISCONNECTED", "this service has no connection to the internet", _LATER),
    ("ERR_NETWORK_CHANGED", "the network changed meanwhile", "Try again."),
    (
        "ERR_PROXY_CONNECTION_FAILED",
        "this service cannot reach its proxy",
        "Ask whoever runs this service.",
    ),
    ("ERR_TUNNEL_CONNECTION_FAILED", "the site's server could not be reached", _LATER),
    (
        "ERR_TOO_MANY_REDIRECTS",
        "the page leads on in circles",
        "Look for the page's final address, and use that.",
    ),
    ("ERR_CERT_DATE_INVALID", "the site's certificate has expired", _CERTIFICATE),
    ("ERR_CERT_COMMON_NAME_INVALID", "the site's certificate belongs to another name", _CERTIFICATE),
    ("ERR_CERT_", "the site's certificate cannot be trusted", _CERTIFICATE),
    ("ERR_SSL_", "no secure connection to the site could be made", "Try the address with http:// in front."),
    ("ERR_HTTP2_", "the site's server sent an invalid answer", _LATER),
    (
        "ERR_INVALID_HTTP_RESPONSE",
        "the server that answered is not a web server",
        "Check the port in the address.",
    ),
    ("ERR_INVALID_", "the site's server sent an invalid answer", _LATER),
    ("ERR_RESPONSE_HEADERS_", "the site's server sent an invalid answer", _LATER),
    ("ERR_CONTENT_LENGTH_MISMATCH", "the page broke off before its end", _LATER),
    ("ERR_INCOMPLETE_CHUNKED_ENCODING", "the page broke off before its end", _LATER),
    ("ERR_CONTENT_DECODING_FAILED", "the page arrived damaged", _LATER),
    ("ERR_UNSAFE_PORT", "browsers do not open this port", "Check the port in the address."),
    ("ERR_ABORTED", "the address leads to a download or to nothing", "Give the address of a page instead."),
    ("ERR_BLOCKED_BY_", "the browser refused to load it", "Give the address of a page instead."),
)
_UNKNOWN = ("the browser could not load it", _LATER)

_MORE_TIME = "Try again, with more seconds for the page under “How the page is rendered”."
# By the title of a problem, else by whose fault it was.
_DO_BY_TITLE: Mapping[str, str] = {
    Title.TIMEOUT: _MORE_TIME,
    Title.COST: "The page is too large or too deep. Try a page that shows a part of it.",
    Title.TIME: "The page is too large or too deep. Try a page that shows a part of it.",
    Title.MEMORY: "The page is too large or too deep. Try a page that shows a part of it.",
}
_DO_BY_REASON: Mapping[str, str] = {
    "status": "Check the address. To work on the error page itself, choose “Again” and tick “Work on error pages all "
    "the same”.",
    "type": "Give the address of a web page; other documents are not read.",
    "binary": "Give the address of a web page; other documents are not read.",
    "empty": "The page may need more time or a click. Choose “Again”, and give it either under “How the page is "
    "rendered”.",
    "cut": _MORE_TIME,
}
_DO_BY_FAULT: Mapping[str, str] = {
    "caller": "Choose “Again”, and change what was asked for.",
    "policy": "A rule of this service forbids it. Whoever runs the service can change its rules.",
    "page": "Check the address, and that it opens in your own browser.",
    "browser": "Try again. If it fails again, ask whoever runs this service.",
    "service": "Try again later. If it fails again, ask whoever runs this service.",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A problem for people.

    Parameters
    ----------
    what : what happened, a sentence.
    do : what to do about it, a sentence or two.
    detail : the words of whoever noticed, empty where `what` says as much.
    code : what the browser calls it, empty where it has no name for it.
    """

    what: str
    do: str
    detail: str
    code: str


def explanation_of(problem: Mapping[str, Any]) -> Explanation:
    """Return what a job's problem means."""
    detail = plain(str(problem.get("detail") or ""))[:_LONGEST]
    if found := _CODE.search(detail):
        what, do = _meaning(found[1])
        return Explanation(f"The page could not be opened: {what}.", do, "", f"net::{found[1]}")
    reason, title = str(problem.get("reason") or ""), str(problem.get("title") or "The job failed.")
    fault = str(problem.get("fault") or "service")
    do = _DO_BY_REASON.get(reason) or _DO_BY_TITLE.get(title) or _DO_BY_FAULT.get(fault, "")
    return Explanation("This page counts as failed." if reason else title, do, detail, "")


def in_words(text: str) -> str:
    """Return a message with the names of the browser for its failures in words."""
    return _CODE.sub(lambda found: _meaning(found[1])[0], text)


def _meaning(code: str) -> tuple[str, str]:
    return next(((what, do) for known, what, do in _CODES if code.startswith(known)), _UNKNOWN)
