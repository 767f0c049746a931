"""The headers of a navigation, as a browser sends them."""

import base64
import sys

from domsieve.archive.http_exchange import Fields
from domsieve.errors import UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer.fetching.request_address import RequestAddress

_SYSTEMS = {
    "darwin": "Macintosh; Intel Mac OS X 10_15_7",
    "win32": "Windows NT 10.0; Win64; x64",
}
_DEFAULT_BROWSER = "HeadlessChrome/140.0.0.0"  # any version: used only if none was seen yet
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
_ACCEPT_LANGUAGE = "en-US,en;q=0.9"


def browser_agent(browser: str = "") -> str:
    """Return the User-Agent header of a headless browser.

    Parameters
    ----------
    browser : product and version as in `Provenance.browser`; empty for any browser.
    """
    major = (browser or _DEFAULT_BROWSER).partition("/")[2].partition(".")[0]
    system = _SYSTEMS.get(sys.platform, "X11; Linux x86_64")
    return f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/{major}.0.0.0 Safari/537.36"


def navigation_headers(
    address: RequestAddress, options: CaptureOptions, *, browser: str, cookies: str, conditions: Fields = ()
) -> Fields:
    """Return all headers of a request except Host, with names and values of Latin-1 characters.

    Parameters
    ----------
    address : what is requested.
    options : User-Agent, language and headers; these headers replace others of the same name.
    browser : see `browser_agent`.
    cookies : the Cookie header; empty for none.
    conditions : see `conditions_of`.
    """
    fields = {
        "Connection": "keep-alive",
        "Upgrade-Insecure-Requests": "1",
        "User-Agent": options.user_agent or browser_agent(browser),
        "Accept": _ACCEPT,
        "Accept-Encoding": "gzip, deflate, br, zstd",
        "Accept-Language": options.locale or _ACCEPT_LANGUAGE,
    }
    if address.scheme == "https":
        fields |= {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
        fields |= {"Sec-Fetch-User": "?1", "Sec-Fetch-Dest": "document"}
    if address.credentials:
        fields["Authorization"] = "Basic " + base64.b64encode(address.credentials.encode()).decode()
    if cookies:
        fields["Cookie"] = cookies
    fields |= conditions
    given = {name.lower() for name, _ in options.headers}
    kept = [(name, value) for name, value in fields.items() if name.lower() not in given]
    pairs = (*kept, *options.headers)
    return tuple((name, _as_latin_1(value)) for name, value in pairs)


def conditions_of(etag: str | None, last_modified: str | None) -> Fields:
    """Return the headers that request a page unless it still has the validators of an earlier response."""
    given = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return tuple((name, _as_latin_1(value)) for name, value in given if value)


def check_header(name: str, value: str) -> None:
    """Raise `UsageError` unless a header can be sent."""
    is_token = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    if not is_token or any(character in value for character in "\r\n\0"):
        raise UsageError(f"The header {name!a} is not valid.", parameter="headers")


def _as_latin_1(value: str) -> str:
    """Return a header value whose characters are the bytes of its UTF-8 form."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("latin-1")
