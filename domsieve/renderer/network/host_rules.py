"""Which hosts may be reached at all: a list of those that may not, and one of the only ones that may.

Hosts are compared in their one spelling, so that case, a dot at the end, escapes and other alphabets change nothing.

Imports nothing of the project but its errors and its neighbour `addresses`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Self

from domsieve.errors import PolicyError, UsageError
from domsieve.renderer.network.addresses import Address, HostError, held_address, parse_host

_BELOW = "*."
_SHOWN = 3  # rules of an allow list that a message names


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule.

    Parameters
    ----------
    text : as it was written.
    name : the one spelling of a host name; empty for addresses.
    is_below : whether it is for all names that end in it, at any depth, and not for the name itself.
    network : the addresses that it is for; None for names.
    """

    text: str
    name: str = ""
    is_below: bool = False
    network: IPv4Network | IPv6Network | None = None

    def has_name(self, host: str) -> bool:
        return bool(self.name) and (host.endswith(f".{self.name}") if self.is_below else host == self.name)

    def has_address(self, address: Address) -> bool:
        return self.network is not None and (address in self.network or held_address(address) in self.network)


@dataclass(frozen=True, slots=True)
class HostRules:
    """Hosts that may not be reached, and the only ones that may; without a rule all may.

    Parameters
    ----------
    deny : rules for hosts that may not be reached, whatever `allow` says.
    allow : where there are any, only hosts that one of them is for are reached.
    """

    deny: tuple[_Rule, ...] = ()
    allow: tuple[_Rule, ...] = ()

    @classmethod
    def of(cls, deny: Iterable[str] = (), allow: Iterable[str] = ()) -> Self:
        """Return the rules of two lists of texts.

        Parameters
        ----------
        deny, allow : each a host name, ``*.NAME`` for all names below a name, an address, or a network as
            ``ADDRESS/BITS``. A rule holds for every port. One for addresses is for names that have them, too.

        Raises
        ------
        UsageError : one is none of these.
        """
        try:
            denied = tuple(map(_rule, deny))
        except ValueError as error:
            raise UsageError(str(error), parameter="deny_hosts") from error
        try:
            return cls(denied, tuple(map(_rule, allow)))
        except ValueError as error:
            raise UsageError(str(error), parameter="allow_hosts") from error

    def check(self, host: str | Address, addresses: Sequence[Address] | None) -> None:
        """Refuse a host that may not be reached.

        Parameters
        ----------
        host : in its one spelling.
        addresses : of a name; None while nobody was asked for them, so that rules for addresses have to wait.

        Raises
        ------
        PolicyError : it may not be reached; the message names the rule.
        """
        name, known = (host, addresses or ()) if isinstance(host, str) else ("", (host,))
        for rule in self.deny:
            if rule.has_name(name) or any(map(rule.has_address, known)):
                raise PolicyError(f"{host} is on the deny list: {rule.text}.", reason="denied")
        if not self.allow or any(rule.has_name(name) for rule in self.allow):
            return
        networks = [rule for rule in self.allow if rule.network is not None]
        if networks and name and addresses is None:
            return
        if not known or not all(any(rule.has_address(address) for rule in networks) for address in known):
            more = len(self.allow) - _SHOWN
            shown = ", ".join(rule.text for rule in self.allow[:_SHOWN])
            raise PolicyError(
                f"{host} is not on the allow list: {shown}{f' and {more} more' if more > 0 else ''}.",
                reason="not_allowed",
            )


def _rule(text: str) -> _Rule:
    is_below = text.startswith(_BELOW)
    try:
        found = None if "/" in text else parse_host(text.removeprefix(_BELOW))
        if isinstance(found, str):
            return _Rule(text, name=found, is_below=is_below)
        if not is_below:
            return _Rule(text, network=ip_network(found or text))
    except HostError:
        pass
    except ValueError as error:
        raise ValueError(f"{text!a} is not a network: {error}.") from error
    raise ValueError(f"{text!a} is not a host: write NAME, *.NAME, ADDRESS or ADDRESS/BITS, without a port.")
