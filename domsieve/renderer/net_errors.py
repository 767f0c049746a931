"""What the names that browsers give to network errors mean, in words."""

import re

# A name in brackets follows words that say the same.
_IN_BRACKETS = re.compile(r" \(net::ERR_[A-Z0-9_]{1,60}\)")
CODE = re.compile(r"net::(ERR_[A-Z0-9_]{1,60})")
# By the beginning of the name, longer ones first; each as the end of a sentence.
_MEANINGS = (
    ("ERR_NAME_NOT_RESOLVED", "there is no site of this name"),
    ("ERR_CONNECTION_REFUSED", "the site's server takes no connections"),
    ("ERR_CONNECTION_TIMED_OUT", "the site's server did not answer in time"),
    ("ERR_TIMED_OUT", "the site's server did not answer in time"),
    ("ERR_CONNECTION_RESET", "the site's server broke off the connection"),
    ("ERR_CONNECTION_CLOSED", "the site's server broke off the connection"),
    ("ERR_CONNECTION_ABORTED", "the connection to the site broke off"),
    ("ERR_EMPTY_RESPONSE", "the site's server closed the connection without an answer"),
    ("ERR_ADDRESS_UNREACHABLE", "there is no way to the site's server from here"),
    ("ERR_INTERNET_DISCONNECTED", "there is no connection to the internet"),
    ("ERR_NETWORK_CHANGED", "the network changed meanwhile"),
    ("ERR_PROXY_CONNECTION_FAILED", "the proxy cannot be reached"),
    ("ERR_TUNNEL_CONNECTION_FAILED", "the site's server could not be reached"),
    ("ERR_TOO_MANY_REDIRECTS", "the page leads on in circles"),
    ("ERR_CERT_DATE_INVALID", "the site's certificate has expired"),
    ("ERR_CERT_COMMON_NAME_INVALID", "the site's certificate belongs to another name"),
    ("ERR_CERT_", "the site's certificate cannot be trusted"),
    ("ERR_SSL_", "no secure connection to the site could be made"),
    ("ERR_HTTP2_", "the site's server sent an invalid answer"),
    ("ERR_INVALID_HTTP_RESPONSE", "the server that answered is not a web server"),
    ("ERR_INVALID_", "the site's server sent an invalid answer"),
    ("ERR_RESPONSE_HEADERS_", "the site's server sent an invalid answer"),
    ("ERR_CONTENT_LENGTH_MISMATCH", "the page broke off before its end"),
    ("ERR_INCOMPLETE_CHUNKED_ENCODING", "the page broke off before its end"),
    ("ERR_CONTENT_DECODING_FAILED", "the page arrived damaged"),
    ("ERR_UNSAFE_PORT", "browsers do not open this port"),
    ("ERR_ABORTED", "the address leads to a download or to nothing"),
    ("ERR_BLOCKED_BY_", "the browser refused to load it"),
    ("ERR_", "the browser could not load it"),
)


def meaning_of(name: str) -> str:
    """Return what an error such as ``"ERR_CONNECTION_REFUSED"`` means, as the end of a sentence."""
    return next((words for known, words in _MEANINGS if name.startswith(known)), _MEANINGS[-1][1])


def explained(fault: str) -> str:
    """Return a fault with the meaning of each error in front of its name, as in ``"it is closed (net::ERR_X)"``."""
    return CODE.sub(lambda found: f"{meaning_of(found[1])} ({found[0]})", fault)


def without_names(text: str) -> str:
    """Return a message without the names of errors: in their place stands what they mean."""
    return CODE.sub(lambda found: meaning_of(found[1]), _IN_BRACKETS.sub("", text))
