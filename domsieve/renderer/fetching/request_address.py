"""Read the address of a request as a browser does: spaces, backslashes and letters of all scripts are escaped."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, unquote, urlunsplit

from domsieve.renderer.network.addresses import parse_host
from domsieve.urls import join_url, split_url

_PORTS = {"http": 80, "https": 443}
_LONGEST = 65_536
# What the URL standard removes inside an address, and what it strips at the ends.
_REMOVED = str.maketrans("", "", "\t\n\r")
_STRIPPED = "".join(map(chr, range(33)))
# What stays as it is (URL standard, path and special-query percent-encode sets); letters and digits always do.
_IN_PATH = "%/!$&'()*+,;=:@[]|\\^~"
_IN_QUERY = "%/!$&()*+,;=:@[]|\\^~?`{}"
_HERE, _ABOVE = frozenset((".", "%2e")), frozenset(("..", ".%2e", "%2e.", "%2e%2e"))


@dataclass(frozen=True, slots=True)
class RequestAddress:
    """The address of a request, as it is sent.

    Parameters
    ----------
    scheme : ``"http"`` or ``"https"``.
    host : normalized host, without brackets.
    port : 1 to 65535.
    path : path of the target, escaped, beginning with ``/``.
    query : query of the target, escaped; None without one.
    fragment : text after ``#``, which is not sent.
    credentials : ``USER:PASSWORD`` of the address, not escaped; empty without.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str | None = None
    fragment: str = ""
    credentials: str = ""

    @classmethod
    def of(cls, text: str) -> Self | None:
        """Return the address that a browser would open for `text`, or None if it is not an http or https address."""
        text = text.strip(_STRIPPED).translate(_REMOVED)
        if len(text) > _LONGEST:
            return None
        head, mark, tail = _before_query(text)
        parts = split_url(head.replace("\\", "/") + mark + tail)
        if parts is None or parts.scheme not in _PORTS:
            return None
        try:
            host = str(parse_host(parts.hostname or ""))
            port = parts.port
        except ValueError:
            return None
        port = _PORTS[parts.scheme] if port is None else port
        if not 0 < port < 65_536:
            return None
        user, _, password = parts.netloc.rpartition("@")[0].partition(":")
        has_query = "?" in (head + mark + tail).partition("#")[0]
        return cls(
            scheme=parts.scheme,
            host=host,
            port=port,
            path=_without_dots(_escaped(parts.path, _IN_PATH)),
            query=_escaped(parts.query, _IN_QUERY) if has_query else None,
            fragment=parts.fragment,
            credentials=f"{unquote(user)}:{unquote(password)}" if user or password else "",
        )

    def joined(self, link: str) -> Self | None:
        """Return the address of a link at this address; None if it is not an http or https address.

        Without a fragment of its own, the link inherits that of this address, like a redirect.
        """
        link = link.strip(_STRIPPED).translate(_REMOVED)
        if len(link) > _LONGEST:
            return None
        head, mark, tail = _before_query(link)
        whole = join_url(self.url, head.replace("\\", "/") + mark + tail)
        found = None if whole is None else type(self).of(whole)
        if found is None or found.fragment or not self.fragment:
            return found
        return type(self)(
            found.scheme,
            found.host,
            found.port,
            found.path,
            found.query,
            self.fragment,
            found.credentials,
        )

    @property
    def authority(self) -> str:
        """Host and port as in a Host header; default ports are omitted."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def place(self) -> str:
        """Host and port, always with the port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query, as they are sent."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    @property
    def url(self) -> str:
        """The whole address, without credentials."""
        sent = urlunsplit((self.scheme, self.authority, self.path, "", ""))
        query = "" if self.query is None else f"?{self.query}"
        return sent + query + (f"#{self.fragment}" if self.fragment else "")


def _before_query(text: str) -> tuple[str, str, str]:
    """Return a text up to its first ``?`` or ``#``, this character, and the rest."""
    ends = [place for place in (text.find("?"), text.find("#")) if place >= 0]
    end = min(ends, default=len(text))
    return text[:end], text[end : end + 1], text[end + 1 :]


def _escaped(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors="replace")


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:] or [""]
    for segment in segments:
        if segment.lower() in _ABOVE:
            del kept[-1:]
        elif segment.lower() not in _HERE:
            kept.append(segment)
    if segments[-1].lower() in _HERE | _ABOVE:
        kept.append("")
    return "/" + "/".join(kept)
