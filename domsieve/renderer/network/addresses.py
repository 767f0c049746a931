"""Host names and IP addresses: which are public, and rules that deny or allow hosts."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Self

from domsieve.errors import PolicyError, UsageError

Address = IPv4Address | IPv6Address

# From the registries of special addresses at IANA, and what clouds serve to their own machines.
_SPECIAL_4 = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "this machine"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "private"),
        ("127.0.0.0/8", "this machine"),
        ("168.63.129.16/32", "a cloud's own"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved"),
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_SPECIAL_6 = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/127", "this machine"),
        ("64:ff9b:1::/48", "private"),
        ("2001::/23", "reserved"),  # Teredo among them, which holds an IPv4 address
        ("2001:db8::/32", "reserved"),
        ("2002::/16", "reserved"),  # 6to4 holds an IPv4 address
        ("3fff::/20", "reserved"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# Networks without IPv4 reach every IPv4 host through this block, so what it holds decides.
_TRANSLATED = IPv6Network("64:ff9b::/96")
_MAPPED = IPv6Network("::ffff:0:0/96")
# Interface identifiers of ISATAP, before the IPv4 address that they hold.
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})
_LOW_32 = 0xFFFF_FFFF

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# A part of an IPv4 address: hexadecimal, octal or decimal. `int` takes signs and underscores, too.
_PART = re.compile("0[xX]([0-9a-fA-F]{0,62})|(0[0-7]{0,63})|([1-9][0-9]{0,63})")
_NUMBER = re.compile("[0-9]+|0[xX][0-9a-fA-F]*")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_LONGEST_NAME = 253
_LONGEST_SPELLING = 1_000  # of a name beyond ASCII: encoding it may take time quadratic in its length
# Names that this machine, its network or its cloud gives out.
_LOCAL_NAMES = (
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "in-addr.arpa",
)


class HostError(ValueError):
    """A text that names no host."""


def why_not_public(address: Address) -> str:
    """Return what an address is when it is not public, such as ``"link-local"``; empty for public ones."""
    if isinstance(address, IPv4Address):
        special = next((kind for network, kind in _SPECIAL_4 if address in network), "")
        return special or ("" if address.is_global else "reserved")
    held = held_address(address)
    if isinstance(held, IPv4Address):
        return why_not_public(held)
    number = int(address)
    if special := next((kind for network, kind in _SPECIAL_6 if address in network), ""):
        return special
    if address.scope_id:
        return "link-local"
    if address not in _GLOBAL_UNICAST:
        # The rest of ::/96 among them, which holds IPv4 addresses too.
        return "reserved"
    if (number >> 32) & _LOW_32 in _ISATAP and (kind := why_not_public(IPv4Address(number & _LOW_32))):
        return kind
    return "" if address.is_global else "reserved"


def held_address(address: Address) -> Address:
    """Return the IPv4 address that a mapped or translated one (NAT64) leads to; others as they are."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _TRANSLATED):
        return IPv4Address(int(address) & _LOW_32)
    return address


def is_loopback(address: Address) -> bool:
    """Return whether an address is of this machine; 0.0.0.0 and [::] reach it too."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return int(address) <= 1
        address = address.ipv4_mapped
    return why_not_public(address) == "this machine"


def parse_host(text: str) -> str | Address:
    """Return the address that a host of a URL means, or its name in lower case without a dot at the end.

    As browsers read it: escapes and full-width characters count as what they stand for, and a host whose last
    label is a number is an IPv4 address of one to four decimal, octal or hexadecimal parts.

    Raises
    ------
    HostError : it names no host: empty, with empty labels, with forbidden characters, or with a zone.
    """
    if text.startswith("[") or ":" in text:
        return _parse_6(text.removeprefix("[").removesuffix("]"))
    name = _in_ascii(text)
    labels = name.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _parse_4(labels)
    if len(name) > _LONGEST_NAME + 1 or not all(map(_LABEL.fullmatch, labels)):
        raise HostError("not a host name")
    return ".".join(labels)


def is_local_name(name: str) -> bool:
    """Return whether a name is given out locally: one without dots, ``localhost``, ``*.local``, ``*.internal``."""
    return "." not in name or any(name == local or name.endswith(f".{local}") for local in _LOCAL_NAMES)


def is_localhost(name: str) -> bool:
    """Return whether a name means this machine, without anyone being asked."""
    return name == "localhost" or name.endswith(".localhost")


def _parse_6(text: str) -> Address:
    if "%" in text:
        raise HostError("an address with a zone")
    try:
        return IPv6Address(text)
    except ValueError as error:
        raise HostError("not an IPv6 address") from error


def _in_ascii(text: str) -> str:
    """Return a host in ASCII and lower case; names are mapped and encoded as IDNA 2003 does."""
    try:
        if "%" in text:
            pieces = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text.encode().decode("latin-1"))
            text = pieces.encode("latin-1").decode()
        if text.isascii():
            return text.lower()
        if len(text) > _LONGEST_SPELLING:
            raise HostError("not a host name")
        # The mapping comes before the dots are looked for, since full-width dots become dots by it.
        return "".join(map(_mapped, text)).encode("idna").decode().lower()
    except UnicodeError as error:  # half surrogates among them
        raise HostError("not a host name") from error


def _mapped(character: str) -> str:
    from encodings.idna import nameprep

    return "." if character in "。．｡" else nameprep(character)


def _parse_4(labels: list[str]) -> IPv4Address:
    *first, last = map(_number, labels)
    room = 4 - len(first)
    if room < 1 or any(part > 255 for part in first) or last >= 256**room:
        raise HostError("not an IPv4 address")
    return ipaddress.IPv4Address(last + sum(part << (24 - 8 * i) for i, part in enumerate(first)))


def _number(text: str) -> int:
    found = _PART.fullmatch(text)
    if not found:
        raise HostError("not an IPv4 address")
    if found[1] is not None:
        return int(found[1] or "0", 16)
    return int(found[2], 8) if found[2] else int(found[3])


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
