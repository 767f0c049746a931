"""The cookies of plain fetches: set by options and servers, sent like a browser sends those of a navigation."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any

from domsieve.renderer.fetching.request_address import RequestAddress

# The limits of Chrome, and of RFC 6265 for the number per host.
_LONGEST = 4_096
_MOST = 180
_LONGEST_DATE = 60


@dataclass(frozen=True, slots=True)
class _Cookie:
    value: str
    is_for_subdomains: bool
    is_secure: bool


class CookieJar:
    """The cookies of one site; pages of different sites share none."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str, str], _Cookie] = {}  # by domain, path and name

    def add(self, cookies: Iterable[Mapping[str, Any]]) -> None:
        """Add cookies of a storage state: ``name``, ``value``, ``domain``, ``path``, ``secure``, ``expires``."""
        for cookie in cookies:
            expires = cookie.get("expires", -1)
            if expires is not None and 0 <= expires < datetime.now(UTC).timestamp():
                continue
            domain = str(cookie["domain"]).lower()
            self._keep(
                domain.removeprefix("."),
                str(cookie.get("path") or "/"),
                str(cookie["name"]),
                _Cookie(str(cookie["value"]), domain.startswith("."), bool(cookie.get("secure"))),
            )

    def give(self, address: RequestAddress, cookies: Iterable[tuple[str, str]]) -> None:
        """Set cookies for the address of a page, as the options say."""
        path = address.path.rpartition("/")[0] + "/"
        for name, value in cookies:
            self._keep(address.host, path, name, _Cookie(value, True, address.scheme == "https"))

    def set_by(self, address: RequestAddress, lines: Iterable[str]) -> None:
        """Set the cookies of Set-Cookie headers in the response from an address; invalid ones are ignored."""
        for line in lines:
            if len(line) <= _LONGEST:
                self._set(address, line)

    def header(self, address: RequestAddress) -> str:
        """Return the Cookie header for a request; empty without cookies."""
        found = [
            (-len(path), f"{name}={cookie.value}" if name else cookie.value)
            for (domain, path, name), cookie in self._held.items()
            if _is_below(address.host, domain, is_for_subdomains=cookie.is_for_subdomains)
            and _is_on(address.path, path)
            and (address.scheme == "https" or not cookie.is_secure)
        ]
        return "; ".join(pair for _, pair in sorted(found, key=lambda entry: entry[0]))

    def _set(self, address: RequestAddress, line: str) -> None:
        pair, *rest = line.split(";")
        name, equals, value = pair.partition("=")
        name, value = (name.strip(), value.strip()) if equals else ("", pair.strip())
        if not (name or value) or not f"{name}{value}".isprintable():
            return
        attributes = {
            key.strip().lower(): content.strip() for key, _, content in (each.partition("=") for each in rest)
        }
        domain = attributes.get("domain", "").lower().removeprefix(".")
        if domain and not _may_set(address.host, domain):
            return
        path = attributes.get("path", "")
        if not path.startswith("/"):
            path = address.path.rpartition("/")[0] or "/"
        key = domain or address.host, path, name
        if _is_over(attributes):
            self._held.pop(key, None)
            return
        is_secure = "secure" in attributes
        if is_secure and address.scheme != "https":
            return
        self._keep(*key, _Cookie(value, bool(domain) and not _is_address(domain), is_secure))

    def _keep(self, domain: str, path: str, name: str, cookie: _Cookie) -> None:
        self._held.pop((domain, path, name), None)
        self._held[domain, path, name] = cookie
        if len(self._held) > _MOST:
            del self._held[next(iter(self._held))]


def _is_over(attributes: Mapping[str, str]) -> bool:
    age = attributes.get("max-age", "")
    if age.removeprefix("-").isdecimal():
        return age.startswith("-") or not age.strip("0")
    date = attributes.get("expires", "")[:_LONGEST_DATE]
    with suppress(ValueError, TypeError, OverflowError):
        expires = parsedate_to_datetime(date.replace("-", " "))
        return expires.replace(tzinfo=expires.tzinfo or UTC) < datetime.now(UTC)
    return False


def _may_set(host: str, domain: str) -> bool:
    """Return whether a host may set cookies for a domain: its own name, or one above it that is not a top level."""
    return host == domain or ("." in domain and not _is_address(host) and host.endswith(f".{domain}"))


def _is_below(host: str, domain: str, *, is_for_subdomains: bool) -> bool:
    return host == domain or (is_for_subdomains and not _is_address(host) and host.endswith(f".{domain}"))


def _is_on(path: str, scope: str) -> bool:
    return path == scope or (path.startswith(scope) and (scope.endswith("/") or path[len(scope)] == "/"))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
