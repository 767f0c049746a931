"""Fetch and apply robots.txt (RFC 9309), with the parser of protego."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from protego import Protego

from domsieve.budget import spending
from domsieve.errors import NavigationError, PolicyError
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.sampling._fetch import AGENT, fetch
from domsieve.renderer.sampling._page_urls import Site

# The maximum length of robots.txt that is read; RFC 9309 requires at least 500 KiB.
_MAX_BYTES = 512_000
_AGENT_FIELDS = frozenset({"user-agent", "useragent", "user agent"})
_SOMEBODY_ELSE = "User-agent: -"
_LONGEST_S = 86_400
# Lines with a delay. The parser accepts whatever `int` and `float` accept, such as underscores.
_WAIT = re.compile(r"\s*(?:crawl(?:-|\s+)delay|request(?:-|\s+)rate)(?:\s*:|\s)", re.IGNORECASE)
_PLAIN = re.compile(
    r"\s*+(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[+-]?[0-9]{1,4})?|[0-9]++/[0-9]++[smhd]?(?:\s++[0-9-]++)?)\s*+(?:#.*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of a site for our robot.

    Parameters
    ----------
    delay : the delay between two requests; zero if none is given.
    sitemaps : addresses of sitemaps as written.
    """

    _rules: Protego
    delay: timedelta
    sitemaps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a robots.txt."""
        lines = (_for_us_or_others(_with_plain_number(line)) for line in text.splitlines())
        with spending("robots"):
            rules = Protego.parse("\n".join(lines))
        asked_s = rules.crawl_delay(AGENT) or 0.0
        if rate := rules.request_rate(AGENT):
            # Numbers can have any length, so their ratio may be too large for a float.
            is_long = rate.seconds >= _LONGEST_S * rate.requests
            asked_s = max(asked_s, _LONGEST_S if is_long else rate.seconds / rate.requests)
        return cls(rules, timedelta(seconds=min(asked_s, _LONGEST_S)), tuple(rules.sitemaps))

    def allows(self, url: str) -> bool:
        """Return whether a page may be visited."""
        return bool(self._rules.can_fetch(url, AGENT))

    def check(self, url: str) -> None:
        """Raise an error unless a page may be visited.

        Raises
        ------
        PolicyError : robots.txt forbids the page.
        """
        if not self.allows(url):
            raise PolicyError("The site's robots.txt does not allow it.", reason="robots", url=url)


def _for_us_or_others(line: str) -> str:
    """Return a line of robots.txt with every robot that cannot be ours replaced by one and the same name.

    The parser copies the rules of a group for each of its robots: a file of half a megabyte with 16,000 robots and
    20,000 rules would give 300 million.
    """
    agent = _named_agent(line)
    if agent in {"", "*"}:
        return line
    agent = agent.replace("*", "")
    return f"User-agent: {agent}" if agent and agent in AGENT else _SOMEBODY_ELSE


def _named_agent(line: str) -> str:
    """Return the robot in a line as the parser reads it; empty if there is none."""
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
    """Return a line in which the parser can only read a number in plain digits; the line still ends a group."""
    wait = _WAIT.match(line)
    return line if wait is None or _PLAIN.fullmatch(line, wait.end()) else f"{wait[0]} none"


async def fetch_robots(site: Site, *, egress: Egress | None = None) -> Robots:
    """Fetch the rules of a site; there are none without a robots.txt (4xx, or a redirect to another site).

    Raises
    ------
    NavigationError : the site does not respond.
    PolicyError : the server may not be reached, or responds with an error (5xx), so nothing is allowed.
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
