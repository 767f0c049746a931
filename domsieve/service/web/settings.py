"""The settings of the service: address, clients and limits.

Tokens are in a file with one `name:token` per line, so that they are visible neither in the list of processes nor in
the history of a shell. Jobs belong to the name, which stays the same when a token is replaced.
"""

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from domsieve.errors import UsageError
from domsieve.service.jobs.job_values import DEFAULT_SITE_QUOTA, SiteQuota

LOCAL = "local"
OPERATOR = "operator"
"""The client of the token that the service creates if it needs one and none is set."""
MCP_PATH = "/mcp"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TOKEN = re.compile(r"[!-~]{16,512}")
_TOKEN_BYTES = 32
_SHOWN_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the service.

    Parameters
    ----------
    host, port : the address to listen at; port 0 means a free one.
    tokens : token of each client by its name. Without tokens everybody who reaches the service may use it, which is
        only allowed on loopback.
    public_hosts : other names of the service besides those of loopback and `host`. Requests with other names are
        refused, because they may come from a stranger's page (DNS rebinding).
    trusted_proxies : addresses, or networks as ``ADDRESS/BITS``, of proxies in front of the service. Their
        connections count for the last address in ``X-Forwarded-For``.
    private_hosts : hosts that pages may be rendered from although they are private, as `HOST` or `HOST:PORT`.
    deny_hosts, allow_hosts : hosts that may not be reached, and the only ones that may; see `HostRules`.
    site : the limits of jobs for sites.
    queue : maximum number of waiting jobs.
    client_queue : maximum number of waiting and running jobs of one client.
    stores : maximum number of stores of one client, each with the size in `site`; 0 for none.
    requests_per_minute : limit for one client; the requests of a minute may come at once.
    streams : maximum number of open event streams of one client.
    downloads : maximum number of simultaneous downloads of one client.
    body_bytes : maximum length of the body of a request.
    mcp : whether to serve MCP clients at ``/mcp``, which needs the package `mcp`.
    mcp_body_bytes : maximum length of the body of an MCP request, which may contain HTML.
    body_s : seconds for the head of a request and for its body to arrive, and for a client to read a response.
    wait_s : seconds that a request for one page waits for its result, unless it says otherwise.
    keep_days : days after which finished jobs are deleted.
    keep_jobs : number of finished jobs to keep for one client; the oldest are deleted.
    keep_bytes : disk space for results, captures and rows of one client; the oldest jobs are deleted.
    free_bytes : free disk space that is needed to accept jobs.
    free_memory_ratio, max_load : share of free memory, and load average per processor, needed to accept jobs; 0 means
        no limit. See `domsieve.service.web.load_shedding`.
    """

    host: str = "127.0.0.1"
    port: int = 8090
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    public_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    private_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    site: SiteQuota = DEFAULT_SITE_QUOTA
    queue: int = 200
    client_queue: int = 50
    stores: int = 20
    requests_per_minute: int = 1200
    streams: int = 20
    downloads: int = 10
    body_bytes: int = 65_536
    mcp: bool = False
    mcp_body_bytes: int = 16_000_000
    body_s: float = 15.0
    wait_s: int = 30
    keep_days: int = 30
    keep_jobs: int = 10_000
    keep_bytes: int = 5_000_000_000
    free_bytes: int = 500_000_000
    free_memory_ratio: float = 0.05
    max_load: float = 20.0

    def check(self) -> None:
        """Check the settings.

        Raises
        ------
        UsageError : an address is not valid.
        """
        _ = self.proxies

    def closed(self) -> "Settings":
        """Return settings that do not let strangers use the service.

        Without tokens, a service that other machines can reach gets a random one, for `OPERATOR`.
        """
        if self.tokens or is_loopback(self.host):
            return self
        return replace(self, tokens={OPERATOR: secrets.token_urlsafe(_TOKEN_BYTES)})

    @property
    def proxies(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """The networks in `trusted_proxies`.

        Raises
        ------
        UsageError : a text is neither an address nor a network.
        """
        found = []
        for text in self.trusted_proxies:
            try:
                found.append(ipaddress.ip_network(text))
            except ValueError as error:
                raise UsageError(
                    f"{text!r} is not an address, nor a network such as 10.0.0.0/8.",
                    parameter="trusted_proxy",
                ) from error
        return tuple(found)

    def longest_body(self, path: str) -> int:
        """Return the maximum length of the body of a request to a path, in bytes."""
        return self.mcp_body_bytes if self.mcp and path == MCP_PATH else self.body_bytes

    def serves(self, host: str) -> bool:
        """Return whether the value of a Host header addresses this service; the port does not matter."""
        name = host_name(host)
        known = {self.host.casefold(), *(public.casefold() for public in self.public_hosts)}
        return name is not None and (is_loopback(name) or name in known)


def client_of(token: str, tokens: Mapping[str, str]) -> str | None:
    """Return the client of a token; None if it is unknown. The time does not depend on how much of it is right."""
    found: str | None = None
    digest = _digest(token)
    for name, known in tokens.items():
        if hmac.compare_digest(digest, _digest(known)):
            found = name
    return found


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def read_tokens(path: Path) -> dict[str, str]:
    """Return the tokens of a file by the names of their clients. Empty lines and comments after `#` are ignored.

    Raises
    ------
    UsageError : the file cannot be read, has no token, or has a bad one. The message has the number of the line,
        never its content.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise UsageError(f"The token file {path} cannot be read: {reason}.") from error
    tokens: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, _, token = line.strip().partition(":")
        where = f"Line {number} of the token file {path}"
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{where} does not begin with a name of letters, digits, '.', '_' or '-' and a colon."
            )
        if not _TOKEN.fullmatch(token):
            raise UsageError(f"{where} has no token of 16 to 512 visible ASCII characters after the colon.")
        if name in tokens or token in tokens.values():
            raise UsageError(f"{where} repeats a name or a token of another line.")
        tokens[name] = token
    if not tokens:
        raise UsageError(f"The token file {path} has no line of the form name:token.")
    return tokens


def is_loopback(name: str) -> bool:
    """Return whether a name or an address reaches only this machine."""
    plain = name.strip("[]").casefold()
    if plain == "localhost":
        return True
    try:
        return ipaddress.ip_address(plain).is_loopback
    except ValueError:
        return False


def host_name(host: str) -> str | None:
    """Return the name in a Host header in lower case, without port and brackets; None if the header is invalid."""
    bracketed = host.startswith("[")
    name, colon, port = (
        (host, "", "") if (bracketed and host.endswith("]")) or ":" not in host else host.rpartition(":")
    )
    if colon and not (port.isascii() and port.isdecimal() and len(port) <= 5):
        return None
    return name.strip("[]").casefold() if _SHOWN_HOST.fullmatch(name) else None
