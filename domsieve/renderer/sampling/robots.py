"""What the robots.txt of a site asks for (RFC 9309; the parser is protego's).

Imports nothing of the project but its errors and its neighbours.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from protego import Protego

from domsieve.budget import spending
from domsieve.errors import NavigationError, PolicyError
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.sampling.fetch import AGENT, fetch
from domsieve.renderer.sampling.page_urls import Site

# A robots.txt is read this far; RFC 9309 asks for 500 KiB at least.
_MAX_BYTES = 512_000
_AGENT_FIELDS = frozenset({"user-agent", "useragent", "user agent"})
_SOMEBODY_ELSE = "User-agent: -"
_LONGEST_S = 86_400
# Lines that say how long to wait. The parser takes for a number whatever `int` and `float` do, underscores too.
_WAIT = re.compile(r"\s*(?:crawl(?:-|\s+)delay|request(?:-|\s+)rate)(?:\s*:|\s)", re.IGNORECASE)
_PLAIN = re.compile(
    r"\s*+(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[+-]?[0-9]{1,4})?|[0-9]++/[0-9]++[smhd]?(?:\s++[0-9-]++)?)\s*+(?:#.*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of one site for us.

    Parameters
    ----------
    delay : time that is asked for between two requests, zero when none is.
    sitemaps : addresses of sitemaps as they stand there.
    """

    _rules: Protego
    delay: timedelta
    sitemaps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the rules of a robots.txt."""
        lines = (_for_us_or_others(_with_plain_number(line)) for line in text.splitlines())
        with spending("robots"):
            rules = Protego.parse("\n".join(lines))
        asked_s = rules.crawl_delay(AGENT) or 0.0
        if rate := rules.request_rate(AGENT):
            # Numbers of any length: their ratio may be too large for a float.
            is_long = rate.seconds >= _LONGEST_S * rate.requests
            asked_s = max(asked_s, _LONGEST_S if is_long else rate.seconds / rate.requests)
        return cls(rules, timedelta(seconds=min(asked_s, _LONGEST_S)), tuple(rules.sitemaps))

    def allows(self, url: str) -> bool:
        """Return whether the page may be visited."""
        return bool(self._rules.can_fetch(url, AGENT))

    def check(self, url: str) -> None:
        """Do nothing when the page may be visited.

        Raises
        ------
        PolicyError : it may not.
        """
        if not self.allows(url):
            raise PolicyError("The site's robots.txt does not allow it.", reason="robots", url=url)


def _for_us_or_others(line: str) -> str:
    """Return a line of a robots.txt; one that names a robot which cannot be us names the same stranger each time.

    The parser keeps the rules of a group anew for each of its robots: a file of half a megabyte that names 16,000 of
    them above 20,000 rules would make 300 million.
    """
    agent = _named_agent(line)
    if agent in {"", "*"}:
        return line
    agent = agent.replace("*", "")
    return f"User-agent: {agent}" if agent and agent in AGENT else _SOMEBODY_ELSE


def _named_agent(line: str) -> str:
    """Return the robot that a line names as the parser reads it, empty when it names none."""
    line = line.partition("#")[0].strip()
    field, colon, value = line.partition(":")
    if colon and field.strip().lower() in _AGENT_FIELDS:
        return value.strip().lower()
    if colon and (not value or value[0].isspace()):
        return ""
    words = line.lower().split()
    length = next((n for n in (1, 2) if " ".join(words[:n]) in _AGENT_FIELDS), len(words))
    return " ".join(words[length:])


def _with_plain_number(line: str) -> str:
    """Return a line of which the parser reads no number but one in plain digits; it ends a group all the same."""
    wait = _WAIT.match(line)
    return line if wait is None or _PLAIN.fullmatch(line, wait.end()) else f"{wait[0]} none"


async def fetch_robots(site: Site, *, egress: Egress | None = None) -> Robots:
    """Return the rules of `site`; none when it has no robots.txt (4xx, or a redirect to elsewhere).

    Raises
    ------
    NavigationError : the site does not answer.
    PolicyError : the server may not be reached, or fails to say what it allows (5xx), so nothing is.
    """
    url = f"{site.root}/robots.txt"
    try:
        answer = await fetch(url, max_bytes=_MAX_BYTES, egress=egress)
    except NavigationError as error:
        message = f"{error.message} Without the rules for robots no page of the site is visited."
        raise NavigationError(message, url=url, retry=True, timed_out=error.timed_out) from error
    if answer.status >= 500:
        raise PolicyError(
            f"The server did not deliver its robots.txt (HTTP {answer.status}), so no page is visited; try later.",
            reason="robots",
            url=url,
            retry=True,
        )
    return Robots.parse(answer.body.decode("utf-8-sig", "replace") if answer.status < 300 else "")
