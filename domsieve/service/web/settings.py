"""What the operator of the service decides: where it listens, who may call, and how much each may ask.

Tokens lie in a file, one `name:token` a line, so that they are seen neither in the list of processes nor in a shell's
history. The name is what jobs are kept under: it stays the same when a token is replaced.
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
from domsieve.service.jobs.job_values import USUAL_SITE, SiteQuota

LOCAL = "local"
OPERATOR = "operator"
"""The client whose token the service makes, where it needs one and none was set."""
MCP_PATH = "/mcp"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TOKEN = re.compile(r"[!-~]{16,512}")
_TOKEN_BYTES = 32
_SHOWN_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the service answers.

    Parameters
    ----------
    host, port : the address it listens at; port 0 takes a free one.
    tokens : token of each client by its name. Without any, whoever reaches the service may use it, so that is for
        loopback alone.
    public_hosts : names by which callers may address it besides those of loopback and `host`. A page of a stranger
        whose name was made to lead here (DNS rebinding) sends another one.
    trusted_proxies : addresses, or networks as ``ADDRESS/BITS``, of servers in front of the service. A connection of
        theirs counts for the address that its requests name last in ``X-Forwarded-For``.
    private_hosts : what pages may be rendered from although it is not public, as `HOST` or `HOST:PORT`.
    deny_hosts, allow_hosts : hosts that may not be reached, and the only ones that may; see `HostRules`.
    site : what the job of a site may take.
    queue : jobs that may wait.
    client_queue : jobs of one client that may wait or run.
    requests_per_minute : of one client; a minute's worth may come at once.
    streams : event streams that one client may hold open.
    downloads : results that one client may fetch at the same time.
    body_bytes : longest body of a request.
    mcp : whether MCP clients are answered at ``/mcp``, which needs the package `mcp`.
    mcp_body_bytes : longest body of a request there, which may bring HTML along.
    body_s : seconds in which a body, or the head of a request, has to arrive, and a reader has to take what it asked.
    wait_s : seconds that a request for one page waits for its result, unless it says otherwise.
    keep_days : days after which jobs that ended are forgotten.
    keep_jobs : jobs of one client that are kept when they have ended; the oldest ones are forgotten.
    keep_bytes : what one client's jobs hold, results, captures and rows, likewise.
    free_bytes : room on the disk, below which no job is accepted.
    free_memory_ratio, max_load : share of the memory that has to be free, and load average per processor, for a job
        to be accepted; 0 sets no bound. See `domsieve.service.web.load_shedding`.
    """

    host: str = "127.0.0.1"
    port: int = 8090
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    public_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    private_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    site: SiteQuota = USUAL_SITE
    queue: int = 200
    client_queue: int = 50
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
        """Refuse what cannot be.

        Raises
        ------
        UsageError : an address is none.
        """
        _ = self.proxies

    def closed(self) -> "Settings":
        """Return settings that leave the service open to no stranger.

        Without a token, a service that others than this machine can reach gets a random one, for `OPERATOR`.
        """
        if self.tokens or is_loopback(self.host):
            return self
        return replace(self, tokens={OPERATOR: secrets.token_urlsafe(_TOKEN_BYTES)})

    @property
    def proxies(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """The networks that `trusted_proxies` name.

        Raises
        ------
        UsageError : it is no address and no network.
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
        """Return how many bytes the body of a request for a path may have."""
        return self.mcp_body_bytes if self.mcp and path == MCP_PATH else self.body_bytes

    def serves(self, host: str) -> bool:
        """Return whether the value of a Host header addresses this service; the port does not matter."""
        name = host_name(host)
        known = {self.host.casefold(), *(public.casefold() for public in self.public_hosts)}
        return name is not None and (is_loopback(name) or name in known)


def client_of(token: str, tokens: Mapping[str, str]) -> str | None:
    """Return whose token this is; None if nobody's. The time it takes says nothing of how much of it was right."""
    found: str | None = None
    digest = _digest(token)
    for name, known in tokens.items():
        if hmac.compare_digest(digest, _digest(known)):
            found = name
    return found


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def read_tokens(path: Path) -> dict[str, str]:
    """Return the tokens of a file by the names of their clients. Empty lines and those after `#` are left out.

    Raises
    ------
    UsageError : the file cannot be read, holds no token or one that is no good; the message names the line, never
        what it says.
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
    """Return whether a name or an address leads to this machine alone."""
    plain = name.strip("[]").casefold()
    if plain == "localhost":
        return True
    try:
        return ipaddress.ip_address(plain).is_loopback
    except ValueError:
        return False


def host_name(host: str) -> str | None:
    """Return the name in a Host header in lower case, without port and brackets; None if it is no such header."""
    bracketed = host.startswith("[")
    name, colon, port = (
        (host, "", "") if (bracketed and host.endswith("]")) or ":" not in host else host.rpartition(":")
    )
    if colon and not (port.isascii() and port.isdecimal() and len(port) <= 5):
        return None
    return name.strip("[]").casefold() if _SHOWN_HOST.fullmatch(name) else None
